// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The emitted header in threads, which make a context current.
#include "threads.h"
#include "one.h"

static int launchOften(int device, int count, int shapes) {
  int failures = !attn_launch::useDevice(device);
  one_Args args;
  for (int i = 0; i < count; ++i) {
    int64_t rows = 128 * (1 + i % shapes); // an even number of CTAs
    args.in = attn_launch::Tensor<3>::rowMajor(0x10000, {2, rows, 64});
    args.default_ = attn_launch::Tensor<2>::rowMajor(0x10000000, {2, rows});
    failures += !one_launch(args, nullptr);
  }
  return failures;
}

int main() { launchInThreads(launchOften); }
