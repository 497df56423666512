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

/// Why a target does not multiply operands of the problem's type with
/// instructions of `family`.
std::string findMissingInstruction(MmaFamily family,
                                   const AttentionProblem &problem,
                                   const TargetInfo &target);

/// The dense rate of a target's matrix units for operands of `type`.
double getDenseRate(ElementType type, const TargetInfo &target);

} // namespace attn::detail

#endif // LIB_SCHEDULE_FAMILIES_FAMILIES_H
