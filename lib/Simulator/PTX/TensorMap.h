//===- TensorMap.h - Tensor maps and the copies they describe ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The simulator's encoding of CUtensorMap (CUDA driver API, "Tensor Map Object
/// Management"; PTX ISA 5.5, Tensors), tiled mode. Programs treat the 128 bytes
/// as opaque.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_TENSORMAP_H
#define ATTN_LIB_SIMULATOR_PTX_TENSORMAP_H

#include "Types.h"

#include <array>
#include <vector>

namespace attn::sim {

using TensorCoordinates = std::array<s32, 5>;

struct TensorMap {
  u32 magic = 0;
  // The second word stays 0: CuTe edits a bit there in the real encoding.
  u8 dtype = 0, rank = 0, interleave = 0, swizzle = 0;
  u64 reserved = 0;
  u64 base = 0;
  u32 lastIndex[5] = {}; // size - 1
  u64 stride[4] = {};    // bytes, of dimensions 1 to 4
  u16 box[5] = {};
  u8 elementStride[5] = {};
  u8 l2Promotion = 0, fillsNaN = 0;

  u32 elementBytes() const;
  Type elementType() const;
  /// Elements of the box along dimension i.
  u32 extent(u32 i) const {
    return i < rank ? (box[i] + elementStride[i] - 1) / elementStride[i] : 1;
  }
  /// Bytes of a box in shared memory.
  u32 boxBytes() const;
  bool isValid() const;
};
static_assert(sizeof(TensorMap) <= 128, "does not fit a CUtensorMap");

/// The bytes between the first and the last element that a box touches, and how
/// many of them it moves.
struct BoxRange {
  u64 begin = 0, end = 0, bytes = 0;
  bool empty() const { return bytes == 0; }
};
BoxRange boxRange(const TensorMap &map, const TensorCoordinates &coordinates);

/// The bytes of a box's rows that are inside of the tensor; with those between
/// the elements where the box takes every other one.
struct BoxRow {
  u64 address = 0;
  u32 bytes = 0;
};
std::vector<BoxRow> boxRows(const TensorMap &map,
                            const TensorCoordinates &coordinates);

/// Where swizzling puts a 16-byte chunk: address bits 4-6 are XORed with bits
/// 7-9 (PTX ISA 5.5.8).
inline u32 swizzleAddress(u32 address, u32 mode) {
  u32 mask = mode == 1 ? 1 : mode == 2 ? 3 : mode == 3 ? 7 : 0;
  return address ^ (((address >> 7) & mask) << 4);
}

/// Copies the box into shared memory; elements outside get the fill value.
void loadBox(const TensorMap &map, const TensorCoordinates &coordinates,
             u8 *shared, u32 offset);

/// Writes the rows of a box, given unswizzled, to global memory; `combine`
/// stores one element of `bytes` bytes.
using StoreElement = void (*)(u8 *destination, const u8 *source, u32 bytes,
                              void *context);
void storeBox(const TensorMap &map, const TensorCoordinates &coordinates,
              const u8 *rows, StoreElement store, void *context);

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_TENSORMAP_H
