//===- Tcgen05Mma.cpp - Products into tensor memory -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.16.10, tcgen05.mma, and tcgen05.commit. One thread issues a
/// product; the tensor core of the CTA works through them in order. A product
/// is computed when it is issued, but only who has waited for the mbarrier of a
/// later commit, and fenced, may see it: anything else is a finding, and reads
/// 0xFF bytes.
///
//===----------------------------------------------------------------------===//

#include "../MbarrierState.h"
#include "../Memory.h"
#include "../Tracer.h"
#include "Families.h"
#include "Tcgen05.h"
#include "Tcgen05Descriptors.h"

using namespace attn::sim;

namespace {

constexpr u32 chunkBytes = 16;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// Rows of A or D in tensor memory (PTX ISA 9.7.16.10.5): layout D, row m in
/// lane m, or with 64 rows layout F, 16 rows in each quarter of the lanes.
struct TensorRows {
  u32 m, firstLane, column, columns;

  u32 lane(u32 row) const {
    return m == 64 ? firstLane + row / 16 * 32 + row % 16 : row;
  }
  /// Calls visit(range) for each rectangle of lanes.
  template <typename Visit>
  void forEachRange(Visit visit) const {
    if (m == 128)
      return visit(TensorRange{0, 128, column, columns});
    for (u32 quarter = 0; quarter < 4; ++quarter)
      visit(TensorRange{firstLane + 32 * quarter, 16, column, columns});
  }
};

TensorRows placeRows(Warp &warp, const Instruction &i, const Address &address,
                     u32 m, u32 columns, const char *what) {
  TensorAddress at = uniformTensorAddress(warp, i, address);
  bool isAligned = m == 64 ? at.lane == 0 || at.lane == 16 : at.lane == 0;
  if (!isAligned)
    fault(warp, i, Finding::Memory,
          format("%s: lane %u of tensor memory, expected %s", what, at.lane,
                 m == 64 ? "0 or 16" : "0"));
  TensorRows rows{m, at.lane, at.column, columns};
  rows.forEachRange([&](const TensorRange &range) {
    checkTensorRange(warp, i, range, what);
  });
  return rows;
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
      : warp(warp), i(i), cta(*warp.cta), thread(firstLane(warp.active)),
        shape(decodeTensorInstruction(warp, i, TensorKind(i.operation),
                                      laneValue32(warp, i.d, thread))),
        issuer(tensorIssuer(warp, thread)) {}

  void run() {
    TensorRows rows =
        placeRows(warp, i, i.address, shape.m, shape.n, "D of tcgen05.mma");
    access.kind = TensorAccess::Kind::Product;
    access.agent = issuer.agent;
    access.time = ++issuer.issued;
    access.warp = clusterWarpIndex(warp);
    access.accumulator = u64(laneAddress(warp, i.address, thread)) << 32 |
                         laneValue32(warp, i.d, thread);
    bool accumulates = predicateMask(warp, i.c) >> thread & 1;
    gatherA();
    gatherB();
    rows.forEachRange([&](const TensorRange &range) {
      if (accumulates)
        readTensor(warp, i, range, access, "D of tcgen05.mma");
      writeTensor(warp, i, range, access, "D of tcgen05.mma");
    });
    for (u32 row = 0; row < shape.m; ++row)
      if (u32 lane = rows.lane(row); !isDisabled(lane))
        multiplyRow(row, cta.tensor.row(lane) + rows.column, accumulates);
    u64 flops = 2ull * shape.m * shape.n * shape.k;
    warp.worker->counters.mmaFlops += flops;
    issuer.doneCycle = traceTensorProduct(warp, i, flops);
  }

private:
  bool isDisabled(u32 lane) const {
    return !i.values.empty() &&
           (laneValue32(warp, i.values[lane / 32], thread) >> lane % 32 & 1);
  }

  /// Products are exact, sums in the order of k and rounded to f32.
  void multiplyRow(u32 row, u32 *cells, bool accumulates) {
    float sums[256];
    for (u32 n = 0; n < shape.n; ++n)
      sums[n] = accumulates ? asFloat(cells[n]) : 0.f;
    for (u32 k = 0; k < shape.k; ++k) {
      float value = a[size_t(row) * shape.k + k];
      const float *columns = &b[size_t(k) * shape.n];
      for (u32 n = 0; n < shape.n; ++n)
        sums[n] = __builtin_fmaf(value, columns[n], sums[n]);
    }
    std::memcpy(cells, sums, shape.n * sizeof(float));
  }

  static float valueOf(ElementKind kind, u32 bits) {
    return withElementKind(kind, [&](auto tag) {
      return elementValue<decltype(tag)::value>(bits);
    });
  }

  void gatherA() {
    a.resize(size_t(shape.m) * shape.k);
    if (i.address2)
      return gatherTensorA();
    u64 bits = laneValue(warp, i.a, thread);
    gather(decodeTensorMatrix(warp, i, bits, "A"), shape.kindA, shape.mnMajorA,
           shape.negateA, shape.m, "A of tcgen05.mma",
           [&](u32 row, u32 k) -> float & {
             return a[size_t(row) * shape.k + k];
           });
  }

  void gatherB() {
    b.resize(size_t(shape.n) * shape.k);
    u64 bits = laneValue(warp, i.b, thread);
    gather(decodeTensorMatrix(warp, i, bits, "B"), shape.kindB, shape.mnMajorB,
           shape.negateB, shape.n, "B of tcgen05.mma",
           [&](u32 row, u32 k) -> float & {
             return b[size_t(k) * shape.n + row];
           });
  }

  /// Reads a matrix of `rows` rows (M or N) from shared memory, by chunks.
  template <typename Place>
  void gather(const MatrixDescriptor &matrix, ElementKind kind, bool mnMajor,
              bool negates, u32 rows, const char *what, Place place) {
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
  void gatherTensorA() {
    if (shape.mnMajorA)
      fault(warp, i, Finding::Memory,
            "A of tcgen05.mma in tensor memory is K-major, but the instruction "
            "descriptor says MN-major");
    const char *what = "A of tcgen05.mma";
    const u32 bytes = elementBytes(shape.kindA), perCell = 4 / bytes;
    TensorRows rows =
        placeRows(warp, i, i.address2, shape.m, shape.k / perCell, what);
    if (rows.firstLane != uniformTensorAddress(warp, i, i.address).lane)
      fault(warp, i, Finding::Memory,
            "A of tcgen05.mma is not in the lanes of D's rows");
    rows.forEachRange([&](const TensorRange &range) {
      readTensor(warp, i, range, access, what);
    });
    for (u32 row = 0; row < shape.m; ++row)
      for (u32 k = 0; k < shape.k; ++k) {
        u32 cell = cta.tensor.row(rows.lane(row))[rows.column + k / perCell];
        u32 bits = cell >> 8 * bytes * (k % perCell);
        if (bytes < 4)
          bits &= (1u << 8 * bytes) - 1;
        float value = valueOf(shape.kindA, bits);
        a[size_t(row) * shape.k + k] = shape.negateA ? -value : value;
      }
  }

  Warp &warp;
  const Instruction &i;
  Cta &cta;
  const u32 thread;
  const TensorInstruction shape;
  TensorMemory::Issuer &issuer;
  TensorAccess access;
  std::vector<float> a, b; // [row][k], [k][column]
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

/// The mbarrier at `address` gets an arrival when all products that the thread
/// issued before are complete.
Step runCommit(Warp &warp, const Instruction &i) {
  ATTN_FOR_LANES(warp.active, lane) {
    auto [cta, offset] =
        sharedLocation(warp, i, laneAddress(warp, i.address, lane));
    if (cta != warp.cta)
      fault(warp, i, Finding::Memory,
            format("tcgen05.commit to an mbarrier of CTA rank %u", cta->rank));
    checkMbarrier(warp, i, *cta, offset);
    fenceTensorBefore(warp);
    const TensorMemory::Issuer &issuer = tensorIssuer(warp, lane);
    noteCommit(warp, i, *cta, offset, issuer.agent, issuer.issued);
    PendingCopy copy;
    copy.kind = PendingCopy::Kind::TensorCommit;
    copy.instruction = &i;
    copy.destination = cta;
    copy.mbarrier = offset;
    copy.doneCycle = issuer.doneCycle;
    issueCopy(warp, std::move(copy));
  }
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

TensorKind decodeKind(Decoder &decoder) {
  int kind = decoder.oneOf({"kind::f16", "kind::tf32", "kind::f8f6f4"});
  if (kind < 0)
    decoder.fail("expected .kind::f16, .kind::tf32 or .kind::f8f6f4; others "
                 "are not supported");
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
    if (i.values.size() != 4)
      decoder.fail(
          format("expected 4 words of lanes, got %zu", i.values.size()));
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
    decoder.fail(".multicast::cluster is not supported");
  if (!decoder.has("mbarrier::arrive::one"))
    decoder.fail("expected .mbarrier::arrive::one");
  i.space = decoder.space();
  i.address = decoder.address(0);
  decoder.setHandler(runCommit, InstructionClass::Mbarrier);
}

bool decodeTcgen05(Decoder &decoder) {
  return decodeTensorMemory(decoder) || decodeTensorProduct(decoder);
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
