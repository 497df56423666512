//===- HostTensor.h - A tensor in host memory -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The arrays that tools hand to a device and get back.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_HOSTTENSOR_H
#define ATTN_RUNTIME_HOSTTENSOR_H

#include "attn/Runtime/Manifest.h"

#include <cstdint>
#include <string>
#include <vector>

namespace attn::runtime {

/// A dense, row-major tensor that owns its memory. An i1 takes one byte, 0
/// or 1.
struct HostTensor {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<char> data;

  HostTensor() = default;
  /// Zeros. Sizes must not be negative.
  HostTensor(DType dtype, std::vector<int64_t> shape);

  int64_t numElements() const;
};

/// A dense, row-major tensor in memory that is somebody else's.
struct TensorView {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  const char *data = nullptr;
};

/// Of a dense tensor. Throws std::length_error where no memory has as many
/// bytes.
size_t getByteSize(DType dtype, const std::vector<int64_t> &shape);

/// Strides, in elements, of a row-major tensor of that shape.
std::vector<int64_t> getRowMajorStrides(const std::vector<int64_t> &shape);

/// "2x8x128xf16", as MLIR writes a tensor type between its angle brackets.
std::string formatType(const HostTensor &tensor);

} // namespace attn::runtime

#endif // ATTN_RUNTIME_HOSTTENSOR_H
