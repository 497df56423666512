//===- NormalForm.cpp - The form a module is in -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Utils/NormalForm.h"

using namespace mlir;
using namespace attn;

static constexpr StringLiteral kAttributeName = "attn.normal_form";

std::optional<NormalForm> attn::getNormalForm(ModuleOp module) {
  auto attr = module->getAttrOfType<NormalFormAttr>(kAttributeName);
  return attr ? std::optional(attr.getValue()) : std::nullopt;
}

void attn::setNormalForm(ModuleOp module, NormalForm form) {
  module->setAttr(kAttributeName,
                  NormalFormAttr::get(module.getContext(), form));
}

void attn::clearNormalForm(ModuleOp module) {
  module->removeAttr(kAttributeName);
}
