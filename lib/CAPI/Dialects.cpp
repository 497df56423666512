//===- Dialects.cpp - C API: dialects and passes in a host's MLIR ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn-c/Dialects.h"

#include "Compilation.h"

#include "attn/Pipelines/InitAll.h"

#include "mlir/CAPI/IR.h"

#include <mutex>

void attnRegisterDialects(MlirDialectRegistry registry) {
  attn::registerAllAttnDialects(*unwrap(registry));
}

void attnRegisterAllDialects(MlirDialectRegistry registry) {
  attn::capi::registerAllDialects(*unwrap(registry));
}

void attnRegisterPasses(void) {
  static std::once_flag once;
  std::call_once(once, attn::registerAllAttnPasses);
}

AttnCompilation *attnCompileModule(MlirModule module,
                                   const AttnCompileOptions *options) {
  std::optional<AttnCompileOptions> known = attn::capi::readOptions(options);
  if (!known)
    return nullptr;
  if (mlirModuleIsNull(module)) {
    attn::capi::reportError(*known, "module: expected one, got null");
    return nullptr;
  }
  mlir::ModuleOp op = unwrap(module);
  return attn::capi::compileGuarded(*op.getContext(), *known,
                                    [&] { return op; });
}
