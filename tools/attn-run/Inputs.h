//===- Inputs.h - What the function is called with --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNRUN_INPUTS_H
#define ATTN_TOOLS_ATTNRUN_INPUTS_H

#include "Options.h"

#include "attn/Runtime/HostTensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace attn::run {

/// The element type of each argument; prints an error for types no host tensor
/// has.
std::optional<std::vector<runtime::DType>>
getDTypes(mlir::func::FuncOp function);

/// The arguments of a call: from files where --input names one, else generated
/// from --random, --shape and --fill. Prints what is wrong and returns nothing.
std::optional<std::vector<runtime::HostTensor>>
makeInputs(mlir::func::FuncOp function, const Options &options);

/// `value` in the tensor's type.
void setElement(runtime::HostTensor &tensor, int64_t position, double value);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTNRUN_INPUTS_H
