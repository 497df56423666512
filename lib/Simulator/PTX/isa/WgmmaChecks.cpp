//===- WgmmaChecks.cpp - What must hold when a wgmma is issued ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Wgmma.h"
#include "WgmmaOperands.h"

using namespace attn::sim;

static void checkFenced(Warp &warp, const Instruction &i,
                        const Operand &operand) {
  if (!operand.isRegister())
    return;
  u64 &stamp = warp.slotStamps[operand.index];
  if (stamp <= warp.wgmma.fenceStamp)
    return;
  stamp = 0; // one finding per access
  report(warp, i, Finding::Sync,
         format("register %s of a wgmma was accessed after the last "
                "wgmma.fence",
                warp.program->slotNames[operand.index].c_str()),
         "execute wgmma.fence between the access and the wgmma");
}

/// PTX ISA 9.7.15.7.1: a wgmma.fence orders register accesses before the first
/// product. Accumulators of products in flight need none.
void attn::sim::checkFences(Warp &warp, const Instruction &i,
                            const WgmmaPayload &wgmma) {
  if (warp.slotStamps.empty())
    return;
  if (!warp.wgmma.fenceStamp)
    report(warp, i, Finding::Sync, "wgmma without any wgmma.fence",
           "execute wgmma.fence before the first wgmma");
  for (const Operand &operand : wgmma.d)
    if (!warp.wgmma.inFlight[operand.index])
      checkFenced(warp, i, operand);
  for (const Operand &operand : wgmma.a)
    checkFenced(warp, i, operand);
}

void attn::sim::checkAccumulatorsDefined(Warp &warp, const Instruction &i,
                                         const WgmmaPayload &wgmma) {
  if (warp.definedSlots.empty())
    return;
  for (const Operand &operand : wgmma.d)
    if (!warp.wgmma.inFlight[operand.index] &&
        ~warp.definedSlots[operand.index])
      report(warp, i, Finding::Init,
             format("wgmma accumulator %s is uninitialized",
                    warp.program->slotNames[operand.index].c_str()),
             "use scale-d = 0 for the first product");
}

/// All warps of a warpgroup must issue the same products in the same order.
void attn::sim::checkSameIssue(Warp &warp, const Instruction &i, u64 number) {
  WgmmaCtaState &state = warp.cta->wgmma;
  constexpr u32 ring = WgmmaCtaState::issueRing;
  if (state.issues.empty())
    state.issues.resize((warp.cta->warps.size() + 3) / 4 * ring);
  WgmmaCtaState::Issue &issue =
      state.issues[warp.id / 4 * ring + number % ring];
  if (issue.number != number) {
    issue = {number, &i};
    return;
  }
  if (issue.instruction != &i)
    fault(warp, i, Finding::Sync,
          format("warps of one warpgroup issue different wgmma instructions "
                 "(another warp issued line %u)",
                 issue.instruction->line));
}

void attn::sim::noteStampedSlots(Program &program) {
  std::vector<bool> isUsed(program.numSlots, false);
  for (Instruction &instruction : program.code) {
    if (!isWgmma(instruction))
      continue;
    program.usesWgmma = true;
    instruction.forEachOperand([&](Operand &operand, bool, bool) {
      if (operand.isRegister())
        isUsed[operand.index] = true;
    });
  }
  for (Instruction &instruction : program.code)
    for (const auto *slots :
         {&instruction.readSlots, &instruction.writtenSlots})
      for (s32 slot : *slots)
        if (isUsed[slot] && !isWgmma(instruction))
          instruction.stampedSlots.push_back(slot);
}
