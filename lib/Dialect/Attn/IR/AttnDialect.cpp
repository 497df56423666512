//===- AttnDialect.cpp - Registration of the attn dialect -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers the dialect's attributes and ops.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/HeadOps.h"
#include "attn/Dialect/Attn/IR/LinearAttentionOps.h"
#include "attn/Dialect/Attn/IR/OutputOps.h"
#include "attn/Dialect/Attn/IR/RowOps.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

/// Attributes of the same text are one.
namespace attn {
static llvm::hash_code hash_value(const ScheduleOverrides &fields) {
  return llvm::hash_value(fields.print());
}
} // namespace attn

#include "attn/Dialect/Attn/IR/AttnDialect.cpp.inc"
#include "attn/Dialect/Attn/IR/AttnEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "attn/Dialect/Attn/IR/AttnAttrs.cpp.inc"

void AttnDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "attn/Dialect/Attn/IR/AttnAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "attn/Dialect/Attn/IR/AttnOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "attn/Dialect/Attn/IR/LinearAttentionOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "attn/Dialect/Attn/IR/HeadOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "attn/Dialect/Attn/IR/OutputOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "attn/Dialect/Attn/IR/RowOps.cpp.inc"
      >();
}
