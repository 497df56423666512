//===- Traffic.cpp - Bytes that programs move -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Traffic.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/IR/ScheduleConversion.h"
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
static bool readsDistinctTensors(AttentionOp op) {
  return op.getQuery() != op.getKey() && op.getQuery() != op.getValue() &&
         op.getKey() != op.getValue();
}

/// A function of several attentions repairs rows: how many is data.
static bool isAlone(AttentionOp op) {
  auto attentions =
      op->getParentOfType<func::FuncOp>().getBody().getOps<AttentionOp>();
  return llvm::hasSingleElement(attentions);
}

static std::vector<runtime::PredictedBytes>
getPredictedBytes(AttentionOp op, const TargetInfo &target) {
  Schedule schedule = getSchedule(*op.getSchedule());
  Cost cost = getCost(getProblem(op), schedule, target);
  std::vector<runtime::PredictedBytes> predicted;
  for (const OperandBytes &bytes : cost.operands)
    if (bytes.operand != Operand::Bias && bytes.operand != Operand::Partials)
      predicted.push_back({std::string(getName(bytes.operand)),
                           std::to_string(bytes.read),
                           std::to_string(bytes.written)});
  return predicted;
}

TrafficOfPrograms attn::predictTraffic(ModuleOp module,
                                       const TargetInfo &target) {
  TrafficOfPrograms traffic;
  module.walk([&](AttentionOp op) {
    // Lengths are data.
    if (op.getSchedule() && isStatic(op) && !op.hasLengths() && isAlone(op) &&
        readsDistinctTensors(op) && isBand(op) &&
        getSchedule(*op.getSchedule()).kind != ScheduleKind::SmallCache)
      traffic[op->getParentOfType<func::FuncOp>().getName().str()] =
          getPredictedBytes(op, target);
  });
  return traffic;
}
