//===- HoistTileBuffers.cpp - Stack buffers out of loops --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-hoist-tile-buffers.
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace attn {
#define GEN_PASS_DEF_HOISTTILEBUFFERSPASS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
struct HoistTileBuffers
    : public attn::impl::HoistTileBuffersPassBase<HoistTileBuffers> {
  using Base::Base;

  void runOnOperation() override {
    getOperation().walk([&](memref::AllocaOp op) {
      auto function = op->getParentOfType<FunctionOpInterface>();
      if (!function || op->getNumOperands() != 0 ||
          op->getParentOp() == function)
        return;
      Block &entry = function.getFunctionBody().front();
      op->moveBefore(&entry, entry.begin());
      ++numHoisted;
    });
  }
};
} // namespace
