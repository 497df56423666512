//===- Verify.cpp - Compare results with float64 --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify.h"

#include "CpuDevice.h"

#include "attn/Interpreter/Interpreter.h"
#include "attn/Reference/ErrorBound.h"
#include "attn/Support/Format.h"

#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace attn;
using namespace attn::run;
using runtime::DType;
using runtime::HostTensor;

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// The tensor as the oracle holds it; integers become f64.
static reference::Tensor toReferenceTensor(const HostTensor &tensor) {
  std::optional<ElementType> type = parseElementType(name(tensor.dtype));
  if (type)
    return reference::Tensor::fromMemory(
        tensor.data.data(), tensor.shape,
        runtime::getRowMajorStrides(tensor.shape), *type);
  reference::Tensor result(tensor.shape, ElementType::F64);
  size_t size = byteSize(tensor.dtype);
  for (int64_t i = 0; i < tensor.numElements(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, &tensor.data[static_cast<size_t>(i) * size], size);
    result.set(i, static_cast<double>(llvm::SignExtend64(bits, 8 * size)));
  }
  return result;
}

std::vector<reference::Tensor>
attn::run::toReference(const std::vector<HostTensor> &tensors) {
  std::vector<reference::Tensor> results;
  for (const HostTensor &tensor : tensors)
    results.push_back(toReferenceTensor(tensor));
  return results;
}

HostTensor attn::run::toHostTensor(const reference::Tensor &tensor) {
  // Manifests and the oracle name types alike.
  DType type = *runtime::parseDType(std::string(getName(tensor.getType())));
  HostTensor result(type, tensor.getShape());
  tensor.toMemory(result.data.data(),
                  runtime::getRowMajorStrides(result.shape));
  return result;
}

/// Floats widened to f64, other tensors as they are.
static HostTensor promote(const HostTensor &tensor) {
  switch (tensor.dtype) {
  case DType::F16:
  case DType::BF16:
  case DType::F32: {
    HostTensor wide(DType::F64, tensor.shape);
    toReferenceTensor(tensor)
        .convertTo(ElementType::F64)
        .toMemory(wide.data.data(), runtime::getRowMajorStrides(wide.shape));
    return wide;
  }
  default:
    return tensor;
  }
}

//===----------------------------------------------------------------------===//
// Expectations
//===----------------------------------------------------------------------===//

/// True if some float of the signature is f64: the unfused yardstick of
/// lib/Reference computes in f32 and would excuse too much.
static bool usesF64(func::FuncOp function) {
  return llvm::any_of(function.getArgumentTypes(), [](Type type) {
    return getElementTypeOrSelf(type).isF64();
  });
}

static std::optional<std::vector<reference::Tensor>>
runOnCpu(func::FuncOp function, CpuPath path,
         const std::vector<HostTensor> &inputs, const Options &options) {
  auto jit = compileForCpu(function, path, options);
  if (failed(jit))
    return std::nullopt;
  std::vector<HostTensor> arguments;
  for (const HostTensor &input : inputs)
    arguments.push_back(path == CpuPath::Float64 ? promote(input) : input);
  return toReference((*jit)->run(arguments));
}

static std::optional<std::vector<reference::Tensor>>
interpretOrNothing(func::FuncOp function, const std::vector<HostTensor> &inputs,
                   EvaluationPrecision precision) {
  auto results = interpret(function, inputs, precision);
  if (failed(results))
    return std::nullopt;
  return std::move(*results);
}

std::optional<Expectation>
attn::run::makeExpectation(func::FuncOp function,
                           const std::vector<HostTensor> &inputs,
                           const Options &options) {
  Expectation expectation;
  std::optional<std::vector<reference::Tensor>> oracle, yardstick;
  Operation *obstacle = findUninterpretableOp(function);
  if (!obstacle) {
    expectation.description = "attention by definition in float64";
    oracle = interpretOrNothing(function, inputs, EvaluationPrecision::Float64);
  } else {
    expectation.description = "the graph as written, in float64";
    oracle = runOnCpu(function, CpuPath::Float64, inputs, options);
  }
  if (!oracle)
    return std::nullopt;
  if (!obstacle && !usesF64(function))
    yardstick =
        interpretOrNothing(function, inputs, EvaluationPrecision::Unfused);
  else
    yardstick = runOnCpu(function, CpuPath::Unfused, inputs, options);
  if (!yardstick)
    return std::nullopt;
  expectation.oracle = std::move(*oracle);
  expectation.yardstick = std::move(*yardstick);
  return expectation;
}

//===----------------------------------------------------------------------===//
// Verdicts
//===----------------------------------------------------------------------===//

static std::string formatError(double error) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2e", error);
  return text;
}

/// "[0, 3, 17]"
static std::string formatIndex(int64_t position,
                               const std::vector<int64_t> &shape) {
  std::string text;
  for (size_t d = shape.size(); d-- > 0;) {
    text =
        std::to_string(position % shape[d]) + (text.empty() ? "" : ", ") + text;
    position /= shape[d];
  }
  return "[" + text + "]";
}

/// The largest of fewer errors of two computations that are equally exact
/// differ by more than a factor of two for many inputs.
static constexpr int64_t kFewElements = 16;

/// Tells what the numbers alone hide.
static void addNotes(size_t number, const reference::Tensor &actual,
                     const reference::Tensor &oracle,
                     const reference::ErrorStats &stats, bool holds,
                     std::string &notes) {
  std::string prefix = "result " + std::to_string(number) + ": ";
  int64_t undefined = 0;
  for (double value : oracle.getValues())
    undefined += std::isnan(value);
  if (undefined > 0)
    notes += prefix + std::to_string(undefined) + " of " +
             std::to_string(oracle.getNumElements()) +
             " reference values are NaN and prove little\n";
  if (!holds && oracle.getNumElements() < kFewElements)
    notes += prefix + "of " + std::to_string(oracle.getNumElements()) +
             " elements, whose error beside the unfused one is mostly chance: "
             "compare both over several --random seeds\n";
  if (!holds && stats.worstPosition >= 0)
    notes += prefix + "worst at " +
             formatIndex(stats.worstPosition, oracle.getShape()) +
             ": expected " + formatError(oracle[stats.worstPosition]) +
             ", got " + formatError(actual[stats.worstPosition]) + "\n";
}

bool attn::run::verifyResults(const std::vector<HostTensor> &results,
                              const Expectation &expectation) {
  Table table({"result", "type", "max abs error", "unfused", "allowed",
               "rel error", "unfused", "allowed", "verdict"},
              {Table::Right, Table::Left, Table::Right, Table::Right,
               Table::Right, Table::Right, Table::Right, Table::Right,
               Table::Left});
  bool allHold = true;
  std::string notes;
  for (size_t i = 0; i < results.size(); ++i) {
    const reference::Tensor &oracle = expectation.oracle[i];
    const reference::Tensor &yardstick = expectation.yardstick[i];
    reference::Tensor actual = toReferenceTensor(results[i]);
    if (actual.getShape() != oracle.getShape()) {
      allHold =
          reportError("result " + std::to_string(i) + ": expected shape " +
                      reference::formatShape(oracle.getShape()) + ", got " +
                      reference::formatShape(actual.getShape()));
      continue;
    }
    reference::ErrorStats stats = measureError(actual, oracle);
    reference::ErrorStats unfused = measureError(yardstick, oracle);
    reference::ErrorBound bound = getErrorBound(yardstick, oracle);
    bool holds = bound.holds(stats);
    allHold &= holds;
    table.addRow({std::to_string(i), formatType(results[i]),
                  formatError(stats.maxAbs), formatError(unfused.maxAbs),
                  formatError(bound.maxAbs), formatError(stats.relNorm),
                  formatError(unfused.relNorm), formatError(bound.relNorm),
                  holds ? "pass" : "FAIL"});
    addNotes(i, actual, oracle, stats, holds, notes);
  }
  llvm::outs() << "reference: " << expectation.description << "\n"
               << table.print() << notes
               << (allHold ? "verify: PASS\n" : "verify: FAIL\n");
  return allHold;
}
