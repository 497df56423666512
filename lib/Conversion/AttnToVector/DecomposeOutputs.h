//===- DecomposeOutputs.h - What follows an attention, as vector code -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to lib/Conversion/AttnToVector.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOVECTOR_DECOMPOSEOUTPUTS_H
#define LIB_CONVERSION_ATTNTOVECTOR_DECOMPOSEOUTPUTS_H

#include "TileBuffers.h"

#include "attn/Dialect/Attn/IR/OutputOps.h"

namespace attn {

/// The results of an attn.output_mod of a tile of one batch and one head, row
/// by row at the place of the op.
llvm::SmallVector<mlir::Value> emitOutputMod(OutputModOp op,
                                             TileBuffers &buffers);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOVECTOR_DECOMPOSEOUTPUTS_H
