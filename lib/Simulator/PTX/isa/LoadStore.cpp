//===- LoadStore.cpp - ld, st and address queries -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.9, Data Movement and Conversion Instructions: ld, ldu, st,
/// isspacep, prefetch, createpolicy and relatives. Cache hints are ignored.
///
//===----------------------------------------------------------------------===//

#include "../Memory.h"
#include "Elementwise.h"
#include "Families.h"

using namespace attn::sim;

namespace {

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

void countAccess(Warp &warp, const Instruction &i,
                 const u64 (&addresses)[warpSize], u32 bytes, bool isWrite) {
  Counters &counters = warp.worker->counters;
  u64 total = u64(countLanes(warp.active)) * bytes;
  u64 first = addresses[firstLane(warp.active)];
  if (isSharedAccess(i.space, first)) {
    (isWrite ? counters.sharedStoreBytes : counters.sharedLoadBytes) += total;
    if (options(warp).countBankConflicts)
      countBankConflicts(warp, addresses, bytes);
  } else if (i.space == Space::Global || i.space == Space::Generic) {
    (isWrite ? counters.globalStoreBytes : counters.globalLoadBytes) += total;
  }
}

bool reachesGlobal(Space space, u64 address) {
  return space == Space::Global ||
         (space == Space::Generic && !inSharedWindow(address) &&
          !inLocalWindow(address));
}

void countLoad(Warp &warp, u64 address, u32 bytes) {
  warp.worker->countTraffic(GlobalPath::LoadStore, false, bytes);
  addToRequest(warp, address, bytes);
}

//===----------------------------------------------------------------------===//
// ld
//===----------------------------------------------------------------------===//

template <typename T>
void loadElement(Warp &warp, const Operand &result, u32 lane, const u8 *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  // Signed types are sign-extended to the register's width.
  using Extended = std::conditional_t<std::is_signed_v<T>, s64, u64>;
  setLane(warp, result, lane, u64(Extended(value)));
}

template <typename T>
Step runLoad(Warp &warp, const Instruction &i) {
  u64 addresses[warpSize];
  laneAddresses(warp, i.address, addresses);
  const u32 count = i.results.size(), bytes = sizeof(T) * count;
  countAccess(warp, i, addresses, bytes, /*isWrite=*/false);
  ATTN_FOR_LANES(warp.active, lane) {
    const u8 *data = pointer(warp, i, i.space,
                             {addresses[lane], bytes, /*isWrite=*/false, lane});
    if (reachesGlobal(i.space, addresses[lane]))
      countLoad(warp, addresses[lane], bytes);
    for (u32 k = 0; k < count; ++k)
      if (!i.results[k].isSink())
        loadElement<T>(warp, i.results[k], lane, data + k * sizeof(T));
  }
  countRequest(warp);
  return Step::Next;
}

/// ld.b128 into a 128-bit register.
Step runLoad128(Warp &warp, const Instruction &i) {
  ATTN_FOR_LANES(warp.active, lane) {
    u64 address = laneAddress(warp, i.address, lane);
    const u8 *data =
        pointer(warp, i, i.space, {address, 16, /*isWrite=*/false, lane});
    if (reachesGlobal(i.space, address))
      countLoad(warp, address, 16);
    if (i.results[0].isSink())
      continue;
    u64 *dst = dest64(warp, i.results[0]);
    std::memcpy(&dst[lane], data, 8);
    std::memcpy(&dst[lane + warpSize], data + 8, 8);
  }
  countRequest(warp);
  return Step::Next;
}

template <typename Unsigned, typename Signed>
Handler loadHandler(Type type) {
  return isSigned(type) ? runLoad<Signed> : runLoad<Unsigned>;
}

Handler loadHandler(Decoder &decoder, Type type) {
  switch (byteSize(type)) {
  case 1:
    return loadHandler<u8, s8>(type);
  case 2:
    return loadHandler<u16, s16>(type);
  case 4:
    return loadHandler<u32, s32>(type);
  case 8:
    return runLoad<u64>;
  default:
    return runLoad128;
  }
}

/// Parameters of functions and calls lie in local memory.
Space resolveParamSpace(Space space, const ParsedOperand &address) {
  bool isFunctionParam =
      address.is(ParsedOperand::Kind::Address) && address.elements[0].symbol &&
      address.elements[0].symbol->kind == Symbol::Kind::FunctionParam;
  return space == Space::Param && isFunctionParam ? Space::Local : space;
}

void checkVector(Decoder &decoder, const std::vector<Operand> &list) {
  Type type = decoder.instruction.type;
  u32 count = decoder.vectorLength(), bytes = byteSize(type);
  if (type == Type::None || type == Type::Pred)
    decoder.fail("expected a type");
  if (list.size() != count)
    decoder.fail("expected a vector of " + std::to_string(count) +
                 " elements, got " + std::to_string(list.size()));
  if (bytes * count > 32 || (bytes == 16 && count > 1))
    decoder.fail("vector is too large");
  for (const Operand &operand : list)
    if (!operand.isSink() &&
        (operand.width < bytes || (operand.width == 16) != (bytes == 16)))
      decoder.fail("a register is too narrow for its type");
}

/// PTX ISA 9.7.9 ld, ldu.
bool decodeLoad(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  i.space = resolveParamSpace(decoder.space(), decoder.operand(1));
  i.results = decoder.destinations(decoder.operand(0), 0);
  checkVector(decoder, i.results);
  i.address = decoder.address(1);
  i.synchronizes = decoder.oneOf({"volatile", "acquire", "relaxed"}) >= 0;
  decoder.setHandler(loadHandler(decoder, i.type), InstructionClass::Load);
  return true;
}

//===----------------------------------------------------------------------===//
// st
//===----------------------------------------------------------------------===//

template <typename T>
Step runStore(Warp &warp, const Instruction &i) {
  u64 addresses[warpSize];
  laneAddresses(warp, i.address, addresses);
  const u32 count = i.values.size(), bytes = sizeof(T) * count;
  countAccess(warp, i, addresses, bytes, /*isWrite=*/true);
  ATTN_FOR_LANES(warp.active, lane) {
    u8 *data = pointer(warp, i, i.space,
                       {addresses[lane], bytes, /*isWrite=*/true, lane});
    if (reachesGlobal(i.space, addresses[lane]))
      warp.worker->countTraffic(GlobalPath::LoadStore, true, bytes);
    for (u32 k = 0; k < count; ++k) {
      T value = T(laneValue(warp, i.values[k], lane));
      std::memcpy(data + k * sizeof(T), &value, sizeof value);
    }
  }
  return Step::Next;
}

Step runStore128(Warp &warp, const Instruction &i) {
  const u64 *source = source64(warp, i.values[0]);
  ATTN_FOR_LANES(warp.active, lane) {
    u64 address = laneAddress(warp, i.address, lane);
    u8 *data = pointer(warp, i, i.space, {address, 16, /*isWrite=*/true, lane});
    if (reachesGlobal(i.space, address))
      warp.worker->countTraffic(GlobalPath::LoadStore, true, 16);
    std::memcpy(data, &source[lane], 8);
    std::memcpy(data + 8, &source[lane + warpSize], 8);
  }
  return Step::Next;
}

Handler storeHandler(Type type) {
  switch (byteSize(type)) {
  case 1:
    return runStore<u8>;
  case 2:
    return runStore<u16>;
  case 4:
    return runStore<u32>;
  case 8:
    return runStore<u64>;
  default:
    return runStore128;
  }
}

/// PTX ISA 9.7.9 st.
bool decodeStore(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  if (decoder.has("async") || decoder.has("bulk"))
    return false; // CpAsync.cpp
  i.space = resolveParamSpace(decoder.space(), decoder.operand(0));
  i.address = decoder.address(0);
  auto addValue = [&](const ParsedOperand &value) {
    bool isRegister = value.is(ParsedOperand::Kind::Register);
    i.values.push_back(
        decoder.source(value, isRegister ? 0 : byteSize(i.type)));
  };
  const ParsedOperand &values = decoder.operand(1);
  if (values.is(ParsedOperand::Kind::Vector))
    for (const ParsedOperand &value : values.elements)
      addValue(value);
  else
    addValue(values);
  checkVector(decoder, i.values);
  i.synchronizes = decoder.oneOf({"volatile", "release", "relaxed"}) >= 0;
  decoder.setHandler(storeHandler(i.type), InstructionClass::Store);
  return true;
}

//===----------------------------------------------------------------------===//
// Address queries and hints
//===----------------------------------------------------------------------===//

bool isInSpace(const Warp &warp, Space space, u64 address) {
  bool shared = inSharedWindow(address), local = inLocalWindow(address);
  switch (space) {
  case Space::SharedCta:
    return shared &&
           (address - sharedWindow) >> sharedRankShift == warp.cta->rank;
  case Space::SharedCluster:
    return shared;
  case Space::Local:
    return local;
  case Space::Global:
    return !shared && !local;
  default:
    return false;
  }
}

Step runIsspacep(Warp &warp, const Instruction &i) {
  u32 result = 0;
  ATTN_FOR_LANES(warp.active, lane) {
    result |= u32(isInSpace(warp, i.space, laneValue(warp, i.a, lane))) << lane;
  }
  setPredicate(warp, i.dst, result);
  return Step::Next;
}

/// PTX ISA 9.7.9 isspacep.
bool decodeIsspacep(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  i.space = decoder.space();
  i.dst = decoder.predicateDestination(decoder.operand(0));
  i.a = decoder.source(1, 8);
  decoder.setHandler(runIsspacep, InstructionClass::Integer);
  return true;
}

Step runNothing(Warp &, const Instruction &) { return Step::Next; }

/// PTX ISA 9.7.9 prefetch, prefetchu, applypriority, discard: hints.
bool decodeHint(Decoder &decoder) {
  decoder.setHandler(runNothing, InstructionClass::Other);
  return true;
}

Step runCreatepolicy(Warp &warp, const Instruction &i) {
  // An opaque value; this is what hardware gives for evict_normal.
  constexpr u64 policy = 0x12F0000000000000ull;
  ATTN_FOR_LANES(warp.active, lane) { dest64(warp, i.dst)[lane] = policy; }
  return Step::Next;
}

/// PTX ISA 9.7.9 createpolicy.
bool decodeCreatepolicy(Decoder &decoder) {
  decoder.instruction.dst = decodeRegister(decoder, 0, 8);
  decoder.setHandler(runCreatepolicy, InstructionClass::Other);
  return true;
}

} // namespace

void attn::sim::registerLoadStore(OpcodeTable &table) {
  table.add({"ld", "ldu"}, decodeLoad);
  table.add("st", decodeStore);
  table.add("isspacep", decodeIsspacep);
  table.add({"prefetch", "prefetchu", "applypriority", "discard"}, decodeHint);
  table.add("createpolicy", decodeCreatepolicy);
}
