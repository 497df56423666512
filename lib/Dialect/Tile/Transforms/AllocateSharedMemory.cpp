//===- AllocateSharedMemory.cpp - Give each shared tile its place -*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Tile/Transforms/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

namespace attn::tile {
#define GEN_PASS_DEF_ALLOCATESHAREDMEMORYPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn::tile;

/// A swizzle repeats every eight rows of a panel. Tiles have one row or
/// multiples of eight, so they are multiples of their alignment.
static int64_t getAlignment(AllocOp alloc) {
  SharedType type = alloc.getBuffer().getType();
  return (type.isVector() ? 1 : 8) * type.getSwizzle();
}

namespace {
struct AllocateSharedMemoryPass
    : public attn::tile::impl::AllocateSharedMemoryPassBase<
          AllocateSharedMemoryPass> {
  using AllocateSharedMemoryPassBase::AllocateSharedMemoryPassBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    Builder builder(&getContext());
    SmallVector<AllocOp> allocs;
    kernel.walk([&](AllocOp alloc) { allocs.push_back(alloc); });
    // The most aligned first: no gaps.
    llvm::stable_sort(allocs, [](AllocOp a, AllocOp b) {
      return getAlignment(a) > getAlignment(b);
    });
    int64_t bytes = 0;
    for (AllocOp alloc : allocs) {
      SharedType type = alloc.getBuffer().getType();
      alloc.setOffset(bytes);
      bytes += type.getStages() * type.getTileBytes();
    }
    kernel.walk([&](AllocMbarrierOp alloc) {
      alloc.setOffset(bytes);
      bytes += alloc.getBarrier().getType().getBytes();
    });
    kernel.walk([&](AllocTensorsOp alloc) {
      alloc.setOffset(bytes);
      bytes += AllocTensorsOp::kBytes;
    });
    if (bytes > limit) {
      kernel.emitOpError() << "expected at most " << limit.getValue()
                           << " bytes of shared memory, got " << bytes
                           << ": choose a smaller tile_n, tile_m or stages";
      return signalPassFailure();
    }
    kernel.setSharedBytes(bytes);
    numBytes += bytes;
  }
};
} // namespace
