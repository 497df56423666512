//===- Compiler.h - From a module to files, in one call ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `attn-opt --target` does, without files and command lines.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_PIPELINES_COMPILER_H
#define ATTN_PIPELINES_COMPILER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/LLVM.h"

#include <functional>
#include <string>
#include <vector>

namespace attn {

/// What the compiler can write.
enum class ArtifactKind { Mlir, Llvm, Ptx, Manifest, Header, Report };

/// The name in --emit: "ptx".
llvm::StringRef getName(ArtifactKind kind);
/// What follows NAME in the name of the file: ".ptx", ".json".
llvm::StringRef getExtension(ArtifactKind kind);
/// The kind of that name, or failure.
mlir::FailureOr<ArtifactKind> parseArtifactKind(llvm::StringRef name);
/// Every kind, in the order of the enum.
llvm::ArrayRef<ArtifactKind> getArtifactKinds();

struct CompileOptions {
  /// A name that lookupTarget (TargetInfo.h) takes.
  std::string target = "sm_80";
  /// Numbers of the target to change: "smem-bytes=65536 ..." (setTargetField).
  std::string targetFields;
  /// Fields of the schedule that are given, on ops that do not say otherwise:
  /// "tile_m=64 stages=3" (ScheduleOverrides).
  std::string schedule;
  /// What to produce, in this order.
  std::vector<ArtifactKind> artifacts;
  /// Names the files: the manifest refers to NAME.ptx.
  std::string name = "attention";
  /// Let f32 attention use tf32 tensor cores on a GPU.
  bool allowTf32 = false;
  /// Gradients are the same bits in every run, on a GPU too.
  bool deterministic = false;
  /// Check on a GPU, before each launch, the block lists and sequence offsets
  /// that masks read (attn.device_assert).
  bool deviceAsserts = false;
  /// Prove that the roles of kernels neither wait in vain nor use memory too
  /// early (--attn-tile-prove-barriers).
  bool proveBarriers = false;
  /// Tries after which a wait for an mbarrier fails, which ends the kernel and
  /// says where it was (--attn-tile-bound-waits); 0: none gives up.
  uint32_t boundedWaits = 0;
  /// Kernels start while those before them in the program still run, on sm_90
  /// and later (--attn-chain-launches).
  bool programmaticLaunch = true;
  /// Finite mask values at or below this hide keys; 0: half of the lowest
  /// number of the score's type.
  double maskThreshold = 0;
  /// Take it that every query sees at least one key, so that finite mask values
  /// mean -inf.
  bool assumeVisibleRows = false;
  /// A warning, such as that of a fallback to slower code, is an error.
  bool strict = false;
  /// Called on every pass manager before it runs (command-line settings).
  std::function<mlir::LogicalResult(mlir::PassManager &)> configure;
};

struct Artifact {
  ArtifactKind kind;
  std::string content;
};

/// Wall time of one step of the compilation.
struct StepTime {
  std::string step;
  double milliseconds;
};

struct CompileResult {
  std::vector<Artifact> artifacts;
  std::vector<StepTime> times;
};

/// Compiles `module` in place. A module that carries `attn.normal_form` goes on
/// from that form; any other is taken as a framework's graph. On failure, a
/// diagnostic has said why.
mlir::FailureOr<CompileResult> compile(mlir::ModuleOp module,
                                       const CompileOptions &options);

} // namespace attn

#endif // ATTN_PIPELINES_COMPILER_H
