//===- CudaDevice.cpp - A GPU and its memory ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaDeviceState.h"

using namespace attn::runtime;
using namespace attn::runtime::cuda;

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
    status = readAttribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, smCount);
  if (status)
    status = readAttribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, major);
  if (status)
    status = readAttribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, minor);
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
  CUdeviceptr address = 0;
  if (bytes > 0) {
    LaunchStatus status =
        state->call(std::to_string(bytes) + " bytes of device memory",
                    state->driver.cuMemAlloc_v2, &address, bytes);
    if (!status)
      return status;
  }
  return DeviceMemory(state, address, bytes);
}

LaunchResult<CudaEvent> CudaDevice::createEvent() const {
  CUevent event = nullptr;
  LaunchStatus status =
      state->call("cuEventCreate to succeed", state->driver.cuEventCreate,
                  &event, CU_EVENT_DEFAULT);
  if (!status)
    return status;
  return CudaEvent(state, event);
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

//===----------------------------------------------------------------------===//
// CudaEvent
//===----------------------------------------------------------------------===//

CudaEvent::CudaEvent(CudaEvent &&other) noexcept
    : device(std::move(other.device)),
      handle(std::exchange(other.handle, nullptr)) {}

CudaEvent &CudaEvent::operator=(CudaEvent &&other) noexcept {
  std::swap(device, other.device);
  std::swap(handle, other.handle);
  return *this;
}

CudaEvent::~CudaEvent() {
  if (handle)
    (void)device->call("cuEventDestroy to succeed",
                       device->driver.cuEventDestroy_v2,
                       static_cast<CUevent>(handle));
}

LaunchStatus CudaEvent::record(CudaStream stream) {
  return device->call("cuEventRecord to succeed", device->driver.cuEventRecord,
                      static_cast<CUevent>(handle), stream);
}

LaunchResult<double> CudaEvent::secondsSince(const CudaEvent &start) const {
  float milliseconds = 0;
  LaunchStatus status =
      device->call("the kernels to end well", device->driver.cuEventSynchronize,
                   static_cast<CUevent>(handle));
  if (status)
    status = device->call("cuEventElapsedTime to succeed",
                          device->driver.cuEventElapsedTime, &milliseconds,
                          static_cast<CUevent>(start.handle),
                          static_cast<CUevent>(handle));
  if (!status)
    return status;
  return double(milliseconds) / 1e3;
}
