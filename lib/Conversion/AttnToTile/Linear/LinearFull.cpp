//===- LinearFull.cpp - Kernels where all rows see all keys -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A CTA of the first kernel adds up K^T V of all chunks of keys, from the given
// state on, and writes it, rounded, as a factor; one of the second kernel
// multiplies the chunks of rows by it.
//
//===----------------------------------------------------------------------===//

#include "Linear/LinearScope.h"

#include "Kernel/KernelScope.h"

using namespace mlir;
using namespace attn;

namespace {
class FullKernelBuilder : LinearScope {
public:
  FullKernelBuilder(OpBuilder &builder, const LinearKernels &kernels)
      : LinearScope(builder, kernels) {}

  void buildState(StringRef name);
  void buildRows(StringRef name);
};
} // namespace

void FullKernelBuilder::buildState(StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  beginKernel(name);
  Value keys = dim(op.getKey(), kSequence);
  ValueRange ends = loop(
      keys, ValueRange(buildFirstState()), [&](Value row, ValueRange state) {
        Value key = loadKey(row), value = loadValue(row);
        return SmallVector<Value>{multiply(transposeKey(key), value,
                                           /*transposeB=*/false, state[0])};
      });
  Value state = ends[0];
  tile::StoreOp::create(builder, loc, state, workspace,
                        atColumn({batch, head, constant(0)}));
  storeState(state);
  tile::ReturnOp::create(builder, loc);
}

void FullKernelBuilder::buildRows(StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  beginKernel(name);
  Value state =
      loadTile(builder, loc, workspace, atColumn({batch, head, constant(0)}),
               kernels.stateRows, kernels.getColumns());
  loop(dim(op.getQuery(), kSequence), {}, [&](Value row, ValueRange) {
    Value query = loadQuery(row);
    storeOutput(multiply(query, state, /*transposeB=*/false,
                         createZeros(kernels.getChunk())),
                row);
    return SmallVector<Value>();
  });
  tile::ReturnOp::create(builder, loc);
}

void attn::buildStateKernel(OpBuilder &builder, const LinearKernels &kernels,
                            StringRef name) {
  FullKernelBuilder(builder, kernels).buildState(name);
}

void attn::buildRowKernel(OpBuilder &builder, const LinearKernels &kernels,
                          StringRef name) {
  FullKernelBuilder(builder, kernels).buildRows(name);
}
