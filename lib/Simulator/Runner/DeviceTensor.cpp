//===- DeviceTensor.cpp - Tensors in simulated device memory --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceTensor.h"

#include <algorithm>
#include <cstring>

using namespace attn::sim;
using attn::runtime::HostTensor;

/// No tensor reaches further: larger strides saturate here, so that products
/// and sums of them stay within 64 bits.
static constexpr int64_t maxSpan = int64_t(1) << 48;

int64_t DeviceTensor::spanBytes() const {
  int64_t last = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0)
      return 0;
    int64_t reach;
    if (__builtin_mul_overflow(shape[d] - 1, strides[d], &reach))
      reach = maxSpan;
    last = std::min(last + std::min(reach, maxSpan), maxSpan);
  }
  return (last + 1) * byteSize(dtype);
}

void DeviceTensor::clear() const {
  std::memset(reinterpret_cast<void *>(address), poison,
              static_cast<size_t>(spanBytes()));
}

/// Calls `visit(offset)` with the offset in elements of every element, in
/// row-major order.
template <typename Visit>
static void forEachElement(const DeviceTensor &tensor, Visit visit) {
  size_t rank = tensor.shape.size();
  std::vector<int64_t> index(rank, 0);
  if (tensor.spanBytes() == 0)
    return;
  for (int64_t offset = 0;;) {
    visit(offset);
    size_t d = rank;
    // Counts up, carrying from the last dimension to the first.
    while (d > 0 && ++index[d - 1] == tensor.shape[d - 1]) {
      offset -= (tensor.shape[d - 1] - 1) * tensor.strides[d - 1];
      index[--d] = 0;
    }
    if (d == 0)
      return;
    offset += tensor.strides[d - 1];
  }
}

void DeviceTensor::upload(const HostTensor &host) const {
  size_t size = byteSize(dtype);
  char *target = reinterpret_cast<char *>(address);
  const char *source = host.data.data();
  forEachElement(*this, [&](int64_t offset) {
    std::memcpy(target + offset * int64_t(size), source, size);
    source += size;
  });
}

HostTensor DeviceTensor::download() const {
  HostTensor host(dtype, shape);
  size_t size = byteSize(dtype);
  const char *source = reinterpret_cast<const char *>(address);
  char *target = host.data.data();
  forEachElement(*this, [&](int64_t offset) {
    std::memcpy(target, source + offset * int64_t(size), size);
    target += size;
  });
  return host;
}

std::optional<int64_t> DeviceTensor::findWrittenGap() const {
  auto size = static_cast<int64_t>(byteSize(dtype));
  int64_t span = spanBytes(), count = 1;
  for (int64_t extent : shape)
    count *= extent;
  if (span == count * size)
    return std::nullopt; // No gaps.
  std::vector<bool> isElement(static_cast<size_t>(span / size), false);
  forEachElement(*this, [&](int64_t offset) {
    isElement[static_cast<size_t>(offset)] = true;
  });
  const auto *bytes = reinterpret_cast<const uint8_t *>(address);
  for (int64_t offset = 0; offset < span; ++offset)
    if (!isElement[static_cast<size_t>(offset / size)] &&
        bytes[offset] != poison)
      return offset;
  return std::nullopt;
}
