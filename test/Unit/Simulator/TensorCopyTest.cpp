//===- TensorCopyTest.cpp - tcgen05.cp and tcgen05.shift ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorHarness.h"

using namespace attn::sim;
using namespace attn::sim::test;

namespace {

constexpr int sharedBytes = 4096, sharedWords = sharedBytes / 4;

/// Thread = row, cell = 5000 + 8 * row + column, at the 8 columns from 16 on.
std::string storeCells() {
  std::string text = "shl.b32 %r7, %r0, 3; add.u32 %r7, %r7, 5000;\n";
  for (int k = 0; k < 8; ++k)
    text +=
        "add.u32 %c" + std::to_string(k) + ", %r7, " + std::to_string(k) + ";";
  return text + "\ntcgen05.st.sync.aligned.32x32b.x8.b32 [%r6+16], " +
         registers("%c", 8) + ";\ntcgen05.wait::st.sync.aligned;\n" +
         "tcgen05.fence::before_thread_sync;\nbar.sync 0;\n";
}

/// One thread executes `instructions`, with the descriptor in %rd3 and the
/// address of column 16 in %r8; then all load `columns` columns.
std::string issue(const std::string &instructions, const std::string &layout,
                  int columns) {
  return "@!%p1 bra N;\ntcgen05.fence::after_thread_sync; // of the issuer\n"
         "shr.u32 %r9, %r1, 4; cvt.u64.u32 %rd3, %r9; or.b64 %rd3, %rd3, " +
         layout + ";\nadd.u32 %r8, %r5, 16;\n" + instructions + "\n" + commit +
         "N:\n" + waitForProduct + "tcgen05.ld.sync.aligned.32x32b.x" +
         std::to_string(columns) + ".b32 " + registers("%a", columns) +
         ", [%r6+16];\ntcgen05.wait::ld.sync.aligned;\n" +
         storeRow("%a", columns);
}

/// Shared word w holds w.
LaunchReport run(const std::string &body, int columns,
                 std::vector<uint32_t> &buffer, Options options = {}) {
  buffer.assign(sharedWords + 128 * columns, 0);
  for (int word = 0; word < sharedWords; ++word)
    buffer[word] = word;
  return runOn(buffer, tensorKernel(body, 32, sharedBytes, 4 * columns),
               options, {128});
}

std::vector<uint32_t> cellsAfter(const std::string &body, int columns) {
  std::vector<uint32_t> buffer;
  LaunchReport report = run(body, columns, buffer);
  for (const Diagnostic &diagnostic : report.diagnostics)
    ADD_FAILURE() << diagnostic.str();
  return {buffer.begin() + sharedWords, buffer.end()};
}

/// K-major without swizzle: chunks of 16 bytes, `rows` of them one behind the
/// other; the next chunk of a row 16 * rows bytes on.
std::string plainLayout(int rows) {
  return std::to_string(uint64_t(rows) << 16 | uint64_t(128 >> 4) << 32 |
                        uint64_t(1) << 46);
}
uint32_t plainWord(int rows, int row, int column) {
  return column / 4 * rows * 4 + row * 4 + column % 4;
}

/// Copies by a shape; `rowOf(lane)` is the row that a lane gets.
template <typename RowOf>
void expectCopy(const std::string &shape, int rows, int columns, RowOf rowOf) {
  SCOPED_TRACE(shape);
  std::vector<uint32_t> cells =
      cellsAfter(issue("tcgen05.cp.cta_group::1." + shape + " [%r8], %rd3;",
                       plainLayout(rows), columns),
                 columns);
  for (int lane = 0; lane < 128; ++lane)
    for (int column = 0; column < columns; ++column)
      ASSERT_EQ(cells[lane * columns + column],
                plainWord(rows, rowOf(lane), column))
          << lane << " " << column;
}

/// PTX ISA 9.7.16.9.2.
TEST(TensorCopy, Shapes) {
  auto same = [](int lane) { return lane; };
  expectCopy("128x256b", 128, 8, same);
  expectCopy("128x128b", 128, 4, same);
  // Rows 0 to 31 to warps 0 and 2, or to 0 and 1.
  expectCopy("64x128b.warpx2::02_13", 64, 4,
             [](int lane) { return lane % 64; });
  expectCopy("64x128b.warpx2::01_23", 64, 4,
             [](int lane) { return lane / 64 * 32 + lane % 32; });
  expectCopy("32x128b.warpx4", 32, 4, [](int lane) { return lane % 32; });
}

/// Rows of 32 bytes, in which the halves change places every 128 bytes.
TEST(TensorCopy, Swizzle) {
  std::string layout =
      std::to_string(uint64_t(1) << 16 | uint64_t(256 >> 4) << 32 |
                     uint64_t(1) << 46 | uint64_t(6) << 61);
  std::vector<uint32_t> cells = cellsAfter(
      issue("tcgen05.cp.cta_group::1.128x256b [%r8], %rd3;", layout, 8), 8);
  for (int lane = 0; lane < 128; ++lane)
    for (int column = 0; column < 8; ++column)
      ASSERT_EQ(cells[lane * 8 + column],
                uint32_t(lane * 8 + (column ^ (lane / 4 % 2 * 4))));
}

/// Each lane gets the next one's 32 bytes, but the last of each warp's.
TEST(TensorCopy, Shift) {
  std::vector<uint32_t> cells = cellsAfter(
      storeCells() + issue("tcgen05.shift.cta_group::1.down [%r8];", "0", 8),
      8);
  for (int lane = 0; lane < 128; ++lane)
    for (int column = 0; column < 8; ++column)
      ASSERT_EQ(
          cells[lane * 8 + column],
          uint32_t(5000 + 8 * (lane % 32 == 31 ? lane : lane + 1) + column));
}

/// What the shift is for: the freed rows come from shared memory, in order
/// behind it.
TEST(TensorCopy, RowsBehindAShift) {
  std::string body =
      storeCells() + issue("tcgen05.shift.cta_group::1.down [%r8];\n"
                           "add.u32 %r9, %r8, 2031616; // lane 31\n"
                           "tcgen05.cp.cta_group::1.4x256b [%r9], %rd3;",
                           plainLayout(4), 8);
  std::vector<uint32_t> buffer;
  Options options;
  options.strictTensorOrder = true;
  LaunchReport report = run(body, 8, buffer, options);
  EXPECT_TRUE(report.diagnostics.empty());
  for (int lane = 0; lane < 128; ++lane)
    for (int column = 0; column < 8; ++column)
      ASSERT_EQ(buffer[sharedWords + lane * 8 + column],
                lane % 32 == 31 ? plainWord(4, lane / 32, column)
                                : 5000u + 8 * (lane + 1) + column);
}

//===----------------------------------------------------------------------===//
// What must hold
//===----------------------------------------------------------------------===//

const std::string copy = "tcgen05.cp.cta_group::1.128x256b [%r8], %rd3;";

/// In every schedule.
void expectFinding(const std::string &body, const std::string &part,
                   bool isStrict = false) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    Options options;
    options.seed = seed;
    options.slice = seed ? 3 + seed : 4096;
    options.strictTensorOrder = isStrict;
    std::vector<uint32_t> buffer;
    LaunchReport report = run(body, 8, buffer, options);
    std::string text =
        report.diagnostics.empty() ? "" : report.diagnostics.front().message;
    if (part.empty())
      EXPECT_EQ(text, "");
    else
      EXPECT_NE(text.find(part), std::string::npos)
          << "expected " << part << ", got " << text;
  }
}

TEST(TensorCopy, Order) {
  std::string whole = issue(copy, plainLayout(128), 8);
  expectFinding(whole, "");
  expectFinding(replaced(whole, commit, ""), "deadlock");
  expectFinding(replaced(whole, waitForProduct, "bar.sync 0;\n"),
                "is not ordered after a tcgen05.cp of warp 0 that has not been "
                "waited for");
  expectFinding(replaced(whole, "tcgen05.fence::after_thread_sync;\n", ""),
                "a tcgen05.cp of warp 0: no tcgen05.fence::after_thread_sync "
                "behind the wait");
  // A stage overwritten while it is read.
  expectFinding(replaced(whole, "N:\n",
                         "N: bar.sync 0; st.shared.u32 [%r1], "
                         "%r0;\n"),
                "is not ordered after the read by a tcgen05.mma");
  std::string shift =
      storeCells() + issue("tcgen05.shift.cta_group::1.down [%r8];", "0", 8);
  expectFinding(replaced(shift, waitForProduct, "bar.sync 0;\n"),
                "is not ordered after a tcgen05.shift of warp 0 that has not "
                "been waited for");
  expectFinding(replaced(shift, "tcgen05.wait::st.sync.aligned;\n", ""),
                "without tcgen05.wait::st");
  // The ISA orders a shift before a copy of 4x256b, but not before others.
  std::string both =
      storeCells() + issue("tcgen05.shift.cta_group::1.down [%r8];\n" + copy,
                           plainLayout(128), 8);
  expectFinding(both, "");
  expectFinding(both,
                "is not ordered after a tcgen05.shift, which only the order of "
                "the pipe puts before it",
                /*isStrict=*/true);
}

TEST(TensorCopy, Places) {
  auto expect = [](const std::string &instruction, const std::string &part) {
    expectFinding(storeCells() + issue(instruction, plainLayout(128), 8), part);
  };
  expect("add.u32 %r8, %r8, 65536; " + copy,
         "tcgen05.cp to lane 1 of tensor memory, expected 0");
  expect("add.u32 %r8, %r8, 2097152; "
         "tcgen05.cp.cta_group::1.4x256b [%r8], %rd3;",
         "tcgen05.cp to lane 32 of tensor memory, expected 0 to 31");
  expect("add.u32 %r8, %r8, 12; " + copy,
         "tcgen05.cp of columns 508 to 515 of tensor memory");
  expect("add.u64 %rd3, %rd3, 8; " + copy, "tcgen05.cp: shared offset");
  expect("add.u32 %r8, %r8, 2097152; tcgen05.shift.cta_group::1.down [%r8];",
         "tcgen05.shift from lane 32 of tensor memory, expected 0");
  expectFinding(replaced(issue(copy, plainLayout(128), 8), "@!%p1 bra N;",
                         "@!%p2 bra N;"),
                "tcgen05.cp executed by 32 threads of a warp");
}

} // namespace
