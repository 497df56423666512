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

void Instruction::noteRegisters() {
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
