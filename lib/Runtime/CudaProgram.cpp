//===- CudaProgram.cpp - Launches PTX by its manifest ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Binding evaluates expressions, which takes longer than a launch should: what
// it gave for the shapes and strides of a launch is kept for the next one.
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/CudaProgram.h"

#include "CudaDeviceState.h"
#include "OperandChecks.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <mutex>

using namespace attn;
using namespace attn::runtime;
using namespace attn::runtime::cuda;

namespace {

/// What the launches of some shapes and strides need, but for addresses.
struct Binding {
  std::vector<KernelLaunch> launches;
  std::vector<int64_t> workspaceBytes;
};

/// Of a tensor that kernels read by 16 bytes, or by a tensor map.
constexpr size_t workspaceAlignment = 256;

size_t alignWorkspace(int64_t bytes) {
  return (static_cast<size_t>(std::max<int64_t>(bytes, 0)) +
          workspaceAlignment - 1) /
         workspaceAlignment * workspaceAlignment;
}

/// All workspaces, one behind the other.
size_t sumWorkspaces(const Binding &binding) {
  size_t sum = 0;
  for (int64_t bytes : binding.workspaceBytes)
    sum += alignWorkspace(bytes);
  return sum;
}

/// Workspaces in memory that is given, or from a stream's memory pool, given
/// back behind what the stream was given in between.
class Workspaces {
public:
  Workspaces(const CudaDriver &driver, CudaStream stream)
      : driver(driver), stream(stream) {}
  Workspaces(const Workspaces &) = delete;
  Workspaces &operator=(const Workspaces &) = delete;
  ~Workspaces() {
    if (isOwn && data)
      driver.cuMemFreeAsync(data, stream);
  }

  LaunchStatus take(const WorkspaceMemory *given, size_t bytes) {
    if (bytes == 0)
      return {};
    isOwn = !given;
    if (!given)
      return driver.check(driver.cuMemAllocAsync(&data, bytes, stream),
                          "workspace of " + std::to_string(bytes) + " bytes");
    auto fail = [](const std::string &message) {
      return LaunchStatus{LaunchCode::InvalidOperands, message};
    };
    if (given->bytes < bytes)
      return fail("expected a workspace of " + std::to_string(bytes) +
                  " bytes as planned, got " + std::to_string(given->bytes));
    if (!given->address || given->address % workspaceAlignment != 0)
      return fail("expected the address of a workspace to be a multiple of " +
                  std::to_string(workspaceAlignment));
    data = given->address;
    return {};
  }

  /// The next one.
  LaunchStatus add(const Workspace &workspace, int64_t bytes) {
    CUdeviceptr address = data + offset;
    addresses.push_back(address);
    offset += alignWorkspace(bytes);
    if (bytes <= 0 || workspace.fill != WorkspaceFill::Zero)
      return {};
    return driver.check(
        driver.cuMemsetD8Async(address, 0, static_cast<size_t>(bytes), stream),
        "cuMemsetD8Async to succeed");
  }

  CUdeviceptr operator[](size_t index) const { return addresses[index]; }

private:
  const CudaDriver &driver;
  CudaStream stream;
  bool isOwn = true;
  CUdeviceptr data = 0;
  size_t offset = 0;
  std::vector<CUdeviceptr> addresses;
};

/// A kernel parameter, or a tensor map, which are at most as large.
using ParameterBytes = CUtensorMap;

} // namespace

static int toDataType(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  case DType::BF16:
    return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  case DType::F32:
    return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  case DType::F64:
    return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
  case DType::I32:
    return CU_TENSOR_MAP_DATA_TYPE_INT32;
  case DType::I64:
    return CU_TENSOR_MAP_DATA_TYPE_INT64;
  case DType::F8E4M3FN:
  case DType::F8E5M2:
  case DType::I1:
  case DType::I8:
    break;
  }
  return CU_TENSOR_MAP_DATA_TYPE_UINT8;
}

static unsigned toUnsigned(int64_t value) {
  return static_cast<unsigned>(value);
}

static int toSwizzle(int64_t bytes) {
  return bytes == 0    ? CU_TENSOR_MAP_SWIZZLE_NONE
         : bytes == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
         : bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                       : CU_TENSOR_MAP_SWIZZLE_128B;
}

static bool isEmpty(const OperandBinding &operand) {
  return std::count(operand.shape.begin(), operand.shape.end(), 0) > 0;
}

template <typename Scalar>
static void put(ParameterBytes &bytes, Scalar value) {
  std::memcpy(bytes.opaque, &value, sizeof value);
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

struct CudaProgram::State {
  State(CudaDevice device, Manifest manifest)
      : device(std::move(device)), manifest(std::move(manifest)) {}
  ~State();
  State(const State &) = delete;
  State &operator=(const State &) = delete;

  LaunchStatus load(const std::string &ptx);
  LaunchResult<size_t> plan(const std::vector<OperandBinding> &operands);
  LaunchStatus launch(const std::vector<OperandBinding> &operands,
                      const WorkspaceMemory *workspace, CudaStream stream);

  const CudaDevice device;
  const Manifest manifest;

private:
  struct LoadedKernel {
    CUfunction function = nullptr;
    int64_t sharedBytes = 48 * 1024; // what a kernel may have unasked
  };
  /// The operands and the workspaces of one launch.
  struct Places {
    const std::vector<OperandBinding> &operands;
    const Workspaces &workspaces;
  };

  const CudaDriver &driver() const { return device.state->driver; }
  LaunchStatus checkArchitecture() const;
  LaunchStatus loadModule(const std::string &ptx);
  LaunchStatus loadKernel(const Kernel &kernel);

  LaunchResult<std::shared_ptr<const Binding>>
  bind(const std::vector<OperandBinding> &operands);
  LaunchStatus
  checkAddresses(const std::vector<OperandBinding> &operands) const;

  LaunchStatus launchKernel(const KernelLaunch &launch, const Places &places,
                            CudaStream stream);
  LaunchStatus allowSharedBytes(LoadedKernel &kernel, int64_t bytes);
  LaunchStatus pack(const ParameterValue &value, const Places &places,
                    ParameterBytes &bytes) const;
  LaunchStatus encodeTensorMap(const ParameterValue &value, CUdeviceptr base,
                               ParameterBytes &bytes) const;
  CUdeviceptr getAddress(const ParameterValue &value,
                         const Places &places) const;

  static constexpr size_t maxBindings = 256;

  CUmodule module = nullptr;
  std::vector<LoadedKernel> kernels; // as the manifest's
  /// Where tensor maps of empty tensors point: they must point somewhere.
  std::optional<DeviceMemory> placeholder;
  /// Guards the two below.
  std::mutex mutex;
  std::map<std::vector<int64_t>, std::shared_ptr<const Binding>> bindings;
};

CudaProgram::State::~State() {
  if (module)
    (void)device.state->call("cuModuleUnload to succeed",
                             driver().cuModuleUnload, module);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

LaunchStatus CudaProgram::State::load(const std::string &ptx) {
  if (std::optional<Error> error = validate(manifest))
    return {LaunchCode::InvalidProgram, error->message};
  if (LaunchStatus status = checkArchitecture(); !status)
    return status;
  if (std::optional<Error> error = checkPtxDigest(manifest, ptx))
    return {LaunchCode::InvalidProgram, error->message};
  ContextScope scope(driver(), device.state->context);
  LaunchStatus status = scope.status;
  if (status)
    status = loadModule(ptx);
  for (const Kernel &kernel : manifest.kernels)
    if (status)
      status = loadKernel(kernel);
  if (!status)
    return status;
  LaunchResult<DeviceMemory> memory = device.allocate(256);
  if (!memory)
    return memory.status();
  placeholder = std::move(*memory);
  return {};
}

/// PTX for "sm_90a" runs on that architecture only, PTX for "sm_80" on later
/// ones too.
LaunchStatus CudaProgram::State::checkArchitecture() const {
  int wanted = 0;
  for (char c : manifest.target)
    if (std::isdigit(static_cast<unsigned char>(c)))
      wanted = 10 * wanted + (c - '0');
  bool isExact = !manifest.target.empty() && manifest.target.back() == 'a';
  int got = device.getComputeCapability();
  if (isExact ? got == wanted : got >= wanted)
    return {};
  auto format = [](int capability) {
    return std::to_string(capability / 10) + "." +
           std::to_string(capability % 10);
  };
  return {LaunchCode::WrongArchitecture,
          "expected a device of compute capability " + format(wanted) +
              (isExact ? " (" : " or higher (") + manifest.target + "), got " +
              format(got) + " (" + device.getName() + ")"};
}

LaunchStatus CudaProgram::State::loadModule(const std::string &ptx) {
  char log[1024] = "";
  int options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  LaunchStatus status = driver().check(
      driver().cuModuleLoadDataEx(&module, ptx.c_str(), 2, options, values),
      "the driver to load the PTX", LaunchCode::InvalidProgram);
  if (!status && log[0])
    status.message += std::string(": ") + log;
  return status;
}

LaunchStatus CudaProgram::State::loadKernel(const Kernel &kernel) {
  LoadedKernel loaded;
  LaunchStatus status = driver().check(
      driver().cuModuleGetFunction(&loaded.function, module,
                                   kernel.entry.c_str()),
      "kernel " + kernel.entry + " in the PTX", LaunchCode::InvalidProgram);
  constexpr int64_t maxPortableCluster = 8;
  if (status && kernel.cluster[0] * kernel.cluster[1] * kernel.cluster[2] >
                    maxPortableCluster)
    status = driver().check(
        driver().cuFuncSetAttribute(
            loaded.function,
            CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
        "clusters of more than 8 CTAs");
  kernels.push_back(loaded);
  return status;
}

//===----------------------------------------------------------------------===//
// Binding
//===----------------------------------------------------------------------===//

static std::vector<int64_t>
makeKey(const std::vector<OperandBinding> &operands) {
  std::vector<int64_t> key;
  key.reserve(operands.size() * 10);
  for (const OperandBinding &operand : operands)
    for (const std::vector<int64_t> *list :
         {&operand.shape, &operand.strides}) {
      key.push_back(static_cast<int64_t>(list->size()));
      key.insert(key.end(), list->begin(), list->end());
    }
  return key;
}

LaunchResult<std::shared_ptr<const Binding>>
CudaProgram::State::bind(const std::vector<OperandBinding> &operands) {
  std::vector<int64_t> key = makeKey(operands);
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (auto known = bindings.find(key); known != bindings.end())
      return known->second;
  }
  auto fail = [](const std::string &message) {
    return LaunchStatus{LaunchCode::InvalidOperands, message};
  };
  Result<BoundProblem> problem =
      bindOperands(manifest, {operands.begin(), operands.end()},
                   std::max<int64_t>(device.getSmCount(), 1));
  if (!problem)
    return fail(problem.error());
  Result<std::vector<KernelLaunch>> launches = resolveLaunches(*problem);
  if (!launches)
    return fail(launches.error());
  Result<std::vector<int64_t>> bytes = runtime::workspaceBytes(*problem);
  if (!bytes)
    return fail(bytes.error());
  auto binding = std::make_shared<const Binding>(
      Binding{std::move(*launches), std::move(*bytes)});
  std::lock_guard<std::mutex> lock(mutex);
  if (bindings.size() >= maxBindings)
    bindings.clear();
  bindings.emplace(std::move(key), binding);
  return std::shared_ptr<const Binding>(binding);
}

LaunchStatus CudaProgram::State::checkAddresses(
    const std::vector<OperandBinding> &operands) const {
  for (size_t i = 0; i < operands.size(); ++i) {
    const Operand &operand = manifest.operands[i];
    uint64_t address = operands[i].address;
    if (!address && !isEmpty(operands[i]))
      return {LaunchCode::InvalidOperands,
              "operand " + operand.name + ": expected an address, got 0"};
    if (std::optional<Error> error = checkAlignment(operand, address))
      return {LaunchCode::InvalidOperands, error->message};
  }
  if (std::optional<Error> error = checkAliases(manifest, operands))
    return {LaunchCode::InvalidOperands, error->message};
  return {};
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

LaunchResult<size_t>
CudaProgram::State::plan(const std::vector<OperandBinding> &operands) {
  auto binding = bind(operands);
  if (!binding)
    return binding.status();
  return sumWorkspaces(**binding);
}

LaunchStatus
CudaProgram::State::launch(const std::vector<OperandBinding> &operands,
                           const WorkspaceMemory *workspace,
                           CudaStream stream) {
  auto binding = bind(operands);
  if (!binding)
    return binding.status();
  LaunchStatus status = checkAddresses(operands);
  if (!status)
    return status;
  ContextScope scope(driver(), device.state->context);
  if (!scope.status)
    return scope.status;
  Workspaces workspaces(driver(), stream);
  status = workspaces.take(workspace, sumWorkspaces(**binding));
  for (size_t i = 0; i < manifest.workspaces.size() && status; ++i)
    status =
        workspaces.add(manifest.workspaces[i], (*binding)->workspaceBytes[i]);
  Places places{operands, workspaces};
  for (const KernelLaunch &launch : (*binding)->launches)
    if (status && !launch.isEmpty())
      status = launchKernel(launch, places, stream);
  return status;
}

LaunchStatus CudaProgram::State::launchKernel(const KernelLaunch &launch,
                                              const Places &places,
                                              CudaStream stream) {
  const Kernel &kernel = *launch.kernel;
  LoadedKernel &loaded = kernels[&kernel - manifest.kernels.data()];
  std::vector<ParameterBytes> values(launch.parameters.size());
  std::vector<void *> parameters;
  LaunchStatus status = allowSharedBytes(loaded, launch.sharedBytes);
  for (size_t i = 0; i < values.size() && status; ++i) {
    status = pack(launch.parameters[i], places, values[i]);
    parameters.push_back(&values[i]);
  }
  if (!status)
    return status;
  CUlaunchAttribute attributes[2] = {};
  CUlaunchConfig config{};
  config.attrs = attributes;
  if (kernel.cluster != std::array<int64_t, 3>{1, 1, 1}) {
    CUlaunchAttribute &attribute = attributes[config.numAttrs++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim = {toUnsigned(kernel.cluster[0]),
                                  toUnsigned(kernel.cluster[1]),
                                  toUnsigned(kernel.cluster[2])};
  }
  if (launch.isProgrammatic) {
    CUlaunchAttribute &attribute = attributes[config.numAttrs++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
  }
  config.gridDimX = toUnsigned(launch.grid[0]);
  config.gridDimY = toUnsigned(launch.grid[1]);
  config.gridDimZ = toUnsigned(launch.grid[2]);
  config.blockDimX = toUnsigned(kernel.block[0]);
  config.blockDimY = toUnsigned(kernel.block[1]);
  config.blockDimZ = toUnsigned(kernel.block[2]);
  config.sharedMemBytes = toUnsigned(launch.sharedBytes);
  config.hStream = stream;
  return driver().check(driver().cuLaunchKernelEx(&config, loaded.function,
                                                  parameters.data(), nullptr),
                        "cuLaunchKernelEx to succeed");
}

LaunchStatus CudaProgram::State::allowSharedBytes(LoadedKernel &kernel,
                                                  int64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  if (bytes <= kernel.sharedBytes)
    return {};
  LaunchStatus status = driver().check(
      driver().cuFuncSetAttribute(
          kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
          static_cast<int>(bytes)),
      std::to_string(bytes) + " bytes of shared memory");
  if (status)
    kernel.sharedBytes = bytes;
  return status;
}

LaunchStatus CudaProgram::State::pack(const ParameterValue &value,
                                      const Places &places,
                                      ParameterBytes &bytes) const {
  switch (value.parameter->kind) {
  case ParameterKind::Pointer:
    put(bytes, getAddress(value, places));
    break;
  case ParameterKind::I32:
    put(bytes, static_cast<int32_t>(value.scalar.integer));
    break;
  case ParameterKind::I64:
    put(bytes, value.scalar.integer);
    break;
  case ParameterKind::F32:
    put(bytes, static_cast<float>(value.scalar.real));
    break;
  case ParameterKind::F64:
    put(bytes, value.scalar.real);
    break;
  case ParameterKind::TensorMap:
    return encodeTensorMap(value, getAddress(value, places), bytes);
  }
  return {};
}

/// Where a pointer or tensor map points to; wraps like the machine's addresses,
/// since an offset may be negative.
CUdeviceptr CudaProgram::State::getAddress(const ParameterValue &value,
                                           const Places &places) const {
  const Parameter &parameter = *value.parameter;
  auto offset = static_cast<CUdeviceptr>(value.byteOffset);
  for (size_t i = 0; i < manifest.operands.size(); ++i)
    if (manifest.operands[i].name == parameter.operand)
      return places.operands[i].address + offset;
  for (size_t i = 0; i < manifest.workspaces.size(); ++i)
    if (manifest.workspaces[i].name == parameter.workspace)
      return places.workspaces[i] + offset;
  assert(false && "expected a valid manifest");
  return 0;
}

LaunchStatus CudaProgram::State::encodeTensorMap(const ParameterValue &value,
                                                 CUdeviceptr base,
                                                 ParameterBytes &bytes) const {
  const TensorMap &map = value.parameter->tensorMap;
  std::vector<uint32_t> box(map.box.begin(), map.box.end());
  std::vector<uint32_t> steps(map.elementStrides.begin(),
                              map.elementStrides.end());
  steps.resize(value.dims.size(), 1);
  CUdeviceptr address = base ? base : placeholder->getAddress();
  return driver().check(
      driver().cuTensorMapEncodeTiled(
          &bytes, toDataType(map.dtype),
          static_cast<uint32_t>(value.dims.size()),
          reinterpret_cast<void *>(address), value.dims.data(),
          value.stridesBytes.data(), box.data(), steps.data(),
          CU_TENSOR_MAP_INTERLEAVE_NONE, toSwizzle(map.swizzleBytes),
          CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
          map.fill == TensorMapFill::Zero
              ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE
              : CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA),
      "cuTensorMapEncodeTiled to succeed");
}

//===----------------------------------------------------------------------===//
// CudaProgram
//===----------------------------------------------------------------------===//

LaunchResult<CudaProgram> CudaProgram::load(const CudaDevice &device,
                                            Manifest manifest,
                                            const std::string &ptx) {
  auto state = std::make_shared<State>(device, std::move(manifest));
  if (LaunchStatus status = state->load(ptx); !status)
    return status;
  return CudaProgram(std::move(state));
}

const CudaDevice &CudaProgram::getDevice() const { return state->device; }
const Manifest &CudaProgram::getManifest() const { return state->manifest; }

LaunchStatus CudaProgram::launch(const std::vector<OperandBinding> &operands,
                                 CudaStream stream) const {
  return state->launch(operands, /*workspace=*/nullptr, stream);
}

LaunchResult<size_t>
CudaProgram::plan(const std::vector<OperandBinding> &operands) const {
  return state->plan(operands);
}

LaunchStatus CudaProgram::run(const std::vector<OperandBinding> &operands,
                              const WorkspaceMemory &workspace,
                              CudaStream stream) const {
  return state->launch(operands, &workspace, stream);
}
