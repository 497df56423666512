//===- Verify.cpp - Compare results with float64 --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify.h"

#include "Appended.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Support/Format.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>
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
  if (type && *type != ElementType::I8)
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
  case DType::F8E4M3FN:
  case DType::F8E5M2:
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

Oracle::Oracle(func::FuncOp function, const Options &options)
    : function(function), options(options),
      isInterpreted(!findUninterpretableOp(function)) {}
Oracle::~Oracle() = default;

std::optional<Oracle::Tensors>
Oracle::runOnCpu(std::unique_ptr<CpuJit> &jit, CpuPath path,
                 const std::vector<HostTensor> &inputs) const {
  if (!jit) {
    auto compiled = compileForCpu(function, path, options);
    if (failed(compiled))
      return std::nullopt;
    jit = std::move(*compiled);
  }
  std::vector<HostTensor> arguments;
  for (const HostTensor &input : inputs)
    arguments.push_back(path == CpuPath::Float64 ? promote(input) : input);
  return toReference(jit->run(arguments));
}

std::optional<Oracle::Tensors>
Oracle::interpret(const std::vector<HostTensor> &inputs,
                  EvaluationPrecision precision) const {
  auto results = attn::interpret(function, inputs, precision);
  if (failed(results))
    return std::nullopt;
  return std::move(*results);
}

/// True if the value is an LSE, packed or not.
static bool isLse(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto attention = dyn_cast_or_null<AttentionOp>(op))
    return value == attention.getLse();
  if (auto merge = dyn_cast_or_null<MergeOp>(op))
    return value == merge.getLse();
  auto pack = dyn_cast_or_null<PackOp>(op);
  return pack && isLse(pack.getSource());
}

static std::vector<bool> findLogarithms(func::FuncOp function) {
  Operation *terminator = function.getBody().back().getTerminator();
  std::vector<bool> found;
  for (Value result : terminator->getOperands())
    found.push_back(isLse(result));
  return found;
}

std::optional<Expectation>
Oracle::expect(const std::vector<HostTensor> &inputs) {
  auto oracle = isInterpreted ? interpret(inputs, EvaluationPrecision::Float64)
                              : runOnCpu(float64, CpuPath::Float64, inputs);
  if (!oracle)
    return std::nullopt;
  auto yardstick =
      isInterpreted && !usesF64(function)
          ? interpret(inputs, options.device == Device::Cpu
                                  ? EvaluationPrecision::UnfusedOnCpu
                                  : EvaluationPrecision::Unfused)
          : runOnCpu(unfused, CpuPath::Unfused, inputs);
  if (!yardstick)
    return std::nullopt;
  return Expectation{std::move(*oracle), std::move(*yardstick),
                     expectAppended(function, inputs),
                     findLogarithms(function)};
}

const char *Oracle::describe() const {
  return isInterpreted ? "attention by definition in float64"
                       : "the graph as written, in float64";
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
  std::vector<std::string> index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = std::to_string(position % shape[d]);
    position /= shape[d];
  }
  return "[" + join(index, ", ") + "]";
}

/// The largest of fewer errors of two computations that are equally exact
/// differ by more than a factor of two for many inputs.
static constexpr int64_t kFewElements = 16;

/// Of few elements over several inputs: the error of one may be that many times
/// what the inputs allow on the whole.
static constexpr double kFewElementsLeeway = 4;

/// With an unfused error of more of the result, as of what nearly cancels,
/// being within twice of it says little.
static constexpr double kLargeError = 0.1;

/// The first element with other bits than it is to have; -1 if there is none.
static int64_t findChange(const HostTensor &actual,
                          const std::optional<HostTensor> &exact) {
  if (!exact)
    return -1;
  auto [at, end] = std::mismatch(actual.data.begin(), actual.data.end(),
                                 exact->data.begin(), exact->data.end());
  if (at == actual.data.end())
    return -1;
  return (at - actual.data.begin()) /
         static_cast<int64_t>(byteSize(actual.dtype));
}

/// Tells what the numbers alone hide.
std::string Verifier::makeNotes(const Run &run, size_t number, bool holds) {
  std::string notes, prefix = "result " + std::to_string(number) + ": ";
  int64_t total = run.numElements;
  if (run.unwritten > 0)
    notes += prefix + std::to_string(run.unwritten) + " of " +
             std::to_string(total) +
             " elements are of what nothing writes, and not compared\n";
  if (run.undefined > 0)
    notes += prefix + std::to_string(run.undefined) + " of " +
             std::to_string(total) +
             " reference values are NaN and prove little\n";
  if (holds && std::isfinite(run.unfused.relNorm) &&
      run.unfused.relNorm > kLargeError)
    notes += prefix + "the unfused error is " +
             std::to_string(std::lround(100 * run.unfused.relNorm)) +
             "% of the result, by which the rule proves little\n";
  if (run.changed >= 0)
    notes += prefix +
             "expected a cache with the new rows, bit for bit; it "
             "differs at " +
             formatIndex(run.changed, run.shape) + "\n";
  if (!holds && run.numNumbers < kFewElements && runs.size() == 1)
    notes +=
        prefix + "of " + std::to_string(run.numNumbers) +
        " elements that are neither 0 nor infinite, whose error beside the "
        "unfused one is mostly chance: compare both over several inputs by "
        "--trials=8\n";
  if (!holds && run.stats.worstPosition >= 0)
    notes += prefix + "worst at " +
             formatIndex(run.stats.worstPosition, run.shape) + ": expected " +
             formatError(run.expected) + ", got " + formatError(run.actual) +
             "\n";
  return notes;
}

/// The largest magnitude among results like `oracle`, as all gradients are,
/// those of weights, which are sums of rows of others, too; an LSE is not like
/// an output.
static double getLargestOfKind(const Expectation &expectation,
                               const reference::Tensor &oracle) {
  auto isLike = [](size_t rank, size_t other) {
    return rank == other || (rank < 3 && other == 4);
  };
  double largest = 0;
  for (const reference::Tensor &other : expectation.oracle)
    if (isLike(oracle.getShape().size(), other.getShape().size()))
      largest = std::max(largest, getLargest(other));
  return largest;
}

/// Makes equal what nothing defines, as rows of attn.pack that are of no
/// sequence; returns how many elements.
static int64_t clearUnwritten(reference::Tensor &oracle,
                              ArrayRef<reference::Tensor *> others) {
  int64_t count = 0;
  for (int64_t i = 0; i < oracle.getNumElements(); ++i) {
    if (!reference::isUnwritten(oracle[i]))
      continue;
    ++count;
    oracle.set(i, 0);
    for (reference::Tensor *other : others)
      other->set(i, 0);
  }
  return count;
}

bool Verifier::add(const std::vector<HostTensor> &results,
                   const Expectation &expectation) {
  std::vector<Run> measured;
  for (size_t i = 0; i < results.size(); ++i) {
    reference::Tensor oracle = expectation.oracle[i];
    reference::Tensor yardstick = expectation.yardstick[i];
    reference::Tensor actual = toReferenceTensor(results[i]);
    if (actual.getShape() != oracle.getShape())
      return reportError("result " + std::to_string(i) + ": expected shape " +
                         reference::formatShape(oracle.getShape()) + ", got " +
                         reference::formatShape(actual.getShape()));
    Run run;
    run.type = formatType(results[i]);
    run.shape = oracle.getShape();
    run.numElements = oracle.getNumElements();
    run.unwritten = clearUnwritten(oracle, {&yardstick, &actual});
    run.stats = measureError(actual, oracle);
    run.unfused = measureError(yardstick, oracle);
    run.bound =
        getErrorBound(yardstick, oracle, getLargestOfKind(expectation, oracle),
                      expectation.areLogarithms[i]);
    run.changed = findChange(results[i], expectation.exact[i]);
    for (double value : oracle.getValues()) {
      run.undefined += std::isnan(value);
      run.numNumbers += std::isfinite(value) && value != 0;
    }
    if (run.stats.worstPosition >= 0) {
      run.expected = oracle[run.stats.worstPosition];
      run.actual = actual[run.stats.worstPosition];
    }
    measured.push_back(std::move(run));
  }
  runs.push_back(std::move(measured));
  return true;
}

/// The median over the runs of what `get` gives.
template <typename Getter>
static double getMedian(ArrayRef<Verifier::Run> runs, Getter get) {
  std::vector<double> values;
  for (const Verifier::Run &run : runs)
    values.push_back(get(run));
  auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Of few elements: whether the medians hold, and no run is far beyond all.
static bool holdsOnTheWhole(ArrayRef<Verifier::Run> runs) {
  auto check = [&](auto error, auto bound) {
    double largest = 0, allowed = 0;
    for (const Verifier::Run &run : runs) {
      largest = std::max(largest, error(run));
      allowed = std::max(allowed, bound(run));
    }
    return getMedian(runs, error) <= getMedian(runs, bound) &&
           largest <= kFewElementsLeeway * allowed;
  };
  using Run = Verifier::Run;
  return check([](const Run &run) { return run.stats.maxAbs; },
               [](const Run &run) { return run.bound.maxAbs; }) &&
         check([](const Run &run) { return run.stats.relNorm; },
               [](const Run &run) { return run.bound.relNorm; });
}

/// How much of what is allowed the errors of a run are.
static double getShare(const Verifier::Run &run) {
  auto share = [](double error, double bound) {
    return error == 0 ? 0 : error / bound;
  };
  return std::max(share(run.stats.maxAbs, run.bound.maxAbs),
                  share(run.stats.relNorm, run.bound.relNorm));
}

bool Verifier::print(const Oracle &oracle) {
  Table table({"result", "type", "max abs error", "unfused", "allowed",
               "rel error", "unfused", "allowed", "verdict"},
              {Table::Right, Table::Left, Table::Right, Table::Right,
               Table::Right, Table::Right, Table::Right, Table::Right,
               Table::Left});
  bool allHold = true;
  std::string notes;
  for (size_t i = 0; i < runs.front().size(); ++i) {
    std::vector<Run> own;
    for (const std::vector<Run> &run : runs)
      own.push_back(run[i]);
    const Run &worst = *std::max_element(
        own.begin(), own.end(),
        [](const Run &a, const Run &b) { return getShare(a) < getShare(b); });
    bool isFew = own.size() > 1 && worst.numNumbers < kFewElements;
    bool holds = isFew ? holdsOnTheWhole(own) : worst.bound.holds(worst.stats);
    for (const Run &run : own)
      holds &= run.changed < 0;
    allHold &= holds;
    table.addRow(
        {std::to_string(i), worst.type, formatError(worst.stats.maxAbs),
         formatError(worst.unfused.maxAbs), formatError(worst.bound.maxAbs),
         formatError(worst.stats.relNorm), formatError(worst.unfused.relNorm),
         formatError(worst.bound.relNorm), holds ? "pass" : "FAIL"});
    notes += makeNotes(worst, i, holds);
    if (isFew)
      notes += "result " + std::to_string(i) + ": judged by the medians of " +
               std::to_string(own.size()) + " runs; the worst is shown\n";
  }
  llvm::outs() << "reference: " << oracle.describe()
               << (runs.size() > 1 ? "; the worst of " +
                                         std::to_string(runs.size()) + " runs"
                                   : "")
               << "\n"
               << table.print() << notes
               << (allHold ? "verify: PASS\n" : "verify: FAIL\n");
  llvm::outs().flush(); // before the diagnostics of the next set
  return allHold;
}
