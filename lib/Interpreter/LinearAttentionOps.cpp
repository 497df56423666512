//===- LinearAttentionOps.cpp - Linear attention, interpreted --- -*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Values.h"

#include "attn/Dialect/Attn/IR/LinearAttentionOps.h"
#include "attn/Reference/LinearAttention.h"

using namespace mlir;
using namespace attn;

LogicalResult attn::evaluateLinearAttention(Operation *op,
                                            Environment &environment) {
  auto linear = cast<LinearAttentionOp>(op);
  reference::Tensor query = getOperand(linear.getQuery(), environment);
  reference::Tensor key = getOperand(linear.getKey(), environment);
  reference::Tensor value = getOperand(linear.getValue(), environment);
  reference::LinearAttentionOptions options;
  options.scale = linear.getScaleValue();
  options.reverse = linear.getReverse();
  options.full = linear.getFull();
  std::optional<reference::Tensor> decay, state;
  for (Value given : {linear.getDecay(), linear.getSlope()})
    if (given)
      options.decay = &decay.emplace(getOperand(given, environment));
  if (linear.getState())
    options.state = &state.emplace(getOperand(linear.getState(), environment));
  options.outputType = getResultType(linear.getOutput(), environment);
  options.roundFactors =
      environment.precision != EvaluationPrecision::UnfusedOnCpu;
  bool isOracle = environment.precision == EvaluationPrecision::Float64;
  Result<reference::LinearAttentionResult> result =
      isOracle ? reference::linearAttention(query, key, value, options)
               : reference::unfusedLinearAttention(query, key, value, options);
  if (!result)
    return op->emitOpError() << result.error();
  environment.values[linear.getOutput()] = fromReference(result->output);
  if (linear.getFinalState())
    environment.values[linear.getFinalState()] = fromReference(result->state);
  if (linear.getStates())
    environment.values[linear.getStates()] = fromReference(result->states);
  return success();
}
