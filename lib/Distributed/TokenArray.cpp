//===- TokenArray.cpp - Arrays of some heads and tokens -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TokenArray.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

namespace attn {

//===----------------------------------------------------------------------===//
// The host's memory
//===----------------------------------------------------------------------===//

static std::shared_ptr<void> allocateOnHost(size_t bytes) {
  return std::shared_ptr<void>(std::malloc(bytes), std::free);
}

static Status copyOnHost(void *to, size_t toPitch, const void *from,
                         size_t fromPitch, size_t width, size_t height) {
  for (size_t y = 0; y < height; ++y)
    std::memcpy(static_cast<char *>(to) + y * toPitch,
                static_cast<const char *>(from) + y * fromPitch, width);
  return {};
}

static Status addOnHost(float *to, size_t toPitch, const float *from,
                        size_t fromPitch, size_t width, size_t height) {
  for (size_t y = 0; y < height; ++y)
    for (size_t x = 0; x < width / sizeof(float); ++x)
      to[y * toPitch / sizeof(float) + x] +=
          from[y * fromPitch / sizeof(float) + x];
  return {};
}

static Status fillOnHost(float *to, float value, size_t count) {
  std::fill_n(to, count, value);
  return {};
}

static Status mergeOnHost(const CallResults &into, const CallResults &part,
                          int64_t rows, int64_t dim) {
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  for (int64_t r = 0; r < rows; ++r) {
    float most = std::max(into.lse[r], part.lse[r]);
    // Rows that neither sees keep output 0 and LSE -inf.
    if (most == kNone)
      continue;
    float weights[] = {std::exp(into.lse[r] - most),
                       std::exp(part.lse[r] - most)};
    float total = weights[0] + weights[1];
    for (int64_t d = r * dim; d < (r + 1) * dim; ++d)
      into.output[d] = into.output[d] * (weights[0] / total) +
                       part.output[d] * (weights[1] / total);
    into.lse[r] = most + std::log(total);
  }
  return {};
}

PlanMemory getHostMemory() {
  return {allocateOnHost, copyOnHost, addOnHost, fillOnHost, mergeOnHost};
}

//===----------------------------------------------------------------------===//
// Any memory
//===----------------------------------------------------------------------===//

std::shared_ptr<void> ArrayMemory::allocate(size_t bytes) {
  if (!status || bytes == 0)
    return nullptr;
  std::shared_ptr<void> memory = table.allocate(bytes);
  if (!memory)
    status = Error{"expected memory for " + std::to_string(bytes) +
                   " bytes, got none"};
  return memory;
}

TokenArray ArrayMemory::allocate(int64_t batch, HeadRange heads,
                                 TokenRanges tokens, size_t rowBytes) {
  TokenArray array{batch, heads, std::move(tokens), rowBytes};
  array.owner = allocate(array.getBytes());
  array.data = static_cast<char *>(array.owner.get());
  return array;
}

void ArrayMemory::fill(const TokenArray &to, float value) {
  if (status && to.getBytes())
    status = table.fill(to.getFloats(), value, to.getBytes() / sizeof(float));
}

void ArrayMemory::copy(void *to, size_t toPitch, const void *from,
                       size_t fromPitch, size_t width, size_t height) {
  if (status && width && height)
    status = table.copy(to, toPitch, from, fromPitch, width, height);
}

void ArrayMemory::copy(void *to, const void *from, size_t bytes) {
  copy(to, bytes, from, bytes, bytes, 1);
}

namespace {
/// Where ascending tokens are in an array that has them.
class Places {
public:
  explicit Places(const TokenRanges &ranges)
      : at(ranges.begin()), end(ranges.end()) {}

  int64_t find(int64_t token) {
    for (; at != end && at->end <= token; ++at)
      before += at->size();
    assert(at != end && at->begin <= token && "expected a token of the array");
    return before + token - at->begin;
  }

private:
  decltype(std::declval<const TokenRanges &>().begin()) at, end;
  int64_t before = 0;
};
} // namespace

static char *getAddress(const TokenArray &array, int64_t batch, int64_t head,
                        int64_t place) {
  int64_t row = batch * array.heads.size() + head - array.heads.begin;
  return array.data + row * array.getHeadBytes() + place * array.rowBytes;
}

/// Calls move(to, from, width) for what is contiguous in both, of one batch and
/// all heads: a range of tokens, since ranges of an array do not touch.
template <typename Move>
static void forEachPiece(const TokenArray &to, const TokenArray &from,
                         HeadRange heads, const TokenRanges &tokens,
                         Move move) {
  Places toPlaces(to.tokens), fromPlaces(from.tokens);
  for (const TokenRange &range : tokens) {
    int64_t toPlace = toPlaces.find(range.begin);
    int64_t fromPlace = fromPlaces.find(range.begin);
    for (int64_t b = 0; b < to.batch; ++b)
      move(getAddress(to, b, heads.begin, toPlace),
           getAddress(from, b, heads.begin, fromPlace),
           range.size() * to.rowBytes);
  }
}

void ArrayMemory::copy(const TokenArray &to, const TokenArray &from,
                       HeadRange heads, const TokenRanges &tokens) {
  forEachPiece(to, from, heads, tokens, [&](char *t, char *f, size_t width) {
    if (status)
      status = table.copy(t, to.getHeadBytes(), f, from.getHeadBytes(), width,
                          heads.size());
  });
}

void ArrayMemory::add(const TokenArray &to, const TokenArray &from,
                      HeadRange heads, const TokenRanges &tokens) {
  forEachPiece(to, from, heads, tokens, [&](char *t, char *f, size_t width) {
    if (status)
      status = table.add(reinterpret_cast<float *>(t), to.getHeadBytes(),
                         reinterpret_cast<const float *>(f),
                         from.getHeadBytes(), width, heads.size());
  });
}

void ArrayMemory::merge(const CallResults &into, const CallResults &part,
                        int64_t rows, int64_t dim) {
  if (status)
    status = table.merge(into, part, rows, dim);
}

} // namespace attn
