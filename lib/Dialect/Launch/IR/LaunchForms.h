//===- LaunchForms.h - What forms demand of launches ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_LAUNCH_IR_LAUNCHFORMS_H
#define LIB_DIALECT_LAUNCH_IR_LAUNCHFORMS_H

#include "attn/Dialect/Attn/IR/NormalFormInterface.h"

namespace attn::launch {

/// In the forms `tile` and `nvvm` some program launches each kernel.
class LaunchForms : public NormalFormInterface {
public:
  using NormalFormInterface::NormalFormInterface;
  mlir::LogicalResult verifyForm(mlir::ModuleOp module,
                                 NormalForm form) const override;
};

} // namespace attn::launch

#endif // LIB_DIALECT_LAUNCH_IR_LAUNCHFORMS_H
