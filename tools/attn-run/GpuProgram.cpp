//===- GpuProgram.cpp - A function whose attention is a GPU's kernel ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel runs from PTX and manifest alone, as a launcher would run it: the
// manifest's `semantics.arguments` and `.results` say which tensor is which
// operand.
//
//===----------------------------------------------------------------------===//

#include "GpuProgram.h"

#include "CpuDevice.h"
#include "CudaKernel.h"
#include "Verify.h"

#include "attn/Interpreter/Interpreter.h"
#include "attn/Pipelines/Compiler.h"
#include "attn/Pipelines/Pipelines.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace attn;
using namespace attn::run;
using runtime::HostTensor;

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

/// A copy of the function's module, without other functions, in the tensor
/// form.
static OwningOpRef<ModuleOp> makeTensorForm(func::FuncOp function) {
  OwningOpRef<ModuleOp> module = function->getParentOfType<ModuleOp>().clone();
  PassManager pm(module->getContext(), ModuleOp::getOperationName());
  addIsolation(pm, *module, function.getName());
  getStages().front().build(pm, AttentionPipelineOptions());
  if (failed(pm.run(*module)))
    return nullptr;
  return module;
}

/// Compiles a part of the function that runs on the CPU.
static FailureOr<std::unique_ptr<CpuJit>>
compilePart(ModuleOp part, StringRef name, const Options &options) {
  if (!part)
    return std::unique_ptr<CpuJit>();
  return compileForCpu(part.lookupSymbol<func::FuncOp>(name), CpuPath::Device,
                       options);
}

LogicalResult GpuProgram::compileParts(const Options &options) {
  CompileOptions compileOptions;
  compileOptions.target = options.target;
  compileOptions.allowTf32 = options.allowTf32;
  compileOptions.deterministic = options.deterministic;
  compileOptions.deviceAsserts = options.deviceAsserts;
  compileOptions.artifacts = {ArtifactKind::Ptx, ArtifactKind::Manifest};
  compileOptions.name = name;
  definition = cast<ModuleOp>(split.attention->clone());
  FailureOr<CompileResult> result =
      attn::compile(*split.attention, compileOptions);
  if (failed(result))
    return failure();
  ptx = result->artifacts[0].content;
  Result<runtime::Manifest> read =
      runtime::readManifest(result->artifacts[1].content);
  if (!read)
    return failure(reportError(read.error()));
  manifest = *read;

  auto before = compilePart(split.prologue.get(), name, options);
  auto after = compilePart(split.epilogue.get(), name, options);
  if (failed(before) || failed(after))
    return failure();
  prologue = std::move(*before);
  epilogue = std::move(*after);
  return success();
}

FailureOr<GpuProgram> GpuProgram::compile(func::FuncOp function,
                                          const Options &options) {
  auto fail = [&] {
    return failure(reportError("cannot compile @" + function.getName().str() +
                               " for " + options.target));
  };
  OwningOpRef<ModuleOp> module = makeTensorForm(function);
  if (!module)
    return fail();
  FailureOr<AttentionSplit> split =
      splitAtAttention(module->lookupSymbol<func::FuncOp>(function.getName()));
  if (failed(split))
    return fail();
  GpuProgram program;
  program.name = function.getName().str();
  program.split = std::move(*split);
  if (failed(program.compileParts(options)))
    return fail();
  return program;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

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

/// The attention's arguments as the kernels' operands; outputs are absent.
std::optional<KernelOperands>
GpuProgram::makeOperands(const std::vector<HostTensor> &arguments) const {
  KernelOperands operands;
  for (const runtime::Operand &operand : manifest.operands) {
    operands.emplace_back();
    if (operand.role != runtime::OperandRole::Input)
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
GpuProgram::runKernels(const std::vector<HostTensor> &arguments,
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

std::vector<HostTensor>
GpuProgram::runPrologue(const std::vector<HostTensor> &inputs) {
  if (prologue)
    return prologue->run(inputs);
  std::vector<HostTensor> arguments;
  for (unsigned index : split.arguments)
    arguments.push_back(inputs[index]);
  return arguments;
}

std::vector<HostTensor>
GpuProgram::runEpilogue(const std::vector<HostTensor> &inputs,
                        const std::vector<HostTensor> &results) {
  std::vector<HostTensor> values = inputs;
  values.insert(values.end(), results.begin(), results.end());
  if (epilogue)
    return epilogue->run(values);
  std::vector<HostTensor> selected;
  for (unsigned index : split.results)
    selected.push_back(values[index]);
  return selected;
}

std::optional<std::vector<HostTensor>>
GpuProgram::run(const std::vector<HostTensor> &inputs, const Options &options) {
  auto results = runKernels(runPrologue(inputs), options);
  if (!results)
    return std::nullopt;
  return runEpilogue(inputs, *results);
}

std::optional<std::vector<double>>
GpuProgram::time(const std::vector<HostTensor> &inputs,
                 const Options &options) {
  std::optional<KernelOperands> operands = makeOperands(runPrologue(inputs));
  if (!operands)
    return std::nullopt;
  return timeOnDevice(*options.cuda, manifest, ptx, *operands, options.repeat);
}

std::optional<std::vector<reference::Tensor>>
GpuProgram::runUnfusedTf32(const std::vector<HostTensor> &inputs) {
  auto results =
      interpret(definition->lookupSymbol<func::FuncOp>(name),
                runPrologue(inputs), EvaluationPrecision::UnfusedTf32);
  if (failed(results))
    return std::nullopt;
  std::vector<HostTensor> tensors;
  for (const reference::Tensor &result : *results)
    tensors.push_back(toHostTensor(result));
  return toReference(runEpilogue(inputs, tensors));
}

bool GpuProgram::isDeterministic() const {
  auto semantics = llvm::json::parse(manifest.semantics);
  if (!semantics)
    llvm::consumeError(semantics.takeError());
  const llvm::json::Object *object =
      semantics ? semantics->getAsObject() : nullptr;
  return !object || object->getBoolean("deterministic").value_or(true);
}

std::string GpuProgram::describe(const Options &options) const {
  std::string device = "the simulator";
  if (options.cuda)
    device = options.cuda->getName() +
             " (cuda:" + std::to_string(options.cuda->getOrdinal()) + ")";
  return manifest.target + (options.cuda ? " on " : " in ") + device +
         (prologue || epilogue ? ", all but the attention on cpu" : "");
}
