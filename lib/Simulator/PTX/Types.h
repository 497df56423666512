//===- Types.h - PTX types, state spaces and address windows ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Fundamental types (PTX ISA 5.2) and state spaces (PTX ISA 5.1), and where
/// the simulator puts each space in the 64-bit generic address space.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_TYPES_H
#define ATTN_LIB_SIMULATOR_PTX_TYPES_H

#include <cstdint>
#include <cstring>
#include <string_view>

namespace attn::sim {

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using s8 = int8_t;
using s16 = int16_t;
using s32 = int32_t;
using s64 = int64_t;

inline constexpr u32 warpSize = 32;
inline constexpr u32 fullMask = ~0u;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

enum class Type : u8 {
  None,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  BF16,
  F32,
  F64,
  F16x2,
  BF16x2,
  TF32,
  E4M3,
  E5M2,
  E4M3x2,
  E5M2x2,
  F32x2,
  U16x2,
  S16x2,
  Pred
};

/// The type named by an opcode modifier ("f32"), or None.
Type parseType(std::string_view text);

/// Bytes of a value in memory.
inline u32 byteSize(Type type) {
  switch (type) {
  case Type::B8:
  case Type::U8:
  case Type::S8:
  case Type::E4M3:
  case Type::E5M2:
  case Type::Pred:
    return 1;
  case Type::B16:
  case Type::U16:
  case Type::S16:
  case Type::F16:
  case Type::BF16:
  case Type::E4M3x2:
  case Type::E5M2x2:
    return 2;
  case Type::B64:
  case Type::U64:
  case Type::S64:
  case Type::F64:
  case Type::F32x2:
    return 8;
  case Type::B128:
    return 16;
  default:
    return 4;
  }
}

inline bool isSigned(Type type) {
  return type == Type::S8 || type == Type::S16 || type == Type::S32 ||
         type == Type::S64;
}

inline bool isFloat(Type type) {
  return (type >= Type::F16 && type <= Type::TF32) || type == Type::F32x2;
}

/// The 16-bit floats and their packed pairs.
inline bool isHalf(Type type) {
  return type == Type::F16 || type == Type::BF16 || type == Type::F16x2 ||
         type == Type::BF16x2;
}

inline bool isBrainHalf(Type type) {
  return type == Type::BF16 || type == Type::BF16x2;
}

inline bool isPackedHalf(Type type) {
  return type == Type::F16x2 || type == Type::BF16x2;
}

//===----------------------------------------------------------------------===//
// State spaces
//===----------------------------------------------------------------------===//

enum class Space : u8 {
  Generic,
  Global,
  SharedCta,
  SharedCluster,
  Local,
  Const,
  Param
};

/// Generic addresses of the shared and the local window; each is 4 GiB. Global
/// addresses are addresses of this process and never lie there.
inline constexpr u64 sharedWindow = 0x500000000000ull;
inline constexpr u64 localWindow = 0x600000000000ull;
inline constexpr u64 windowBytes = 1ull << 32;

/// A shared address is CTA rank << 24 | offset. Offsets start at 1024, so that
/// a null pointer is no valid shared address.
inline constexpr u32 sharedRankShift = 24;
inline constexpr u32 sharedOffsetMask = (1u << sharedRankShift) - 1;
inline constexpr u32 sharedBase = 1024;
inline constexpr u32 localBase = 64;

inline bool inSharedWindow(u64 address) {
  return address - sharedWindow < windowBytes;
}
inline bool inLocalWindow(u64 address) {
  return address - localWindow < windowBytes;
}
/// A shared address as instructions without a state space give it, reduced to
/// the form that .shared instructions use.
inline u64 stripSharedWindow(u64 address) {
  return inSharedWindow(address) ? address - sharedWindow : address;
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

/// Reinterprets the bytes of a value (std::bit_cast of C++20).
template <typename To, typename From>
inline To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From), "sizes differ");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

inline float asFloat(u32 bits) { return bitCast<float>(bits); }
inline u32 asBits(float value) { return bitCast<u32>(value); }
inline double asDouble(u64 bits) { return bitCast<double>(bits); }
inline u64 asBits(double value) { return bitCast<u64>(value); }

inline u32 alignUp(u32 value, u32 alignment) {
  return alignment ? (value + alignment - 1) / alignment * alignment : value;
}

} // namespace attn::sim

/// Runs the body for every lane `lane` of `mask`, in ascending order.
#define ATTN_FOR_LANES(mask, lane)                                             \
  for (u32 rest_##lane = (mask), lane;                                         \
       rest_##lane && ((lane = __builtin_ctz(rest_##lane)), true);             \
       rest_##lane &= rest_##lane - 1)

#endif // ATTN_LIB_SIMULATOR_PTX_TYPES_H
