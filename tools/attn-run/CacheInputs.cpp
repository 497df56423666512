//===- CacheInputs.cpp - Sequences and pages that are generated -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CacheInputs.h"

#include "Inputs.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/HeadOps.h"
#include "attn/Dialect/Attn/IR/RowOps.h"
#include "attn/Dialect/Attn/IR/Views.h"
#include "attn/Reference/Random.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace attn;
using namespace attn::run;
using runtime::HostTensor;

//===----------------------------------------------------------------------===//
// Lengths and tables
//===----------------------------------------------------------------------===//

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

/// The cache whose slots `argument` is; null if it is none.
static AppendOp getAppendOf(BlockArgument argument) {
  for (OpOperand &use : argument.getUses())
    if (auto append = dyn_cast<AppendOp>(use.getOwner());
        append && append.getSlots() == argument)
      return append;
  return AppendOp();
}

/// The argument whose heads a view selects by the map `argument`: what is in
/// pages, packed or appended to, at last; null if it is none.
static BlockArgument getMappedHeads(BlockArgument argument) {
  for (OpOperand &use : argument.getUses()) {
    auto select = dyn_cast<SelectHeadsOp>(use.getOwner());
    if (!select || select.getMap() != argument)
      continue;
    Value source = select.getSource();
    if (PagedOp pages = getPages(source))
      source = pages.getPool();
    if (RaggedOp ragged = getRagged(source))
      source = skipRowOps(ragged.getPacked());
    return dyn_cast<BlockArgument>(getStorage(source));
  }
  return BlockArgument();
}

/// The table whose rows the positions `argument` are of; null if it is none.
static Value getTableOf(BlockArgument argument) {
  for (OpOperand &use : argument.getUses())
    if (auto rotary = dyn_cast<RotaryOp>(use.getOwner());
        rotary && rotary.getPositions() == argument)
      return rotary.getCos();
  return Value();
}

/// The pages whose table has the offsets `argument`; null if it is none.
static PagedOp getTableOfOffsets(BlockArgument argument) {
  for (OpOperand &use : argument.getUses())
    if (auto paged = dyn_cast<PagedOp>(use.getOwner());
        paged && paged.getOffsets() == argument)
      return paged;
  return PagedOp();
}

/// The views whose offsets `argument` is.
static SmallVector<RaggedOp> getSequencesOf(BlockArgument argument) {
  SmallVector<RaggedOp> views;
  for (OpOperand &use : argument.getUses())
    if (auto ragged = dyn_cast<RaggedOp>(use.getOwner());
        ragged && ragged.getOffsets() == argument)
      views.push_back(ragged);
  return views;
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
int64_t attn::run::getInteger(const HostTensor &tensor, int64_t position) {
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

/// Heads, or rows of a table, in any order: some of none, some of many.
static void fillMap(HostTensor &tensor, int64_t heads, uint64_t stream) {
  for (int64_t i = 0, e = tensor.numElements(); i < e && heads > 0; ++i)
    setElement(tensor, i,
               static_cast<double>(
                   reference::randomBits(stream, static_cast<uint64_t>(i)) %
                   static_cast<uint64_t>(heads)));
}

/// True if rows are divided by `argument` on their way into a cache.
static bool isDivisor(BlockArgument argument) {
  return llvm::any_of(argument.getUsers(), [&](Operation *user) {
    auto append = dyn_cast<AppendOp>(user);
    return append && llvm::is_contained(append.getDescales(), argument);
  });
}

/// Positive numbers from 2^-8 to 2: some cut rows of 8 bits off.
static void fillDivisors(HostTensor &tensor, uint64_t stream) {
  for (int64_t i = 0, e = tensor.numElements(); i < e; ++i) {
    uint64_t bits = reference::randomBits(stream, static_cast<uint64_t>(i));
    double fraction = 1 + static_cast<double>(bits % 256) / 256;
    setElement(tensor, i,
               std::ldexp(fraction, static_cast<int>(bits / 256 % 9) - 8));
  }
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

/// Rows of a pool in any order, each once, and -1 for every eighth token and
/// those that there is no row left for.
static void fillSlots(HostTensor &tensor, ArrayRef<int64_t> pool,
                      uint64_t stream) {
  int64_t rows = pool[0] * pool[kSequence];
  fillTable(tensor, rows, stream);
  for (int64_t i = 0, e = tensor.numElements(); i < e; ++i)
    if (reference::randomBits(~stream, static_cast<uint64_t>(i)) % 8 == 0 ||
        i >= rows)
      setElement(tensor, i, -1);
}

/// Offsets of sequences of rows `first` to `rows` - 1, of `room` each at most:
/// some have none, some all that they can.
static void fillOffsets(HostTensor &tensor, int64_t first, int64_t rows,
                        int64_t room, uint64_t stream) {
  int64_t sequences = tensor.numElements() - 1, offset = first;
  for (int64_t b = 0; b < sequences; ++b) {
    setElement(tensor, b, static_cast<double>(offset));
    uint64_t bits = reference::randomBits(stream, static_cast<uint64_t>(b));
    int64_t left = rows - offset;
    int64_t most = std::min(left, room);
    int64_t least =
        std::min(most, std::max<int64_t>(0, left - (sequences - 1 - b) * room));
    int64_t share = std::min(most, 2 * (left / (sequences - b)) + 1);
    int64_t any = static_cast<int64_t>(bits / 8 % uint64_t(share + 1));
    int64_t length = bits % 8 == 0 ? 0 : b + 1 == sequences ? most : any;
    offset += std::clamp(length, least, most);
  }
  setElement(tensor, sequences, static_cast<double>(offset));
}

static int64_t ceilEighth(int64_t rows) {
  return static_cast<int64_t>(llvm::divideCeil(static_cast<uint64_t>(rows), 8));
}

/// Those of the views whose offsets an argument is.
static void fillOffsets(HostTensor &tensor, ArrayRef<RaggedOp> views,
                        const Shapes &shapes, uint64_t stream) {
  int64_t rows = std::numeric_limits<int64_t>::max(), room = rows;
  for (RaggedOp view : views) {
    if (auto packed = dyn_cast<BlockArgument>(skipRowOps(view.getPacked())))
      rows = std::min(rows, shapes[packed.getArgNumber()][0]);
    // What the function computes has a known size, or none here.
    else if (view.getPacked().getType().isDynamicDim(0))
      rows = 0;
    else
      rows = std::min(rows, view.getPacked().getType().getDimSize(0));
    auto type = cast<RankedTensorType>(view.getResult().getType());
    if (!type.isDynamicDim(kSequence))
      room = std::min(room, type.getDimSize(kSequence));
  }
  // Some rows are of no sequence: the first ones, the last ones, or both.
  uint64_t bits = reference::randomBits(stream, ~uint64_t(0));
  int64_t first = bits % 4 == 0 ? ceilEighth(rows) : 0;
  int64_t end =
      bits / 4 % 4 == 0 ? std::max(first, rows - ceilEighth(rows)) : rows;
  fillOffsets(tensor, first, end, std::min(rows, room), stream);
}

/// How many positions the sequence has room for that `lengths` measures; 0
/// where it is no argument.
static int64_t getCapacity(BlockArgument lengths, const Shapes &shapes) {
  Value measured = getMeasured(lengths);
  PagedOp paged = getPages(measured);
  auto argument = dyn_cast<BlockArgument>(
      paged ? Value(paged.getTable()) : getStorage(skipHeadMap(measured)));
  if (!argument)
    return 0;
  const std::vector<int64_t> &shape = shapes[argument.getArgNumber()];
  return paged ? shape[paged.getEntryDim()] * paged.getPageSize()
               : shape[kSequence];
}

/// How many entries the table has whose offsets an argument is.
static int64_t getNumEntries(PagedOp paged, const Shapes &shapes) {
  auto table = dyn_cast<BlockArgument>(paged.getTable());
  return table ? shapes[table.getArgNumber()][0] : 0;
}

/// How many pages the pool has whose table an argument is.
static int64_t getNumPages(BlockArgument table, const Shapes &shapes) {
  auto pool = dyn_cast<BlockArgument>(getStorage(getPagesOf(table).getPool()));
  return pool ? shapes[pool.getArgNumber()][0] : 0;
}

bool attn::run::fillCacheInput(HostTensor &tensor, BlockArgument argument,
                               const Shapes &shapes, uint64_t stream) {
  if (getMeasured(argument))
    fillLengths(tensor, getCapacity(argument, shapes), stream);
  else if (SmallVector<RaggedOp> views = getSequencesOf(argument);
           !views.empty() && tensor.numElements() > 0)
    fillOffsets(tensor, views, shapes, stream);
  else if (PagedOp paged = getTableOfOffsets(argument);
           paged && tensor.numElements() > 0)
    fillOffsets(tensor, 0, getNumEntries(paged, shapes),
                getNumEntries(paged, shapes), stream);
  else if (BlockArgument mapped = getMappedHeads(argument))
    fillMap(tensor, shapes[mapped.getArgNumber()][kHead], stream);
  else if (auto table = dyn_cast_or_null<BlockArgument>(getTableOf(argument)))
    fillMap(tensor, shapes[table.getArgNumber()].end()[-2], stream);
  else if (getPagesOf(argument))
    fillTable(tensor, getNumPages(argument, shapes), stream);
  else if (AppendOp append = getAppendOf(argument);
           append && isa<BlockArgument>(getStorage(append.getPools()[0])))
    fillSlots(tensor,
              shapes[cast<BlockArgument>(getStorage(append.getPools()[0]))
                         .getArgNumber()],
              stream);
  else if (isDivisor(argument))
    fillDivisors(tensor, stream);
  else
    return false;
  return true;
}

//===----------------------------------------------------------------------===//
// What does not exist
//===----------------------------------------------------------------------===//

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

/// The uses of a cache, and of what it is after an append, or selects of it by
/// a map, in their place.
static SmallVector<OpOperand *> getReads(Value cache) {
  SmallVector<OpOperand *> reads;
  for (OpOperand &use : cache.getUses()) {
    auto append = dyn_cast<AppendOp>(use.getOwner());
    SmallVector<Value> later;
    if (append)
      for (auto [pool, result] :
           llvm::zip_equal(append.getDpsInits(), append.getResults()))
        if (pool == cache)
          later.push_back(result);
    if (auto heads = dyn_cast<SelectHeadsOp>(use.getOwner());
        heads && heads.getSource() == cache)
      later.push_back(heads);
    if (later.empty())
      reads.push_back(&use);
    for (Value result : later)
      llvm::append_range(reads, getReads(result));
  }
  return reads;
}

/// The lengths that end whatever is read of `argument`; null if there are none.
static BlockArgument getOnlyLengths(BlockArgument argument) {
  Value lengths;
  for (OpOperand *read : getReads(argument)) {
    OpOperand &use = *read;
    if (isa<tensor::DimOp, func::ReturnOp>(use.getOwner()))
      continue;
    auto attention = dyn_cast<AttentionOp>(use.getOwner());
    bool isEnded = attention && attention.getKeyLengths() &&
                   getStorage(attention.getQuery()) != argument &&
                   (getStorage(skipHeadMap(attention.getKey())) == argument ||
                    getStorage(skipHeadMap(attention.getValue())) == argument);
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

namespace {
/// Where the entries of a batch are in a table.
struct Entries {
  int64_t first, count;

  /// `offsets` may be null: a table of rank 2.
  static Entries get(const HostTensor &table, const HostTensor *offsets,
                     int64_t batch) {
    if (!offsets)
      return {batch * table.shape[1], table.shape[1]};
    int64_t first = getInteger(*offsets, batch);
    return {first, getInteger(*offsets, batch + 1) - first};
  }
};
} // namespace

/// Lengths of no more than the pages of their batch hold.
static void fitLengths(HostTensor &lengths, const HostTensor &table,
                       const HostTensor &offsets, int64_t page) {
  for (int64_t b = 0, e = lengths.numElements(); b < e; ++b) {
    int64_t most = Entries::get(table, &offsets, b).count * page;
    if (int64_t length = getInteger(lengths, b); length > most)
      setElement(lengths, b, static_cast<double>(length % (most + 1)));
  }
}

/// Those that no file gives, beside pages of a table with offsets.
static void fitLengths(func::FuncOp function,
                       ArrayRef<std::optional<std::vector<int64_t>>> given,
                       std::vector<HostTensor> &inputs) {
  function.walk([&](AttentionOp attention) {
    for (Value operand : {attention.getKey(), attention.getValue()}) {
      PagedOp paged = getPages(operand);
      if (!paged || !paged.getOffsets())
        continue;
      auto table = dyn_cast<BlockArgument>(paged.getTable());
      auto offsets = dyn_cast<BlockArgument>(paged.getOffsets());
      auto lengths = dyn_cast<BlockArgument>(attention.getKeyLengths());
      if (table && offsets && lengths && !given[lengths.getArgNumber()])
        fitLengths(inputs[lengths.getArgNumber()], inputs[table.getArgNumber()],
                   inputs[offsets.getArgNumber()], paged.getPageSize());
    }
  });
}

/// Writes NaN to the rows of a pool that no batch has, and what is no page to
/// the entries that only keys which do not exist would need. `offsets` may be
/// null.
static void poisonPages(HostTensor &pool, HostTensor &table,
                        const HostTensor *offsets, const HostTensor &lengths) {
  int64_t page = pool.shape[kSequence];
  int64_t rows = pool.shape[0] * page;
  std::vector<bool> isUsed(static_cast<size_t>(rows));
  for (int64_t b = 0; b < lengths.shape[0]; ++b) {
    auto [first, count] = Entries::get(table, offsets, b);
    for (int64_t j = 0; j < count * page; ++j) {
      int64_t at = first + j / page;
      int64_t row = getInteger(table, at) * page + j % page;
      bool exists = j < getInteger(lengths, b);
      if (exists && row >= 0 && row < rows)
        isUsed[row] = true;
      else if (!exists && j % page == 0)
        setElement(table, at, at % 2 ? -1 : 2147480000);
    }
  }
  int64_t width = pool.shape[kHeadDim], heads = pool.shape[kHead];
  for (int64_t i = 0, e = pool.numElements(); i < e; ++i)
    if (!isUsed[i / width / page / heads * page + i / width % page])
      setElement(pool, i, std::numeric_limits<double>::quiet_NaN());
}

/// The op that alone reads the result of `view`, once; null if there is none.
static Operation *getOnlyReader(Operation *view) {
  return view->hasOneUse() ? *view->user_begin() : nullptr;
}

/// Poisons generated pools that only keys or values with lengths are in.
static void poisonPages(func::FuncOp function,
                        ArrayRef<std::optional<std::vector<int64_t>>> given,
                        std::vector<HostTensor> &inputs) {
  function.walk([&](PagedOp paged) {
    auto pool = dyn_cast<BlockArgument>(getStorage(paged.getPool()));
    auto table = dyn_cast<BlockArgument>(paged.getTable());
    Operation *reader = getOnlyReader(paged);
    if (isa_and_present<SelectHeadsOp>(reader))
      reader = getOnlyReader(reader);
    auto attention = dyn_cast_if_present<AttentionOp>(reader);
    auto lengths =
        attention
            ? dyn_cast_if_present<BlockArgument>(attention.getKeyLengths())
            : BlockArgument();
    Value value = paged.getOffsets();
    auto offsets = dyn_cast_if_present<BlockArgument>(value);
    if (pool && table && lengths && pool.hasOneUse() && value == offsets &&
        !given[pool.getArgNumber()] && !given[table.getArgNumber()])
      poisonPages(inputs[pool.getArgNumber()], inputs[table.getArgNumber()],
                  offsets ? &inputs[offsets.getArgNumber()] : nullptr,
                  inputs[lengths.getArgNumber()]);
  });
}

void attn::run::poisonCaches(
    func::FuncOp function, ArrayRef<std::optional<std::vector<int64_t>>> given,
    std::vector<HostTensor> &inputs) {
  fitLengths(function, given, inputs);
  poisonTails(function, given, inputs);
  poisonPages(function, given, inputs);
}
