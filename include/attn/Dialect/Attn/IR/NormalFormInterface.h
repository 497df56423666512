//===- NormalFormInterface.h - A dialect's facts of a form ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_IR_NORMALFORMINTERFACE_H
#define ATTN_DIALECT_ATTN_IR_NORMALFORMINTERFACE_H

#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectInterface.h"

namespace attn {

/// What a form (docs/Forms.md) demands of a dialect's ops. A dialect that takes
/// part in a form has one.
class NormalFormInterface
    : public mlir::DialectInterface::Base<NormalFormInterface> {
public:
  explicit NormalFormInterface(mlir::Dialect *dialect) : Base(dialect) {}

  /// Emits an error at the first op that breaks a fact of `form`.
  virtual mlir::LogicalResult verifyForm(mlir::ModuleOp module,
                                         NormalForm form) const = 0;
};

} // namespace attn

#endif // ATTN_DIALECT_ATTN_IR_NORMALFORMINTERFACE_H
