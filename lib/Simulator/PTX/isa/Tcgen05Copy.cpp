//===- Tcgen05Copy.cpp - Copies into tensor memory, and shifts ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.16.9, tcgen05.cp and tcgen05.shift. A thread issues them into
/// the tensor pipe, beside its products, and tcgen05.commit tracks them alike.
/// With cta_group::2 each CTA of the pair copies from its own shared memory, or
/// shifts, at the same addresses.
///
//===----------------------------------------------------------------------===//

#include "../Memory.h"
#include "../Tracer.h"
#include "Tcgen05.h"
#include "Tcgen05Descriptors.h"

using namespace attn::sim;

namespace {

constexpr u32 chunkBytes = 16, chunkColumns = 4;
constexpr u32 subpartition = 32; // lanes that a warp reaches

/// Rows of 128 or 256 bits, and the lanes that a row goes to.
struct CopyShape {
  const char *name, *multicast;
  u32 rows, bits, copies;
  u32 (*lane)(u32 row, u32 copy);
};

/// PTX ISA 9.7.16.9.2, "Data movement shapes" of tcgen05.cp. The four rows of
/// 4x256b go to one lane of each subpartition.
constexpr CopyShape shapes[] = {
    {"128x256b", nullptr, 128, 256, 1, [](u32 row, u32) { return row; }},
    {"4x256b", nullptr, 4, 256, 1,
     [](u32 row, u32) { return row * subpartition; }},
    {"128x128b", nullptr, 128, 128, 1, [](u32 row, u32) { return row; }},
    {"64x128b", "warpx2::02_13", 64, 128, 2,
     [](u32 row, u32 copy) { return row + 64 * copy; }},
    {"64x128b", "warpx2::01_23", 64, 128, 2,
     [](u32 row, u32 copy) {
       return row / subpartition * 64 + row % subpartition +
              copy * subpartition;
     }},
    {"32x128b", "warpx4", 32, 128, 4,
     [](u32 row, u32 copy) { return row + copy * subpartition; }}};
constexpr u32 rowRefresh = 1; // index of 4x256b

u32 issuingThread(Warp &warp, const Instruction &i, const char *what) {
  if (countLanes(warp.active) != 1)
    fault(warp, i, Finding::Sync,
          format("%s executed by %u threads of a warp, each of which issues it",
                 what, countLanes(warp.active)),
          "execute it in one thread, chosen by elect.sync");
  return firstLane(warp.active);
}

//===----------------------------------------------------------------------===//
// cp
//===----------------------------------------------------------------------===//

/// `address`: destination, `a`: matrix descriptor, `operation`: shape.
class Copy {
public:
  Copy(Warp &warp, const Instruction &i)
      : warp(warp), i(i), shape(shapes[i.operation]),
        thread(issuingThread(warp, i, what)),
        at(uniformTensorAddress(warp, i, i.address)) {}

  void run() {
    bool isRefresh = i.operation == rowRefresh;
    if (isRefresh ? at.lane >= subpartition : at.lane != 0)
      fault(warp, i, Finding::Memory,
            format("tcgen05.cp to lane %u of tensor memory, expected %s",
                   at.lane, isRefresh ? "0 to 31" : "0"));
    MatrixDescriptor matrix =
        decodeTensorMatrix(warp, i, laneValue(warp, i.a, thread), "tcgen05.cp");
    access = beginTensorProduct(warp, thread, TensorAccess::Kind::Copy);
    access.isRowRefresh = isRefresh;
    for (Cta *cta : CtaGroup(warp, i, i.flags & forPair)) {
      noteTensorReach(warp, *cta, access);
      noteWrites(*cta);
      for (u32 row = 0; row < shape.rows; ++row)
        for (u32 chunk = 0; chunk < shape.bits / 128; ++chunk)
          copyChunk(*cta, matrix, row, chunk);
    }
  }

private:
  /// Checks the cells: whole groups of lanes.
  void noteWrites(Cta &cta) {
    u32 columns = shape.bits / 32;
    if (i.operation != rowRefresh)
      return noteWrite(cta, {0, tensorLanes, at.column, columns});
    for (u32 lane = at.lane; lane < tensorLanes; lane += subpartition)
      noteWrite(cta, {lane / tensorLaneGroup * tensorLaneGroup, tensorLaneGroup,
                      at.column, columns});
  }

  void noteWrite(Cta &cta, const TensorRange &range) {
    checkTensorRange(warp, i, cta, range, what);
    writeTensor(warp, i, cta, range, access, what);
  }

  void copyChunk(Cta &cta, const MatrixDescriptor &matrix, u32 row, u32 chunk) {
    u32 offset = matrix.chunkKMajor(row, chunk * chunkBytes);
    checkAsyncRead(warp, i, cta, offset, chunkBytes, what, access.agent,
                   access.time);
    for (u32 copy = 0; copy < shape.copies; ++copy) {
      u32 lane = at.lane + shape.lane(row, copy);
      std::memcpy(cta.tensor.row(lane) + at.column + chunk * chunkColumns,
                  &cta.shared[offset], chunkBytes);
    }
  }

  static constexpr const char *what = "tcgen05.cp";
  Warp &warp;
  const Instruction &i;
  const CopyShape &shape;
  const u32 thread;
  const TensorAddress at;
  TensorAccess access;
};

Step runCopy(Warp &warp, const Instruction &i) {
  Copy(warp, i).run();
  return Step::Next;
}

void decodeCopy(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  decodeCtaGroup(decoder);
  if (decoder.has("b8x16"))
    decoder.fail("decompression (.b8x16) is not supported");
  int found = -1;
  for (size_t k = 0; k < std::size(shapes); ++k)
    if (decoder.has(shapes[k].name) &&
        (!shapes[k].multicast || decoder.has(shapes[k].multicast)))
      found = int(k);
  if (found < 0)
    decoder.fail("expected shape .128x256b, .4x256b, .128x128b, "
                 ".64x128b.warpx2::02_13, .64x128b.warpx2::01_23 or "
                 ".32x128b.warpx4");
  i.operation = u32(found);
  i.address = decoder.address(0);
  i.a = decoder.source(1, 8);
  decoder.setHandler(runCopy, InstructionClass::Tcgen05);
}

//===----------------------------------------------------------------------===//
// shift
//===----------------------------------------------------------------------===//

constexpr u32 shiftColumns = 8; // 32 bytes

/// In every subpartition each lane gets what the next one had, the last one
/// keeps its own.
void shiftLanes(Cta &cta, u32 column) {
  for (u32 lane = 0; lane < tensorLanes; ++lane)
    if (lane % subpartition != subpartition - 1)
      std::copy_n(cta.tensor.row(lane + 1) + column, shiftColumns,
                  cta.tensor.row(lane) + column);
}

/// `address`: the cells, 32 bytes of each lane.
Step runShift(Warp &warp, const Instruction &i) {
  const char *what = "tcgen05.shift";
  u32 thread = issuingThread(warp, i, what);
  TensorAddress at = uniformTensorAddress(warp, i, i.address);
  if (at.lane != 0)
    fault(warp, i, Finding::Memory,
          format("tcgen05.shift from lane %u of tensor memory, expected 0; "
                 "others are not supported",
                 at.lane));
  TensorRange range{0, tensorLanes, at.column, shiftColumns};
  TensorAccess access =
      beginTensorProduct(warp, thread, TensorAccess::Kind::Shift);
  for (Cta *cta : CtaGroup(warp, i, i.flags & forPair)) {
    noteTensorReach(warp, *cta, access);
    checkTensorRange(warp, i, *cta, range, what);
    readTensor(warp, i, *cta, range, access, what);
    writeTensor(warp, i, *cta, range, access, what);
    shiftLanes(*cta, at.column);
  }
  return Step::Next;
}

void decodeShift(Decoder &decoder) {
  decodeCtaGroup(decoder);
  if (!decoder.has("down"))
    decoder.fail("expected .down");
  decoder.instruction.address = decoder.address(0);
  decoder.setHandler(runShift, InstructionClass::Tcgen05);
}

} // namespace

bool attn::sim::decodeTensorCopy(Decoder &decoder) {
  if (decoder.has("cp"))
    decodeCopy(decoder);
  else if (decoder.has("shift"))
    decodeShift(decoder);
  else
    return false;
  return true;
}
