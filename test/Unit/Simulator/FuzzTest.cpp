//===- FuzzTest.cpp - Mutated PTX never crashes or hangs ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Random edits of PTX text, from fixed seeds: deleted, duplicated, swapped and
/// replaced characters, tokens and lines. Each text must end in a result or in
/// a diagnostic. A failure names the seed to run again.
///
//===----------------------------------------------------------------------===//

#include "PtxHarness.h"

#include <cstdlib>
#include <random>
#include <sstream>

using namespace attn::sim;
using namespace attn::sim::test;

namespace {

/// A kernel with something of everything, so that edits reach every decoder.
std::string seedText() {
  std::string body = R"ptx(
mul.wide.u32 %rd1, %r0, 4; add.s64 %rd1, %rd0, %rd1;
ld.global.v2.u32 {%r1, %r2}, [%rd0+8];
mad.lo.s32 %r3, %r1, %r2, 7; bfe.u32 %r4, %r3, 3, 9;
setp.lt.and.s32 %p1|%p2, %r3, 100, %p3;
@%p1 add.sat.s32 %r3, %r3, 0x7fffffff;
cvt.rn.f32.s32 %f1, %r3; fma.rn.ftz.f32 %f2, %f1, 0f3F800000, %f1;
cvt.rn.bf16x2.f32 %r5, %f1, %f2; fma.rn.bf16x2 %r6, %r5, %r5, %r5;
mov.b64 %rd2, {%r5, %r6}; mov.b64 {%r7, %r8}, %rd2;
shfl.sync.bfly.b32 %r9|%p4, %r3, 1, 31, -1;
mov.u32 %r10, s; shl.b32 %r11, %r0, 4; add.u32 %r11, %r11, %r10;
cp.async.cg.shared.global [%r11], [%rd0], 16; cp.async.commit_group;
cp.async.wait_group 0; bar.sync 0;
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r12,%r13,%r14,%r15}, [%r11];
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f3,%f4,%f5,%f6}, {%r12,%r13,%r14,%r15}, {%r12,%r13}, {%f3,%f4,%f5,%f6};
mov.u32 %r20, bar; setp.eq.u32 %p5, %r0, 0;
@%p5 mbarrier.init.shared::cta.b64 [%r20], 1; fence.mbarrier_init.release.cluster;
@%p5 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r20], 64;
@%p5 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%rd0], 64, [%r20];
W: mbarrier.try_wait.parity.shared::cta.b64 %p6, [%r20], 0; @!%p6 bra W;
atom.global.add.u32 %r21, [%rd0], 1; red.shared.max.s32 [%r10], %r3;
ts: .branchtargets A, B; and.b32 %r22, %r0, 1; brx.idx %r22, ts;
A: lop3.b32 %r23, %r1, %r2, %r3, 0x96; bra.uni C;
B: prmt.b32 %r23, %r1, %r2, 0x5410;
C: { .reg .b32 %t<4>; mov.u32 %t1, %clock; add.u32 %r23, %r23, %t1; }
{ .param .b32 in; .param .b32 out; st.param.b32 [in], %r23; call (out), square, (in); ld.param.b32 %r24, [out]; }
ex2.approx.ftz.f32 %f7, %f2; max.NaN.f32 %f8, %f7, %f3; st.global.f32 [%rd1+128], %f8;
)ptx";
  std::string prefix = R"ptx(
.shared .align 128 .b8 s[1024]; .shared .align 8 .b64 bar;
.global .align 4 .b8 table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
.global .align 8 .u64 ptr = generic(table)+4;
.func (.param .b32 r) square(.param .b32 a)
{ .reg .b32 %x<3>; ld.param.u32 %x1, [a]; mul.lo.u32 %x2, %x1, %x1; st.param.b32 [r], %x2; ret; }
)ptx";
  return kernel(body, prefix);
}

class Mutator {
public:
  Mutator(const std::string &text, uint64_t seed) : text(text), random(seed) {}

  std::string run() {
    for (uint64_t edits = 1 + random() % 2; edits--;)
      edit();
    return text;
  }

private:
  size_t position() { return random() % (text.size() + 1); }

  void edit() {
    size_t at = position();
    size_t length = std::min<size_t>(1 + random() % 6, text.size() - at);
    switch (random() % 6) {
    case 0:
      text.erase(at, length);
      break;
    case 1:
      text.insert(at, text.substr(at, length));
      break;
    case 2:
      text.insert(at, token());
      break;
    case 3:
      if (at < text.size())
        text[at] = char(random());
      break;
    case 4:
      replaceToken(at);
      break;
    default:
      swapLines();
    }
  }

  std::string token() {
    static const char *tokens[] = {
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        ";",
        ",",
        "%r1",
        "%rd1",
        "%p1",
        "%f1",
        "-1",
        "0",
        "4294967295",
        "9223372036854775808",
        "0x",
        "0f7F800001",
        "\"",
        ".v4",
        ".b128",
        ".shared",
        "@",
        "!%p1",
        "/*",
        "|",
        "_",
        "%tid.w",
        ".reg .b32 %r<100000>;",
        ".param",
        "WARP_SZ",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16",
        ".m16n8k8",
        "exit;",
        "call",
        "bar.sync 17;"};
    return tokens[random() % (sizeof tokens / sizeof tokens[0])];
  }

  /// Replaces a word by one from elsewhere in the text.
  void replaceToken(size_t at) {
    size_t end = text.find_first_of(" ,;\n", at);
    size_t from = text.find_first_of(" ,;\n", position());
    if (end == std::string::npos || from == std::string::npos)
      return;
    size_t fromEnd = text.find_first_of(" ,;\n", from + 1);
    if (fromEnd == std::string::npos)
      return;
    text.replace(at, end - at, text.substr(from + 1, fromEnd - from - 1));
  }

  void swapLines() {
    size_t a = text.find('\n', position()), b = text.find('\n', position());
    if (a == std::string::npos || b == std::string::npos || a >= b)
      return;
    size_t aEnd = text.find('\n', a + 1);
    if (aEnd == std::string::npos || aEnd >= b)
      return;
    std::string line = text.substr(a, aEnd - a);
    text.erase(a, aEnd - a);
    text.insert(b - line.size(), line);
  }

  std::string text;
  std::mt19937_64 random;
};

Options fuzzOptions(uint64_t seed) {
  Options options;
  options.maxWarpInstructions = 20000;
  options.slice = 500;
  options.keepGoing = seed % 3 == 0;
  if (seed % 2)
    options.checks = Checks::all();
  return options;
}

TEST(Fuzz, SeedTextRuns) {
  std::vector<uint32_t> buffer(256, 1);
  LaunchReport report = runOn(buffer, seedText());
  ASSERT_TRUE(report.clean()) << report.diagnostics.front().str();
}

TEST(Fuzz, MutatedText) {
  const std::string original = seedText();
  unsigned rejected = 0, ran = 0;
  // ATTN_FUZZ_COUNT asks for more texts than a test run has time for.
  const char *more = std::getenv("ATTN_FUZZ_COUNT");
  const uint64_t first = 1, count = more ? std::stoull(more) : 3000;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::string text = Mutator(original, seed).run();
    std::vector<uint32_t> buffer(256, 1);
    LaunchReport report = runOn(buffer, text, fuzzOptions(seed));
    for (const Diagnostic &diagnostic : report.diagnostics)
      EXPECT_FALSE(diagnostic.message.empty());
    ++(report.completed ? ran : rejected);
  }
  RecordProperty("rejected", int(rejected));
  // The edits are neither harmless nor hopeless.
  EXPECT_GT(rejected, count / 10);
  EXPECT_GT(ran, count / 40);
}

} // namespace
