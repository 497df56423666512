// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An emitted header on a device: no keys at all, and threads that launch at
// once.
#include "attention.h"

#include <cstdio>
#include <thread>
#include <vector>

using attn_launch::Status;
using attn_launch::Tensor;

static constexpr int64_t heads = 2, dim = 64;
static constexpr uint16_t one = 0x3F80; // in bf16

/// Attention of `rows` queries over `keys` values of 1, of which the output is
/// 1, or 0 if there are none. Returns how many elements differ.
static int64_t countWrong(int64_t rows, int64_t keys) {
  const attn_launch::Driver &cuda = attn_launch::Driver::get();
  auto fill = [&](int64_t length, uint16_t value) {
    Tensor<4> tensor = Tensor<4>::rowMajor(0, {1, heads, length, dim});
    std::vector<uint16_t> values(heads * length * dim, value);
    if (length == 0)
      return tensor;
    cuda.cuMemAlloc(&tensor.data, values.size() * 2);
    cuda.cuMemcpyHtoD(tensor.data, values.data(), values.size() * 2);
    return tensor;
  };
  attention_Args args;
  args.query = fill(rows, one);
  args.key = fill(keys, one);
  args.value = fill(keys, one);
  args.output = fill(rows, 0x7FC0);
  if (Status status = attention_launch(args, nullptr); !status) {
    std::printf("%s\n", status.message.c_str());
    return -1;
  }
  std::vector<uint16_t> output(heads * rows * dim);
  cuda.cuMemcpyDtoH(output.data(), args.output.data, output.size() * 2);
  int64_t wrong = 0;
  for (uint16_t value : output)
    wrong += value != (keys ? one : 0);
  return wrong;
}

int main() {
  if (Status status = attn_launch::useDevice(); !status) {
    std::printf("%s\n", status.message.c_str());
    return 1;
  }
  std::printf("no keys: %ld wrong\n", long(countWrong(70, 0)));
  std::printf("no rows: %ld wrong\n", long(countWrong(0, 70)));
  std::vector<std::thread> threads;
  std::vector<int64_t> wrong(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([i, &wrong] {
      attn_launch::useDevice();
      wrong[i] = countWrong(30 + i, 70 - i);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (int64_t count : wrong)
    std::printf("thread: %ld wrong\n", long(count));
}
