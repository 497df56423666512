//===- WarpOps.cpp - Communication inside a warp --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.9 shfl.sync; 9.7.13 bar.warp.sync, vote.sync, match.sync,
/// activemask, redux.sync, elect.sync.
///
//===----------------------------------------------------------------------===//

#include "Atomic.h"
#include "Elementwise.h"
#include "Families.h"
#include "FloatOps.h"

#include <array>
#include <cmath>

using namespace attn::sim;

namespace {

/// Decodes the member mask into `d`.
void decodeMembers(Decoder &decoder, size_t index) {
  decoder.instruction.d = decoder.source(index, 4);
}

/// The lanes whose instruction names the same members. Subsets of a warp that
/// have converged, such as tiles of cooperative groups, execute together.
struct LaneGroups {
  std::array<u32, warpSize> lanes;
  size_t count = 0;

  const u32 *begin() const { return lanes.data(); }
  const u32 *end() const { return lanes.data() + count; }
};

/// The lanes among `candidates` that name the same members as the first one.
u32 sameMembers(const Warp &warp, const Instruction &i, u32 candidates,
                u32 members) {
  u32 lanes = 0;
  ATTN_FOR_LANES(candidates, lane) {
    lanes |= u32(laneValue32(warp, i.d, lane) == members) << lane;
  }
  if (u32 strangers = lanes & ~members)
    fault(warp, i, Finding::Sync,
          format("executing lane %u is not in member mask %08x",
                 firstLane(strangers), members));
  if (u32 others = members & warp.active & ~lanes)
    fault(warp, i, Finding::Sync,
          format("lanes %08x are in member mask %08x of lanes %08x but name "
                 "another one",
                 others, members, lanes));
  return lanes;
}

/// Finds the groups of active lanes; all are one in the old forms without
/// .sync. Returns false if some members have not arrived.
bool findGroups(Warp &warp, const Instruction &i, LaneGroups &groups) {
  if (!i.d) {
    groups.lanes[groups.count++] = warp.active;
    return true;
  }
  u32 allMembers = 0;
  for (u32 rest = warp.active; rest;) {
    u32 members = laneValue32(warp, i.d, firstLane(rest));
    u32 lanes = sameMembers(warp, i, rest, members);
    groups.lanes[groups.count++] = lanes;
    allMembers |= members;
    rest &= ~lanes;
  }
  return convergesWith(warp, i, allMembers);
}

//===----------------------------------------------------------------------===//
// shfl
//===----------------------------------------------------------------------===//

enum ShuffleMode : u32 { Up, Down, Butterfly, Index };

struct ShuffleSource {
  s32 lane;
  bool inRange;
};

/// PTX ISA 9.7.9 shfl.sync, "Semantics": `c` holds the clamp value in bits 0-4
/// and the segment mask in bits 8-12.
ShuffleSource shuffleSource(u32 mode, u32 lane, u32 b, u32 c) {
  u32 segment = (c >> 8) & 31, clamp = c & 31;
  s32 last = s32((lane & segment) | (clamp & ~segment));
  s32 first = s32(lane & segment);
  b &= 31;
  s32 source;
  switch (mode) {
  case Up:
    source = s32(lane) - s32(b);
    return {source, source >= last};
  case Down:
    source = s32(lane + b);
    break;
  case Butterfly:
    source = s32(lane ^ b);
    break;
  default:
    source = first | s32(b & ~segment);
  }
  return {source, source <= last};
}

Step runShuffle(Warp &warp, const Instruction &i) {
  LaneGroups groups;
  if (!findGroups(warp, i, groups))
    return Step::Block;
  const u32 *a = source32(warp, i.a), *b = source32(warp, i.b),
            *c = source32(warp, i.c);
  u32 values[warpSize], inRange = 0;
  ATTN_FOR_LANES(warp.active, lane) {
    ShuffleSource source = shuffleSource(i.operation, lane, b[lane], c[lane]);
    inRange |= u32(source.inRange) << lane;
    values[lane] = a[source.inRange ? source.lane & 31 : lane];
  }
  if (i.dst.isRegister()) {
    u32 *dst = dest32(warp, i.dst);
    ATTN_FOR_LANES(warp.active, lane) { dst[lane] = values[lane]; }
  }
  setPredicate(warp, i.dst2, inRange);
  return Step::Next;
}

/// PTX ISA 9.7.9 shfl, shfl.sync.
bool decodeShuffle(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  int mode = decoder.oneOf({"up", "down", "bfly", "idx"});
  if (mode < 0)
    decoder.fail("expected up, down, bfly or idx");
  i.operation = mode;
  decoder.destinationPair(0, 4, i.dst, i.dst2);
  i.a = decoder.source(1, 4);
  i.b = decoder.source(2, 4);
  i.c = decoder.source(3, 4);
  if (decoder.has("sync"))
    decodeMembers(decoder, 4);
  decoder.setHandler(runShuffle, InstructionClass::Shuffle);
  return true;
}

//===----------------------------------------------------------------------===//
// vote, match
//===----------------------------------------------------------------------===//

enum VoteMode : u32 { All, Any, Uniform, Ballot };

Step runVote(Warp &warp, const Instruction &i) {
  LaneGroups groups;
  if (!findGroups(warp, i, groups))
    return Step::Block;
  u32 predicates = predicateMask(warp, i.a), result = 0;
  for (u32 lanes : groups) {
    u32 votes = predicates & lanes;
    bool all = votes == lanes, none = votes == 0;
    if (i.operation == Ballot)
      ATTN_FOR_LANES(lanes, lane) { dest32(warp, i.dst)[lane] = votes; }
    else if (i.operation == Uniform ? all || none
             : i.operation == All   ? all
                                    : !none)
      result |= lanes;
  }
  if (i.operation != Ballot)
    setPredicate(warp, i.dst, result);
  return Step::Next;
}

/// PTX ISA 9.7.13 vote, vote.sync.
bool decodeVote(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  int mode = decoder.oneOf({"all", "any", "uni", "ballot"});
  if (mode < 0)
    decoder.fail("expected all, any, uni or ballot");
  i.operation = mode;
  i.dst = mode == Ballot ? decodeRegister(decoder, 0, 4)
                         : decoder.predicateDestination(decoder.operand(0));
  i.a = decoder.predicate(1);
  if (decoder.has("sync"))
    decodeMembers(decoder, 2);
  decoder.setHandler(runVote, InstructionClass::Shuffle);
  return true;
}

/// The lanes of each lane's group that hold the same value.
void matchLanes(const Warp &warp, const Instruction &i, u32 lanes,
                u32 (&masks)[warpSize]) {
  ATTN_FOR_LANES(lanes, lane) {
    u64 value = laneValue(warp, i.a, lane);
    masks[lane] = 0;
    ATTN_FOR_LANES(lanes, other) {
      masks[lane] |= u32(laneValue(warp, i.a, other) == value) << other;
    }
  }
}

Step runMatch(Warp &warp, const Instruction &i) {
  LaneGroups groups;
  if (!findGroups(warp, i, groups))
    return Step::Block;
  bool isAll = i.operation;
  u32 equal = 0;
  u32 masks[warpSize];
  for (u32 lanes : groups) {
    matchLanes(warp, i, lanes, masks);
    bool allEqual = masks[firstLane(lanes)] == lanes;
    equal |= allEqual ? lanes : 0;
    if (isAll && !allEqual)
      ATTN_FOR_LANES(lanes, lane) { masks[lane] = 0; }
  }
  if (i.dst.isRegister())
    ATTN_FOR_LANES(warp.active, lane) {
      dest32(warp, i.dst)[lane] = masks[lane];
    }
  setPredicate(warp, i.dst2, equal);
  return Step::Next;
}

/// PTX ISA 9.7.13 match.sync.
bool decodeMatch(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  i.operation = decoder.has("all");
  decoder.destinationPair(0, 4, i.dst, i.dst2);
  i.a = decoder.source(1, byteSize(i.type));
  if (i.a.width > 8)
    decoder.fail("expected a type of 32 or 64 bits");
  decodeMembers(decoder, 2);
  decoder.setHandler(runMatch, InstructionClass::Shuffle);
  return true;
}

//===----------------------------------------------------------------------===//
// redux
//===----------------------------------------------------------------------===//

constexpr u32 propagatesNaN = 1, takesAbs = 2;

/// min or max of floats; NaN is skipped unless .NaN.
u32 reduceFloats(const Instruction &i, const u32 *values, u32 members) {
  bool any = false, nan = false;
  float result = 0;
  ATTN_FOR_LANES(members, lane) {
    float value = asFloat(values[lane]);
    if (i.flags & takesAbs)
      value = std::fabs(value);
    nan |= isNaN(value);
    if (isNaN(value))
      continue;
    if (!any)
      result = value;
    else
      result = AtomicOp(i.operation) == AtomicOp::Min
                   ? std::fmin(value, result)
                   : std::fmax(value, result);
    any = true;
  }
  bool isNaNResult = !any || (nan && (i.flags & propagatesNaN));
  return isNaNResult ? canonicalNaN32 : asBits(result);
}

u32 reduceIntegers(const Instruction &i, const u32 *values, u32 members) {
  u32 result = values[firstLane(members)];
  ATTN_FOR_LANES(members & (members - 1), lane) {
    result = applyAtomic(AtomicOp(i.operation), i.type, result, values[lane]);
  }
  return result;
}

Step runRedux(Warp &warp, const Instruction &i) {
  LaneGroups groups;
  if (!findGroups(warp, i, groups))
    return Step::Block;
  const u32 *values = source32(warp, i.a);
  for (u32 lanes : groups) {
    u32 result = i.type == Type::F32 ? reduceFloats(i, values, lanes)
                                     : reduceIntegers(i, values, lanes);
    ATTN_FOR_LANES(lanes, lane) { dest32(warp, i.dst)[lane] = result; }
  }
  return Step::Next;
}

/// PTX ISA 9.7.13 redux.sync.
bool decodeRedux(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  AtomicOp op = decodeAtomicOp(decoder);
  if (i.type == Type::F32 && op != AtomicOp::Min && op != AtomicOp::Max)
    decoder.fail("expected min or max of floats");
  if (byteSize(i.type) != 4)
    decoder.fail("expected a type of 32 bits");
  i.operation = u32(op);
  i.flags = (decoder.has("NaN") ? propagatesNaN : 0) |
            (decoder.has("abs") ? takesAbs : 0);
  i.dst = decodeRegister(decoder, 0, 4);
  i.a = decoder.source(1, 4);
  decodeMembers(decoder, 2);
  decoder.setHandler(runRedux, InstructionClass::Shuffle);
  return true;
}

//===----------------------------------------------------------------------===//
// activemask, elect, bar.warp.sync
//===----------------------------------------------------------------------===//

Step runActivemask(Warp &warp, const Instruction &i) {
  ATTN_FOR_LANES(warp.active, lane) { dest32(warp, i.dst)[lane] = warp.active; }
  return Step::Next;
}

/// PTX ISA 9.7.13 activemask.
bool decodeActivemask(Decoder &decoder) {
  decoder.instruction.dst = decodeRegister(decoder, 0, 4);
  decoder.setHandler(runActivemask, InstructionClass::Shuffle);
  return true;
}

/// The leader is the lowest member.
Step runElect(Warp &warp, const Instruction &i) {
  LaneGroups groups;
  if (!findGroups(warp, i, groups))
    return Step::Block;
  u32 leaders = 0;
  for (u32 lanes : groups) {
    u32 leader = firstLane(lanes);
    leaders |= 1u << leader;
    if (i.dst.isRegister())
      ATTN_FOR_LANES(lanes, lane) { dest32(warp, i.dst)[lane] = leader; }
  }
  setPredicate(warp, i.dst2, leaders);
  return Step::Next;
}

/// PTX ISA 9.7.13 elect.sync.
bool decodeElect(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  const ParsedOperand &dst = decoder.operand(0);
  if (dst.is(ParsedOperand::Kind::Pair))
    decoder.destinationPair(0, 4, i.dst, i.dst2);
  else
    i.dst2 = decoder.predicateDestination(dst);
  decodeMembers(decoder, 1);
  decoder.setHandler(runElect, InstructionClass::Shuffle);
  return true;
}

Step runWarpSync(Warp &warp, const Instruction &i) {
  LaneGroups groups;
  if (!findGroups(warp, i, groups))
    return Step::Block;
  for (u32 lanes : groups)
    shareChainWait(warp, lanes);
  return Step::Next;
}

/// PTX ISA 9.7.13 bar.warp.sync.
bool decodeWarpSync(Decoder &decoder) {
  if (!decoder.has("warp"))
    return false;
  decodeMembers(decoder, 0);
  decoder.instruction.isWarpSync = true;
  decoder.setHandler(runWarpSync, InstructionClass::Barrier);
  return true;
}

} // namespace

void attn::sim::registerWarpOps(OpcodeTable &table) {
  table.add("shfl", decodeShuffle);
  table.add("vote", decodeVote);
  table.add("match", decodeMatch);
  table.add("redux", decodeRedux);
  table.add("activemask", decodeActivemask);
  table.add("elect", decodeElect);
  table.add("bar", decodeWarpSync);
}
