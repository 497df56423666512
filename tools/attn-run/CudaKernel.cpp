//===- CudaKernel.cpp - Run kernels on a GPU ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaKernel.h"

#include "attn/Runtime/CudaProgram.h"
#include "attn/TargetInfo/TargetInfo.h"

using namespace attn;
using namespace attn::run;
using namespace attn::runtime;

/// Prints a failure and returns false.
static bool succeeds(const LaunchStatus &status) {
  return status || reportError(status.message);
}

std::optional<std::string> attn::run::findTarget(const CudaDevice &device) {
  int64_t capability = device.getComputeCapability(), best = 0;
  std::string name;
  for (const std::string &known : getKnownTargetNames()) {
    TargetInfo target = *lookupTarget(known);
    // PTX for sm_90a runs on that architecture only, PTX for sm_80 on later
    // ones too.
    bool runs = target.name.back() == 'a'
                    ? target.computeCapability == capability
                    : target.computeCapability <= capability;
    if (target.kind != TargetKind::Gpu || !runs ||
        target.computeCapability <= best)
      continue;
    best = target.computeCapability;
    name = target.name;
  }
  if (!name.empty())
    return name;
  reportError("expected a GPU of compute capability 8.0 or higher, got " +
              std::to_string(capability / 10) + "." +
              std::to_string(capability % 10) + " (" + device.getName() + ")");
  return std::nullopt;
}

/// Memory for an operand; outputs begin as 0xFF bytes, NaN in every float
/// format, so that an element which a kernel forgets is seen.
static std::optional<DeviceMemory> upload(const CudaDevice &device,
                                          const Operand &operand,
                                          const HostTensor &tensor) {
  LaunchResult<DeviceMemory> memory = device.allocate(tensor.data.size());
  if (!succeeds(memory.status()))
    return std::nullopt;
  LaunchStatus status = operand.role == OperandRole::Output
                            ? memory->fill(0xFF)
                            : memory->copyFromHost(tensor.data.data());
  if (!succeeds(status))
    return std::nullopt;
  return std::move(*memory);
}

/// Gives absent outputs their shapes, which follow from the other operands.
static bool makeOutputs(const Manifest &manifest, KernelOperands &operands) {
  std::vector<std::optional<OperandBinding>> given;
  for (const std::optional<HostTensor> &operand : operands) {
    given.emplace_back();
    if (operand)
      given.back() = OperandBinding{operand->shape, {}, 0};
  }
  Result<BoundProblem> problem = bindOperands(manifest, given);
  if (!problem)
    return reportError(problem.error());
  for (size_t i = 0; i < operands.size(); ++i)
    if (!operands[i])
      operands[i] =
          HostTensor(manifest.operands[i].dtype, problem->operands[i].shape);
  return true;
}

namespace {
/// Kernels and their operands on a device.
struct LoadedKernels {
  CudaProgram program;
  std::vector<DeviceMemory> memories;
  std::vector<OperandBinding> bindings;

  LaunchStatus launch() const { return program.launch(bindings); }
};
} // namespace

/// Loads kernels and copies their operands to the device; absent outputs are
/// made.
static std::optional<LoadedKernels> load(const CudaDevice &device,
                                         const Manifest &manifest,
                                         const std::string &ptx,
                                         KernelOperands &operands) {
  LaunchResult<CudaProgram> program = CudaProgram::load(device, manifest, ptx);
  if (!succeeds(program.status()) || !makeOutputs(manifest, operands))
    return std::nullopt;
  LoadedKernels loaded{*program, {}, {}};
  for (size_t i = 0; i < operands.size(); ++i) {
    auto memory = upload(device, manifest.operands[i], *operands[i]);
    if (!memory)
      return std::nullopt;
    loaded.bindings.push_back({operands[i]->shape, {}, memory->getAddress()});
    loaded.memories.push_back(std::move(*memory));
  }
  return loaded;
}

bool attn::run::runOnDevice(const CudaDevice &device, const Manifest &manifest,
                            const std::string &ptx, KernelOperands &operands) {
  auto loaded = load(device, manifest, ptx, operands);
  if (!loaded || !succeeds(loaded->launch()) || !succeeds(device.synchronize()))
    return false;
  for (size_t i = 0; i < operands.size(); ++i)
    if (manifest.operands[i].role != OperandRole::Input &&
        !succeeds(loaded->memories[i].copyToHost(operands[i]->data.data())))
      return false;
  return true;
}

static std::optional<std::vector<CudaEvent>>
createEvents(const CudaDevice &device, int64_t count) {
  std::vector<CudaEvent> events;
  for (int64_t i = 0; i < count; ++i) {
    LaunchResult<CudaEvent> event = device.createEvent();
    if (!succeeds(event.status()))
      return std::nullopt;
    events.push_back(std::move(*event));
  }
  return events;
}

std::optional<std::vector<double>>
attn::run::timeOnDevice(const CudaDevice &device, const Manifest &manifest,
                        const std::string &ptx, KernelOperands &operands,
                        int64_t count) {
  auto loaded = load(device, manifest, ptx, operands);
  auto events = createEvents(device, count + 1);
  if (!loaded || !events)
    return std::nullopt;
  for (int64_t i = 0; i < warmUpLaunches; ++i)
    if (!succeeds(loaded->launch()))
      return std::nullopt;
  // All is queued before anything is waited for: the device is kept busy.
  if (!succeeds(events->front().record()))
    return std::nullopt;
  for (int64_t i = 0; i < count; ++i)
    if (!succeeds(loaded->launch()) || !succeeds((*events)[i + 1].record()))
      return std::nullopt;
  std::vector<double> seconds;
  for (int64_t i = 0; i < count; ++i) {
    LaunchResult<double> time = (*events)[i + 1].secondsSince((*events)[i]);
    if (!succeeds(time.status()))
      return std::nullopt;
    seconds.push_back(*time);
  }
  return seconds;
}
