//===- PoisonCaches.cpp - NaN where a cache has no keys -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CacheInputs.h"

#include "FirstKeys.h"
#include "Inputs.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/HeadOps.h"
#include "attn/Dialect/Attn/IR/Views.h"

#include <limits>

using namespace mlir;
using namespace attn;
using namespace attn::run;
using runtime::HostTensor;

namespace {
/// The keys of each batch that take part: those before its length, from the
/// first that a row sees on.
struct LiveKeys {
  const HostTensor &lengths;
  std::vector<int64_t> first; ///< none where all are 0

  bool contains(int64_t batch, int64_t key) const {
    return key < getInteger(lengths, batch) &&
           (first.empty() || key >= first[static_cast<size_t>(batch)]);
  }
};
} // namespace

/// The keys that take part in the attention of a function that has `lengths`;
/// of several that may read a cache none is asked for its mask.
static LiveKeys getLiveKeys(func::FuncOp function, BlockArgument lengths,
                            const std::vector<HostTensor> &inputs) {
  LiveKeys keys{inputs[lengths.getArgNumber()], {}};
  SmallVector<AttentionOp> attentions;
  function.walk([&](AttentionOp op) { attentions.push_back(op); });
  if (attentions.size() != 1)
    return keys;
  AttentionOp attention = attentions.front();
  auto query = dyn_cast<BlockArgument>(attention.getQuery());
  Value queryLengths = attention.getQueryLengths();
  auto ofRows = dyn_cast_if_present<BlockArgument>(queryLengths);
  if (!query || queryLengths != ofRows)
    return keys;
  int64_t rows = inputs[query.getArgNumber()].shape[kSequence];
  for (int64_t b = 0; b < keys.lengths.numElements(); ++b) {
    int64_t keyLength = getInteger(keys.lengths, b);
    int64_t queryLength =
        ofRows ? getInteger(inputs[ofRows.getArgNumber()], b) : rows;
    keys.first.push_back(
        findFirstKey(attention, {b, rows, queryLength, keyLength}));
  }
  return keys;
}

/// Writes NaN to rows of `tensor` [B, H, N, D] that do not take part: whatever
/// reads them shows.
static void poisonTails(HostTensor &tensor, const LiveKeys &keys) {
  auto [heads, rows, columns] =
      std::tuple(tensor.shape[1], tensor.shape[2], tensor.shape[3]);
  for (int64_t i = 0, e = tensor.numElements(); i < e; ++i) {
    int64_t batch = i / columns / rows / heads;
    if (!keys.contains(batch, i / columns % rows))
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
      poisonTails(inputs[number], getLiveKeys(function, lengths, inputs));
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
/// the entries that only keys which take no part would need. `offsets` may be
/// null.
static void poisonPages(HostTensor &pool, HostTensor &table,
                        const HostTensor *offsets, const LiveKeys &keys) {
  int64_t page = pool.shape[kSequence];
  int64_t rows = pool.shape[0] * page;
  std::vector<bool> isUsed(static_cast<size_t>(rows));
  for (int64_t b = 0; b < keys.lengths.shape[0]; ++b) {
    auto [first, count] = Entries::get(table, offsets, b);
    for (int64_t column = 0; column < count; ++column) {
      int64_t at = first + column;
      bool isLive = false;
      for (int64_t j = column * page; j < (column + 1) * page; ++j) {
        int64_t row = getInteger(table, at) * page + j % page;
        bool takesPart = keys.contains(b, j);
        isLive |= takesPart;
        if (takesPart && row >= 0 && row < rows)
          isUsed[row] = true;
      }
      if (!isLive)
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
                  getLiveKeys(function, lengths, inputs));
  });
}

void attn::run::poisonCaches(
    func::FuncOp function, ArrayRef<std::optional<std::vector<int64_t>>> given,
    std::vector<HostTensor> &inputs) {
  fitLengths(function, given, inputs);
  poisonTails(function, given, inputs);
  poisonPages(function, given, inputs);
}
