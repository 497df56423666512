//===- ControlFlow.cpp - Branches and exits -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.12, Control Flow Instructions: bra, brx.idx, exit, and ret of an
/// entry.
///
//===----------------------------------------------------------------------===//

#include "ControlFlow.h"
#include "../ProgramBuilder.h"
#include "Barrier.h"
#include "BulkCopy.h"
#include "CpAsync.h"
#include "Families.h"
#include "Wgmma.h"

using namespace attn::sim;

void attn::sim::branchTo(Warp &warp, std::map<u32, u32> lanesByPc) {
  if (u32 others = warp.mask & ~warp.active)
    lanesByPc[warp.pc + 1] |= others;
  auto first = lanesByPc.begin();
  warp.pc = first->first;
  warp.mask = first->second;
  for (auto it = std::next(first); it != lanesByPc.end(); ++it)
    warp.splits.push_back({it->first, it->second, {}});
}

namespace {

Step runBranch(Warp &warp, const Instruction &i) {
  if (u32 others = warp.mask & ~warp.active) {
    warp.splits.push_back({warp.pc + 1, others, {}});
    warp.mask = warp.active;
  }
  warp.pc = i.target;
  return Step::Jump;
}

Step runIndexedBranch(Warp &warp, const Instruction &i) {
  const u32 *index = source32(warp, i.a);
  std::map<u32, u32> lanesByPc;
  ATTN_FOR_LANES(warp.active, lane) {
    if (index[lane] >= i.targets.size())
      fault(warp, i, Finding::Memory,
            format("brx.idx index %u of %zu targets (lane %u)", index[lane],
                   i.targets.size(), lane));
    lanesByPc[i.targets[index[lane]]] |= 1u << lane;
  }
  branchTo(warp, lanesByPc);
  return Step::Jump;
}

/// The last lane of a warp completes what the warp has in flight.
void finishWarp(Warp &warp, const Instruction &i) {
  warp.done = true;
  ++warp.cta->doneWarps;
  noteExit(warp);
  if (warp.cta->liveLanes == 0) {
    checkCtaExit(warp, i);
    checkTensorExit(warp, i);
  }
  completeAllBulkStores(warp);
  completeAllCpAsync(warp);
  completeAllWgmma(warp);
}

Step runExit(Warp &warp, const Instruction &i) {
  u32 remaining = warp.mask & ~warp.active;
  Cta &cta = *warp.cta;
  warp.live &= ~warp.active;
  cta.liveLanes -= countLanes(warp.active);
  cta.cluster->liveLanes -= countLanes(warp.active);
  ++cta.cluster->events;
  if (!warp.live)
    finishWarp(warp, i);
  checkBarriersAfterExit(cta);
  checkClusterBarrierAfterExit(*cta.cluster);
  if (remaining) {
    warp.mask = remaining;
    ++warp.pc;
  } else {
    warp.hasCurrent = false;
  }
  return Step::Jump;
}

/// PTX ISA 9.7.12.3 bra.
bool decodeBranch(Decoder &decoder) {
  decoder.builder.fixLabel(decoder.instruction,
                           std::string(decoder.operand(0).text), -1);
  decoder.setHandler(runBranch, InstructionClass::Branch);
  return true;
}

/// PTX ISA 9.7.12.4 brx.idx.
bool decodeIndexedBranch(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  i.a = decoder.source(0, 4);
  const Symbol *table = decoder.operand(1).symbol;
  if (!table || table->kind != Symbol::Kind::LabelTable)
    decoder.fail("expected a list of .branchtargets");
  i.targets.resize(table->labels.size());
  for (size_t k = 0; k < table->labels.size(); ++k)
    decoder.builder.fixLabel(i, table->labels[k], k);
  decoder.setHandler(runIndexedBranch, InstructionClass::Branch);
  return true;
}

/// PTX ISA 9.7.12.7 exit; 9.7.12.6 ret in an entry.
bool decodeExit(Decoder &decoder) {
  if (decoder.opcode() == "ret" && !decoder.builder.inEntry())
    return false; // Call.cpp
  decoder.setHandler(runExit, InstructionClass::Branch);
  return true;
}

} // namespace

bool attn::sim::endsBlock(const Instruction &instruction) {
  return instruction.instructionClass == InstructionClass::Branch;
}

void attn::sim::registerControlFlow(OpcodeTable &table) {
  table.add("bra", decodeBranch);
  table.add("brx", decodeIndexedBranch);
  table.add({"exit", "ret"}, decodeExit);
}
