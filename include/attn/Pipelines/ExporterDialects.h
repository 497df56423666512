//===- ExporterDialects.h - Dialects that exporters leave -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PIPELINES_EXPORTERDIALECTS_H
#define ATTN_PIPELINES_EXPORTERDIALECTS_H

#include "mlir/IR/Diagnostics.h"

namespace attn {

/// While it lives, parse errors about a dialect that some framework's exporter
/// uses get a note with what turns it into linalg or TOSA.
class ExporterDialectNotes : public mlir::ScopedDiagnosticHandler {
public:
  explicit ExporterDialectNotes(mlir::MLIRContext *context);
};

} // namespace attn

#endif // ATTN_PIPELINES_EXPORTERDIALECTS_H
