//===- Prelude.h - What every emitted header has ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TARGET_HEADER_PRELUDE_H
#define ATTN_LIB_TARGET_HEADER_PRELUDE_H

namespace attn {

/// The code that does not depend on the manifest, with attn_launch_VERSION for
/// the namespace of the compiler's version. The guard lets a program include
/// several emitted headers, and the namespace those of several versions.
inline constexpr char headerPrelude[] = R"cpp(
#include <cuda.h>

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#ifndef ATTN_PRELUDE_attn_launch_VERSION
#define ATTN_PRELUDE_attn_launch_VERSION
namespace attn_launch_VERSION {

/// A tensor on the device: address of its first element, sizes, and strides in
/// elements.
template <int Rank>
struct Tensor {
  CUdeviceptr data = 0;
  std::array<int64_t, Rank> shape{};
  std::array<int64_t, Rank> strides{};

  /// A tensor without gaps, the last dimension innermost.
  static Tensor rowMajor(CUdeviceptr data, std::array<int64_t, Rank> shape) {
    Tensor tensor{data, shape, {}};
    int64_t stride = 1;
    for (int i = Rank - 1; i >= 0; --i) {
      tensor.strides[i] = stride;
      stride *= std::max<int64_t>(shape[i], 1);
    }
    return tensor;
  }

  bool isEmpty() const {
    return std::find(shape.begin(), shape.end(), 0) != shape.end();
  }
};

/// CUDA_SUCCESS, or an error and what it is about.
struct Status {
  CUresult code = CUDA_SUCCESS;
  std::string message;

  explicit operator bool() const { return code == CUDA_SUCCESS; }
};

//===----------------------------------------------------------------------===//
// The driver
//===----------------------------------------------------------------------===//

/// What launches call, and what a program without the CUDA runtime needs beside:
/// a context and device memory.
#define ATTN_LAUNCH_DRIVER(X)                                                  \
  X(cuInit) X(cuDeviceGetCount) X(cuDeviceGet) X(cuDevicePrimaryCtxRetain)     \
  X(cuCtxSetCurrent) X(cuCtxGetCurrent) X(cuCtxGetId) X(cuCtxGetDevice)        \
  X(cuCtxSynchronize) X(cuDeviceGetAttribute)                                  \
X(cuGetErrorName) X(cuGetErrorString)                \
  X(cuMemAlloc) X(cuMemFree) X(cuMemcpyHtoD) X(cuMemcpyDtoH)                   \
  X(cuMemAllocAsync) X(cuMemFreeAsync) X(cuMemsetD8Async)                      \
  X(cuModuleLoadDataEx) X(cuModuleUnload) X(cuModuleGetFunction)               \
  X(cuFuncSetAttribute)                                                        \
  X(cuTensorMapEncodeTiled) X(cuLaunchKernelEx)

/// Functions of the CUDA driver under their own names, found when the program
/// runs: it links no CUDA library, and starts where there is no driver. The
/// environment variable ATTN_LIBCUDA names another library to take, such as a
/// simulator.
class Driver {
public:
  /// The process's driver; nothing may be called unless `status` is success.
  static const Driver &get() {
    static const Driver driver;
    return driver;
  }

  /// "error 2 (CUDA_ERROR_OUT_OF_MEMORY: out of memory)"
  std::string describe(CUresult code) const {
    const char *name = nullptr, *text = nullptr;
    std::string result = "error " + std::to_string(static_cast<int>(code));
    if (cuGetErrorName(code, &name) == CUDA_SUCCESS && name &&
        cuGetErrorString(code, &text) == CUDA_SUCCESS && text)
      result += std::string(" (") + name + ": " + text + ")";
    return result;
  }

  Status status;
#define ATTN_LAUNCH_DECLARE(name) decltype(&::name) name = nullptr;
  ATTN_LAUNCH_DRIVER(ATTN_LAUNCH_DECLARE)
#undef ATTN_LAUNCH_DECLARE

private:
  Driver() {
    const char *path = std::getenv("ATTN_LIBCUDA");
    void *library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW);
    if (!library) {
      const char *reason = dlerror();
      status = {CUDA_ERROR_NOT_INITIALIZED,
                std::string("expected the CUDA driver, got none: ") +
                    (reason ? reason : "")};
      return;
    }
    // cuda.h maps some names to newer versions of a function: cuMemAlloc_v2.
#define ATTN_LAUNCH_TEXT(name) #name
#define ATTN_LAUNCH_LOAD(name)                                                 \
  load(library, ATTN_LAUNCH_TEXT(name), this->name);
    ATTN_LAUNCH_DRIVER(ATTN_LAUNCH_LOAD)
#undef ATTN_LAUNCH_LOAD
#undef ATTN_LAUNCH_TEXT
    if (!status)
      return;
    if (CUresult code = cuInit(0); code != CUDA_SUCCESS)
      status = {code, "expected cuInit to succeed, got " + describe(code)};
  }

  template <typename Function>
  void load(void *library, const char *name, Function &function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (status && !function)
      status = {CUDA_ERROR_NOT_FOUND, std::string("expected a CUDA driver with ") +
                                          name + ", got an older one"};
  }
};

/// Makes the primary context of a device, which the CUDA runtime uses too, the
/// current one of this thread.
inline Status useDevice(int ordinal = 0) {
  const Driver &cuda = Driver::get();
  if (!cuda.status)
    return cuda.status;
  int count = 0;
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUresult code = cuda.cuDeviceGetCount(&count);
  if (code == CUDA_SUCCESS && (ordinal < 0 || ordinal >= count))
    return {CUDA_ERROR_INVALID_DEVICE, "expected a CUDA device " +
                                           std::to_string(ordinal) + ", got " +
                                           std::to_string(count) + " devices"};
  if (code == CUDA_SUCCESS)
    code = cuda.cuDeviceGet(&device, ordinal);
  if (code == CUDA_SUCCESS)
    code = cuda.cuDevicePrimaryCtxRetain(&context, device);
  if (code == CUDA_SUCCESS)
    code = cuda.cuCtxSetCurrent(context);
  if (code != CUDA_SUCCESS)
    return {code, "expected a context of CUDA device " + std::to_string(ordinal) +
                      ", got " + cuda.describe(code)};
  return {};
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

inline int64_t floordiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
inline int64_t ceildiv(int64_t a, int64_t b) { return -floordiv(-a, b); }
inline int64_t mod(int64_t a, int64_t b) { return a - floordiv(a, b) * b; }
template <typename A, typename B>
auto min(A a, B b) { return std::min<decltype(a + b)>(a, b); }
template <typename A, typename B>
auto max(A a, B b) { return std::max<decltype(a + b)>(a, b); }

/// The bytes of a tensor, from its first to behind its last; none of an empty one.
struct Range {
  template <int Rank>
  Range(const Tensor<Rank> &tensor, int64_t elementBytes) {
    int64_t last = 0, elements = 1;
    for (int i = 0; i < Rank; ++i) {
      last += (tensor.shape[i] - 1) * tensor.strides[i];
      elements *= tensor.shape[i];
    }
    if (tensor.isEmpty())
      return;
    begin = tensor.data;
    end = begin + (last + 1) * elementBytes;
    hasGaps = last + 1 != elements;
  }
  CUdeviceptr begin = 0, end = 0;
  bool hasGaps = false;
};

/// The first fault found, or success.
class Checker {
public:
  /// Texts are only made for a fault: most launches have none.
  template <typename Text>
  void require(bool holds, const Text &message,
               CUresult code = CUDA_ERROR_INVALID_VALUE) {
    if (status && !holds)
      status = {code, message};
  }
  template <typename Text>
  void driver(CUresult code, const Text &what) {
    if (status && code != CUDA_SUCCESS)
      status = {code, std::string("expected ") + what + ", got " +
                          Driver::get().describe(code)};
  }
  /// The size that other operands are held against.
  int64_t size(const char *operand, int dim, int64_t got) {
    if (got < 0)
      fault(operand, "dim " + std::to_string(dim) + " to be 0 or more, got " +
                         std::to_string(got));
    return got;
  }
  void extent(const char *operand, int dim, int64_t got, int64_t expected) {
    if (got != expected)
      fault(operand, "dim " + std::to_string(dim) + " to be " +
                         std::to_string(expected) + ", got " + std::to_string(got));
  }
  /// `isContiguous` dimensions have stride 1, the others a multiple of `multiple`.
  template <int Rank>
  void layout(const char *operand, const Tensor<Rank> &tensor,
              std::array<bool, Rank> isContiguous, int64_t multiple,
              int64_t alignment) {
    for (int i = 0; i < Rank; ++i) {
      int64_t stride = tensor.strides[i];
      if (tensor.shape[i] < 2 || (isContiguous[i] ? stride == 1 : stride % multiple == 0))
        continue;
      fault(operand, "stride " + std::to_string(i) + " to be " +
                         (isContiguous[i] ? "1"
                                          : "a multiple of " + std::to_string(multiple)) +
                         ", got " + std::to_string(stride));
    }
    if (!tensor.data && !tensor.isEmpty())
      fault(operand, "an address, got 0");
    if (tensor.data % alignment != 0)
      fault(operand, "an address that is a multiple of " +
                         std::to_string(alignment) + " bytes");
  }
  /// Kernels write outputs while they read inputs. Tensors with gaps may lie in
  /// those of each other.
  void apart(const char *output, const Range &own, const char *other,
             const Range &its) {
    bool areWoven = (own.hasGaps || its.hasGaps) && own.begin != its.begin;
    if (own.end > its.begin && its.end > own.begin && !areWoven)
      fault(output, std::string("memory of its own, got that of operand ") + other);
  }
  void fault(const char *operand, const std::string &expected) {
    require(false, std::string("operand ") + operand + ": expected " + expected);
  }
  Status status;
};

//===----------------------------------------------------------------------===//
// Modules and kernels
//===----------------------------------------------------------------------===//

/// What the PTX needs: a device of this compute capability (10 * major + minor)
/// or of a later one, and of no other where the PTX is `isExact`.
struct Architecture {
  const char *name;
  int capability;
  bool isExact;
};

/// Kernels as they are loaded into one context, which they live as long as.
class Module {
public:
  int64_t smCount = 1;

  /// The module of `ptx` in the current context, loaded on first use. Null on a
  /// fault.
  static Module *get(const char *ptx, const Architecture &architecture,
                     Checker &check) {
    unsigned long long context = getContext(check);
    if (!check.status)
      return nullptr;
    Loaded &loaded = getLoaded();
    std::lock_guard<std::mutex> lock(loaded.mutex);
    auto [known, isNew] = loaded.modules.try_emplace({context, ptx});
    if (isNew)
      known->second.load(ptx, architecture, check);
    if (check.status)
      return &known->second;
    loaded.modules.erase(known);
    return nullptr;
  }

  /// Takes the module of `ptx` out of the current context, if it is there.
  static void unload(const char *ptx, Checker &check) {
    unsigned long long context = getContext(check);
    if (!check.status)
      return;
    Loaded &loaded = getLoaded();
    std::lock_guard<std::mutex> lock(loaded.mutex);
    auto known = loaded.modules.find({context, ptx});
    if (known == loaded.modules.end())
      return;
    const Driver &cuda = Driver::get();
    if (known->second.placeholder)
      check.driver(cuda.cuMemFree(known->second.placeholder),
                   "cuMemFree to succeed");
    check.driver(cuda.cuModuleUnload(known->second.module),
                 "cuModuleUnload to succeed");
    loaded.modules.erase(known);
  }

  /// The kernel `entry`, allowed what it needs. Null on a fault.
  CUfunction getKernel(const char *entry, int64_t sharedBytes, bool isLargeCluster,
                       Checker &check) {
    std::lock_guard<std::mutex> lock(mutex);
    Kernel &kernel = kernels[entry];
    const Driver &cuda = Driver::get();
    if (!kernel.function) {
      check.driver(cuda.cuModuleGetFunction(&kernel.function, module, entry),
                   std::string("kernel ") + entry);
      if (check.status && isLargeCluster)
        check.driver(cuda.cuFuncSetAttribute(
                         kernel.function,
                         CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
                     "clusters of more than 8 CTAs");
    }
    if (check.status && sharedBytes > kernel.sharedBytes) {
      check.driver(cuda.cuFuncSetAttribute(
                       kernel.function,
                       CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                       static_cast<int>(sharedBytes)),
                   std::to_string(sharedBytes) + " bytes of shared memory");
      if (check.status)
        kernel.sharedBytes = sharedBytes;
    }
    return check.status ? kernel.function : nullptr;
  }

  /// `address`, or some device memory in its place where there is none: a tensor
  /// map of an empty tensor must point somewhere.
  CUdeviceptr nonNull(CUdeviceptr address, Checker &check) {
    if (address || !check.status)
      return address;
    std::lock_guard<std::mutex> lock(mutex);
    if (!placeholder)
      check.driver(Driver::get().cuMemAlloc(&placeholder, 256),
                   "256 bytes of device memory");
    return placeholder;
  }

private:
  struct Loaded {
    std::mutex mutex;
    std::map<std::pair<unsigned long long, const char *>, Module> modules;
  };
  static Loaded &getLoaded() {
    static Loaded loaded;
    return loaded;
  }

  /// The id of the current context: a new one may have the address of one that
  /// is gone.
  static unsigned long long getContext(Checker &check) {
    const Driver &cuda = Driver::get();
    CUcontext context = nullptr;
    check.require(static_cast<bool>(cuda.status), cuda.status.message,
                  cuda.status.code);
    if (check.status)
      check.driver(cuda.cuCtxGetCurrent(&context), "cuCtxGetCurrent to succeed");
    check.require(context != nullptr, "expected a current CUDA context, got none",
                  CUDA_ERROR_INVALID_CONTEXT);
    unsigned long long id = 0;
    if (check.status)
      check.driver(cuda.cuCtxGetId(context, &id), "cuCtxGetId to succeed");
    return id;
  }

  struct Kernel {
    CUfunction function = nullptr;
    int64_t sharedBytes = 48 * 1024; // What a kernel may have unasked.
  };

  void load(const char *ptx, const Architecture &architecture, Checker &check) {
    const Driver &cuda = Driver::get();
    CUdevice device = 0;
    check.driver(cuda.cuCtxGetDevice(&device), "cuCtxGetDevice to succeed");
    auto attribute = [&](CUdevice_attribute kind) {
      int value = 0;
      if (check.status)
        check.driver(cuda.cuDeviceGetAttribute(&value, kind, device),
                     "cuDeviceGetAttribute to succeed");
      return value;
    };
    smCount = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    int major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    int minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    int got = 10 * major + minor, wanted = architecture.capability;
    check.require(architecture.isExact ? got == wanted : got >= wanted,
                  "expected a device of compute capability " +
                      std::to_string(wanted / 10) + "." +
                      std::to_string(wanted % 10) +
                      (architecture.isExact ? " (" : " or higher (") +
                      architecture.name + "), got " + std::to_string(major) + "." +
                      std::to_string(minor),
                  CUDA_ERROR_INVALID_DEVICE);
    if (!check.status)
      return;
    char log[1024] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                              CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
    CUresult code = cuda.cuModuleLoadDataEx(&module, ptx, 2, options, values);
    check.driver(code, "the driver to load the PTX");
    if (code != CUDA_SUCCESS && log[0])
      check.status.message += std::string(": ") + log;
  }

  CUmodule module = nullptr;
  CUdeviceptr placeholder = 0;
  std::mutex mutex;
  std::map<const char *, Kernel> kernels; // by the address of the name
};

/// Whether there is anything to launch.
inline bool hasCtas(const std::array<int64_t, 3> &grid) {
  return grid[0] > 0 && grid[1] > 0 && grid[2] > 0;
}

/// `isProgrammatic`: it may start before the end of the launch before it in the
/// stream, for which its kernel waits.
inline void launch(Checker &check, Module &module, const char *entry,
                   std::array<int64_t, 3> grid, std::array<unsigned, 3> block,
                   std::array<unsigned, 3> cluster, int64_t sharedBytes,
                   CUstream stream, void **parameters,
                   bool isProgrammatic = false) {
  check.require(grid[0] <= 2147483647 && grid[1] <= 65535 && grid[2] <= 65535,
                "expected a grid of at most 2147483647 x 65535 x 65535 CTAs");
  if (!check.status)
    return;
  unsigned clusterSize = cluster[0] * cluster[1] * cluster[2];
  CUfunction function = module.getKernel(entry, sharedBytes, clusterSize > 8, check);
  if (!check.status)
    return;
  CUlaunchConfig config{};
  config.gridDimX = static_cast<unsigned>(grid[0]);
  config.gridDimY = static_cast<unsigned>(grid[1]);
  config.gridDimZ = static_cast<unsigned>(grid[2]);
  config.blockDimX = block[0];
  config.blockDimY = block[1];
  config.blockDimZ = block[2];
  config.sharedMemBytes = static_cast<unsigned>(sharedBytes);
  config.hStream = stream;
  CUlaunchAttribute attributes[2] = {};
  config.attrs = attributes;
  if (clusterSize > 1) {
    CUlaunchAttribute &attribute = attributes[config.numAttrs++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = cluster[0];
    attribute.value.clusterDim.y = cluster[1];
    attribute.value.clusterDim.z = cluster[2];
  }
  if (isProgrammatic) {
    CUlaunchAttribute &attribute = attributes[config.numAttrs++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
  }
  check.driver(
      Driver::get().cuLaunchKernelEx(&config, function, parameters, nullptr),
      "cuLaunchKernelEx to succeed");
}

/// Device memory, aligned to 256 bytes.
struct Workspace {
  CUdeviceptr data = 0;
  size_t bytes = 0;
};

/// Those of a call, one behind the other in one piece of memory.
struct Workspaces {
  static constexpr size_t alignment = 256;
  CUdeviceptr data = 0;
  size_t bytes = 0;

  /// Where one of `size` bytes begins.
  size_t add(size_t size) {
    size_t offset = bytes;
    bytes += (size + alignment - 1) / alignment * alignment;
    return offset;
  }
  /// The memory that is given, or some of the stream's pool.
  void take(const Workspace *given, CUstream stream, Checker &check) {
    if (!check.status || bytes == 0)
      return;
    if (!given)
      return check.driver(Driver::get().cuMemAllocAsync(&data, bytes, stream),
                          "workspace of " + std::to_string(bytes) + " bytes");
    check.require(given->bytes >= bytes,
                  "expected a workspace of " + std::to_string(bytes) +
                      " bytes as planned, got " + std::to_string(given->bytes));
    check.require(given->data && given->data % alignment == 0,
                  "expected the address of a workspace to be a multiple of 256");
    data = given->data;
  }
  void free(CUstream stream, Checker &check) const {
    if (data)
      check.driver(Driver::get().cuMemFreeAsync(data, stream),
                   "cuMemFreeAsync to succeed");
  }
};

#undef ATTN_LAUNCH_DRIVER
} // namespace attn_launch_VERSION
#endif // ATTN_PRELUDE_attn_launch_VERSION

#ifndef ATTN_LAUNCH
#define ATTN_LAUNCH
/// That of the first header included.
namespace attn_launch = attn_launch_VERSION;
#endif
)cpp";

} // namespace attn

#endif // ATTN_LIB_TARGET_HEADER_PRELUDE_H
