//===- Report.h - What the compiler decided ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_PIPELINES_REPORT_H
#define ATTN_LIB_PIPELINES_REPORT_H

#include "attn/Pipelines/Compiler.h"
#include "attn/Runtime/Manifest.h"

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

/// NAME.report.json: schedule, launches and predicted traffic as the manifest
/// has them, `selections` (a JSON object for each attention: the ranked
/// schedules, and why the others were rejected), `masks` (for each attention,
/// as describeMask gives it), the notes, and the time of
/// each step in milliseconds.
std::string writeReport(const runtime::Manifest &manifest,
                        llvm::ArrayRef<std::string> selections,
                        llvm::ArrayRef<llvm::json::Value> masks,
                        llvm::ArrayRef<Note> notes,
                        llvm::ArrayRef<StepTime> times);

} // namespace attn

#endif // ATTN_LIB_PIPELINES_REPORT_H
