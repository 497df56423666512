//===- Inputs.cpp - What the function is called with ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Generated argument i is a function of the seed and i alone (Reference/
// Random.h): its stream is randomBits(seed, i).
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"

#include "Arguments.h"
#include "CacheInputs.h"
#include "Shapes.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/IR/HeadOps.h"
#include "attn/Reference/Element.h"
#include "attn/Reference/Random.h"
#include "attn/Runtime/Npy.h"
#include "attn/Support/Format.h"
#include "attn/Target/CPU/CpuJit.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir;
using namespace attn;
using namespace attn::run;
using runtime::DType;
using runtime::HostTensor;

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

std::optional<std::vector<DType>> attn::run::getDTypes(func::FuncOp function) {
  std::vector<DType> dtypes;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    std::optional<DType> dtype =
        getDType(tensor ? tensor.getElementType() : type);
    if (!dtype) {
      reportError("expected a ranked tensor of f8E4M3FN, f8E5M2, f16, bf16, "
                  "f32, f64, i1, i8, "
                  "i32, i64 or index, got " +
                  describeArgument(function, i));
      return std::nullopt;
    }
    dtypes.push_back(*dtype);
  }
  return dtypes;
}

static std::optional<std::vector<std::optional<HostTensor>>>
readFiles(func::FuncOp function, const std::vector<DType> &dtypes,
          const Options &options) {
  std::vector<std::optional<HostTensor>> files(dtypes.size());
  size_t next = 0;
  for (const std::string &text : options.set.inputs) {
    std::optional<ArgumentOption> option = parseArgumentOption(text);
    size_t argument = option ? option->argument : next++;
    if (argument >= dtypes.size()) {
      reportError("--input " + text + ": @" + function.getName().str() +
                  " has " + std::to_string(dtypes.size()) + " arguments");
      return std::nullopt;
    }
    if (files[argument]) {
      reportError("--input " + text + ": expected one file for " +
                  describeArgument(function, argument) + ", got another");
      return std::nullopt;
    }
    Result<HostTensor> tensor = runtime::readNpy(option ? option->value : text);
    if (!tensor) {
      reportError(tensor.error());
      return std::nullopt;
    }
    runtime::reinterpretFloat8(*tensor, dtypes[argument]);
    if (tensor->dtype != dtypes[argument]) {
      reportError("--input " + text + ": expected " + name(dtypes[argument]) +
                  " for " + describeArgument(function, argument) + ", got " +
                  name(tensor->dtype));
      return std::nullopt;
    }
    files[argument] = *tensor;
  }
  return files;
}

//===----------------------------------------------------------------------===//
// Generated values
//===----------------------------------------------------------------------===//

static const std::vector<std::string> fillNames = {
    "normal", "padding", "additive-mask", "ramp", "zeros", "ones"};

/// Nothing for integers.
static std::optional<ElementType> getFloatType(DType dtype) {
  switch (dtype) {
  case DType::F8E4M3FN:
    return ElementType::F8E4M3FN;
  case DType::F8E5M2:
    return ElementType::F8E5M2;
  case DType::F16:
    return ElementType::F16;
  case DType::BF16:
    return ElementType::BF16;
  case DType::F32:
    return ElementType::F32;
  case DType::F64:
    return ElementType::F64;
  default:
    return std::nullopt;
  }
}

void attn::run::setElement(HostTensor &tensor, int64_t position, double value) {
  size_t size = byteSize(tensor.dtype);
  char *target = &tensor.data[static_cast<size_t>(position) * size];
  if (std::optional<ElementType> type = getFloatType(tensor.dtype)) {
    uint64_t bits = reference::encodeElement(value, *type);
    std::memcpy(target, &bits, size);
    return;
  }
  // An i8 has no NaN: what should not be read is the largest.
  if (tensor.dtype == DType::I8)
    value = std::isnan(value)
                ? -128
                : reference::roundToElement(value, ElementType::I8);
  int64_t integer = static_cast<int64_t>(value);
  if (tensor.dtype == DType::I1)
    integer = integer != 0;
  std::memcpy(target, &integer, size);
}

/// Elements of the last dimension; a scalar is a row of one.
static int64_t rowLength(const HostTensor &tensor) {
  return tensor.shape.empty() ? 1 : tensor.shape.back();
}

/// True for a bias that is the same for all heads: what models add to hide
/// keys.
static bool isAdditiveMask(BlockArgument argument) {
  return llvm::any_of(argument.getUses(), [](OpOperand &use) {
    auto attention = dyn_cast<AttentionOp>(use.getOwner());
    return attention && attention.getBias() == use.get() &&
           cast<ShapedType>(use.get().getType()).getDimSize(1) == 1;
  });
}

/// True for a query, keys and values, or their pool, of bytes.
static bool isOperand(BlockArgument argument) {
  return isByte(argument.getType()) &&
         llvm::any_of(argument.getUses(), [](OpOperand &use) {
           return isa<AttentionOp, PagedOp, RaggedOp, AppendOp, SelectHeadsOp>(
               use.getOwner());
         });
}

static std::string defaultFill(const HostTensor &tensor,
                               BlockArgument argument) {
  if (getFloatType(tensor.dtype) || isOperand(argument))
    return isAdditiveMask(argument) ? "additive-mask" : "normal";
  bool isSingleRow = tensor.numElements() == rowLength(tensor);
  return tensor.dtype != DType::I1 && isSingleRow ? "ramp" : "padding";
}

/// A matrix is taken for a weight, whose product with unit vectors stays at
/// unit size. Of i8 some are cut off at 127.
static double deviation(const HostTensor &tensor) {
  if (tensor.dtype == DType::I8)
    return 48;
  if (tensor.shape.size() != 2)
    return 1;
  int64_t larger = std::max(tensor.shape[0], tensor.shape[1]);
  return larger > 0 ? 1 / std::sqrt(static_cast<double>(larger)) : 1;
}

/// What a row of a mask shows: a range of it or all but a range, or single
/// elements. At least one element is shown, and one is not where there is a
/// choice: a mask of either polarity then leaves something visible.
class PaddingRow {
public:
  PaddingRow(uint64_t stream, int64_t row, int64_t length) {
    // A prefix of ones is right padding, a suffix left padding; the others are
    // first, middle and last tiles that are hidden, and holes.
    enum Shape { Prefix, Suffix, Range, Hole, Scattered, kShapes };
    uint64_t bits = reference::randomBits(stream, static_cast<uint64_t>(row));
    auto draw = [&](int64_t end) { // 0 to end - 1
      bits = reference::randomBits(bits, 0);
      return static_cast<int64_t>(bits % static_cast<uint64_t>(end));
    };
    if (length <= 1) {
      end = length;
      return;
    }
    auto shape = static_cast<Shape>(draw(kShapes));
    int64_t size = 1 + draw(length - 1); // 1 to length - 1
    begin = shape == Suffix   ? length - size
            : shape == Prefix ? 0
                              : draw(length - size + 1);
    end = begin + size;
    isInverted = shape == Hole;
    hidden = end % length;
    isScattered = shape == Scattered;
    scatter = bits;
  }

  bool shows(int64_t i) const {
    if (isScattered)
      return i == begin ||
             (i != hidden &&
              reference::randomBits(scatter, static_cast<uint64_t>(i)) & 1);
    return (begin <= i && i < end) != isInverted;
  }

private:
  int64_t begin = 0, end = 0, hidden = 0;
  bool isInverted = false, isScattered = false;
  uint64_t scatter = 0;
};

/// What a mask that is added hides with, by the row: as models write it.
static double hiddenScore(const HostTensor &tensor, uint64_t stream,
                          int64_t row) {
  double lowest =
      tensor.dtype == DType::F16 ? -65504
      : tensor.dtype == DType::BF16
          ? -0x1.FEp127
          : static_cast<double>(std::numeric_limits<float>::lowest());
  double values[] = {lowest, -1e9, -65504, -1e4};
  uint64_t bits = reference::randomBits(~stream, static_cast<uint64_t>(row));
  return std::max(values[bits % std::size(values)], lowest);
}

static void fillPadding(HostTensor &tensor, bool isAdded, uint64_t stream) {
  int64_t length = rowLength(tensor);
  for (int64_t i = 0, e = tensor.numElements(); i < e; i += length) {
    PaddingRow row(stream, i / length, length);
    double hidden = isAdded ? hiddenScore(tensor, stream, i / length) : 0;
    for (int64_t j = 0; j < length; ++j)
      setElement(tensor, i + j, row.shows(j) ? (isAdded ? 0 : 1) : hidden);
  }
}

static void fill(HostTensor &tensor, const std::string &kind, uint64_t stream) {
  if (kind == "padding" || kind == "additive-mask")
    return fillPadding(tensor, kind != "padding", stream);
  int64_t length = rowLength(tensor);
  auto distribution = reference::Distribution::normal(0, deviation(tensor));
  for (int64_t i = 0, e = tensor.numElements(); i < e; ++i) {
    double value = 0;
    if (kind == "normal")
      value = reference::randomValue(stream, static_cast<uint64_t>(i),
                                     distribution);
    else if (kind == "ramp")
      value = static_cast<double>(i % length);
    else if (kind == "ones")
      value = 1;
    setElement(tensor, i, value);
  }
}

/// The kinds that --fill asks for; empty where it does not.
static std::optional<std::vector<std::string>>
parseFills(func::FuncOp function, const Options &options) {
  std::vector<std::string> kinds(function.getNumArguments());
  for (const std::string &text : options.fills) {
    std::optional<ArgumentOption> option = parseArgumentOption(text);
    if (!option || !llvm::is_contained(fillNames, option->value)) {
      reportError("--fill: expected "
                  "argN=normal|padding|additive-mask|ramp|zeros|ones, got '" +
                  text + "'");
      return std::nullopt;
    }
    if (option->argument >= kinds.size()) {
      reportError("--fill " + text + ": @" + function.getName().str() +
                  " has " + std::to_string(kinds.size()) + " arguments");
      return std::nullopt;
    }
    if (!kinds[option->argument].empty()) {
      reportError("--fill " + text + ": expected one kind for " +
                  describeArgument(function, option->argument) +
                  ", got another");
      return std::nullopt;
    }
    kinds[option->argument] = option->value;
  }
  return kinds;
}

std::optional<std::vector<HostTensor>>
attn::run::makeInputs(func::FuncOp function, const Options &options) {
  std::optional<std::vector<DType>> dtypes = getDTypes(function);
  if (!dtypes)
    return std::nullopt;
  auto files = readFiles(function, *dtypes, options);
  auto kinds = parseFills(function, options);
  if (!files || !kinds)
    return std::nullopt;
  std::vector<std::optional<std::vector<int64_t>>> given;
  for (const std::optional<HostTensor> &file : *files)
    given.push_back(file ? std::optional(file->shape) : std::nullopt);
  std::optional<Shapes> shapes = resolveShapes(function, options, given);
  if (!shapes)
    return std::nullopt;
  std::vector<HostTensor> inputs;
  for (auto [i, file] : llvm::enumerate(*files)) {
    if (file) {
      inputs.push_back(std::move(*file));
      continue;
    }
    HostTensor tensor((*dtypes)[i], (*shapes)[i]);
    BlockArgument argument = function.getArgument(i);
    const std::string &kind = (*kinds)[i];
    uint64_t stream = reference::randomBits(options.seed, i);
    if (!kind.empty())
      fill(tensor, kind, stream);
    else if (!fillCacheInput(tensor, argument, *shapes, stream))
      fill(tensor, defaultFill(tensor, argument), stream);
    inputs.push_back(std::move(tensor));
  }
  poisonCaches(function, given, inputs);
  return inputs;
}
