//===- ScheduleSelection.h - What the cost model is asked -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bridge between IR and the cost model (attn/Schedule), which knows no IR:
// the target a module is compiled for and the problem an op states.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DIALECT_ATTN_TRANSFORMS_SCHEDULESELECTION_H
#define ATTN_DIALECT_ATTN_TRANSFORMS_SCHEDULESELECTION_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Schedule/ScheduleSelector.h"

#include "mlir/IR/BuiltinOps.h"

namespace attn {

/// The target called `name`, with what the module says of it by DLTI
/// attributes and then with the `fields` ("smem-bytes=65536 l2-bytes=4194304",
/// see setTargetField). DLTI entries are those of the device "GPU" or "CPU":
/// "attn.FIELD" for any field, and "L2_cache_size_in_bytes" for l2-bytes. Fails
/// with a diagnostic at the module.
mlir::FailureOr<TargetInfo> getModuleTarget(mlir::ModuleOp module,
                                            llvm::StringRef name,
                                            llvm::StringRef fields);

/// The problem that `op` states. Sizes that are not known are taken to be
/// typical (2 for B, 32 heads, 4096 for M and N), and a mask to be the band
/// around it, as far as it is one: what is chosen by it may be slow for other
/// sizes, never wrong.
AttentionProblem getProblem(AttentionOp op);

/// True unless keys are hidden from a row that lie between keys that it sees,
/// or by data: the mask of `getProblem` is that of `op` then, if its sizes are
/// known.
bool isBand(AttentionOp op);

/// The fields of `own`, if there is one, and those of `others` that are not
/// among them.
ScheduleOverrides mergeFields(std::optional<ScheduleAttr> own,
                              const ScheduleOverrides &others);

/// True if an attn.repair takes rows of `op`.
bool repairsRows(AttentionOp op);

/// The ranked schedules of `op`: those that have the fields set on the op, and
/// otherwise those of `overrides`; of an attention that is repaired, or
/// repairs, those that can be. With an invariance among the fields, they are
/// ranked for typical batches and lengths, and the SMs that `target` has by its
/// name; with invariance=prefix what the bits of a row depend on is not ranked,
/// but follows from the head dims. Fails with a diagnostic at the op if none is
/// legal.
mlir::FailureOr<Selection> selectSchedule(AttentionOp op,
                                          const TargetInfo &target,
                                          const ScheduleOverrides &overrides,
                                          bool allowTf32);

/// The problem that `op` states, as that of an attention.
AttentionProblem getProblem(AttentionBackwardOp op);

} // namespace attn

#endif // ATTN_DIALECT_ATTN_TRANSFORMS_SCHEDULESELECTION_H
