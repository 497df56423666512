//===- NamedMods.h - Masks and score changes with a name -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builders that fill mask_mod and score_mod regions with well-known functions,
// and the reverse: the name under which a region is printed. Analyses never
// use the names; they read the region.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_NAMEDMODS_H
#define ATTN_DIALECT_ATTN_IR_NAMEDMODS_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// A region with a name, as it is written: `causal(top_left)`.
struct NamedMod {
  enum Kind { Causal, SlidingWindow, SoftCap } kind;
  CausalAlignment alignment = CausalAlignment::TopLeft; ///< Causal
  int64_t left = 0;                                     ///< SlidingWindow
  int64_t right = 0;                                    ///< SlidingWindow
  double cap = 0;                                       ///< SoftCap
};

/// Adds the entry block of a mask_mod region: (b, h, i, j), all index.
mlir::Block *addMaskModBlock(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Region &region);

/// Adds the entry block of a score_mod region: (score, b, h, i, j).
mlir::Block *addScoreModBlock(mlir::OpBuilder &builder, mlir::Location loc,
                              mlir::Region &region, mlir::FloatType scoreType);

/// Causal mask: key j is visible to query i when j <= i (TopLeft), or when
/// j <= i + N - M (BottomRight: the last query sees every key).
void buildCausalMask(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Region &region, CausalAlignment alignment);

/// Sliding window, inclusive: visible when i - left <= j <= i + right. A
/// negative bound means no limit on that side.
void buildSlidingWindowMask(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Region &region, int64_t left, int64_t right);

/// Soft cap (Gemma 2): score = cap * tanh(score / cap), cap > 0.
void buildSoftCap(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Region &region, mlir::FloatType scoreType, double cap);

/// Builds whatever `mod` names.
void buildNamedMod(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Region &region, mlir::FloatType scoreType,
                   const NamedMod &mod);

/// True if soft_cap takes the number: positive, and as a score neither 0, a
/// subnormal number nor infinite, by which no score should be divided.
bool isSoftCap(double cap, mlir::FloatType scoreType);

/// The name of a region, if its body is exactly what a builder makes.
std::optional<NamedMod> recognizeNamedMod(mlir::Region &region);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_IR_NAMEDMODS_H
