//===- DeviceTensor.h - Tensors in simulated device memory ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Copies between row-major host tensors and strided device tensors.
///
//===----------------------------------------------------------------------===//

#ifndef LIB_SIMULATOR_RUNNER_DEVICETENSOR_H
#define LIB_SIMULATOR_RUNNER_DEVICETENSOR_H

#include "attn/Runtime/HostTensor.h"

#include <optional>

namespace attn::sim {

/// What memory holds that nobody wrote: NaN in every float format, so that an
/// element which a kernel forgets is seen.
inline constexpr uint8_t poison = 0xFF;

/// A tensor at an address of this process; strides in elements.
struct DeviceTensor {
  runtime::DType dtype = runtime::DType::F32;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  uint64_t address = 0;

  /// Bytes from element 0 to the end of the last one; 0 without elements.
  int64_t spanBytes() const;
  /// Fills the span with poison.
  void clear() const;
  /// Writes the elements of a host tensor of this type and shape.
  void upload(const runtime::HostTensor &host) const;
  runtime::HostTensor download() const;
  /// The first byte between the elements that is no longer poison, as an
  /// offset from `address`.
  std::optional<int64_t> findWrittenGap() const;
};

} // namespace attn::sim

#endif // LIB_SIMULATOR_RUNNER_DEVICETENSOR_H
