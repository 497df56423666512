//===- Runtime.cpp - C API: launches PTX by its manifest ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn-c/Runtime.h"

#include "attn/Runtime/Bundle.h"
#include "attn/Runtime/CudaProgram.h"

#include <exception>
#include <memory>
#include <new>

using namespace attn;
using namespace attn::runtime;

struct AttnDevice {
  CudaDevice device;
};
struct AttnMemory {
  DeviceMemory memory;
};
struct AttnManifest {
  std::shared_ptr<const Manifest> manifest;
  std::string text;
};
struct AttnProblem {
  std::shared_ptr<const Manifest> manifest; ///< what `problem` refers to
  BoundProblem problem;
  std::string text, launches;
};
struct AttnProgram {
  CudaProgram program;
};

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static_assert(int(LaunchCode::Success) == ATTN_LAUNCH_SUCCESS);
static_assert(int(LaunchCode::NoDriver) == ATTN_LAUNCH_NO_DRIVER);
static_assert(int(LaunchCode::NoDevice) == ATTN_LAUNCH_NO_DEVICE);
static_assert(int(LaunchCode::WrongArchitecture) ==
              ATTN_LAUNCH_WRONG_ARCHITECTURE);
static_assert(int(LaunchCode::InvalidProgram) == ATTN_LAUNCH_INVALID_PROGRAM);
static_assert(int(LaunchCode::InvalidOperands) == ATTN_LAUNCH_INVALID_OPERANDS);
static_assert(int(LaunchCode::OutOfMemory) == ATTN_LAUNCH_OUT_OF_MEMORY);
static_assert(int(LaunchCode::DriverError) == ATTN_LAUNCH_DRIVER_ERROR);

static thread_local std::string text;
/// That text, or a constant where there was no memory for one.
static thread_local const char *message = "";

const char *attnGetLaunchMessage(void) { return message; }

/// Calls a function that returns a LaunchStatus; lets no exception through.
template <typename Function>
static AttnLaunchCode guarded(Function function) noexcept {
  try {
    LaunchStatus status = function();
    if (!status) {
      text = std::move(status.message);
      message = text.c_str();
    }
    return static_cast<AttnLaunchCode>(status.code);
  } catch (const std::bad_alloc &) {
    message = "expected memory of the host, got none";
    return ATTN_LAUNCH_OUT_OF_MEMORY;
  }
}

/// Moves what a function made into a new object, unless it failed.
template <typename Object, typename T>
static LaunchStatus deliver(LaunchResult<T> made, Object **object) {
  if (made)
    *object = new Object{std::move(*made)};
  return made.status();
}

static LaunchStatus makeNullError(const std::string &what) {
  return {LaunchCode::InvalidOperands, "expected " + what + ", got NULL"};
}

//===----------------------------------------------------------------------===//
// A GPU and its memory
//===----------------------------------------------------------------------===//

AttnLaunchCode attnDeviceOpen(int ordinal, AttnDevice **device) {
  return guarded([&] {
    if (!device)
      return makeNullError("a place for the device");
    *device = nullptr;
    return deliver(CudaDevice::open(ordinal), device);
  });
}

void attnDeviceDestroy(AttnDevice *device) { delete device; }

const char *attnDeviceGetName(const AttnDevice *device) {
  return device->device.getName().c_str();
}

int attnDeviceGetComputeCapability(const AttnDevice *device) {
  return device->device.getComputeCapability();
}

AttnLaunchCode attnDeviceSynchronize(const AttnDevice *device) {
  return guarded([&] {
    return device ? device->device.synchronize() : makeNullError("a device");
  });
}

AttnLaunchCode attnMemoryAllocate(const AttnDevice *device, size_t bytes,
                                  AttnMemory **memory) {
  return guarded([&] {
    if (!memory)
      return makeNullError("a place for the memory");
    *memory = nullptr;
    if (!device)
      return makeNullError("a device");
    return deliver(device->device.allocate(bytes), memory);
  });
}

void attnMemoryDestroy(AttnMemory *memory) { delete memory; }

uint64_t attnMemoryGetAddress(const AttnMemory *memory) {
  return memory->memory.getAddress();
}

AttnLaunchCode attnMemoryCopyFromHost(AttnMemory *memory, const void *source) {
  return guarded([&] {
    return memory && source ? memory->memory.copyFromHost(source)
                            : makeNullError("memory and a source");
  });
}

AttnLaunchCode attnMemoryCopyToHost(const AttnMemory *memory, void *target) {
  return guarded([&] {
    return memory && target ? memory->memory.copyToHost(target)
                            : makeNullError("memory and a target");
  });
}

//===----------------------------------------------------------------------===//
// Manifests
//===----------------------------------------------------------------------===//

/// The program called `name` of a bundle.
static LaunchResult<Manifest> readProgram(const char *bundle,
                                          const char *name) {
  Result<Bundle> read = readBundle(bundle);
  if (!read)
    return LaunchStatus{LaunchCode::InvalidProgram, read.error()};
  Result<Manifest> manifest = selectProgram(*read, name ? name : "");
  if (!manifest)
    return LaunchStatus{LaunchCode::InvalidProgram, manifest.error()};
  return std::move(*manifest);
}

/// A binding for each operand that is given.
static LaunchResult<std::vector<std::optional<OperandBinding>>>
getBindings(const AttnTensor *operands, size_t count) {
  std::vector<std::optional<OperandBinding>> bindings(count);
  for (size_t i = 0; i < count; ++i) {
    const auto &[address, rank, shape, strides] = operands[i];
    if (rank == ATTN_NOT_GIVEN)
      continue;
    if (rank && !shape)
      return makeNullError("a shape of operand " + std::to_string(i));
    OperandBinding &binding = bindings[i].emplace();
    binding.address = address;
    binding.shape.assign(shape, shape + rank);
    if (strides)
      binding.strides.assign(strides, strides + rank);
  }
  return bindings;
}

AttnLaunchCode attnManifestRead(const char *text, const char *name,
                                AttnManifest **manifest) {
  return guarded([&] {
    if (!manifest)
      return makeNullError("a place for the manifest");
    *manifest = nullptr;
    if (!text)
      return makeNullError("a manifest");
    LaunchResult<Manifest> read = readProgram(text, name);
    if (read)
      *manifest = new AttnManifest{
          std::make_shared<const Manifest>(std::move(*read)), ""};
    if (read)
      (*manifest)->text = writeManifest(*(*manifest)->manifest);
    return read.status();
  });
}

void attnManifestDestroy(AttnManifest *manifest) { delete manifest; }

const char *attnManifestGetText(const AttnManifest *manifest) {
  return manifest->text.c_str();
}

AttnLaunchCode attnManifestCheckPtx(const AttnManifest *manifest,
                                    const char *ptx) {
  return guarded([&] {
    if (!manifest || !ptx)
      return makeNullError("a manifest and PTX");
    std::optional<Error> error = checkPtxDigest(*manifest->manifest, ptx);
    return error ? LaunchStatus{LaunchCode::InvalidProgram, error->message}
                 : LaunchStatus();
  });
}

AttnLaunchCode attnManifestBind(const AttnManifest *manifest,
                                const AttnTensor *operands, size_t numOperands,
                                int64_t numSMs, AttnProblem **problem) {
  return guarded([&] {
    if (!problem)
      return makeNullError("a place for the problem");
    *problem = nullptr;
    if (!manifest || (!operands && numOperands))
      return makeNullError("a manifest and operands");
    auto bindings = getBindings(operands, numOperands);
    if (!bindings)
      return bindings.status();
    Result<BoundProblem> bound =
        bindOperands(*manifest->manifest, *bindings, numSMs);
    if (!bound)
      return LaunchStatus{LaunchCode::InvalidOperands, bound.error()};
    std::string text = writeProblem(*bound);
    *problem = new AttnProblem{manifest->manifest, std::move(*bound),
                               std::move(text), ""};
    return LaunchStatus();
  });
}

void attnProblemDestroy(AttnProblem *problem) { delete problem; }

const char *attnProblemGetText(const AttnProblem *problem) {
  return problem->text.c_str();
}

AttnLaunchCode attnProblemGetLaunches(AttnProblem *problem, const char **text) {
  return guarded([&] {
    if (!problem || !text)
      return makeNullError("a problem and a place for the text");
    Result<std::string> launches = writeLaunches(problem->problem);
    if (!launches)
      return LaunchStatus{LaunchCode::InvalidOperands, launches.error()};
    problem->launches = std::move(*launches);
    *text = problem->launches.c_str();
    return LaunchStatus();
  });
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

AttnLaunchCode attnProgramLoad(const AttnDevice *device, const char *manifest,
                               const char *ptx, AttnProgram **program) {
  return attnProgramLoadNamed(device, manifest, "", ptx, program);
}

AttnLaunchCode attnProgramLoadNamed(const AttnDevice *device,
                                    const char *bundle, const char *name,
                                    const char *ptx, AttnProgram **program) {
  return guarded([&] {
    if (!program)
      return makeNullError("a place for the program");
    *program = nullptr;
    if (!device || !bundle || !ptx)
      return makeNullError("a device, a manifest and PTX");
    LaunchResult<Manifest> manifest = readProgram(bundle, name);
    if (!manifest)
      return manifest.status();
    return deliver(CudaProgram::load(device->device, std::move(*manifest), ptx),
                   program);
  });
}

void attnProgramDestroy(AttnProgram *program) { delete program; }

static const std::vector<Operand> &getOperands(const AttnProgram *program) {
  return program->program.getManifest().operands;
}

const char *attnProgramGetTarget(const AttnProgram *program) {
  return program->program.getManifest().target.c_str();
}

size_t attnProgramGetNumOperands(const AttnProgram *program) {
  return getOperands(program).size();
}

const char *attnProgramGetOperandName(const AttnProgram *program,
                                      size_t index) {
  const std::vector<Operand> &operands = getOperands(program);
  return index < operands.size() ? operands[index].name.c_str() : nullptr;
}

bool attnProgramIsOperandWritten(const AttnProgram *program, size_t index) {
  const std::vector<Operand> &operands = getOperands(program);
  return index < operands.size() && operands[index].role != OperandRole::Input;
}

/// The operands of a program, each of which is there.
static LaunchResult<std::vector<OperandBinding>>
getOperands(const AttnProgram *program, const AttnTensor *operands,
            size_t numOperands) {
  if (!program || (!operands && numOperands))
    return makeNullError("a program and operands");
  auto given = getBindings(operands, numOperands);
  if (!given)
    return given.status();
  std::vector<OperandBinding> bindings;
  for (std::optional<OperandBinding> &binding : *given) {
    if (!binding)
      return makeNullError("every operand");
    bindings.push_back(std::move(*binding));
  }
  return bindings;
}

AttnLaunchCode attnProgramLaunch(const AttnProgram *program,
                                 const AttnTensor *operands, size_t numOperands,
                                 void *stream) {
  return guarded([&] {
    auto bindings = getOperands(program, operands, numOperands);
    return bindings ? program->program.launch(*bindings, stream)
                    : bindings.status();
  });
}

AttnLaunchCode attnProgramPlan(const AttnProgram *program,
                               const AttnTensor *operands, size_t numOperands,
                               size_t *workspaceBytes) {
  return guarded([&]() -> LaunchStatus {
    if (!workspaceBytes)
      return makeNullError("a place for the bytes");
    auto bindings = getOperands(program, operands, numOperands);
    if (!bindings)
      return bindings.status();
    auto planned = program->program.plan(*bindings);
    if (planned)
      *workspaceBytes = *planned;
    return planned.status();
  });
}

AttnLaunchCode attnProgramRun(const AttnProgram *program,
                              const AttnTensor *operands, size_t numOperands,
                              uint64_t workspace, size_t workspaceBytes,
                              void *stream) {
  return guarded([&] {
    auto bindings = getOperands(program, operands, numOperands);
    return bindings ? program->program.run(*bindings,
                                           {workspace, workspaceBytes}, stream)
                    : bindings.status();
  });
}
