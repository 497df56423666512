//===- Tcgen05Descriptors.h - What a tcgen05.mma multiplies -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_ISA_TCGEN05DESCRIPTORS_H
#define ATTN_LIB_SIMULATOR_PTX_ISA_TCGEN05DESCRIPTORS_H

#include "WgmmaOperands.h"

namespace attn::sim {

enum class TensorKind : u8 { F16, TF32, F8F6F4, I8 };

/// What the opcode and operands of a product say.
struct TensorForm {
  TensorKind kind = TensorKind::F16;
  u32 ctas = 1;
  bool isTensorA = false; // A in tensor memory
};

/// An instruction descriptor (PTX ISA 9.7.16.4.2, Table 42).
struct TensorInstruction {
  u32 m = 0, n = 0, k = 0;
  ElementKind kindA = ElementKind::F16, kindB = ElementKind::F16;
  bool negateA = false, negateB = false;
  bool mnMajorA = false, mnMajorB = false;
  bool saturates = false; // kind::i8
};

/// Decodes the 32 bits of a descriptor; faults where they are no product, or
/// one that is not supported.
TensorInstruction decodeTensorInstruction(Warp &warp,
                                          const Instruction &instruction,
                                          const TensorForm &form, u32 bits);

/// Decodes the 64 bits of a matrix in shared memory (PTX ISA 9.7.16.4.1, Table
/// 40), which are not those of wgmma. `what` names it in findings.
MatrixDescriptor decodeTensorMatrix(Warp &warp, const Instruction &instruction,
                                    u64 bits, const char *what);

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_ISA_TCGEN05DESCRIPTORS_H
