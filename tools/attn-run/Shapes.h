//===- Shapes.h - Sizes of the arguments ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNRUN_SHAPES_H
#define ATTN_TOOLS_ATTNRUN_SHAPES_H

#include "Options.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>
#include <vector>

namespace attn::run {

/// One shape per argument; scalars have rank 0.
using Shapes = std::vector<std::vector<int64_t>>;

/// Finds the size of every dimension of every argument: static ones from the
/// types, the others from those that arguments are given with (nothing where
/// there is no file) and from --shape. Dimensions that an attn.attention on the
/// arguments ties together are one and go by its names B, Hq, Hkv, M, N. Prints
/// what is missing or contradictory and returns nothing.
std::optional<Shapes>
resolveShapes(mlir::func::FuncOp function, const Options &options,
              const std::vector<std::optional<std::vector<int64_t>>> &given);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTNRUN_SHAPES_H
