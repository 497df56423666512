//===- KernelChecks.cpp - What no kernel computes -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel/KernelChecks.h"

#include "Kernel/Ragged.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Views.h"
#include "attn/Schedule/Constraints.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace attn;

/// Fields that the small-cache kernels need.
static LogicalResult checkSmallCache(TiledAttention &attention) {
  ScheduleAttr schedule = attention.schedule;
  if (schedule.getValues().queryPrologue == QueryPrologue::Fused)
    return attention.first.emitOpError()
           << "expected query_prologue = \"kernel\" with kind = "
              "\"small_cache\", got "
           << schedule;
  if (readsByRow(attention.first))
    return attention.first.emitOpError()
           << "expected neither lengths nor pages of the keys with kind = "
              "\"small_cache\" on the GPU";
  auto function = attention.forall->getParentOfType<FunctionOpInterface>();
  if (auto walk =
          function->walk([](AppendOp) { return WalkResult::interrupt(); });
      walk.wasInterrupted())
    return attention.first.emitOpError()
           << "expected no attn.append with kind = \"small_cache\" on the GPU";
  int64_t chunk = schedule.getValues().chunkRows;
  if (chunk < 1 || chunk % schedule.getValues().tileM != 0)
    return attention.first.emitOpError()
           << "expected chunk_rows to be a positive multiple of tile_m, got "
           << schedule;
  const ScheduleOverrides &fields = schedule.getFields();
  if (!fields.has("tile_d") || schedule.getValues().tileD % 16 != 0 ||
      !fields.has("tile_dv") || schedule.getValues().tileDv % 16 != 0)
    return attention.first.emitOpError()
           << "expected tile_d and tile_dv to be positive multiples of 16, got "
           << schedule;
  Type element = getElementTypeOrSelf(attention.first.getQuery().getType());
  if (isByte(attention.first.getKey().getType()))
    element = getElementTypeOrSelf(attention.first.getKey().getType());
  if (!element.isF16() && !element.isBF16())
    return attention.first.emitOpError()
           << "expected f16 or bf16 inputs with kind = \"small_cache\" on the "
              "GPU, got "
           << element;
  if (schedule.getValues().spill != SpillFormat::Probabilities)
    return attention.first.emitOpError()
           << "expected spill = \"probabilities\" on the GPU, got " << schedule;
  return success();
}

ElementType attn::getFloat8(Type type) {
  return isa<Float8E4M3FNType>(type) ? ElementType::F8E4M3FN
                                     : ElementType::F8E5M2;
}

LogicalResult attn::checkSupported(TiledAttention &attention, bool allowTf32) {
  OnlineAttentionOp op = attention.first;
  Type element = getElementTypeOrSelf(op.getQuery().getType());
  Type weights = getWeightType(op);
  if (!isByte(element) && !element.isF16() && !element.isBF16() &&
      !element.isF32())
    return op.emitOpError() << "expected f8E4M3FN, f8E5M2, f16, bf16 or f32 "
                               "(computed as tf32) inputs on the GPU, got "
                            << element;
  if (element.isInteger() && weights.isF32())
    return op.emitOpError() << "expected values of f8E4M3FN, f8E5M2, f16 or "
                               "bf16 beside a query of i8 on a GPU, got f32";
  if (element.isF32() && !allowTf32)
    return op.emitOpError()
           << "expected f16 or bf16 inputs on a GPU, got f32; products rounded "
              "to tf32 need the option allow-tf32";
  for (auto [name, operand] :
       {std::pair<StringRef, Value>{"query", op.getQuery()},
        {"bias", op.getBias()}})
    if (PagedOp pages = operand ? getPages(operand) : PagedOp())
      return pages.emitOpError()
             << "expected pages of keys and values, got those of a " << name;
  if (failed(checkRagged(attention)))
    return failure();
  AttentionDims dims = AttentionDims::get(op);
  std::pair<StringRef, int64_t> headDims[] = {{"D", dims.headDim},
                                              {"Dv", dims.valueDim}};
  if (element.isF32() && isByte(op.getKey().getType()))
    return op.emitOpError() << "expected a query of f16 or bf16 beside 8-bit "
                               "keys and values on a GPU, got f32";
  int64_t chunk = isByte(op.getKey().getType()) ? 16 : 8;
  for (auto [name, size] : headDims)
    if (size % chunk != 0)
      return op.emitOpError() << "expected " << name << " to be a multiple of "
                              << chunk << ", got " << size;
  int64_t rowsPerWarp = attention.schedule.getValues().tileM *
                        attention.getSharing() /
                        attention.schedule.getValues().warps;
  if (isFloat8(weights) && attention.schedule.getValues().tileN % 32 != 0)
    return op.emitOpError()
           << "expected tile_n to be a multiple of 32 with inputs of "
           << weights << ", got " << attention.schedule;
  if (isFloat8(weights) && attention.schedule.getValues().rescaleThreshold >
                               getMostRescaleThreshold(getFloat8(weights)))
    return op.emitOpError()
           << "expected rescale_threshold of at most "
           << getMostRescaleThreshold(getFloat8(weights)) << " with inputs of "
           << weights << ", got " << attention.schedule;
  if (rowsPerWarp % 16 != 0 || attention.schedule.getValues().tileN % 16 != 0)
    return op.emitOpError() << "expected tile_m to be a multiple of 16 * warps "
                               "and tile_n of 16, "
                               "got "
                            << attention.schedule;
  return attention.isSmallCache() ? checkSmallCache(attention) : success();
}

LogicalResult attn::checkNest(Operation *op, scf::ForallOp nest,
                              int64_t loops) {
  if (nest && nest.getRank() == loops)
    return success();
  InFlightDiagnostic diag = op->emitOpError()
                            << "expected to be in an scf.forall of " << loops
                            << (loops == 1 ? " loop" : " loops") << ", got ";
  if (nest)
    diag << "one of " << nest.getRank();
  else
    diag << "none";
  return diag << ": what drops loops that run once, as --canonicalize does, "
                 "has to run before the attention is tiled";
}
