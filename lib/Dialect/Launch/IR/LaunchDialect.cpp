//===- LaunchDialect.cpp - Registration of the attn_launch dialect --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Launch/IR/Launch.h"

#include "LaunchForms.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn::launch;

#include "attn/Dialect/Launch/IR/LaunchDialect.cpp.inc"
#include "attn/Dialect/Launch/IR/LaunchEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "attn/Dialect/Launch/IR/LaunchTypes.cpp.inc"

#define GET_OP_CLASSES
#include "attn/Dialect/Launch/IR/LaunchOps.cpp.inc"

void AttnLaunchDialect::initialize() {
  addInterfaces<LaunchForms>();
  addTypes<
#define GET_TYPEDEF_LIST
#include "attn/Dialect/Launch/IR/LaunchTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "attn/Dialect/Launch/IR/LaunchOps.cpp.inc"
      >();
}
