//===- LaunchOperands.h - What a program's operands are called --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to lib/Conversion/AttnToTile.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_LAUNCH_LAUNCHOPERANDS_H
#define LIB_CONVERSION_ATTNTOTILE_LAUNCH_LAUNCHOPERANDS_H

#include "Kernel/KernelOperands.h"
#include "attn/Dialect/Launch/IR/Launch.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attn {

/// The attn_launch.operand of `operand`: its role, its argument or result of
/// the function, and names for its dimensions, of which equal ones have equal
/// sizes.
mlir::Value createOperand(mlir::ImplicitLocOpBuilder &builder,
                          const KernelOperand &operand);

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_LAUNCH_LAUNCHOPERANDS_H
