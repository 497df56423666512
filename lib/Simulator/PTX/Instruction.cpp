//===- Instruction.cpp - Decoded instructions and programs ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Instruction.h"

using namespace attn::sim;

void Instruction::forEachOperand(const OperandVisitor &visit) {
  for (Operand *operand : {&dst, &dst2})
    visit(*operand, /*writes=*/true, /*reads=*/false);
  for (Operand *operand :
       {&a, &b, &c, &d, &address.base, &address2.base, &address3.base})
    visit(*operand, /*writes=*/false, /*reads=*/true);
  for (Operand &operand : results)
    visit(operand, /*writes=*/true, /*reads=*/false);
  for (Operand &operand : values)
    visit(operand, /*writes=*/false, /*reads=*/true);
  if (payload)
    payload->forEachOperand(visit);
}

static Halves halvesOf(const Operand &pair) {
  if (!pair.isRegister())
    return {-1, -1};
  return {pair.index, pair.index + 1};
}

static Halves halvesOf(const std::vector<Operand> &pair) {
  auto slotOf = [](const Operand &half) {
    return half.isRegister() ? half.index : -1;
  };
  return {slotOf(pair[0]), slotOf(pair[1])};
}

void Instruction::noteRegisters() {
  if (isByHalf) {
    writtenHalves = results.empty() ? halvesOf(dst) : halvesOf(results);
    readHalves = {halvesOf(a), halvesOf(b), halvesOf(c)};
    if (!values.empty())
      readHalves = {halvesOf(values)};
  }
  readSlots.clear();
  writtenSlots.clear();
  readPredicates.clear();
  writtenPredicates.clear();
  forEachOperand([&](Operand &operand, bool writes, bool reads) {
    // Both: a wgmma accumulator, which the wgmma family checks itself.
    if (writes && reads)
      return;
    if (operand.isRegister())
      for (s32 slot = operand.index; slot < operand.index + operand.width / 4;
           ++slot) {
        if (writes)
          writtenSlots.push_back(slot);
        if (reads)
          readSlots.push_back(slot);
      }
    if (operand.isPredicate())
      (writes ? writtenPredicates : readPredicates).push_back(operand.index);
  });
  if (guard >= 0)
    readPredicates.push_back(guard);
}

bool Program::hasSpecial(const std::string &name) const {
  for (const SpecialRegister &special : specials)
    if (special.name == name)
      return true;
  return false;
}
