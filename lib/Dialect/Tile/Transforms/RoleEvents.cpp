//===- RoleEvents.cpp - What operations do to barriers and memory ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoleTracer.h"

#include <tuple>

using namespace mlir;
using namespace attn::tile;

using Kind = ProtocolEvent::Kind;

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

unsigned RoleTracer::getBarrier(const std::string &name, int64_t arrivals,
                                std::optional<unsigned> ofCta) {
  auto [it, isNew] = barriers.try_emplace(name, protocol.barriers.size());
  if (isNew)
    protocol.barriers.push_back({name, arrivals, ofCta});
  return it->second;
}

FailureOr<unsigned> RoleTracer::getMbarrier(Operation *op, Value barrier,
                                            Value stage, unsigned ofCta) {
  auto alloc = barrier.getDefiningOp<AllocMbarrierOp>();
  auto number = lookUp(stage);
  auto type = cast<MbarrierType>(barrier.getType());
  if (!alloc || !alloc.getOffset())
    return op->emitError("expected an mbarrier with an offset");
  if (!number || *number < 0 || *number >= type.getStages())
    return refuse(op, "a stage of the ring");
  return getBarrier("stage " + std::to_string(*number) +
                        " of the mbarriers at " +
                        std::to_string(*alloc.getOffset()) + " of CTA " +
                        std::to_string(ofCta),
                    type.getArrivals(), ofCta);
}

LogicalResult RoleTracer::addWait(MbarrierWaitOp op) {
  auto barrier = getMbarrier(op, op.getBarrier(), op.getStage(), cta);
  auto parity = lookUp(op.getParity());
  if (failed(barrier))
    return failure();
  if (!parity)
    return refuse(op, "a parity");
  add({Kind::Wait, op, {*barrier}, *parity & 1});
  return success();
}

LogicalResult RoleTracer::addArrive(MbarrierArriveOp op) {
  ProtocolEvent event{Kind::Arrive, op};
  auto count = static_cast<int64_t>(op.getCtas());
  for (int64_t peer = 0; peer < count; ++peer) {
    unsigned ofCta = count > 1 ? peer : op.getFirstCta() ? 0 : cta;
    auto barrier = getMbarrier(op, op.getBarrier(), op.getStage(), ofCta);
    if (failed(barrier))
      return failure();
    event.barriers.push_back(*barrier);
  }
  add(event);
  return success();
}

/// A copy, of which each of `parts` CTAs brings a part to all of them.
LogicalResult RoleTracer::addCopy(Operation *op, MemoryRange memory,
                                  Value barrier, Value stage, int64_t parts) {
  auto own = getMbarrier(op, barrier, stage, cta);
  if (failed(own))
    return failure();
  ProtocolEvent event{Kind::Copy, op, {*own}};
  event.number = parts;
  for (int64_t k = 0; k < parts; ++k) {
    memory.cta = parts > 1 ? (cta + k) % parts : cta;
    auto of = getMbarrier(op, barrier, stage, memory.cta);
    if (failed(of))
      return failure();
    event.barriers.push_back(*of);
    event.memory.push_back(memory);
  }
  add(event);
  return success();
}

/// Each CTA of a pair brings its own tile, of which the first one's barrier
/// knows; the other's has the arrival alone.
LogicalResult RoleTracer::addCopyOfPair(CopyTmaOp op, MemoryRange memory) {
  auto own = getMbarrier(op, op.getBarrier(), op.getStage(), cta);
  auto first = getMbarrier(op, op.getBarrier(), op.getStage(), 0);
  if (failed(own) || failed(first))
    return failure();
  ProtocolEvent event{Kind::Copy, op, {*own, *first}, 0, {memory}};
  event.number = cta == 0 ? 2 : 0;
  add(event);
  return success();
}

LogicalResult RoleTracer::addCopy(CopyTmaOp op) {
  auto memory = op.getRows()
                    ? getRows(op.getTile(), op.getFirstRow(), op.countRows())
                    : getRange(op.getTile());
  if (!memory)
    return refuse(op, "a tile");
  if (op.getFirstCta())
    return addCopyOfPair(op, *memory);
  return addCopy(op, *memory, op.getBarrier(), op.getStage(),
                 static_cast<int64_t>(op.getCtas()));
}

LogicalResult RoleTracer::addCopy(CopyBulkOp op) {
  auto memory = getRange(op.getTile());
  if (!memory)
    return refuse(op, "a tile");
  return addCopy(op, *memory, op.getBarrier(), op.getStage(), /*parts=*/1);
}

void RoleTracer::addMeet(Operation *op, const std::string &name,
                         int64_t arrivals) {
  add({Kind::Meet, op, {getBarrier(name, arrivals)}});
}

void RoleTracer::addPassTurn(PassTurnOp op) {
  int64_t next = (lookUp(op.getWarpgroup()).value_or(0) + 1) % warpgroups;
  add({Kind::Arrive, op, {getBarrier(getTurn(next), 2 * kWarps)}});
}

/// Roles that have ended count as having arrived.
void RoleTracer::addClusterBarrier(Operation *op) {
  add({Kind::Meet, op, {getCluster("the end", ends++)}});
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

static int64_t getBytes(AllocOp alloc) {
  SharedType type = alloc.getBuffer().getType();
  return type.getTileBytes() * (type.isRing() ? type.getStages() : 1);
}

/// The bytes of a tile; none if they are not known, or of fragments that
/// consumers share.
std::optional<MemoryRange> RoleTracer::getRange(Value tile) const {
  int64_t stage = 0;
  // Some columns are taken for all.
  if (auto op = tile.getDefiningOp<ColumnsOp>())
    tile = op.getSource();
  if (auto op = tile.getDefiningOp<StageOp>()) {
    auto index = lookUp(op.getIndex());
    if (!index)
      return std::nullopt;
    stage = *index;
    tile = op.getRing();
  }
  auto alloc = tile.getDefiningOp<AllocOp>();
  if (!alloc || !alloc.getOffset())
    return std::nullopt;
  int64_t bytes = cast<SharedType>(alloc.getType()).getTileBytes();
  int64_t begin = *alloc.getOffset() + stage * bytes;
  return MemoryRange{cta, begin, begin + bytes};
}

/// True if no other buffer has bytes of this one.
static bool isAlone(AllocOp alloc) {
  int64_t begin = *alloc.getOffset(), end = begin + getBytes(alloc);
  return llvm::all_of(alloc->getBlock()->getOps<AllocOp>(), [&](AllocOp other) {
    return other == alloc || !other.getOffset() ||
           static_cast<int64_t>(*other.getOffset()) >= end ||
           static_cast<int64_t>(*other.getOffset()) + getBytes(other) <= begin;
  });
}

/// Rows of a tile are taken to lie behind each other, which panels do not;
/// where another buffer has some of their bytes, they are all of the tile.
std::optional<MemoryRange> RoleTracer::getRows(Value tile, int64_t first,
                                               int64_t rows) const {
  std::optional<MemoryRange> range = getRange(tile);
  auto alloc = tile.getDefiningOp<AllocOp>();
  if (!range || !alloc || !isAlone(alloc))
    return range;
  SharedType type = alloc.getBuffer().getType();
  int64_t bytes = type.getTileBytes() / type.getRows();
  range->end = range->begin + (first + rows) * bytes;
  range->begin += first * bytes;
  return range;
}

/// The rows of a tile that a warpgroup has; of those of all.
std::optional<MemoryRange> RoleTracer::getRowsOfGroup(Value tile,
                                                      int64_t ofGroup) const {
  int64_t rows = cast<SharedType>(tile.getType()).getRows() / warpgroups;
  return getRows(tile, ofGroup * rows, rows);
}

/// The op uses its shared operands, and has used them if it `isOver`.
void RoleTracer::addUses(Operation *op, bool isOver) {
  ProtocolEvent event{Kind::Access, op};
  event.number = nextUse++;
  for (Value operand : op->getOperands())
    if (isa<SharedType>(operand.getType()))
      if (auto range = getRange(operand))
        event.memory.push_back(*range);
  add(event);
  if (isOver)
    add({Kind::Done, op, {}, 0, {}, event.number});
}

/// The op reads or writes memory, and is done.
void RoleTracer::addAccess(Operation *op, std::optional<MemoryRange> memory,
                           bool isWrite, int64_t warpStride) {
  ProtocolEvent event{Kind::Access, op, {}, 0, {}, nextUse++, isWrite};
  if (memory)
    event.memory.push_back(*memory);
  add(event, /*isOfFirst=*/false, warpStride);
  add({Kind::Done, op, {}, 0, {}, event.number});
}

/// The numbers, or rows, of a tile that the calling warp has.
void RoleTracer::addOwnRows(Operation *op, Value tile, bool isWrite) {
  auto type = cast<SharedType>(tile.getType());
  // A vector has its rows in columns.
  int64_t rows = type.isVector() ? type.getCols() : type.getRows();
  int64_t ofWarp = rows / (warpgroups * kWarps);
  std::optional<MemoryRange> range = getRange(tile);
  auto alloc = tile.getDefiningOp<AllocOp>();
  if (!range || !alloc || !isAlone(alloc))
    return addAccess(op, range, isWrite);
  int64_t stride = ofWarp * (type.getTileBytes() / rows);
  range->begin += group * kWarps * stride;
  range->end = range->begin + stride;
  addAccess(op, range, isWrite, stride);
}

/// All but the last `left` uses are over: they end in order.
void RoleTracer::endUses(Operation *op, std::deque<unsigned> &numbers,
                         size_t left) {
  for (; numbers.size() > left; numbers.pop_front())
    add({Kind::Done, op, {}, 0, {}, numbers.front()});
}

/// Where rows are missing the consumers write a tile, and meet: to copies that
/// is a read.
LogicalResult RoleTracer::addClearRows(ClearRowsOp op) {
  auto rows = lookUp(op.getRows());
  std::optional<int64_t> first = 0;
  if (op.getFirst())
    first = lookUp(op.getFirst());
  if (!rows || !first)
    return refuse(op, "a number of rows");
  if (*rows >= op.getTile().getType().getRows() && *first <= 0)
    return success();
  addUses(op, /*isOver=*/true);
  addMeet(op, "the consumers" + inCta(), kernel.getWarps());
  return success();
}

/// True if nothing but `store_shared` and `store_tma` uses the tile.
static bool isOutputTile(Value tile) {
  return llvm::all_of(tile.getUsers(),
                      llvm::IsaPred<StoreSharedOp, StoreTmaOp>);
}

/// Elsewhere than beside products in tensor memory, operands that warps store
/// are taken for uses: who reads them has met.
void RoleTracer::addStore(StoreSharedOp op) {
  if (!hasTensors && !isOutputTile(op.getTile()))
    return addUses(op, /*isOver=*/true);
  if (op.getTranspose() || op.getPairs())
    return addAccess(op, getRange(op.getTile()), /*isWrite=*/true);
  if (op.getColumn() == 0)
    addMeetOfWarpgroup(op);
  addOwnRows(op, op.getTile(), /*isWrite=*/true);
}

/// One thread copies the rows of a warpgroup, when its warps have met.
void RoleTracer::addStore(StoreTmaOp op) {
  auto ofGroup = lookUp(op.getWarpgroup());
  ProtocolEvent event{Kind::Access, op};
  event.number = nextUse++;
  if (auto rows = getRowsOfGroup(op.getTile(), ofGroup.value_or(group)))
    event.memory.push_back(*rows);
  if (!op.getOneThread())
    addMeetOfWarpgroup(op);
  add(event, /*isOfFirst=*/true);
  if (op.getAsync())
    stores.push_back(event.number);
  else
    add({Kind::Done, op, {}, 0, {}, event.number});
}

//===----------------------------------------------------------------------===//
// Tensor memory
//===----------------------------------------------------------------------===//

/// The first column of a warpgroup's part.
std::optional<int64_t> RoleTracer::getColumn(Value tile,
                                             int64_t ofGroup) const {
  if (auto narrow = tile.getDefiningOp<NarrowTensorOp>()) {
    auto of = lookUp(narrow.getWarpgroup());
    return of ? getColumn(narrow.getTile(), *of) : std::nullopt;
  }
  auto alloc = tile.getDefiningOp<AllocTensorsOp>();
  if (!alloc)
    return std::nullopt;
  int64_t column = 0;
  for (Value other : alloc.getTiles()) {
    if (other == tile)
      break;
    column += cast<TensorTileType>(other.getType()).getColumns();
  }
  auto type = cast<TensorTileType>(tile.getType());
  return column + ofGroup * type.getGroupColumns();
}

/// Columns from `first` on in the lanes of a warpgroup's first warp: those of
/// the next one are taken to lie behind all columns.
std::optional<MemoryRange> RoleTracer::getCells(Value tile, int64_t ofGroup,
                                                int64_t first,
                                                int64_t columns) const {
  auto type = cast<TensorTileType>(tile.getType());
  int64_t bits = type.getElementType().getIntOrFloatBitWidth();
  std::optional<int64_t> begin = getColumn(tile, ofGroup);
  if (!begin)
    return std::nullopt;
  return MemoryRange{cta, *begin + first * bits / 32,
                     *begin + (first + columns) * bits / 32,
                     /*isTensor=*/true};
}

/// Each warp reads or writes its rows.
LogicalResult RoleTracer::addCells(Operation *op, Value tile, Value warpgroup,
                                   int64_t first, int64_t columns,
                                   bool isWrite) {
  auto ofGroup = lookUp(warpgroup);
  if (!ofGroup)
    return refuse(op, "a warpgroup");
  auto cells = getCells(tile, *ofGroup, first, columns);
  if (!cells)
    return refuse(op, "a place in tensor memory");
  addAccess(op, cells, isWrite, kColumns);
  return success();
}

/// With `pending` it is over when a later one is.
LogicalResult RoleTracer::addStore(StoreTensorOp op) {
  if (failed(addCells(op, op.getTile(), op.getWarpgroup(), op.getColumn(),
                      op.getSource().getType().getShape()[1],
                      /*isWrite=*/true)))
    return failure();
  if (!op.getPending()) {
    endUses(op, pending, 0);
    return success();
  }
  pending.push_back(events.back().event.number);
  events.pop_back();
  return success();
}

/// Nobody uses tensor memory any more.
void RoleTracer::addFree(FreeTensorsOp op) {
  if (op->getParentOfType<AsWarpgroupOp>())
    addMeetOfWarpgroup(op);
  else
    addMeet(op, "the consumers" + inCta(), kernel.getWarps());
  if (group > 0)
    return; // The first warp of all frees it.
  ProtocolEvent event{Kind::Access,    op, {}, 0, {}, nextUse++,
                      /*isWrite=*/true};
  event.memory.push_back({cta, 0, kWarps * kColumns, /*isTensor=*/true});
  add(event, /*isOfFirst=*/true);
  add({Kind::Done, op, {}, 0, {}, event.number});
}

//===----------------------------------------------------------------------===//
// Products in tensor memory
//===----------------------------------------------------------------------===//

/// The process of the role's products goes on, knowing what the thread knows.
void RoleTracer::start(Operation *op) {
  ProtocolEvent event{Kind::Start, op};
  event.number = protocol.queues;
  add(event, /*isOfFirst=*/true);
  event.kind = Kind::Follow;
  started.push_back(event);
}

/// They are done in order.
LogicalResult RoleTracer::addProductAccess(MmaTensorOp op,
                                           std::optional<MemoryRange> memory,
                                           bool isWrite) {
  if (!memory)
    return refuse(op, "a tile");
  ProtocolEvent event{Kind::Access, op, {}, 0, {*memory}, nextUse++, isWrite};
  if (kernel.getCtaPairs()) {
    event.memory.push_back(*memory);
    event.memory.back().cta = cta ^ 1;
  }
  started.push_back(event);
  started.push_back({Kind::Done, op, {}, 0, {}, event.number});
  return success();
}

/// In the lanes of all warps.
LogicalResult RoleTracer::addProductCells(MmaTensorOp op, Value tile,
                                          int64_t first, int64_t columns,
                                          bool isWrite) {
  std::optional<MemoryRange> cells =
      getCells(tile, *lookUp(op.getWarpgroup()), first, columns);
  for (int64_t warp = 0; warp < kWarps; ++warp) {
    if (failed(addProductAccess(op, cells, isWrite)))
      return failure();
    cells->begin += kColumns;
    cells->end += kColumns;
  }
  return success();
}

/// The columns of the left operand that the product has.
LogicalResult RoleTracer::addLeftOperand(MmaTensorOp op, int64_t ofGroup) {
  if (!isa<TensorTileType>(op.getA().getType()))
    return addProductAccess(op, getRowsOfProduct(op.getA(), ofGroup),
                            /*isWrite=*/false);
  int64_t begin = 0, end = op.getWholeDepth();
  if (auto part = op.getDepth())
    std::tie(begin, end) = std::pair((*part)[0], (*part)[1]);
  return addProductCells(op, op.getA(), begin, end - begin, /*isWrite=*/false);
}

/// A warpgroup has 128 rows of a left operand, or all if there are no more.
std::optional<MemoryRange> RoleTracer::getRowsOfProduct(Value tile,
                                                        int64_t ofGroup) const {
  constexpr int64_t rows = TensorTileType::kLanes;
  return cast<SharedType>(tile.getType()).getRows() == rows * warpgroups
             ? getRows(tile, ofGroup * rows, rows)
             : getRange(tile);
}

LogicalResult RoleTracer::addProduct(MmaTensorOp op) {
  auto ofGroup = lookUp(op.getWarpgroup());
  if (!ofGroup)
    return refuse(op, "a warpgroup");
  if (op.getMeet())
    addMeetOfWarpgroup(op);
  start(op);
  if (failed(addLeftOperand(op, *ofGroup)) ||
      failed(addProductAccess(op, getRange(op.getB()), /*isWrite=*/false)) ||
      failed(addProductCells(op, op.getTile(), 0,
                             op.getTile().getType().getCols(),
                             /*isWrite=*/true)))
    return failure();
  if (!op.getBarrier())
    return success();
  return addCommit(op, op.getBarrier(), op.getWarpgroup(),
                   kernel.getCtaPairs() ? ctas : 1);
}

/// An arrival in each CTA, behind all products that were started before.
LogicalResult RoleTracer::addCommit(Operation *op, Value barrier, Value stage,
                                    int64_t ofCtas) {
  start(op);
  ProtocolEvent event{Kind::Arrive, op};
  for (int64_t peer = 0; peer < ofCtas; ++peer) {
    auto of = getMbarrier(op, barrier, stage, ofCtas > 1 ? peer : cta);
    if (failed(of))
      return failure();
    event.barriers.push_back(*of);
  }
  started.push_back(event);
  return success();
}
