//===- GpuProgram.h - A function with a GPU's kernel ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNRUN_GPUPROGRAM_H
#define ATTN_TOOLS_ATTNRUN_GPUPROGRAM_H

#include "AttentionSplit.h"
#include "Options.h"
#include "SimKernel.h"

#include "attn/Reference/Tensor.h"
#include "attn/Runtime/HostTensor.h"
#include "attn/Runtime/Manifest.h"
#include "attn/Target/CPU/CpuJit.h"

#include <optional>

namespace attn::run {

/// A function whose attention is PTX with its manifest; what is before and
/// after it in the function runs on the CPU.
class GpuProgram {
public:
  /// Compiles for options.target; prints diagnostics.
  static mlir::FailureOr<GpuProgram> compile(mlir::func::FuncOp function,
                                             const Options &options);

  /// Calls the function, its kernels on the device that the options name, in
  /// the simulator in the schedule options.scheduleSeed.
  /// Prints what is wrong and returns nothing.
  std::optional<std::vector<runtime::HostTensor>>
  run(const std::vector<runtime::HostTensor> &inputs, const Options &options);

  /// Seconds that each of options.repeat launches of the kernels took on the
  /// options' GPU, without what the CPU does before and after. Prints what is
  /// wrong and returns nothing.
  std::optional<std::vector<double>>
  time(const std::vector<runtime::HostTensor> &inputs, const Options &options);

  /// The same with the attention computed unfused, with tf32 products: the
  /// yardstick of results that were allowed tf32. Prints why where it cannot.
  std::optional<std::vector<reference::Tensor>>
  runUnfusedTf32(const std::vector<runtime::HostTensor> &inputs);

  /// True unless the manifest says otherwise.
  bool isDeterministic() const;

  /// "sm_80 in the simulator, all but the attention on cpu"
  std::string describe(const Options &options) const;

private:
  mlir::LogicalResult compileParts(const Options &options);
  std::vector<runtime::HostTensor>
  runPrologue(const std::vector<runtime::HostTensor> &inputs);
  std::vector<runtime::HostTensor>
  runEpilogue(const std::vector<runtime::HostTensor> &inputs,
              const std::vector<runtime::HostTensor> &results);
  std::optional<KernelOperands>
  makeOperands(const std::vector<runtime::HostTensor> &arguments) const;
  std::optional<std::vector<runtime::HostTensor>>
  runKernels(const std::vector<runtime::HostTensor> &arguments,
             const Options &options) const;

  std::string name;
  AttentionSplit split;
  /// The attention as it was before it was compiled.
  mlir::OwningOpRef<mlir::ModuleOp> definition;
  std::unique_ptr<CpuJit> prologue, epilogue; // null where not needed
  runtime::Manifest manifest;
  std::string ptx;
};

} // namespace attn::run

#endif // ATTN_TOOLS_ATTNRUN_GPUPROGRAM_H
