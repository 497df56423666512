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

/// TMA's 128-byte swizzle repeats every 1024 bytes.
static constexpr int64_t kAlignmentBytes = 1024;

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
      alloc.setOffset(bytes);
      bytes += llvm::alignTo(type.getStages() * type.getTileBytes(),
                             kAlignmentBytes);
    });
    kernel.walk([&](AllocMbarrierOp alloc) {
      alloc.setOffset(bytes);
      bytes += alloc.getBarrier().getType().getBytes();
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
