//===- LdMatrix.cpp - Matrices between shared memory and registers --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.14.5: ldmatrix, stmatrix, movmatrix on 8 x 8 matrices of 16-bit
/// elements. Lane l holds row l / 4, columns 2 (l % 4) and the next.
///
//===----------------------------------------------------------------------===//

#include "../Memory.h"
#include "Elementwise.h"
#include "Families.h"

using namespace attn::sim;

namespace {

struct Matrix {
  u16 at[8][8];
};

u32 readPair(const Matrix &matrix, u32 lane, bool transposed) {
  u32 row = lane / 4, column = lane % 4 * 2;
  if (transposed)
    return matrix.at[column][row] | u32(matrix.at[column + 1][row]) << 16;
  return matrix.at[row][column] | u32(matrix.at[row][column + 1]) << 16;
}

void writePair(Matrix &matrix, u32 lane, bool transposed, u32 pair) {
  u32 row = lane / 4, column = lane % 4 * 2;
  (transposed ? matrix.at[column][row] : matrix.at[row][column]) = u16(pair);
  (transposed ? matrix.at[column + 1][row] : matrix.at[row][column + 1]) =
      u16(pair >> 16);
}

/// The address of row `row` of matrix `index` comes from lane 8 index + row.
u8 *rowPointer(Warp &warp, const Instruction &i,
               const u64 (&addresses)[warpSize], u32 index, u32 row,
               bool isWrite) {
  u32 lane = index * 8 + row;
  u64 address = addresses[lane];
  if (i.space == Space::Generic)
    address = stripSharedWindow(address);
  return sharedPointer(warp, i, {address, 16, isWrite, lane},
                       /*allowCluster=*/false);
}

/// Each matrix is one pass of 8 rows of 16 bytes.
void countConflicts(Warp &warp, const u64 (&addresses)[warpSize], u32 count) {
  if (!options(warp).countBankConflicts)
    return;
  u32 active = warp.active;
  warp.active = count >= 4 ? fullMask : (1u << 8 * count) - 1;
  countBankConflicts(warp, addresses, 16);
  warp.active = active;
}

/// `operation`: .trans
Step runLdmatrix(Warp &warp, const Instruction &i) {
  if (!convergesFully(warp, i))
    return Step::Block;
  u64 addresses[warpSize];
  laneAddresses(warp, i.address, addresses);
  u32 count = i.results.size(), out[4][warpSize];
  warp.worker->counters.sharedLoadBytes += 128 * count;
  countConflicts(warp, addresses, count);
  for (u32 index = 0; index < count; ++index) {
    Matrix matrix;
    for (u32 row = 0; row < 8; ++row)
      std::memcpy(matrix.at[row],
                  rowPointer(warp, i, addresses, index, row, false), 16);
    for (u32 lane = 0; lane < warpSize; ++lane)
      out[index][lane] = readPair(matrix, lane, i.operation);
  }
  // A result may be the address register: write at the end.
  for (u32 index = 0; index < count; ++index)
    if (!i.results[index].isSink())
      std::memcpy(dest32(warp, i.results[index]), out[index], sizeof out[0]);
  return Step::Next;
}

Step runStmatrix(Warp &warp, const Instruction &i) {
  if (!convergesFully(warp, i))
    return Step::Block;
  u64 addresses[warpSize];
  laneAddresses(warp, i.address, addresses);
  u32 count = i.values.size();
  warp.worker->counters.sharedStoreBytes += 128 * count;
  countConflicts(warp, addresses, count);
  for (u32 index = 0; index < count; ++index) {
    Matrix matrix;
    const u32 *source = source32(warp, i.values[index]);
    for (u32 lane = 0; lane < warpSize; ++lane)
      writePair(matrix, lane, i.operation, source[lane]);
    for (u32 row = 0; row < 8; ++row)
      std::memcpy(rowPointer(warp, i, addresses, index, row, true),
                  matrix.at[row], 16);
  }
  return Step::Next;
}

Step runMovmatrix(Warp &warp, const Instruction &i) {
  if (!convergesFully(warp, i))
    return Step::Block;
  Matrix matrix;
  const u32 *source = source32(warp, i.a);
  for (u32 lane = 0; lane < warpSize; ++lane)
    writePair(matrix, lane, /*transposed=*/false, source[lane]);
  u32 *dst = dest32(warp, i.dst);
  for (u32 lane = 0; lane < warpSize; ++lane)
    dst[lane] = readPair(matrix, lane, /*transposed=*/true);
  return Step::Next;
}

/// PTX ISA 9.7.14.5 ldmatrix, stmatrix.
bool decodeMatrixAccess(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  bool isLoad = decoder.opcode() == "ldmatrix";
  if (!decoder.has("m8n8") || !decoder.has("b16"))
    decoder.fail("expected shape m8n8 and type b16");
  size_t count = decoder.has("x1") ? 1 : decoder.has("x2") ? 2 : 4;
  i.space = decoder.space();
  i.operation = decoder.has("trans");
  i.address = decoder.address(isLoad ? 1 : 0);
  if (isLoad)
    i.results = decoder.destinations(decoder.operand(0), 4);
  else
    i.values = decoder.sources(decoder.operand(1), 4);
  if ((isLoad ? i.results : i.values).size() != count)
    decoder.fail("expected " + std::to_string(count) + " registers");
  decoder.setHandler(isLoad ? runLdmatrix : runStmatrix,
                     InstructionClass::LdMatrix);
  return true;
}

/// PTX ISA 9.7.14.5 movmatrix.
bool decodeMovmatrix(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  if (!decoder.has("trans") || !decoder.has("b16"))
    decoder.fail("expected .trans and type b16");
  i.dst = decodeRegister(decoder, 0, 4);
  i.a = decoder.source(1, 4);
  decoder.setHandler(runMovmatrix, InstructionClass::LdMatrix);
  return true;
}

} // namespace

void attn::sim::registerLdMatrix(OpcodeTable &table) {
  table.add({"ldmatrix", "stmatrix"}, decodeMatrixAccess);
  table.add("movmatrix", decodeMovmatrix);
}
