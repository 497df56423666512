//===- LinalgToAttn.h - Capture of attention graphs -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds attention in graphs of linalg, tensor and TOSA ops and replaces it by
// attn.attention. docs/Rationale/Raise.md says what is recognised and what the
// capture promises.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_CONVERSION_LINALGTOATTN_LINALGTOATTN_H
#define ATTN_CONVERSION_LINALGTOATTN_LINALGTOATTN_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/PatternMatch.h"

#include <optional>
#include <string>

namespace attn {

/// How masks made of large negative numbers are understood.
struct RaiseOptions {
  /// Finite mask values at or below this count as -inf where every row is
  /// known to see a key. The default, 0, is half of the lowest finite number
  /// of the product's element type.
  double maskThreshold = 0;
  /// Take it that every query sees at least one key, without proof.
  bool assumeVisibleRows = false;
};

/// A contraction that looked like the end of an attention and was not
/// captured.
struct MissedAttention {
  /// How far the match came.
  enum class Progress {
    Contraction, ///< neither operand has an exponential
    Gate,        ///< an operand has one, which nothing sums
    Hidden,      ///< an op that is not followed hides a softmax
    Exponential, ///< and a sum of it, but is no softmax
    Softmax,     ///< the softmax is not over a matched score
    Score,       ///< the dimensions do not make an attention
  };
  mlir::Operation *contraction; ///< weights times values
  mlir::Location loc;           ///< of the op that broke the match
  std::string reason;
  Progress progress;

  /// Attaches "nearest miss" notes to a diagnostic.
  void attachTo(mlir::InFlightDiagnostic &diagnostic) const;
};

/// The outcome of a capture.
struct RaiseResult {
  unsigned found = 0;  ///< contractions with a softmax or an exponential
  unsigned raised = 0; ///< of these, captured
  /// Those that were not captured.
  llvm::SmallVector<MissedAttention> missed;
  /// The miss that came furthest, if any contraction was looked at.
  std::optional<MissedAttention> nearestMiss;
};

/// Lets graphs of linalg and TOSA be read (Analysis/Elements/ElementReader.h),
/// as the pass does by itself.
void registerElementReaders(mlir::DialectRegistry &registry);

/// Captures every attention under `root`. Ops that become dead stay.
RaiseResult raiseAttention(mlir::RewriterBase &rewriter, mlir::Operation *root,
                           const RaiseOptions &options = {});

/// Emits the error for a module without attention: what was looked for, and
/// the nearest miss.
mlir::InFlightDiagnostic emitNoAttention(mlir::Operation *root,
                                         const RaiseResult &result);

} // namespace attn

#endif // ATTN_CONVERSION_LINALGTOATTN_LINALGTOATTN_H
