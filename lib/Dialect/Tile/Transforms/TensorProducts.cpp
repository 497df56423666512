//===- TensorProducts.cpp - Products in tensor memory -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorProducts.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn::tile;

bool attn::tile::isZero(Value fragment) {
  auto fill = fragment.getDefiningOp<FillOp>();
  return fill && fill.getValue().isZero();
}

/// A fragment is written to tensor memory; what is loaded once for all steps
/// stays in shared memory.
static FragmentType getStoredOperand(MmaOp op) {
  auto type = dyn_cast<FragmentType>(op.getA().getType());
  return type && !op.getA().getDefiningOp<LoadOperandOp>() ? type
                                                           : FragmentType();
}

namespace {
/// What a product adds to, where nothing else changes that but a factor that is
/// rarely there: a value that the loop carries, from one step to the next.
struct CarriedSum {
  unsigned number;     ///< of the loop's values
  scf::IfOp rescaling; ///< which gives the product's acc, or null
  MapOp scaled;        ///< the value if its condition holds, times a row value

  static std::optional<CarriedSum> match(MmaOp op);
};
} // namespace

/// True for source * factor, of which each row has one.
static bool isRowProduct(MapOp map) {
  if (!map || map.getInputs().size() != 2 ||
      !cast<FragmentType>(map.getInputs()[1].getType()).isRow())
    return false;
  Block &body = map.getBody().front();
  auto product = dyn_cast<arith::MulFOp>(body.front());
  return product && product.getLhs() == body.getArgument(0) &&
         product.getRhs() == body.getArgument(1) &&
         body.getTerminator()->getOperand(0) == product.getResult();
}

std::optional<CarriedSum> CarriedSum::match(MmaOp op) {
  auto loop = cast<scf::ForOp>(op->getParentOp());
  CarriedSum sum;
  Value carried = op.getAcc();
  int64_t uses = 1;
  if (auto branch = carried.getDefiningOp<scf::IfOp>()) {
    if (branch.getNumResults() != 1 || !carried.hasOneUse())
      return std::nullopt;
    sum.rescaling = branch;
    sum.scaled = branch.thenYield().getOperand(0).getDefiningOp<MapOp>();
    carried = branch.elseYield().getOperand(0);
    if (!isRowProduct(sum.scaled) || !sum.scaled->hasOneUse() ||
        sum.scaled.getInputs().front() != carried)
      return std::nullopt;
    uses = 2;
  }
  auto arg = dyn_cast<BlockArgument>(carried);
  if (!arg || arg.getOwner() != loop.getBody() || !arg.hasNUses(uses) ||
      !op.getResult().hasOneUse())
    return std::nullopt;
  sum.number = arg.getArgNumber() - loop.getNumInductionVars();
  OpOperand &use = *op.getResult().use_begin();
  if (use.getOwner() != loop.getBody()->getTerminator() ||
      use.getOperandNumber() != sum.number)
    return std::nullopt;
  return sum;
}

static SmallVector<MmaOp> getProducts(scf::ForOp loop) {
  return SmallVector<MmaOp>(loop.getOps<MmaOp>());
}

static TensorTileType getTile(FragmentType type) {
  return TensorTileType::get(type.getContext(), type.getShape(),
                             type.getElementType());
}

Value attn::tile::getPlace(Value tile) {
  auto narrow = tile.getDefiningOp<NarrowTensorOp>();
  return narrow ? Value(narrow.getTile()) : tile;
}

bool attn::tile::touchesPlace(Operation *op, Value tile) {
  return op
      ->walk([&](Operation *inner) {
        bool isTouched =
            llvm::TypeSwitch<Operation *, bool>(inner)
                .Case<LoadTensorOp, StoreTensorOp, ScaleTensorOp>(
                    [&](auto op) { return getPlace(op.getTile()) == tile; })
                .Default([](Operation *) { return false; });
        return isTouched ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Tiles and barriers
//===----------------------------------------------------------------------===//

/// What a product stores is computed from those before: when it is stored, the
/// warps have read them. It takes the place of the last of its size, and needs
/// no columns of its own: those before it are the first that the next step
/// starts. Of the last of `ops`.
std::optional<unsigned> TensorProducts::findPlace(ArrayRef<MmaOp> ops) {
  MmaOp op = ops.back();
  BackwardSliceOptions options;
  options.omitBlockArguments = true;
  options.inclusive = true;
  options.omitUsesFromAbove = false; // in a branch, too
  SetVector<Operation *> before;
  if (failed(getBackwardSlice(op.getA(), &before, options)))
    return std::nullopt;
  for (unsigned number = products.size(); number-- > 0;) {
    auto isTaken = [&](const Product &other) { return other.place == number; };
    const Product &product = products[number];
    MmaOp other = ops[number];
    if (!product.isSum && llvm::none_of(products, isTaken) &&
        before.contains(other) &&
        other.getResult().getType().getShape() ==
            getStoredOperand(op).getShape())
      return number;
  }
  return std::nullopt;
}

void TensorProducts::describe(ArrayRef<scf::ForOp> loops) {
  SmallVector<MmaOp> ops(getProducts(loops.front()));
  for (unsigned number = 0; number < ops.size(); ++number) {
    Product product;
    product.stored = getStoredOperand(ops[number]);
    product.isSum = llvm::all_of(loops, [&](scf::ForOp loop) {
      return CarriedSum::match(getProducts(loop)[number]).has_value();
    });
    if (product.stored)
      product.place = findPlace(ArrayRef(ops).take_front(number + 1));
    products.push_back(product);
  }
  chooseMeetings();
}

/// The warps meet before a product of what they have stored. That is once in
/// each step, between what they read of a product and the next one of its tile:
/// the others need no meeting of their own.
void TensorProducts::chooseMeetings() {
  bool haveMet = false;
  for (Product &product : products) {
    // A sum adds to what they have stored before the loop.
    product.meets = product.stored || (product.isSum && !haveMet);
    haveMet |= product.meets;
  }
  if (!haveMet)
    products.front().meets = true;
}

LogicalResult TensorProducts::create(OpBuilder &builder, KernelOp kernel,
                                     ArrayRef<scf::ForOp> loops,
                                     SmallVectorImpl<Value> &barriers) {
  Location loc = kernel.getLoc();
  describe(loops);
  SmallVector<Type> types;
  for (auto [op, product] :
       llvm::zip_equal(getProducts(loops.front()), products)) {
    if (product.stored && !product.place)
      types.push_back(getTile(product.stored));
    types.push_back(getTile(op.getResult().getType()));
  }
  if (int64_t columns = TensorTileType::getAllocation(types);
      columns > TensorTileType::kMostColumns)
    return kernel.emitOpError()
           << "expected at most " << TensorTileType::kMostColumns
           << " columns of tensor memory, got products that need " << columns
           << ": choose a smaller tile_n or tile_m";
  alloc = AllocTensorsOp::create(builder, loc, types, /*offset=*/IntegerAttr());
  int64_t groups = cast<TensorTileType>(types.front()).getWarpgroups();
  unsigned next = 0;
  for (auto [number, product] : llvm::enumerate(products)) {
    if (product.stored && !product.place)
      product.operand = alloc.getResult(next++);
    product.tile = alloc.getResult(next++);
    // The last sum's barrier is that of all before it.
    if (product.isSum && llvm::any_of(ArrayRef(products).drop_front(number + 1),
                                      [](const Product &p) { return p.isSum; }))
      continue;
    product.barrier = AllocMbarrierOp::create(
        builder, loc, MbarrierType::get(builder.getContext(), groups, 1),
        /*offset=*/IntegerAttr());
    barriers.push_back(product.barrier);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Value TensorProducts::storeOperand(OpBuilder &builder, Value fragment,
                                   const Product &product, Value warpgroup) {
  Location loc = fragment.getLoc();
  Value tile = product.operand;
  if (product.place)
    tile = NarrowTensorOp::create(builder, loc, getTile(product.stored),
                                  products[*product.place].tile, warpgroup);
  StoreTensorOp::create(builder, loc, fragment, tile, warpgroup);
  return tile;
}

/// Moves a product of tiles, and what waits for them, to right behind the one
/// before it, whose wait that is.
static void startEarly(MmaTensorOp product, MbarrierWaitOp waitBefore) {
  SmallVector<Operation *> moved = {product};
  for (Operation *op = product->getPrevNode();
       isa<MbarrierWaitOp, StageOp>(op) && op != waitBefore;
       op = op->getPrevNode())
    moved.push_back(op);
  for (Operation *op : llvm::reverse(moved))
    op->moveBefore(waitBefore);
}

/// Moves the wait for a sum to the end of the step, and behind it what gives
/// stages back that the product reads.
static void waitLate(MbarrierWaitOp wait) {
  Operation *end = wait->getBlock()->getTerminator();
  SmallVector<Operation *> moved = {wait};
  for (Operation *op = wait->getNextNode(); op != end; op = op->getNextNode())
    if (isa<SyncWarpOp, MbarrierArriveOp>(op))
      moved.push_back(op);
  for (Operation *op : moved)
    op->moveBefore(end);
}

/// Rescales a sum where it is, and returns the value that the loop carries.
static Value rescale(OpBuilder &builder, const CarriedSum &sum, Value tile,
                     Value warpgroup) {
  scf::IfOp branch = sum.rescaling;
  MapOp scaled = sum.scaled;
  Value carried = scaled.getInputs()[0], factor = scaled.getInputs()[1];
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(scaled);
  ScaleTensorOp::create(builder, scaled.getLoc(), tile, warpgroup, factor);
  branch.thenYield()->setOperand(0, carried);
  scaled.erase();
  builder.setInsertionPoint(branch);
  auto withoutResult = scf::IfOp::create(
      builder, branch.getLoc(), branch.getCondition(), /*withElse=*/false);
  Block *body = withoutResult.thenBlock();
  body->getOperations().splice(
      body->getTerminator()->getIterator(), branch.thenBlock()->getOperations(),
      branch.thenBlock()->begin(), branch.thenYield()->getIterator());
  branch.getResult(0).replaceAllUsesWith(carried);
  branch.erase();
  return carried;
}

/// A sum that only products change, or that is rarely rescaled, stays in tensor
/// memory. One that is rescaled in each step stays in registers, and need not
/// go to tensor memory and back. Returns the wait for the product. `waitBefore`
/// is that for the one before it in the step, if that is of tiles.
MbarrierWaitOp TensorProducts::convert(OpBuilder &builder, MmaOp op,
                                       const Product &product, Value warpgroup,
                                       Value parity,
                                       MbarrierWaitOp waitBefore) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value a = op.getA();
  if (product.stored)
    a = storeOperand(builder, a, product, warpgroup);
  auto start = MmaTensorOp::create(
      builder, loc, a, op.getB(), op.getTransposeB(), product.tile, warpgroup,
      product.barrier, product.isSum, product.meets);
  MbarrierWaitOp wait;
  if (product.barrier)
    wait = MbarrierWaitOp::create(builder, loc, product.barrier, warpgroup,
                                  parity);
  Value result = op.getAcc();
  if (product.isSum) {
    if (CarriedSum sum = *CarriedSum::match(op); sum.rescaling)
      result = rescale(builder, sum, product.tile, warpgroup);
  } else {
    result = LoadTensorOp::create(builder, loc, op.getResult().getType(),
                                  product.tile, warpgroup,
                                  isZero(op.getAcc()) ? Value() : op.getAcc());
  }
  op.getResult().replaceAllUsesWith(result);
  op.erase();
  if (waitBefore)
    startEarly(start, waitBefore);
  if (product.isSum && wait)
    waitLate(wait);
  return wait;
}

/// True for what a product may be started before: what computes, or waits for
/// other products and reads them.
static bool canFollow(Operation *op) {
  auto wait = dyn_cast<MbarrierWaitOp>(op);
  bool isForProduct = wait && llvm::any_of(wait.getBarrier().getUsers(),
                                           llvm::IsaPred<MmaTensorOp>);
  return isForProduct || isMemoryEffectFree(op) ||
         isa<LoadTensorOp, LoadColumnOp>(op);
}

/// Moves the store of an operand, and its product, to right behind what the
/// operand is computed of: the tensor cores have that product while the step
/// computes the next one's operand.
static void startBehindOperand(MmaTensorOp product, StoreTensorOp store) {
  auto operand = store.getSource().getDefiningOp<ToOperandOp>();
  Operation *source = operand ? operand.getSource().getDefiningOp() : nullptr;
  if (!source || source->getBlock() != product->getBlock())
    return;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) {
    return op->getBlock() == source->getBlock() && source->isBeforeInBlock(op);
  };
  SetVector<Operation *> moved;
  if (failed(getBackwardSlice(store.getOperation(), &moved, options)) ||
      failed(getBackwardSlice(product.getOperation(), &moved, options)))
    return;
  for (Operation *op = source->getNextNode(); op != product;
       op = op->getNextNode())
    if (moved.contains(op) ? op != store && !isMemoryEffectFree(op)
                           : !canFollow(op))
      return;
  Operation *last = source;
  for (Operation *op : moved) {
    op->moveAfter(last);
    last = op;
  }
}

void TensorProducts::convert(OpBuilder &builder, scf::ForOp loop,
                             Value warpgroup, Value parity) {
  SmallVector<MmaOp> ops = getProducts(loop);
  sums.clear();
  for (auto [op, product] : llvm::zip_equal(ops, products)) {
    if (!product.isSum)
      continue;
    unsigned number = CarriedSum::match(op)->number;
    sums.push_back({product.tile, number});
    if (last)
      continue;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(loop);
    StoreTensorOp::create(builder, op.getLoc(), loop.getInitArgs()[number],
                          product.tile, warpgroup);
  }
  MbarrierWaitOp wait;
  for (auto [op, product] : llvm::zip_equal(ops, products))
    wait = convert(builder, op, product, warpgroup, parity,
                   product.meets ? MbarrierWaitOp() : wait);
  for (auto store : llvm::make_early_inc_range(loop.getOps<StoreTensorOp>()))
    if (auto product = dyn_cast<MmaTensorOp>(store->getNextNode()))
      startBehindOperand(product, store);
  last = loop;
}

void TensorProducts::finish(OpBuilder &builder, Value warpgroup) {
  for (auto [tile, number] : sums) {
    // One sum at a time is in registers.
    Value result = last.getResult(number);
    if (result.use_empty())
      continue;
    Block *block = last->getBlock();
    Operation *reader = block->getTerminator();
    for (Operation *user : result.getUsers())
      if (Operation *op = block->findAncestorOpInBlock(*user);
          op->isBeforeInBlock(reader))
        reader = op;
    builder.setInsertionPoint(reader);
    Value sum = LoadTensorOp::create(builder, last.getLoc(), result.getType(),
                                     tile, warpgroup, /*acc=*/Value());
    result.replaceAllUsesWith(sum);
  }
  builder.setInsertionPointToEnd(warpgroup.getParentBlock());
  FreeTensorsOp::create(builder, alloc.getLoc(), alloc.getTiles());
}
