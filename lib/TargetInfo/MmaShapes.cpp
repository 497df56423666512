//===- MmaShapes.cpp - Matrix instructions of each family -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 8.x, "Matrix multiply-accumulate operation using mma instruction"
// (shapes of mma.sync), "Asynchronous warpgroup level matrix instructions"
// (wgmma) and "tcgen05.mma" (whose i8 sm_103a does not have). Only shapes with
// accumulation in 32 bits that the project emits.
//
//===----------------------------------------------------------------------===//

#include "attn/TargetInfo/TargetInfo.h"

namespace attn {

static const char *getName(MmaOperand operand) {
  switch (operand) {
  case MmaOperand::F16:
    return "f16";
  case MmaOperand::BF16:
    return "bf16";
  case MmaOperand::TF32:
    return "tf32";
  case MmaOperand::F8:
    return "f8";
  case MmaOperand::I8:
    return "i8";
  }
  return "";
}

std::string_view getName(MmaFamily family) {
  switch (family) {
  case MmaFamily::None:
    return "none";
  case MmaFamily::MmaSync:
    return "mma_sync";
  case MmaFamily::Wgmma:
    return "wgmma";
  case MmaFamily::Tcgen05:
    return "tcgen05";
  }
  return "";
}

std::string MmaShape::getName() const {
  return std::string(attn::getName(family)) + ".m" + std::to_string(m) + "n" +
         std::to_string(n) + "k" + std::to_string(k) + "." +
         attn::getName(operand);
}

/// The operand types; k times the element size is 32 bytes everywhere.
static void addShapes(std::vector<MmaShape> &shapes, MmaFamily family,
                      int64_t m, int64_t n, bool hasF8, bool hasI8 = true) {
  shapes.push_back({family, MmaOperand::F16, m, n, 16});
  shapes.push_back({family, MmaOperand::BF16, m, n, 16});
  shapes.push_back({family, MmaOperand::TF32, m, n, 8});
  if (hasF8)
    shapes.push_back({family, MmaOperand::F8, m, n, 32});
  if (hasI8)
    shapes.push_back({family, MmaOperand::I8, m, n, 32});
}

std::vector<MmaShape> getMmaShapes(int64_t computeCapability) {
  std::vector<MmaShape> shapes;
  if (computeCapability >= 80)
    addShapes(shapes, MmaFamily::MmaSync, 16, 8, computeCapability >= 89);
  // Architecture-specific: not in the chips after their own.
  if (computeCapability == 90)
    addShapes(shapes, MmaFamily::Wgmma, 64, 256, /*hasF8=*/true);
  // kind::i8 is not in sm_103a (PTX ISA, tcgen05.mma, "Target ISA Notes").
  if (computeCapability == 100 || computeCapability == 103)
    addShapes(shapes, MmaFamily::Tcgen05, 128, 256, /*hasF8=*/true,
              /*hasI8=*/computeCapability == 100);
  return shapes;
}

bool TargetInfo::hasMma(MmaFamily family, MmaOperand operand) const {
  for (const MmaShape &shape : mmaShapes)
    if (shape.family == family && shape.operand == operand)
      return true;
  return false;
}

bool TargetInfo::hasMma(MmaFamily family) const {
  return hasMma(family, MmaOperand::F16);
}

} // namespace attn
