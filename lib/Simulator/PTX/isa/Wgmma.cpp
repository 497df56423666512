//===- Wgmma.cpp - Asynchronous warpgroup matrix products -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.15: wgmma.mma_async, wgmma.fence, wgmma.commit_group,
/// wgmma.wait_group. Operands are gathered when a warp issues the instruction;
/// its accumulators change at the wait, which returns only after all four warps
/// of the warpgroup have issued the product.
///
//===----------------------------------------------------------------------===//

#include "Wgmma.h"
#include "../Tracer.h"
#include "Families.h"
#include "WgmmaOperands.h"

#include <algorithm>
#include <set>

using namespace attn::sim;

namespace {

const WgmmaPayload &payload(const Instruction &i) {
  return static_cast<const WgmmaPayload &>(*i.payload);
}

u32 firstWarpOfGroup(const Warp &warp) { return warp.id & ~3u; }

//===----------------------------------------------------------------------===//
// Issue
//===----------------------------------------------------------------------===//

Step runWgmma(Warp &warp, const Instruction &i) {
  if (!convergesFully(warp, i))
    return Step::Block;
  const WgmmaPayload &wgmma = payload(i);
  WgmmaState &state = warp.wgmma;
  Cta &cta = *warp.cta;
  if (firstWarpOfGroup(warp) + 4 > cta.warps.size())
    fault(warp, i, Finding::Sync,
          "wgmma needs a full warpgroup of 128 threads");
  if (state.inFlight.empty())
    state.inFlight.assign(warp.program->numSlots, 0);
  u32 scale = predicateMask(warp, i.c);
  if (scale != 0 && scale != fullMask)
    fault(warp, i, Finding::Sync, "scale-d differs between lanes");
  checkFences(warp, i, wgmma);
  WgmmaOp op;
  op.instruction = &i;
  op.accumulates = scale != 0;
  if (op.accumulates)
    checkAccumulatorsDefined(warp, i, wgmma);
  op.b = gatherTileB(warp, i, wgmma);
  gatherTileA(warp, i, wgmma, op);
  for (const Operand &operand : wgmma.d)
    ++state.inFlight[operand.index];
  op.number = ++state.issued;
  checkSameIssue(warp, i, op.number);
  op.doneCycle = traceWgmma(warp, i);
  state.ops.push_back(std::move(op));
  ++state.pending;
  if (!options(warp).deferAsync) {
    learn(warp, wgmmaAgent(warp), u32(state.issued));
    completeAllWgmma(warp);
  }
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Completion
//===----------------------------------------------------------------------===//

void computeMove(Warp &warp, const WgmmaOp &op) {
  u32 *to = warp.registers + size_t(op.moveDestination) * warpSize;
  const u32 *from = warp.registers + size_t(op.moveSource) * warpSize;
  ATTN_FOR_LANES(op.moveMask, lane) { to[lane] = from[lane]; }
  --warp.wgmma.inFlight[op.moveDestination];
}

/// Accumulators in f16: two columns to a register.
void computeHalf(Warp &warp, const WgmmaPayload &wgmma, const WgmmaOp &op,
                 float **sums) {
  u32 count = wgmma.n / 2;
  if (op.accumulates)
    for (u32 c = 0; c < count; ++c) {
      const u32 *source = source32(warp, wgmma.d[c >> 1]);
      for (u32 lane = 0; lane < warpSize; ++lane)
        sums[c][lane] = halfToFloat(u16(source[lane] >> 16 * (c & 1)));
    }
  multiplyAccumulate(sums, op.a.data(), op.b->values.data(), wgmma.numK,
                     wgmma.n / 8);
  for (u32 r = 0; r < count / 2; ++r)
    for (u32 lane = 0; lane < warpSize; ++lane)
      dest32(warp, wgmma.d[r])[lane] = floatToHalf(sums[2 * r][lane]) |
                                       u32(floatToHalf(sums[2 * r + 1][lane]))
                                           << 16;
}

void computeInteger(Warp &warp, const WgmmaPayload &wgmma, const WgmmaOp &op,
                    float **sums) {
  multiplyAccumulate(sums, op.a.data(), op.b->values.data(), wgmma.numK,
                     wgmma.n / 8);
  for (u32 c = 0; c < wgmma.n / 2; ++c) {
    u32 *d = dest32(warp, wgmma.d[c]);
    for (u32 lane = 0; lane < warpSize; ++lane)
      d[lane] = (op.accumulates ? d[lane] : 0) + u32(s32(sums[c][lane]));
  }
}

void computeFloat(Warp &warp, const WgmmaPayload &wgmma, const WgmmaOp &op) {
  float *d[128];
  for (u32 c = 0; c < wgmma.n / 2; ++c) {
    d[c] = reinterpret_cast<float *>(dest32(warp, wgmma.d[c]));
    if (!op.accumulates)
      std::fill_n(d[c], warpSize, 0.f);
  }
  auto multiply =
      isFloat8Kind(wgmma.kindA) ? multiplyAccumulateShort : multiplyAccumulate;
  multiply(d, op.a.data(), op.b->values.data(), wgmma.numK, wgmma.n / 8);
}

void compute(Warp &warp, const WgmmaOp &op) {
  const WgmmaPayload &wgmma = payload(*op.instruction);
  if (wgmma.typeD == Type::F32) {
    computeFloat(warp, wgmma, op);
  } else {
    u32 count = wgmma.n / 2;
    std::vector<float> storage(size_t(count) * warpSize, 0.f);
    std::vector<float *> sums(count);
    for (u32 c = 0; c < count; ++c)
      sums[c] = &storage[size_t(c) * warpSize];
    if (wgmma.typeD == Type::F16)
      computeHalf(warp, wgmma, op, sums.data());
    else
      computeInteger(warp, wgmma, op, sums.data());
  }
  for (const Operand &operand : wgmma.d) {
    --warp.wgmma.inFlight[operand.index];
    if (!warp.definedSlots.empty())
      warp.definedSlots[operand.index] = fullMask;
  }
}

void complete(Warp &warp, const WgmmaOp &op) {
  if (!op.instruction)
    return computeMove(warp, op);
  compute(warp, op);
  --warp.wgmma.pending;
}

/// Moves whose registers no product in flight touches any more.
void completeIndependentMoves(Warp &warp) {
  std::vector<WgmmaOp> &ops = warp.wgmma.ops;
  std::set<s32> busy;
  for (size_t k = 0; k < ops.size();) {
    WgmmaOp &op = ops[k];
    if (op.instruction) {
      for (const Operand &operand : payload(*op.instruction).d)
        busy.insert(operand.index);
      ++k;
    } else if (busy.count(op.moveSource) || busy.count(op.moveDestination)) {
      busy.insert(op.moveSource);
      busy.insert(op.moveDestination);
      ++k;
    } else {
      complete(warp, op);
      ops.erase(ops.begin() + k);
    }
  }
}

/// Completes, in order, the products up to a group and the moves among them.
void completeGroups(Warp &warp, u32 lastGroup, bool all) {
  std::vector<WgmmaOp> &ops = warp.wgmma.ops;
  size_t count = 0;
  while (count < ops.size()) {
    const WgmmaOp &op = ops[count];
    bool isDone =
        all || !op.instruction || (op.committed && op.group <= lastGroup);
    if (!isDone)
      break;
    complete(warp, op);
    ++count;
  }
  ops.erase(ops.begin(), ops.begin() + count);
  if (!ops.empty())
    completeIndependentMoves(warp);
}

//===----------------------------------------------------------------------===//
// fence, commit_group, wait_group
//===----------------------------------------------------------------------===//

Step runFence(Warp &warp, const Instruction &i) {
  if (!convergesFully(warp, i))
    return Step::Block;
  warp.wgmma.fenceStamp = ++warp.worker->clock;
  return Step::Next;
}

Step runCommit(Warp &warp, const Instruction &i) {
  if (!convergesFully(warp, i))
    return Step::Block;
  u32 group = ++warp.wgmma.group;
  for (WgmmaOp &op : warp.wgmma.ops)
    if (op.instruction && !op.committed) {
      op.committed = true;
      op.group = group;
    }
  return Step::Next;
}

/// The number of the last product of the groups up to `lastGroup`; 0: none.
u64 lastProduct(const Warp &warp, u32 lastGroup) {
  u64 number = 0;
  for (const WgmmaOp &op : warp.wgmma.ops)
    if (op.instruction && op.committed && op.group <= lastGroup)
      number = std::max(number, op.number);
  return number;
}

/// When one warp's wait returns, the operands in shared memory have been read
/// for all four.
void finishWait(Warp &warp, const Instruction &i, u64 number) {
  Cta &cta = *warp.cta;
  for (u32 k = 0; k < 4; ++k) {
    Warp &other = cta.warps[firstWarpOfGroup(warp) + k];
    for (WgmmaOp &op : other.wgmma.ops) {
      if (!op.instruction || op.number > number)
        continue;
      checkSourcesUnchanged(other, op);
      if (&other == &warp)
        traceWaitUntil(warp, op.doneCycle);
    }
  }
  learn(warp, wgmmaAgent(warp), u32(number));
}

void checkGroupAlive(Warp &warp, const Instruction &i, u64 number) {
  for (u32 k = 0; k < 4; ++k) {
    const Warp &other = warp.cta->warps[firstWarpOfGroup(warp) + k];
    if (other.done && other.wgmma.issued < number)
      fault(warp, i, Finding::Sync,
            format("warp %u exited without issuing a wgmma that the rest of "
                   "its warpgroup waits for",
                   other.id));
  }
}

/// `immediate`: groups that may stay pending.
Step runWait(Warp &warp, const Instruction &i) {
  if (!convergesFully(warp, i))
    return Step::Block;
  if (s64(warp.wgmma.group) <= i.immediate)
    return Step::Next;
  u32 lastGroup = warp.wgmma.group - u32(i.immediate);
  if (u64 number = lastProduct(warp, lastGroup)) {
    Wait wait;
    wait.kind = Wait::Kind::Wgmma;
    wait.phase = number;
    checkGroupAlive(warp, i, number);
    if (!isWgmmaReady(warp, wait)) {
      if (!warp.resumed)
        countWait(warp, WaitReason::Wgmma);
      warp.wait = wait;
      return Step::Block;
    }
    finishWait(warp, i, number);
  }
  completeGroups(warp, lastGroup, /*all=*/false);
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

bool decodeSign(Decoder &decoder, size_t index) {
  if (index >= decoder.numOperands())
    return false;
  s64 value = decoder.integer(index);
  if (value != 1 && value != -1)
    decoder.fail("expected an imm-scale of 1 or -1");
  return value == -1;
}

bool decodeFlag(Decoder &decoder, size_t index) {
  return index < decoder.numOperands() && decoder.integer(index) != 0;
}

void checkShape(Decoder &decoder, const WgmmaPayload &wgmma,
                const MatrixShape &shape) {
  u32 bytes = elementBytes(wgmma.kindA);
  if (shape.m != 64 || shape.n % 8 || shape.n < 8 || shape.n > 256 ||
      shape.k * bytes != 32 || elementBytes(wgmma.kindB) != bytes)
    decoder.fail("unsupported shape");
  bool integerD = !isFloat(wgmma.typeD);
  if ((wgmma.typeD != Type::F32 && wgmma.typeD != Type::F16 &&
       wgmma.typeD != Type::S32) ||
      integerD != isIntegerKind(wgmma.kindA) ||
      integerD != isIntegerKind(wgmma.kindB))
    decoder.fail("unsupported types");
  size_t registers = wgmma.typeD == Type::F16 ? shape.n / 4 : shape.n / 2;
  if (wgmma.d.size() != registers)
    decoder.fail(format("expected %zu accumulator registers, got %zu",
                        registers, wgmma.d.size()));
}

/// wgmma.mma_async d, a, b, scale-d, imm-scale-a, imm-scale-b, tnspA, tnspB
void decodeProduct(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  std::optional<MatrixShape> shape = decodeShape(decoder);
  if (!decoder.has("mma_async") || !shape || decoder.types().size() < 3)
    decoder.fail("expected mma_async with a shape and three types");
  if (decoder.has("sp"))
    decoder.fail("sparse wgmma is not supported");
  auto wgmma = std::make_shared<WgmmaPayload>();
  i.payload = wgmma;
  std::optional<ElementKind> kindA = elementKind(decoder.types()[1]);
  std::optional<ElementKind> kindB = elementKind(decoder.types()[2]);
  if (!kindA || !kindB)
    decoder.fail("unsupported types");
  wgmma->n = shape->n;
  wgmma->numK = shape->k;
  wgmma->kindA = *kindA;
  wgmma->kindB = *kindB;
  wgmma->typeD = decoder.types()[0];
  wgmma->d = decoder.destinations(decoder.operand(0), 4);
  for (const Operand &operand : wgmma->d)
    if (!operand.isRegister())
      decoder.fail("expected registers as accumulators");
  checkShape(decoder, *wgmma, *shape);
  if (decoder.operand(1).is(ParsedOperand::Kind::Vector)) {
    wgmma->a = decoder.sources(decoder.operand(1), 4);
    if (wgmma->a.size() != 4)
      decoder.fail("expected 4 registers of A");
  } else {
    i.a = decoder.source(1, 8);
  }
  i.b = decoder.source(2, 8);
  i.c = decoder.numOperands() > 3 ? decoder.predicate(3) : Operand();
  wgmma->negateA = decodeSign(decoder, 4);
  wgmma->negateB = decodeSign(decoder, 5);
  size_t next = 6;
  if (!wgmma->hasRegistersA())
    wgmma->transposeA = decodeFlag(decoder, next++);
  wgmma->transposeB = decodeFlag(decoder, next);
  if ((wgmma->transposeA || wgmma->transposeB) && elementBytes(*kindA) != 2)
    decoder.fail("transposition needs 16-bit elements");
  // One of four warps, which reads its rows of A and a quarter of B.
  i.flops = 2ull * 16 * shape->n * shape->k;
  u64 rowBytes = u64(shape->k) * elementBytes(*kindA);
  i.wgmmaSharedBytes = shape->n * rowBytes / 4;
  if (!wgmma->hasRegistersA())
    i.wgmmaSharedBytes += 16 * rowBytes;
  decoder.setHandler(runWgmma, InstructionClass::Wgmma);
}

/// PTX ISA 9.7.15 wgmma.
bool decodeWgmma(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  if (decoder.has("fence")) {
    decoder.setHandler(runFence, InstructionClass::Wgmma);
  } else if (decoder.has("commit_group")) {
    decoder.setHandler(runCommit, InstructionClass::Wgmma);
  } else if (decoder.has("wait_group")) {
    i.immediate = decoder.integer(0);
    decoder.setHandler(runWait, InstructionClass::Wgmma);
  } else {
    decodeProduct(decoder);
  }
  return true;
}

} // namespace

bool attn::sim::isWgmma(const Instruction &instruction) {
  return instruction.run == runWgmma;
}

bool attn::sim::isWgmmaWaitAll(const Instruction &instruction) {
  return instruction.run == runWait && instruction.immediate == 0;
}

bool attn::sim::isWgmmaReady(Warp &warp, const Wait &wait) {
  for (u32 k = 0; k < 4; ++k) {
    const Warp &other = warp.cta->warps[firstWarpOfGroup(warp) + k];
    if (!other.done && other.wgmma.issued < wait.phase)
      return false;
  }
  return true;
}

void attn::sim::completeAllWgmma(Warp &warp) {
  completeGroups(warp, 0, /*all=*/true);
}

/// A register-to-register move of an accumulator in flight.
static bool isAccumulatorMove(const Warp &warp, const Instruction &i) {
  return i.instructionClass == InstructionClass::Move && i.a.isRegister() &&
         i.dst.isRegister() && i.a.width == 4 && i.dst.width == 4 &&
         i.values.empty() && i.results.empty() && !i.address &&
         warp.wgmma.inFlight[i.a.index];
}

bool attn::sim::touchesAccumulators(Warp &warp, const Instruction &i) {
  if (i.instructionClass == InstructionClass::Wgmma)
    return false;
  WgmmaState &state = warp.wgmma;
  auto isInFlight = [&](s32 slot) { return state.inFlight[slot] != 0; };
  auto touched =
      std::find_if(i.readSlots.begin(), i.readSlots.end(), isInFlight);
  if (touched == i.readSlots.end()) {
    touched =
        std::find_if(i.writtenSlots.begin(), i.writtenSlots.end(), isInFlight);
    if (touched == i.writtenSlots.end())
      return false;
  }
  if (isAccumulatorMove(warp, i)) {
    WgmmaOp move;
    move.moveSource = i.a.index;
    move.moveDestination = i.dst.index;
    move.moveMask = warp.active;
    ++state.inFlight[i.dst.index];
    state.ops.push_back(std::move(move));
    return true;
  }
  if (checks(warp).earlyRead)
    report(warp, i, Finding::Async,
           format("register %s holds a wgmma accumulator that has not been "
                  "waited for",
                  warp.program->slotNames[*touched].c_str()),
           "wait with wgmma.wait_group before touching an accumulator");
  return false;
}

void attn::sim::registerWgmma(OpcodeTable &table) {
  table.add("wgmma", decodeWgmma);
}
