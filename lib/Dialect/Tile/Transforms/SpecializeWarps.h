//===- SpecializeWarps.h - Producer and consumer warps ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of --attn-tile-specialize-warps. Private to
// lib/Dialect/Tile/Transforms.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_TILE_TRANSFORMS_SPECIALIZEWARPS_H
#define LIB_DIALECT_TILE_TRANSFORMS_SPECIALIZEWARPS_H

#include "KeyStream.h"
#include "TensorProducts.h"
#include "attn/Schedule/Family.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace attn::tile {

/// A vector that comes with each tile of a channel.
struct VectorRing {
  unsigned number; ///< among the loads of a loop
  mlir::Value source, ring;
};

/// A tile, or a ring of stages, and its barriers.
struct Buffer {
  mlir::Value ring;
  mlir::Value full;  ///< the tile and its vectors are there
  mlir::Value empty; ///< all readers are done with it; null if loaded once
  int64_t stages = 0;
};

/// A tile that is loaded, once or for each step of the key stream.
struct Channel {
  unsigned number; ///< among the loads of a loop
  LoadOp load;     ///< of the first loop
  mlir::Value map;
  /// Where it is copied to, and where consumers read it: the same place, unless
  /// the producer transposes or widens it in between.
  Buffer copied, read;
  bool widens = false;
  llvm::SmallVector<VectorRing> vectors;

  bool isRewritten() const { return copied.ring != read.ring; }
};

/// What the producer makes of a loaded tile, which then has no other reader;
/// null if that is read as it is.
mlir::Operation *getRewriting(LoadOp load);

/// True for ops that only consumers run: those on tiles, and key loops.
bool isOfConsumers(mlir::Operation *op);

/// A place in the key stream: the number of the tile says which stage it is in,
/// and how often the ring has been filled before.
struct Ring {
  mlir::Value stage;
  mlir::Value parity; ///< of the phases of its barriers
};

class Specializer {
public:
  Specializer(KernelOp kernel, KeyStream stream, const attn::Schedule &schedule,
              int64_t stages)
      : kernel(kernel), stream(stream), builder(kernel.getContext()),
        family(attn::getFamily(schedule.mma)),
        producerWarps(family.getProducerWarps(schedule)), stages(stages),
        scoreStages(std::max(stages, schedule.scoreStages)),
        clusterCtas(schedule.clusterM * schedule.clusterN),
        hasOutputTile(schedule.outputTile),
        tiles(getTileLoop(kernel.getBody())) {}

  mlir::LogicalResult run();

private:
  mlir::LogicalResult createChannels();
  Channel createChannel(llvm::ArrayRef<LoadOp> loads, unsigned number,
                        int64_t stages, int64_t ctas);
  Buffer createBuffer(mlir::Location loc, SharedType tile, int64_t stages,
                      int64_t writers, int64_t readers);
  mlir::Value createRing(mlir::Location loc, SharedType tile, int64_t stages);
  mlir::Value createBarrier(mlir::Location loc, int64_t stages,
                            int64_t arrivals);
  bool rewrites() const {
    return llvm::any_of(
        streamed, [](const Channel &channel) { return channel.isRewritten(); });
  }
  bool looksUpPages() const {
    return llvm::any_of(streamed, [](const Channel &channel) {
      return LoadOp(channel.load).getTable() != nullptr;
    });
  }
  RolesOp createRoles();
  void buildProducer(RolesOp roles);
  void copyOuter(const Channel &channel, mlir::Value round,
                 mlir::IRMapping &mapping);
  void copyOuter(mlir::Value round, mlir::IRMapping &mapping);
  bool comesWithStream(const Channel &channel);
  void copyPartners(unsigned with, mlir::Value number,
                    mlir::IRMapping &mapping);
  void copyWithoutStream(mlir::IRMapping &mapping);
  mlir::Value copyStream(mlir::Value number, mlir::IRMapping &mapping);
  void copyTiles(mlir::Value number, mlir::Value count,
                 mlir::IRMapping &mapping);
  /// Where the boxes of a tile are: the indices of `copy_tma`, and its pages.
  struct Boxes {
    llvm::SmallVector<mlir::Value> indices, pages;
  };
  Boxes findBoxes(LoadOp load, llvm::ArrayRef<mlir::Value> place,
                  mlir::IRMapping &mapping);
  mlir::Value readEntry(mlir::Value table, mlir::Value batch,
                        mlir::Value column);
  void rewriteTiles(mlir::Value numberAfter, mlir::Value count,
                    mlir::IRMapping &mapping);
  void byOneThread(llvm::function_ref<void()> build);
  void moveToConsumer(RolesOp roles);
  void buildConsumer();
  mlir::Value agree(mlir::Value value);
  void agreeOnBounds();
  void countTiles(mlir::Value &number, mlir::Value &round);
  void useOuter(Channel &channel, mlir::Value round);
  void readInPlace(LoadOp load);
  void convertLoop(mlir::scf::ForOp loop, mlir::Value &number);
  void guardStage(const Channel &channel, llvm::ArrayRef<LoadOp> loads,
                  const Ring &ring);
  void clearMissingRows(MmaOp op);
  void convertMma(MmaOp op);
  Ring locate(mlir::Value number, int64_t ringStages);
  Ring locateTogether(mlir::Value number, int64_t ringStages);
  mlir::Value getParity(mlir::Value round);
  mlir::Value getPhaseBefore(mlir::Value parity);
  static llvm::SmallVector<mlir::Value> lookup(mlir::ValueRange values,
                                               mlir::IRMapping &mapping) {
    return llvm::map_to_vector(values, [&](mlir::Value value) {
      return mapping.lookupOrDefault(value);
    });
  }
  mlir::Value constant(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(builder, kernel.getLoc(),
                                                value);
  }

  KernelOp kernel;
  KeyStream stream;
  mlir::IRRewriter builder;
  const attn::Family &family;
  int64_t producerWarps;
  int64_t stages;
  int64_t scoreStages; ///< of the first tile of the stream
  int64_t clusterCtas; ///< that share the key stream
  bool hasOutputTile;
  mlir::scf::ForOp tiles; ///< of a persistent kernel
  llvm::SmallVector<Channel> outer, streamed;
  TensorProducts products; ///< of a family with tensor memory
  mlir::Value warpgroup;
};

} // namespace attn::tile

#endif // LIB_DIALECT_TILE_TRANSFORMS_SPECIALIZEWARPS_H
