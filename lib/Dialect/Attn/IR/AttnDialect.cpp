//===- AttnDialect.cpp - Registration of the attn dialect -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers the dialect's attributes and ops, and verifies its attributes.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

#include "attn/Dialect/Attn/IR/AttnDialect.cpp.inc"
#include "attn/Dialect/Attn/IR/AttnEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "attn/Dialect/Attn/IR/AttnAttrs.cpp.inc"

void AttnDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "attn/Dialect/Attn/IR/AttnAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "attn/Dialect/Attn/IR/AttnOps.cpp.inc"
      >();
}

LogicalResult
ScheduleAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                     StringRef kind, int64_t tileM, int64_t tileN,
                     int64_t warps, int64_t stages) {
  if (kind != "large_cache" && kind != "small_cache" && kind != "split_kv")
    return emitError() << "expected kind to be one of large_cache, "
                          "small_cache, split_kv, got '"
                       << kind << "'";
  std::pair<StringRef, int64_t> fields[] = {{"tile_m", tileM},
                                            {"tile_n", tileN},
                                            {"warps", warps},
                                            {"stages", stages}};
  for (auto [name, number] : fields)
    if (number < 0)
      return emitError() << "expected " << name
                         << " to be positive, or 0 for not chosen, got "
                         << number;
  return success();
}
