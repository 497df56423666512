//===- Npy.h - NumPy's .npy files -------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Reader and writer of .npy files, format versions 1.0 to 3.0
/// (numpy.lib.format). The `descr` field maps to element types so:
///
///   <f2 f16   <f4 f32   <f8 f64   |b1 i1   |i1 i8   <i4 i32   <i8 i64
///   <V2 bf16 (what numpy.save writes for ml_dtypes.bfloat16)
///   <u2 bf16 (read only: the bits, where ml_dtypes is not at hand)
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_NPY_H
#define ATTN_RUNTIME_NPY_H

#include "attn/Runtime/HostTensor.h"
#include "attn/Runtime/OutputFiles.h"
#include "attn/Support/Result.h"

#include <optional>
#include <string>

namespace attn::runtime {

/// Reads a file; arrays in Fortran order come out row-major. Errors begin with
/// the path: "q.npy: expected magic \x93NUMPY, got ...".
Result<HostTensor> readNpy(const std::string &path);

/// Gives an 8-bit float tensor whose file does not name its type (read as
/// f8E4M3FN) the type `expected`, if that is another 8-bit float.
void reinterpretFloat8(HostTensor &tensor, DType expected);

/// Adds a file of version 1.0. Returns the error, if any.
std::optional<Error> addNpy(OutputFiles &files, const std::string &path,
                            const HostTensor &tensor);

/// Writes one such file.
std::optional<Error> writeNpy(const std::string &path,
                              const HostTensor &tensor);

} // namespace attn::runtime

#endif // ATTN_RUNTIME_NPY_H
