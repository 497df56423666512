//===- CompileMode.h - attn-opt as a compiler -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   attn-opt IN.mlir --target=sm_80 --emit=ptx,manifest -o DIR/NAME
//
// reads a module, compiles it and writes every artefact asked for, or none.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTN_OPT_COMPILEMODE_H
#define ATTN_TOOLS_ATTN_OPT_COMPILEMODE_H

#include "attn/Pipelines/Compiler.h"
#include "attn/TargetInfo/TargetInfo.h"

#include "mlir/IR/DialectRegistry.h"
#include "llvm/Support/CommandLine.h"

#include <string>

namespace attn {

/// The compiler's options; they exist, and are in --help, from construction on.
class CompileMode {
public:
  /// True if the command line asks for a compilation: --target or --emit.
  static bool isRequested(int argc, char **argv);

  /// An error if the command line of mlir-opt has an option of the compiler,
  /// which would do nothing.
  mlir::LogicalResult rejectOwnOptions(int argc, char **argv);

  /// Compiles as the command line says. On failure, a message is printed.
  mlir::LogicalResult run(int argc, char **argv,
                          mlir::DialectRegistry &registry);

private:
  mlir::FailureOr<CompileOptions> getCompileOptions() const;
  mlir::FailureOr<std::string> getScheduleFields() const;
  /// The target, of --target or --target-file, with the numbers that options
  /// change.
  mlir::FailureOr<TargetInfo> getTarget() const;

  llvm::cl::OptionCategory category{
      "Compiler options",
      "attn-opt IN.mlir --target=TARGET --emit=KIND,... -o DIR/NAME"};
  llvm::cl::opt<std::string> target{
      "target", llvm::cl::cat(category), llvm::cl::value_desc("name"),
      llvm::cl::desc("Compile for this chip: sm_80, sm_86, sm_89, sm_90a, "
                     "sm_100a, sm_103a, sm_120, a product of them, or cpu")};
  llvm::cl::list<std::string> emit{
      "emit", llvm::cl::cat(category), llvm::cl::CommaSeparated,
      llvm::cl::value_desc("kind,..."),
      llvm::cl::desc("What to write: ptx, manifest, header, report, llvm, mlir "
                     "(default: ptx; for cpu: llvm)")};
  llvm::cl::opt<std::string> targetFile{
      "target-file", llvm::cl::cat(category), llvm::cl::value_desc("file"),
      llvm::cl::desc(
          "Compile for the target in a file of 'name = value' lines, "
          "the first 'base = KNOWN TARGET'")};
  llvm::cl::opt<std::string> sharedMemoryBytes{
      "smem-bytes", llvm::cl::cat(category), llvm::cl::value_desc("N"),
      llvm::cl::desc("Shared memory that a CTA can get")};
  llvm::cl::list<std::string> targetFields{
      "set-target", llvm::cl::cat(category),
      llvm::cl::value_desc("field=value"),
      llvm::cl::desc("Set a number of the target, e.g. l2-bytes=4194304 (see "
                     "attn-schedule --list-targets); repeatable")};
  llvm::cl::opt<std::string> schedule{
      "schedule", llvm::cl::cat(category), llvm::cl::value_desc("fields"),
      llvm::cl::desc("Fields of the schedule that are given, e.g. "
                     "'tile_m=64 stages=3'")};
  llvm::cl::opt<std::string> invariance{
      "invariance", llvm::cl::cat(category), llvm::cl::value_desc("level"),
      llvm::cl::desc("What the bits of a sequence depend on besides its own "
                     "tensors and lengths: none of what is in its batch "
                     "(batch), of a row not even the rows beside it and keys "
                     "that it does not see (prefix), or anything (none)")};
  llvm::cl::opt<bool> allowTf32{
      "allow-tf32", llvm::cl::cat(category),
      llvm::cl::desc("Let f32 attention use tf32 tensor cores on a GPU")};
  llvm::cl::opt<bool> deterministic{
      "deterministic", llvm::cl::cat(category),
      llvm::cl::desc("Choose only kernels whose gradients are the same bits in "
                     "every run")};
  llvm::cl::opt<bool> deviceAsserts{
      "device-asserts", llvm::cl::cat(category),
      llvm::cl::desc(
          "Check on the GPU, before each launch, the block lists and "
          "sequence offsets that masks read")};
  llvm::cl::opt<bool> proveBarriers{
      "prove-barriers", llvm::cl::cat(category),
      llvm::cl::desc("Prove that the warps of each kernel neither wait in vain "
                     "nor use memory too early, in any order")};
  llvm::cl::opt<unsigned> boundedWaits{
      "bounded-waits", llvm::cl::cat(category), llvm::cl::value_desc("tries"),
      llvm::cl::init(0),
      llvm::cl::desc(
          "Let a wait for an mbarrier fail after so many tries, 0.1 us apart, "
          "and report where it was: a kernel that would hang ends")};
  llvm::cl::opt<bool> noProgrammaticLaunch{
      "no-programmatic-launch", llvm::cl::cat(category),
      llvm::cl::desc("Start each kernel of a program after the end of the one "
                     "before, on sm_90 and later too")};
  llvm::cl::opt<double> maskThreshold{
      "mask-threshold", llvm::cl::cat(category), llvm::cl::value_desc("value"),
      llvm::cl::init(0),
      llvm::cl::desc(
          "Finite mask values at or below this hide keys, as no score makes "
          "up for them (default: half of the lowest number of its type)")};
  llvm::cl::opt<bool> assumeVisibleRows{
      "assume-visible-rows", llvm::cl::cat(category),
      llvm::cl::desc("Take it that every query sees at least one key, so that "
                     "finite mask values mean -inf")};
  llvm::cl::opt<bool> strict{
      "strict", llvm::cl::cat(category),
      llvm::cl::desc("Make warnings errors, such as that of a fallback to "
                     "slower code")};
  llvm::cl::opt<bool> time{
      "time", llvm::cl::cat(category),
      llvm::cl::desc("Print the time of each step to standard error")};
};

} // namespace attn

#endif // ATTN_TOOLS_ATTN_OPT_COMPILEMODE_H
