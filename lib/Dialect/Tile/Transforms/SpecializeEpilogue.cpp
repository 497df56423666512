//===- SpecializeEpilogue.cpp - A role that copies O ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-tile-specialize-epilogue: a thread of its own copies to
// global memory what the role that corrects the output has written, as
// FlashAttention-4's epilogue warp does.
//
//===----------------------------------------------------------------------===//

#include "KeyStream.h"
#include "MissedRemark.h"
#include "attn/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace attn::tile {
#define GEN_PASS_DEF_SPECIALIZEEPILOGUEPASS
#include "attn/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace attn::tile

using namespace mlir;
using namespace attn::tile;

namespace {

/// What writes the output of a warpgroup to shared memory, and the copies of
/// it, one behind the other.
struct Output {
  AsWarpgroupOp writer;
  int64_t group;
  SmallVector<StoreTmaOp> copies;
};

class Epilogue {
public:
  Epilogue(KernelOp kernel, RolesOp roles, Region &correction)
      : kernel(kernel), roles(roles), correction(correction),
        tiles(getTileLoop(correction)), builder(kernel.getContext()) {}

  /// Why no other thread can start the copies, or empty if one can.
  StringRef findObstacle();
  void specialize();

private:
  bool collectOutputs();
  bool isOfTile(Value scalar) const;
  void createBarriers();
  void buildRole(Region &role);
  Value buildTiles(IRMapping &mapping);
  void buildCopy(const Output &output, StoreTmaOp copy, Value parity,
                 IRMapping &mapping);
  void tellCopies(Output &output);
  Value cloneScalar(Value scalar, IRMapping &mapping);
  Value getParity(Value tile, const Output &output, int64_t copy);
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, kernel.getLoc(), value);
  }

  KernelOp kernel;
  RolesOp roles;
  Region &correction;
  scf::ForOp tiles;
  OpBuilder builder;
  SmallVector<Output> outputs;
  /// For a copy the place is filled; has been read.
  Value filled, drained;
};

} // namespace

//===----------------------------------------------------------------------===//
// What there is
//===----------------------------------------------------------------------===//

/// False if there are copies elsewhere, or some that are waited for at once.
bool Epilogue::collectOutputs() {
  size_t found = 0, all = 0;
  correction.walk([&](StoreTmaOp) { ++all; });
  for (auto writer : getTileBlock(correction).getOps<AsWarpgroupOp>()) {
    Output output{writer, 0, {}};
    for (auto copy : writer.getBody().front().getOps<StoreTmaOp>()) {
      if (!copy.getAsync())
        return false;
      output.copies.push_back(copy);
    }
    std::optional<int64_t> group = getConstantIntValue(writer.getWarpgroup());
    if (output.copies.empty())
      continue;
    if (!group)
      return false;
    output.group = *group;
    found += output.copies.size();
    outputs.push_back(output);
  }
  return found == all;
}

/// True if a thread has `scalar` that knows the tile alone.
bool Epilogue::isOfTile(Value scalar) const {
  if (!correction.isAncestor(scalar.getParentRegion()))
    return true;
  Operation *op = scalar.getDefiningOp();
  if (!op)
    return tiles && scalar == scf::ForOp(tiles).getInductionVar();
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         !isa<UniformOp>(op) &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return isOfTile(operand); });
}

StringRef Epilogue::findObstacle() {
  if (!collectOutputs())
    return "copies of the output are not one behind the other";
  if (outputs.empty())
    return "the output is not copied from shared memory";
  if (tiles && !findStepCounter(tiles))
    return "tiles of the CTA are not counted";
  SmallVector<Value> scalars;
  if (tiles)
    scalars = {tiles.getLowerBound(), tiles.getUpperBound(), tiles.getStep()};
  for (const Output &output : outputs)
    for (StoreTmaOp copy : output.copies)
      llvm::append_range(scalars, copy->getOperands());
  bool areKnown =
      llvm::all_of(scalars, [&](Value scalar) { return isOfTile(scalar); });
  return areKnown ? "" : "they depend on more than the tile's number";
}

//===----------------------------------------------------------------------===//
// The change
//===----------------------------------------------------------------------===//

void Epilogue::createBarriers() {
  int64_t groups = kernel.getWarps() / RolesOp::kWarpgroupWarps;
  filled = addMbarrier(kernel, groups, RolesOp::kWarpgroupWarps);
  drained = addMbarrier(kernel, groups, /*arrivals=*/1);
}

/// Of the phase of that copy of a tile: those of the first tile's first copy
/// have parity 0.
Value Epilogue::getParity(Value tile, const Output &output, int64_t copy) {
  Location loc = kernel.getLoc();
  Value number = constant(copy);
  if (output.copies.size() % 2 != 0)
    number = arith::AddIOp::create(builder, loc, tile, number);
  return arith::AndIOp::create(builder, loc, number, constant(1));
}

Value Epilogue::cloneScalar(Value scalar, IRMapping &mapping) {
  if (!correction.isAncestor(scalar.getParentRegion()) ||
      mapping.contains(scalar))
    return mapping.lookupOrDefault(scalar);
  Operation *op = scalar.getDefiningOp();
  for (Value operand : op->getOperands())
    cloneScalar(operand, mapping);
  builder.clone(*op, mapping);
  return mapping.lookup(scalar);
}

/// The loop over the CTA's tiles, in which the builder then is. Returns how
/// many tiles came before.
Value Epilogue::buildTiles(IRMapping &mapping) {
  Value zero = constant(0);
  if (!tiles)
    return zero;
  Value lower = cloneScalar(tiles.getLowerBound(), mapping);
  Value upper = cloneScalar(tiles.getUpperBound(), mapping);
  Value step = cloneScalar(tiles.getStep(), mapping);
  auto loop = scf::ForOp::create(builder, tiles.getLoc(), lower, upper, step,
                                 ValueRange{zero});
  mapping.map(tiles.getInductionVar(), loop.getInductionVar());
  Value tile = loop.getRegionIterArg(0);
  builder.setInsertionPointToStart(loop.getBody());
  Value next =
      arith::AddIOp::create(builder, tiles.getLoc(), tile, constant(1));
  auto yield = scf::YieldOp::create(builder, tiles.getLoc(), next);
  builder.setInsertionPoint(yield);
  return tile;
}

void Epilogue::buildCopy(const Output &output, StoreTmaOp copy, Value parity,
                         IRMapping &mapping) {
  Location loc = copy.getLoc();
  Value group = constant(output.group);
  MbarrierWaitOp::create(builder, loc, filled, group, parity);
  for (Value operand : copy->getOperands())
    cloneScalar(operand, mapping);
  cast<StoreTmaOp>(builder.clone(*copy, mapping)).setOneThread(true);
  WaitStoresOp::create(builder, loc);
  auto arrival = MbarrierArriveOp::create(builder, loc, drained, group);
  arrival.setOneThread(true);
}

void Epilogue::buildRole(Region &role) {
  builder.createBlock(&role);
  IRMapping mapping;
  Value tile = buildTiles(mapping);
  for (const Output &output : outputs)
    for (auto [number, copy] : llvm::enumerate(output.copies))
      buildCopy(output, copy,
                getParity(tile, output, static_cast<int64_t>(number)), mapping);
}

/// Each warp tells that it has written its rows, and waits until they have been
/// read where it waited for its own copies.
void Epilogue::tellCopies(Output &output) {
  Value tile =
      tiles ? tiles.getRegionIterArg(*findStepCounter(tiles)) : Value();
  Block &body = output.writer.getBody().front();
  int64_t copies = 0;
  for (Operation &op : llvm::make_early_inc_range(body)) {
    if (!isa<StoreTmaOp, WaitStoresOp>(op))
      continue;
    builder.setInsertionPoint(&op);
    Location loc = op.getLoc();
    Value group = constant(output.group);
    if (isa<StoreTmaOp>(op)) {
      FenceSharedOp::create(builder, loc);
      SyncWarpOp::create(builder, loc);
      MbarrierArriveOp::create(builder, loc, filled, group);
      ++copies;
    } else {
      // The phase before: of the first copy it counts as over.
      Value parity = getParity(tile ? tile : constant(0), output, copies + 1);
      MbarrierWaitOp::create(builder, loc, drained, group, parity);
    }
    op.erase();
  }
}

void Epilogue::specialize() {
  createBarriers();
  Region role;
  buildRole(role);
  for (Output &output : outputs)
    tellCopies(output);
  correction.walk([](WaitStoresOp wait) { wait.erase(); });
  roles.addRole(RolesOp::kEpilogue, role);
}

namespace {
struct SpecializeEpiloguePass
    : public attn::tile::impl::SpecializeEpiloguePassBase<
          SpecializeEpiloguePass> {
  using SpecializeEpiloguePassBase::SpecializeEpiloguePassBase;

  void runOnOperation() override {
    Block &body = getOperation().getBody().front();
    for (auto roles : llvm::make_early_inc_range(body.getOps<RolesOp>())) {
      Region *correction = roles.getRole(RolesOp::kCorrection);
      if (!correction)
        continue;
      Epilogue epilogue(getOperation(), roles, *correction);
      if (StringRef obstacle = epilogue.findObstacle(); !obstacle.empty()) {
        remarkMissed(getOperation(), getArgumentName(), "copies-kept",
                     "the correction starts copies itself", obstacle);
        continue;
      }
      epilogue.specialize();
      ++numKernels;
    }
  }
};
} // namespace
