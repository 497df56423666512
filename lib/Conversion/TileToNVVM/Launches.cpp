//===- Launches.cpp - What a launch must know of its kernel -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An attn_tile.kernel says how many threads and how much shared memory a CTA
// has, and which of its parameters are tensor maps of which others; its
// llvm.func does not.
//
//===----------------------------------------------------------------------===//

#include "Launches.h"

#include "attn/Dialect/Launch/IR/Launch.h"

using namespace mlir;
using namespace attn;
using namespace attn::launch;

/// Makes the tensor maps of the kernel, which are its last parameters.
static LogicalResult addTensorMaps(LaunchOp launch, tile::KernelOp kernel) {
  ArrayRef<int64_t> mapped = kernel.getMapped().value_or(ArrayRef<int64_t>());
  TypeRange parameters = kernel.getBody().getArgumentTypes();
  size_t maps = llvm::count_if(parameters, llvm::IsaPred<tile::TensorMapType>);
  bool areLast = llvm::all_of(parameters.take_back(maps),
                              llvm::IsaPred<tile::TensorMapType>);
  if (mapped.size() != maps || !areLast)
    return kernel.emitOpError()
           << "expected tensor maps to be the last parameters, and mapped to "
              "say of which others they are";
  OpBuilder builder(launch);
  for (auto [type, number, heads] :
       llvm::zip(parameters.take_back(maps), mapped,
                 kernel.getMappedHeads().value_or(ArrayRef<int64_t>()))) {
    Value tensor = launch.getArgs()[number];
    // Of operands only sequences behind each other have no batches.
    bool isPacked = cast<tile::GlobalType>(tensor.getType()).getRank() == 3;
    Value map = TensorMapOp::create(builder, launch.getLoc(), type, tensor,
                                    heads, isPacked);
    launch.getArgsMutable().append(map);
  }
  return success();
}

static LogicalResult completeLaunch(LaunchOp launch, tile::KernelOp kernel) {
  launch.setThreads(kernel.getThreads());
  if (kernel.getClusterCtas())
    launch.setClusterCtas(kernel.getClusterCtas());
  if (kernel.getSharedBytes())
    launch.setSharedBytes(kernel.getSharedBytes());
  return addTensorMaps(launch, kernel);
}

LogicalResult tile::completeLaunches(ModuleOp module) {
  SymbolTable symbols(module);
  WalkResult walk = module.walk([&](LaunchOp launch) {
    auto kernel = symbols.lookup<KernelOp>(launch.getKernel());
    if (kernel && failed(completeLaunch(launch, kernel)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}
