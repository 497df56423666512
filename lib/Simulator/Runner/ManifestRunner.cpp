//===- ManifestRunner.cpp - PTX and manifest on host buffers --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Simulator/ManifestRunner.h"

#include "DeviceTensor.h"

#include "attn/Simulator/TensorMap.h"

#include <algorithm>
#include <cstring>

using namespace attn;
using namespace attn::sim;
using namespace attn::runtime;

namespace {

TensorMapType tensorMapType(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return TensorMapType::F16;
  case DType::BF16:
    return TensorMapType::BF16;
  case DType::F32:
    return TensorMapType::F32;
  case DType::F64:
    return TensorMapType::F64;
  case DType::I32:
    return TensorMapType::S32;
  case DType::I64:
    return TensorMapType::S64;
  default:
    return TensorMapType::U8;
  }
}

/// A parameter's bytes in the entry's parameter block.
size_t parameterBytes(ParameterKind kind) {
  switch (kind) {
  case ParameterKind::I32:
  case ParameterKind::F32:
    return 4;
  case ParameterKind::TensorMap:
    return 128;
  default:
    return 8;
  }
}

//===----------------------------------------------------------------------===//
// Runner
//===----------------------------------------------------------------------===//

class Runner {
public:
  Runner(const Manifest &manifest,
         std::vector<std::optional<HostTensor>> &operands,
         const RunOptions &options)
      : manifest(manifest), operands(operands), options(options),
        device(options.smCount) {}

  Result<ManifestRun> run(const std::string &ptx, const std::string &ptxName) {
    auto loaded = device.load(ptx, ptxName);
    if (!loaded)
      return Error{loaded.error()};
    module = *loaded;
    for (auto step :
         {&Runner::checkTarget, &Runner::checkStrides, &Runner::bind,
          &Runner::resolve, &Runner::checkEntries, &Runner::allocateOperands,
          &Runner::allocateWorkspaces, &Runner::launchAll})
      if (std::optional<Error> error = (this->*step)())
        return *error;
    checkGaps();
    copyBack();
    return std::move(result);
  }

private:
  std::optional<Error> checkTarget() {
    std::string target = moduleTarget(*module);
    if (target.empty())
      return Error{"the PTX has no .target"};
    if (target != manifest.target)
      return Error{"manifest is for " + manifest.target + ", the PTX for " +
                   target};
    return std::nullopt;
  }

  std::optional<Error> checkStrides() {
    for (const auto &[name, strides] : options.strides)
      if (!manifest.findOperand(name))
        return Error{"strides of '" + name + "': no such operand"};
    return std::nullopt;
  }

  std::vector<int64_t> stridesOf(const Operand &operand) const {
    auto it = options.strides.find(operand.name);
    return it == options.strides.end() ? std::vector<int64_t>() : it->second;
  }

  std::optional<Error> bind() {
    std::vector<std::optional<OperandBinding>> bindings;
    if (operands.size() != manifest.operands.size())
      return Error{"expected " + std::to_string(manifest.operands.size()) +
                   " operands, got " + std::to_string(operands.size())};
    for (size_t k = 0; k < operands.size(); ++k) {
      bindings.emplace_back();
      if (!operands[k])
        continue;
      const Operand &operand = manifest.operands[k];
      if (operands[k]->dtype != operand.dtype)
        return Error{"operand " + operand.name + ": expected dtype " +
                     name(operand.dtype) + ", got " + name(operands[k]->dtype)};
      bindings.back() =
          OperandBinding{operands[k]->shape, stridesOf(operand), 0};
    }
    // Absent outputs get their shapes first, then the strides asked for.
    for (bool again : {false, true}) {
      Result<BoundProblem> problem =
          bindOperands(manifest, bindings, device.smCount());
      if (!problem)
        return Error{problem.error()};
      result.problem = *problem;
      if (again || options.strides.empty())
        break;
      for (size_t k = 0; k < operands.size(); ++k)
        bindings[k] = OperandBinding{problem->operands[k].shape,
                                     stridesOf(manifest.operands[k]), 0};
    }
    return std::nullopt;
  }

  std::optional<Error> resolve() {
    Result<std::vector<KernelLaunch>> resolved =
        resolveLaunches(result.problem);
    if (!resolved)
      return Error{resolved.error()};
    launches = *resolved;
    return std::nullopt;
  }

  /// The parameters of manifest and PTX must agree in number and size.
  std::optional<Error> checkEntries() {
    for (const Kernel &kernel : manifest.kernels) {
      auto declared = entryParameters(*module, kernel.entry);
      if (!declared)
        return Error{declared.error()};
      std::string where = "kernel " + kernel.entry + ": ";
      if (declared->size() != kernel.parameters.size())
        return Error{
            where + "manifest has " + std::to_string(kernel.parameters.size()) +
            " parameters, the PTX " + std::to_string(declared->size())};
      for (size_t k = 0; k < declared->size(); ++k) {
        size_t bytes = parameterBytes(kernel.parameters[k].kind);
        const EntryParameter &parameter = (*declared)[k];
        if (bytes != parameter.bytes)
          return Error{where + "parameter " + std::to_string(k) + " (" +
                       parameter.name + ") has " + std::to_string(bytes) +
                       " bytes in the manifest, " +
                       std::to_string(parameter.bytes) + " in the PTX"};
      }
    }
    return std::nullopt;
  }

  /// Sizes and strides that are mistakes must not fill the host's memory.
  std::optional<Error> allocate(const std::string &name, int64_t bytes,
                                bool readOnly, uint64_t &address) {
    constexpr int64_t maxBytes = int64_t(1) << 34;
    if (bytes <= maxBytes)
      address = device.allocate(size_t(bytes), name, readOnly);
    if (!address)
      return Error{name + ": expected at most " + std::to_string(maxBytes) +
                   " bytes of device memory, got " + std::to_string(bytes)};
    return std::nullopt;
  }

  static std::optional<Error>
  checkData(const Operand &operand, const std::optional<HostTensor> &tensor) {
    if (!tensor)
      return std::nullopt;
    size_t bytes = size_t(tensor->numElements()) * byteSize(tensor->dtype);
    if (tensor->data.size() != bytes)
      return Error{"operand " + operand.name + ": expected " +
                   std::to_string(bytes) + " bytes, got " +
                   std::to_string(tensor->data.size())};
    return std::nullopt;
  }

  std::optional<Error> allocateOperands() {
    for (size_t k = 0; k < operands.size(); ++k) {
      const Operand &operand = manifest.operands[k];
      const OperandBinding &bound = result.problem.operands[k];
      if (std::optional<Error> error = checkData(operand, operands[k]))
        return error;
      DeviceTensor tensor{operand.dtype, bound.shape, bound.strides, 0};
      if (std::optional<Error> error =
              allocate(operand.name, tensor.spanBytes(),
                       operand.role == OperandRole::Input, tensor.address))
        return error;
      tensor.clear();
      if (operand.role != OperandRole::Output)
        tensor.upload(*operands[k]);
      addresses[operand.name] = tensor.address;
      tensors.push_back(tensor);
    }
    return std::nullopt;
  }

  std::optional<Error> allocateWorkspaces() {
    Result<std::vector<int64_t>> sizes = workspaceBytes(result.problem);
    if (!sizes)
      return Error{sizes.error()};
    for (size_t k = 0; k < sizes->size(); ++k) {
      const Workspace &workspace = manifest.workspaces[k];
      uint64_t address = 0;
      if (std::optional<Error> error = allocate(workspace.name, (*sizes)[k],
                                                /*readOnly=*/false, address))
        return error;
      std::memset(reinterpret_cast<void *>(address),
                  workspace.fill == WorkspaceFill::Zero ? 0 : poison,
                  (*sizes)[k]);
      addresses[workspace.name] = address;
    }
    return std::nullopt;
  }

  std::optional<Error> launchAll() {
    bool isChained =
        std::any_of(launches.begin(), launches.end(),
                    [](const auto &launch) { return launch.isProgrammatic; });
    for (const KernelLaunch &launch : launches) {
      if (launch.isEmpty())
        continue; // nothing to do
      KernelRun run;
      run.entry = launch.kernel->entry;
      LaunchConfig config = makeConfig(launch);
      config.mayBeFollowed = isChained;
      if (std::optional<Error> error =
              packParameters(launch, config.parameters))
        return error;
      run.config = config;
      run.config.parameters.clear();
      run.report = device.launch(*module, run.entry, config, options.simulator);
      addReport(run.report);
      bool completed = run.report.completed;
      result.kernels.push_back(std::move(run));
      if (!completed)
        break;
    }
    return std::nullopt;
  }

  static LaunchConfig makeConfig(const KernelLaunch &launch) {
    auto toDim3 = [](const std::array<int64_t, 3> &dims) {
      return Dim3{uint32_t(dims[0]), uint32_t(dims[1]), uint32_t(dims[2])};
    };
    LaunchConfig config;
    config.grid = toDim3(launch.grid);
    config.block = toDim3(launch.kernel->block);
    config.cluster = toDim3(launch.kernel->cluster);
    config.dynamicSharedBytes = uint32_t(launch.sharedBytes);
    config.isProgrammatic = launch.isProgrammatic;
    return config;
  }

  std::optional<Error> packParameters(const KernelLaunch &launch,
                                      std::vector<uint8_t> &block) {
    auto declared = entryParameters(*module, launch.kernel->entry);
    for (size_t k = 0; k < launch.parameters.size(); ++k) {
      std::array<uint8_t, 128> bytes{};
      if (std::optional<Error> error =
              encodeParameter(launch.parameters[k], bytes))
        return Error{"kernel " + launch.kernel->entry + ": parameter " +
                     std::to_string(k) + ": " + error->message};
      const EntryParameter &parameter = (*declared)[k];
      block.resize(
          std::max<size_t>(block.size(), parameter.offset + parameter.bytes));
      std::memcpy(&block[parameter.offset], bytes.data(), parameter.bytes);
    }
    return std::nullopt;
  }

  std::optional<Error> encodeParameter(const ParameterValue &value,
                                       std::array<uint8_t, 128> &bytes) {
    auto put = [&](auto scalar) {
      std::memcpy(bytes.data(), &scalar, sizeof scalar);
    };
    switch (value.parameter->kind) {
    case ParameterKind::Pointer:
      put(baseAddress(value));
      break;
    case ParameterKind::I32:
      put(int32_t(value.scalar.integer));
      break;
    case ParameterKind::I64:
      put(value.scalar.integer);
      break;
    case ParameterKind::F32:
      put(float(value.scalar.real));
      break;
    case ParameterKind::F64:
      put(value.scalar.real);
      break;
    case ParameterKind::TensorMap:
      return encodeMap(value, bytes);
    }
    return std::nullopt;
  }

  uint64_t baseAddress(const ParameterValue &value) const {
    const Parameter &parameter = *value.parameter;
    const std::string &base =
        parameter.operand.empty() ? parameter.workspace : parameter.operand;
    return addresses.at(base) + uint64_t(value.byteOffset);
  }

  std::optional<Error> encodeMap(const ParameterValue &value,
                                 std::array<uint8_t, 128> &bytes) {
    const attn::runtime::TensorMap &map = value.parameter->tensorMap;
    TensorMapArgs args;
    args.dtype = tensorMapType(map.dtype);
    args.address = baseAddress(value);
    args.dims = value.dims;
    args.stridesBytes = value.stridesBytes;
    args.box.assign(map.box.begin(), map.box.end());
    args.elementStrides.assign(map.elementStrides.begin(),
                               map.elementStrides.end());
    args.swizzleBytes = uint32_t(map.swizzleBytes);
    args.fillNaN = map.fill == TensorMapFill::NaN;
    std::string error = encodeTensorMap(args, bytes);
    if (!error.empty())
      return Error{"tensor map: " + error};
    return std::nullopt;
  }

  /// Adds a kernel's counters and its timeline, behind those before it.
  void addReport(const LaunchReport &report) {
    result.counters.add(report.counters);
    result.seconds += report.seconds;
    for (TraceEvent event : report.timeline.events) {
      event.begin += result.timeline.cycles;
      event.end += result.timeline.cycles;
      result.timeline.events.push_back(event);
    }
    result.timeline.cycles += report.timeline.cycles;
  }

  void checkGaps() {
    for (size_t k = 0; k < tensors.size(); ++k) {
      std::optional<int64_t> gap = tensors[k].findWrittenGap();
      if (!gap)
        continue;
      Diagnostic diagnostic;
      diagnostic.finding = Finding::Memory;
      diagnostic.message = "operand " + manifest.operands[k].name +
                           " was written between its elements, at byte " +
                           std::to_string(*gap);
      diagnostic.remedy = "check the strides and the bounds of the stores";
      result.findings.push_back(diagnostic);
    }
  }

  void copyBack() {
    for (size_t k = 0; k < operands.size(); ++k)
      if (manifest.operands[k].role != OperandRole::Input)
        operands[k] = tensors[k].download();
  }

  const Manifest &manifest;
  std::vector<std::optional<HostTensor>> &operands;
  const RunOptions &options;
  Device device;
  std::shared_ptr<Module> module;
  std::vector<KernelLaunch> launches;
  std::vector<DeviceTensor> tensors; // as the operands
  std::map<std::string, uint64_t> addresses;
  ManifestRun result;
};

} // namespace

Result<ManifestRun>
attn::sim::runManifest(const Manifest &manifest, const std::string &ptx,
                       const std::string &ptxName,
                       std::vector<std::optional<HostTensor>> &operands,
                       const RunOptions &options) {
  if (auto error = runtime::checkPtxDigest(manifest, ptx))
    return *error;
  return Runner(manifest, operands, options).run(ptx, ptxName);
}

std::vector<Diagnostic> ManifestRun::diagnostics() const {
  std::vector<Diagnostic> all;
  for (const KernelRun &kernel : kernels)
    all.insert(all.end(), kernel.report.diagnostics.begin(),
               kernel.report.diagnostics.end());
  all.insert(all.end(), findings.begin(), findings.end());
  return all;
}
