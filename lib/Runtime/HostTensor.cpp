//===- HostTensor.cpp - A tensor in host memory ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/HostTensor.h"

#include <stdexcept>
#include <utility>

using namespace attn;
using namespace attn::runtime;

size_t attn::runtime::getByteSize(DType dtype,
                                  const std::vector<int64_t> &shape) {
  int64_t bytes = byteSize(dtype);
  bool overflows = false, isEmpty = false;
  for (int64_t size : shape) {
    overflows |= __builtin_mul_overflow(bytes, size, &bytes);
    isEmpty |= size == 0;
  }
  if (overflows && !isEmpty)
    throw std::length_error("tensor of more than 2^63 bytes");
  return isEmpty ? 0 : static_cast<size_t>(bytes);
}

HostTensor::HostTensor(DType dtype, std::vector<int64_t> shape)
    : dtype(dtype), shape(std::move(shape)) {
  data.resize(getByteSize(dtype, this->shape));
}

int64_t HostTensor::numElements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

std::vector<int64_t>
attn::runtime::getRowMajorStrides(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

std::string attn::runtime::formatType(const HostTensor &tensor) {
  std::string text;
  for (int64_t size : tensor.shape)
    text += std::to_string(size) + "x";
  return text + name(tensor.dtype);
}
