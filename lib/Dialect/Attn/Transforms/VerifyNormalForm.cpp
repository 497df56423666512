//===- VerifyNormalForm.cpp - Check the facts of a form ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-verify-normal-form.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/VerifyNormalForm.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"

namespace attn {
#define GEN_PASS_DEF_VERIFYNORMALFORMPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
struct VerifyNormalForm
    : public attn::impl::VerifyNormalFormPassBase<VerifyNormalForm> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<NormalForm> wanted = getWantedForm();
    if (failed(wanted) || failed(verifyNormalForm(getOperation(), *wanted)))
      return signalPassFailure();
    setNormalForm(getOperation(), *wanted);
    markAllAnalysesPreserved();
  }

private:
  /// The option's form, or else the module's.
  FailureOr<NormalForm> getWantedForm() {
    ModuleOp module = getOperation();
    if (form.empty()) {
      if (std::optional<NormalForm> carried = getNormalForm(module))
        return *carried;
      return module.emitError() << "expected the module to carry "
                                   "attn.normal_form, or the option 'form'";
    }
    if (std::optional<NormalForm> named = symbolizeNormalForm(form))
      return *named;
    return module.emitError()
           << "expected form to be one of tensor, scheduled, tiled, tile, "
              "nvvm, got '"
           << form << "'";
  }
};
} // namespace
