//===- TensorMaps.cpp - Tensor maps as kernel parameters -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorMaps.h"

using namespace mlir;
using namespace attn::tile;

Value attn::tile::addTensorMap(KernelOp kernel, Value tensor, SharedType tile,
                               int64_t rows, int64_t heads) {
  auto mapped =
      llvm::to_vector(kernel.getMapped().value_or(ArrayRef<int64_t>()));
  auto mappedHeads =
      llvm::to_vector(kernel.getMappedHeads().value_or(ArrayRef<int64_t>()));
  mapped.push_back(cast<BlockArgument>(tensor).getArgNumber());
  mappedHeads.push_back(heads);
  kernel.setMapped(mapped);
  kernel.setMappedHeads(mappedHeads);
  return kernel.getBody().addArgument(TensorMapType::getFor(tile, rows),
                                      tensor.getLoc());
}
