//===- NormalForm.cpp - What holds in each normal form ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks the facts of each form, one function per form; dialects above this one
// have their own.
//
//===----------------------------------------------------------------------===//

#include "TiledForm.h"
#include "attn/Dialect/Attn/IR/NormalFormInterface.h"
#include "attn/Dialect/Attn/Transforms/VerifyNormalForm.h"
#include "attn/Dialect/Attn/Utils/ProbMod.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn;

/// Fails at the first op of the kinds `OpTys`, which `form` excludes.
template <typename... OpTys>
static LogicalResult verifyNone(ModuleOp module, NormalForm form) {
  WalkResult result = module.walk([&](Operation *op) {
    if (!isa<OpTys...>(op))
      return WalkResult::advance();
    op->emitOpError() << "expected no such op in the form '"
                      << stringifyNormalForm(form) << "'";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Fails at the first op of a dialect that `form` excludes.
static LogicalResult verifyDialects(ModuleOp module, NormalForm form,
                                    function_ref<bool(StringRef)> isAllowed) {
  WalkResult result =
      module.getBody()->walk<WalkOrder::PreOrder>([&](Operation *op) {
        StringRef dialect = op->getName().getDialectNamespace();
        // What a host does is between the kernels in both forms.
        if (dialect == "attn_launch")
          return WalkResult::skip();
        if (isAllowed(dialect))
          return WalkResult::advance();
        op->emitOpError() << "expected no such op in the form '"
                          << stringifyNormalForm(form) << "'";
        return WalkResult::interrupt();
      });
  return failure(result.wasInterrupted());
}

/// Before an attention has a schedule, it has no prob_mod.
static LogicalResult verifyNoProbMods(ModuleOp module) {
  WalkResult result = module.walk([](AttentionOp op) {
    return failed(verifyNoProbMod(op)) ? WalkResult::interrupt()
                                       : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// `scheduled`: every attention has a complete schedule.
static LogicalResult verifyScheduled(ModuleOp module) {
  WalkResult result =
      module.walk([&](AttentionOp op) {
        std::optional<ScheduleAttr> schedule = op.getSchedule();
        if (schedule && schedule->isComplete())
          return WalkResult::advance();
        InFlightDiagnostic diag =
            op.emitOpError()
            << "expected a complete schedule in the form 'scheduled', got ";
        if (schedule)
          diag << *schedule;
        else
          diag << "none";
        return WalkResult::interrupt();
      });
  return failure(result.wasInterrupted());
}

/// `tiled`: every online_attention is the one of a key loop, and every
/// normalize ends a sequence of key loops within a loop over row tiles.
static LogicalResult verifyTiled(ModuleOp module) {
  WalkResult result = module.walk([&](Operation *op) {
    LogicalResult valid = success();
    if (auto online = dyn_cast<OnlineAttentionOp>(op))
      valid = verifyTiledStep(online);
    else if (auto normalize = dyn_cast<NormalizeOp>(op))
      valid = verifyTiledEnd(normalize);
    return failed(valid) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// What a form demands of the ops of the attn dialect, and of which dialects
/// the others may be.
static LogicalResult verifyAttnForm(ModuleOp module, NormalForm form) {
  switch (form) {
  case NormalForm::Tensor:
    if (failed(verifyNone<OnlineAttentionOp, NormalizeOp>(module, form)))
      return failure();
    return verifyNoProbMods(module);
  case NormalForm::Scheduled:
    if (failed(verifyNone<OnlineAttentionOp, NormalizeOp>(module, form)) ||
        failed(verifyNoProbMods(module)))
      return failure();
    return verifyScheduled(module);
  case NormalForm::Tiled:
    if (failed(verifyNone<AttentionOp, AttentionBackwardOp, LengthOp>(module,
                                                                      form)))
      return failure();
    return verifyTiled(module);
  case NormalForm::Tile:
    return verifyDialects(module, form, [](StringRef dialect) {
      return dialect != AttnDialect::getDialectNamespace();
    });
  case NormalForm::Nvvm:
    return verifyDialects(module, form, [](StringRef dialect) {
      return dialect == "llvm" || dialect == "nvvm";
    });
  }
  llvm_unreachable("unknown normal form");
}

LogicalResult attn::verifyNormalForm(ModuleOp module, NormalForm form) {
  if (failed(verifyAttnForm(module, form)))
    return failure();
  DialectInterfaceCollection<NormalFormInterface> others(module.getContext());
  return failure(llvm::any_of(others, [&](const NormalFormInterface &dialect) {
    return failed(dialect.verifyForm(module, form));
  }));
}
