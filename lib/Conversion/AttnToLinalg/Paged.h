//===- Paged.h - What a view of pages shows, in linalg ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_ATTNTOLINALG_PAGED_H
#define ATTN_LIB_CONVERSION_ATTNTOLINALG_PAGED_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// A copy of what the view shows. An entry that is no page counts as the
/// nearest one.
mlir::Value emitPaged(mlir::OpBuilder &builder, PagedOp op);

} // namespace attn

#endif // ATTN_LIB_CONVERSION_ATTNTOLINALG_PAGED_H
