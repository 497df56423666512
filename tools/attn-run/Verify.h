//===- Verify.h - Compare results with float64 ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNRUN_VERIFY_H
#define ATTN_TOOLS_ATTNRUN_VERIFY_H

#include "Options.h"

#include "attn/Reference/Tensor.h"
#include "attn/Runtime/HostTensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace attn::run {

/// What the results are judged by.
struct Expectation {
  /// Where the two come from, for people.
  std::string description;
  /// Results in float64.
  std::vector<reference::Tensor> oracle;
  /// Results of an unfused computation in the precision of the input.
  std::vector<reference::Tensor> yardstick;
};

/// The tensors as the oracle holds them; integers become f64.
std::vector<reference::Tensor>
toReference(const std::vector<runtime::HostTensor> &tensors);

/// The oracle's tensor in the memory format of its type.
runtime::HostTensor toHostTensor(const reference::Tensor &tensor);

/// Computes what a function should return: functions of attn ops by the
/// interpreter, other graphs as they are written by upstream's passes. Prints
/// diagnostics and returns nothing on failure.
std::optional<Expectation>
makeExpectation(mlir::func::FuncOp function,
                const std::vector<runtime::HostTensor> &inputs,
                const Options &options);

/// Prints a table of errors and bounds and a verdict; true if every result is
/// within its bound (Reference/ErrorBound.h).
bool verifyResults(const std::vector<runtime::HostTensor> &results,
                   const Expectation &expectation);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTNRUN_VERIFY_H
