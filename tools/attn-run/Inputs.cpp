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
#include "Shapes.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Reference/Element.h"
#include "attn/Reference/Random.h"
#include "attn/Runtime/Npy.h"
#include "attn/Support/Format.h"
#include "attn/Target/CPU/CpuJit.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

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
      reportError("expected a ranked tensor of f16, bf16, f32, f64, i1, i8, "
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

/// Lengths of sequences and tables of pages; no names for --fill, as what they
/// may be follows from other arguments.
static constexpr StringLiteral kLengths = "lengths", kTable = "table";

/// Nothing for integers.
static std::optional<ElementType> getFloatType(DType dtype) {
  switch (dtype) {
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

static void setElement(HostTensor &tensor, int64_t position, double value) {
  size_t size = byteSize(tensor.dtype);
  char *target = &tensor.data[static_cast<size_t>(position) * size];
  if (std::optional<ElementType> type = getFloatType(tensor.dtype)) {
    uint64_t bits = reference::encodeElement(value, *type);
    std::memcpy(target, &bits, size);
    return;
  }
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

/// The query or key whose lengths `argument` is; null if it is none.
static Value getMeasured(BlockArgument argument) {
  for (OpOperand &use : argument.getUses()) {
    auto attention = dyn_cast<AttentionOp>(use.getOwner());
    if (attention && attention.getKeyLengths() == argument)
      return attention.getKey();
    if (attention && attention.getQueryLengths() == argument)
      return attention.getQuery();
  }
  return Value();
}

/// A view whose table `argument` is; null if it is none.
static PagedOp getPagesOf(BlockArgument argument) {
  for (OpOperand &use : argument.getUses())
    if (auto paged = dyn_cast<PagedOp>(use.getOwner());
        paged && paged.getTable() == argument)
      return paged;
  return PagedOp();
}

static std::string defaultFill(const HostTensor &tensor,
                               BlockArgument argument) {
  if (getMeasured(argument))
    return kLengths.str();
  if (getPagesOf(argument))
    return kTable.str();
  if (getFloatType(tensor.dtype))
    return isAdditiveMask(argument) ? "additive-mask" : "normal";
  bool isSingleRow = tensor.numElements() == rowLength(tensor);
  return tensor.dtype != DType::I1 && isSingleRow ? "ramp" : "padding";
}

/// A matrix is taken for a weight, whose product with unit vectors stays at
/// unit size.
static double deviation(const HostTensor &tensor) {
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
    if (shape == Scattered)
      scatter = bits;
  }

  bool shows(int64_t i) const {
    if (scatter)
      return i == begin ||
             (i != hidden &&
              reference::randomBits(*scatter, static_cast<uint64_t>(i)) & 1);
    return (begin <= i && i < end) != isInverted;
  }

private:
  int64_t begin = 0, end = 0, hidden = 0;
  bool isInverted = false;
  std::optional<uint64_t> scatter;
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

/// Lengths up to `capacity`: none, all, and between.
static void fillLengths(HostTensor &tensor, int64_t capacity, uint64_t stream) {
  for (int64_t i = 0, e = tensor.numElements(); i < e; ++i) {
    uint64_t bits = reference::randomBits(stream, static_cast<uint64_t>(i));
    uint64_t any = bits / 8 % (static_cast<uint64_t>(capacity) + 1);
    double length[] = {0, static_cast<double>(capacity)};
    setElement(tensor, i,
               bits % 8 < 2 ? length[bits % 8] : static_cast<double>(any));
  }
}

/// The entry at `position` of lengths or of a table.
static int64_t getInteger(const HostTensor &tensor, int64_t position) {
  size_t size = byteSize(tensor.dtype);
  const char *source = &tensor.data[static_cast<size_t>(position) * size];
  if (size == sizeof(int64_t)) {
    int64_t value;
    std::memcpy(&value, source, size);
    return value;
  }
  int32_t value;
  std::memcpy(&value, source, sizeof(value));
  return value;
}

/// Pages in any order, each once as long as there are others.
static void fillTable(HostTensor &tensor, int64_t pages, uint64_t stream) {
  std::vector<int64_t> order(static_cast<size_t>(pages));
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = pages - 1; i > 0; --i) {
    uint64_t bits = reference::randomBits(stream, static_cast<uint64_t>(i));
    std::swap(order[i], order[bits % static_cast<uint64_t>(i + 1)]);
  }
  for (int64_t i = 0, e = tensor.numElements(); i < e && pages > 0; ++i)
    setElement(tensor, i, static_cast<double>(order[i % pages]));
}

/// Writes NaN where `lengths` say that rows of `tensor` [B, H, N, D] do not
/// exist: whatever reads them shows.
static void poisonTails(HostTensor &tensor, const HostTensor &lengths) {
  auto [heads, rows, columns] =
      std::tuple(tensor.shape[1], tensor.shape[2], tensor.shape[3]);
  for (int64_t i = 0, e = tensor.numElements(); i < e; ++i) {
    int64_t batch = i / columns / rows / heads;
    if (i / columns % rows >= getInteger(lengths, batch))
      setElement(tensor, i, std::numeric_limits<double>::quiet_NaN());
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

/// How many positions the sequence has room for that `lengths` measures; 0
/// where it is no argument.
static int64_t getCapacity(BlockArgument lengths, const Shapes &shapes) {
  Value measured = getMeasured(lengths);
  auto paged = measured.getDefiningOp<PagedOp>();
  auto argument =
      dyn_cast<BlockArgument>(paged ? Value(paged.getTable()) : measured);
  if (!argument)
    return 0;
  const std::vector<int64_t> &shape = shapes[argument.getArgNumber()];
  return paged ? shape[1] * paged.getPageSize() : shape[kSequence];
}

/// How many pages the pool has whose table an argument is.
static int64_t getNumPages(BlockArgument table, const Shapes &shapes) {
  auto pool = dyn_cast<BlockArgument>(getPagesOf(table).getPool());
  return pool ? shapes[pool.getArgNumber()][0] : 0;
}

/// The lengths that end whatever is read of `argument`; null if there are none.
static BlockArgument getOnlyLengths(BlockArgument argument) {
  Value lengths;
  for (OpOperand &use : argument.getUses()) {
    if (isa<tensor::DimOp>(use.getOwner()))
      continue;
    auto attention = dyn_cast<AttentionOp>(use.getOwner());
    bool isEnded =
        attention && attention.getKeyLengths() &&
        attention.getQuery() != argument &&
        (attention.getKey() == argument || attention.getValue() == argument);
    if (!isEnded || (lengths && lengths != attention.getKeyLengths()))
      return BlockArgument();
    lengths = attention.getKeyLengths();
  }
  return dyn_cast_if_present<BlockArgument>(lengths);
}

/// Poisons the keys and values that no file gives.
static void poisonTails(func::FuncOp function,
                        ArrayRef<std::optional<std::vector<int64_t>>> given,
                        std::vector<HostTensor> &inputs) {
  for (BlockArgument argument : function.getArguments()) {
    unsigned number = argument.getArgNumber();
    BlockArgument lengths = getOnlyLengths(argument);
    if (lengths && lengths != argument && !given[number])
      poisonTails(inputs[number], inputs[lengths.getArgNumber()]);
  }
}

/// Writes NaN to the rows of a pool that no batch has, and what is no page to
/// the entries that only keys which do not exist would need.
static void poisonPages(HostTensor &pool, HostTensor &table,
                        const HostTensor &lengths) {
  int64_t page = pool.shape[kSequence], columns = table.shape[1];
  int64_t rows = pool.shape[0] * page;
  std::vector<bool> isUsed(static_cast<size_t>(rows));
  for (int64_t b = 0; b < table.shape[0]; ++b)
    for (int64_t j = 0; j < columns * page; ++j) {
      int64_t at = b * columns + j / page;
      int64_t row = getInteger(table, at) * page + j % page;
      bool exists = j < getInteger(lengths, b);
      if (exists && row >= 0 && row < rows)
        isUsed[row] = true;
      else if (!exists && j % page == 0)
        setElement(table, at, at % 2 ? -1 : 2147480000);
    }
  int64_t width = pool.shape[kHeadDim], heads = pool.shape[kHead];
  for (int64_t i = 0, e = pool.numElements(); i < e; ++i)
    if (!isUsed[i / width / page / heads * page + i / width % page])
      setElement(pool, i, std::numeric_limits<double>::quiet_NaN());
}

/// Poisons generated pools that only keys or values with lengths are in.
static void poisonPages(func::FuncOp function,
                        ArrayRef<std::optional<std::vector<int64_t>>> given,
                        std::vector<HostTensor> &inputs) {
  function.walk([&](PagedOp paged) {
    auto pool = dyn_cast<BlockArgument>(paged.getPool());
    auto table = dyn_cast<BlockArgument>(paged.getTable());
    auto attention = paged->hasOneUse()
                         ? dyn_cast<AttentionOp>(*paged->user_begin())
                         : AttentionOp();
    auto lengths =
        attention
            ? dyn_cast_if_present<BlockArgument>(attention.getKeyLengths())
            : BlockArgument();
    if (pool && table && lengths && pool.hasOneUse() &&
        !given[pool.getArgNumber()] && !given[table.getArgNumber()])
      poisonPages(inputs[pool.getArgNumber()], inputs[table.getArgNumber()],
                  inputs[lengths.getArgNumber()]);
  });
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
    std::string kind = (*kinds)[i];
    if (kind.empty())
      kind = defaultFill(tensor, function.getArgument(i));
    uint64_t stream = reference::randomBits(options.seed, i);
    if (kind == kTable)
      fillTable(tensor, getNumPages(function.getArgument(i), *shapes), stream);
    else if (kind == kLengths)
      fillLengths(tensor, getCapacity(function.getArgument(i), *shapes),
                  stream);
    else
      fill(tensor, kind, stream);
    inputs.push_back(std::move(tensor));
  }
  poisonTails(function, given, inputs);
  poisonPages(function, given, inputs);
  return inputs;
}
