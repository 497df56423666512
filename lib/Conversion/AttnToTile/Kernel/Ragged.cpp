//===- Ragged.cpp - Kernels over sequences behind each other --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel/Ragged.h"

#include "attn/Dialect/Attn/IR/RowOps.h"
#include "attn/Dialect/Attn/IR/Views.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

LogicalResult attn::checkRagged(const TiledAttention &attention) {
  OnlineAttentionOp op = attention.first;
  if (Value bias = op.getBias())
    if (RaggedOp ragged = getRagged(bias))
      return ragged.emitOpError()
             << "expected sequences of query, keys and values, got those of a "
                "bias";
  RaggedOp query = getRagged(op.getQuery());
  if (!query)
    return success();
  Schedule schedule = attention.schedule.getValues();
  bool isPersistent = schedule.persistentCtas > 0 && !schedule.isPlanned();
  if (isPersistent || schedule.clusterM > 1)
    return query.emitOpError()
           << "expected persistent_ctas=0 and cluster_m=1 beside a view of the "
              "query, whose CTAs end where their sequence does, got "
           << attention.schedule;
  if (!op.getKeyLengths())
    return query.emitOpError() << "expected lengths of the keys beside a view "
                                  "of the query on the GPU";
  return success();
}

LogicalResult attn::addSequences(TiledAttention &attention) {
  OnlineAttentionOp op = attention.first;
  for (auto [name, slice] :
       {std::pair<StringRef, Value>{"query_offsets", op.getQuery()},
        {"key_offsets", op.getKey()},
        {"value_offsets", op.getValue()}}) {
    RaggedOp ragged = getRagged(slice);
    if (!ragged)
      continue;
    auto *operand = llvm::find_if(attention.operands, [&](const auto &known) {
      return known.tensor == skipRowOps(ragged.getPacked());
    });
    if (operand->batches && operand->batches != ragged.getResult())
      return ragged.emitOpError() << "expected one view of a packed tensor on "
                                     "the GPU, got two";
    operand->offsets = ragged.getOffsets();
    operand->batches = ragged.getResult();
    addInput(attention, name, ragged.getOffsets(), 1);
  }
  return success();
}

/// The attn.pack that takes what is inserted into `destination`, an argument of
/// an scf.forall, if nothing else does.
static PackOp getOnlyPack(Value destination) {
  auto argument = cast<BlockArgument>(destination);
  auto forall = cast<scf::ForallOp>(argument.getOwner()->getParentOp());
  OpResult result = forall.getTiedOpResult(forall.getTiedOpOperand(argument));
  return result.hasOneUse() ? dyn_cast<PackOp>(*result.user_begin()) : PackOp();
}

LogicalResult attn::packOutput(const TiledAttention &attention,
                               KernelOperand &output) {
  OnlineAttentionOp op = attention.first;
  PackOp pack = getOnlyPack(output.tensor);
  RaggedOp query = getRagged(op.getQuery());
  if (!query && !pack)
    return success();
  if (!query)
    return pack.emitOpError() << "expected the query to be a view of sequences "
                                 "by the same offsets on a GPU";
  if (!pack || pack.getOffsets() != query.getOffsets())
    return query.emitOpError()
           << "expected " << output.name
           << " to be packed by the offsets of the query, and not used "
              "otherwise, on a GPU";
  if (!pack.getInit().getDefiningOp<tensor::EmptyOp>())
    return pack.emitOpError() << "expected the destination to be a "
                                 "tensor.empty on a GPU: no other rows are "
                                 "copied";
  output.type = cast<RankedTensorType>(pack.getResult().getType());
  output.offsets = pack.getOffsets();
  output.batches = output.tensor;
  return success();
}
