//===- Npy.h - Tensors in .npy files ----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// NumPy's file format, versions 1 to 3 ("A simple file format for NumPy
/// arrays", NEP 1). NumPy has no bf16: it is read from 16-bit unsigned integers
/// or 2-byte voids and written as unsigned integers.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_NPY_H
#define ATTN_RUNTIME_NPY_H

#include "attn/Runtime/Manifest.h"

#include <cstdint>
#include <string>
#include <vector>

namespace attn::runtime {

/// A row-major tensor.
struct NpyArray {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<uint8_t> data;
};

/// Decodes a file's content, whose type must be `dtype`. Errors have no file
/// name: "expected dtype f16 (<f2), got <f4".
Result<NpyArray> decodeNpy(const std::string &content, DType dtype);
std::string encodeNpy(const NpyArray &array);

/// The same on files; errors begin with the path.
Result<NpyArray> readNpy(const std::string &path, DType dtype);
/// Returns an error, or nothing.
std::optional<Error> writeNpy(const std::string &path, const NpyArray &array);

} // namespace attn::runtime

#endif // ATTN_RUNTIME_NPY_H
