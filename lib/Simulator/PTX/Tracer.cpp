//===- Tracer.cpp - Timeline by a simple latency model --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tracer.h"

#include "LatencyModel.h"

#include <algorithm>
#include <optional>

using namespace attn::sim;

namespace {

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

/// The pipe of an instruction, and how many cycles of it the 32 lanes take.
struct Occupancy {
  Pipe pipe;
  u64 cycles;
};

/// Of 16 (integers, conversions) or 4 (MUFU) lanes in a cycle of a sub-core,
/// loads and stores by its share of theirs; none of FP32, which has 32 lanes,
/// and of what synchronises.
std::optional<Occupancy> occupancy(const Instruction &instruction) {
  switch (instruction.instructionClass) {
  case InstructionClass::Ex2:
  case InstructionClass::Mufu:
    return Occupancy{Pipe::Special, 8};
  case InstructionClass::Integer:
  case InstructionClass::Convert:
  case InstructionClass::FloatCompare:
    return Occupancy{Pipe::Arithmetic, 2};
  case InstructionClass::Double:
    return Occupancy{Pipe::Arithmetic, 16};
  case InstructionClass::Load:
  case InstructionClass::Store:
  case InstructionClass::LdMatrix:
  case InstructionClass::CpAsync:
  case InstructionClass::Shuffle:
    return Occupancy{Pipe::Memory, 4};
  case InstructionClass::Atomic:
    return Occupancy{Pipe::Memory, 16};
  case InstructionClass::Mma:
    return Occupancy{Pipe::Tensor,
                     instruction.flops * schedulersPerSm / tensorFlopsPerCycle};
  default:
    return std::nullopt;
  }
}

/// Cycles until a warp goes on behind an instruction.
u64 latency(InstructionClass instructionClass) {
  switch (instructionClass) {
  case InstructionClass::Barrier:
  case InstructionClass::Mbarrier:
  case InstructionClass::Fence:
    return 8;
  default:
    return 1;
  }
}

/// True if others, or tensor cores, get what the warp has computed before:
/// until then the compiler puts other instructions between special functions.
bool handsOver(const Instruction &instruction) {
  switch (instruction.instructionClass) {
  case InstructionClass::TensorMemory: // tcgen05.st
    return !instruction.values.empty();
  case InstructionClass::Store:
  case InstructionClass::Mma:
  case InstructionClass::Wgmma:
  case InstructionClass::Barrier:
  case InstructionClass::Mbarrier:
  case InstructionClass::Fence:
    return true;
  default:
    return false;
  }
}

/// A mov of whole registers, also of several that are neighbours then: ptxas
/// gives them the right ones, and makes no instruction of it.
bool isRenaming(const Instruction &instruction) {
  bool isOfParts = !instruction.values.empty() || !instruction.results.empty();
  return instruction.instructionClass == InstructionClass::Move &&
         (!isOfParts || instruction.immediate == 32);
}

/// What a warp is seen to do: runs of instructions of one kind become one span.
const char *activity(InstructionClass instructionClass) {
  switch (instructionClass) {
  case InstructionClass::Wgmma:
    return "issue wgmma";
  case InstructionClass::Tcgen05:
    return "issue tcgen05";
  case InstructionClass::TensorMemory:
    return "tensor memory";
  case InstructionClass::Mma:
    return "mma";
  case InstructionClass::Tma:
  case InstructionClass::TmaStore:
  case InstructionClass::CpAsync:
    return "issue copy";
  case InstructionClass::Load:
  case InstructionClass::Store:
  case InstructionClass::Atomic:
  case InstructionClass::LdMatrix:
    return "load/store";
  case InstructionClass::Ex2:
  case InstructionClass::Mufu:
  case InstructionClass::FloatAdd:
  case InstructionClass::FloatMul:
  case InstructionClass::FloatFma:
  case InstructionClass::FloatCompare:
  case InstructionClass::Half:
  case InstructionClass::Shuffle:
    return "softmax and arithmetic";
  default:
    return nullptr; // goes on with whatever was before
  }
}

WaitReason waitReason(const Warp &warp, const Instruction &instruction) {
  switch (instruction.instructionClass) {
  case InstructionClass::Mbarrier:
    return warp.mbarrierReason;
  case InstructionClass::Wgmma:
    return WaitReason::Wgmma;
  case InstructionClass::Barrier:
    return WaitReason::Barrier;
  default:
    return WaitReason::CopyGroup;
  }
}

const char *waitName(WaitReason reason) {
  static constexpr const char *names[numWaitReasons] = {
      "wait: barrier", "wait: mbarrier", "wait: mbarrier of copies",
      "wait: wgmma", "wait: copy"};
  return names[size_t(reason)];
}

} // namespace

//===----------------------------------------------------------------------===//
// Spans
//===----------------------------------------------------------------------===//

void Tracer::emit(const Warp &warp, u32 track, u64 begin, u64 end,
                  const char *name, const char *category, u32 line) {
  if (end > begin)
    events.push_back(
        {warp.cta->linear, track, begin, end, name, category, line});
}

void Tracer::closeSpan(Warp &warp, OpenSpan &span) {
  if (span.name)
    emit(warp, warp.id, span.begin, span.end, span.name, "execute", span.line);
  span.name = nullptr;
}

void Tracer::extendSpan(Warp &warp, const char *name, u64 begin, u32 line) {
  OpenSpan &span = spans[&warp];
  bool continues = span.name && (!name || name == span.name);
  if (!continues) {
    closeSpan(warp, span);
    span = {name ? name : "other", begin, begin, line};
  }
  span.end = warp.cycle;
}

void Tracer::beforeInstruction(Warp &warp, const Instruction &instruction) {
  if (warp.specialDone <= warp.cycle || !handsOver(instruction))
    return;
  warp.cycle = warp.specialDone;
  if (OpenSpan &span = spans[&warp]; span.name)
    span.end = warp.cycle;
}

/// Warps of a sub-core share its slot to issue and its pipes. A warp does not
/// wait for what it has given to a pipe, but for those of mma.sync, whose
/// quarter of the tensor cores works before it goes on.
void Tracer::issue(Warp &warp, const Instruction &instruction) {
  // One that waited begins when others have not come to yet.
  if (warp.cycle >= warp.cta->cluster->horizon) {
    warp.cycle += latency(instruction.instructionClass);
    return;
  }
  SubCore &core = units[warp.cta].subCores[warp.id % schedulersPerSm];
  u64 begin = std::max(warp.cycle, core.issue);
  core.issue = begin + 1;
  warp.cycle = begin + latency(instruction.instructionClass);
  std::optional<Occupancy> work = occupancy(instruction);
  if (!work)
    return;
  u64 &free = core.pipes[size_t(work->pipe)];
  u64 start = std::max(begin, free);
  free = start + work->cycles;
  if (work->pipe == Pipe::Special)
    warp.specialDone = free;
  else
    warp.cycle = work->pipe == Pipe::Tensor ? free : start + 1;
}

void Tracer::onInstruction(Warp &warp, const Instruction &instruction,
                           Step step, u64 before) {
  if (step == Step::Block) {
    closeSpan(warp, spans[&warp]);
    return;
  }
  if (warp.cycle > before) {
    closeSpan(warp, spans[&warp]);
    WaitReason reason = waitReason(warp, instruction);
    emit(warp, warp.id, before, warp.cycle, waitName(reason), "wait",
         instruction.line);
    events.back().wait = reason;
  }
  u64 begin = warp.cycle;
  if (!isRenaming(instruction))
    issue(warp, instruction);
  extendSpan(warp, activity(instruction.instructionClass), begin,
             instruction.line);
}

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

u64 Tracer::onCopy(Warp &warp, const Instruction &instruction, u64 bytes) {
  Units &unit = units[warp.cta];
  u64 begin = std::max(warp.cycle, unit.copyFree);
  // The others copy as much in the meantime.
  unit.copyFree =
      begin + (bytes * ctasPerSm + copyBytesPerCycle - 1) / copyBytesPerCycle;
  u64 done = unit.copyFree + copyLatency;
  emit(warp, copyTrack, begin, unit.copyFree, "copy", "copy", instruction.line);
  byteCycles += bytes * (done - warp.cycle);
  return done;
}

u64 Tracer::onStore(Warp &warp, const Instruction &instruction, u64 bytes) {
  u64 &free = units[warp.cta].storeFree;
  u64 begin = std::max(warp.cycle, free);
  free =
      begin + (bytes * ctasPerSm + copyBytesPerCycle - 1) / copyBytesPerCycle;
  emit(warp, copyTrack, begin, free, "store", "copy", instruction.line);
  return free;
}

u64 Tracer::onWgmma(Warp &warp, const Instruction &instruction) {
  Units &unit = units[warp.cta];
  // Each of the four warps brings a quarter of the product; the unit is free
  // again when all of them are done.
  u64 begin = std::max(warp.cycle, unit.tensorFree);
  u64 cycles = std::max<u64>(instruction.flops / tensorFlopsPerCycle, 1);
  unit.tensorFree = begin + cycles;
  emit(warp, tensorTrack, begin, unit.tensorFree, "wgmma", "mma",
       instruction.line);
  return unit.tensorFree + wgmmaLatency;
}

/// When a product that begins at `begin`, as no other does before, has read
/// `bytes`: copies take their part while they are written.
u64 Tracer::readShared(Units &unit, u64 begin, u64 bytes) const {
  u64 end = begin + bytes / sharedBytesPerCycle;
  std::vector<Span> &writes = unit.writes;
  writes.erase(
      std::remove_if(writes.begin(), writes.end(),
                     [&](const Span &write) { return write.end <= begin; }),
      writes.end());
  for (const Span &write : writes)
    if (write.begin < end)
      end += (std::min(end, write.end) - std::max(begin, write.begin)) *
             copyBytesPerCycle / sharedBytesPerCycle;
  return end;
}

u64 Tracer::onTensorProduct(Warp &warp, const Instruction &instruction,
                            u64 flops, u64 sharedBytes) {
  Units &unit = units[warp.cta];
  u64 begin = std::max(warp.cycle, unit.tensorFree);
  u64 cycles = std::max<u64>(flops / tcgen05FlopsPerCycle, 1);
  unit.tensorFree =
      std::max(begin + cycles, readShared(unit, begin, sharedBytes));
  emit(warp, tensorTrack, begin, unit.tensorFree, "tcgen05.mma", "mma",
       instruction.line);
  return unit.tensorFree + wgmmaLatency;
}

void Tracer::finish(Cluster &cluster) {
  for (Cta &cta : cluster.ctas)
    for (Warp &warp : cta.warps)
      closeSpan(warp, spans[&warp]);
}
