//===- ChainLaunches.cpp - Kernels that start before the last one ends ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-chain-launches: programmatic dependent launch (PTX ISA
// 9.7.13.13, griddepcontrol).
//
// A kernel waits for the whole kernel before it, which has waited for its own
// predecessor. So the end of one is the end of all before it, as long as every
// kernel of a chain waits, whether it reads what its predecessor wrote or not.
// Who comes next is let in after the wait: at most two kernels run at once.
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Launch/IR/Launch.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace attn {
#define GEN_PASS_DEF_CHAINLAUNCHES
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using NVVM::GridDepActionKind;

/// True if the op may reach global memory: kernels have it as tensors and
/// tensor maps only, of which a size is a parameter.
static bool touchesGlobalMemory(Operation *op) {
  return !isa<tile::DimOp>(op) &&
         llvm::any_of(op->getOperandTypes(),
                      llvm::IsaPred<tile::GlobalType, tile::TensorMapType>);
}

/// The first op of a kernel's own block in which a thread reaches global memory
/// or ends. What is before it, such as the initialisation of mbarriers,
/// overlaps with the kernel before.
static Operation *findFirstUse(tile::KernelOp kernel) {
  Block &body = kernel.getBody().front();
  for (Operation &op : body) {
    WalkResult walk = op.walk([](Operation *inner) {
      bool isUse = touchesGlobalMemory(inner) || isa<tile::ExitOp>(inner);
      return isUse ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return &op;
  }
  return body.getTerminator();
}

namespace {
struct ChainLaunches : public attn::impl::ChainLaunchesBase<ChainLaunches> {
  using ChainLaunchesBase::ChainLaunchesBase;

  void runOnOperation() override {
    // Programs may share a kernel: without a kernel before it, a wait is over
    // at once, and without one behind it nobody is let in.
    SetVector<tile::KernelOp> followers, predecessors;
    SymbolTable symbols(getOperation());
    for (auto program : getOperation().getOps<launch::ProgramOp>()) {
      launch::LaunchOp last;
      program.walk([&](launch::LaunchOp launch) {
        auto kernel = symbols.lookup<tile::KernelOp>(launch.getKernel());
        if (last && kernel) {
          launch.setProgrammatic(true);
          followers.insert(kernel);
          if (auto before = symbols.lookup<tile::KernelOp>(last.getKernel()))
            predecessors.insert(before);
          ++numChained;
        }
        last = launch;
      });
    }
    for (tile::KernelOp kernel : getOperation().getOps<tile::KernelOp>())
      insertControl(kernel, followers.contains(kernel),
                    predecessors.contains(kernel));
  }

private:
  static void insertControl(tile::KernelOp kernel, bool waits, bool letsIn) {
    Operation *first = findFirstUse(kernel);
    OpBuilder builder(first);
    if (waits)
      NVVM::GriddepcontrolOp::create(builder, kernel.getLoc(),
                                     GridDepActionKind::wait);
    // Guests may take the tensor memory that their host does not have yet, and
    // keep it while they wait for the host's end.
    for (auto alloc : kernel.getBody().getOps<tile::AllocTensorsOp>())
      if (!alloc->isBeforeInBlock(first))
        builder.setInsertionPointAfter(alloc);
    if (letsIn)
      NVVM::GriddepcontrolOp::create(builder, kernel.getLoc(),
                                     GridDepActionKind::launch_dependents);
  }
};
} // namespace
