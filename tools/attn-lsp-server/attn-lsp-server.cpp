//===- attn-lsp-server.cpp - Language server for editors ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-lsp-server with this project's dialects.
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/InitAll.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  attn::registerAllAttnDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
