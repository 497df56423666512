//===- AttentionKernel.cpp - One attention's kernels ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionKernel.h"

#include "CudaKernel.h"
#include "Verify.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Schedule/Family.h"
#include "attn/Schedule/Schedule.h"

#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace attn;
using namespace attn::run;
using runtime::HostTensor;

/// The number that `semantics.KEY` gives for an operand.
static std::optional<size_t> getIndex(const runtime::Manifest &manifest,
                                      StringRef key,
                                      const runtime::Operand &operand) {
  auto semantics = llvm::json::parse(manifest.semantics);
  if (!semantics) {
    llvm::consumeError(semantics.takeError());
    return std::nullopt;
  }
  const llvm::json::Object *object = semantics->getAsObject();
  const llvm::json::Object *numbers = object ? object->getObject(key) : nullptr;
  std::optional<int64_t> number =
      numbers ? numbers->getInteger(operand.name) : std::nullopt;
  if (!number || *number < 0)
    return std::nullopt;
  return static_cast<size_t>(*number);
}

std::optional<KernelOperands>
AttentionKernel::makeOperands(const std::vector<HostTensor> &arguments) const {
  KernelOperands operands;
  for (const runtime::Operand &operand : manifest.operands) {
    operands.emplace_back();
    if (operand.role == runtime::OperandRole::Output)
      continue;
    std::optional<size_t> index = getIndex(manifest, "arguments", operand);
    if (!index || *index >= arguments.size()) {
      reportError("operand " + operand.name +
                  " of the kernel: expected an argument of the attention");
      return std::nullopt;
    }
    operands.back() = arguments[*index];
  }
  return operands;
}

std::optional<std::vector<HostTensor>>
AttentionKernel::run(const std::vector<HostTensor> &arguments,
                     const Options &options) const {
  std::optional<KernelOperands> operands = makeOperands(arguments);
  if (!operands)
    return std::nullopt;
  bool succeeded = options.cuda
                       ? runOnDevice(*options.cuda, manifest, ptx, *operands)
                       : runInSimulator(manifest, ptx, *operands, options);
  if (!succeeded)
    return std::nullopt;
  std::vector<HostTensor> results(manifest.operands.size());
  size_t count = 0;
  for (size_t i = 0; i < operands->size(); ++i)
    if (auto index = getIndex(manifest, "results", manifest.operands[i])) {
      results[*index] = std::move(*(*operands)[i]);
      ++count;
    }
  results.resize(count);
  return results;
}

std::optional<std::vector<HostTensor>>
AttentionKernel::runUnfused(const std::vector<HostTensor> &arguments,
                            EvaluationPrecision precision) {
  auto results = interpret(definition.function, arguments, precision);
  if (failed(results))
    return std::nullopt;
  std::vector<HostTensor> tensors;
  for (const reference::Tensor &result : *results)
    tensors.push_back(toHostTensor(result));
  return tensors;
}

bool AttentionKernel::hasShortSums(const TargetInfo &target) const {
  func::FuncOp function = definition.function;
  WalkResult bytes = function.walk([](AttentionOp op) {
    return isFloat8(op.getQuery().getType()) ? WalkResult::interrupt()
                                             : WalkResult::advance();
  });
  if (!bytes.wasInterrupted())
    return false;
  auto fields = llvm::json::parse(manifest.schedule);
  if (!fields) {
    llvm::consumeError(fields.takeError());
    return false;
  }
  const llvm::json::Object *object = fields->getAsObject();
  auto mma = object ? object->getString("mma") : std::nullopt;
  Schedule schedule;
  return mma && setScheduleField(schedule, "mma", mma->str()) &&
         getFamily(schedule.mma).getSumBits(ElementType::F8E4M3FN, target) > 0;
}

bool AttentionKernel::isDeterministic() const {
  auto semantics = llvm::json::parse(manifest.semantics);
  if (!semantics)
    llvm::consumeError(semantics.takeError());
  const llvm::json::Object *object =
      semantics ? semantics->getAsObject() : nullptr;
  return !object || object->getBoolean("deterministic").value_or(true);
}
