//===- FatBinary.h - PTX embedded by nvcc -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_CUDARUNTIME_FATBINARY_H
#define ATTN_LIB_SIMULATOR_CUDARUNTIME_FATBINARY_H

#include "attn/Support/Result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace attn::sim {

/// The PTX texts of a fat binary. Compressed ones are an error.
Result<std::vector<std::string>> extractPtx(const uint8_t *fatBinary);

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_CUDARUNTIME_FATBINARY_H
