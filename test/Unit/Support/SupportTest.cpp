//===- SupportTest.cpp - Tests of lib/Support -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Support/ElementType.h"
#include "attn/Support/Format.h"
#include "attn/Support/MathExtras.h"
#include "attn/Support/Parallel.h"
#include "attn/Support/Progress.h"
#include "attn/Support/Result.h"

#include "gtest/gtest.h"

#include <atomic>
#include <future>
#include <limits>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace attn;

TEST(MathExtras, divisionAndAlignment) {
  EXPECT_EQ(ceilDiv(0, 8), 0);
  EXPECT_EQ(ceilDiv(8, 8), 1);
  EXPECT_EQ(ceilDiv(9, 8), 2);
  EXPECT_EQ(alignUp(1, 16), 16);
  EXPECT_EQ(alignUp(16, 16), 16);
  EXPECT_EQ(alignDown(31, 16), 16);
}

TEST(MathExtras, scalesWithoutTheProduct) {
  EXPECT_EQ(scaleBy(7, 2, 3), 4);
  EXPECT_EQ(scaleBy(9, 0, 4), 0);
  // The product of the first two needs 66 bits.
  EXPECT_EQ(scaleBy(int64_t(281476050452480), 262144, 524288),
            int64_t(140738025226240));
}

TEST(MathExtras, powersOfTwo) {
  EXPECT_FALSE(isPowerOfTwo(0));
  EXPECT_TRUE(isPowerOfTwo(1));
  EXPECT_FALSE(isPowerOfTwo(96));
  EXPECT_EQ(nextPowerOfTwo(1), 1);
  EXPECT_EQ(nextPowerOfTwo(65), 128);
}

TEST(MathExtras, integerSqrtIsExact) {
  for (int64_t root : {int64_t(0), int64_t(1), int64_t(7), int64_t(94906267),
                       int64_t(3037000499)}) {
    EXPECT_EQ(integerSqrt(root * root), root);
    if (root > 1) {
      EXPECT_EQ(integerSqrt(root * root - 1), root - 1);
    }
  }
  EXPECT_EQ(integerSqrt(std::numeric_limits<int64_t>::max()), 3037000499);
}

TEST(Format, bytes) {
  EXPECT_EQ(formatBytes(0), "0 B");
  EXPECT_EQ(formatBytes(1023), "1023 B");
  EXPECT_EQ(formatBytes(1536), "1.5 KiB");
  EXPECT_EQ(formatBytes((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(formatBytes(int64_t(80) << 30), "80.0 GiB");
}

TEST(Format, numbers) {
  EXPECT_EQ(formatCount(0), "0");
  EXPECT_EQ(formatCount(999), "999");
  EXPECT_EQ(formatCount(1234567), "1,234,567");
  EXPECT_EQ(formatCount(-1234), "-1,234");
  EXPECT_EQ(formatPercent(0.1234), "12.3%");
  EXPECT_EQ(formatSeconds(1.5e-5), "15.0 us");
  EXPECT_EQ(formatFixed(1e300, 2), "1e+300");
}

TEST(Format, parsing) {
  int64_t value = 0;
  EXPECT_TRUE(parseInteger("-12", value));
  EXPECT_EQ(value, -12);
  for (const char *text : {"", "1x", "x", " 1", "99999999999999999999"})
    EXPECT_FALSE(parseInteger(text, value)) << text;
  double real = 0;
  EXPECT_TRUE(parseDouble("0.25", real));
  EXPECT_EQ(real, 0.25);
  EXPECT_FALSE(parseDouble("0.25s", real));
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(trim(" \ta b\n"), "a b");
  EXPECT_EQ(trim("  "), "");
  EXPECT_EQ(join({"a", "b"}, ", "), "a, b");
}

TEST(Format, nearestSpelling) {
  std::vector<std::string> names = {"sm_80", "sm_90a", "cpu"};
  EXPECT_EQ(nearestSpelling("sm_90", names), "sm_90a");
  EXPECT_EQ(nearestSpelling("sm80", names), "sm_80");
  EXPECT_EQ(nearestSpelling("tpu", names), "cpu");
  EXPECT_EQ(nearestSpelling("hexagon", names), "");
}

TEST(Format, tableAlignsColumns) {
  Table table({"name", "bytes"}, {Table::Left, Table::Right});
  table.addRow({"Q", "128"});
  table.addRow({"longer name", "7"});
  EXPECT_EQ(table.print(), "name         bytes\n"
                           "-----------  -----\n"
                           "Q              128\n"
                           "longer name      7\n");
}

TEST(ElementType, namesSizesAndPrecision) {
  EXPECT_EQ(parseElementType("bf16"), ElementType::BF16);
  EXPECT_EQ(parseElementType("half"), ElementType::F16);
  EXPECT_EQ(parseElementType("bf17"), std::nullopt);
  for (const std::string &name : getElementTypeNames())
    EXPECT_EQ(getName(*parseElementType(name)), name);
  EXPECT_EQ(getSizeBytes(ElementType::F8E4M3FN), 1);
  EXPECT_EQ(getSizeBytes(ElementType::F64), 8);
  EXPECT_EQ(getPrecisionBits(ElementType::F16), 11);
}

TEST(Result, holdsValueOrError) {
  Result<int> value = 3;
  ASSERT_TRUE(value);
  EXPECT_EQ(*value, 3);
  Result<int> error = Error{"expected 1, got 2"};
  EXPECT_FALSE(error);
  EXPECT_EQ(error.error(), "expected 1, got 2");
  EXPECT_TRUE(Status());
  EXPECT_FALSE(Status(Error{"no"}));
}

TEST(Progress, saysWhatTakesLongerThanItsPatience) {
  testing::internal::CaptureStderr();
  std::promise<void> asked;
  {
    Progress silent(0, [] { return std::string("silent"); });
    Progress patient(1e9, [] { return std::string("patient"); });
    Progress progress(1e-3, [&, calls = 0]() mutable {
      if (++calls == 2)
        asked.set_value();
      return "step " + std::to_string(calls);
    });
    asked.get_future().wait();
  }
  std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said.find("\rstep 1, "), 0u) << said;
  EXPECT_NE(said.find(" s\rstep 2, "), std::string::npos) << said;
  EXPECT_EQ(said.back(), '\n');
  EXPECT_EQ(said.find("silent"), std::string::npos);
  EXPECT_EQ(said.find("patient"), std::string::npos);
}

TEST(Parallel, visitsEachIndexOnce) {
  std::vector<std::atomic<int>> visits(1000);
  parallelFor(
      1000, [&](int64_t i) { ++visits[static_cast<size_t>(i)]; }, 4);
  for (const auto &count : visits)
    EXPECT_EQ(count, 1);
  parallelFor(0, [](int64_t) { FAIL() << "called for an empty range"; });
}

/// The sum of 0 to count - 1, and of the number of calls.
struct Sum {
  std::atomic<int64_t> total{0}, calls{0};

  static void add(void *context, int64_t begin, int64_t end) {
    auto *sum = static_cast<Sum *>(context);
    ++sum->calls;
    for (int64_t i = begin; i < end; ++i)
      sum->total += i;
  }
};

TEST(Parallel, rangesMakeUpTheWhole) {
  for (size_t threads : {0, 1, 2, 3, 9})
    for (int64_t count : {0, 1, 2, 7, 1000}) {
      ThreadLimit limit(threads);
      Sum sum;
      parallelForRanges(Sum::add, &sum, count);
      EXPECT_EQ(sum.total, count * (count - 1) / 2) << threads << " threads";
      if (threads == 1) {
        EXPECT_EQ(sum.calls, count > 0 ? 1 : 0);
      }
    }
}

TEST(Parallel, tripsRunBesideEachOther) {
  std::promise<void> begun[2];
  std::future<void> other[2] = {begun[1].get_future(), begun[0].get_future()};
  ThreadLimit limit(2);
  std::atomic<int> met{0};
  parallelFor(2, [&](int64_t i) {
    begun[i].set_value();
    if (other[i].wait_for(std::chrono::minutes(1)) == std::future_status::ready)
      ++met;
  });
  // Of which each is in another thread where the machine has two.
  int expected = std::thread::hardware_concurrency() > 1 ? 2 : 1;
  EXPECT_EQ(met, expected);
}

TEST(Parallel, innerLoopsStayInTheirThread) {
  std::atomic<int> strayed{0};
  Sum sum;
  ThreadLimit limit(4);
  parallelFor(40, [&](int64_t) {
    auto outer = std::this_thread::get_id();
    parallelFor(
        10, [&](int64_t) { strayed += std::this_thread::get_id() != outer; });
    parallelForRanges(Sum::add, &sum, 10);
  });
  EXPECT_EQ(strayed, 0);
  EXPECT_EQ(sum.total, 40 * 45);
  EXPECT_EQ(sum.calls, 40);
}

TEST(Parallel, threadsCallAtOnce) {
  std::vector<std::future<int64_t>> totals;
  for (int i = 0; i < 8; ++i)
    totals.push_back(std::async(std::launch::async, [] {
      ThreadLimit limit(3);
      Sum sum;
      for (int64_t trial = 0; trial < 200; ++trial)
        parallelForRanges(Sum::add, &sum, 20);
      return sum.total.load();
    }));
  for (auto &total : totals)
    EXPECT_EQ(total.get(), 200 * 190);
}

TEST(Parallel, childrenOfForksHaveThreads) {
  auto total = [] {
    ThreadLimit limit(4);
    Sum sum;
    parallelForRanges(Sum::add, &sum, 100);
    return sum.total.load();
  };
  EXPECT_EQ(total(), 4950);
  pid_t child = fork();
  if (child == 0)
    _exit(total() == 4950 ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(total(), 4950);
}
