//===- BoundWaits.cpp - Waits that give up ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-bound-waits: a kernel that would hang says where.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <limits>

namespace attn::tile {
#define GEN_PASS_DEF_BOUNDWAITSPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn::tile;

/// Between two tries; the instruction may take up to twice as long.
static constexpr int64_t kSleepNanoseconds = 100;

static Value constant(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIntOp::create(b, value, 32);
}

/// Asks for the phase of `wait` until it is complete or `tries` are over;
/// whether it is.
static Value buildTries(ImplicitLocOpBuilder &b, MbarrierWaitOp wait,
                        int64_t tries) {
  auto ask = [&](OpBuilder &builder, Location loc, ValueRange state) {
    ImplicitLocOpBuilder b(loc, builder);
    Value done = MbarrierTestOp::create(b, wait.getBarrier(), wait.getStage(),
                                        wait.getParity());
    Value goesOn = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                         state.front(), constant(b, tries));
    Value isFalse = arith::ConstantIntOp::create(b, 0, 1);
    goesOn = arith::SelectOp::create(b, done, isFalse, goesOn);
    scf::ConditionOp::create(b, goesOn, ValueRange{state.front(), done});
  };
  auto sleep = [&](OpBuilder &builder, Location loc, ValueRange state) {
    ImplicitLocOpBuilder b(loc, builder);
    NVVM::NanosleepOp::create(b, constant(b, kSleepNanoseconds));
    Value next = arith::AddIOp::create(b, state.front(), constant(b, 1));
    scf::YieldOp::create(b, next);
  };
  auto loop = scf::WhileOp::create(b, TypeRange{b.getI32Type(), b.getI1Type()},
                                   constant(b, 1), ask, sleep);
  return loop.getResult(1);
}

/// Replaces a wait, whose number in the kernel is `number`.
static void boundWait(MbarrierWaitOp wait, int64_t number, int64_t tries) {
  ImplicitLocOpBuilder b(wait.getLoc(), wait);
  Value isDone = buildTries(b, wait, tries);
  auto loop = wait->getParentOfType<scf::ForOp>();
  Value turn = loop ? loop.getInductionVar()
                    : Value(arith::ConstantIndexOp::create(b, 0));
  Value isTrue = arith::ConstantIntOp::create(b, 1, 1);
  Value isLost = arith::XOrIOp::create(b, isDone, isTrue);
  auto lost = scf::IfOp::create(b, isLost);
  b.setInsertionPointToStart(lost.thenBlock());
  GiveUpOp::create(b, number, wait.getBarrier(), wait.getStage(),
                   wait.getParity(), turn);
  wait.erase();
}

namespace {
struct BoundWaitsPass
    : public attn::tile::impl::BoundWaitsPassBase<BoundWaitsPass> {
  using BoundWaitsPassBase::BoundWaitsPassBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (tries < 1 || tries > std::numeric_limits<int32_t>::max()) {
      kernel.emitError("option tries: expected 1 to 2147483647, got ")
          << tries.getValue();
      return signalPassFailure();
    }
    SmallVector<MbarrierWaitOp> waits;
    kernel.walk([&](MbarrierWaitOp wait) { waits.push_back(wait); });
    for (auto [number, wait] : llvm::enumerate(waits))
      boundWait(wait, number, tries);
    numWaits += waits.size();
  }
};
} // namespace
