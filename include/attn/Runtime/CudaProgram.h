//===- CudaProgram.h - Launches PTX by its manifest -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The launcher for programs that compile, or read, kernels while they run. A
/// program whose kernels are known when it is built includes the header that
/// the compiler emits instead (`--emit=header`): that is the manifest written
/// out as code, which checks the same and needs no library.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_CUDAPROGRAM_H
#define ATTN_RUNTIME_CUDAPROGRAM_H

#include "attn/Runtime/CudaDevice.h"
#include "attn/Runtime/Manifest.h"

#include <memory>
#include <string>
#include <vector>

namespace attn::runtime {

/// Device memory, at a multiple of 256 bytes.
struct WorkspaceMemory {
  uint64_t address = 0;
  size_t bytes = 0;
};

/// The kernels of a manifest, loaded into a device. Copies are handles to one
/// module, which is unloaded with the last of them: what was launched must have
/// ended by then. Any number of threads may launch at once.
class CudaProgram {
public:
  /// Loads PTX; the driver compiles it now unless its cache has it.
  static LaunchResult<CudaProgram>
  load(const CudaDevice &device, Manifest manifest, const std::string &ptx);

  const CudaDevice &getDevice() const;
  const Manifest &getManifest() const;

  /// Launches all kernels on `stream` for operands on the device, outputs too,
  /// in the manifest's order. Returns when they are queued. Every fault that
  /// has to do with the operands is found before anything is launched.
  /// Workspaces come from the stream's memory pool and go back to it.
  LaunchStatus launch(const std::vector<OperandBinding> &operands,
                      CudaStream stream = nullptr) const;

  /// The bytes of device memory that a launch takes beside operands of these
  /// shapes and strides, whatever is in them, such as lengths.
  LaunchResult<size_t> plan(const std::vector<OperandBinding> &operands) const;
  /// Launches in memory of the caller's, of as many bytes as planned or more:
  /// nothing is allocated. Calls on one stream may follow each other in it.
  LaunchStatus run(const std::vector<OperandBinding> &operands,
                   const WorkspaceMemory &workspace,
                   CudaStream stream = nullptr) const;

private:
  struct State;

  explicit CudaProgram(std::shared_ptr<State> state)
      : state(std::move(state)) {}

  std::shared_ptr<State> state;
};

} // namespace attn::runtime

#endif // ATTN_RUNTIME_CUDAPROGRAM_H
