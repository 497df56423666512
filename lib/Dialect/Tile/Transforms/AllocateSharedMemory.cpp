//===- AllocateSharedMemory.cpp - Give each shared tile its place -*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Tile/Transforms/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

namespace attn::tile {
#define GEN_PASS_DEF_ALLOCATESHAREDMEMORYPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn::tile;

/// A swizzle repeats after eight of its rows; ldmatrix and TMA count from
/// there. Tiles have whole such blocks, so that this seldom pads.
static int64_t getAlignment(SharedType type) { return 8 * type.getSwizzle(); }

namespace {
struct AllocateSharedMemoryPass
    : public attn::tile::impl::AllocateSharedMemoryPassBase<
          AllocateSharedMemoryPass> {
  using AllocateSharedMemoryPassBase::AllocateSharedMemoryPassBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    Builder builder(&getContext());
    int64_t bytes = 0;
    kernel.walk([&](AllocOp alloc) {
      SharedType type = alloc.getBuffer().getType();
      bytes = llvm::alignTo(bytes, getAlignment(type));
      alloc.setOffset(bytes);
      bytes += type.getStages() * type.getTileBytes();
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
