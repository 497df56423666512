//===- attn-plugin.cpp - Dialects and passes for stock mlir-opt -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   mlir-opt --load-dialect-plugin=libattn-plugin.so
//            --load-pass-plugin=libattn-plugin.so --attn-raise IN.mlir
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/InitAll.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

static constexpr const char *pluginName = "attn";
static constexpr const char *pluginVersion = "0.1.0";

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, pluginName, pluginVersion,
          [](mlir::DialectRegistry *registry) {
            attn::registerAllAttnDialects(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, pluginName, pluginVersion,
          [] { attn::registerAllAttnPasses(); }};
}
