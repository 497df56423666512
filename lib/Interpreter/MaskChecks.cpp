//===- MaskChecks.cpp - Checks of what a mask reads -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MaskChecks.h"

#include "PageTable.h"
#include "RaggedOps.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Attn.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <set>

using namespace mlir;
using namespace attn;

namespace {
/// The lists of an op, row by row.
class ListChecker {
public:
  ListChecker(BlockListedOp op, const Environment &environment)
      : op(op), counts(*environment.tensor(op.getNumBlocks())),
        entries(*environment.tensor(op.getIndices())) {}

  LogicalResult checkSizes(const reference::Tensor &query);
  LogicalResult checkRows(int64_t keyBlocks);
  LogicalResult checkDisjoint(const ListChecker &other) const;

private:
  int64_t getRows() const { return counts.elements.size(); }
  int64_t getCount(int64_t row) const { return counts.elements[row].integer; }
  int64_t getEntry(int64_t row, int64_t i) const {
    return entries.elements[row * entries.shape[3] + i].integer;
  }
  /// "[b, h, r]".
  std::string place(int64_t row) const {
    int64_t rowBlock = row % counts.shape[2], matrix = row / counts.shape[2];
    return llvm::formatv("[{0}, {1}, {2}]", matrix / counts.shape[1],
                         matrix % counts.shape[1], rowBlock);
  }

  mutable BlockListedOp op; ///< whose accessors are not const
  const TensorValue &counts, &entries;
};
} // namespace

LogicalResult ListChecker::checkSizes(const reference::Tensor &query) {
  ArrayRef<int64_t> shape = counts.shape;
  if (ArrayRef(entries.shape).drop_back() != shape)
    return op.emitOpError()
           << "expected num_blocks and indices with the same rows, got "
           << reference::formatShape(counts.shape) << " and "
           << reference::formatShape(entries.shape);
  int64_t rows = llvm::divideCeil(query.getDim(kSequence), op.getBlock()[0]);
  bool fits = (shape[0] == 1 || shape[0] == query.getDim(kBatch)) &&
              (shape[1] == 1 || shape[1] == query.getDim(kHead)) &&
              shape[2] == rows;
  if (fits)
    return success();
  return op.emitOpError() << "expected num_blocks for 1 or "
                          << query.getDim(kBatch) << " batches, 1 or "
                          << query.getDim(kHead) << " heads and " << rows
                          << " row blocks, got "
                          << reference::formatShape(counts.shape);
}

LogicalResult ListChecker::checkRows(int64_t keyBlocks) {
  for (int64_t row = 0; row < getRows(); ++row) {
    int64_t count = getCount(row);
    if (count < 0 || count > entries.shape[3])
      return op.emitOpError()
             << "expected num_blocks" << place(row) << " from 0 to "
             << entries.shape[3] << ", the room for indices, got " << count;
    for (int64_t i = 0; i < count; ++i) {
      int64_t entry = getEntry(row, i);
      if (entry < 0 || entry >= keyBlocks)
        return op.emitOpError()
               << "expected indices" << place(row) << " to be below "
               << keyBlocks << ", the number of key blocks, got " << entry
               << " at " << i;
      if (i > 0 && entry <= getEntry(row, i - 1))
        return op.emitOpError()
               << "expected indices" << place(row) << " to ascend, got "
               << entry << " after " << getEntry(row, i - 1) << " at " << i;
    }
  }
  return success();
}

LogicalResult ListChecker::checkDisjoint(const ListChecker &other) const {
  bool isComparable = counts.shape == other.counts.shape &&
                      op.getBlock() == other.op.getBlock();
  for (int64_t row = 0; isComparable && row < getRows(); ++row) {
    std::set<int64_t> listed;
    for (int64_t i = 0; i < other.getCount(row); ++i)
      listed.insert(other.getEntry(row, i));
    for (int64_t i = 0; i < getCount(row); ++i)
      if (listed.count(getEntry(row, i)))
        return op.emitOpError()
               << "expected blocks that are in no other list, got block "
               << getEntry(row, i) << " of " << place(row) << " in two";
  }
  return success();
}

/// Offsets from 0 up, not past the positions they are for.
static LogicalResult checkOffsets(SegmentOp op, const TensorValue &offsets,
                                  Region &region,
                                  const reference::Tensor &query,
                                  const reference::Tensor &key) {
  ArrayRef<Scalar> entries = offsets.elements;
  if (entries.size() < 2)
    return op.emitOpError() << "expected the offsets of at least one "
                               "sequence: 2 entries, got "
                            << entries.size();
  if (entries.front().integer != 0)
    return op.emitOpError()
           << "expected offsets[0] to be 0, got " << entries.front().integer;
  for (size_t i = 1; i < entries.size(); ++i)
    if (entries[i].integer < entries[i - 1].integer)
      return op.emitOpError() << "expected offsets that do not decrease, got "
                              << entries[i].integer << " after "
                              << entries[i - 1].integer << " at " << i;
  unsigned coordinates = region.getNumArguments() - 4;
  auto position = dyn_cast<BlockArgument>(op.getPosition());
  if (!position || position.getOwner() != &region.front())
    return success();
  bool isRow = position.getArgNumber() == coordinates + kLoopM;
  bool isKey = position.getArgNumber() == coordinates + kLoopN;
  int64_t length = (isRow ? query : key).getDim(kSequence);
  if ((isRow || isKey) && entries.back().integer > length)
    return op.emitOpError() << "expected offsets up to " << length << ", the "
                            << (isRow ? "query" : "key") << " positions, got "
                            << entries.back().integer;
  return success();
}

LogicalResult attn::checkMaskData(Region &region,
                                  const Environment &environment,
                                  const reference::Tensor &query,
                                  const reference::Tensor &key) {
  if (region.empty())
    return success();
  for (auto segment : region.getOps<SegmentOp>())
    if (failed(checkOffsets(segment, *environment.tensor(segment.getOffsets()),
                            region, query, key)))
      return failure();
  std::vector<ListChecker> lists;
  for (auto listed : region.getOps<BlockListedOp>()) {
    ListChecker list(listed, environment);
    int64_t keyBlocks =
        llvm::divideCeil(key.getDim(kSequence), listed.getBlock()[1]);
    if (failed(list.checkSizes(query)) || failed(list.checkRows(keyBlocks)))
      return failure();
    for (const ListChecker &other : lists)
      if (failed(list.checkDisjoint(other)))
        return failure();
    lists.push_back(list);
  }
  return success();
}

LogicalResult attn::checkLengths(Operation *op, StringRef name,
                                 const TensorValue &lengths, int64_t batches,
                                 int64_t capacity) {
  if (lengths.shape.front() != batches)
    return op->emitOpError() << "expected " << batches << " " << name
                             << " lengths, got " << lengths.shape.front();
  for (auto [batch, length] : llvm::enumerate(lengths.elements))
    if (length.integer < 0 || length.integer > capacity)
      return op->emitOpError()
             << "expected " << name << " lengths from 0 to " << capacity
             << ", got " << length.integer << " of batch " << batch;
  return success();
}

/// True if a row of `batch` sees one of the first `keys` keys.
static bool seesKeys(AttentionOp attention, const Environment &environment,
                     const reference::AttentionOptions &options, int64_t batch,
                     int64_t keys) {
  if (!options.maskMod)
    return true;
  const std::vector<int64_t> &query =
      environment.tensor(attention.getQuery())->shape;
  for (int64_t h = 0; h < query[kHead]; ++h)
    for (int64_t i = 0; i < query[kSequence]; ++i)
      for (int64_t j = 0; j < keys; ++j)
        if (options.maskMod(batch, h, i, j))
          return true;
  return false;
}

LogicalResult attn::checkEntries(PagedOp paged, AttentionOp attention,
                                 const Environment &environment,
                                 const reference::AttentionOptions &options) {
  PageTable table(paged, environment);
  int64_t pages = environment.tensor(paged.getPool())->shape[0];
  int64_t page = paged.getPageSize();
  if (Value offsets = paged.getOffsets();
      offsets && failed(checkSequences(paged, *environment.tensor(offsets),
                                       table.getColumns(), table.getColumns())))
    return failure();
  for (int64_t batch = 0; batch < table.getBatches(); ++batch) {
    int64_t length = table.getColumns() * page;
    if (Value lengths = attention.getKeyLengths())
      length = environment.tensor(lengths)->elements[batch].integer;
    for (int64_t column = 0; column * page < length; ++column) {
      int64_t entry = table.find(batch, column);
      if ((entry < 0 || entry >= pages) &&
          seesKeys(attention, environment, options, batch,
                   std::min(length, (column + 1) * page)))
        return paged.emitOpError()
               << "expected entries that are one of the " << pages
               << " pages of the pool, got " << entry << " of batch " << batch
               << " in column " << column;
    }
  }
  return success();
}

/// Sizes that agree, where the verifier could not see them.
static LogicalResult checkAppendedSizes(AppendOp append,
                                        const Environment &environment) {
  const std::vector<int64_t> &slots =
      environment.tensor(append.getSlots())->shape;
  const std::vector<int64_t> &first =
      environment.tensor(append.getPools().front())->shape;
  for (auto [rows, pools] :
       llvm::zip_equal(append.getRows(), append.getPools())) {
    const std::vector<int64_t> &shape = environment.tensor(rows)->shape;
    const std::vector<int64_t> &pool = environment.tensor(pools)->shape;
    bool agrees = ArrayRef(pool).drop_back() == ArrayRef(first).drop_back() &&
                  shape[AppendOp::kRowHead] == pool[kHead] &&
                  shape.back() == pool[kHeadDim];
    for (unsigned dim = 0; dim < slots.size(); ++dim)
      agrees &= shape[AppendOp::getRowDim(dim)] == slots[dim];
    if (!agrees)
      return append.emitOpError()
             << "expected a row for each slot and head of the pools, got rows "
             << reference::formatShape(shape) << " for slots "
             << reference::formatShape(slots) << " and a pool "
             << reference::formatShape(pool);
  }
  for (Value scales : append.getScales())
    if (const std::vector<int64_t> &shape = environment.tensor(scales)->shape;
        ArrayRef(shape) != ArrayRef(first).drop_back())
      return append.emitOpError()
             << "expected a scale for each row of a pool "
             << reference::formatShape(first) << ", got scales "
             << reference::formatShape(shape);
  return success();
}

LogicalResult attn::checkSlots(AppendOp append,
                               const Environment &environment) {
  if (failed(checkAppendedSizes(append, environment)))
    return failure();
  const TensorValue &slots = *environment.tensor(append.getSlots());
  const std::vector<int64_t> &pool =
      environment.tensor(append.getPools().front())->shape;
  int64_t rows = pool[kBatch] * pool[kSequence];
  llvm::DenseMap<int64_t, size_t> tokens;
  for (auto [token, slot] : llvm::enumerate(slots.elements)) {
    if (slot.integer < -1 || slot.integer >= rows)
      return append.emitOpError() << "expected slots that are -1 or one of the "
                                  << rows << " rows of the pool, got "
                                  << slot.integer << " of token " << token;
    if (slot.integer < 0)
      continue;
    auto [other, isNew] = tokens.try_emplace(slot.integer, token);
    if (!isNew)
      return append.emitOpError()
             << "expected slots that differ, got " << slot.integer
             << " of tokens " << other->second << " and " << token;
  }
  return success();
}
