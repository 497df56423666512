//===- PrologueKernels.cpp - Kernels that look at a mask --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Three kernels, in which each warp works for itself: the state of a block of
// pairs, the lists of a row of blocks from their states, and the bounds of a
// tile of rows.
//
//===----------------------------------------------------------------------===//

#include "Launch/PrologueKernels.h"

#include "Launch/ElementKernel.h"
#include "attn/Analysis/IndexRanges.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/RowOps.h"

#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

#include <limits>

using namespace mlir;
using namespace attn;

namespace {

/// Among the views of attn.create_block_mask: after its results.
constexpr unsigned kBlockStates = 4;
/// Of a block: no pair is visible, some are, all are.
enum BlockState : int64_t { kEmpty = 0, kPartial = 1, kFull = 2 };

class PrologueBuilder : ElementKernel {
public:
  PrologueBuilder(OpBuilder &builder, TiledAttention &attention,
                  unsigned number)
      : ElementKernel(builder, attention, attention.getLoc()), number(number) {}

  LogicalResult buildBlockStates(CreateBlockMaskOp op, const Twine &name);
  LogicalResult buildBlockLists(CreateBlockMaskOp op, const Twine &name);
  LogicalResult buildKeyBounds(KeyBoundsOp op, const Twine &name);
  LogicalResult buildTileOrder(Operation *op, const Twine &name);

private:
  using Reduction = gpu::AllReduceOperation;
  using Predicate = arith::CmpIPredicate;
  using Body =
      llvm::function_ref<SmallVector<Value>(Value iv, ValueRange state)>;

  LogicalResult begin(Operation *op, const Twine &name);
  void end();

  Value add(Value a, Value b) {
    return arith::AddIOp::create(builder, loc, a, b);
  }
  Value mul(Value a, int64_t b) {
    return arith::MulIOp::create(builder, loc, a, constant(b));
  }
  Value min(Value a, Value b) {
    return arith::MinSIOp::create(builder, loc, a, b);
  }
  Value max(Value a, Value b) {
    return arith::MaxSIOp::create(builder, loc, a, b);
  }
  Value compare(Predicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }
  Value ceilDiv(Value a, int64_t b) {
    a = add(a, constant(b - 1));
    return arith::DivUIOp::create(builder, loc, a, constant(b));
  }
  Value i32(int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, value, 32);
  }
  Value toI32(Value value) {
    if (value.getType().isInteger(1))
      return arith::ExtUIOp::create(builder, loc, builder.getI32Type(), value);
    return arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                      value);
  }
  /// Over the lanes of the warp.
  Value reduce(Reduction kind, Value value) {
    return gpu::SubgroupReduceOp::create(builder, loc, value, kind,
                                         /*uniform=*/true);
  }
  SmallVector<Value> toI64(ValueRange indices) {
    return llvm::map_to_vector(
        indices, [&](Value index) { return ElementKernel::toI64(index); });
  }
  void insert(Value value, Value destination, ValueRange indices) {
    tile::InsertOp::create(builder, loc, value, destination, toI64(indices));
  }
  Value extract(Value source, ValueRange indices) {
    return tile::ExtractOp::create(builder, loc, builder.getI32Type(), source,
                                   toI64(indices));
  }
  SmallVector<Value> loop(Value lower, Value upper, int64_t step,
                          ValueRange init, Body body);
  FailureOr<SmallVector<Value>> lookAtKey(CreateBlockMaskOp op, ValueRange at,
                                          ValueRange rows, Value key,
                                          ValueRange seen);
  FailureOr<Value> buildState(CreateBlockMaskOp op, ValueRange at, Value block);
  void buildList(ValueRange at, int64_t kind, Value numBlocks, Value indices,
                 Value blocks);
  FailureOr<SmallVector<Value>> takeRow(KeyBoundsOp op, ValueRange at,
                                        Value row, ValueRange state);
  Value countKeys(Operation *op, Value batch, Value tile);

  unsigned number; ///< of the op in the prologue
  tile::KernelOp kernel;
  Value lane, warp; ///< in the warp, of the CTA
  OpBuilder::InsertPoint outside;
};

} // namespace

//===----------------------------------------------------------------------===//
// All kernels
//===----------------------------------------------------------------------===//

LogicalResult PrologueBuilder::begin(Operation *op, const Twine &name) {
  outside = builder.saveInsertionPoint();
  FailureOr<tile::KernelOp> begun = beginKernel(name.str(), kPrologueWarps);
  if (failed(begun) || failed(materializeOutside(op)))
    return failure();
  kernel = *begun;
  WarpOfGrid place = getWarpOfGrid(builder, loc, kPrologueWarps);
  lane = place.lane;
  warp = place.number;
  return success();
}

void PrologueBuilder::end() {
  builder.setInsertionPointToEnd(&kernel.getBody().front());
  tile::ReturnOp::create(builder, loc);
  builder.restoreInsertionPoint(outside);
}

SmallVector<Value> PrologueBuilder::loop(Value lower, Value upper, int64_t step,
                                         ValueRange init, Body body) {
  auto made =
      scf::ForOp::create(builder, loc, lower, upper, constant(step), init);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(made.getBody());
  SmallVector<Value> next =
      body(made.getInductionVar(), made.getRegionIterArgs());
  if (!init.empty())
    scf::YieldOp::create(builder, loc, next);
  return SmallVector<Value>(made.getResults());
}

//===----------------------------------------------------------------------===//
// The state of a block
//===----------------------------------------------------------------------===//

/// Moves what depends on the key alone out of a loop over rows, of which there
/// is one: nothing is read there that would not be.
static void hoistInvariants(scf::ForOp rows) {
  moveLoopInvariantCode(
      &rows.getRegion(),
      [&](Value value, Region *) { return rows.isDefinedOutsideOfLoop(value); },
      [](Operation *op, Region *) {
        return isMemoryEffectFree(op) || isa<tile::ExtractOp>(op);
      },
      [&](Operation *op, Region *) { rows.moveOutOfLoop(op); });
}

/// Takes the pairs of the rows in [rows[0], rows[1]) and a key into whether
/// some is visible and whether all are. What depends on the key alone is
/// invariant in the loop.
FailureOr<SmallVector<Value>>
PrologueBuilder::lookAtKey(CreateBlockMaskOp op, ValueRange at, ValueRange rows,
                           Value key, ValueRange seen) {
  bool hasFailed = false;
  SmallVector<Value> own =
      loop(rows[0], rows[1], 1, seen, [&](Value row, ValueRange state) {
        FailureOr<Value> visible = mods.inlineRegion(
            op.getMaskMod(), Value(), ValueRange{at[0], at[1], row, key});
        hasFailed = failed(visible);
        if (hasFailed)
          return SmallVector<Value>(state);
        Value bit = toI32(*visible);
        return SmallVector<Value>{
            arith::OrIOp::create(builder, loc, state[0], bit),
            arith::AndIOp::create(builder, loc, state[1], bit)};
      });
  if (hasFailed)
    return failure();
  hoistInvariants(own.front().getDefiningOp<scf::ForOp>());
  return own;
}

/// The state of block number `block` in the row of blocks (b, h, r). Each lane
/// has a key, and looks at its rows.
FailureOr<Value> PrologueBuilder::buildState(CreateBlockMaskOp op,
                                             ValueRange at, Value block) {
  Value firstRow = mul(at[2], op.getBlock()[0]);
  Value firstKey = mul(block, op.getBlock()[1]);
  auto getEnd = [&](Value first, int64_t count, Value size) {
    return min(add(first, constant(count)), values.lookup(size));
  };
  Value rowEnd = getEnd(firstRow, op.getBlock()[0], op.getRows());
  Value keyEnd = getEnd(firstKey, op.getBlock()[1], op.getKeys());
  Value last = arith::SubIOp::create(builder, loc, keyEnd, constant(1));
  bool hasFailed = false;
  auto look = [&](Value first, ValueRange state) -> SmallVector<Value> {
    // Lanes past the end look at the last key once more.
    Value key = min(add(first, lane), last);
    FailureOr<SmallVector<Value>> own =
        lookAtKey(op, at, {firstRow, rowEnd}, key, state);
    hasFailed = failed(own);
    if (hasFailed)
      return state;
    return {reduce(Reduction::OR, (*own)[0]),
            reduce(Reduction::AND, (*own)[1])};
  };
  SmallVector<Value> seen =
      loop(firstKey, keyEnd, kLanes, {i32(0), i32(1)},
           [&](Value first, ValueRange state) {
             // Once both kinds of pairs have been seen, nothing can change.
             Value isMixed = compare(Predicate::ugt, state[0], state[1]);
             auto choice =
                 scf::IfOp::create(builder, loc, TypeRange(state), isMixed,
                                   /*withElseRegion=*/true);
             OpBuilder::InsertionGuard guard(builder);
             builder.setInsertionPointToStart(choice.thenBlock());
             scf::YieldOp::create(builder, loc, state);
             builder.setInsertionPointToStart(choice.elseBlock());
             scf::YieldOp::create(builder, loc, look(first, state));
             return SmallVector<Value>(choice.getResults());
           });
  if (hasFailed)
    return failure();
  // Some pairs and all pairs, or some, or none.
  Value all = arith::AndIOp::create(builder, loc, seen[0], seen[1]);
  return add(seen[0], all);
}

LogicalResult PrologueBuilder::buildBlockStates(CreateBlockMaskOp op,
                                                const Twine &name) {
  if (failed(begin(op, name)))
    return failure();
  Value heads = values.lookup(op.getHeads());
  Value matrix = getBlockId(gpu::Dimension::z);
  Value at[] = {arith::DivUIOp::create(builder, loc, matrix, heads),
                arith::RemUIOp::create(builder, loc, matrix, heads),
                getBlockId(gpu::Dimension::y), warp};
  Value blocks = ceilDiv(values.lookup(op.getKeys()), op.getBlock()[1]);
  bool hasFailed = false;
  onlyIf(compare(Predicate::ult, warp, blocks), [&] {
    FailureOr<Value> state = buildState(op, at, warp);
    hasFailed = failed(state);
    if (hasFailed)
      return;
    onlyIf(compare(Predicate::eq, lane, constant(0)),
           [&] { insert(*state, prologueViews[number][kBlockStates], at); });
  });
  end();
  return failure(hasFailed);
}

//===----------------------------------------------------------------------===//
// The lists of a row of blocks
//===----------------------------------------------------------------------===//

/// Writes the blocks of a kind at (b, h, r), 32 at a time.
void PrologueBuilder::buildList(ValueRange at, int64_t kind, Value numBlocks,
                                Value indices, Value blocks) {
  Value one = i32(1);
  Value bit = arith::ShLIOp::create(builder, loc, one, toI32(lane));
  Value lower = arith::SubIOp::create(builder, loc, bit, one);
  Value last = arith::SubIOp::create(builder, loc, blocks, constant(1));
  auto countBits = [&](Value bits) -> Value {
    return math::CtPopOp::create(builder, loc, bits);
  };
  Value begin = constant(0);
  SmallVector<Value> counted =
      loop(begin, blocks, kLanes, i32(0), [&](Value first, ValueRange state) {
        Value block = add(first, lane);
        SmallVector<Value> place(at);
        place.push_back(min(block, last));
        Value found = extract(prologueViews[number][kBlockStates], place);
        Value isKind = compare(Predicate::eq, found, i32(kind));
        Value exists = compare(Predicate::ult, block, blocks);
        Value isListed = arith::AndIOp::create(builder, loc, isKind, exists);
        Value bits = reduce(Reduction::OR, select(isListed, bit, i32(0)));
        Value before =
            countBits(arith::AndIOp::create(builder, loc, bits, lower));
        onlyIf(isListed, [&] {
          Value slot = add(state[0], before);
          place.back() = arith::IndexCastOp::create(
              builder, loc, builder.getIndexType(), slot);
          insert(toI32(block), indices, place);
        });
        return SmallVector<Value>{add(state[0], countBits(bits))};
      });
  onlyIf(compare(Predicate::eq, lane, constant(0)),
         [&] { insert(counted[0], numBlocks, at); });
}

LogicalResult PrologueBuilder::buildBlockLists(CreateBlockMaskOp op,
                                               const Twine &name) {
  if (failed(begin(op, name)))
    return failure();
  Value at[] = {getBlockId(gpu::Dimension::z), getBlockId(gpu::Dimension::y),
                warp};
  Value rows = ceilDiv(values.lookup(op.getRows()), op.getBlock()[0]);
  Value blocks = ceilDiv(values.lookup(op.getKeys()), op.getBlock()[1]);
  ArrayRef<Value> views = prologueViews[number];
  onlyIf(compare(Predicate::ult, warp, rows), [&] {
    buildList(at, kPartial, views[0], views[1], blocks);
    buildList(at, kFull, views[2], views[3], blocks);
  });
  end();
  return success();
}

//===----------------------------------------------------------------------===//
// The bounds of a tile of rows
//===----------------------------------------------------------------------===//

/// Takes a row into the four numbers of each band.
FailureOr<SmallVector<Value>> PrologueBuilder::takeRow(KeyBoundsOp op,
                                                       ValueRange at, Value row,
                                                       ValueRange state) {
  SmallVector<Value> next;
  for (size_t band = 0; band < op.getBounds().size() / 2; ++band) {
    SmallVector<Value> bounds;
    for (Region &region : op.getBounds().slice(2 * band, 2)) {
      FailureOr<Value> bound =
          mods.inlineRegion(region, Value(), ValueRange{at[0], at[1], row});
      if (failed(bound))
        return failure();
      if (bound->getType().isInteger(64))
        bound = arith::TruncIOp::create(builder, loc, builder.getI32Type(),
                                        cutTo32Bits(builder, loc, *bound))
                    .getResult();
      bounds.push_back(*bound);
    }
    ValueRange s = state.slice(4 * band, 4);
    Value sees = compare(Predicate::slt, bounds[0], bounds[1]);
    next.append({select(sees, min(s[0], bounds[0]), s[0]),
                 select(sees, max(s[1], bounds[1]), s[1]), max(s[2], bounds[0]),
                 min(s[3], bounds[1])});
  }
  return next;
}

LogicalResult PrologueBuilder::buildKeyBounds(KeyBoundsOp op,
                                              const Twine &name) {
  if (failed(begin(op, name)))
    return failure();
  SmallVector<Value> at = {getBlockId(gpu::Dimension::z),
                           getBlockId(gpu::Dimension::y), warp};
  Value rows = values.lookup(op.getRows());
  Value most = i32(std::numeric_limits<int32_t>::max());
  SmallVector<Value> state;
  for (size_t band = 0; band < op.getBounds().size() / 2; ++band)
    state.append({most, i32(0), i32(0), most});
  bool hasFailed = false;
  Value isThere = compare(Predicate::ult, warp, ceilDiv(rows, op.getTile()));
  onlyIf(isThere, [&] {
    Value first = mul(warp, op.getTile());
    Value end = min(add(first, constant(op.getTile())), rows);
    Value last = arith::SubIOp::create(builder, loc, end, constant(1));
    state = loop(first, end, kLanes, state, [&](Value row, ValueRange s) {
      // Lanes past the end look at the last row once more.
      FailureOr<SmallVector<Value>> next =
          takeRow(op, at, min(add(row, lane), last), s);
      hasFailed |= failed(next);
      return hasFailed ? SmallVector<Value>(s) : *next;
    });
    for (auto [i, bound] : llvm::enumerate(state)) {
      bool isMost = i % 4 == 1 || i % 4 == 2;
      bound = reduce(isMost ? Reduction::MAXSI : Reduction::MINSI, bound);
    }
    onlyIf(compare(Predicate::eq, lane, constant(0)), [&] {
      SmallVector<Value> place(at);
      place.push_back(Value());
      for (auto [i, bound] : llvm::enumerate(state)) {
        place.back() = constant(i);
        // Without a row that sees a key the range is [0, 0).
        insert(i % 4 == 0 ? min(bound, state[i + 1]) : bound,
               prologueViews[number].front(), place);
      }
    });
  });
  this->end();
  return failure(hasFailed);
}

//===----------------------------------------------------------------------===//
// The order of the tiles of rows
//===----------------------------------------------------------------------===//

/// The keys that a tile of rows sees, in its bands or as blocks of its lists,
/// i32.
Value PrologueBuilder::countKeys(Operation *op, Value batch, Value tile) {
  ArrayRef<Value> views = prologueViews[number];
  Value zero = constant(0), at[] = {batch, zero, tile};
  auto bounds = dyn_cast<KeyBoundsOp>(op);
  if (!bounds) {
    Value full = extract(views[0], at);
    return add(full, extract(views[2], at));
  }
  Value keys = i32(0);
  for (size_t band = 0; band < bounds.getBounds().size() / 2; ++band) {
    auto bound = [&](int64_t i) {
      return extract(views.front(),
                     {batch, zero, tile, constant(4 * band + i)});
    };
    Value end = bound(1);
    keys =
        add(keys, arith::SubIOp::create(builder, loc, end, min(bound(0), end)));
  }
  return keys;
}

/// Writes the number of each tile to its place in the order: behind those with
/// more keys, and those of higher numbers with as many.
LogicalResult PrologueBuilder::buildTileOrder(Operation *op,
                                              const Twine &name) {
  if (failed(begin(op, name)))
    return failure();
  Value tilesOfBatch = ceilDiv(values.lookup(op->getOperand(kLoopM)),
                               attention.getTilePositions());
  Value tiles = arith::MulIOp::create(builder, loc, tilesOfBatch,
                                      values.lookup(op->getOperand(kLoopB)));
  bool isOfBatches = getTileOrder(attention)->isOfBatches;
  auto count = [&](Value tile) {
    if (!isOfBatches)
      return countKeys(op, constant(0), tile);
    Value batch = arith::DivUIOp::create(builder, loc, tile, tilesOfBatch);
    return countKeys(op, batch,
                     arith::RemUIOp::create(builder, loc, tile, tilesOfBatch));
  };
  onlyIf(compare(Predicate::ult, warp, tiles), [&] {
    Value keys = count(warp);
    Value last = arith::SubIOp::create(builder, loc, tiles, constant(1));
    Value begin = constant(0);
    SmallVector<Value> before =
        loop(begin, tiles, kLanes, i32(0),
             [&](Value first, ValueRange state) -> SmallVector<Value> {
               Value other = add(first, lane);
               Value more = count(min(other, last));
               Value isLater = compare(Predicate::ugt, other, warp);
               Value hasMore = compare(Predicate::sgt, more, keys);
               Value hasSame = compare(Predicate::eq, more, keys);
               Value isBefore = arith::OrIOp::create(
                   builder, loc, hasMore,
                   arith::AndIOp::create(builder, loc, hasSame, isLater));
               Value exists = compare(Predicate::ult, other, tiles);
               Value counts =
                   arith::AndIOp::create(builder, loc, isBefore, exists);
               return {add(state[0], toI32(counts))};
             });
    Value place = reduce(Reduction::ADD, before[0]);
    onlyIf(compare(Predicate::eq, lane, constant(0)), [&] {
      Value at = arith::IndexCastOp::create(builder, loc,
                                            builder.getIndexType(), place);
      insert(toI32(warp), prologueViews[number].back(), at);
    });
  });
  end();
  return success();
}

LogicalResult attn::buildPrologueKernels(OpBuilder &builder,
                                         TiledAttention &attention,
                                         StringRef name) {
  for (unsigned number = 0; number < attention.prologue.size(); ++number) {
    Operation *prologue = attention.prologue[number].op;
    auto make = [&] { return PrologueBuilder(builder, attention, number); };
    auto named = [&](StringRef suffix) {
      return getPrologueName(name + suffix, number);
    };
    LogicalResult result = success();
    if (auto check = dyn_cast<DeviceAssertOp>(prologue)) {
      result = buildAssertKernel(builder, attention, check, named("_assert"));
    } else if (auto append = dyn_cast<AppendOp>(prologue)) {
      result = buildAppendKernel(builder, attention, append, named("_append"));
    } else if (auto merge = dyn_cast<MergeOp>(prologue)) {
      result = buildMergeKernel(builder, attention, merge, name);
    } else if (getRowSource(prologue)) {
      result = buildRowKernel(builder, attention, prologue, named("_rows"));
    } else if (auto op = dyn_cast<CreateBlockMaskOp>(prologue)) {
      result = make().buildBlockStates(op, named("_block_states"));
      if (succeeded(result))
        result = make().buildBlockLists(op, named("_block_lists"));
    } else {
      result = make().buildKeyBounds(cast<KeyBoundsOp>(prologue),
                                     named("_key_bounds"));
    }
    if (succeeded(result) && attention.prologue[number].ordersTiles)
      result = make().buildTileOrder(prologue, named("_tile_order"));
    if (failed(result))
      return failure();
  }
  return attention.worklist
             ? buildPlanKernel(builder, attention, (name + "_plan").str())
             : success();
}
