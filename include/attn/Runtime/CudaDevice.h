//===- CudaDevice.h - A GPU and its memory ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What a program without the CUDA runtime needs to launch kernels. The driver
/// is loaded when the first device is opened: nothing here is linked with a
/// CUDA library, and nothing needs the headers of the CUDA toolkit.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_CUDADEVICE_H
#define ATTN_RUNTIME_CUDADEVICE_H

#include "attn/Runtime/LaunchStatus.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace attn::runtime {

/// A CUdeviceptr.
using CudaAddress = uint64_t;
/// A CUstream or cudaStream_t; null is the default stream.
using CudaStream = void *;

class CudaEvent;
class CudaProgram;
class DeviceMemory;

/// A GPU by its primary context, which is also that of the CUDA runtime and of
/// the frameworks: their streams and addresses can be used. Copies are handles
/// to one context, which lives as long as one of them. Any thread may use any
/// of them at any time; which context is current in a thread is left as it was.
class CudaDevice {
public:
  /// Opens a device, and the driver with the first one: libcuda.so.1, or the
  /// library that the environment variable ATTN_LIBCUDA names.
  static LaunchResult<CudaDevice> open(int ordinal = 0);

  int getOrdinal() const;
  /// "NVIDIA H100 80GB HBM3"
  const std::string &getName() const;
  /// 10 * major + minor: 90 for an H100.
  int getComputeCapability() const;
  int64_t getSmCount() const;

  /// Memory whose content is undefined.
  LaunchResult<DeviceMemory> allocate(size_t bytes) const;

  LaunchResult<CudaEvent> createEvent() const;

  /// Waits for everything that was launched on the device; reports what went
  /// wrong in it.
  LaunchStatus synchronize() const;

private:
  friend class CudaEvent;
  friend class CudaProgram;
  friend class DeviceMemory;
  struct State;

  explicit CudaDevice(std::shared_ptr<State> state) : state(std::move(state)) {}

  std::shared_ptr<State> state;
};

/// Memory on a device, freed with the object.
class DeviceMemory {
public:
  DeviceMemory(DeviceMemory &&other) noexcept;
  DeviceMemory &operator=(DeviceMemory &&other) noexcept;
  ~DeviceMemory();

  /// 0 if it has no bytes.
  CudaAddress getAddress() const { return address; }
  size_t getBytes() const { return bytes; }

  /// Copies all bytes, in the order of the default stream; the source may
  /// change when it returns.
  LaunchStatus copyFromHost(const void *source);
  /// Waits for what is in the default stream, then copies all bytes.
  LaunchStatus copyToHost(void *target) const;
  /// Sets every byte, in the order of the default stream.
  LaunchStatus fill(uint8_t value);

private:
  friend class CudaDevice;

  DeviceMemory(std::shared_ptr<CudaDevice::State> device, CudaAddress address,
               size_t bytes)
      : device(std::move(device)), address(address), bytes(bytes) {}

  std::shared_ptr<CudaDevice::State> device;
  CudaAddress address = 0;
  size_t bytes = 0;
};

/// A point in the work of a stream, for measuring time; destroyed with the
/// object.
class CudaEvent {
public:
  CudaEvent(CudaEvent &&other) noexcept;
  CudaEvent &operator=(CudaEvent &&other) noexcept;
  ~CudaEvent();

  /// Behind what the stream was given so far.
  LaunchStatus record(CudaStream stream = nullptr);
  /// Waits for this event; the seconds from an earlier one of its device to it,
  /// to half a microsecond.
  LaunchResult<double> secondsSince(const CudaEvent &start) const;

private:
  friend class CudaDevice;

  CudaEvent(std::shared_ptr<CudaDevice::State> device, void *handle)
      : device(std::move(device)), handle(handle) {}

  std::shared_ptr<CudaDevice::State> device;
  void *handle = nullptr; // a CUevent
};

} // namespace attn::runtime

#endif // ATTN_RUNTIME_CUDADEVICE_H
