//===- ExporterDialects.cpp - Dialects that exporters leave ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/ExporterDialects.h"

#include "mlir/IR/MLIRContext.h"

using namespace mlir;
using namespace attn;

namespace {
struct Remedy {
  llvm::StringLiteral dialect, what;
};
} // namespace

static constexpr Remedy remedies[] = {
    {"tm_tensor",
     "torch-mlir leaves tm_tensor for scans, sorts and scatters: bufferize and "
     "lower them by torch-mlir-opt --tm-tensor-bufferize "
     "--tm-tensor-to-loops, or export without them (transformers computes a "
     "cumulative sum of positions where no attention mask is given; index_copy "
     "of a row of a cache is a slice_scatter)"},
    {"torch", "lower it by torch-mlir-opt "
              "--torch-backend-to-linalg-on-tensors-backend-pipeline, or "
              "export with output_type=\"linalg-on-tensors\" or \"tosa\""},
    {"torch_c", "lower it by torch-mlir-opt "
                "--torch-backend-to-linalg-on-tensors-backend-pipeline"},
    {"stablehlo", "lower it by stablehlo-opt --stablehlo-legalize-to-linalg"},
    {"vhlo", "lower it by stablehlo-opt --stablehlo-deserialize "
             "--stablehlo-legalize-to-linalg"},
    {"chlo", "lower it by stablehlo-opt --chlo-legalize-to-stablehlo "
             "--stablehlo-legalize-to-linalg"},
    {"mhlo", "lower it by mlir-hlo-opt --hlo-legalize-to-linalg"},
    {"tfl", "lower it by tf-opt --tfl-to-tosa-pipeline"},
    {"tf", "lower it by tf-opt --tf-to-tosa-pipeline"},
    {"onnx", "convert the ONNX model by python -m attn_mlir.onnx, or lower it "
             "by onnx-mlir-opt --convert-onnx-to-linalg"},
};

/// The dialect that a parse error names: "Dialect `stablehlo' not found for
/// custom op ...". Of an op in generic form the error says no name.
static StringRef getUnknownDialect(StringRef message) {
  return message.consume_front("Dialect `") ? message.split('\'').first
                                            : StringRef();
}

static LogicalResult attachRemedy(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
    std::string message = diagnostic.str();
    StringRef dialect = getUnknownDialect(message);
    for (const Remedy &remedy : remedies)
      if (remedy.dialect == dialect)
        diagnostic.attachNote(diagnostic.getLocation())
            << "'" << remedy.dialect
            << "' is not part of MLIR: " << remedy.what;
  }
  return failure(); // It goes on to be printed.
}

ExporterDialectNotes::ExporterDialectNotes(MLIRContext *context)
    : ScopedDiagnosticHandler(context, attachRemedy) {}
