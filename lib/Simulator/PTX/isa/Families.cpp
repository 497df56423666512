//===- Families.cpp - Registration of the instruction families ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Families.h"

/// Where two families share an opcode ("add", "cp"), the more special one comes
/// first and passes on what is not its own.
void attn::sim::registerAllFamilies(OpcodeTable &table) {
  registerHalf(table);
  registerMixedFloat(table);
  registerFloat(table);
  registerPackedFloat(table);
  registerFloatProperties(table);
  registerExtendedPrecision(table);
  registerInteger(table);
  registerBitField(table);
  registerLogic(table);
  registerCompare(table);
  registerConvertPack(table);
  registerConvert(table);
  registerMove(table);
  registerCpAsync(table);
  registerTma(table);
  registerBulkCopy(table);
  registerAtomic(table);
  registerLoadStore(table);
  registerMbarrier(table);
  registerWarpOps(table);
  registerCluster(table);
  registerBarrier(table);
  registerFence(table);
  registerControlFlow(table);
  registerCall(table);
  registerLdMatrix(table);
  registerMmaSync(table);
  registerWgmma(table);
  registerWmma(table);
  registerTcgen05(table);
}
