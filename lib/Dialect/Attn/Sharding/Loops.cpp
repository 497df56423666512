//===- Loops.cpp - Attention as a nest of loops ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Loops.h"

#include "attn/Dialect/Attn/IR/LinearAttentionOps.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;
using namespace attn::sharding;

StringRef sharding::getLoopName(unsigned loop) {
  static constexpr StringRef names[] = {"batches", "heads",     "query rows",
                                        "keys",    "head dims", "value dims"};
  return loop < kNumNamedLoops ? names[loop] : "a dimension of a whole tensor";
}

namespace {

/// The loops of each tensor, in the order in which it is given them.
class NestBuilder {
public:
  /// Loops of the value's dimensions; those of size 1 that are broadcast have
  /// one of their own. None for a value that is not there.
  void add(Value value, ArrayRef<unsigned> loops) {
    if (!value)
      return;
    SmallVector<unsigned> own;
    auto type = cast<RankedTensorType>(value.getType());
    for (auto [size, loop] : llvm::zip_equal(type.getShape(), loops))
      own.push_back(size == 1 && mayBroadcast ? numLoops++ : loop);
    tensors.push_back(own);
  }
  void addBroadcast(Value value, ArrayRef<unsigned> loops) {
    mayBroadcast = true;
    add(value, loops);
    mayBroadcast = false;
  }
  /// A tensor that every device has whole.
  void addWhole(Value value) {
    SmallVector<unsigned> own;
    for (int64_t d = 0; d < cast<RankedTensorType>(value.getType()).getRank();
         ++d)
      own.push_back(numLoops++);
    tensors.push_back(own);
  }
  /// A loop of one tensor alone.
  unsigned addLoop() { return numLoops++; }
  void addScalar(Value value) {
    if (value)
      tensors.push_back({});
  }

  LoopNest build(MLIRContext *context) const {
    LoopNest nest;
    for (const SmallVector<unsigned> &loops : tensors) {
      SmallVector<AffineExpr> dims;
      for (unsigned loop : loops)
        dims.push_back(getAffineDimExpr(loop, context));
      nest.maps.push_back(AffineMap::get(numLoops, 0, dims, context));
    }
    nest.types.assign(numLoops, utils::IteratorType::parallel);
    for (unsigned loop : {kKeys, kHeadDims})
      nest.types[loop] = utils::IteratorType::reduction;
    return nest;
  }

private:
  unsigned numLoops = kNumNamedLoops;
  bool mayBroadcast = false;
  SmallVector<SmallVector<unsigned>> tensors;
};

} // namespace

static const unsigned query[] = {kBatches, kHeads, kRows, kHeadDims},
                      key[] = {kBatches, kHeads, kKeys, kHeadDims},
                      value[] = {kBatches, kHeads, kKeys, kValueDims},
                      output[] = {kBatches, kHeads, kRows, kValueDims},
                      bias[] = {kBatches, kHeads, kRows, kKeys},
                      row[] = {kBatches, kHeads, kRows},
                      state[] = {kBatches, kHeads, kHeadDims, kValueDims},
                      keyHead[] = {kBatches, kHeads};

static void addDescales(NestBuilder &nest, ValueRange descales) {
  for (Value descale : descales) {
    if (cast<RankedTensorType>(descale.getType()).getRank() == 1)
      nest.addWhole(descale);
    else
      nest.add(descale, keyHead);
  }
}

static void add(NestBuilder &nest, AttentionOp op) {
  nest.add(op.getQuery(), query);
  nest.add(op.getKey(), key);
  nest.add(op.getValue(), value);
  nest.addBroadcast(op.getBias(), bias);
  nest.add(op.getSink(), kHeads);
  addDescales(nest, op.getDescales());
  nest.add(op.getKeyLengths(), kBatches);
  nest.add(op.getQueryLengths(), kBatches);
  nest.addScalar(op.getDropoutSeed());
  nest.addScalar(op.getDropoutOffset());
  nest.add(op.getOutput(), output);
  nest.add(op.getLse(), row);
}

static void add(NestBuilder &nest, AttentionBackwardOp op) {
  nest.add(op.getQuery(), query);
  nest.add(op.getKey(), key);
  nest.add(op.getValue(), value);
  nest.addBroadcast(op.getBias(), bias);
  nest.add(op.getOutput(), output);
  nest.add(op.getLse(), row);
  nest.add(op.getDOutput(), output);
  nest.add(op.getDLse(), row);
  addDescales(nest, op.getDescales());
  if (op.getScaleDs())
    nest.addWhole(op.getScaleDs());
  nest.add(op.getSink(), kHeads);
  for (Value capture : op.getCaptures())
    nest.addWhole(capture);
  nest.addScalar(op.getDropoutSeed());
  nest.addScalar(op.getDropoutOffset());
  nest.add(op.getDQuery(), query);
  nest.add(op.getDKey(), key);
  nest.add(op.getDValue(), value);
  nest.addBroadcast(op.getDBias(), bias);
  for (Value gradient : op.getDCaptures())
    nest.addWhole(gradient);
  nest.add(op.getDSink(), kHeads);
  nest.add(op.getAmaxDs(), row);
}

static void add(NestBuilder &nest, LinearAttentionOp op) {
  // Without `full` keys are at the positions of the queries.
  unsigned keys = op.getFull() ? kKeys : kRows;
  nest.add(op.getQuery(), query);
  nest.add(op.getKey(), {kBatches, kHeads, keys, kHeadDims});
  nest.add(op.getValue(), {kBatches, kHeads, keys, kValueDims});
  nest.add(op.getDecay(), row);
  nest.add(op.getSlope(), kHeads);
  nest.add(op.getState(), state);
  nest.add(op.getOutput(), output);
  nest.add(op.getFinalState(), state);
  if (Value states = op.getStates())
    nest.add(states, {kBatches, kHeads, nest.addLoop(), kHeadDims, kValueDims});
}

LoopNest sharding::getLoopNest(Operation *op) {
  NestBuilder nest;
  llvm::TypeSwitch<Operation *>(op)
      .Case<AttentionOp, AttentionBackwardOp, LinearAttentionOp>(
          [&](auto attention) { add(nest, attention); });
  return nest.build(op->getContext());
}
