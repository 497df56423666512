//===- GpuProgram.cpp - A function with a GPU's kernels -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// --attn-outline compiles the attentions and leaves calls in their places. The
// rest is compiled for the CPU, and calls back.
//
//===----------------------------------------------------------------------===//

#include "GpuProgram.h"

#include "CpuDevice.h"
#include "CudaKernel.h"
#include "Verify.h"

#include "attn/Dialect/Attn/Transforms/ExtractAttention.h"
#include "attn/Pipelines/Passes.h"
#include "attn/Pipelines/Pipelines.h"
#include "attn/TargetInfo/TargetInfo.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSet.h"

#include <cstdio>
#include <cstdlib>

using namespace mlir;
using namespace attn;
using namespace attn::run;
using runtime::HostTensor;

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

/// A copy of the function's module, without other functions, in the tensor
/// form.
static OwningOpRef<ModuleOp> makeTensorForm(func::FuncOp function,
                                            const Options &options) {
  OwningOpRef<ModuleOp> module = function->getParentOfType<ModuleOp>().clone();
  PassManager pm(module->getContext(), ModuleOp::getOperationName());
  addIsolation(pm, *module, function.getName());
  AttentionPipelineOptions stage;
  stage.maskThreshold = options.maskThreshold;
  stage.assumeVisibleRows = options.assumeVisibleRows;
  getStages().front().build(pm, stage);
  if (failed(pm.run(*module)))
    return nullptr;
  return module;
}

static LogicalResult outline(ModuleOp module, const Options &options) {
  OutlinePassOptions outline;
  outline.target = options.target;
  outline.allowTf32 = options.allowTf32;
  outline.deterministic = options.deterministic;
  outline.deviceAsserts = options.deviceAsserts;
  outline.maskThreshold = options.maskThreshold;
  outline.assumeVisibleRows = options.assumeVisibleRows;
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  pm.addPass(createOutlinePass(outline));
  return pm.run(module);
}

/// The function called, if it is a kernel's.
static func::FuncOp getKernel(func::CallOp call) {
  auto module = call->getParentOfType<ModuleOp>();
  auto function = module.lookupSymbol<func::FuncOp>(call.getCallee());
  return function && function->hasAttr(kernelAttrName) ? function : nullptr;
}

/// An op behind `op` with the results of the call that outlining left there.
static Operation *standInForCall(Operation *op,
                                 const ExtractedAttention &definition) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  return UnrealizedConversionCastOp::create(
      builder, op->getLoc(), TypeRange(ValueRange(definition.results)),
      ValueRange());
}

/// What programs are made of, in the order of their calls.
static SmallVector<Operation *> findCalled(ModuleOp original) {
  llvm::DenseMap<Operation *, size_t> numbers, placeOf;
  original.walk([&](Operation *op) { numbers.insert({op, numbers.size()}); });
  SmallVector<Operation *> programs = findPrograms(original);
  for (Operation *op : programs)
    placeOf[op] = numbers[extractAttention(op, "f", /*appends=*/true).place];
  llvm::stable_sort(programs, [&](Operation *a, Operation *b) {
    return placeOf[a] < placeOf[b];
  });
  return programs;
}

/// Each function that stands for kernels, with what it computes: the calls are
/// where the attentions, and what follows them, were in `original`.
LogicalResult GpuProgram::readKernels(ModuleOp outlined, ModuleOp original) {
  SmallVector<Operation *> programs = findCalled(original);
  SmallVector<func::FuncOp> called;
  outlined.walk([&](func::CallOp call) {
    if (func::FuncOp kernel = getKernel(call))
      called.push_back(kernel);
  });
  numCalls = called.size();
  llvm::StringSet<> known;
  for (auto [op, function] : llvm::zip_equal(programs, called)) {
    ExtractedAttention definition =
        extractAttention(op, function.getName(), /*appends=*/true);
    replacePools(definition, standInForCall(op, definition));
    if (!known.insert(function.getName()).second)
      continue;
    auto files = function->getAttrOfType<DictionaryAttr>(kernelAttrName);
    Result<runtime::Manifest> manifest = runtime::readManifest(
        files.getAs<StringAttr>("manifest").getValue().str());
    if (!manifest)
      return failure(reportError(manifest.error()));
    kernels.push_back(std::make_unique<AttentionKernel>(AttentionKernel{
        std::move(*manifest), files.getAs<StringAttr>("ptx").getValue().str(),
        std::move(definition)}));
  }
  return success();
}

/// The index of each value in `from`; nothing if one is not there.
static std::optional<std::vector<size_t>> indicesIn(ValueRange values,
                                                    ArrayRef<Value> from) {
  std::vector<size_t> indices;
  for (Value value : values) {
    const auto *it = llvm::find(from, value);
    if (it == from.end())
      return std::nullopt;
    indices.push_back(it - from.begin());
  }
  return indices;
}

/// Compiles what is around the calls, if that is anything.
LogicalResult GpuProgram::compileHost(func::FuncOp function,
                                      const Options &options) {
  Block &body = function.getBody().front();
  auto call = dyn_cast<func::CallOp>(body.front());
  if (call && getKernel(call) && call->getNextNode() == body.getTerminator()) {
    SmallVector<Value> values(body.getArguments());
    auto given = indicesIn(call.getOperands(), values);
    llvm::append_range(values, call.getResults());
    auto returned = indicesIn(body.getTerminator()->getOperands(), values);
    if (given && returned) {
      arguments = std::move(*given);
      results = std::move(*returned);
      return success();
    }
  }
  HostFunctions externals;
  for (const std::unique_ptr<AttentionKernel> &kernel : kernels) {
    std::string name = kernel->definition.function.getName().str();
    auto run = [this, kernel = kernel.get()](const Tensors &tensors) {
      std::optional<Tensors> results = currentCall(*kernel, tensors);
      if (!results) { // The error has been printed.
        std::fflush(stdout);
        std::_Exit(1);
      }
      return std::move(*results);
    };
    externals[name] = {kernel->definition.function.getFunctionType(), run};
  }
  auto jit = compileForCpu(function, CpuPath::Host, options, externals);
  if (failed(jit))
    return failure();
  host = std::move(*jit);
  return success();
}

FailureOr<std::unique_ptr<GpuProgram>>
GpuProgram::compile(func::FuncOp function, const Options &options) {
  auto fail = [&] {
    return failure(reportError("cannot compile @" + function.getName().str() +
                               " for " + options.target));
  };
  OwningOpRef<ModuleOp> module = makeTensorForm(function, options);
  if (!module)
    return fail();
  OwningOpRef<ModuleOp> original = module->clone();
  auto program = std::make_unique<GpuProgram>();
  program->target = options.target;
  program->allowsTf32 = options.allowTf32;
  if (failed(outline(*module, options)) ||
      failed(program->readKernels(*module, *original)))
    return fail();
  if (program->kernels.empty()) {
    function.emitError() << "expected an attention, an append or a merge whose "
                            "results are used, "
                            "got none";
    return fail();
  }
  auto host = module->lookupSymbol<func::FuncOp>(function.getName());
  if (failed(program->compileHost(host, options)))
    return fail();
  return program;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

/// Calls the function with `call` in the place of each attention.
std::optional<std::vector<HostTensor>>
GpuProgram::callHost(const Tensors &inputs, const Call &call) {
  if (host) {
    currentCall = call;
    return host->run(inputs);
  }
  Tensors given;
  for (size_t index : arguments)
    given.push_back(inputs[index]);
  std::optional<Tensors> returned = call(*kernels.front(), given);
  if (!returned)
    return std::nullopt;
  Tensors values = inputs, selected;
  llvm::append_range(values, *returned);
  for (size_t index : results)
    selected.push_back(values[index]);
  return selected;
}

/// The options of call `number` of a run, whose files are its own.
static Options getOptionsOfCall(const Options &options, size_t number) {
  Options own = options;
  if (number == 0)
    return own;
  for (std::string *file : {&own.report, &own.trace})
    if (!file->empty() && *file != "-")
      *file += "." + std::to_string(number);
  return own;
}

std::optional<std::vector<HostTensor>>
GpuProgram::run(const std::vector<HostTensor> &inputs, const Options &options) {
  size_t count = 0;
  return callHost(inputs, [&](AttentionKernel &kernel, const Tensors &tensors) {
    return kernel.run(tensors, getOptionsOfCall(options, count++));
  });
}

std::optional<std::vector<double>>
GpuProgram::time(const std::vector<HostTensor> &inputs,
                 const Options &options) {
  std::vector<double> total(static_cast<size_t>(options.repeat));
  auto timeCall = [&](AttentionKernel &kernel,
                      const Tensors &tensors) -> std::optional<Tensors> {
    std::optional<KernelOperands> operands = kernel.makeOperands(tensors);
    if (!operands)
      return std::nullopt;
    auto seconds = timeOnDevice(*options.cuda, kernel.manifest, kernel.ptx,
                                *operands, options.repeat);
    if (!seconds)
      return std::nullopt;
    for (auto [sum, one] : llvm::zip_equal(total, *seconds))
      sum += one;
    return kernel.run(tensors, options);
  };
  if (!callHost(inputs, timeCall))
    return std::nullopt;
  return total;
}

bool GpuProgram::hasShortSums() const {
  Result<TargetInfo> info = lookupTarget(target);
  return info && llvm::any_of(kernels, [&](const auto &kernel) {
           return kernel->hasShortSums(*info);
         });
}

std::optional<std::vector<reference::Tensor>>
GpuProgram::runUnfused(const std::vector<HostTensor> &inputs) {
  EvaluationPrecision precision = hasShortSums()
                                      ? EvaluationPrecision::UnfusedShortSums
                                      : EvaluationPrecision::UnfusedTf32;
  auto tensors =
      callHost(inputs, [&](AttentionKernel &kernel, const Tensors &arguments) {
        return kernel.runUnfused(arguments, precision);
      });
  if (!tensors)
    return std::nullopt;
  return toReference(*tensors);
}

bool GpuProgram::isDeterministic() const {
  return llvm::all_of(
      kernels, [](const auto &kernel) { return kernel->isDeterministic(); });
}

std::string GpuProgram::describe(const Options &options) const {
  std::string device = "the simulator";
  if (options.cuda)
    device = options.cuda->getName() +
             " (cuda:" + std::to_string(options.cuda->getOrdinal()) + ")";
  std::string rest;
  if (host)
    rest = numCalls == 1 ? ", all but the attention on cpu"
                         : ", all but the " + std::to_string(numCalls) +
                               " attentions on cpu";
  return target + (options.cuda ? " on " : " in ") + device + rest;
}
