//===- Corrector.h - A role that corrects O ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of --attn-tile-specialize-correction. Private to
// lib/Dialect/Tile/Transforms.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_TILE_TRANSFORMS_CORRECTOR_H
#define LIB_DIALECT_TILE_TRANSFORMS_CORRECTOR_H

#include "CorrectedOutput.h"
#include "KeyStream.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace attn::tile {

/// Where the products' thread waits for the weights of a warpgroup, whose
/// product it adds to the output, in a step of a loop.
struct Addition {
  MbarrierWaitOp wait;
  int64_t group;

  mlir::scf::ForOp getLoop() const {
    return mlir::cast<mlir::scf::ForOp>(MbarrierWaitOp(wait)->getParentOp());
  }
  /// If it is the first one of a tile.
  mlir::Value getFirstStep() const {
    mlir::scf::ForOp loop = getLoop();
    return loop.getInitArgs()[*findStepCounter(loop)];
  }
};

/// What `compute` makes of each of the numbers `rows`, f32.
mlir::Value mapRows(mlir::OpBuilder &builder, mlir::Value rows,
                    llvm::function_ref<mlir::Value(mlir::Value)> compute);

class Corrector {
public:
  Corrector(KernelOp kernel, RolesOp roles, mlir::Region &products)
      : kernel(kernel), roles(roles), products(products),
        consumer(roles.getConsumer()), builder(kernel.getContext()),
        output(roles), groups(kernel.getWarps() / RolesOp::kWarpgroupWarps) {}

  /// Why no other warpgroup can correct the output, or empty if one can.
  llvm::StringRef findObstacle();
  void specialize();

private:
  bool matchRescales();
  bool matchZeros();
  bool matchAdditions();
  void createBarriers();
  mlir::Value createVector();
  mlir::Value constant(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(builder, kernel.getLoc(),
                                                value);
  }
  mlir::Value getTileParity(mlir::Region &role);
  mlir::Value getStepStage(mlir::scf::ForOp loop, mlir::Value group);
  mlir::Value getStepParity(mlir::scf::ForOp loop);
  void waitFor(mlir::Value barrier, mlir::Value stage, mlir::Value parity) {
    MbarrierWaitOp::create(builder, kernel.getLoc(), barrier, stage, parity);
  }
  void arrive(mlir::Value barrier, mlir::Value stage);
  /// The same, of what a product will read and write in tensor memory.
  void arriveBehindTensors(mlir::Value barrier, mlir::Value stage) {
    FenceTensorsOp::create(builder, kernel.getLoc(), /*after=*/false);
    arrive(barrier, stage);
  }
  void tellRescale(mlir::scf::IfOp rescale);
  void tellOutput();
  void waitForCorrection(Addition addition, mlir::Value firstStep);
  void waitForTile(mlir::Value firstStep);
  void buildRole(mlir::Region &role);
  void buildStep(Addition addition, mlir::Value firstStep);
  void buildRescale(mlir::Value group);
  void buildZeros(mlir::Value group);
  void buildOutputs(mlir::Region &role);
  void buildEnd(mlir::Region &role);
  void stripConsumer();
  void divideRegisters();

  KernelOp kernel;
  RolesOp roles;
  mlir::Region &products;
  mlir::Region &consumer;
  mlir::OpBuilder builder;
  CorrectedOutput output;
  int64_t groups;
  mlir::Value sum; ///< the output in tensor memory
  llvm::SmallVector<mlir::scf::IfOp> rescales;
  StoreTensorOp zeros;
  llvm::SmallVector<Addition> additions;
  /// The factors of a step's rows, 1 where none of the warp's has risen.
  mlir::Value decays;
  /// Those are there, and the output is changed by them, of every other step.
  mlir::Value told, corrected;
  /// For a tile the output is zeros; the rows' vectors are free; are filled.
  mlir::Value ready, taken, ended;
  /// The products' thread has seen the tile's zeros, which may have no
  /// products.
  mlir::Value seen;
  llvm::SmallVector<mlir::Value> vectors; ///< of those rows
};

} // namespace attn::tile

#endif // LIB_DIALECT_TILE_TRANSFORMS_CORRECTOR_H
