//===- OutputOps.cpp - What follows an attention --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OutputOps.h"

#include "RegionProgram.h"

#include "attn/Dialect/Attn/IR/OutputOps.h"
#include "attn/Reference/Element.h"

using namespace mlir;
using namespace attn;

static LogicalResult evaluateOutputMod(Operation *op,
                                       Environment &environment) {
  auto mod = cast<OutputModOp>(op);
  if (!mod.getOffsets().empty())
    return op->emitOpError() << "expected no offsets, which a tile has";
  const SharedTensor &source = environment.tensor(mod.getSource());
  RegionProgram program(mod.getMod(), environment, AttentionLengths());
  ElementType type = getResultType(mod.getResult(), environment);
  bool saturates = getSizeBytes(type) == 1;
  TensorValue result(source->shape);
  ArrayRef<int64_t> shape = source->shape;
  TensorValue amax(std::vector<int64_t>(shape.begin(), shape.end() - 1));
  for (auto [number, element] : llvm::enumerate(result.elements)) {
    std::array<Scalar, 5> arguments;
    arguments[0] = source->elements[number];
    auto rest = static_cast<int64_t>(number);
    for (unsigned dim = 4; dim-- > 0;) {
      arguments[dim + 1] = Scalar::ofInteger(rest % shape[dim]);
      rest /= shape[dim];
    }
    double value = program.run(arguments).real;
    element =
        Scalar::ofReal(saturates ? reference::quantize(value, 1, type)
                                 : reference::roundToElement(value, type));
    double &largest =
        amax.elements[number / static_cast<size_t>(shape.back())].real;
    largest = reference::maxMagnitude(largest, value);
  }
  if (Operation *read = program.getFaultyRead())
    return read->emitOpError() << "reads out of range";
  environment.values[mod.getResult()] =
      std::make_shared<const TensorValue>(std::move(result));
  if (!mod.getAmax())
    return success();
  ElementType largestType = getResultType(mod.getAmax(), environment);
  for (Scalar &row : amax.elements)
    row.real = reference::roundToElement(row.real, largestType);
  environment.values[mod.getAmax()] =
      std::make_shared<const TensorValue>(std::move(amax));
  return success();
}

OpEvaluator attn::findOutputEvaluator(Operation *op) {
  auto mod = dyn_cast<OutputModOp>(op);
  return mod && !findUnsupportedRegionOp(mod.getMod()) ? evaluateOutputMod
                                                       : nullptr;
}
