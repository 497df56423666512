//===- Tensor.cpp - Dense tensor of the oracle ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/Tensor.h"

#include "attn/Reference/Element.h"

#include <cassert>
#include <cstring>

namespace attn {
namespace reference {

std::string formatShape(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

std::vector<int64_t> getRowMajorStrides(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

/// A quiet NaN with a payload that bf16, f16 and f32 have room for; operations
/// on NaN keep the payload of one.
static constexpr uint64_t kUnwritten = 0x7FFAA000'00000000;

double getUnwritten() {
  double value;
  std::memcpy(&value, &kUnwritten, sizeof(value));
  return value;
}

bool isUnwritten(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return (bits | uint64_t(1) << 63) == (kUnwritten | uint64_t(1) << 63);
}

static int64_t countElements(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    assert(size >= 0 && "negative size");
    count *= size;
  }
  return count;
}

Tensor::Tensor(std::vector<int64_t> shape, ElementType type)
    : shape(std::move(shape)), type(type) {
  values.resize(static_cast<size_t>(countElements(this->shape)));
}

/// Offset, in elements, of the row-major position in a strided layout.
static int64_t getStridedOffset(int64_t position,
                                const std::vector<int64_t> &shape,
                                const std::vector<int64_t> &strides) {
  int64_t offset = 0;
  for (size_t i = shape.size(); i-- > 0;) {
    offset += position % shape[i] * strides[i];
    position /= shape[i];
  }
  return offset;
}

Tensor Tensor::fromMemory(const void *data, std::vector<int64_t> shape,
                          const std::vector<int64_t> &strides,
                          ElementType type) {
  assert(shape.size() == strides.size());
  Tensor tensor(std::move(shape), type);
  int64_t size = getSizeBytes(type);
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    int64_t offset = getStridedOffset(i, tensor.shape, strides);
    uint64_t bits = 0;
    // Little-endian host, as every host of an NVIDIA GPU is.
    std::memcpy(&bits, static_cast<const char *>(data) + offset * size,
                static_cast<size_t>(size));
    tensor.values[static_cast<size_t>(i)] = decodeElement(bits, type);
  }
  return tensor;
}

void Tensor::toMemory(void *data, const std::vector<int64_t> &strides) const {
  assert(shape.size() == strides.size());
  int64_t size = getSizeBytes(type);
  for (int64_t i = 0; i < getNumElements(); ++i) {
    int64_t offset = getStridedOffset(i, shape, strides);
    uint64_t bits = encodeElement(values[static_cast<size_t>(i)], type);
    std::memcpy(static_cast<char *>(data) + offset * size, &bits,
                static_cast<size_t>(size));
  }
}

Tensor Tensor::convertTo(ElementType newType) const {
  Tensor result(shape, newType);
  for (int64_t i = 0; i < getNumElements(); ++i)
    result.set(i, (*this)[i]);
  return result;
}

void Tensor::set(int64_t position, double value) {
  values[static_cast<size_t>(position)] = roundToElement(value, type);
}

} // namespace reference
} // namespace attn
