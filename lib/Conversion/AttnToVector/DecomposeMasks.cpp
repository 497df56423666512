//===- DecomposeMasks.cpp - Masks that read data, on a CPU ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-decompose-masks: block lists, bounds of row tiles and
// searches as scf loops over tensors.
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/IndexRanges.h"
#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/Utils/LookupBuilder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <limits>

namespace attn {
#define GEN_PASS_DEF_DECOMPOSEMASKSPASS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

using Values = SmallVector<Value>;

namespace {
/// Emits index arithmetic and loops.
class Emitter {
public:
  Emitter(Operation *op) : b(op->getLoc(), op) {}

protected:
  using Body = llvm::function_ref<Values(Value iv, ValueRange state)>;

  Value index(int64_t number) {
    return arith::ConstantIndexOp::create(b, number);
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value mul(Value x, Value y) { return arith::MulIOp::create(b, x, y); }
  Value min(Value x, Value y) { return arith::MinSIOp::create(b, x, y); }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, predicate, x, y);
  }
  Value toIndex(Value x) {
    return arith::IndexCastOp::create(b, b.getIndexType(), x);
  }
  Value toI32(Value x) {
    return arith::IndexCastOp::create(b, b.getI32Type(), x);
  }
  Value ceilDiv(Value x, int64_t y) {
    return arith::CeilDivUIOp::create(b, x, index(y));
  }

  /// for iv in [lower, upper): state = body(iv, state).
  Values loop(Value lower, Value upper, Values state, Body body) {
    auto made = scf::ForOp::create(b, lower, upper, index(1), state);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(made.getBody());
    scf::YieldOp::create(
        b, body(made.getInductionVar(), made.getRegionIterArgs()));
    return Values(made.getResults());
  }

  /// What a region yields.
  Value inlineRegion(Region &region, ValueRange arguments) {
    IRMapping mapping;
    mapping.map(region.getArguments(), arguments);
    for (Operation &op : region.front().without_terminator())
      b.clone(op, mapping);
    return mapping.lookupOrDefault(
        cast<YieldOp>(region.front().getTerminator()).getValue());
  }

  /// An empty tensor of a type, whose dimensions have these sizes.
  Value empty(Type type, ArrayRef<Value> sizes) {
    auto tensor = cast<RankedTensorType>(type);
    Values dynamic;
    for (auto [dim, size] : llvm::enumerate(sizes))
      if (tensor.isDynamicDim(dim))
        dynamic.push_back(size);
    return tensor::EmptyOp::create(b, tensor, dynamic);
  }

  ImplicitLocOpBuilder b;
};

//===----------------------------------------------------------------------===//
// Block lists
//===----------------------------------------------------------------------===//

class BlockMaskEmitter : Emitter {
public:
  BlockMaskEmitter(CreateBlockMaskOp op) : Emitter(op), op(op) {}
  Values emit();

private:
  Values emitRowBlock(ValueRange at, Values lists);
  std::pair<Value, Value> emitBlock(ValueRange at, Value block);

  CreateBlockMaskOp op;
  Value keyBlocks;
};
} // namespace

/// Whether some pair of a block is visible, and whether all are.
std::pair<Value, Value> BlockMaskEmitter::emitBlock(ValueRange at,
                                                    Value block) {
  Value rowSize = index(op.getBlock()[0]), keySize = index(op.getBlock()[1]);
  Value firstRow = mul(at[2], rowSize), firstKey = mul(block, keySize);
  Value rowEnd = min(add(firstRow, rowSize), op.getRows());
  Value keyEnd = min(add(firstKey, keySize), op.getKeys());
  Value no = arith::ConstantIntOp::create(b, 0, 1);
  Value yes = arith::ConstantIntOp::create(b, 1, 1);
  auto lookAtRow = [&](Value row, ValueRange seen) {
    return loop(firstKey, keyEnd, seen, [&](Value key, ValueRange state) {
      Value visible = inlineRegion(op.getMaskMod(), {at[0], at[1], row, key});
      return Values{arith::OrIOp::create(b, state[0], visible),
                    arith::AndIOp::create(b, state[1], visible)};
    });
  };
  Values result =
      loop(firstRow, rowEnd, {no, yes}, [&](Value row, ValueRange seen) {
        // Once both kinds of pairs have been seen, nothing can change.
        Value isMixed = arith::AndIOp::create(
            b, seen[0], arith::XOrIOp::create(b, seen[1], yes));
        auto choice = scf::IfOp::create(b, TypeRange(seen), isMixed,
                                        /*withElseRegion=*/true);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(choice.thenBlock());
        scf::YieldOp::create(b, seen);
        b.setInsertionPointToStart(choice.elseBlock());
        scf::YieldOp::create(b, lookAtRow(row, seen));
        return Values(choice.getResults());
      });
  return {result[0], result[1]};
}

/// Fills the lists of one row block at (b, h, r).
Values BlockMaskEmitter::emitRowBlock(ValueRange at, Values lists) {
  Values state = {index(0), lists[1], index(0), lists[3]};
  state = loop(index(0), keyBlocks, state, [&](Value block, ValueRange s) {
    auto [some, all] = emitBlock(at, block);
    Value yes = arith::ConstantIntOp::create(b, 1, 1);
    Value isPartial =
        arith::AndIOp::create(b, some, arith::XOrIOp::create(b, all, yes));
    Value isFull = arith::AndIOp::create(b, some, all);
    Values next;
    for (auto [list, isOne] : {std::pair(0, isPartial), std::pair(2, isFull)}) {
      // Always written, but kept only if it counts.
      Value count = s[list];
      Value filled = tensor::InsertOp::create(
          b, toI32(block), s[list + 1], ValueRange{at[0], at[1], at[2], count});
      Value one = arith::IndexCastUIOp::create(b, b.getIndexType(), isOne);
      next.push_back(add(count, one));
      next.push_back(filled);
    }
    return next;
  });
  for (int list : {0, 2}) {
    lists[list] =
        tensor::InsertOp::create(b, toI32(state[list]), lists[list], at);
    lists[list + 1] = state[list + 1];
  }
  return lists;
}

Values BlockMaskEmitter::emit() {
  Value rowBlocks = ceilDiv(op.getRows(), op.getBlock()[0]);
  keyBlocks = ceilDiv(op.getKeys(), op.getBlock()[1]);
  Value room = arith::MaxSIOp::create(b, keyBlocks, index(1));
  Value sizes[] = {op.getBatches(), op.getHeads(), rowBlocks, room};
  Values lists;
  for (OpResult result : op->getResults())
    lists.push_back(empty(result.getType(),
                          ArrayRef(sizes).take_front(
                              cast<ShapedType>(result.getType()).getRank())));
  return loop(index(0), sizes[0], lists, [&](Value batch, ValueRange l0) {
    return loop(index(0), sizes[1], l0, [&](Value head, ValueRange l1) {
      return loop(index(0), sizes[2], l1, [&](Value row, ValueRange l2) {
        return emitRowBlock({batch, head, row}, l2);
      });
    });
  });
}

//===----------------------------------------------------------------------===//
// Bounds of row tiles
//===----------------------------------------------------------------------===//

namespace {
class KeyBoundsEmitter : Emitter {
public:
  KeyBoundsEmitter(KeyBoundsOp op) : Emitter(op), op(op) {}
  Values emit();

private:
  Values emitRow(ValueRange at, Value row, ValueRange bounds);
  Value emitTile(ValueRange at, Value result);

  KeyBoundsOp op;
};
} // namespace

/// Takes a row into the four numbers of each band.
Values KeyBoundsEmitter::emitRow(ValueRange at, Value row, ValueRange bounds) {
  Values next;
  for (size_t band = 0; band < op.getBounds().size() / 2; ++band) {
    Value arguments[] = {at[0], at[1], row};
    auto getBound = [&](unsigned number) {
      Region &region = op.getBounds()[2 * band + number];
      return cutTo32Bits(b, b.getLoc(), inlineRegion(region, arguments));
    };
    Value lower = getBound(0), upper = getBound(1);
    ValueRange s = bounds.slice(4 * band, 4);
    Value sees = compare(arith::CmpIPredicate::slt, lower, upper);
    auto ifSees = [&](Value value, Value otherwise) -> Value {
      return arith::SelectOp::create(b, sees, value, otherwise);
    };
    next.push_back(ifSees(min(s[0], lower), s[0]));
    next.push_back(ifSees(arith::MaxSIOp::create(b, s[1], upper), s[1]));
    next.push_back(arith::MaxSIOp::create(b, s[2], lower));
    next.push_back(min(s[3], upper));
  }
  return next;
}

Value KeyBoundsEmitter::emitTile(ValueRange at, Value result) {
  Value most = index(std::numeric_limits<int32_t>::max()), none = index(0);
  Values state;
  for (size_t band = 0; band < op.getBounds().size() / 2; ++band)
    state.append({most, none, none, most});
  Value first = mul(at[2], index(op.getTile()));
  Value end = min(add(first, index(op.getTile())), op.getRows());
  state = loop(first, end, state, [&](Value row, ValueRange bounds) {
    return emitRow(at, row, bounds);
  });
  for (auto [number, bound] : llvm::enumerate(state)) {
    Value key = toI32(number % 4 == 0 ? min(bound, state[number + 1]) : bound);
    result = tensor::InsertOp::create(
        b, key, result, ValueRange{at[0], at[1], at[2], index(number)});
  }
  return result;
}

Values KeyBoundsEmitter::emit() {
  Value tiles = ceilDiv(op.getRows(), op.getTile());
  Value sizes[] = {op.getBatches(), op.getHeads(), tiles, Value()};
  Values init = {empty(op.getType(), sizes)};
  return loop(index(0), sizes[0], init, [&](Value batch, ValueRange r0) {
    return loop(index(0), sizes[1], r0, [&](Value head, ValueRange r1) {
      return loop(index(0), sizes[2], r1, [&](Value tile, ValueRange r2) {
        return Values{emitTile({batch, head, tile}, r2[0])};
      });
    });
  });
}

//===----------------------------------------------------------------------===//
// Searches
//===----------------------------------------------------------------------===//

namespace {
class SearchEmitter : Emitter {
public:
  SearchEmitter(Operation *op) : Emitter(op) {}

  Values emit(SegmentOp op) {
    Value entries = tensor::DimOp::create(b, op.getOffsets(), int64_t(0));
    return {buildSegment(b, b.getLoc(), entries, op.getPosition(),
                         readerOf(op.getOffsets(), {}))};
  }

  Values emit(BlockListedOp op) {
    auto type = op.getNumBlocks().getType();
    Values at;
    for (auto [dim, position] :
         llvm::enumerate(ValueRange{op.getBatch(), op.getHead()}))
      at.push_back(type.getDimSize(dim) == 1 ? index(0) : position);
    at.push_back(
        arith::DivUIOp::create(b, op.getRow(), index(op.getBlock()[0])));
    Value block =
        arith::DivUIOp::create(b, op.getKey(), index(op.getBlock()[1]));
    Value count = toIndex(tensor::ExtractOp::create(b, op.getNumBlocks(), at));
    return {buildBlockListed(b, b.getLoc(), count, block,
                             readerOf(op.getIndices(), at))};
  }

private:
  static std::function<Value(OpBuilder &, Value)> readerOf(Value tensor,
                                                           Values at) {
    return [=](OpBuilder &builder, Value position) -> Value {
      Values indices(at);
      indices.push_back(position);
      Location loc = tensor.getLoc();
      return arith::IndexCastOp::create(
          builder, loc, builder.getIndexType(),
          tensor::ExtractOp::create(builder, loc, tensor, indices));
    };
  }
};

struct DecomposeMasks
    : public attn::impl::DecomposeMasksPassBase<DecomposeMasks> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(rejectDeviceAsserts()))
      return signalPassFailure();
    // Inner ops last: the regions of the others hold searches.
    decompose<CreateBlockMaskOp, BlockMaskEmitter>();
    decompose<KeyBoundsOp, KeyBoundsEmitter>();
    decomposeSearches<SegmentOp>();
    decomposeSearches<BlockListedOp>();
  }

private:
  LogicalResult rejectDeviceAsserts() {
    WalkResult result =
        getOperation().walk(
            [](DeviceAssertOp op) {
              op.emitOpError()
                  << "expected a GPU: on the CPU, attn-run --verify checks "
                     "what masks read";
              return WalkResult::interrupt();
            });
    return failure(result.wasInterrupted());
  }

  template <typename OpTy, typename EmitterTy>
  void decompose() {
    getOperation().walk([&](OpTy op) { replace(op, EmitterTy(op).emit()); });
  }

  template <typename OpTy>
  void decomposeSearches() {
    getOperation().walk(
        [&](OpTy op) { replace(op, SearchEmitter(op).emit(op)); });
  }

  void replace(Operation *op, ValueRange results) {
    op->replaceAllUsesWith(results);
    op->erase();
    ++numDecomposed;
  }
};
} // namespace
