//===- CudaDevice.cpp - A GPU and its memory ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaDeviceState.h"

using namespace attn::runtime;

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

LaunchStatus CudaDevice::State::open(int wanted) {
  ordinal = wanted;
  int count = 0;
  LaunchStatus status = driver.check(driver.cuDeviceGetCount(&count),
                                     "cuDeviceGetCount to succeed");
  if (!status)
    return status;
  if (ordinal < 0 || ordinal >= count)
    return {LaunchCode::NoDevice, "expected a CUDA device " +
                                      std::to_string(ordinal) + ", got " +
                                      std::to_string(count) + " devices"};
  status = driver.check(driver.cuDeviceGet(&device, ordinal),
                        "cuDeviceGet to succeed");
  return status ? retain() : status;
}

LaunchStatus CudaDevice::State::retain() {
  LaunchStatus status =
      driver.check(driver.cuDevicePrimaryCtxRetain(&context, device),
                   "a context of CUDA device " + std::to_string(ordinal));
  int major = 0, minor = 0;
  if (status)
    status = readAttribute(cuda::MultiprocessorCount, smCount);
  if (status)
    status = readAttribute(cuda::ComputeCapabilityMajor, major);
  if (status)
    status = readAttribute(cuda::ComputeCapabilityMinor, minor);
  computeCapability = 10 * major + minor;
  char text[256] = "";
  if (status)
    status = driver.check(driver.cuDeviceGetName(text, sizeof text - 1, device),
                          "cuDeviceGetName to succeed");
  name = text;
  return status;
}

LaunchStatus CudaDevice::State::readAttribute(int attribute, int &value) const {
  return driver.check(driver.cuDeviceGetAttribute(&value, attribute, device),
                      "cuDeviceGetAttribute to succeed");
}

CudaDevice::State::~State() {
  if (context)
    driver.cuDevicePrimaryCtxRelease_v2(device);
}

//===----------------------------------------------------------------------===//
// CudaDevice
//===----------------------------------------------------------------------===//

LaunchResult<CudaDevice> CudaDevice::open(int ordinal) {
  const CudaDriver &driver = CudaDriver::get();
  if (!driver.status)
    return driver.status;
  auto state = std::make_shared<State>(driver);
  if (LaunchStatus status = state->open(ordinal); !status)
    return status;
  return CudaDevice(std::move(state));
}

int CudaDevice::getOrdinal() const { return state->ordinal; }
const std::string &CudaDevice::getName() const { return state->name; }
int CudaDevice::getComputeCapability() const {
  return state->computeCapability;
}
int64_t CudaDevice::getSmCount() const { return state->smCount; }

LaunchResult<DeviceMemory> CudaDevice::allocate(size_t bytes) const {
  cuda::Address address = 0;
  if (bytes > 0) {
    LaunchStatus status =
        state->call(std::to_string(bytes) + " bytes of device memory",
                    state->driver.cuMemAlloc_v2, &address, bytes);
    if (!status)
      return status;
  }
  return DeviceMemory(state, address, bytes);
}

LaunchStatus CudaDevice::synchronize() const {
  return state->call("the kernels to end well", state->driver.cuCtxSynchronize);
}

//===----------------------------------------------------------------------===//
// DeviceMemory
//===----------------------------------------------------------------------===//

DeviceMemory::DeviceMemory(DeviceMemory &&other) noexcept
    : device(std::move(other.device)), address(other.address),
      bytes(other.bytes) {
  other.address = 0;
  other.bytes = 0;
}

DeviceMemory &DeviceMemory::operator=(DeviceMemory &&other) noexcept {
  std::swap(device, other.device);
  std::swap(address, other.address);
  std::swap(bytes, other.bytes);
  return *this;
}

DeviceMemory::~DeviceMemory() {
  if (address)
    (void)device->call("cuMemFree to succeed", device->driver.cuMemFree_v2,
                       address);
}

LaunchStatus DeviceMemory::copyFromHost(const void *source) {
  return bytes ? device->call("a copy to the device",
                              device->driver.cuMemcpyHtoD_v2, address, source,
                              bytes)
               : LaunchStatus();
}

LaunchStatus DeviceMemory::copyToHost(void *target) const {
  return bytes ? device->call("a copy from the device",
                              device->driver.cuMemcpyDtoH_v2, target, address,
                              bytes)
               : LaunchStatus();
}

LaunchStatus DeviceMemory::fill(uint8_t value) {
  return bytes
             ? device->call("cuMemsetD8 to succeed",
                            device->driver.cuMemsetD8_v2, address, value, bytes)
             : LaunchStatus();
}
