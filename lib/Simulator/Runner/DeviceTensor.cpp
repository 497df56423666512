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

/// Calls `copy(data, at, bytes)` for all elements in row-major order, as many
/// at once as have no gaps between them: the bytes from `data` on of the host's
/// memory are those from `at` on behind the address.
template <typename Copy>
static void copyElements(const DeviceTensor &tensor, Copy copy) {
  auto size = static_cast<int64_t>(byteSize(tensor.dtype));
  DeviceTensor rows = tensor;
  int64_t length = 1;
  while (!rows.shape.empty() &&
         (rows.shape.back() == 1 || rows.strides.back() == length)) {
    length *= rows.shape.back();
    rows.shape.pop_back();
    rows.strides.pop_back();
  }
  if (length == 0)
    return;
  int64_t data = 0, bytes = length * size;
  forEachElement(rows, [&](int64_t offset) {
    copy(data, offset * size, static_cast<size_t>(bytes));
    data += bytes;
  });
}

void DeviceTensor::upload(const HostTensor &host) const {
  char *target = reinterpret_cast<char *>(address);
  const char *source = host.data.data();
  copyElements(*this, [&](int64_t data, int64_t at, size_t bytes) {
    std::memcpy(target + at, source + data, bytes);
  });
}

HostTensor DeviceTensor::download() const {
  HostTensor host(dtype, shape);
  const char *source = reinterpret_cast<const char *>(address);
  char *target = host.data.data();
  copyElements(*this, [&](int64_t data, int64_t at, size_t bytes) {
    std::memcpy(target + data, source + at, bytes);
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
