// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "one.h"
// A second header, or the same, can be included beside it.
#include "one.h"

static void report(const attn_launch::Status &status) {
  std::printf("%d '%s'\n", status.code, status.message.c_str());
}

int main() {
  one_Args args;
  args.in = attn_launch::Tensor<3>::rowMajor(0x10000, {2, 100, 64});
  args.default_ = attn_launch::Tensor<2>::rowMajor(0x20000, {2, 100});
  report(one_launch(args, nullptr));
  report(one_launch(args, nullptr));

  one_Args wrong = args;
  wrong.in.shape[2] = 32;
  report(one_launch(wrong, nullptr));
  wrong = args;
  wrong.default_.shape[1] = 98;
  report(one_launch(wrong, nullptr));
  wrong = args;
  wrong.in.strides[1] = 68;
  report(one_launch(wrong, nullptr));
  wrong = args;
  wrong.in.data += 8;
  report(one_launch(wrong, nullptr));
  wrong = args;
  wrong.in.shape[1] = wrong.default_.shape[1] = 99;
  report(one_launch(wrong, nullptr));
  wrong = args;
  wrong.in.shape[1] = wrong.default_.shape[1] = 0;
  report(one_launch(wrong, nullptr));
}
