//===- Traffic.cpp - Bytes that programs move -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Traffic.h"

#include "attn/Dialect/Attn/IR/LinearAttentionOps.h"
#include "attn/Dialect/Attn/IR/RowOps.h"
#include "attn/Dialect/Attn/IR/Views.h"
#include "attn/Dialect/Attn/Transforms/ScheduleSelection.h"
#include "attn/Schedule/CostModel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace attn;

static bool isStatic(AttentionOp op) {
  return llvm::all_of(
      ValueRange{op.getQuery(), op.getKey(), op.getValue()}, [](Value value) {
        return cast<ShapedType>(value.getType()).hasStaticShape();
      });
}

/// A tensor that is several operands has one name, and its tiles may be read
/// once for all of them.
template <typename OpTy>
static bool readsDistinctTensors(OpTy op) {
  Value query = skipRowOps(op.getQuery()), key = skipRowOps(op.getKey()),
        value = skipRowOps(op.getValue());
  return query != key && query != value && !isValueInKey(key, value);
}

/// A function of several attentions repairs rows: how many is data.
static bool isAlone(AttentionOp op) {
  auto attentions =
      op->getParentOfType<func::FuncOp>().getBody().getOps<AttentionOp>();
  return llvm::hasSingleElement(attentions);
}

/// What a kernel before has changed is read and written once by it; the
/// attention reads that.
static void predictRows(Value tensor, const std::string &name,
                        std::vector<runtime::PredictedBytes> &predicted) {
  if (!getRowSource(tensor.getDefiningOp()))
    return;
  auto type = cast<ShapedType>(tensor.getType());
  std::string bytes =
      std::to_string(type.getNumElements() * type.getElementTypeBitWidth() / 8);
  for (runtime::PredictedBytes &known : predicted)
    if (known.operand == name)
      known = {name + "_rows", known.read, bytes};
  predicted.push_back({name, bytes, "0"});
}

static std::vector<runtime::PredictedBytes>
getPredictedBytes(AttentionOp op, const TargetInfo &target) {
  Schedule schedule = op.getSchedule()->getValues();
  Cost cost = getCost(getProblem(op), schedule, target);
  std::vector<runtime::PredictedBytes> predicted;
  for (const OperandBytes &bytes : cost.operands)
    if (bytes.operand != Operand::Bias && bytes.operand != Operand::Partials &&
        bytes.operand != Operand::Captures)
      predicted.push_back({std::string(getName(bytes.operand)),
                           std::to_string(bytes.read),
                           std::to_string(bytes.written)});
  if (!getProblem(op).changesQuery())
    predictRows(op.getQuery(), "query", predicted);
  predictRows(op.getKey(), "key", predicted);
  predictRows(op.getValue(), "value", predicted);
  return predicted;
}

/// Of what a linear attention streams and carries; log decays are read by all
/// lanes of a warp, which L1 serves.
static std::vector<runtime::PredictedBytes>
getPredictedBytes(LinearAttentionOp op, const TargetInfo &target) {
  Result<LinearCost> cost =
      getLinearCost(getProblem(op), op.getSchedule()->getValues(), target);
  if (!cost)
    return {}; // Is refused where kernels are made.
  const LinearBytes &bytes = cost->bytes;
  std::vector<runtime::PredictedBytes> predicted;
  auto add = [&](const char *name, int64_t read, int64_t written) {
    if (read || written)
      predicted.push_back(
          {name, std::to_string(read), std::to_string(written)});
  };
  add("query", bytes.query, 0);
  add("key", bytes.key, 0);
  add("value", bytes.value, 0);
  add("state", bytes.state, 0);
  add("output", 0, bytes.output);
  add("final_state", 0, bytes.finalState);
  add("states", 0, bytes.states);
  return predicted;
}

/// All sizes are known, and none is 0, which the cost model takes for 1.
static bool isStatic(LinearAttentionOp op) {
  return llvm::all_of(
      ValueRange{op.getQuery(), op.getKey(), op.getValue()}, [](Value value) {
        auto type = cast<ShapedType>(value.getType());
        return type.hasStaticShape() && type.getNumElements() > 0;
      });
}

TrafficOfPrograms attn::predictTraffic(ModuleOp module,
                                       const TargetInfo &target) {
  TrafficOfPrograms traffic;
  module.walk([&](AttentionOp op) {
    // Lengths are data.
    if (op.getSchedule() && isStatic(op) && !op.hasLengths() && isAlone(op) &&
        readsDistinctTensors(op) && isBand(op) &&
        op.getSchedule()->getValues().kind != ScheduleKind::SmallCache)
      traffic[op->getParentOfType<func::FuncOp>().getName().str()] =
          getPredictedBytes(op, target);
  });
  module.walk([&](LinearAttentionOp op) {
    if (op.getSchedule() && isStatic(op) && readsDistinctTensors(op))
      traffic[op->getParentOfType<func::FuncOp>().getName().str()] =
          getPredictedBytes(op, target);
  });
  return traffic;
}
