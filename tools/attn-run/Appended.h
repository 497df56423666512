//===- Appended.h - What caches hold after an append ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNRUN_APPENDED_H
#define ATTN_TOOLS_ATTNRUN_APPENDED_H

#include "attn/Runtime/HostTensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace attn::run {

/// For each result that is an attn.append of arguments to arguments, its bytes:
/// nothing of a pool may change but the rows of its slots.
std::vector<std::optional<runtime::HostTensor>>
expectAppended(mlir::func::FuncOp function,
               const std::vector<runtime::HostTensor> &inputs);

} // namespace attn::run

#endif // ATTN_TOOLS_ATTNRUN_APPENDED_H
