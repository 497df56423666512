//===- programmatic.cu - Launches that may overlap ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The launch attributes of the runtime, and what a kernel may do before it has
// waited for the one before.
//
//===----------------------------------------------------------------------===//

// RUN: %run_in_simulator 2>&1 | FileCheck %s

#include <cstdio>

__global__ void write(int *p) {
  cudaTriggerProgrammaticLaunchCompletion();
  p[threadIdx.x] = threadIdx.x;
}
__global__ void addAfterWait(int *p) {
  cudaGridDependencySynchronize();
  p[threadIdx.x] += 1;
}
__global__ void addBeforeWait(int *p) {
  p[threadIdx.x] += 1;
  cudaGridDependencySynchronize();
}
__global__ void neverWait(int *) {}

/// Launches with an attribute of this number.
static cudaError_t launch(void (*kernel)(int *), int *p, int id) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeID(id);
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 64;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, p);
}

int main() {
  setvbuf(stdout, nullptr, _IONBF, 0);
  int *p;
  cudaMalloc(&p, 64 * sizeof(int));
  write<<<1, 64>>>(p);
  cudaError_t error =
      launch(addAfterWait, p, cudaLaunchAttributeProgrammaticStreamSerialization);
  printf("after the wait: %d, p[63] is %d\n", error, p[63]);
  // CHECK: after the wait: 0, p[63] is 64

  write<<<1, 64>>>(p);
  error = launch(addBeforeWait, p, cudaLaunchAttributePriority);
  printf("after the end: %d\n", error);
  // CHECK: after the end: 0

  write<<<1, 64>>>(p);
  error = launch(addBeforeWait, p,
                 cudaLaunchAttributeProgrammaticStreamSerialization);
  printf("before the wait: %d\n", error);
  // CHECK: racecheck: read of 4 bytes at byte 0 of 'device memory' (lane 0) is not ordered after a griddepcontrol.wait, and kernel {{.*}}write{{.*}}, which may still run, writes there
  // CHECK: before the wait: 719

  write<<<1, 64>>>(p);
  error =
      launch(neverWait, p, cudaLaunchAttributeProgrammaticStreamSerialization);
  printf("never: %d\n", error);
  // CHECK: racecheck: no thread of kernel {{.*}}neverWait{{.*}}, launched programmatically, executes griddepcontrol.wait
  // CHECK: never: 719

  error = launch(addAfterWait, p, cudaLaunchAttributeProgrammaticEvent);
  printf("unknown: %d\n", error);
  // CHECK: attn-sim: expected a launch attribute that the simulator knows, got 7
  // CHECK: unknown: 1
}
