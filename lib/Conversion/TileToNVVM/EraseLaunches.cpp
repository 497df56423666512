//===- EraseLaunches.cpp - Kernels for LLVM's own tools ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-erase-launches.
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Launch/IR/Launch.h"

namespace attn {
#define GEN_PASS_DEF_ERASELAUNCHES
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

/// True for the attributes of this project's dialects: attn, attn_ptx, ...
static bool isOwn(NamedAttribute attribute) {
  StringRef dialect = attribute.getName().strref().split('.').first;
  return dialect == "attn" || dialect.starts_with("attn_");
}

namespace {
struct EraseLaunches : public attn::impl::EraseLaunchesBase<EraseLaunches> {
  using EraseLaunchesBase::EraseLaunchesBase;

  void runOnOperation() override {
    for (auto program : llvm::make_early_inc_range(
             getOperation().getOps<launch::ProgramOp>())) {
      program.erase();
      ++numErased;
    }
    getOperation().walk([](Operation *op) {
      for (NamedAttribute attribute :
           SmallVector<NamedAttribute>(op->getDiscardableAttrs()))
        if (isOwn(attribute))
          op->removeDiscardableAttr(attribute.getName());
    });
  }
};
} // namespace
