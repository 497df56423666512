//===- Report.h - What the compiler decided ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_PIPELINES_REPORT_H
#define ATTN_LIB_PIPELINES_REPORT_H

#include "attn/Pipelines/Compiler.h"
#include "attn/Runtime/Bundle.h"

#include "llvm/Support/JSON.h"

#include <string>
#include <vector>

namespace attn {

/// A warning or a remark of the compilation.
struct Note {
  std::string severity; ///< "warning" or "remark"
  std::string location; ///< as MLIR prints it: loc("in.mlir":3:5)
  std::string message;
};

/// What was chosen for one attention.
struct ProgramChoice {
  std::string program;
  /// The ranked schedules, and why the others were rejected: a JSON object.
  std::string selection;
  llvm::json::Value mask; ///< as describeMask gives it
};

/// NAME.report.json: schedule, launches and predicted traffic as the manifest
/// has them, the selections and masks of each attention, the notes, and the
/// time of each step in milliseconds. Of a bundle the programs and their
/// `choices` are in a list.
std::string writeReport(const runtime::Bundle &bundle,
                        llvm::ArrayRef<ProgramChoice> choices,
                        llvm::ArrayRef<Note> notes,
                        llvm::ArrayRef<StepTime> times);

} // namespace attn

#endif // ATTN_LIB_PIPELINES_REPORT_H
