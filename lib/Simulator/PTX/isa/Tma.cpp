//===- Tma.cpp - Tensor copies --------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.9, Tensor copy: cp.async.bulk.tensor,
/// cp.reduce.async.bulk.tensor (tile mode), cp.async.bulk.prefetch.tensor,
/// tensormap.replace; 9.7.13 tensormap.cp_fenceproxy. im2col and gather modes
/// are not supported.
///
//===----------------------------------------------------------------------===//

#include "../MbarrierState.h"
#include "../Tracer.h"
#include "BulkCopy.h"
#include "Elementwise.h"
#include "Families.h"

using namespace attn::sim;

namespace {

constexpr u32 tensorMapBytes = 128;
/// In the flags of a load of cta_group::2.
constexpr u32 signalsPair = 1;

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

TensorMap decodeMap(Warp &warp, const Instruction &i, const u8 *bytes,
                    u64 address) {
  TensorMap map;
  std::memcpy(&map, bytes, sizeof map);
  if (!map.isValid())
    fault(warp, i, Finding::Memory,
          format("0x%llx does not hold a valid tensor map",
                 (unsigned long long)address),
          "pass the 128 bytes of cuTensorMapEncodeTiled as a __grid_constant__ "
          "parameter");
  return map;
}

TensorMap readMap(Warp &warp, const Instruction &i, u64 address, u32 lane) {
  if (address % 64)
    fault(warp, i, Finding::Memory,
          format("tensor map at 0x%llx is not 64-byte aligned",
                 (unsigned long long)address));
  checkGlobalRange(warp, i, address, tensorMapBytes, /*isWrite=*/false, lane);
  return decodeMap(warp, i, reinterpret_cast<const u8 *>(address), address);
}

/// The coordinates of a lane, which must agree with the map's rank.
TensorCoordinates readCoordinates(Warp &warp, const Instruction &i,
                                  const TensorMap &map, u32 lane) {
  if (map.rank != i.values.size())
    fault(warp, i, Finding::Memory,
          format("tensor map has rank %u, the instruction %zu", map.rank,
                 i.values.size()));
  TensorCoordinates coordinates{};
  for (size_t k = 0; k < i.values.size(); ++k)
    coordinates[k] = s32(laneValue32(warp, i.values[k], lane));
  return coordinates;
}

std::string describeBox(const TensorMap &map,
                        const TensorCoordinates &coordinates) {
  std::string text;
  for (u32 k = 0; k < map.rank; ++k) {
    text += format("%s dim %u: coordinate %d, box %u of %llu", k ? ";" : "", k,
                   coordinates[k], map.box[k],
                   (unsigned long long)map.lastIndex[k] + 1);
    if (k)
      text += format(", stride %llu", (unsigned long long)map.stride[k - 1]);
  }
  return text;
}

/// Checks that the part of the box inside of the tensor is inside of one
/// allocation, and counts its bytes.
void checkBox(Warp &warp, const Instruction &i, const TensorMap &map,
              const TensorCoordinates &coordinates, bool isWrite, u32 lane) {
  BoxRange range = boxRange(map, coordinates);
  if (range.empty())
    return;
  std::optional<Allocation> allocation =
      warp.worker->memory->findAtOrBelow(range.begin);
  if (!allocation ||
      !allocation->contains(range.begin, range.end - range.begin))
    fault(warp, i, Finding::Memory,
          format("tensor copy touches [0x%llx, 0x%llx), which is not inside "
                 "one allocation; map base 0x%llx,%s",
                 (unsigned long long)range.begin, (unsigned long long)range.end,
                 (unsigned long long)map.base,
                 describeBox(map, coordinates).c_str()),
          "check the map's dimensions and strides against the tensor");
  checkGlobalRange(warp, i, range.begin, range.end - range.begin, isWrite,
                   lane);
  if (warp.worker->chain)
    for (const BoxRow &row : boxRows(map, coordinates))
      noteInChain(warp, i, {row.address, row.bytes, isWrite, lane});
  warp.worker->countTraffic(GlobalPath::Tma, isWrite, range.bytes);
  if (isWrite)
    return;
  for (const BoxRow &row : boxRows(map, coordinates))
    addToRequest(warp, row.address, row.bytes);
  countRequest(warp);
}

void checkSharedAlignment(Warp &warp, const Instruction &i, const char *what,
                          u32 offset) {
  if (offset % 128)
    fault(warp, i, Finding::Memory,
          format("tensor copy %s (shared offset %d) is not 128-byte aligned",
                 what, printedOffset(offset)));
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// `address`: destination, `address2`: map, `address3`: mbarrier, `values`:
/// coordinates, `a`: multicast mask, `flags`: signalsPair.
Step runLoad(Warp &warp, const Instruction &i) {
  ATTN_FOR_LANES(warp.active, lane) {
    PendingCopy copy;
    copy.kind = PendingCopy::Kind::Tensor;
    copy.instruction = &i;
    copy.map = readMap(warp, i, laneAddress(warp, i.address2, lane), lane);
    copy.coordinates = readCoordinates(warp, i, copy.map, lane);
    copy.bytes = copy.map.boxBytes();
    CopyTarget target = copyTarget(warp, i, lane);
    target.isPair = i.flags & signalsPair;
    checkSharedAlignment(warp, i, "destination", target.data.offset);
    checkBox(warp, i, copy.map, copy.coordinates, /*isWrite=*/false, lane);
    warp.worker->counters.tmaLoadBytes += copy.bytes;
    copy.doneCycle = traceCopy(warp, i, copy.bytes);
    issueMulticast(warp, i, lane, i.a, copy, target);
  }
  return Step::Next;
}

/// `address`: source, `address2`: map, `values`: coordinates; `operation` is 0
/// or 1 + the AtomicOp.
Step runStore(Warp &warp, const Instruction &i) {
  ATTN_FOR_LANES(warp.active, lane) {
    BulkStore store;
    store.isTensor = true;
    store.lane = lane;
    auto [cta, offset] =
        sharedLocation(warp, i, laneAddress(warp, i.address, lane));
    if (cta != warp.cta)
      fault(warp, i, Finding::Memory, "bulk store from another CTA");
    store.offset = offset;
    store.map = readMap(warp, i, laneAddress(warp, i.address2, lane), lane);
    store.coordinates = readCoordinates(warp, i, store.map, lane);
    store.bytes = store.map.boxBytes();
    checkSharedAlignment(warp, i, "source", offset);
    checkBox(warp, i, store.map, store.coordinates, /*isWrite=*/true, lane);
    store.reduces = i.operation != 0;
    store.reduction = AtomicOp(i.operation - 1);
    issueBulkStore(warp, i, std::move(store));
  }
  return Step::Next;
}

Step runPrefetch(Warp &warp, const Instruction &i) {
  ATTN_FOR_LANES(warp.active, lane) {
    readMap(warp, i, laneAddress(warp, i.address2, lane), lane);
  }
  return Step::Next;
}

/// "[map, {coordinates}]"
void decodeTensorOperand(Decoder &decoder, const ParsedOperand &operand) {
  Instruction &i = decoder.instruction;
  if (!operand.is(ParsedOperand::Kind::Address) ||
      operand.elements.size() < 2 ||
      !operand.elements[1].is(ParsedOperand::Kind::Vector))
    decoder.fail("expected [tensor map, {coordinates}]");
  if (decoder.hasPrefix("im2col") || decoder.hasPrefix("tile::"))
    decoder.fail("only tile mode is supported");
  i.address2 = decoder.address(operand);
  i.values = decoder.sources(operand.elements[1], 4);
  int dimensions = decoder.oneOf({"1d", "2d", "3d", "4d", "5d"}) + 1;
  if (dimensions != int(i.values.size()))
    decoder.fail("expected as many coordinates as dimensions");
}

/// PTX ISA 9.7.9 cp.async.bulk.tensor, cp.reduce.async.bulk.tensor,
/// cp.async.bulk.prefetch.tensor.
bool decodeTensor(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  if (!decoder.has("bulk") || !decoder.has("tensor"))
    return false;
  if (decoder.has("prefetch")) {
    decodeTensorOperand(decoder, decoder.operand(0));
    decoder.setHandler(runPrefetch, InstructionClass::Tma);
    return true;
  }
  i.operation = decodeReduction(decoder);
  if (copiesToGlobal(decoder)) {
    decodeTensorOperand(decoder, decoder.operand(0));
    i.address = decoder.address(1);
    decoder.setHandler(runStore, InstructionClass::TmaStore);
    return true;
  }
  i.address = decoder.address(0);
  decodeTensorOperand(decoder, decoder.operand(1));
  i.address3 = decoder.address(2);
  if (decoder.has("multicast::cluster"))
    i.a = decoder.source(3, 2);
  if (decoder.oneOf({"cta_group::1", "cta_group::2"}) == 1)
    i.flags = signalsPair;
  decoder.setHandler(runLoad, InstructionClass::Tma);
  return true;
}

//===----------------------------------------------------------------------===//
// tensormap
//===----------------------------------------------------------------------===//

enum Field : int {
  GlobalAddress,
  Rank,
  BoxDim,
  GlobalDim,
  GlobalStride,
  ElementStride,
  ElementType,
  InterleaveLayout,
  SwizzleMode,
  FillMode
};

void setField(TensorMap &map, u32 field, u32 ordinal, u64 value) {
  switch (field) {
  case GlobalAddress:
    map.base = value;
    break;
  case Rank:
    map.rank = value + 1;
    break;
  case BoxDim:
    map.box[ordinal] = value;
    break;
  case GlobalDim:
    map.lastIndex[ordinal] = u32(value) - 1;
    break;
  case GlobalStride:
    map.stride[ordinal] = value;
    break;
  case ElementStride:
    map.elementStride[ordinal] = value;
    break;
  case ElementType:
    map.dtype = value;
    break;
  case SwizzleMode:
    map.swizzle = value;
    break;
  case FillMode:
    map.fillsNaN = value;
    break;
  }
}

/// The pointer to the 128 bytes of a map in the instruction's space.
u8 *mapPointer(Warp &warp, const Instruction &i, Space space, u64 address,
               bool isWrite, u32 lane) {
  for (u32 at = 16; at < tensorMapBytes; at += 16)
    pointer(warp, i, space, {address + at, 16, isWrite, lane});
  return pointer(warp, i, space, {address, 16, isWrite, lane});
}

Step runReplace(Warp &warp, const Instruction &i) {
  ATTN_FOR_LANES(warp.active, lane) {
    u64 address = laneAddress(warp, i.address, lane);
    u8 *bytes = mapPointer(warp, i, i.space, address, /*isWrite=*/true, lane);
    TensorMap map;
    std::memcpy(&map, bytes, sizeof map);
    setField(map, i.operation, u32(i.immediate), laneValue(warp, i.a, lane));
    std::memcpy(bytes, &map, sizeof map);
  }
  return Step::Next;
}

Step runCopyMap(Warp &warp, const Instruction &i) {
  u32 lane = firstLane(warp.active);
  const u8 *from =
      mapPointer(warp, i, Space::SharedCta,
                 stripSharedWindow(laneAddress(warp, i.address2, lane)),
                 /*isWrite=*/false, lane);
  u8 *to =
      mapPointer(warp, i, Space::Global, laneAddress(warp, i.address, lane),
                 /*isWrite=*/true, lane);
  std::memcpy(to, from, tensorMapBytes);
  return Step::Next;
}

/// PTX ISA 9.7.9 tensormap.replace.
void decodeReplace(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  int field = decoder.oneOf({"global_address", "rank", "box_dim", "global_dim",
                             "global_stride", "element_stride", "elemtype",
                             "interleave_layout", "swizzle_mode", "fill_mode"});
  if (field < 0)
    decoder.fail("unknown field");
  i.space = decoder.space();
  i.address = decoder.address(0);
  i.operation = field;
  size_t next = 1;
  if (field >= BoxDim && field <= ElementStride) {
    i.immediate = decoder.integer(next++);
    s64 limit = field == GlobalStride ? 3 : 4;
    if (i.immediate < 0 || i.immediate > limit)
      decoder.fail("dimension is out of range");
  }
  bool wide = field == GlobalAddress || field == GlobalStride;
  i.a = decoder.source(next, wide ? 8 : 4);
  decoder.setHandler(runReplace, InstructionClass::Other);
}

/// PTX ISA 9.7.9 tensormap.replace, 9.7.13 tensormap.cp_fenceproxy.
bool decodeTensormap(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  if (!decoder.has("cp_fenceproxy")) {
    decodeReplace(decoder);
    return true;
  }
  i.address = decoder.address(0);
  i.address2 = decoder.address(1);
  decoder.setHandler(runCopyMap, InstructionClass::Other);
  return true;
}

} // namespace

void attn::sim::registerTma(OpcodeTable &table) {
  table.add("cp", decodeTensor);
  table.add("tensormap", decodeTensormap);
}
