//===- JoinConditions.cpp - The bounds of a mask as one predicate ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace attn {
#define GEN_PASS_DEF_JOINCONDITIONS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

/// What must hold for `condition`, those that are asked only here apart.
static void collectConditions(Value condition, SmallVectorImpl<Value> &own,
                              SmallVectorImpl<Value> &shared) {
  auto both = condition.getDefiningOp<arith::AndIOp>();
  if (both && both->hasOneUse()) {
    collectConditions(both.getLhs(), own, shared);
    collectConditions(both.getRhs(), own, shared);
    return;
  }
  bool isOwn =
      condition.hasOneUse() && condition.getDefiningOp<arith::CmpIOp>();
  (isOwn ? own : shared).push_back(condition);
}

/// Both as one predicate. PTX ISA, "Logic and Shift Instructions: and".
static Value join(OpBuilder &builder, Value a, Value b) {
  auto joined = LLVM::InlineAsmOp::create(
      builder, a.getLoc(), a.getType(), ValueRange{a, b},
      "and.pred $0, $1, $2;", "=b,b,b", /*has_side_effects=*/false,
      /*is_align_stack=*/false, LLVM::TailCallKind::None,
      /*asm_dialect=*/LLVM::AsmDialectAttr(), /*operand_attrs=*/ArrayAttr());
  return joined.getRes();
}

/// Joins the conditions that only `select` asks; true if there are some.
static bool joinConditions(arith::SelectOp select) {
  SmallVector<Value> own, shared;
  collectConditions(select.getCondition(), own, shared);
  if (!select.getType().isF32() || own.size() < 2)
    return false;
  OpBuilder builder(select);
  Value condition = own.front();
  for (Value next : ArrayRef(own).drop_front())
    condition = join(builder, condition, next);
  for (Value next : shared)
    condition =
        arith::AndIOp::create(builder, select.getLoc(), next, condition);
  select.getConditionMutable().assign(condition);
  return true;
}

namespace {
struct JoinConditions : public attn::impl::JoinConditionsBase<JoinConditions> {
  void runOnOperation() override {
    getOperation().walk(
        [&](arith::SelectOp select) { numJoined += joinConditions(select); });
  }
};
} // namespace
