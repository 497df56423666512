//===- ModPrograms.h - An attention's options for the oracle ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_INTERPRETER_MODPROGRAMS_H
#define ATTN_LIB_INTERPRETER_MODPROGRAMS_H

#include "RegionProgram.h"
#include "Values.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Reference/Attention.h"

namespace attn {

/// Scale, bias, dropout and regions of an op as lib/Reference takes them.
/// `options` refers to the other members.
class ModPrograms {
public:
  ModPrograms(AttentionOp op, const Environment &environment,
              const reference::Tensor &query, const reference::Tensor &key);
  /// With the derivative of score_mod, and a sink that adds up the gradients of
  /// the captures.
  ModPrograms(AttentionBackwardOp op, const Environment &environment,
              const reference::Tensor &query, const reference::Tensor &key);
  ModPrograms(const ModPrograms &) = delete;

  /// Fails with a diagnostic if a run read out of a tensor's range.
  mlir::LogicalResult checkReads() const;

  reference::AttentionOptions options;
  /// Of each capture.
  std::vector<reference::Tensor> captureGradients;

private:
  /// One tensor.extract of a capture: its position, and the derivative of
  /// score_mod with respect to what it reads.
  struct CaptureRead {
    size_t capture;
    std::vector<std::unique_ptr<RegionProgram>> indices;
    std::unique_ptr<RegionProgram> derivative;
  };

  /// Keys and rows that do not exist take no part.
  void hideBehindLengths();
  template <typename OpTy>
  void addMods(OpTy op, const Environment &environment);
  /// The derivative of score_mod with respect to `variable`.
  std::unique_ptr<RegionProgram> makeDerivative(AttentionBackwardOp op,
                                                mlir::Value variable,
                                                const Environment &environment);
  void addCaptures(AttentionBackwardOp op, const Environment &environment);
  void addCaptureGradients(llvm::ArrayRef<Scalar> arguments, double gradient);

  AttentionLengths lengths;
  std::optional<reference::Tensor> bias;
  std::unique_ptr<RegionProgram> scoreMod, maskMod, probMod, scoreModDerivative;
  std::vector<CaptureRead> reads;
  /// What the derivatives' programs point into.
  std::vector<std::unique_ptr<mlir::Region>> derivatives;
};

} // namespace attn

#endif // ATTN_LIB_INTERPRETER_MODPROGRAMS_H
