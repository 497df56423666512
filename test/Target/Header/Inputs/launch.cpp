// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "one.h"
// A second header, or the same, can be included beside it.
#include "one.h"

#include <cstdio>

/// A status of whichever version's header.
template <typename Status>
static void report(const Status &status) {
  std::printf("%d '%s'\n", status.code, status.message.c_str());
}

/// Launches after `change` of arguments that are right.
template <typename Change>
static void launchWith(Change change) {
  one_Args args;
  args.in = decltype(args.in)::rowMajor(0x10000, {2, 100, 64});
  args.default_ = decltype(args.default_)::rowMajor(0x20000, {2, 100});
  change(args);
  report(one_launch(args, nullptr));
}

int main(int argc, char **) {
  launchWith([](one_Args &) {}); // There is no context yet.
  report(attn_launch::useDevice(7));
  report(attn_launch::useDevice(1));
  launchWith([](one_Args &) {});
  if (argc > 1)
    return 0;
  launchWith([](one_Args &) {});
  launchWith([](one_Args &args) { args.in.shape[2] = 32; });
  launchWith([](one_Args &args) { args.default_.shape[1] = 98; });
  launchWith([](one_Args &args) { args.in.strides[1] = 68; });
  launchWith([](one_Args &args) { args.in.strides[2] = 2; });
  launchWith([](one_Args &args) { args.in.data += 8; });
  launchWith([](one_Args &args) { args.in.data = 0; });
  launchWith([](one_Args &args) { args.default_.data = args.in.data + 640; });
  launchWith([](one_Args &args) { args.in.shape[0] = -2; });
  launchWith(
      [](one_Args &args) { args.in.shape[1] = args.default_.shape[1] = 99; });
  launchWith(
      [](one_Args &args) { args.in.shape[1] = args.default_.shape[1] = 0; });
  report(one_unload());
  report(one_unload()); // It is not there.
  report(one_load());
  launchWith([](one_Args &) {});
  // Planned once, and run in memory of the caller's.
  one_Args args;
  args.in = decltype(args.in)::rowMajor(0x10000, {2, 100, 64});
  args.default_ = decltype(args.default_)::rowMajor(0x20000, {2, 100});
  size_t bytes = 0;
  report(one_plan(args, bytes));
  std::printf("planned %zu\n", bytes);
  report(one_run(args, {0x40000, bytes}, nullptr));
  report(one_run(args, {0x40000, bytes - 1}, nullptr));
  report(one_run(args, {0x40010, bytes}, nullptr));
  args.in.shape[2] = 32;
  report(one_plan(args, bytes));
}
