//===- WgmmaOperands.cpp - Matrices of wgmma in shared memory -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// PTX ISA 9.7.15.5.1, "Shared Memory Matrix Layout": 8 x 16-byte core
/// matrices, swizzle modes of 32, 64 and 128 bytes, K-major and MN-major.
///
//===----------------------------------------------------------------------===//

#include "WgmmaOperands.h"
#include "../Memory.h"

using namespace attn::sim;

MatrixDescriptor::MatrixDescriptor(u64 bits) {
  auto field = [&](u32 shift) { return u32((bits >> shift) & 0x3FFF) << 4; };
  start = field(0);
  leadingOffset = field(16);
  strideOffset = field(32);
  baseOffset = (bits >> 49) & 7;
  constexpr u32 modes[] = {0, 128, 64, 32};
  swizzleBytes = modes[bits >> 62];
}

u32 MatrixDescriptor::swizzled(u32 offset) const {
  u32 address = (start + offset) & 0x3FFFF;
  if (!swizzleBytes)
    return address;
  u32 mask = swizzleBytes / 16 - 1;
  u32 row = (address >> 7) - baseOffset;
  return address ^ ((row & mask) << 4);
}

u32 MatrixDescriptor::chunkKMajor(u32 mn, u32 kBytes) const {
  u32 chunk = kBytes / 16, group = mn / 8, row = mn % 8;
  if (swizzleBytes)
    return swizzled(row * swizzleBytes + group * strideOffset + chunk * 16);
  return swizzled(row * 16 + group * strideOffset + chunk * leadingOffset);
}

u32 MatrixDescriptor::chunkMNMajor(u32 mn, u32 k, u32 bytes) const {
  u32 row = k % 8, group = k / 8, perChunk = 16 / bytes;
  if (!swizzleBytes)
    return swizzled(row * 16 + mn / perChunk * strideOffset +
                    group * leadingOffset);
  u32 perRow = swizzleBytes / bytes;
  return swizzled(mn % perRow / perChunk * 16 + mn / perRow * leadingOffset +
                  row * swizzleBytes + group * strideOffset);
}

u64 attn::sim::uniformDescriptor(Warp &warp, const Instruction &i,
                                 const Operand &operand) {
  const u64 *lanes = source64(warp, operand);
  for (u32 lane = 1; lane < warpSize; ++lane)
    if (lanes[lane] != lanes[0])
      fault(warp, i, Finding::Sync, "matrix descriptor differs between lanes");
  return lanes[0];
}

u32 attn::sim::wgmmaAgent(Warp &warp) {
  Cta &cta = *warp.cta;
  if (!cta.cluster->keepsClocks())
    return noAgent;
  std::vector<u32> &agents = cta.wgmma.agents;
  if (agents.empty())
    agents.assign((cta.warps.size() + 3) / 4, noAgent);
  return agentOf(agents[warp.id / 4], *cta.cluster,
                 {Agent::Kind::Wgmma, cta.rank, warp.id & ~3u});
}

/// The number of the product that the warp is about to issue.
static u32 nextProduct(const Warp &warp) { return u32(warp.wgmma.issued + 1); }

//===----------------------------------------------------------------------===//
// B
//===----------------------------------------------------------------------===//

namespace {

constexpr size_t cacheSize = 64;
constexpr u32 chunkBytes = 16;

/// Where column n lies in a row of WgmmaTileB::values.
u32 columnPosition(u32 n) { return (n & ~7u) + (n & 1) * 4 + ((n & 7) >> 1); }

/// Calls visit(shared offset, index of the chunk's first element...) for every
/// chunk of a matrix of `rows` rows (M or N) and numK columns:
/// visit(offset, row, k, alongK).
template <typename Visit>
void forEachChunk(const MatrixDescriptor &descriptor, bool mnMajor,
                  u32 firstRow, u32 rows, u32 numK, u32 perChunk, Visit visit) {
  if (!mnMajor) {
    for (u32 row = 0; row < rows; ++row)
      for (u32 k = 0; k < numK; k += perChunk)
        visit(descriptor.chunkKMajor(firstRow + row, k / perChunk * chunkBytes),
              row, k);
    return;
  }
  for (u32 k = 0; k < numK; ++k)
    for (u32 row = 0; row < rows; row += 8)
      visit(descriptor.chunkMNMajor(firstRow + row, k), row, k);
}

/// The elements of a chunk, negated where asked.
template <ElementKind kind>
void readChunk(const u8 *chunk, float sign, float *out) {
  constexpr u32 bytes = elementBytes(kind);
  for (u32 e = 0; e < chunkBytes / bytes; ++e) {
    u32 bits = 0;
    std::memcpy(&bits, chunk + e * bytes, bytes);
    out[e] = sign * elementValue<kind>(bits);
  }
}

template <ElementKind kind>
void gatherB(Warp &warp, const Instruction &i, const WgmmaPayload &wgmma,
             const MatrixDescriptor &descriptor, WgmmaTileB &tile) {
  constexpr u32 perChunk = chunkBytes / elementBytes(kind);
  Cta &cta = *warp.cta;
  float sign = wgmma.negateB ? -1.f : 1.f;
  u32 agent = wgmmaAgent(warp), time = nextProduct(warp);
  auto visit = [&](u32 offset, u32 n, u32 k) {
    checkAsyncRead(warp, i, cta, offset, chunkBytes, "wgmma B", agent, time);
    tile.chunks.push_back(offset);
    float elements[chunkBytes];
    readChunk<kind>(&cta.shared[offset], sign, elements);
    for (u32 e = 0; e < perChunk; ++e) {
      u32 column = wgmma.transposeB ? n + e : n;
      u32 row = wgmma.transposeB ? k : k + e;
      tile.values[size_t(row) * wgmma.n + columnPosition(column)] = elements[e];
    }
  };
  forEachChunk(descriptor, wgmma.transposeB, 0, wgmma.n, wgmma.numK, perChunk,
               visit);
}

std::vector<u8> copyChunks(const Cta &cta, const std::vector<u32> &chunks) {
  std::vector<u8> bytes(chunks.size() * chunkBytes);
  for (size_t k = 0; k < chunks.size(); ++k)
    std::memcpy(&bytes[k * chunkBytes], &cta.shared[chunks[k]], chunkBytes);
  return bytes;
}

/// The race check of a tile that was gathered before. For another warp of the
/// same product the writers are enough.
void checkTileAgain(Warp &warp, const Instruction &i, WgmmaTileB &tile) {
  Cta &cta = *warp.cta;
  if (!cta.cluster->keepsClocks())
    return;
  u32 agent = wgmmaAgent(warp), time = nextProduct(warp);
  if (tile.agent == agent && tile.time == time && seesAll(warp, tile.writers))
    return;
  for (u32 offset : tile.chunks)
    checkRace(
        warp, i, cta,
        {offset, chunkBytes, /*isWrite=*/false, /*isAsync=*/true, agent, time});
  tile.agent = agent;
  tile.time = time;
}

} // namespace

std::shared_ptr<WgmmaTileB> attn::sim::gatherTileB(Warp &warp,
                                                   const Instruction &i,
                                                   const WgmmaPayload &wgmma) {
  Cta &cta = *warp.cta;
  u64 descriptor = uniformDescriptor(warp, i, i.b);
  u32 key = wgmma.n | u32(wgmma.kindB) << 10 | u32(wgmma.transposeB) << 14 |
            u32(wgmma.negateB) << 15;
  for (const std::shared_ptr<WgmmaTileB> &tile : cta.wgmma.cache)
    if (tile->descriptor == descriptor && tile->key == key &&
        tile->epoch == cta.epoch) {
      checkTileAgain(warp, i, *tile);
      return tile;
    }
  auto tile = std::make_shared<WgmmaTileB>();
  tile->descriptor = descriptor;
  tile->key = key;
  tile->values.resize(size_t(wgmma.numK) * wgmma.n);
  withElementKind(wgmma.kindB, [&](auto tag) {
    gatherB<decltype(tag)::value>(warp, i, wgmma, MatrixDescriptor(descriptor),
                                  *tile);
  });
  tile->bytes = copyChunks(cta, tile->chunks);
  tile->epoch = cta.epoch;
  tile->agent = wgmmaAgent(warp);
  tile->time = nextProduct(warp);
  if (cta.cluster->keepsClocks())
    for (u32 offset : tile->chunks)
      addWriters(cta, offset, chunkBytes, tile->writers);
  if (cta.wgmma.cache.size() < cacheSize)
    cta.wgmma.cache.push_back(tile);
  else
    cta.wgmma.cache[cta.wgmma.nextCacheEntry++ % cacheSize] = tile;
  return tile;
}

//===----------------------------------------------------------------------===//
// A
//===----------------------------------------------------------------------===//

namespace {

/// Writes A[row][k] for the four lanes of the row's group.
void putA(std::vector<float> &a, u32 row, u32 k, float value) {
  float *lanes = &a[k * 64 + (row >> 3) * warpSize + (row & 7) * 4];
  lanes[0] = lanes[1] = lanes[2] = lanes[3] = value;
}

template <ElementKind kind>
void gatherSharedA(Warp &warp, const Instruction &i, const WgmmaPayload &wgmma,
                   const MatrixDescriptor &descriptor, WgmmaOp &op) {
  constexpr u32 perChunk = chunkBytes / elementBytes(kind);
  Cta &cta = *warp.cta;
  float sign = wgmma.negateA ? -1.f : 1.f;
  u32 agent = wgmmaAgent(warp), time = nextProduct(warp);
  auto visit = [&](u32 offset, u32 row, u32 k) {
    checkAsyncRead(warp, i, cta, offset, chunkBytes, "wgmma A", agent, time);
    op.chunksA.push_back(offset);
    float elements[chunkBytes];
    readChunk<kind>(&cta.shared[offset], sign, elements);
    for (u32 e = 0; e < perChunk; ++e)
      wgmma.transposeA ? putA(op.a, row + e, k, elements[e])
                       : putA(op.a, row, k + e, elements[e]);
  };
  // Each warp of the warpgroup has 16 of the 64 rows.
  forEachChunk(descriptor, wgmma.transposeA, warp.id % 4 * 16, 16, wgmma.numK,
               perChunk, visit);
}

} // namespace

void attn::sim::gatherTileA(Warp &warp, const Instruction &i,
                            const WgmmaPayload &wgmma, WgmmaOp &op) {
  op.a.resize(size_t(wgmma.numK) * 64);
  if (wgmma.hasRegistersA()) {
    for (const Operand &operand : wgmma.a)
      if (operand.isRegister() && warp.wgmma.inFlight[operand.index] &&
          checks(warp).earlyRead)
        report(warp, i, Finding::Async,
               format("wgmma A operand %s is an accumulator that has not been "
                      "waited for",
                      warp.program->slotNames[operand.index].c_str()),
               "wait with wgmma.wait_group before using an accumulator");
    gatherFragmentA(warp, wgmma.a, wgmma.kindA, wgmma.numK, op.a.data());
    if (wgmma.negateA)
      for (float &value : op.a)
        value = -value;
    return;
  }
  MatrixDescriptor descriptor(uniformDescriptor(warp, i, i.a));
  withElementKind(wgmma.kindA, [&](auto tag) {
    gatherSharedA<decltype(tag)::value>(warp, i, wgmma, descriptor, op);
  });
  op.bytesA = copyChunks(*warp.cta, op.chunksA);
  op.epochA = warp.cta->epoch;
}

//===----------------------------------------------------------------------===//
// Sources in flight
//===----------------------------------------------------------------------===//

static void compareChunks(Warp &warp, const WgmmaOp &op,
                          const std::vector<u32> &chunks,
                          const std::vector<u8> &bytes, const char *what) {
  for (size_t k = 0; k < chunks.size(); ++k) {
    if (!std::memcmp(&bytes[k * chunkBytes], &warp.cta->shared[chunks[k]],
                     chunkBytes))
      continue;
    u32 active = warp.active;
    warp.active = fullMask;
    report(warp, *op.instruction, Finding::Async,
           format("%s operand at shared offset %d was overwritten before "
                  "wgmma.wait_group",
                  what, printedOffset(chunks[k])),
           "release the stage only after the wait_group that covers its reads");
    warp.active = active;
    return;
  }
}

void attn::sim::checkSourcesUnchanged(Warp &warp, WgmmaOp &op) {
  if (op.sourcesChecked || !checks(warp).overwrite)
    return;
  op.sourcesChecked = true;
  u64 epoch = warp.cta->epoch;
  if (op.b->epoch != epoch)
    compareChunks(warp, op, op.b->chunks, op.b->bytes, "wgmma B");
  if (!op.chunksA.empty() && op.epochA != epoch)
    compareChunks(warp, op, op.chunksA, op.bytesA, "wgmma A");
}
