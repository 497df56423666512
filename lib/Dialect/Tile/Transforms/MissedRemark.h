//===- MissedRemark.h - Why a kernel stays as it is -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_TILE_TRANSFORMS_MISSEDREMARK_H
#define LIB_DIALECT_TILE_TRANSFORMS_MISSEDREMARK_H

#include "attn/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/Remarks.h"

namespace attn::tile {

/// A remark `name` of `pass` at the kernel, if somebody listens: `what` is so,
/// since it is `because`.
inline void remarkMissed(KernelOp kernel, llvm::StringRef pass,
                         llvm::StringRef name, const char *what,
                         llvm::StringRef because) {
  if (kernel->getContext()->getRemarkEngine())
    mlir::remark::missed(kernel.getLoc(),
                         mlir::remark::RemarkOpts::name(name).category(pass))
        << std::string(what) + ": " + because.str();
}

} // namespace attn::tile

#endif // LIB_DIALECT_TILE_TRANSFORMS_MISSEDREMARK_H
