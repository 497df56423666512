//===- TensorMap.h - Making tensor maps for the simulator -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SIMULATOR_TENSORMAP_H
#define ATTN_SIMULATOR_TENSORMAP_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace attn::sim {

/// The values of CUtensorMapDataType.
enum class TensorMapType : uint32_t {
  U8,
  U16,
  U32,
  S32,
  U64,
  S64,
  F16,
  F32,
  F64,
  BF16,
  F32Ftz,
  TF32,
  TF32Ftz
};

/// The arguments of cuTensorMapEncodeTiled; lists go from the innermost
/// dimension outwards.
struct TensorMapArgs {
  TensorMapType dtype = TensorMapType::F16;
  uint64_t address = 0;
  std::vector<uint64_t> dims;         // elements
  std::vector<uint64_t> stridesBytes; // dimensions 1 and up
  std::vector<uint32_t> box;
  std::vector<uint32_t> elementStrides; // empty: all 1
  uint32_t swizzleBytes = 0;            // 0, 32, 64 or 128
  bool fillNaN = false;
};

/// Writes the 128 bytes that a kernel takes as CUtensorMap. Returns an empty
/// string, or why the driver would refuse the arguments.
std::string encodeTensorMap(const TensorMapArgs &args,
                            std::array<uint8_t, 128> &out);

} // namespace attn::sim

#endif // ATTN_SIMULATOR_TENSORMAP_H
