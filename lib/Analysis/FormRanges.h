//===- FormRanges.h - Which linear forms are exact --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linear forms are numbers without limits, and what they are read from and
// computed in has 64 bits or 32. Says where the two are the same: what may wrap
// around is in no form. Private to lib/Analysis.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_ANALYSIS_FORMRANGES_H
#define LIB_ANALYSIS_FORMRANGES_H

#include "attn/Analysis/IndexRanges.h"
#include "attn/Analysis/MaskAnalysis.h"

namespace attn {

class FormRanges {
public:
  explicit FormRanges(const MaskAnalysis &mask) : mask(mask) {}

  /// True if an op on integers, with the numbers that its operands may be, has
  /// a result that its type may not hold.
  bool mayWrap(mlir::Operation *op);

  /// True if `form <= 0` is computed right in 64 bits with every value of the
  /// mask cut to IndexRanges::kFar, as castToTerm does.
  bool isExact(const LinearForm &form);

  IndexRanges &getIndexRanges() { return ranges; }

private:
  /// How far a number may be from 0 (`most`), and where it may have been cut:
  /// how far it then is at least (`far`).
  struct Reach {
    double most = 0;
    std::optional<double> far;
  };
  std::optional<Reach> getReach(const LinearForm &form);
  std::optional<Reach> getReach(mlir::AffineExpr core);

  const MaskAnalysis &mask;
  IndexRanges ranges;
};

} // namespace attn

#endif // LIB_ANALYSIS_FORMRANGES_H
