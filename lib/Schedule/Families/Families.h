//===- Families.h - The objects of the families -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to lib/Schedule: one entry for each file beside this one.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_SCHEDULE_FAMILIES_FAMILIES_H
#define LIB_SCHEDULE_FAMILIES_FAMILIES_H

#include "attn/Schedule/Family.h"

namespace attn::detail {

/// Addresses, loop state and temporaries of a kernel. Calibrated with the
/// fewest registers with which ptxas 13.0 does not spill the kernels of this
/// project (the unit test lists them).
inline constexpr int64_t kOtherRegisters = 32;

/// What each computing thread leaves to one of a producer that transposes
/// tiles, or looks pages up: with less, the latter spills (ptxas 13.0).
inline constexpr int64_t kProducerShare = 8;

/// Numbers of columns, and their addresses, that a prob_mod reads beside
/// `columns` of the scores (ptxas 13.0).
inline int64_t getProbModRegisters(const AttentionProblem &problem,
                                   int64_t columns) {
  return problem.hasProbMod ? 3 * columns / 4 : 0;
}

const Family &getVectorFamily();
const Family &getMmaSyncFamily();
const Family &getWgmmaFamily();
const Family &getTcgen05Family();

/// Adds a violation unless `value` is a positive multiple of `factor`.
void requireMultiple(std::vector<Violation> &violations, const char *name,
                     int64_t value, int64_t factor);
/// Adds one of `constraint` "kind" unless `value` is as expected.
void requireValue(std::vector<Violation> &violations, const char *name,
                  int64_t value, int64_t expected, const char *why);
void requireRange(std::vector<Violation> &violations, const char *name,
                  int64_t value, int64_t low, int64_t high);

/// What holds of warps with roles in every family: whole units of warps and
/// rows, one producer warpgroup, Q in shared memory, keys of one instruction
/// and stages to fill while others are read.
void checkRoles(const Family &family, const AttentionProblem &problem,
                const Schedule &schedule, std::vector<Violation> &violations);
/// Adds a violation if there are more computing units than the family has.
void requireFewUnits(const Family &family, int64_t units,
                     std::vector<Violation> &violations);
/// What is left of `registers` for each thread of `units` warpgroups beside a
/// producer warpgroup with `producer` each and, unless it is 0, one that
/// corrects with `correction`. All threads start with an equal share, in units
/// of 8; setmaxnreg divides the registers that the CTA then has anew, again in
/// units of 8.
RegisterSplit shareRegisters(int64_t producer, int64_t correction,
                             int64_t units, int64_t registers);
/// Most registers of a computing thread of a family whose warps have roles.
int64_t getConsumerLimit(const Family &family, const Schedule &schedule,
                         const TargetInfo &target);

/// Why a target does not multiply operands of the problem's type with
/// instructions of `family`.
std::string findMissingInstruction(MmaFamily family,
                                   const AttentionProblem &problem,
                                   const TargetInfo &target);

/// The dense rate of a target's matrix units for operands of `type`.
double getDenseRate(ElementType type, const TargetInfo &target);

} // namespace attn::detail

#endif // LIB_SCHEDULE_FAMILIES_FAMILIES_H
