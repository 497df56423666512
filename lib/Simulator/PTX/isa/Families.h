//===- Families.h - Registration of the instruction families ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A family is one file of this folder: the handlers of its instructions, their
/// decoders, and a function that enters the decoders into the opcode table. To
/// add one, write the file and name it here and in Families.cpp.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_ISA_FAMILIES_H
#define ATTN_LIB_SIMULATOR_PTX_ISA_FAMILIES_H

namespace attn::sim {

class OpcodeTable;

void registerAllFamilies(OpcodeTable &table);

void registerAtomic(OpcodeTable &table);
void registerBarrier(OpcodeTable &table);
void registerBitField(OpcodeTable &table);
void registerBulkCopy(OpcodeTable &table);
void registerCall(OpcodeTable &table);
void registerCluster(OpcodeTable &table);
void registerCompare(OpcodeTable &table);
void registerControlFlow(OpcodeTable &table);
void registerConvert(OpcodeTable &table);
void registerConvertPack(OpcodeTable &table);
void registerCpAsync(OpcodeTable &table);
void registerExtendedPrecision(OpcodeTable &table);
void registerFence(OpcodeTable &table);
void registerFloat(OpcodeTable &table);
void registerFloatProperties(OpcodeTable &table);
void registerHalf(OpcodeTable &table);
void registerInteger(OpcodeTable &table);
void registerLdMatrix(OpcodeTable &table);
void registerLoadStore(OpcodeTable &table);
void registerLogic(OpcodeTable &table);
void registerMbarrier(OpcodeTable &table);
void registerMmaSync(OpcodeTable &table);
void registerMove(OpcodeTable &table);
void registerMixedFloat(OpcodeTable &table);
void registerPackedFloat(OpcodeTable &table);
void registerTcgen05(OpcodeTable &table);
void registerTma(OpcodeTable &table);
void registerWarpOps(OpcodeTable &table);
void registerWgmma(OpcodeTable &table);
void registerWmma(OpcodeTable &table);

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_ISA_FAMILIES_H
