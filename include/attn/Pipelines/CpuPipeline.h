//===- CpuPipeline.h - Attention as host code -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The fast path on a CPU: tiles, register blocks, vectors, threads. Memory
// beyond operands and results is O(tile) for each thread; no score matrix is
// ever stored.
//
// Calling convention: that of buildLinalgToLLVMStage (ReferencePipeline.h). The
// code calls attnParallelFor (attn/Support/Parallel.h) to run row tiles on
// several cores, and memrefCopy (libmlir_c_runner_utils) to cut off
// padded rows.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PIPELINES_CPUPIPELINE_H
#define ATTN_PIPELINES_CPUPIPELINE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace attn {

struct CpuPipelineOptions
    : public mlir::PassPipelineOptions<CpuPipelineOptions> {
  Option<std::string> targetFields{
      *this, "target-fields",
      llvm::cl::desc("Numbers of the CPU to change: 'smem-bytes=65536 ...'"),
      llvm::cl::init("")};
  Option<std::string> schedule{
      *this, "schedule",
      llvm::cl::desc("Fields of the schedule that are given: 'tile_m=64'"),
      llvm::cl::init("")};
  Option<bool> bf16Dot{
      *this, "bf16-dot",
      llvm::cl::desc("Products of bf16 by AVX-512 BF16, which attn-run takes "
                     "where the processor has it"),
      llvm::cl::init(false)};
};

/// Erases modules within `module`, of which its functions can call nothing and
/// host code has nothing.
void eraseInnerModules(mlir::ModuleOp module);

/// `tensor` form to tile-sized vector code, still on tensors.
void buildCpuTileStage(mlir::OpPassManager &pm,
                       const CpuPipelineOptions &options);

/// The whole way: `tensor` form, among whatever linalg and TOSA ops surround
/// it, to the LLVM dialect.
void buildCpuPipeline(mlir::OpPassManager &pm,
                      const CpuPipelineOptions &options);

/// Makes `--attn-cpu-pipeline` available.
void registerCpuPipeline();

} // namespace attn

#endif // ATTN_PIPELINES_CPUPIPELINE_H
