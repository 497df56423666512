//===- TensorMap.cpp - Tensor maps and the copies they describe -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorMap.h"
#include "Error.h"
#include "attn/Simulator/TensorMap.h"

#include <algorithm>
#include <vector>

using namespace attn::sim;

namespace {

constexpr u32 tensorMapMagic = 0x6e747441;

struct ElementInfo {
  u32 bytes;
  Type type;
};
/// In the order of CUtensorMapDataType.
constexpr ElementInfo elements[] = {
    {1, Type::U8},  {2, Type::U16},  {4, Type::U32}, {4, Type::S32},
    {8, Type::U64}, {8, Type::S64},  {2, Type::F16}, {4, Type::F32},
    {8, Type::F64}, {2, Type::BF16}, {4, Type::F32}, {4, Type::F32},
    {4, Type::F32}};
constexpr u32 numElements = sizeof elements / sizeof elements[0];

} // namespace

u32 TensorMap::elementBytes() const { return elements[dtype].bytes; }
Type TensorMap::elementType() const { return elements[dtype].type; }

u32 TensorMap::boxBytes() const {
  u32 bytes = elementBytes();
  for (u32 i = 0; i < rank; ++i)
    bytes *= extent(i);
  return bytes;
}

bool TensorMap::isValid() const {
  return magic == tensorMapMagic && dtype < numElements && rank >= 1 &&
         rank <= 5 && swizzle <= 3 &&
         std::all_of(elementStride, elementStride + rank,
                     [](u8 stride) { return stride != 0; }) &&
         std::all_of(box, box + rank, [](u16 size) { return size != 0; });
}

/// What cuTensorMapEncodeTiled would refuse; empty if nothing.
static std::string checkTiled(const TensorMapArgs &args) {
  u32 dtype = u32(args.dtype), rank = args.dims.size();
  if (dtype >= numElements)
    return "unknown element type";
  if (rank < 1 || rank > 5)
    return format("expected 1 to 5 dimensions, got %u", rank);
  if (args.stridesBytes.size() != rank - 1 || args.box.size() != rank ||
      (!args.elementStrides.empty() && args.elementStrides.size() != rank))
    return "dims, strides, box and element strides disagree in rank";
  if (args.address % 16)
    return format("global address 0x%llx is not 16-byte aligned",
                  (unsigned long long)args.address);
  if (args.fillNaN && elements[dtype].type < Type::F16)
    return "NaN fill needs a floating-point type";
  for (u32 i = 0; i < rank; ++i) {
    if (args.dims[i] == 0 || args.dims[i] > (1ull << 32))
      return format("dimension %u is %llu, expected 1 to 2^32", i,
                    (unsigned long long)args.dims[i]);
    if (args.box[i] == 0 || args.box[i] > 256)
      return format("box dimension %u is %u, expected 1 to 256", i,
                    args.box[i]);
    u32 stride = args.elementStrides.empty() ? 1 : args.elementStrides[i];
    if (stride < 1 || stride > 8)
      return format("element stride %u is %u, expected 1 to 8", i, stride);
  }
  for (u32 i = 0; i + 1 < rank; ++i)
    if (args.stridesBytes[i] % 16 || args.stridesBytes[i] >= (1ull << 40))
      return format("stride %u is %llu, expected a multiple of 16 below 2^40",
                    i, (unsigned long long)args.stridesBytes[i]);
  return "";
}

std::string attn::sim::encodeTensorMap(const TensorMapArgs &args,
                                       std::array<uint8_t, 128> &out) {
  std::string error = checkTiled(args);
  if (!error.empty())
    return error;
  TensorMap map;
  map.magic = tensorMapMagic;
  map.dtype = u8(args.dtype);
  map.rank = args.dims.size();
  map.base = args.address;
  map.fillsNaN = args.fillNaN;
  for (u32 i = 0; i < map.rank; ++i) {
    map.lastIndex[i] = u32(args.dims[i] - 1);
    map.box[i] = args.box[i];
    map.elementStride[i] =
        args.elementStrides.empty() ? 1 : args.elementStrides[i];
    if (i + 1 < map.rank)
      map.stride[i] = args.stridesBytes[i];
  }
  u32 inner = map.extent(0) * map.elementBytes();
  if (inner % 16)
    return format("inner box is %u bytes, expected a multiple of 16", inner);
  switch (args.swizzleBytes) {
  case 0:
  case 32:
  case 64:
  case 128:
    map.swizzle = args.swizzleBytes / 32 == 4 ? 3 : args.swizzleBytes / 32;
    break;
  default:
    return format("swizzle is %u, expected 0, 32, 64 or 128",
                  args.swizzleBytes);
  }
  if (args.swizzleBytes && inner > args.swizzleBytes)
    return format("inner box is %u bytes, the swizzle span is %u", inner,
                  args.swizzleBytes);
  out.fill(0);
  std::memcpy(out.data(), &map, sizeof map);
  return "";
}

BoxRange attn::sim::boxRange(const TensorMap &map,
                             const TensorCoordinates &coordinates) {
  u32 elementBytes = map.elementBytes();
  BoxRange range{map.base, map.base + elementBytes, elementBytes};
  for (u32 i = 0; i < map.rank; ++i) {
    s64 step = map.elementStride[i];
    s64 first = coordinates[i];
    s64 last = first + s64(map.extent(i) - 1) * step;
    // The first and last index of the traversal inside of the tensor.
    if (first < 0)
      first += (-first + step - 1) / step * step;
    if (last > s64(map.lastIndex[i]))
      last -= (last - s64(map.lastIndex[i]) + step - 1) / step * step;
    if (first > last)
      return {};
    u64 stride = i == 0 ? elementBytes : map.stride[i - 1];
    range.begin += first * stride;
    range.end += last * stride;
    range.bytes *= (last - first) / step + 1;
  }
  return range;
}

/// Calls visit(offset in the box, address of element 0 of the row, whether the
/// row is inside) for every row along dimension 0.
template <typename Visit>
static void forEachRow(const TensorMap &map,
                       const TensorCoordinates &coordinates, Visit visit) {
  u32 rowBytes = map.extent(0) * map.elementBytes();
  u32 rows = 1;
  for (u32 i = 1; i < 5; ++i)
    rows *= map.extent(i);
  std::array<u32, 5> index{};
  for (u32 row = 0; row < rows; ++row) {
    bool inside = true;
    u64 address = map.base;
    for (u32 i = 1; i < map.rank; ++i) {
      s64 position = s64(coordinates[i]) + s64(index[i]) * map.elementStride[i];
      inside &= position >= 0 && position <= s64(map.lastIndex[i]);
      address += position * map.stride[i - 1];
    }
    visit(row * rowBytes, address, inside);
    for (u32 i = 1; i < 5 && ++index[i] == map.extent(i); ++i)
      index[i] = 0;
  }
}

std::vector<BoxRow> attn::sim::boxRows(const TensorMap &map,
                                       const TensorCoordinates &coordinates) {
  s64 first = std::max<s64>(coordinates[0], 0);
  s64 last = std::min<s64>(s64(coordinates[0]) +
                               s64(map.extent(0) - 1) * map.elementStride[0],
                           map.lastIndex[0]);
  std::vector<BoxRow> rows;
  forEachRow(map, coordinates, [&](u32, u64 address, bool inside) {
    if (inside && first <= last)
      rows.push_back({address + first * map.elementBytes(),
                      u32(last + 1 - first) * map.elementBytes()});
  });
  return rows;
}

/// The bits of the fill value, repeated to 32 bits (PTX ISA 5.5.7).
static u32 fillPattern(const TensorMap &map) {
  if (!map.fillsNaN)
    return 0;
  return map.elementBytes() == 2 ? 0x7FFF7FFF : 0x7FFFFFFF;
}

static void loadRow(const TensorMap &map, s32 start, u64 address, u8 *row) {
  u32 count = map.extent(0), bytes = map.elementBytes();
  s64 size = s64(map.lastIndex[0]) + 1, step = map.elementStride[0];
  if (step == 1) {
    s64 first = std::max<s64>(start, 0);
    s64 last = std::min<s64>(s64(start) + count, size);
    if (first < last)
      std::memcpy(row + (first - start) * bytes,
                  reinterpret_cast<const u8 *>(address + first * bytes),
                  (last - first) * bytes);
    return;
  }
  for (u32 i = 0; i < count; ++i) {
    s64 position = s64(start) + i * step;
    if (position >= 0 && position < size)
      std::memcpy(row + i * bytes,
                  reinterpret_cast<const u8 *>(address + position * bytes),
                  bytes);
  }
}

void attn::sim::loadBox(const TensorMap &map,
                        const TensorCoordinates &coordinates, u8 *shared,
                        u32 offset) {
  u32 rowBytes = map.extent(0) * map.elementBytes();
  u32 pattern = fillPattern(map);
  std::vector<u8> row(alignUp(rowBytes, 16));
  forEachRow(map, coordinates, [&](u32 at, u64 address, bool inside) {
    for (u32 i = 0; i < rowBytes; i += 4)
      std::memcpy(&row[i], &pattern, 4);
    if (inside)
      loadRow(map, coordinates[0], address, row.data());
    for (u32 i = 0; i < rowBytes; i += 16)
      std::memcpy(shared + swizzleAddress(offset + at + i, map.swizzle),
                  &row[i], 16);
  });
}

void attn::sim::storeBox(const TensorMap &map,
                         const TensorCoordinates &coordinates, const u8 *rows,
                         StoreElement store, void *context) {
  u32 bytes = map.elementBytes();
  forEachRow(map, coordinates, [&](u32 at, u64 address, bool inside) {
    if (!inside)
      return;
    for (u32 i = 0; i < map.extent(0); ++i) {
      s64 position = s64(coordinates[0]) + s64(i) * map.elementStride[0];
      if (position >= 0 && position <= s64(map.lastIndex[0]))
        store(reinterpret_cast<u8 *>(address + position * bytes),
              rows + at + i * bytes, bytes, context);
    }
  });
}
