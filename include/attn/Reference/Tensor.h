//===- Tensor.h - Dense tensor of the oracle --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dense tensor whose every element is a value of its element type, held as
// double. Conversion to and from raw memory goes through Element.h.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_REFERENCE_TENSOR_H
#define ATTN_REFERENCE_TENSOR_H

#include "attn/Support/ElementType.h"
#include "attn/Support/Result.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace attn {
namespace reference {

/// "2x8x128x64"
std::string formatShape(const std::vector<int64_t> &shape);

/// Strides, in elements, of a row-major tensor of that shape.
std::vector<int64_t> getRowMajorStrides(const std::vector<int64_t> &shape);

/// The value of elements that nothing has written, as those of a tensor.empty:
/// a NaN that no computation makes from numbers, and that most make from it.
double getUnwritten();

/// True of getUnwritten(), which other NaN are not.
bool isUnwritten(double value);

/// A tensor of `shape`, row-major inside; the memory layouts of callers enter
/// and leave through fromMemory and toMemory.
class Tensor {
public:
  /// An empty f64 tensor of rank 1.
  Tensor() = default;

  /// Zeros. Sizes must not be negative.
  Tensor(std::vector<int64_t> shape, ElementType type);

  /// Reads elements of `type` at `data`, element `index` at the byte offset
  /// size * sum(index[i] * strides[i]). A stride of 0 broadcasts.
  static Tensor fromMemory(const void *data, std::vector<int64_t> shape,
                           const std::vector<int64_t> &strides,
                           ElementType type);

  /// Writes the elements at `data` in the layout fromMemory reads.
  void toMemory(void *data, const std::vector<int64_t> &strides) const;

  /// The same values, each rounded to `type`.
  Tensor convertTo(ElementType type) const;

  ElementType getType() const { return type; }
  int64_t getRank() const { return static_cast<int64_t>(shape.size()); }
  const std::vector<int64_t> &getShape() const { return shape; }
  int64_t getDim(int64_t dim) const { return shape[static_cast<size_t>(dim)]; }
  int64_t getNumElements() const { return static_cast<int64_t>(values.size()); }

  /// Element by row-major position.
  double operator[](int64_t position) const {
    return values[static_cast<size_t>(position)];
  }
  /// Stores `value` rounded to the element type.
  void set(int64_t position, double value);
  /// The elements from a position on; what is written there must be of the
  /// element type.
  double *getRow(int64_t position) {
    return values.data() + static_cast<size_t>(position);
  }
  const double *getRow(int64_t position) const {
    return values.data() + static_cast<size_t>(position);
  }

  /// Element of a rank-4 (rank-3) tensor.
  double at(int64_t i, int64_t j, int64_t k, int64_t l) const {
    return values[static_cast<size_t>(offset(i, j, k, l))];
  }
  double at(int64_t i, int64_t j, int64_t k) const {
    return values[static_cast<size_t>((i * shape[1] + j) * shape[2] + k)];
  }

  /// Row-major position of an element of a rank-4 tensor.
  int64_t offset(int64_t i, int64_t j, int64_t k, int64_t l) const {
    return ((i * shape[1] + j) * shape[2] + k) * shape[3] + l;
  }

  const std::vector<double> &getValues() const { return values; }

private:
  std::vector<int64_t> shape = {0};
  ElementType type = ElementType::F64;
  std::vector<double> values;
};

} // namespace reference
} // namespace attn

#endif // ATTN_REFERENCE_TENSOR_H
