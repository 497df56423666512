//===- DeviceAsserts.cpp - Kernels that check data --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel/KernelScope.h"
#include "Launch/PrologueKernels.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;
using namespace attn;

namespace {

class AssertKernelBuilder : KernelScope {
public:
  AssertKernelBuilder(OpBuilder &builder, TiledAttention &attention,
                      DeviceAssertOp op)
      : KernelScope(builder, attention), op(op), loc(op.getLoc()) {}

  LogicalResult build(StringRef name);

private:
  void forEach(Value lower, Value upper, Value step,
               llvm::function_ref<void(Value)> body);
  LogicalResult check(Value outer, ValueRange sizes);

  DeviceAssertOp op;
  Location loc;
};

} // namespace

void AssertKernelBuilder::forEach(Value lower, Value upper, Value step,
                                  llvm::function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(builder, loc, lower, upper, step);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

/// Checks all points that have number `outer` without the last dimension.
LogicalResult AssertKernelBuilder::check(Value outer, ValueRange sizes) {
  SmallVector<Value> point(sizes.size());
  for (int64_t dim = int64_t(sizes.size()) - 2; dim >= 0; --dim) {
    point[dim] = arith::RemUIOp::create(builder, loc, outer, sizes[dim]);
    outer = arith::DivUIOp::create(builder, loc, outer, sizes[dim]);
  }
  bool hasFailed = false;
  auto checkPoint = [&] {
    FailureOr<Value> holds =
        mods.inlineRegion(op.getCondition(), Value(), point);
    hasFailed |= failed(holds);
    if (!hasFailed)
      cf::AssertOp::create(builder, loc, *holds, op.getMessage());
  };
  if (sizes.empty()) {
    checkPoint();
  } else {
    Value first = constant(0);
    forEach(first, sizes.back(), constant(1), [&](Value last) {
      point.back() = last;
      checkPoint();
    });
  }
  return failure(hasFailed);
}

LogicalResult AssertKernelBuilder::build(StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  FailureOr<tile::KernelOp> kernel = beginKernel(name, kPrologueWarps);
  if (failed(kernel) || failed(materializeOutside(op)))
    return failure();
  constexpr int64_t kThreads = 32 * kPrologueWarps;
  Value first = getBlockId(gpu::Dimension::x);
  first = arith::MulIOp::create(builder, loc, first, constant(kThreads));
  first = arith::AddIOp::create(
      builder, loc, first,
      gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x));
  SmallVector<Value> sizes;
  for (Value size : op.getSizes()) {
    FailureOr<Value> copy = materialize(size);
    if (failed(copy))
      return failure();
    sizes.push_back(*copy);
  }
  Value count = constant(1);
  for (Value size : ArrayRef(sizes).drop_back(sizes.empty() ? 0 : 1))
    count = arith::MulIOp::create(builder, loc, count, size);
  LogicalResult result = success();
  forEach(first, count, constant(kAssertCtas * kThreads),
          [&](Value outer) { result = check(outer, sizes); });
  tile::ReturnOp::create(builder, loc);
  return result;
}

LogicalResult attn::buildAssertKernel(OpBuilder &builder,
                                      TiledAttention &attention,
                                      DeviceAssertOp op, StringRef name) {
  return AssertKernelBuilder(builder, attention, op).build(name);
}
