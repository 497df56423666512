//===- KeyLoops.h - Loops over key tiles of the tiled form -------*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How the tiled form (docs/Forms.md) is read by what changes it and by what
// lowers it.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_UTILS_KEYLOOPS_H
#define ATTN_DIALECT_ATTN_UTILS_KEYLOOPS_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attn {

/// The key loops whose last one gives `state`, or the state that `normalize`
/// takes, first to last, and what the first one starts from; none if that comes
/// from no loop.
struct KeyLoops {
  llvm::SmallVector<mlir::scf::ForOp> loops;
  llvm::SmallVector<mlir::Value> init;
};
KeyLoops getKeyLoops(mlir::ValueRange state);
KeyLoops getKeyLoops(NormalizeOp normalize);

/// The one attn.online_attention in the body of a key loop; null if there is
/// none or more than one.
OnlineAttentionOp getStep(mlir::scf::ForOp keyLoop);

/// True if the loop's key tiles have a static size: it is not the ragged end.
bool hasStaticKeyTile(mlir::scf::ForOp keyLoop);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_UTILS_KEYLOOPS_H
