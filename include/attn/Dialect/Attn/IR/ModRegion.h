//===- ModRegion.h - What mask_mod and score_mod ask of positions -*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_MODREGION_H
#define ATTN_DIALECT_ATTN_IR_MODREGION_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// True if a mask_mod or score_mod, or its absence, can be computed for
/// positions that are none, as padding has them: it reads no tensor and divides
/// by nothing that may be 0.
bool isDefinedEverywhere(mlir::Region &region);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_IR_MODREGION_H
