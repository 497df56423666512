//===- PTXDialect.cpp - Registration of the attn_ptx dialect -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/PTX/IR/PTX.h"

using namespace mlir;
using namespace attn::ptx;

#include "attn/Dialect/PTX/IR/PTXDialect.cpp.inc"

#define GET_OP_CLASSES
#include "attn/Dialect/PTX/IR/PTXOps.cpp.inc"

void AttnPTXDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "attn/Dialect/PTX/IR/PTXOps.cpp.inc"
      >();
}
