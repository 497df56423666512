//===- GpuProgram.h - A function with a GPU's kernels -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNRUN_GPUPROGRAM_H
#define ATTN_TOOLS_ATTNRUN_GPUPROGRAM_H

#include "AttentionKernel.h"
#include "Options.h"

#include "attn/Reference/Tensor.h"
#include "attn/Runtime/HostTensor.h"
#include "attn/Target/CPU/CpuJit.h"

#include <functional>
#include <memory>
#include <optional>

namespace attn::run {

/// A function whose attentions are PTX with manifests; what is around them,
/// loops and branches included, runs on the CPU.
class GpuProgram {
public:
  /// Compiles for options.target; prints diagnostics.
  static mlir::FailureOr<std::unique_ptr<GpuProgram>>
  compile(mlir::func::FuncOp function, const Options &options);

  /// Calls the function, its kernels on the device that the options name, in
  /// the simulator in the schedule options.scheduleSeed.
  /// Prints what is wrong and returns nothing.
  std::optional<std::vector<runtime::HostTensor>>
  run(const std::vector<runtime::HostTensor> &inputs, const Options &options);

  /// Seconds that the kernels took on the options' GPU in each of
  /// options.repeat rounds, all calls together, without what the CPU does.
  /// Prints what is wrong and returns nothing.
  std::optional<std::vector<double>>
  time(const std::vector<runtime::HostTensor> &inputs, const Options &options);

  /// The same with the attentions computed unfused as the target's tensor cores
  /// multiply: the yardstick where `hasOwnProducts`. Prints why where it
  /// cannot.
  std::optional<std::vector<reference::Tensor>>
  runUnfused(const std::vector<runtime::HostTensor> &inputs);
  /// True if products are not those of the inputs' types with sums in f32: of
  /// f32 that is rounded to tf32, or of 8 bits on a target whose sums drop
  /// bits.
  bool hasOwnProducts() const { return allowsTf32 || hasShortSums(); }

  bool isDeterministic() const;

  /// "sm_80 in the simulator, all but the attention on cpu"
  std::string describe(const Options &options) const;

private:
  using Tensors = std::vector<runtime::HostTensor>;
  /// What a call of a kernel is while the function runs.
  using Call =
      std::function<std::optional<Tensors>(AttentionKernel &, const Tensors &)>;

  mlir::LogicalResult readKernels(mlir::ModuleOp outlined,
                                  mlir::ModuleOp original);
  mlir::LogicalResult compileHost(mlir::func::FuncOp function,
                                  const Options &options);
  std::optional<Tensors> callHost(const Tensors &inputs, const Call &call);

  bool hasShortSums() const;

  std::string target;
  bool allowsTf32 = false;
  std::vector<std::unique_ptr<AttentionKernel>> kernels;
  size_t numCalls = 0; ///< in the function's code
  /// The function around its calls; null where it does nothing but call the
  /// first kernel with these of its arguments, and return these of the
  /// arguments and the call's results.
  std::unique_ptr<CpuJit> host;
  std::vector<size_t> arguments, results;
  Call currentCall;
};

} // namespace attn::run

#endif // ATTN_TOOLS_ATTNRUN_GPUPROGRAM_H
