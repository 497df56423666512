//===- Elementwise.h - Handlers that compute lane by lane -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Templates that turn a function of scalars into a handler. An operation is a
/// struct with a static function `apply`; a lane of a register holds a value of
/// type T in the low bits, other bits are ignored on reading and zero (or the
/// sign) after writing.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_ISA_ELEMENTWISE_H
#define ATTN_LIB_SIMULATOR_PTX_ISA_ELEMENTWISE_H

#include "../Decoder.h"
#include "../Machine.h"

#include <type_traits>

namespace attn::sim {

/// Calls body(lane) for the active lanes; all 32 in a loop that vectorises.
template <typename Body>
inline __attribute__((always_inline)) void forActiveLanes(const Warp &warp,
                                                          Body body) {
  if (warp.active == fullMask) {
#ifndef __clang__
#pragma GCC ivdep
#endif
    for (u32 lane = 0; lane < warpSize; ++lane)
      body(lane);
    return;
  }
  ATTN_FOR_LANES(warp.active, lane) { body(lane); }
}

/// How a T lies in a lane.
template <typename T>
struct Lane {
  using Storage = std::conditional_t<sizeof(T) == 8, u64, u32>;
  static T get(Storage bits) {
    if constexpr (std::is_floating_point_v<T>)
      return bitCast<T>(bits);
    else
      return static_cast<T>(bits);
  }
  static Storage put(T value) {
    if constexpr (std::is_floating_point_v<T>)
      return bitCast<Storage>(value);
    else
      return static_cast<std::make_unsigned_t<T>>(value);
  }
  static const Storage *source(const Warp &warp, const Operand &operand) {
    return reinterpret_cast<const Storage *>(source32(warp, operand));
  }
  static Storage *dest(Warp &warp, const Operand &operand) {
    return reinterpret_cast<Storage *>(dest32(warp, operand));
  }
};

/// dst = Op(a)
template <typename R, typename A, typename Op>
Step unary(Warp &warp, const Instruction &i) {
  auto *dst = Lane<R>::dest(warp, i.dst);
  auto *a = Lane<A>::source(warp, i.a);
  forActiveLanes(warp, [&](u32 lane) {
    dst[lane] = Lane<R>::put(Op::apply(Lane<A>::get(a[lane])));
  });
  return Step::Next;
}

/// dst = Op(a, b)
template <typename R, typename A, typename B, typename Op>
Step binary(Warp &warp, const Instruction &i) {
  auto *dst = Lane<R>::dest(warp, i.dst);
  auto *a = Lane<A>::source(warp, i.a);
  auto *b = Lane<B>::source(warp, i.b);
  forActiveLanes(warp, [&](u32 lane) {
    dst[lane] =
        Lane<R>::put(Op::apply(Lane<A>::get(a[lane]), Lane<B>::get(b[lane])));
  });
  return Step::Next;
}

/// dst = Op(a, b, c)
template <typename R, typename A, typename C, typename Op>
Step ternary(Warp &warp, const Instruction &i) {
  auto *dst = Lane<R>::dest(warp, i.dst);
  auto *a = Lane<A>::source(warp, i.a);
  auto *b = Lane<A>::source(warp, i.b);
  auto *c = Lane<C>::source(warp, i.c);
  forActiveLanes(warp, [&](u32 lane) {
    dst[lane] = Lane<R>::put(Op::apply(
        Lane<A>::get(a[lane]), Lane<A>::get(b[lane]), Lane<C>::get(c[lane])));
  });
  return Step::Next;
}

template <typename T, template <typename> class Op>
inline constexpr Handler unaryOf = unary<T, T, Op<T>>;
template <typename T, template <typename> class Op>
inline constexpr Handler binaryOf = binary<T, T, T, Op<T>>;
template <typename T, template <typename> class Op>
inline constexpr Handler ternaryOf = ternary<T, T, T, Op<T>>;

/// A type as a value, for dispatch on the type of an instruction.
template <typename T>
struct TypeTag {
  using type = T;
};

/// Calls pick(TypeTag<T>) with the C++ type of an integer PTX type; bit types
/// count as unsigned.
template <typename Pick>
Handler pickInteger(Decoder &decoder, Type type, Pick pick) {
  switch (type) {
  case Type::U16:
  case Type::B16:
    return pick(TypeTag<u16>());
  case Type::S16:
    return pick(TypeTag<s16>());
  case Type::U32:
  case Type::B32:
    return pick(TypeTag<u32>());
  case Type::S32:
    return pick(TypeTag<s32>());
  case Type::U64:
  case Type::B64:
    return pick(TypeTag<u64>());
  case Type::S64:
    return pick(TypeTag<s64>());
  default:
    decoder.fail("expected an integer type of 16, 32 or 64 bits");
  }
}

template <template <typename> class Op>
Handler pickUnary(Decoder &decoder, Type type) {
  return pickInteger(decoder, type, [](auto tag) {
    return unaryOf<typename decltype(tag)::type, Op>;
  });
}
template <template <typename> class Op>
Handler pickBinary(Decoder &decoder, Type type) {
  return pickInteger(decoder, type, [](auto tag) {
    return binaryOf<typename decltype(tag)::type, Op>;
  });
}
template <template <typename> class Op>
Handler pickTernary(Decoder &decoder, Type type) {
  return pickInteger(decoder, type, [](auto tag) {
    return ternaryOf<typename decltype(tag)::type, Op>;
  });
}

/// dst, a, b(, c) of one width.
inline void decodeOperands(Decoder &decoder, u32 bytes, u32 numSources) {
  Instruction &i = decoder.instruction;
  i.dst = decoder.destination(0, bytes);
  if (i.dst.isSink())
    decoder.fail("expected a register as destination");
  i.a = decoder.source(1, bytes);
  if (numSources > 1)
    i.b = decoder.source(2, bytes);
  if (numSources > 2)
    i.c = decoder.source(3, bytes);
}

/// A destination that must be a register.
inline Operand decodeRegister(Decoder &decoder, size_t index, u32 bytes) {
  Operand operand = decoder.destination(index, bytes);
  if (operand.isSink())
    decoder.fail("expected a register as destination");
  return operand;
}

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_ISA_ELEMENTWISE_H
