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
