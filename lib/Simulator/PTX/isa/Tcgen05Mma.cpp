//===- Tcgen05Mma.cpp - Products into tensor memory -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.16.10, tcgen05.mma, and tcgen05.commit. One thread issues a
/// product; the tensor cores of its CTA, or of a pair (cta_group::2), work
/// through them in order. A product is computed when it is issued, but only who
/// has waited for the mbarrier of a later commit, and fenced, may see it:
/// anything else is a finding, and reads 0xFF bytes.
///
/// In a pair each CTA holds half of the rows of A and D, and half of the
/// columns of B, at the same addresses of its own memories: the even rank the
/// first half.
///
//===----------------------------------------------------------------------===//

#include "../MbarrierState.h"
#include "../Memory.h"
#include "../Tracer.h"
#include "Families.h"
#include "Tcgen05.h"
#include "Tcgen05Descriptors.h"

#include <limits>

using namespace attn::sim;

namespace {

constexpr u32 chunkBytes = 16;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// How a CTA's rows of A and D lie in tensor memory (PTX ISA 9.7.16.10.5).
enum class RowLayout : u8 {
  Whole,    // layouts A and D: 128 rows, row m in lane m
  Folded,   // B: 64 rows of a pair's CTA; columns of D from N / 2 on in lanes
            // from 64 on, where A has its rows once more
  Quarters, // F: 64 rows, 16 in each quarter of the lanes
};

struct TensorRows {
  RowLayout layout;
  u32 firstLane, column, columns;

  static constexpr u32 none = ~0u;
  /// The row in a lane, or none.
  u32 rowOf(u32 lane) const {
    switch (layout) {
    case RowLayout::Whole:
      return lane;
    case RowLayout::Folded:
      return lane % 64;
    case RowLayout::Quarters:
      break;
    }
    return lane % 32 - firstLane < 16 ? lane / 32 * 16 + lane % 16 : none;
  }
  /// Calls visit(range) for each rectangle of lanes.
  template <typename Visit>
  void forEachRange(Visit visit) const {
    if (layout != RowLayout::Quarters)
      return visit(TensorRange{0, tensorLanes, column, columns});
    for (u32 quarter = 0; quarter < 4; ++quarter)
      visit(TensorRange{firstLane + 32 * quarter, 16, column, columns});
  }
};

TensorRows placeRows(Warp &warp, const Instruction &i, const Address &address,
                     RowLayout layout, u32 columns, const char *what) {
  TensorAddress at = uniformTensorAddress(warp, i, address);
  bool isQuarters = layout == RowLayout::Quarters;
  if (at.lane != 0 && !(isQuarters && at.lane == 16))
    fault(warp, i, Finding::Memory,
          format("%s: lane %u of tensor memory, expected %s", what, at.lane,
                 isQuarters ? "0 or 16" : "0"));
  return {layout, at.lane, at.column, columns};
}

//===----------------------------------------------------------------------===//
// The product
//===----------------------------------------------------------------------===//

/// `address`: D; `a` or `address2`: A by descriptor or in tensor memory; `b`: B
/// by descriptor; `d`: instruction descriptor; `c`: whether D is added to;
/// `values`: lanes of D to leave alone; `operation`: TensorKind.
class Product {
public:
  Product(Warp &warp, const Instruction &i)
      : warp(warp), i(i), ctas(warp, i, i.flags & forPair),
        thread(firstLane(warp.active)),
        shape(decodeTensorInstruction(
            warp, i, {TensorKind(i.operation), ctas.size(), bool(i.address2)},
            laneValue32(warp, i.d, thread))),
        rowsOfCta(shape.m / ctas.size()),
        layout(rowsOfCta == 128   ? RowLayout::Whole
               : ctas.size() == 2 ? RowLayout::Folded
                                  : RowLayout::Quarters),
        issuer(tensorIssuer(warp, thread)) {}

  void run() {
    access = beginTensorProduct(warp, thread, TensorAccess::Kind::Product);
    access.accumulator = u64(laneAddress(warp, i.address, thread)) << 32 |
                         laneValue32(warp, i.d, thread);
    b.resize(size_t(shape.n) * shape.k);
    for (u32 index = 0; index < ctas.size(); ++index)
      gatherB(ctas[index], index * (shape.n / ctas.size()));
    for (u32 index = 0; index < ctas.size(); ++index)
      multiply(ctas[index], index);
    u64 flops = 2ull * shape.m * shape.n * shape.k;
    warp.worker->counters.mmaFlops += flops;
    u64 sharedBytes = countSharedBytes();
    warp.worker->counters.tcgen05SharedBytes += sharedBytes * ctas.size();
    issuer.doneCycle =
        traceTensorProduct(warp, i, flops / ctas.size(), sharedBytes);
  }

private:
  /// What a CTA reads: of a pair each has half of B.
  u64 countSharedBytes() const {
    u64 ofB = u64(shape.n / ctas.size()) * elementBytes(shape.kindB);
    u64 ofA = i.address2 ? 0 : u64(rowsOfCta) * elementBytes(shape.kindA);
    return (ofA + ofB) * shape.k;
  }

  /// The rows of a CTA.
  void multiply(Cta &cta, u32 index) {
    const char *what = "D of tcgen05.mma";
    bool accumulates = predicateMask(warp, i.c) >> thread & 1;
    u32 columns = layout == RowLayout::Folded ? shape.n / 2 : shape.n;
    TensorRows rows = placeRows(warp, i, i.address, layout, columns, what);
    rows.forEachRange([&](const TensorRange &range) {
      checkTensorRange(warp, i, cta, range, what);
    });
    gatherA(cta);
    rows.forEachRange([&](const TensorRange &range) {
      if (accumulates)
        readTensor(warp, i, cta, range, access, what);
      writeTensor(warp, i, cta, range, access, what);
    });
    for (u32 lane = 0; lane < tensorLanes; ++lane) {
      u32 row = rows.rowOf(lane);
      if (row == TensorRows::none || isDisabled(index * tensorLanes + lane))
        continue;
      u32 first = layout == RowLayout::Folded && lane >= 64 ? columns : 0;
      multiplyRow(&a[size_t(i.address2 ? lane : row) * shape.k], first, columns,
                  cta.tensor.row(lane) + rows.column, accumulates);
    }
  }

  bool isDisabled(u32 lane) const {
    return !i.values.empty() &&
           (laneValue32(warp, i.values[lane / 32], thread) >> lane % 32 & 1);
  }

  /// Columns `first` and on of the row whose A is given. Products are exact,
  /// sums in the order of k and rounded to f32; those of integers are exact.
  void multiplyRow(const float *row, u32 first, u32 columns, u32 *cells,
                   bool accumulates) {
    bool isInteger = isIntegerKind(shape.kindA);
    float sums[256];
    for (u32 n = 0; n < columns; ++n)
      sums[n] = accumulates && !isInteger ? asFloat(cells[n]) : 0.f;
    for (u32 k = 0; k < shape.k; ++k) {
      const float *values = &b[size_t(k) * shape.n + first];
      for (u32 n = 0; n < columns; ++n)
        sums[n] = __builtin_fmaf(row[k], values[n], sums[n]);
    }
    if (!isInteger)
      std::memcpy(cells, sums, columns * sizeof(float));
    else
      for (u32 n = 0; n < columns; ++n)
        cells[n] = addInteger(accumulates ? cells[n] : 0, s32(sums[n]));
  }

  u32 addInteger(u32 sum, s32 product) const {
    s64 wide = s64(s32(sum)) + product;
    if (shape.saturates)
      wide = std::clamp<s64>(wide, std::numeric_limits<s32>::min(),
                             std::numeric_limits<s32>::max());
    return u32(wide);
  }

  static float valueOf(ElementKind kind, u32 bits) {
    return withElementKind(kind, [&](auto tag) {
      return elementValue<decltype(tag)::value>(bits);
    });
  }

  /// By row, or by lane for A in tensor memory.
  void gatherA(Cta &cta) {
    a.assign(size_t(tensorLanes) * shape.k, 0.f);
    if (i.address2)
      return gatherTensorA(cta);
    u64 bits = laneValue(warp, i.a, thread);
    gather(cta, decodeTensorMatrix(warp, i, bits, "A"), shape.kindA,
           shape.mnMajorA, shape.negateA, rowsOfCta, "A of tcgen05.mma",
           [&](u32 row, u32 k) -> float & {
             return a[size_t(row) * shape.k + k];
           });
  }

  /// The CTA's columns of the product, which begin at `first`.
  void gatherB(Cta &cta, u32 first) {
    u64 bits = laneValue(warp, i.b, thread);
    gather(cta, decodeTensorMatrix(warp, i, bits, "B"), shape.kindB,
           shape.mnMajorB, shape.negateB, shape.n / ctas.size(),
           "B of tcgen05.mma", [&](u32 row, u32 k) -> float & {
             return b[size_t(k) * shape.n + first + row];
           });
  }

  /// Reads a matrix of `rows` rows (M or N) from shared memory, by chunks.
  template <typename Place>
  void gather(Cta &cta, const MatrixDescriptor &matrix, ElementKind kind,
              bool mnMajor, bool negates, u32 rows, const char *what,
              Place place) {
    noteTensorReach(warp, cta, access);
    const u32 bytes = elementBytes(kind), perChunk = chunkBytes / bytes;
    u32 stepRow = mnMajor ? perChunk : 1, stepK = mnMajor ? 1 : perChunk;
    for (u32 row = 0; row < rows; row += stepRow)
      for (u32 k = 0; k < shape.k; k += stepK) {
        u32 offset = mnMajor ? matrix.chunkMNMajor(row, k, bytes)
                             : matrix.chunkKMajor(row, k * bytes);
        checkAsyncRead(warp, i, cta, offset, chunkBytes, what, issuer.agent,
                       issuer.issued);
        for (u32 e = 0; e < perChunk; ++e) {
          u32 bits = 0;
          std::memcpy(&bits, &cta.shared[offset + e * bytes], bytes);
          float value = valueOf(kind, bits);
          place(row + (mnMajor ? e : 0), k + (mnMajor ? 0 : e)) =
              negates ? -value : value;
        }
      }
  }

  /// K-major, in the lanes of D's rows; a cell holds 4 / bytes neighbours.
  void gatherTensorA(Cta &cta) {
    if (shape.mnMajorA)
      fault(warp, i, Finding::Memory,
            "A of tcgen05.mma in tensor memory is K-major, but the instruction "
            "descriptor says MN-major");
    const char *what = "A of tcgen05.mma";
    const u32 bytes = elementBytes(shape.kindA), perCell = 4 / bytes;
    TensorRows rows =
        placeRows(warp, i, i.address2, layout, shape.k / perCell, what);
    if (rows.firstLane != uniformTensorAddress(warp, i, i.address).lane)
      fault(warp, i, Finding::Memory,
            "A of tcgen05.mma is not in the lanes of D's rows");
    rows.forEachRange([&](const TensorRange &range) {
      checkTensorRange(warp, i, cta, range, what);
      readTensor(warp, i, cta, range, access, what);
    });
    for (u32 lane = 0; lane < tensorLanes; ++lane)
      for (u32 k = 0; k < shape.k; ++k) {
        u32 cell = cta.tensor.row(lane)[rows.column + k / perCell];
        u32 bits = cell >> 8 * bytes * (k % perCell);
        if (bytes < 4)
          bits &= (1u << 8 * bytes) - 1;
        float value = valueOf(shape.kindA, bits);
        a[size_t(lane) * shape.k + k] = shape.negateA ? -value : value;
      }
  }

  Warp &warp;
  const Instruction &i;
  const CtaGroup ctas;
  const u32 thread;
  const TensorInstruction shape;
  const u32 rowsOfCta;
  const RowLayout layout;
  TensorMemory::Issuer &issuer;
  TensorAccess access;
  std::vector<float> a, b; // [row or lane][k] of a CTA, [k][column]
};

Step runProduct(Warp &warp, const Instruction &i) {
  if (countLanes(warp.active) != 1)
    fault(warp, i, Finding::Sync,
          format("tcgen05.mma executed by %u threads of a warp, each of which "
                 "issues the product",
                 countLanes(warp.active)),
          "execute it in one thread, chosen by elect.sync");
  Product(warp, i).run();
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// commit
//===----------------------------------------------------------------------===//

void commitTo(Warp &warp, const Instruction &i, u32 lane, Cta &cta,
              u32 offset) {
  if (cta.liveLanes == 0)
    report(warp, i, Finding::Sync,
           format("tcgen05.commit to an mbarrier of CTA rank %u, which has "
                  "exited",
                  cta.rank));
  checkMbarrier(warp, i, cta, offset);
  const TensorMemory::Issuer &issuer = tensorIssuer(warp, lane);
  noteCommit(warp, i, cta, offset, issuer.agent, issuer.issued);
  PendingCopy copy;
  copy.kind = PendingCopy::Kind::TensorCommit;
  copy.instruction = &i;
  copy.destination = &cta;
  copy.mbarrier = offset;
  copy.doneCycle = issuer.doneCycle;
  issueCopy(warp, std::move(copy));
}

/// The mbarrier at `address`, or that of the same offset in every CTA of the
/// multicast mask `a`, gets an arrival when all that the thread issued before
/// is complete.
Step runCommit(Warp &warp, const Instruction &i) {
  std::vector<Cta> &ctas = warp.cta->cluster->ctas;
  ATTN_FOR_LANES(warp.active, lane) {
    auto [cta, offset] =
        sharedLocation(warp, i, laneAddress(warp, i.address, lane));
    fenceTensorBefore(warp);
    if (!i.a) {
      commitTo(warp, i, lane, *cta, offset);
      continue;
    }
    u32 ranks = laneValue32(warp, i.a, lane) & 0xFFFF;
    if (!ranks || ranks >> ctas.size())
      fault(warp, i, Finding::Memory,
            format("multicast mask %04x of tcgen05.commit in a cluster of %zu "
                   "CTAs",
                   ranks, ctas.size()));
    ATTN_FOR_LANES(ranks, rank) { commitTo(warp, i, lane, ctas[rank], offset); }
  }
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

TensorKind decodeKind(Decoder &decoder) {
  int kind =
      decoder.oneOf({"kind::f16", "kind::tf32", "kind::f8f6f4", "kind::i8"});
  if (kind < 0)
    decoder.fail("expected .kind::f16, .kind::tf32, .kind::f8f6f4 or "
                 ".kind::i8; others are not supported");
  return TensorKind(kind);
}

/// tcgen05.mma [d], a, b, idesc, {disable-output-lane,} enable-input-d
void decodeProduct(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  if (decoder.has("sp") || decoder.has("ws") || decoder.has("block_scale"))
    decoder.fail(".sp, .ws and .block_scale are not supported");
  decodeCtaGroup(decoder);
  i.operation = u32(decodeKind(decoder));
  decoder.hasPrefix("collector::a::"); // how A is kept, not what is computed
  i.address = decoder.address(0);
  if (decoder.operand(1).is(ParsedOperand::Kind::Address))
    i.address2 = decoder.address(1);
  else
    i.a = decoder.source(1, 8);
  i.b = decoder.source(2, 8);
  i.d = decoder.source(3, 4);
  size_t next = 4;
  if (decoder.operand(next).is(ParsedOperand::Kind::Vector)) {
    i.values = decoder.sources(decoder.operand(next++), 4);
    size_t expected = i.flags & forPair ? 8 : 4;
    if (i.values.size() != expected)
      decoder.fail(format("expected %zu words of lanes, got %zu", expected,
                          i.values.size()));
  }
  i.c = decoder.predicate(next++);
  if (next < decoder.numOperands())
    decoder.fail("scale-input-d is not supported");
  decoder.setHandler(runProduct, InstructionClass::Tcgen05);
}

void decodeCommit(Decoder &decoder) {
  Instruction &i = decoder.instruction;
  decodeCtaGroup(decoder);
  if (decoder.has("multicast::cluster"))
    i.a = decoder.source(1, 2);
  if (!decoder.has("mbarrier::arrive::one"))
    decoder.fail("expected .mbarrier::arrive::one");
  i.space = decoder.space();
  i.address = decoder.address(0);
  decoder.setHandler(runCommit, InstructionClass::Mbarrier);
}

bool decodeTcgen05(Decoder &decoder) {
  return decodeTensorAllocation(decoder) || decodeTensorMemory(decoder) ||
         decodeTensorCopy(decoder) || decodeTensorProduct(decoder);
}

} // namespace

bool attn::sim::decodeTensorProduct(Decoder &decoder) {
  if (decoder.has("mma"))
    decodeProduct(decoder);
  else if (decoder.has("commit"))
    decodeCommit(decoder);
  else
    decoder.fail("not supported");
  return true;
}

void attn::sim::registerTcgen05(OpcodeTable &table) {
  table.add("tcgen05", decodeTcgen05);
}
