//===- Call.cpp - Function calls ------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.12 call and ret (of a function), and the functions that CUDA's
/// device runtime provides: vprintf, __assertfail, malloc, free. Arguments and
/// results are .param variables in local memory; a call copies them to the
/// callee's frame and, in a second instruction, the results back.
///
//===----------------------------------------------------------------------===//

#include "../Memory.h"
#include "../ProgramBuilder.h"
#include "ControlFlow.h"
#include "DeviceRuntime.h"
#include "Families.h"

using namespace attn::sim;

namespace {

/// The callee is known at decoding, or found in Program::indirectTargets.
struct CallPayload : Payload {
  CallSite site;
  s32 returnSlot = -1;
  std::vector<ParameterDecl> parameters, results;
};

const CallPayload &payload(const Instruction &i) {
  return static_cast<const CallPayload &>(*i.payload);
}

void copyArguments(Warp &warp, const std::vector<s64> &from,
                   const std::vector<ParameterDecl> &to) {
  size_t count = std::min(from.size(), to.size());
  ATTN_FOR_LANES(warp.active, lane) {
    u8 *local = warp.local + size_t(lane) * warp.localBytes;
    for (size_t k = 0; k < count; ++k)
      std::memmove(local + to[k].offset, local + from[k], to[k].bytes);
  }
}

void copyResults(Warp &warp, u32 lane, const std::vector<s64> &to,
                 const std::vector<ParameterDecl> &from) {
  u8 *local = warp.local + size_t(lane) * warp.localBytes;
  for (size_t k = 0; k < std::min(to.size(), from.size()); ++k)
    std::memmove(local + to[k], local + from[k].offset, from[k].bytes);
}

/// Functions have one frame: a second activation would overwrite the first.
void enter(Warp &warp, const Instruction &i, s32 returnSlot, u32 target) {
  u32 &inside = warp.activeCalls[returnSlot];
  if (inside & warp.active)
    fault(warp, i, Finding::Trap,
          "recursive call: the simulator does not support recursion");
  inside |= warp.active;
  u32 *returnPc = warp.registers + size_t(returnSlot) * warpSize;
  ATTN_FOR_LANES(warp.active, lane) { returnPc[lane] = i.pc + 1; }
  if (u32 others = warp.mask & ~warp.active)
    warp.splits.push_back({warp.pc + 1, others, {}});
  warp.mask = warp.active;
  warp.pc = target;
}

Step runCall(Warp &warp, const Instruction &i) {
  const CallPayload &call = payload(i);
  copyArguments(warp, call.site.arguments, call.parameters);
  enter(warp, i, call.returnSlot, i.target);
  return Step::Jump;
}

/// Behind a call: gets the results.
Step runCallResults(Warp &warp, const Instruction &i) {
  const CallPayload &call = payload(i);
  ATTN_FOR_LANES(warp.active, lane) {
    copyResults(warp, lane, call.site.results, call.results);
  }
  return Step::Next;
}

const CallTarget &indirectTarget(Warp &warp, const Instruction &i, u32 lane) {
  u64 address = laneValue(warp, i.a, lane);
  const auto &targets = warp.program->indirectTargets;
  auto it = targets.find(address);
  if (it == targets.end())
    fault(warp, i, Finding::Memory,
          format("indirect call to 0x%llx, which is not a known function "
                 "(lane %u)",
                 (unsigned long long)address, lane));
  return it->second;
}

/// Lanes that call another function than the first lane execute the call again
/// later.
Step runIndirectCall(Warp &warp, const Instruction &i) {
  u64 address = laneValue(warp, i.a, firstLane(warp.active));
  u32 together = 0;
  ATTN_FOR_LANES(warp.active, lane) {
    together |= u32(laneValue(warp, i.a, lane) == address) << lane;
  }
  if (u32 later = warp.active & ~together) {
    warp.splits.push_back({warp.pc, later, {}});
    warp.mask &= ~later;
    warp.active = together;
  }
  const CallTarget &target = indirectTarget(warp, i, firstLane(together));
  copyArguments(warp, payload(i).site.arguments, target.parameters);
  enter(warp, i, target.returnSlot, target.pc);
  return Step::Jump;
}

Step runIndirectResults(Warp &warp, const Instruction &i) {
  ATTN_FOR_LANES(warp.active, lane) {
    copyResults(warp, lane, payload(i).site.results,
                indirectTarget(warp, i, lane).results);
  }
  return Step::Next;
}

Step runExternalCall(Warp &warp, const Instruction &i) {
  ATTN_FOR_LANES(warp.active, lane) {
    callDeviceRuntime(warp, i, lane, payload(i).site);
  }
  return Step::Next;
}

Step runReturn(Warp &warp, const Instruction &i) {
  warp.activeCalls[i.a.index] &= ~warp.active;
  const u32 *returnPc = source32(warp, i.a);
  std::map<u32, u32> lanesByPc;
  ATTN_FOR_LANES(warp.active, lane) { lanesByPc[returnPc[lane]] |= 1u << lane; }
  branchTo(warp, lanesByPc);
  return Step::Jump;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// Local offsets of a list of .param variables.
std::vector<s64> paramOffsets(Decoder &decoder, const ParsedOperand &list) {
  std::vector<s64> offsets;
  for (const ParsedOperand &element : list.elements) {
    if (!element.is(ParsedOperand::Kind::Symbol) ||
        element.symbol->kind != Symbol::Kind::FunctionParam)
      decoder.fail("expected .param variables as arguments and results");
    offsets.push_back(element.symbol->offset + element.value);
  }
  return offsets;
}

/// The instruction that is emitted in front of the one being decoded.
void splitCall(Decoder &decoder, Handler call, Handler results) {
  Instruction &i = decoder.instruction;
  decoder.setHandler(call, InstructionClass::Call);
  decoder.builder.emitBefore(i, i);
  i.run = results;
}

void decodeDirectCall(Decoder &decoder, std::shared_ptr<CallPayload> call) {
  const std::string &name = call->site.callee;
  const FunctionDecl *function = decoder.builder.getModule().findFunction(name);
  if (!function || !function->hasBody) {
    decoder.setHandler(runExternalCall, InstructionClass::Call);
    return;
  }
  const ProgramBuilder::Frame &frame = decoder.builder.requestFunction(name);
  call->returnSlot = frame.returnSlot;
  call->parameters = frame.parameters;
  call->results = frame.results;
  decoder.builder.fixCall(decoder.instruction.pc, name);
  splitCall(decoder, runCall, runCallResults);
}

/// PTX ISA 9.7.12.5 call: call{.uni} (results), function, (arguments){, list}.
bool decodeCall(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  auto call = std::make_shared<CallPayload>();
  i.payload = call;
  size_t next = 0;
  bool hasResults = decoder.operand(0).is(ParsedOperand::Kind::Vector);
  if (hasResults)
    call->site.results = paramOffsets(decoder, decoder.operand(next++));
  const ParsedOperand &callee = decoder.operand(next++);
  if (next < decoder.numOperands() &&
      decoder.operand(next).is(ParsedOperand::Kind::Vector))
    call->site.arguments = paramOffsets(decoder, decoder.operand(next));
  if (callee.is(ParsedOperand::Kind::Register)) {
    i.a = decoder.source(callee, 8);
    splitCall(decoder, runIndirectCall, runIndirectResults);
    return true;
  }
  if (!callee.is(ParsedOperand::Kind::Name))
    decoder.fail("expected a function");
  call->site.callee = std::string(callee.text);
  decodeDirectCall(decoder, call);
  return true;
}

/// PTX ISA 9.7.12.6 ret in a function.
bool decodeReturn(Decoder &decoder) {
  if (decoder.builder.inEntry())
    return false;
  Instruction &i = decoder.instruction;
  i.a.kind = Operand::Kind::Register;
  i.a.index = decoder.builder.currentReturnSlot();
  decoder.setHandler(runReturn, InstructionClass::Branch);
  return true;
}

} // namespace

void attn::sim::registerCall(OpcodeTable &table) {
  table.add("call", decodeCall);
  table.add("ret", decodeReturn);
}
