//===- Tcgen05Memory.cpp - Accesses of tensor memory ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.16.8, tcgen05.ld, st, wait; 9.7.16.11, tcgen05.fence. What a
/// load brings appears in its registers at tcgen05.wait::ld; meanwhile they
/// hold 0xFF bytes.
///
//===----------------------------------------------------------------------===//

#include "../Memory.h"
#include "Families.h"
#include "Tcgen05.h"

using namespace attn::sim;

namespace {

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// What a repetition of a shape brings to a thread.
struct Shape {
  const char *name;
  u32 lanes, columns, registers, maxRepeat;
  /// The cell of a register of a thread: lane and column of the repetition.
  u32 (*lane)(u32 thread, u32 registerIndex);
  u32 (*column)(u32 thread, u32 registerIndex);
};

/// PTX ISA 9.7.16.2.3, "Data movement shapes".
constexpr Shape shapes[] = {
    {"32x32b", 32, 1, 1, 128, [](u32 thread, u32) { return thread; },
     [](u32, u32) { return 0u; }},
    {"16x128b", 16, 4, 2, 64,
     [](u32 thread, u32 r) { return thread / 4 + 8 * r; },
     [](u32 thread, u32) { return thread % 4; }},
    {"16x256b", 16, 8, 4, 32,
     [](u32 thread, u32 r) { return thread / 4 + 8 * (r / 2); },
     [](u32 thread, u32 r) { return 2 * (thread % 4) + r % 2; }},
    {"16x64b", 16, 2, 1, 128,
     [](u32 thread, u32) { return thread / 4 + thread % 2 * 8; },
     [](u32 thread, u32) { return thread / 2 % 2; }},
    {"16x32bx2", 16, 1, 1, 128, [](u32 thread, u32) { return thread % 16; },
     [](u32, u32) { return 0u; }}};
/// Index of 16x32bx2: threads from 16 on access the same lanes, some columns
/// further on.
constexpr u32 splitShape = 4;

/// `operation`: index of the shape, `immediate`: repetitions, `flags`: columns
/// from the first to the second half of 16x32bx2.
const Shape &shapeOf(const Instruction &i) { return shapes[i.operation]; }

/// Calls visit(range) for what an access touches: a range and, of a split
/// shape, its second half.
template <typename Visit>
void forEachHalf(const Instruction &i, TensorRange range, Visit visit) {
  visit(range);
  if (i.operation != splitShape)
    return;
  range.column += i.flags;
  visit(range);
}

/// The cells that a warp accesses; it reaches a quarter of the lanes.
TensorRange accessedRange(Warp &warp, const Instruction &i, const char *what) {
  const Shape &shape = shapeOf(i);
  TensorAddress address = uniformTensorAddress(warp, i, i.address);
  u32 quarter = warp.id % 4 * 32;
  if (address.lane < quarter || address.lane + shape.lanes > quarter + 32 ||
      address.lane % tensorLaneGroup)
    fault(warp, i, Finding::Memory,
          format("%s of lanes %u to %u of tensor memory by warp %u, which "
                 "reaches lanes %u to %u",
                 what, address.lane, address.lane + shape.lanes - 1, warp.id,
                 quarter, quarter + 31),
          "add 32 times the warp's number in its warpgroup, in bits 16 to 31");
  TensorRange range{address.lane, shape.lanes, address.column,
                    shape.columns * u32(i.immediate)};
  forEachHalf(i, range, [&](const TensorRange &half) {
    checkTensorRange(warp, i, *warp.cta, half, what);
  });
  return range;
}

/// Calls visit(register, thread, cell).
template <typename Visit>
void forEachCell(Warp &warp, const Instruction &i, u32 registers,
                 const TensorRange &range, Visit visit) {
  const Shape &shape = shapeOf(i);
  const u32 split = i.operation == splitShape ? i.flags : 0;
  for (u32 r = 0; r < registers; ++r) {
    u32 repetition = r / shape.registers, inShape = r % shape.registers;
    for (u32 thread = 0; thread < warpSize; ++thread) {
      u32 lane = range.lane + shape.lane(thread, inShape);
      u32 column = range.column + repetition * shape.columns +
                   shape.column(thread, inShape) + thread / 16 * split;
      visit(r, thread, warp.cta->tensor.row(lane)[column]);
    }
  }
}

//===----------------------------------------------------------------------===//
// ld, st, wait
//===----------------------------------------------------------------------===//

/// What the warp has loaded arrives in its registers.
void completeLoads(Warp &warp) {
  TensorWarpState &state = warp.tensor;
  for (const TensorLoad &load : state.loads)
    for (size_t r = 0; r < load.slots.size(); ++r) {
      std::copy_n(&load.values[r * warpSize], warpSize,
                  warp.registers + size_t(load.slots[r]) * warpSize);
      --state.inFlight[load.slots[r]];
    }
  state.loads.clear();
  state.pendingLoad = 0;
  learn(warp, tensorAccessAgent(warp), state.completed());
}

/// The warp's stores are over.
void completeStores(Warp &warp) {
  warp.tensor.pendingStore = 0;
  learn(warp, tensorAccessAgent(warp), warp.tensor.completed());
}

Step runLoad(Warp &warp, const Instruction &i) {
  if (!convergesFully(warp, i))
    return Step::Block;
  const char *what = "tcgen05.ld";
  TensorRange range = accessedRange(warp, i, what);
  TensorAccess access = beginTensorAccess(warp, TensorAccess::Kind::Load);
  bool isVisible = true;
  forEachHalf(i, range, [&](const TensorRange &half) {
    isVisible &= readTensor(warp, i, *warp.cta, half, access, what);
  });
  u32 registers = u32(i.results.size());
  TensorLoad load;
  load.values.resize(size_t(registers) * warpSize);
  forEachCell(warp, i, registers, range, [&](u32 r, u32 thread, u32 cell) {
    load.values[size_t(r) * warpSize + thread] = isVisible ? cell : ~0u;
  });
  TensorWarpState &state = warp.tensor;
  if (state.inFlight.empty())
    state.inFlight.assign(warp.program->numSlots, 0);
  for (const Operand &operand : i.results) {
    load.slots.push_back(operand.index);
    ++state.inFlight[operand.index];
    std::fill_n(dest32(warp, operand), warpSize, ~0u);
  }
  state.loads.push_back(std::move(load));
  if (!checks(warp).tensorWait)
    completeLoads(warp);
  return Step::Next;
}

Step runStore(Warp &warp, const Instruction &i) {
  if (!convergesFully(warp, i))
    return Step::Block;
  const char *what = "tcgen05.st";
  TensorRange range = accessedRange(warp, i, what);
  TensorAccess access = beginTensorAccess(warp, TensorAccess::Kind::Store);
  forEachHalf(i, range, [&](const TensorRange &half) {
    writeTensor(warp, i, *warp.cta, half, access, what);
  });
  forEachCell(warp, i, u32(i.values.size()), range,
              [&](u32 r, u32 thread, u32 &cell) {
                cell = laneValue32(warp, i.values[r], thread);
              });
  if (!checks(warp).tensorWait)
    completeStores(warp);
  return Step::Next;
}

Step runWaitLoad(Warp &warp, const Instruction &i) {
  if (!convergesFully(warp, i))
    return Step::Block;
  completeLoads(warp);
  return Step::Next;
}

Step runWaitStore(Warp &warp, const Instruction &i) {
  if (!convergesFully(warp, i))
    return Step::Block;
  completeStores(warp);
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// fence
//===----------------------------------------------------------------------===//

Step runFenceBefore(Warp &warp, const Instruction &) {
  fenceTensorBefore(warp);
  return Step::Next;
}

Step runFenceAfter(Warp &warp, const Instruction &) {
  fenceTensorAfter(warp);
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

u32 decodeRepeat(const Decoder &decoder) {
  for (u32 repeat = 1; repeat <= 128; repeat *= 2)
    if (decoder.has("x" + std::to_string(repeat)))
      return repeat;
  decoder.fail("expected .x1 to .x128");
}

/// tcgen05.ld.sync.aligned.SHAPE.xN.b32 registers, [address] {, split}; st the
/// other way.
void decodeAccess(Decoder &decoder, bool isLoad) {
  Instruction &i = decoder.instruction;
  if (decoder.has("pack::16b") || decoder.has("unpack::16b"))
    decoder.fail(".pack::16b and .unpack::16b are not supported");
  if (decoder.has("red"))
    decoder.fail("tcgen05.ld.red is not supported");
  int shape = -1;
  for (size_t k = 0; k < std::size(shapes); ++k)
    if (decoder.has(shapes[k].name))
      shape = int(k);
  if (shape < 0)
    decoder.fail("expected shape .32x32b, .16x32bx2, .16x64b, .16x128b or "
                 ".16x256b");
  i.operation = u32(shape);
  i.immediate = decodeRepeat(decoder);
  if (i.immediate > shapes[shape].maxRepeat)
    decoder.fail(format("expected at most .x%u", shapes[shape].maxRepeat));
  i.address = decoder.address(isLoad ? 1 : 0);
  bool isSplit = i.operation == splitShape;
  if (isSplit)
    i.flags = u32(decoder.integer(isLoad ? 2 : 1));
  std::vector<Operand> &registers = isLoad ? i.results : i.values;
  registers = isLoad ? decoder.destinations(decoder.operand(0), 4)
                     : decoder.sources(decoder.operand(isSplit ? 2 : 1), 4);
  u32 expected = shapes[shape].registers * u32(i.immediate);
  if (registers.size() != expected)
    decoder.fail(
        format("expected %u registers, got %zu", expected, registers.size()));
  for (const Operand &operand : registers)
    if (isLoad && !operand.isRegister())
      decoder.fail("expected registers as destinations");
  decoder.setHandler(isLoad ? runLoad : runStore,
                     InstructionClass::TensorMemory);
}

} // namespace

void attn::sim::decodeCtaGroup(Decoder &decoder) {
  int pairs = decoder.oneOf({"cta_group::1", "cta_group::2"});
  if (pairs < 0)
    decoder.fail("expected .cta_group::1 or .cta_group::2");
  u32 &ofKernel = decoder.program.tensorCtaGroup;
  if (ofKernel && ofKernel != u32(pairs) + 1)
    decoder.fail(format(".cta_group::%d, but the kernel has instructions of "
                        ".cta_group::%u; all must have the same",
                        pairs + 1, ofKernel));
  ofKernel = u32(pairs) + 1;
  decoder.instruction.flags = pairs ? forPair : 0;
}

TensorAddress attn::sim::uniformTensorAddress(Warp &warp, const Instruction &i,
                                              const Address &address) {
  u32 first = firstLane(warp.active);
  u32 bits = u32(laneAddress(warp, address, first));
  ATTN_FOR_LANES(warp.active, lane) {
    if (u32(laneAddress(warp, address, lane)) != bits)
      fault(warp, i, Finding::Sync,
            format("tensor-memory address differs between lanes: 0x%08x in "
                   "lane %u, 0x%08x in lane %u",
                   bits, first, u32(laneAddress(warp, address, lane)), lane));
  }
  return TensorAddress(bits);
}

bool attn::sim::isTensorLoad(const Instruction &instruction) {
  return instruction.run == runLoad;
}

bool attn::sim::isTensorLoadWait(const Instruction &instruction) {
  return instruction.run == runWaitLoad;
}

void attn::sim::checkTensorLoads(Warp &warp, const Instruction &i) {
  if (isTensorLoadWait(i) || !checks(warp).earlyRead)
    return;
  for (const auto *slots : {&i.readSlots, &i.writtenSlots})
    for (s32 slot : *slots)
      if (warp.tensor.inFlight[slot])
        report(warp, i, Finding::Async,
               format("register %s is the destination of a tcgen05.ld that has "
                      "not been waited for",
                      warp.program->slotNames[slot].c_str()),
               "execute tcgen05.wait::ld first");
}

bool attn::sim::decodeTensorMemory(Decoder &decoder) {
  if (decoder.has("ld")) {
    decodeAccess(decoder, /*isLoad=*/true);
  } else if (decoder.has("st")) {
    decodeAccess(decoder, /*isLoad=*/false);
  } else if (decoder.has("wait::ld")) {
    decoder.setHandler(runWaitLoad, InstructionClass::TensorMemory);
  } else if (decoder.has("wait::st")) {
    decoder.setHandler(runWaitStore, InstructionClass::TensorMemory);
  } else if (decoder.has("fence::before_thread_sync")) {
    decoder.setHandler(runFenceBefore, InstructionClass::Fence);
  } else if (decoder.has("fence::after_thread_sync")) {
    decoder.setHandler(runFenceAfter, InstructionClass::Fence);
  } else {
    return false;
  }
  return true;
}
