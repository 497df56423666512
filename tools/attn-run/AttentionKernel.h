//===- AttentionKernel.h - One attention's kernels --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What stands behind one function that `--attn-outline` leaves: PTX with its
// manifest.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNRUN_ATTENTIONKERNEL_H
#define ATTN_TOOLS_ATTNRUN_ATTENTIONKERNEL_H

#include "Options.h"
#include "SimKernel.h"

#include "attn/Dialect/Attn/Transforms/ExtractAttention.h"
#include "attn/Interpreter/Interpreter.h"
#include "attn/Runtime/HostTensor.h"
#include "attn/Runtime/Manifest.h"
#include "attn/TargetInfo/TargetInfo.h"

#include <optional>

namespace attn::run {

/// Runs from PTX and manifest alone, as a launcher would: the manifest's
/// `semantics.arguments` and `.results` say which tensor is which operand.
struct AttentionKernel {
  runtime::Manifest manifest;
  std::string ptx;
  /// What it computes.
  ExtractedAttention definition;

  /// The arguments of a call as the kernels' operands; outputs are absent.
  /// Prints what is wrong and returns nothing.
  std::optional<KernelOperands>
  makeOperands(const std::vector<runtime::HostTensor> &arguments) const;

  /// Calls it on the options' device. Prints what is wrong and returns nothing.
  std::optional<std::vector<runtime::HostTensor>>
  run(const std::vector<runtime::HostTensor> &arguments,
      const Options &options) const;

  /// The same by definition, unfused. Prints why where it cannot.
  std::optional<std::vector<runtime::HostTensor>>
  runUnfused(const std::vector<runtime::HostTensor> &arguments,
             EvaluationPrecision precision);

  /// True if its products are of 8-bit floats, by instructions whose sums drop
  /// bits on `target`.
  bool hasShortSums(const TargetInfo &target) const;

  /// True unless the manifest says otherwise.
  bool isDeterministic() const;
};

} // namespace attn::run

#endif // ATTN_TOOLS_ATTNRUN_ATTENTIONKERNEL_H
