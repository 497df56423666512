//===- OutputOps.h - What follows an attention ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_INTERPRETER_OUTPUTOPS_H
#define ATTN_LIB_INTERPRETER_OUTPUTOPS_H

#include "Values.h"

namespace attn {

/// What evaluates attn.output_mod; null for other ops.
OpEvaluator findOutputEvaluator(mlir::Operation *op);

} // namespace attn

#endif // ATTN_LIB_INTERPRETER_OUTPUTOPS_H
