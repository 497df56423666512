//===- Fence.cpp - Fences and hints to the scheduler ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.13 membar, fence, griddepcontrol; 9.7.19 setmaxnreg, nanosleep,
/// pmevent, trap, brkpt. Memory is sequentially consistent: of the fences only
/// fence.proxy.async and fence.mbarrier_init have an effect, on the proxy
/// check.
///
//===----------------------------------------------------------------------===//

#include "../Decoder.h"
#include "../MbarrierState.h"
#include "Families.h"

using namespace attn::sim;

namespace {

Step runNothing(Warp &, const Instruction &) { return Step::Next; }

Step runProxyFence(Warp &warp, const Instruction &) {
  fenceProxy(warp);
  fenceMbarrierInits(warp);
  return Step::Next;
}

Step runInitFence(Warp &warp, const Instruction &) {
  fenceMbarrierInits(warp);
  return Step::Next;
}

/// PTX ISA 9.7.13 membar, fence, fence.proxy, fence.mbarrier_init.
bool decodeFence(Decoder &decoder) {
  bool isAsyncProxy = decoder.has("proxy") && decoder.hasPrefix("async") &&
                      !decoder.has("global");
  decoder.setHandler(isAsyncProxy                   ? runProxyFence
                     : decoder.has("mbarrier_init") ? runInitFence
                                                    : runNothing,
                     InstructionClass::Fence);
  return true;
}

Step runGridWait(Warp &warp, const Instruction &) {
  waitForChain(warp);
  return Step::Next;
}

/// PTX ISA 9.7.13 griddepcontrol: the grids before have ended here, and those
/// behind start after the end of this one.
bool decodeGridControl(Decoder &decoder) {
  int action = decoder.oneOf({"wait", "launch_dependents"});
  if (action < 0)
    decoder.fail("expected .wait or .launch_dependents");
  decoder.setHandler(action == 0 ? runGridWait : runNothing,
                     InstructionClass::Other);
  return true;
}

/// PTX ISA 9.7.19 setmaxnreg, pmevent.
bool decodeHint(Decoder &decoder) {
  decoder.setHandler(runNothing, InstructionClass::Other);
  return true;
}

Step runNanosleep(Warp &warp, const Instruction &) {
  warp.yielded = true;
  return Step::Next;
}

/// PTX ISA 9.7.19 nanosleep: lets other warps run.
bool decodeNanosleep(Decoder &decoder) {
  decoder.setHandler(runNanosleep, InstructionClass::Other);
  return true;
}

Step runTrap(Warp &warp, const Instruction &i) {
  fault(warp, i, Finding::Trap, "the kernel executed a trap");
}

/// PTX ISA 9.7.19 trap, brkpt.
bool decodeTrap(Decoder &decoder) {
  decoder.setHandler(runTrap, InstructionClass::Other);
  return true;
}

} // namespace

void attn::sim::registerFence(OpcodeTable &table) {
  table.add({"membar", "fence"}, decodeFence);
  table.add("griddepcontrol", decodeGridControl);
  table.add({"setmaxnreg", "pmevent"}, decodeHint);
  table.add("nanosleep", decodeNanosleep);
  table.add({"trap", "brkpt"}, decodeTrap);
}
