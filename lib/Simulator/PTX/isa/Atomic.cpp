//===- Atomic.cpp - Atomic and reduction operations -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.13, Parallel Synchronization and Communication Instructions:
/// atom and red. Memory is sequentially consistent here.
///
//===----------------------------------------------------------------------===//

#include "Atomic.h"
#include "../Memory.h"
#include "Families.h"
#include "FloatOps.h"

#include <algorithm>
#include <cmath>

using namespace attn::sim;

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

namespace {

float combineFloat(AtomicOp op, float a, float b) {
  if (op == AtomicOp::Add)
    return a + b;
  if (isNaN(a))
    return b;
  if (isNaN(b))
    return a;
  return op == AtomicOp::Min ? std::fmin(a, b) : std::fmax(a, b);
}

/// One or two f16 or bf16.
u64 combineHalves(AtomicOp op, Type type, u64 old, u64 b) {
  bool isBrain = isBrainHalf(type);
  auto widen = [&](u16 bits) {
    return isBrain ? brainToFloat(bits) : halfToFloat(bits);
  };
  u64 result = 0;
  for (u32 shift = 0; shift < 8 * byteSize(type); shift += 16) {
    float value = combineFloat(op, widen(old >> shift), widen(b >> shift));
    u16 bits = isBrain ? floatToBrain(value) : floatToHalf(value);
    result |= u64(bits) << shift;
  }
  return result;
}

bool lessThan(Type type, u64 a, u64 b) {
  if (!isSigned(type))
    return a < b;
  return byteSize(type) == 8 ? s64(a) < s64(b) : s32(a) < s32(b);
}

u64 combineInteger(AtomicOp op, Type type, u64 old, u64 b) {
  switch (op) {
  case AtomicOp::Add:
    return old + b;
  case AtomicOp::And:
    return old & b;
  case AtomicOp::Or:
    return old | b;
  case AtomicOp::Xor:
    return old ^ b;
  case AtomicOp::Inc:
    return old >= b ? 0 : old + 1;
  case AtomicOp::Dec:
    return old == 0 || old > b ? b : old - 1;
  case AtomicOp::Min:
    return lessThan(type, old, b) ? old : b;
  default:
    return lessThan(type, old, b) ? b : old;
  }
}

} // namespace

u64 attn::sim::applyAtomic(AtomicOp op, Type type, u64 old, u64 b, u64 c) {
  u64 mask = byteSize(type) == 8 ? ~0ull : (1ull << 8 * byteSize(type)) - 1;
  old &= mask;
  b &= mask;
  if (op == AtomicOp::Exch)
    return b;
  if (op == AtomicOp::Cas)
    return old == b ? c & mask : old;
  if (type == Type::F32)
    return asBits(combineFloat(op, asFloat(u32(old)), asFloat(u32(b))));
  if (type == Type::F64)
    return asBits(asDouble(old) + asDouble(b));
  if (isHalf(type))
    return combineHalves(op, type, old, b);
  return combineInteger(op, type, old, b) & mask;
}

void attn::sim::reduceBytes(u8 *destination, const u8 *source, u32 bytes,
                            AtomicOp op, Type type) {
  u32 size = byteSize(type);
  for (u32 at = 0; at + size <= bytes; at += size) {
    u64 old = 0, value = 0;
    std::memcpy(&old, destination + at, size);
    std::memcpy(&value, source + at, size);
    old = applyAtomic(op, type, old, value);
    std::memcpy(destination + at, &old, size);
  }
}

//===----------------------------------------------------------------------===//
// atom, red
//===----------------------------------------------------------------------===//

namespace {

/// One lane: every element of the vector, without interruption.
void runAtomicLane(Warp &warp, const Instruction &i, u32 lane) {
  u32 size = byteSize(i.type), count = i.values.size();
  u64 address = laneAddress(warp, i.address, lane);
  u8 *data = pointer(warp, i, i.space,
                     {address, size * count, /*isWrite=*/true, lane});
  std::unique_lock<std::mutex> lock(warp.worker->memory->atomicMutex,
                                    std::defer_lock);
  if (!isSharedAccess(i.space, address)) {
    lock.lock();
    Worker &worker = *warp.worker;
    worker.counters.globalAtomicBytes += size * count;
    worker.countTraffic(GlobalPath::Atomic, /*isWrite=*/true, size * count);
    ++warp.cta->cluster->events;
  }
  for (u32 k = 0; k < count; ++k) {
    u64 old = 0;
    std::memcpy(&old, data + k * size, size);
    u64 value = applyAtomic(AtomicOp(i.operation), i.type, old,
                            laneValue(warp, i.values[k], lane),
                            i.c ? laneValue(warp, i.c, lane) : 0);
    std::memcpy(data + k * size, &value, size);
    if (!i.results.empty() && i.results[k].isRegister())
      setLane(warp, i.results[k], lane, old);
  }
}

Step runAtomic(Warp &warp, const Instruction &i) {
  ATTN_FOR_LANES(warp.active, lane) { runAtomicLane(warp, i, lane); }
  return Step::Next;
}

/// PTX ISA 9.7.13 atom, red.
bool decodeAtomic(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  if (decoder.has("async"))
    return false; // red.async: CpAsync.cpp
  bool returns = decoder.opcode() == "atom";
  u32 count = decoder.vectorLength(), size = byteSize(i.type);
  i.operation = u32(decodeAtomicOp(decoder));
  i.space = decoder.space();
  size_t next = 0;
  if (returns)
    i.results = decoder.destinations(decoder.operand(next++), size);
  i.address = decoder.address(next++);
  i.values = decoder.sources(decoder.operand(next++), size);
  if (AtomicOp(i.operation) == AtomicOp::Cas)
    i.c = decoder.source(next, size);
  if (i.values.size() != count || (returns && i.results.size() != count))
    decoder.fail("expected vectors of " + std::to_string(count) + " elements");
  decoder.setHandler(runAtomic, InstructionClass::Atomic);
  return true;
}

} // namespace

AtomicOp attn::sim::decodeAtomicOp(Decoder &decoder) {
  Type type = decoder.instruction.type;
  int index = decoder.oneOf(
      {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
  if (index < 0)
    decoder.fail("expected an atomic operation");
  AtomicOp op = AtomicOp(index);
  bool exists =
      op == AtomicOp::Exch || op == AtomicOp::Cas || op == AtomicOp::Add ||
      !isFloat(type) ||
      ((op == AtomicOp::Min || op == AtomicOp::Max) && type != Type::F64);
  u32 bytes = byteSize(type);
  if (!exists || bytes < 2 || bytes > 8 || type == Type::None)
    decoder.fail("this operation does not exist for the type");
  return op;
}

void attn::sim::registerAtomic(OpcodeTable &table) {
  table.add({"atom", "red"}, decodeAtomic);
}
