//===- HandOverEarly.cpp - A product's first weights, early ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-hand-over-early: the role that starts products is told
// of a step's first weights while the consumers compute the others, so that P V
// begins beside the last exponentials (FlashAttention-4 hands P over so, after
// three quarters of its columns).
//
//===----------------------------------------------------------------------===//

#include "FragmentSlices.h"
#include "KeyStream.h"
#include "MissedRemark.h"
#include "attn/Dialect/Tile/Transforms/Passes.h"

namespace attn::tile {
#define GEN_PASS_DEF_HANDOVEREARLYPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn::tile;

//===----------------------------------------------------------------------===//
// What consumers do
//===----------------------------------------------------------------------===//

namespace {
/// Weights on their way to tensor memory, and what they are computed of.
class Weights {
public:
  /// `arrival` tells that they are there.
  explicit Weights(MbarrierArriveOp arrival) : arrival(arrival) {}

  /// False if they are not computed column by column right before they are
  /// stored.
  bool match();
  int64_t getColumns() { return operand.getSource().getType().getShape()[1]; }
  /// Stores and tells of the columns before `early`, at `barrier`, before the
  /// others are computed.
  void split(int64_t early, Value barrier);

private:
  bool isSlice(Operation *op) const;
  bool canMove(RowReduceOp reduce);
  void collect();
  void storeColumns(OpBuilder &builder, int64_t column, int64_t columns);
  void cloneMap(OpBuilder &builder, MapOp map, int64_t column, int64_t columns,
                IRMapping &mapping);

  MbarrierArriveOp arrival;
  StoreTensorOp store;
  ToOperandOp operand;
  /// Maps, and sums of rows, in their order.
  SmallVector<Operation *> ops;
  DenseMap<Operation *, Value> rows; ///< of each sum so far
};
} // namespace

/// The store before `arrival`, with nothing between them but what orders it.
static StoreTensorOp findStore(MbarrierArriveOp arrival) {
  Operation *op = arrival->getPrevNode();
  while (op && isa<FenceTensorsOp, SyncWarpOp>(op))
    op = op->getPrevNode();
  return dyn_cast_if_present<StoreTensorOp>(op);
}

bool Weights::match() {
  store = findStore(arrival);
  if (!store || store.getColumn() != 0)
    return false;
  operand = store.getSource().getDefiningOp<ToOperandOp>();
  if (!operand || !operand->hasOneUse() ||
      operand->getBlock() != store->getBlock())
    return false;
  collect();
  return llvm::any_of(ops, llvm::IsaPred<MapOp>);
}

bool Weights::isSlice(Operation *op) const {
  return op == operand || llvm::is_contained(ops, op);
}

/// True if nothing in front of the store needs the rows.
bool Weights::canMove(RowReduceOp reduce) {
  return reduce->getBlock() == store->getBlock() &&
         llvm::all_of(reduce->getUsers(), [&](Operation *user) {
           Operation *inBlock = store->getBlock()->findAncestorOpInBlock(*user);
           return inBlock && store->isBeforeInBlock(inBlock);
         });
}

/// From the last op on, those maps whose result nothing else needs whole.
void Weights::collect() {
  FragmentType whole = operand.getSource().getType();
  for (Operation *op = operand->getPrevNode(); op; op = op->getPrevNode()) {
    auto map = dyn_cast<MapOp>(op);
    if (!map || map.getResult().getType() != whole)
      continue;
    bool hasColumns = llvm::any_of(map.getInputs(), [](Value input) {
      return cast<FragmentType>(input.getType()).isColumn();
    });
    SmallVector<Operation *> sums;
    bool isCut = !hasColumns && llvm::any_of(map->getUsers(), [&](auto *user) {
      return isSlice(user);
    });
    for (Operation *user : map->getUsers()) {
      auto reduce = dyn_cast<RowReduceOp>(user);
      if (reduce && canMove(reduce))
        sums.push_back(reduce);
      else
        isCut &= isSlice(user);
    }
    if (!isCut)
      continue;
    ops.append(sums);
    ops.push_back(map);
  }
  llvm::sort(ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
}

/// What is whole before is there already: some of its registers.
void Weights::cloneMap(OpBuilder &builder, MapOp map, int64_t column,
                       int64_t columns, IRMapping &mapping) {
  for (Value input : map.getInputs()) {
    auto type = cast<FragmentType>(input.getType());
    if (type.isRow() || mapping.contains(input))
      continue;
    mapping.map(input, FragmentColumnsOp::create(builder, map.getLoc(),
                                                 getSliceType(type, columns),
                                                 input, column)
                           .getResult());
  }
  cloneMapOfColumns(builder, map, column, columns, mapping);
}

void Weights::storeColumns(OpBuilder &builder, int64_t column,
                           int64_t columns) {
  IRMapping mapping;
  for (Operation *op : ops) {
    if (auto map = dyn_cast<MapOp>(op)) {
      cloneMap(builder, map, column, columns, mapping);
      continue;
    }
    auto reduce = cast<RowReduceOp>(op);
    Value &row = rows[reduce];
    row = RowReduceOp::create(builder, reduce.getLoc(), reduce.getKind(),
                              mapping.lookup(reduce.getSource()),
                              row ? row : reduce.getInit());
  }
  auto part =
      ToOperandOp::create(builder, operand.getLoc(),
                          getSliceType(operand.getOperand().getType(), columns),
                          mapping.lookup(operand.getSource()));
  StoreTensorOp::create(builder, store.getLoc(), part, store.getTile(),
                        store.getWarpgroup(), column);
}

void Weights::split(int64_t early, Value barrier) {
  OpBuilder builder(store);
  Location loc = arrival.getLoc();
  storeColumns(builder, 0, early);
  FenceTensorsOp::create(builder, loc, /*after=*/false);
  SyncWarpOp::create(builder, loc);
  MbarrierArriveOp::create(builder, loc, barrier, arrival.getStage());
  storeColumns(builder, early, getColumns() - early);
  for (auto [op, row] : rows)
    op->getResult(0).replaceAllUsesWith(row);
  store.erase();
  operand.erase();
  for (Operation *op : llvm::reverse(ops))
    op->erase();
}

namespace {
/// Weights that are stored some columns after the other as it is
/// (--attn-tile-slice-steps).
class StoredSlices {
public:
  /// `arrival` tells that they are there.
  explicit StoredSlices(MbarrierArriveOp arrival) : arrival(arrival) {}

  /// False if no store ends at column `early`.
  bool match(int64_t early);
  /// Tells of the columns before `early` at `barrier`.
  void split(Value barrier);

private:
  MbarrierArriveOp arrival;
  StoreTensorOp store; ///< of the last of them
};
} // namespace

bool StoredSlices::match(int64_t early) {
  StoreTensorOp last = findStore(arrival);
  if (!last)
    return false;
  for (auto slice : last->getBlock()->getOps<StoreTensorOp>()) {
    auto columns =
        int64_t(slice.getColumn()) + slice.getSource().getType().getShape()[1];
    if (slice.getTile() == last.getTile() && columns == early)
      store = slice;
  }
  return store && store != last;
}

void StoredSlices::split(Value barrier) {
  store.setPending(false);
  OpBuilder builder(store->getContext());
  builder.setInsertionPointAfter(store);
  Location loc = arrival.getLoc();
  FenceTensorsOp::create(builder, loc, /*after=*/false);
  SyncWarpOp::create(builder, loc);
  MbarrierArriveOp::create(builder, loc, barrier, arrival.getStage());
}

//===----------------------------------------------------------------------===//
// What the products' thread does
//===----------------------------------------------------------------------===//

/// The product behind `wait`, of what the consumers have told of there.
static MmaTensorOp findProduct(MbarrierWaitOp wait) {
  auto fence = dyn_cast_if_present<FenceTensorsOp>(wait->getNextNode());
  auto product =
      dyn_cast_if_present<MmaTensorOp>(fence ? fence->getNextNode() : nullptr);
  return product && isa<TensorTileType>(product.getA().getType()) &&
                 !product.getDepth()
             ? product
             : MmaTensorOp();
}

/// Starts the part of the first columns behind a wait at `barrier`.
static void split(MbarrierWaitOp wait, int64_t early, Value barrier) {
  MmaTensorOp product = findProduct(wait);
  OpBuilder builder(wait);
  Location loc = product.getLoc();
  MbarrierWaitOp::create(builder, loc, barrier, wait.getStage(),
                         wait.getParity());
  FenceTensorsOp::create(builder, loc, /*after=*/true);
  auto first = cast<MmaTensorOp>(builder.clone(*product));
  first.getBarrierMutable().clear();
  first.setDepth(ArrayRef<int64_t>{0, early});
  product.setDepth(ArrayRef<int64_t>{early, product.getWholeDepth()});
  product.setAccumulate(true);
}

namespace {
/// The barrier at which consumers tell that weights are there, and all that is
/// done there.
struct HandOver {
  AllocMbarrierOp barrier;
  int64_t early;
  SmallVector<Weights> weights;
  SmallVector<StoredSlices> slices;
  SmallVector<MbarrierWaitOp> waits;

  /// Nothing if something else is told of there, or there are no more columns
  /// than `early`.
  static std::optional<HandOver> match(AllocMbarrierOp barrier, int64_t early,
                                       RolesOp roles);
  bool add(MbarrierArriveOp arrival);
  void split(InitMbarriersOp init);
};
} // namespace

bool HandOver::add(MbarrierArriveOp arrival) {
  if (StoredSlices stored(arrival); stored.match(early)) {
    slices.push_back(stored);
    return true;
  }
  Weights whole(arrival);
  if (!whole.match() || whole.getColumns() <= early)
    return false;
  weights.push_back(whole);
  return true;
}

std::optional<HandOver> HandOver::match(AllocMbarrierOp barrier, int64_t early,
                                        RolesOp roles) {
  HandOver all = {barrier, early, {}, {}, {}};
  for (Operation *user : barrier->getUsers()) {
    if (auto wait = dyn_cast<MbarrierWaitOp>(user)) {
      if (!roles.getRole(RolesOp::kProducts)
               ->isAncestor(wait->getParentRegion()) ||
          !findProduct(wait))
        return std::nullopt;
      all.waits.push_back(wait);
    } else if (auto arrival = dyn_cast<MbarrierArriveOp>(user)) {
      if (!all.add(arrival))
        return std::nullopt;
    } else if (!isa<InitMbarriersOp>(user)) {
      return std::nullopt;
    }
  }
  if (all.waits.empty() || (all.weights.empty() && all.slices.empty()))
    return std::nullopt;
  return all;
}

void HandOver::split(InitMbarriersOp init) {
  OpBuilder builder(barrier);
  Value first = builder.clone(*barrier)->getResult(0);
  init.getBarriersMutable().append(first);
  for (Weights &stored : weights)
    stored.split(early, first);
  for (StoredSlices &stored : slices)
    stored.split(first);
  for (MbarrierWaitOp wait : waits)
    ::split(wait, early, first);
}

namespace {
struct HandOverEarlyPass
    : public attn::tile::impl::HandOverEarlyPassBase<HandOverEarlyPass> {
  using HandOverEarlyPassBase::HandOverEarlyPassBase;

  void runOnOperation() override {
    attn::Schedule schedule = getScheduleOf(getOperation());
    // A forward has the former, a backward the latter.
    int64_t early = columns ? int64_t(columns)
                            : std::max(schedule.earlyKeys, schedule.earlyRows);
    if (early == 0)
      return;
    bool hasRole = false, isSplit = false;
    Block &body = getOperation().getBody().front();
    for (auto roles : llvm::make_early_inc_range(body.getOps<RolesOp>()))
      if (roles.getRole(RolesOp::kProducts)) {
        hasRole = true;
        isSplit |= splitAll(roles, early);
      }
    if (isSplit)
      ++numKernels;
    else
      remarkMissed(getOperation(), getArgumentName(), "weights-at-once",
                   "weights are handed over at once",
                   hasRole ? "they are not computed column by column"
                           : "no thread of its own starts their product");
  }

private:
  static bool splitAll(RolesOp roles, int64_t early);
};
} // namespace

bool HandOverEarlyPass::splitAll(RolesOp roles, int64_t early) {
  Block *body = roles->getBlock();
  auto init = *body->getOps<InitMbarriersOp>().begin();
  bool isSplit = false;
  for (auto barrier :
       llvm::make_early_inc_range(body->getOps<AllocMbarrierOp>())) {
    std::optional<HandOver> all = HandOver::match(barrier, early, roles);
    if (!all)
      continue;
    all->split(init);
    isSplit = true;
  }
  return isSplit;
}
