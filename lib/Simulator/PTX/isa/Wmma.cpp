//===- Wmma.cpp - wmma.load, wmma.mma, wmma.store -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.14.4, Matrix multiply-accumulate using wmma instructions. PTX
/// leaves open which lane holds which element of a fragment; here lane l holds
/// elements l * n to l * n + n - 1 of the row-major matrix, n = rows * columns
/// / 32, and a fragment with more room holds them again.
///
//===----------------------------------------------------------------------===//

#include "../Memory.h"
#include "Families.h"
#include "MatrixMath.h"

#include <algorithm>
#include <array>
#include <limits>

using namespace attn::sim;

namespace {

constexpr u32 maxElements = 512; // 32 x 16
using Matrix = std::array<double, maxElements>;

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

/// One fragment of a warp: a list of registers per lane.
struct Fragment {
  Type type = Type::None;
  u32 rows = 0, columns = 0;
  std::vector<Operand> registers;

  u32 elementBytes() const {
    return type == Type::F64                         ? 8
           : type == Type::F16 || type == Type::BF16 ? 2
           : type == Type::S8 || type == Type::U8    ? 1
                                                     : 4;
  }
  u32 registerBytes() const { return type == Type::F64 ? 8 : 4; }
  u32 perRegister() const { return registerBytes() / elementBytes(); }
  u32 perLane() const { return rows * columns / warpSize; }
  /// f16 operands have 8 registers in every shape.
  bool hasSize() const {
    u32 room = u32(registers.size()) * perRegister();
    return room == perLane() ||
           (type == Type::F16 && registers.size() == 8 && room > perLane());
  }
  u64 bits(const Warp &warp, u32 lane, u32 k) const {
    const Operand &source = registers[k / perRegister()];
    u32 shift = 8 * elementBytes() * (k % perRegister());
    u64 mask = elementBytes() == 8 ? ~0ull : (1ull << 8 * elementBytes()) - 1;
    return (laneValue(warp, source, lane) >> shift) & mask;
  }
};

double decodeElement(Type type, u64 bits) {
  switch (type) {
  case Type::F64:
    return asDouble(bits);
  case Type::F32:
    return asFloat(u32(bits));
  case Type::S32:
    return s32(bits);
  default: {
    std::optional<ElementKind> kind = elementKind(type);
    return withElementKind(*kind, [&](auto tag) -> double {
      return elementValue<decltype(tag)::value>(u32(bits));
    });
  }
  }
}

u64 encodeElement(Type type, double value, bool saturate) {
  using Limits = std::numeric_limits<s32>;
  switch (type) {
  case Type::F64:
    return value != value ? 0x7FF8000000000000ull : asBits(value);
  case Type::F16:
    return floatToHalf(float(value));
  case Type::S32:
    if (saturate)
      value = std::clamp<double>(value, Limits::min(), Limits::max());
    return u32(s64(value));
  default:
    return value != value ? canonicalNaN32 : asBits(float(value));
  }
}

Matrix readFragment(const Warp &warp, const Fragment &fragment) {
  Matrix matrix;
  for (u32 lane = 0; lane < warpSize; ++lane)
    for (u32 k = 0; k < fragment.perLane(); ++k)
      matrix[lane * fragment.perLane() + k] =
          decodeElement(fragment.type, fragment.bits(warp, lane, k));
  return matrix;
}

/// Writes the bits of every element, row-major.
void writeFragment(Warp &warp, const Fragment &fragment,
                   const std::array<u64, maxElements> &bits) {
  u32 perLane = fragment.perLane(), perRegister = fragment.perRegister();
  for (u32 lane = 0; lane < warpSize; ++lane)
    for (u32 r = 0; r < fragment.registers.size(); ++r) {
      u64 value = 0;
      for (u32 k = 0; k < perRegister; ++k)
        value |= bits[lane * perLane + (r * perRegister + k) % perLane]
                 << 8 * fragment.elementBytes() * k;
      setLane(warp, fragment.registers[r], lane, value);
    }
}

struct WmmaPayload : Payload {
  Fragment d, a, b, c;
  bool isRowMajor = true; // in memory
  Operand stride;

  void forEachOperand(const OperandVisitor &visit) override {
    for (Fragment *fragment : {&a, &b, &c})
      for (Operand &operand : fragment->registers)
        visit(operand, /*writes=*/false, /*reads=*/true);
    visit(stride, /*writes=*/false, /*reads=*/true);
    for (Operand &operand : d.registers)
      visit(operand, /*writes=*/true, /*reads=*/false);
  }
};

const WmmaPayload &payload(const Instruction &i) {
  return static_cast<const WmmaPayload &>(*i.payload);
}

//===----------------------------------------------------------------------===//
// wmma.load, wmma.store
//===----------------------------------------------------------------------===//

void countElement(Warp &warp, const Instruction &i, u64 address, u32 bytes,
                  bool isWrite) {
  Counters &counters = warp.worker->counters;
  if (isSharedAccess(i.space, address)) {
    (isWrite ? counters.sharedStoreBytes : counters.sharedLoadBytes) += bytes;
    return;
  }
  (isWrite ? counters.globalStoreBytes : counters.globalLoadBytes) += bytes;
  warp.worker->countTraffic(GlobalPath::LoadStore, isWrite, bytes);
  if (!isWrite)
    addToRequest(warp, address, bytes);
}

/// Calls visit(lane, position, pointer) for every element of the matrix, in
/// memory from the address of the first lane on.
template <typename Visit>
void forEachElement(Warp &warp, const Instruction &i, const Fragment &fragment,
                    bool isWrite, Visit visit) {
  const WmmaPayload &wmma = payload(i);
  u32 bytes = fragment.elementBytes();
  u64 base = laneAddress(warp, i.address, 0);
  u64 stride = laneValue(warp, wmma.stride, 0);
  for (u32 position = 0; position < fragment.rows * fragment.columns;
       ++position) {
    u64 row = position / fragment.columns, column = position % fragment.columns;
    u64 offset =
        wmma.isRowMajor ? row * stride + column : column * stride + row;
    u64 address = base + offset * bytes;
    u32 lane = position / fragment.perLane();
    u8 *data = pointer(warp, i, i.space, {address, bytes, isWrite, lane});
    // Generic and global addresses reach pointer() as they are.
    countElement(warp, i, address, bytes, isWrite);
    visit(position, data);
  }
  countRequest(warp);
}

Step runLoad(Warp &warp, const Instruction &i) {
  if (!convergesFully(warp, i))
    return Step::Block;
  const Fragment &fragment = payload(i).d;
  std::array<u64, maxElements> bits{};
  forEachElement(warp, i, fragment, /*isWrite=*/false,
                 [&](u32 position, const u8 *data) {
                   std::memcpy(&bits[position], data, fragment.elementBytes());
                 });
  writeFragment(warp, fragment, bits);
  return Step::Next;
}

Step runStore(Warp &warp, const Instruction &i) {
  if (!convergesFully(warp, i))
    return Step::Block;
  const Fragment &fragment = payload(i).a;
  forEachElement(warp, i, fragment, /*isWrite=*/true,
                 [&](u32 position, u8 *data) {
                   u64 bits = fragment.bits(warp, position / fragment.perLane(),
                                            position % fragment.perLane());
                   std::memcpy(data, &bits, fragment.elementBytes());
                 });
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// wmma.mma
//===----------------------------------------------------------------------===//

/// f16, bf16 and tf32: exact products, sums rounded to f32 in the order of k.
/// f64 and integers: in double, which holds the sums of 8-bit products.
double dotProduct(const WmmaPayload &wmma, const Matrix &a, const Matrix &b,
                  double sum, u32 row, u32 column) {
  u32 depth = wmma.a.columns, columns = wmma.b.columns;
  bool isDouble = wmma.d.type == Type::F64 || wmma.d.type == Type::S32;
  for (u32 k = 0; k < depth; ++k) {
    double x = a[row * depth + k], y = b[k * columns + column];
    sum = isDouble ? __builtin_fma(x, y, sum)
                   : double(__builtin_fmaf(float(x), float(y), float(sum)));
  }
  return sum;
}

Step runMma(Warp &warp, const Instruction &i) {
  if (!convergesFully(warp, i))
    return Step::Block;
  const WmmaPayload &wmma = payload(i);
  Matrix a = readFragment(warp, wmma.a), b = readFragment(warp, wmma.b),
         c = readFragment(warp, wmma.c);
  std::array<u64, maxElements> bits{};
  for (u32 row = 0; row < wmma.d.rows; ++row)
    for (u32 column = 0; column < wmma.d.columns; ++column) {
      u32 position = row * wmma.d.columns + column;
      double sum = dotProduct(wmma, a, b, c[position], row, column);
      bits[position] = encodeElement(wmma.d.type, sum, i.saturate);
    }
  writeFragment(warp, wmma.d, bits);
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

bool isSupported(const MatrixShape &shape, Type type) {
  auto is = [&](int m, int n, int k) {
    return shape.m == m && shape.n == n && shape.k == k;
  };
  switch (type) {
  case Type::F64:
    return is(8, 8, 4);
  case Type::TF32:
    return is(16, 16, 8);
  case Type::F32:
  case Type::S32:
    return is(16, 16, 16) || is(8, 32, 16) || is(32, 8, 16) || is(16, 16, 8);
  case Type::F16:
  case Type::BF16:
  case Type::S8:
  case Type::U8:
    return is(16, 16, 16) || is(8, 32, 16) || is(32, 8, 16);
  default:
    return false;
  }
}

void setFragment(Decoder &decoder, Fragment &fragment, char role, Type type,
                 const MatrixShape &shape, std::vector<Operand> registers) {
  if (!isSupported(shape, type))
    decoder.fail("unsupported shape or type");
  fragment.type = type;
  fragment.rows = role == 'b' ? shape.k : shape.m;
  fragment.columns = role == 'a' ? shape.k : shape.n;
  fragment.registers = std::move(registers);
  if (!fragment.hasSize())
    decoder.fail(
        format("unexpected number of registers in the fragment of %c", role));
}

u32 registerBytes(Type type) { return type == Type::F64 ? 8 : 4; }

bool isRowMajor(Decoder &decoder) {
  int layout = decoder.oneOf({"row", "col"});
  if (layout < 0)
    decoder.fail("expected .row or .col");
  return layout == 0;
}

/// wmma.load.{a,b,c} r, [p]{, stride} and wmma.store.d [p], r{, stride}
void decodeAccess(Decoder &decoder, WmmaPayload &wmma, const MatrixShape &shape,
                  bool isLoad) {
  Instruction &i = decoder.instruction;
  int role = decoder.oneOf({"a", "b", "c", "d"});
  if (role < 0 || decoder.types().size() != 1)
    decoder.fail("expected a, b, c or d and one type");
  char name = "abcd"[role];
  i.space = decoder.space();
  i.address = decoder.address(isLoad ? 1 : 0);
  wmma.isRowMajor = isRowMajor(decoder);
  const ParsedOperand &list = decoder.operand(isLoad ? 0 : 1);
  u32 bytes = registerBytes(i.type);
  Fragment &fragment = isLoad ? wmma.d : wmma.a;
  setFragment(decoder, fragment, name, i.type, shape,
              isLoad ? decoder.destinations(list, bytes)
                     : decoder.sources(list, bytes));
  // Default: the rows, or columns, follow each other.
  u32 leading = wmma.isRowMajor ? fragment.columns : fragment.rows;
  wmma.stride = decoder.numOperands() > 2 ? decoder.source(2, 4, Type::U32)
                                          : decoder.constant(leading, 4);
  decoder.setHandler(isLoad ? runLoad : runStore,
                     isLoad ? InstructionClass::Load : InstructionClass::Store);
}

/// wmma.mma.ALAYOUT.BLAYOUT.SHAPE.TYPES d, a, b, c: the types are those of d
/// and c with f16 inputs, else those of d, a, b and c.
void decodeMultiply(Decoder &decoder, WmmaPayload &wmma,
                    const MatrixShape &shape) {
  Instruction &i = decoder.instruction;
  std::vector<Type> types = decoder.types();
  if (types.size() == 2)
    types = {types[0], Type::F16, Type::F16, types[1]};
  if (types.size() != 4)
    decoder.fail("expected two or four types");
  isRowMajor(decoder);
  auto sources = [&](size_t index, Type type) {
    return decoder.sources(decoder.operand(index), registerBytes(type));
  };
  setFragment(
      decoder, wmma.d, 'd', types[0], shape,
      decoder.destinations(decoder.operand(0), registerBytes(types[0])));
  setFragment(decoder, wmma.a, 'a', types[1], shape, sources(1, types[1]));
  setFragment(decoder, wmma.b, 'b', types[2], shape, sources(2, types[2]));
  setFragment(decoder, wmma.c, 'c', types[3], shape, sources(3, types[3]));
  i.flops = 2ull * shape.m * shape.n * shape.k;
  decoder.setHandler(runMma, InstructionClass::Mma);
}

/// PTX ISA 9.7.14.4 wmma.load, wmma.store, wmma.mma.
bool decodeWmma(Decoder &decoder) {
  int kind = decoder.oneOf({"load", "store", "mma"});
  std::optional<MatrixShape> shape = decodeShape(decoder);
  if (kind < 0 || !shape)
    decoder.fail("expected load, store or mma, and a shape");
  auto wmma = std::make_shared<WmmaPayload>();
  decoder.instruction.payload = wmma;
  if (kind == 2)
    decodeMultiply(decoder, *wmma, *shape);
  else
    decodeAccess(decoder, *wmma, *shape, kind == 0);
  return true;
}

} // namespace

void attn::sim::registerWmma(OpcodeTable &table) {
  table.add("wmma", decodeWmma);
}
