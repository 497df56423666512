//===- AttnDialect.cpp - Registration of the attn dialect -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers the dialect's attributes and ops, and verifies its attributes.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/HeadOps.h"
#include "attn/Dialect/Attn/IR/LinearAttentionOps.h"
#include "attn/Dialect/Attn/IR/OutputOps.h"
#include "attn/Dialect/Attn/IR/RowOps.h"
#include "attn/Schedule/Schedule.h"

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
  addOperations<
#define GET_OP_LIST
#include "attn/Dialect/Attn/IR/LinearAttentionOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "attn/Dialect/Attn/IR/HeadOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "attn/Dialect/Attn/IR/OutputOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "attn/Dialect/Attn/IR/RowOps.cpp.inc"
      >();
}

static Status checkField(StringRef field, StringRef value) {
  Schedule schedule;
  return setScheduleField(schedule, field.str(), value.str());
}

LogicalResult ScheduleAttr::verify(
    llvm::function_ref<InFlightDiagnostic()> emitError, StringRef kind,
    StringRef mma, int64_t tileM, int64_t tileN, int64_t tileD, int64_t tileDv,
    int64_t stages, int64_t warps, int64_t producerWarps,
    BoolAttr queryInRegisters, StringRef queryPrologue,
    int64_t rescaleThreshold, int64_t persistentCtas, BoolAttr outputTile,
    StringRef turns, int64_t exp2OnFma, BoolAttr promote, BoolAttr packGqa,
    int64_t splits, int64_t splitKeys, StringRef balance, int64_t clusterM,
    int64_t clusterD, BoolAttr fused, int64_t chunkRows, StringRef spill,
    StringRef invariance) {
  std::pair<StringRef, StringRef> names[] = {{"kind", kind},
                                             {"mma", mma},
                                             {"query_prologue", queryPrologue},
                                             {"turns", turns},
                                             {"balance", balance},
                                             {"spill", spill},
                                             {"invariance", invariance}};
  for (auto [name, value] : names)
    if (Status status = checkField(name, value); !value.empty() && !status)
      return emitError() << status.error();
  std::pair<StringRef, int64_t> numbers[] = {
      {"tile_m", tileM},
      {"tile_n", tileN},
      {"tile_d", tileD},
      {"tile_dv", tileDv},
      {"stages", stages},
      {"warps", warps},
      {"producer_warps", producerWarps},
      {"rescale_threshold", rescaleThreshold},
      {"persistent_ctas", persistentCtas},
      {"exp2_on_fma", exp2OnFma},
      {"splits", splits},
      {"split_keys", splitKeys},
      {"cluster_m", clusterM},
      {"cluster_d", clusterD},
      {"chunk_rows", chunkRows}};
  for (auto [name, number] : numbers)
    if (Status status = checkField(name, std::to_string(number));
        number != kNotChosen && !status)
      return emitError() << status.error();
  return success();
}
