//===- ReferencePipeline.h - Graphs to LLVM by upstream passes --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pipeline --attn-reference-pipeline: executes any graph of linalg, TOSA
// and attn ops as it is written, without tiling, fusion or any other
// cleverness. In f64 it is the reference of a whole graph; in the precision of
// the input it is the unfused computation that a fused one is measured against.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PIPELINES_REFERENCEPIPELINE_H
#define ATTN_PIPELINES_REFERENCEPIPELINE_H

#include "mlir/Pass/PassOptions.h"

namespace attn {

struct ReferencePipelineOptions
    : public mlir::PassPipelineOptions<ReferencePipelineOptions> {
  Option<bool> promote{
      *this, "promote",
      llvm::cl::desc("Compute in f64, function signatures included"),
      llvm::cl::init(true)};
  Option<bool> roundFactors{
      *this, "round-factors",
      llvm::cl::desc("Round factors of linear attentions to the types of "
                     "their inputs, as a GPU does"),
      llvm::cl::init(false)};
};

/// TOSA and attn ops to linalg, arith, math and tensor ops; `roundFactors`:
/// as --convert-attn-to-linalg has it.
void buildGraphToLinalgStage(mlir::OpPassManager &pm,
                             bool roundFactors = false);

/// linalg on tensors to the LLVM dialect: bufferization, buffer deallocation,
/// loops. Public functions get a C interface; they do not write to their
/// arguments and the caller owns their results.
void buildLinalgToLLVMStage(mlir::OpPassManager &pm);

/// Float arithmetic that the host may lack: 16-bit floats are computed in f32
/// and rounded after each op, math functions are calls of the C library.
void buildScalarStage(mlir::OpPassManager &pm);

/// memref, func, arith, index, cf and ub to the LLVM dialect.
void buildFinalizeToLLVMStage(mlir::OpPassManager &pm);

/// Both stages, with --attn-promote-to-f64 between them if asked for.
void buildReferencePipeline(mlir::OpPassManager &pm,
                            const ReferencePipelineOptions &options);

void registerReferencePipeline();

} // namespace attn

#endif // ATTN_PIPELINES_REFERENCEPIPELINE_H
