//===- Family.h - Families of matrix instructions ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule maps an algorithm to a family of matrix instructions. What the
// search, the constraints, the models of resources and time, and the passes
// that assign warps need to know of the family, they ask its object. Who
// compares MmaFamily itself has code for one family alone: small cache, chunks,
// rows that are read one by one. docs/AddingATarget.md goes through it.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SCHEDULE_FAMILY_H
#define ATTN_SCHEDULE_FAMILY_H

#include "attn/Schedule/Constraints.h"
#include "attn/Schedule/ResourceModel.h"
#include "attn/Schedule/Schedule.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attn {

/// Registers of the threads of a CTA whose warps have roles.
struct RegisterSplit {
  int64_t producer, consumer;
  int64_t correction = 0; ///< of the warpgroup that corrects, if there is one
};

/// The operand that the values of a tensor of `type` are to a matrix
/// instruction; nothing if there is none.
std::optional<MmaOperand> getMmaOperand(ElementType type);

class Family {
  static constexpr int64_t kWarpThreads = 32;

public:
  /// What is fixed.
  struct Facts {
    MmaFamily id;
    /// Who computes a product: warps, and the rows of it that they own.
    int64_t unitWarps, unitRows;
    /// What share of an SM's tensor cores and lanes such a unit uses.
    double unitShare;
    /// Most of them in a CTA whose warps have roles; 0 without a limit.
    int64_t maxUnits;
    /// Most columns of a product; 0 without a limit.
    int64_t maxColumns;
    /// Warps that only load, in every kernel of the family. With them, warps
    /// have roles: tiles come by TMA while others are computed, and products
    /// run beside the softmax of another tile.
    int64_t producerWarps;
    /// Columns of tensor memory, where products go; 0 if they go to registers.
    int64_t tensorColumns;
    /// The family is a better one than those of a lower rank, on a chip that
    /// has both.
    int rank;
    /// Of the fields that not every family has (ScheduleFields.cpp), those that
    /// mean something for it.
    ScheduleFieldSet fields;
  };

  explicit Family(const Facts &facts) : facts(facts) {}
  virtual ~Family() = default;

  bool hasRoles() const { return facts.producerWarps > 0; }

  /// Warps that only load in a kernel of `schedule`, by TMA.
  int64_t getProducerWarps(const Schedule &schedule) const {
    return hasRoles() ? facts.producerWarps : schedule.producerWarps;
  }
  bool loadsByTma(const Schedule &schedule) const {
    return getProducerWarps(schedule) > 0;
  }

  /// Warps that have `rows` rows of a product.
  int64_t countWarps(int64_t rows) const {
    return rows * facts.unitWarps / facts.unitRows;
  }
  /// Elements that a thread has of `columns` columns of its unit's rows.
  int64_t countElements(int64_t columns) const {
    return columns * facts.unitRows / (kWarpThreads * facts.unitWarps);
  }

  /// True if O is a sum in tensor memory: one that is rescaled in each step, or
  /// promoted, is in registers, where each product is added to it.
  bool keepsOutput(const AttentionProblem &problem,
                   const Schedule &schedule) const {
    return facts.tensorColumns > 0 &&
           (!problem.hasSoftmax() || schedule.rescaleThreshold > 0) &&
           !schedule.promote;
  }

  /// What `early_keys` is a multiple of: columns of weights that are stored in
  /// tensor memory together, of 8 bits, too.
  static constexpr int64_t kEarlyKeys = 32;

  /// Of a backward whose products are in tensor memory: the most columns of S
  /// and dP that a step has in registers whole, and, of wider tiles, how many
  /// at a time (--attn-tile-slice-steps).
  static constexpr int64_t kWholeStepColumns = 64, kStepColumns = 32;

  /// Columns (keys) that one instruction sums: 32 bytes of an operand, in all
  /// families that have instructions.
  static int64_t getDepth(ElementType type) { return 32 / getSizeBytes(type); }

  /// Why no kernel of the family multiplies operands of the problem's type on
  /// that target; empty if there are some.
  virtual std::string findObstacle(const AttentionProblem &problem,
                                   const TargetInfo &target) const = 0;
  /// Adds what is wrong with the warps and tiles of a schedule.
  virtual void checkMapping(const AttentionProblem &problem,
                            const Schedule &schedule,
                            std::vector<Violation> &violations) const = 0;

  /// Registers of a computing thread.
  virtual RegisterUse getRegisterUse(const AttentionProblem &problem,
                                     const Schedule &schedule) const = 0;
  /// Most registers that a thread may be given.
  virtual int64_t getRegisterLimit(const Schedule &schedule,
                                   const TargetInfo &target) const = 0;
  /// What a producer thread needs, and what that leaves for each computing one
  /// of a CTA of `units` units, of `registers` of an SM; more for a producer
  /// that computes, too, and some for a warpgroup that corrects. Zeros: all
  /// threads keep what they are launched with.
  virtual RegisterSplit splitRegisters(int64_t /*units*/, int64_t /*registers*/,
                                       bool /*producerComputes*/,
                                       bool /*corrects*/) const {
    return {0, 0};
  }

  /// Products a second that its instructions sustain on operands of `type`.
  virtual double getRate(ElementType type, const TargetInfo &target) const = 0;

  /// True if its products read V of `type` as rows of keys: the producer
  /// transposes the tiles that are loaded.
  virtual bool transposesValue(ElementType /*type*/) const { return false; }

  /// Fraction bits that sums of its products of `type` keep; 0: those of f32.
  virtual int64_t getSumBits(ElementType type, const TargetInfo &target) const {
    return getMmaOperand(type) == MmaOperand::F8 ? target.f8SumBits : 0;
  }

  /// Sizes worth considering.
  virtual std::vector<int64_t> getKeyTiles() const = 0;
  virtual std::vector<int64_t> getStages() const = 0;

  const Facts facts;
};

/// The object of a family.
const Family &getFamily(MmaFamily family);

/// The families of which a target has instructions, the best one first.
std::vector<const Family *> getFamilies(const TargetInfo &target);

} // namespace attn

#endif // ATTN_SCHEDULE_FAMILY_H
