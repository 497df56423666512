//===- Verify.h - Compare results with float64 ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNRUN_VERIFY_H
#define ATTN_TOOLS_ATTNRUN_VERIFY_H

#include "CpuDevice.h"
#include "Options.h"

#include "attn/Interpreter/Interpreter.h"
#include "attn/Reference/ErrorBound.h"
#include "attn/Reference/Tensor.h"
#include "attn/Runtime/HostTensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <memory>
#include <optional>

namespace attn::run {

/// What the results are judged by.
struct Expectation {
  /// Results in float64.
  std::vector<reference::Tensor> oracle;
  /// Results of an unfused computation in the precision of the input.
  std::vector<reference::Tensor> yardstick;
  /// Of results that are a cache the bytes that they must have.
  std::vector<std::optional<runtime::HostTensor>> exact;
  /// Which results are LSEs.
  std::vector<bool> areLogarithms;
};

/// The tensors as the oracle holds them; integers become f64.
std::vector<reference::Tensor>
toReference(const std::vector<runtime::HostTensor> &tensors);

/// The oracle's tensor in the memory format of its type.
runtime::HostTensor toHostTensor(const reference::Tensor &tensor);

/// Computes what a function should return: functions of attn ops by the
/// interpreter, other graphs as they are written by upstream's passes, compiled
/// once for all inputs.
class Oracle {
public:
  Oracle(mlir::func::FuncOp function, const Options &options);
  ~Oracle();

  /// Prints diagnostics and returns nothing on failure.
  std::optional<Expectation>
  expect(const std::vector<runtime::HostTensor> &inputs);

  /// Where expectations come from, for people.
  const char *describe() const;

private:
  using Tensors = std::vector<reference::Tensor>;

  std::optional<Tensors>
  runOnCpu(std::unique_ptr<CpuJit> &jit, CpuPath path,
           const std::vector<runtime::HostTensor> &inputs) const;
  std::optional<Tensors>
  interpret(const std::vector<runtime::HostTensor> &inputs,
            EvaluationPrecision precision) const;

  mlir::func::FuncOp function;
  const Options &options;
  bool isInterpreted;
  std::unique_ptr<CpuJit> float64, unfused;
};

/// Judges the results of one or several runs by the rule of
/// Reference/ErrorBound.h. Those of few elements are judged over all runs:
/// their errors beside the unfused ones are chance.
class Verifier {
public:
  /// The errors of one result of one run.
  struct Run {
    std::string type;
    std::vector<int64_t> shape;
    int64_t numElements = 0;
    int64_t numNumbers = 0; ///< neither 0 nor infinite, by the reference
    reference::ErrorStats stats, unfused;
    reference::ErrorBound bound;
    int64_t unwritten = 0;           ///< elements that nothing defines
    int64_t undefined = 0;           ///< elements that the oracle has as NaN
    double expected = 0, actual = 0; ///< where the error is largest
    int64_t changed = -1; ///< an element whose bits are not those of a cache
  };

  /// Prints an error and returns false on results of another shape.
  bool add(const std::vector<runtime::HostTensor> &results,
           const Expectation &expectation);

  /// Prints a table of errors and bounds and a verdict; true if every result is
  /// within its bound.
  bool print(const Oracle &oracle);

private:
  std::string makeNotes(const Run &run, size_t number, bool holds);

  std::vector<std::vector<Run>> runs; ///< by run, then result
};

} // namespace attn::run

#endif // ATTN_TOOLS_ATTNRUN_VERIFY_H
