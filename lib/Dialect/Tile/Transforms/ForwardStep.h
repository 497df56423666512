//===- ForwardStep.h - The parts of a forward's key loop --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tells the parts of a step apart by what they depend on, whatever its row
// reduction is. Private to lib/Dialect/Tile/Transforms.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_TILE_TRANSFORMS_FORWARDSTEP_H
#define LIB_DIALECT_TILE_TRANSFORMS_FORWARDSTEP_H

#include "attn/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attn::tile {

/// A product of a step: wait for the tile, multiply, wait, give the tile back.
struct Product {
  MbarrierWaitOp full;
  ClearRowsOp clear; ///< null if all rows of the tile exist
  StageOp stage;
  MmaAsyncOp mma;
  MmaWaitOp wait;
  MbarrierArriveOp done;

  static std::optional<Product> match(MmaAsyncOp mma);
  bool contains(mlir::Operation *op) {
    return op == full || op == clear || op == stage || op == mma ||
           op == wait || op == done;
  }
};

/// The ops of a key loop's body, by what they are for.
struct ForwardStep {
  mlir::scf::ForOp loop;
  Product scores, output;
  llvm::SmallVector<mlir::Operation *> scalars; ///< stages, coordinates
  llvm::SmallVector<mlir::Operation *>
      mods; ///< masks: from the product to the scores
  llvm::SmallVector<mlir::Operation *>
      weights; ///< from the scores to row values and P
  llvm::SmallVector<mlir::Operation *>
      rescale; ///< what changes the accumulator
  /// What adds the product with V to the accumulator and rescales that; null
  /// where the product itself is added to it.
  MapOp promotion;
  llvm::SmallVector<mlir::Operation *> operand; ///< P as an operand
  mlir::Value finalScores; ///< what the weights are made of
  llvm::SmallVector<mlir::Value>
      places; ///< scalars of the loop that they read, and values of mods

  static mlir::FailureOr<ForwardStep> match(mlir::scf::ForOp loop);

  /// What the accumulator is rescaled by when the product is added; null if by
  /// nothing, or before.
  mlir::Value getLateDecay();

  // Places in the loop's state: the accumulator is what the product with V
  // or its promotion gives, the tile's number is no fragment, the others are
  // row values.
  unsigned acc, number;
  llvm::SmallVector<unsigned> rows;
  mlir::Value state(unsigned i) { return loop.getRegionIterArg(i); }
  mlir::Value init(unsigned i) { return loop.getInitArgs()[i]; }
  mlir::Value yielded(unsigned i) {
    return loop.getBody()->getTerminator()->getOperand(i);
  }

private:
  mlir::LogicalResult findState();
  mlir::LogicalResult classify(mlir::Operation &op, bool &isWeight);
  void findPlaces();
};

} // namespace attn::tile

#endif // LIB_DIALECT_TILE_TRANSFORMS_FORWARDSTEP_H
