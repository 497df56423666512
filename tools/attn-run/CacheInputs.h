//===- CacheInputs.h - Sequences and pages that are generated ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNRUN_CACHEINPUTS_H
#define ATTN_TOOLS_ATTNRUN_CACHEINPUTS_H

#include "Shapes.h"

#include "attn/Runtime/HostTensor.h"

namespace attn::run {

/// Fills `argument`, if it is one, with what says where the rows of a cache are
/// (lengths, offsets, tables, slots, maps) or what they are divided by; false
/// if it is none of these.
bool fillCacheInput(runtime::HostTensor &tensor, mlir::BlockArgument argument,
                    const Shapes &shapes, uint64_t stream);

/// Writes NaN to generated keys and values that do not exist, or that a mask
/// hides from all rows since they are left of a window, and to rows of pages
/// that no sequence has, and what is no page to entries of no other keys:
/// whatever reads them shows. `given` are the shapes of files.
void poisonCaches(mlir::func::FuncOp function,
                  llvm::ArrayRef<std::optional<std::vector<int64_t>>> given,
                  std::vector<runtime::HostTensor> &inputs);

/// The entry at `position` of lengths, of a table or of slots.
int64_t getInteger(const runtime::HostTensor &tensor, int64_t position);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTNRUN_CACHEINPUTS_H
