//===- Prelude.h - What every emitted header has ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TARGET_HEADER_PRELUDE_H
#define ATTN_LIB_TARGET_HEADER_PRELUDE_H

namespace attn {

/// The code that does not depend on the manifest. The guard lets a program
/// include several emitted headers.
inline constexpr char headerPrelude[] = R"cpp(
#include <cuda.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#ifndef ATTN_LAUNCH_PRELUDE
#define ATTN_LAUNCH_PRELUDE
namespace attn_launch {

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
      stride *= shape[i];
    }
    return tensor;
  }
};

/// CUDA_SUCCESS, or an error and what it is about.
struct Status {
  CUresult code = CUDA_SUCCESS;
  std::string message;

  explicit operator bool() const { return code == CUDA_SUCCESS; }
};

inline int64_t floordiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
inline int64_t ceildiv(int64_t a, int64_t b) { return -floordiv(-a, b); }
inline int64_t mod(int64_t a, int64_t b) { return a - floordiv(a, b) * b; }
template <typename A, typename B>
auto min(A a, B b) { return std::min<decltype(a + b)>(a, b); }
template <typename A, typename B>
auto max(A a, B b) { return std::max<decltype(a + b)>(a, b); }

/// The first fault found, or success.
class Checker {
public:
  void require(bool holds, const std::string &message) {
    if (status && !holds)
      status = {CUDA_ERROR_INVALID_VALUE, message};
  }
  void driver(CUresult code, const char *call) {
    if (status && code != CUDA_SUCCESS)
      status = {code, std::string("expected ") + call + " to succeed, got error " +
                          std::to_string(static_cast<int>(code))};
  }
  void extent(const char *operand, int dim, int64_t got, int64_t expected) {
    require(got == expected, std::string("operand ") + operand + ": expected dim " +
                                 std::to_string(dim) + " to be " +
                                 std::to_string(expected) + ", got " +
                                 std::to_string(got));
  }
  /// `isContiguous` dimensions have stride 1, the others a multiple of `multiple`.
  template <int Rank>
  void layout(const char *operand, const Tensor<Rank> &tensor,
              std::array<bool, Rank> isContiguous, int64_t multiple,
              int64_t alignment) {
    std::string name = std::string("operand ") + operand + ": expected ";
    for (int i = 0; i < Rank; ++i) {
      require(tensor.shape[i] >= 0, name + "dim " + std::to_string(i) +
                                        " to be 0 or more, got " +
                                        std::to_string(tensor.shape[i]));
      if (tensor.shape[i] < 2)
        continue;
      std::string got = ", got " + std::to_string(tensor.strides[i]);
      std::string stride = name + "stride " + std::to_string(i) + " to be ";
      if (isContiguous[i])
        require(tensor.strides[i] == 1, stride + "1" + got);
      else
        require(tensor.strides[i] % multiple == 0,
                stride + "a multiple of " + std::to_string(multiple) + got);
    }
    require(tensor.data % alignment == 0,
            name + "an address that is a multiple of " +
                std::to_string(alignment) + " bytes");
  }

  Status status;
};

/// The kernel `entry` of `ptx` in the current context, loaded on first use.
inline CUfunction getFunction(const char *ptx, const char *entry,
                              Checker &check) {
  static std::mutex mutex;
  static std::map<std::tuple<CUcontext, const char *, std::string>, CUfunction> functions;
  CUcontext context = nullptr;
  check.driver(cuCtxGetCurrent(&context), "cuCtxGetCurrent");
  check.require(context != nullptr, "expected a current CUDA context, got none");
  if (!check.status)
    return nullptr;
  std::lock_guard<std::mutex> lock(mutex);
  auto [known, isNew] = functions.try_emplace({context, ptx, entry});
  if (isNew) {
    CUmodule module = nullptr;
    check.driver(cuModuleLoadData(&module, ptx), "cuModuleLoadData");
    if (check.status)
      check.driver(cuModuleGetFunction(&known->second, module, entry),
                   "cuModuleGetFunction");
    if (!check.status) {
      functions.erase(known);
      return nullptr;
    }
  }
  return known->second;
}

/// Whether there is anything to launch.
inline bool hasCtas(const std::array<int64_t, 3> &grid) {
  return grid[0] > 0 && grid[1] > 0 && grid[2] > 0;
}

inline void launch(Checker &check, CUfunction function,
                   std::array<int64_t, 3> grid, std::array<unsigned, 3> block,
                   std::array<unsigned, 3> cluster, int64_t sharedBytes,
                   CUstream stream, void **parameters) {
  check.require(grid[0] <= 2147483647 && grid[1] <= 65535 && grid[2] <= 65535,
                "expected a grid of at most 2147483647 x 65535 x 65535 CTAs");
  if (check.status && sharedBytes > 48 * 1024)
    check.driver(cuFuncSetAttribute(function,
                                    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                    static_cast<int>(sharedBytes)),
                 "cuFuncSetAttribute");
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
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim.x = cluster[0];
  attribute.value.clusterDim.y = cluster[1];
  attribute.value.clusterDim.z = cluster[2];
  config.attrs = &attribute;
  config.numAttrs = cluster[0] * cluster[1] * cluster[2] > 1 ? 1 : 0;
  check.driver(cuLaunchKernelEx(&config, function, parameters, nullptr),
               "cuLaunchKernelEx");
}

} // namespace attn_launch
#endif // ATTN_LAUNCH_PRELUDE
)cpp";

} // namespace attn

#endif // ATTN_LIB_TARGET_HEADER_PRELUDE_H
