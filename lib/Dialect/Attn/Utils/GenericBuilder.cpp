//===- GenericBuilder.cpp - linalg.generic by names of loops ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Utils/GenericBuilder.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace attn;

Value attn::buildGeneric(ImplicitLocOpBuilder &b, ValueRange operands,
                         ArrayRef<LoopsOfDims> loops, Value init,
                         ArrayRef<unsigned> initLoops,
                         llvm::function_ref<Value(ValueRange)> body) {
  unsigned count = initLoops.size();
  for (ArrayRef<unsigned> own : loops)
    for (unsigned loop : own)
      count = std::max(count, loop + 1);
  SmallVector<AffineMap> maps;
  for (ArrayRef<unsigned> own : loops)
    maps.push_back(
        AffineMap::getMultiDimMapWithTargets(count, own, b.getContext()));
  maps.push_back(
      AffineMap::getMultiDimMapWithTargets(count, initLoops, b.getContext()));
  SmallVector<utils::IteratorType> iterators(count,
                                             utils::IteratorType::reduction);
  for (unsigned loop : initLoops)
    iterators[loop] = utils::IteratorType::parallel;
  auto made = linalg::GenericOp::create(
      b, TypeRange(init.getType()), operands, ValueRange(init), maps, iterators,
      [&](OpBuilder &inner, Location, ValueRange args) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(inner.getInsertionBlock());
        linalg::YieldOp::create(b, body(args));
      });
  return made.getResult(0);
}
