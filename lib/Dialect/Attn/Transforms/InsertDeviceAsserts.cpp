//===- InsertDeviceAsserts.cpp - Checks of what kernels read --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AssertBuilder.h"

#include "attn/Dialect/Attn/IR/Views.h"
#include "attn/Dialect/Attn/Transforms/ExtractAttention.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "llvm/ADT/SetVector.h"

namespace attn {
#define GEN_PASS_DEF_INSERTDEVICEASSERTSPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
struct InsertDeviceAsserts
    : public attn::impl::InsertDeviceAssertsPassBase<InsertDeviceAsserts> {
  using Base::Base;

  void runOnOperation() override {
    auto check = [&](auto op) {
      if (op.hasMaskMod())
        numAsserts +=
            buildMaskAsserts(op, op.getQuery(), op.getKey(), op.getMaskMod());
    };
    getOperation().walk([&](AttentionOp op) {
      OperandAsserts builder(op);
      numAsserts +=
          builder.checkLengths(op.getQueryLengths(), op.getQuery(), "query");
      numAsserts +=
          builder.checkLengths(op.getKeyLengths(), op.getKey(), "key");
      for (Value operand : {op.getKey(), op.getValue()})
        if (PagedOp paged = getPages(operand))
          numAsserts += builder.checkTable(paged, op.getKeyLengths());
      numAsserts += checkMaps(builder, op.getKey(), op.getValue());
      numAsserts += checkRows(builder, op);
      numAsserts += checkDescales(builder, op, op.getDescales());
      llvm::SmallPtrSet<Operation *, 3> views;
      for (Value operand : {op.getQuery(), op.getKey(), op.getValue()})
        if (RaggedOp view = getRagged(operand);
            view && views.insert(view).second)
          numAsserts += builder.checkSequences(view);
      check(op);
    });
    getOperation().walk([&](AppendOp op) {
      OperandAsserts builder(op);
      numAsserts += builder.checkSlots(op);
      for (Value descale : op.getDescales())
        numAsserts += builder.checkDescale(op, descale, /*isDivisor=*/true);
    });
    getOperation().walk([&](AttentionBackwardOp op) {
      OperandAsserts builder(op);
      numAsserts += checkMaps(builder, op.getKey(), op.getValue());
      numAsserts += checkSums(builder, op);
      numAsserts += checkDescales(builder, op, op.getDescales());
      check(op);
    });
  }

private:
  /// Each of the descales once.
  static int64_t checkDescales(OperandAsserts &builder, Operation *op,
                               ValueRange descales) {
    int64_t count = 0;
    for (Value descale :
         llvm::SetVector<Value>(descales.begin(), descales.end()))
      count += builder.checkDescale(op, descale);
    return count;
  }

  /// What makes the rows of queries, keys and values: the positions that they
  /// are turned by, and their descales.
  static int64_t checkRows(OperandAsserts &builder, AttentionOp op) {
    int64_t count = 0;
    llvm::SmallPtrSet<Value, 4> checked;
    for (Value rows : op->getOperands()) {
      if (RaggedOp ragged = getRagged(rows))
        rows = ragged.getPacked();
      for (Value source; (source = getRowSource(rows.getDefiningOp()));
           rows = source) {
        auto rotary = rows.getDefiningOp<RotaryOp>();
        if (rotary && rotary.getPositions() &&
            checked.insert(rotary.getPositions()).second)
          count += builder.checkPositions(rotary);
        auto wide = rows.getDefiningOp<DequantizeOp>();
        if (wide && wide.getDescale() &&
            checked.insert(wide.getDescale()).second)
          count += builder.checkDescale(wide, wide.getDescale());
      }
    }
    return count;
  }

  /// The head maps of keys and values, one that both have once.
  static int64_t checkMaps(OperandAsserts &builder, Value key, Value value) {
    int64_t count = 0;
    Value checked;
    for (Value operand : {key, value})
      if (auto view = operand.getDefiningOp<SelectHeadsOp>();
          view && view.getMap() != checked) {
        count +=
            builder.checkHeads(view, view.getMap(), view.getSource(), "source");
        checked = view.getMap();
      }
    return count;
  }

  /// The maps of sums of gradients that kernels make, unless they are those of
  /// the views, which are checked.
  static int64_t checkSums(OperandAsserts &builder, AttentionBackwardOp op) {
    int64_t count = 0;
    for (SumHeadsOp sum : getHeadSums(op)) {
      Value operand =
          sum.getSource() == op.getDKey() ? op.getKey() : op.getValue();
      auto view = operand.getDefiningOp<SelectHeadsOp>();
      if (view.getMap() != sum.getMap())
        count += builder.checkHeads(sum, sum.getMap(), view.getSource(),
                                    "destination");
    }
    return count;
  }
};
} // namespace
