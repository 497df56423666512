//===- WgmmaOperands.h - Matrices of wgmma in shared memory -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_ISA_WGMMAOPERANDS_H
#define ATTN_LIB_SIMULATOR_PTX_ISA_WGMMAOPERANDS_H

#include "MatrixMath.h"

namespace attn::sim {

struct WgmmaPayload : Payload {
  std::vector<Operand> d, a; // a: empty when A is in shared memory
  u32 n = 0, numK = 0;
  ElementKind kindA = ElementKind::F16, kindB = ElementKind::F16;
  Type typeD = Type::None;
  bool transposeA = false, transposeB = false;
  bool negateA = false, negateB = false;

  bool hasRegistersA() const { return !a.empty(); }

  void forEachOperand(const OperandVisitor &visit) override {
    for (Operand &operand : a)
      visit(operand, /*writes=*/false, /*reads=*/true);
    for (Operand &operand : d)
      visit(operand, /*writes=*/true, /*reads=*/true);
  }
};

/// A matrix descriptor (PTX ISA 9.7.15.5.1, "Matrix Descriptor Format").
struct MatrixDescriptor {
  u32 start = 0;         // shared address
  u32 leadingOffset = 0; // bytes
  u32 strideOffset = 0;  // bytes
  u32 baseOffset = 0;
  u32 swizzleBytes = 0; // 0, 32, 64, 128

  MatrixDescriptor() = default;
  /// A descriptor of wgmma.
  explicit MatrixDescriptor(u64 bits);
  /// The shared offset of the 16-byte chunk that holds element (mn, 0) from
  /// byte `kBytes` on of a K-major matrix.
  u32 chunkKMajor(u32 mn, u32 kBytes) const;
  /// The same of neighbouring elements of `bytes` from (mn, k) on of an
  /// MN-major matrix.
  u32 chunkMNMajor(u32 mn, u32 k, u32 bytes = 2) const;

private:
  u32 swizzled(u32 offset) const;
};

/// The descriptor in an operand, which all lanes must share.
u64 uniformDescriptor(Warp &warp, const Instruction &instruction,
                      const Operand &operand);

/// The agent that stands for the products of the warp's warpgroup; its time is
/// their number.
u32 wgmmaAgent(Warp &warp);

/// Gathers B, or finds it among the CTA's recent ones.
std::shared_ptr<WgmmaTileB> gatherTileB(Warp &warp,
                                        const Instruction &instruction,
                                        const WgmmaPayload &wgmma);
/// Fills op.a, from registers or from shared memory.
void gatherTileA(Warp &warp, const Instruction &instruction,
                 const WgmmaPayload &wgmma, WgmmaOp &op);

/// Accumulators and A registers must not be written between the last
/// wgmma.fence and the product.
void checkFences(Warp &warp, const Instruction &instruction,
                 const WgmmaPayload &wgmma);
void checkAccumulatorsDefined(Warp &warp, const Instruction &instruction,
                              const WgmmaPayload &wgmma);
/// All warps of a warpgroup must issue the same products in the same order.
void checkSameIssue(Warp &warp, const Instruction &instruction, u64 number);

/// Reports if shared memory no longer holds what an operation read.
void checkSourcesUnchanged(Warp &warp, WgmmaOp &op);

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_ISA_WGMMAOPERANDS_H
