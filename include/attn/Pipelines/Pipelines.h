//===- Pipelines.h - The compiler's stages ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One stage leads from one normal form (docs/Forms.md) to the next; the
// attention pipeline is all of them in order. Each is registered under its
// name, so that `attn-opt --attn-to-tiled` replays what the compiler does.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PIPELINES_PIPELINES_H
#define ATTN_PIPELINES_PIPELINES_H

#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace attn {

/// What the stages need to know besides the module.
struct AttentionPipelineOptions
    : public mlir::PassPipelineOptions<AttentionPipelineOptions> {
  Option<std::string> target{
      *this, "target", llvm::cl::desc("Target to compile for: sm_80, ..."),
      llvm::cl::init("sm_80")};
  Option<std::string> targetFields{
      *this, "target-fields",
      llvm::cl::desc("Numbers of the target to change: 'smem-bytes=65536 ...'"),
      llvm::cl::init("")};
  Option<std::string> schedule{
      *this, "schedule",
      llvm::cl::desc(
          "Fields of the schedule that are given: 'tile_m=64 stages=3'"),
      llvm::cl::init("")};
  Option<bool> allowTf32{
      *this, "allow-tf32",
      llvm::cl::desc("Let f32 attention use tf32 tensor cores"),
      llvm::cl::init(false)};
  Option<bool> deterministic{
      *this, "deterministic",
      llvm::cl::desc(
          "Choose only backwards that give the same bits in every run"),
      llvm::cl::init(false)};
  Option<bool> deviceAsserts{
      *this, "device-asserts",
      llvm::cl::desc("Check block lists and sequence offsets on the device"),
      llvm::cl::init(false)};
  Option<bool> proveBarriers{
      *this, "prove-barriers",
      llvm::cl::desc("Prove that roles neither wait in vain nor use memory too "
                     "early"),
      llvm::cl::init(false)};
  Option<int64_t> boundedWaits{
      *this, "bounded-waits",
      llvm::cl::desc("Tries after which a wait for an mbarrier fails (0: none "
                     "gives up)"),
      llvm::cl::init(0)};
  Option<bool> programmaticLaunch{
      *this, "programmatic-launch",
      llvm::cl::desc(
          "Start kernels while those before them still run, on sm_90 "
          "and later"),
      llvm::cl::init(true)};
  Option<double> maskThreshold{
      *this, "mask-threshold",
      llvm::cl::desc("Finite mask values at or below this hide keys (0: half "
                     "of the lowest number of the score's type)"),
      llvm::cl::init(0)};
  Option<bool> assumeVisibleRows{
      *this, "assume-visible-rows",
      llvm::cl::desc("Take it that every query sees at least one key"),
      llvm::cl::init(false)};
};

/// The compute capability of the target; 0 of a CPU, and of an unknown one,
/// which is reported where the schedule is chosen.
int64_t getCapability(const AttentionPipelineOptions &options);

/// A framework's graph to the `tensor` form.
void buildTensorPipeline(mlir::OpPassManager &pm,
                         const AttentionPipelineOptions &options);

/// `tensor` to `scheduled`: tile sizes, warps and stages for the target.
void buildSchedulePipeline(mlir::OpPassManager &pm,
                           const AttentionPipelineOptions &options);

/// `scheduled` to `tiled`: loops over tiles that the mask leaves visible.
void buildTiledPipeline(mlir::OpPassManager &pm,
                        const AttentionPipelineOptions &options);

/// `tiled` to `tile`: the program of one CTA.
void buildTilePipeline(mlir::OpPassManager &pm,
                       const AttentionPipelineOptions &options);

/// `tile` to `nvvm`: llvm and nvvm operations only, and the manifest.
void buildLowerToNVVMPipeline(mlir::OpPassManager &pm,
                              const AttentionPipelineOptions &options);

/// A step between two normal forms, as the table of all of them lists it.
struct Stage {
  llvm::StringLiteral name;
  llvm::StringLiteral description;
  /// Holds on the module when the stage is done.
  NormalForm ensures;
  void (*build)(mlir::OpPassManager &pm,
                const AttentionPipelineOptions &options);
};

/// The stages for a GPU, in order.
llvm::ArrayRef<Stage> getStages();

/// All stages: from a framework's graph to the nvvm form.
void buildAttentionPipeline(mlir::OpPassManager &pm,
                            const AttentionPipelineOptions &options);

/// Makes every stage and `--attn-pipeline` available by name.
void registerAttnPipelines();

} // namespace attn

#endif // ATTN_PIPELINES_PIPELINES_H
