//===- KeyTilesTest.cpp - Key tiles of named masks, against brute force ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every tile of every small size, for the masks that people use. For those that
// are marked exact a key tile is visited exactly if some pair in it is visible,
// and taken as full exactly if every pair is.
//
//===----------------------------------------------------------------------===//

#include "MaskTest.h"

using namespace mlir;
using namespace attn;

namespace {

struct TestMask {
  const char *name;
  Precision precision;
  MaskFunction build;
  VisibleFunction isVisible;
};

void PrintTo(const TestMask &mask, std::ostream *os) { *os << mask.name; }

using B = MaskBuilder;

std::vector<TestMask> getBands() {
  return {
      {"causal(top_left)", Precision::Exact,
       [](B &m) { return m.le(m.j, m.i); },
       [](int64_t i, int64_t j, Sizes) { return j <= i; }},
      {"causal(bottom_right)", Precision::Exact,
       [](B &m) { return m.le(m.j, m.add(m.i, m.sizes.keys - m.sizes.rows)); },
       [](int64_t i, int64_t j, Sizes s) { return j <= i + s.keys - s.rows; }},
      {"left window", Precision::Exact,
       [](B &m) { return m.le(m.add(m.i, -2), m.j); },
       [](int64_t i, int64_t j, Sizes) { return j >= i - 2; }},
      {"window of both sides", Precision::Exact,
       [](B &m) { return m.window(3, 1); },
       [](int64_t i, int64_t j, Sizes) { return j >= i - 3 && j <= i + 1; }},
      {"causal(bottom_right) and window", Precision::Exact,
       [](B &m) {
         Value p = m.add(m.i, m.sizes.keys - m.sizes.rows);
         return m.both(m.le(m.j, p), m.no(m.le(m.j, m.add(p, -2))));
       },
       [](int64_t i, int64_t j, Sizes s) {
         int64_t p = i + s.keys - s.rows;
         return j <= p && j > p - 2;
       }},
      {"diagonal", Precision::Exact, [](B &m) { return m.eq(m.j, m.i); },
       [](int64_t i, int64_t j, Sizes) { return i == j; }},
      {"padding by a value of the head, and causal", Precision::Exact,
       [](B &m) { return m.both(m.lt(m.j, m.h), m.le(m.j, m.i)); },
       [](int64_t i, int64_t j, Sizes s) { return j < s.head && j <= i; }},
      {"prefix", Precision::Exact,
       [](B &m) { return m.either(m.le(m.j, m.i), m.le(m.j, m.h)); },
       [](int64_t i, int64_t j, Sizes s) { return j <= i || j <= s.head; }},
      {"never", Precision::Exact,
       [](B &m) { return m.le(m.i, m.add(m.i, -1)); },
       [](int64_t, int64_t, Sizes) { return false; }},
      {"always", Precision::Exact, [](B &m) { return m.le(m.i, m.i); },
       [](int64_t, int64_t, Sizes) { return true; }},
      {"slope", Precision::Exact,
       [](B &m) { return m.le(m.mul(m.j, 3), m.add(m.mul(m.i, 2), m.h)); },
       [](int64_t i, int64_t j, Sizes s) { return 3 * j <= 2 * i + s.head; }},
      {"unsigned distance", Precision::Exact,
       [](B &m) {
         return m.cmp(arith::CmpIPredicate::ult, m.sub(m.i, m.j), m.h);
       },
       [](int64_t i, int64_t j, Sizes s) {
         return static_cast<uint64_t>(i - j) < static_cast<uint64_t>(s.head);
       }},
      {"neighbourhood that stays inside", Precision::Exact,
       [](B &m) {
         Value zero = m.constant(0), last = m.constant(m.sizes.keys - 5);
         Value first = m.max(m.min(m.add(m.i, -2), last), zero);
         return m.both(m.le(first, m.j), m.le(m.j, m.add(first, 4)));
       },
       [](int64_t i, int64_t j, Sizes s) {
         int64_t first =
             std::max<int64_t>(std::min<int64_t>(i - 2, s.keys - 5), 0);
         return first <= j && j <= first + 4;
       }},
      {"anti-diagonal window", Precision::Exact,
       [](B &m) {
         return m.both(m.le(m.j, m.sub(m.constant(7), m.i)),
                       m.le(m.add(m.i, -2), m.j));
       },
       [](int64_t i, int64_t j, Sizes) { return j <= 7 - i && j >= i - 2; }},
  };
}

std::vector<TestMask> getBlocks() {
  return {
      {"chunks", Precision::Exact,
       [](B &m) { return m.eq(m.div(m.i, 4), m.div(m.j, 4)); },
       [](int64_t i, int64_t j, Sizes) { return i / 4 == j / 4; }},
      {"causal chunks, by shifts", Precision::Exact,
       [](B &m) {
         auto chunk = [&](Value x) {
           return m.make<arith::ShRUIOp>(x, m.constant(2));
         };
         return m.both(m.eq(chunk(m.i), chunk(m.j)), m.le(m.j, m.i));
       },
       [](int64_t i, int64_t j, Sizes) { return i / 4 == j / 4 && j <= i; }},
      {"chunk by its start", Precision::Exact,
       [](B &m) {
         return m.both(m.le(m.sub(m.i, m.rem(m.i, 5)), m.j), m.le(m.j, m.i));
       },
       [](int64_t i, int64_t j, Sizes) { return j >= i - i % 5 && j <= i; }},
      {"chunk by a mask of bits", Precision::Exact,
       [](B &m) {
         Value start = m.make<arith::AndIOp>(m.i, m.constant(-4));
         return m.both(m.le(start, m.j), m.le(m.j, m.i));
       },
       [](int64_t i, int64_t j, Sizes) { return j >= (i & -4) && j <= i; }},
      {"block causal", Precision::Exact,
       [](B &m) { return m.le(m.div(m.j, 3), m.div(m.i, 3)); },
       [](int64_t i, int64_t j, Sizes) { return j / 3 <= i / 3; }},
      {"block diagonal of other sizes", Precision::Exact,
       [](B &m) { return m.eq(m.div(m.i, 2), m.div(m.j, 3)); },
       [](int64_t i, int64_t j, Sizes) { return i / 2 == j / 3; }},
      {"blocks of a window", Precision::Exact,
       [](B &m) {
         Value block = m.div(m.i, 3), other = m.div(m.j, 3);
         return m.both(m.le(m.add(block, -1), other),
                       m.le(other, m.add(block, 1)));
       },
       [](int64_t i, int64_t j, Sizes) {
         return std::abs(i / 3 - j / 3) <= 1;
       }},
      {"chunk and the one before", Precision::Exact,
       [](B &m) {
         Value back = m.sub(m.div(m.i, 4), m.div(m.j, 4));
         return m.both(m.le(m.constant(0), back), m.le(back, m.constant(1)));
       },
       [](int64_t i, int64_t j, Sizes) {
         int64_t back = i / 4 - j / 4;
         return back == 0 || back == 1;
       }},
      {"quotient of the distance",
       Precision::ExactVisits, // divsi rounds to zero: -2 ... 2
       [](B &m) { return m.eq(m.div(m.sub(m.i, m.j), 3), m.constant(0)); },
       [](int64_t i, int64_t j, Sizes) { return (i - j) / 3 == 0; }},
  };
}

std::vector<TestMask> getUnions() {
  return {
      {"not a window", Precision::Exact,
       [](B &m) { return m.no(m.window(3, 1)); },
       [](int64_t i, int64_t j, Sizes) { return j < i - 3 || j > i + 1; }},
      {"sink and window", Precision::Exact,
       [](B &m) { return m.either(m.lt(m.j, 2), m.window(2, 0)); },
       [](int64_t i, int64_t j, Sizes) {
         return j < 2 || (j >= i - 2 && j <= i);
       }},
      {"causal, sink or window", Precision::Exact,
       [](B &m) {
         return m.both(m.le(m.j, m.i),
                       m.either(m.lt(m.j, m.h), m.le(m.add(m.i, -3), m.j)));
       },
       [](int64_t i, int64_t j, Sizes s) {
         return j <= i && (j < s.head || j >= i - 3);
       }},
      {"three bands", Precision::Exact,
       [](B &m) {
         Value near = m.window(1, 1), p = m.add(m.i, 6), n = m.add(m.i, -6);
         Value far = m.either(m.both(m.le(p, m.j), m.le(m.j, m.add(p, 1))),
                              m.both(m.le(n, m.j), m.le(m.j, m.add(n, 1))));
         return m.either(near, far);
       },
       [](int64_t i, int64_t j, Sizes) {
         int64_t d = j - i;
         return (d >= -1 && d <= 1) || d == 6 || d == 7 || d == -6 || d == -5;
       }},
      {"shared prefix and own chunk", Precision::Exact,
       [](B &m) {
         Value own = m.both(m.eq(m.div(m.i, 4), m.div(m.j, 4)), m.le(m.j, m.i));
         return m.either(m.lt(m.j, 3), own);
       },
       [](int64_t i, int64_t j, Sizes) {
         return j < 3 || (i / 4 == j / 4 && j <= i);
       }},
      {"contradiction", Precision::Exact,
       [](B &m) {
         return m.both(m.le(m.j, m.add(m.i, -1)), m.le(m.add(m.i, 2), m.j));
       },
       [](int64_t, int64_t, Sizes) { return false; }},
      {"windows in rows", Precision::ExactVisits,
       [](B &m) {
         Value early = m.lt(m.i, 5);
         return m.either(m.both(early, m.window(4, 0)),
                         m.both(m.no(early), m.lt(m.j, 4)));
       },
       [](int64_t i, int64_t j, Sizes) {
         return i < 5 ? j >= i - 4 && j <= i : j < 4;
       }},
      {"flag", Precision::Exact,
       [](B &m) {
         Value flag = m.lt(m.constant(3), m.h);
         return m.both(flag, m.le(m.j, m.i));
       },
       [](int64_t i, int64_t j, Sizes s) { return s.head > 3 && j <= i; }},
  };
}

/// Rows of one tile that see keys for different reasons: tiles that are visited
/// are exact, full ones may be taken as partial.
std::vector<TestMask> getBounded() {
  return {
      {"global rows and keys, and a window (BigBird, Longformer)",
       Precision::ExactVisits,
       [](B &m) {
         Value global = m.either(m.lt(m.i, 2), m.lt(m.j, 2));
         return m.either(global, m.window(1, 1));
       },
       [](int64_t i, int64_t j, Sizes) {
         return i < 2 || j < 2 || std::abs(i - j) <= 1;
       }},
      {"select", Precision::ExactVisits,
       [](B &m) {
         Value first = m.le(m.i, m.constant(3));
         return arith::SelectOp::create(m.b, first, m.le(m.j, m.i),
                                        m.le(m.i, m.j))
             .getResult();
       },
       [](int64_t i, int64_t j, Sizes) { return i <= 3 ? j <= i : j >= i; }},
      {"causal and a remainder", Precision::Bounded,
       [](B &m) {
         return m.both(m.le(m.j, m.i), m.le(m.constant(1), m.rem(m.j, 2)));
       },
       [](int64_t i, int64_t j, Sizes) { return j <= i && j % 2 == 1; }},
      {"dilated window", Precision::Bounded,
       [](B &m) {
         Value step = m.rem(m.sub(m.i, m.j), 2);
         return m.both(m.window(4, 4), m.eq(step, m.constant(0)));
       },
       [](int64_t i, int64_t j, Sizes) {
         return std::abs(i - j) <= 4 && (i - j) % 2 == 0;
       }},
      {"strided (Sparse Transformer)", Precision::Bounded,
       [](B &m) {
         Value far = m.eq(m.rem(m.sub(m.i, m.j), 4), m.constant(0));
         return m.both(m.le(m.j, m.i), m.either(m.window(3, 0), far));
       },
       [](int64_t i, int64_t j, Sizes) {
         return j <= i && (j >= i - 3 || (i - j) % 4 == 0);
       }},
      {"fixed (Sparse Transformer)", Precision::Bounded,
       [](B &m) {
         Value own = m.eq(m.div(m.i, 4), m.div(m.j, 4));
         return m.both(m.le(m.j, m.i),
                       m.either(own, m.le(m.constant(3), m.rem(m.j, 4))));
       },
       [](int64_t i, int64_t j, Sizes) {
         return j <= i && (i / 4 == j / 4 || j % 4 >= 3);
       }},
      {"butterfly (Pixelfly)", Precision::Bounded,
       [](B &m) {
         Value bits = m.make<arith::XOrIOp>(m.div(m.i, 2), m.div(m.j, 2));
         Value less = m.make<arith::AndIOp>(bits, m.add(bits, -1));
         return m.eq(less, m.constant(0));
       },
       [](int64_t i, int64_t j, Sizes) {
         int64_t bits = (i / 2) ^ (j / 2);
         return (bits & (bits - 1)) == 0;
       }},
      {"neighbourhood of an image 4 wide (NATTEN)", Precision::Bounded,
       [](B &m) {
         auto isNear = [&](Value x, Value y) {
           return m.both(m.le(m.add(x, -1), y), m.le(y, m.add(x, 1)));
         };
         return m.both(isNear(m.div(m.i, 4), m.div(m.j, 4)),
                       isNear(m.rem(m.i, 4), m.rem(m.j, 4)));
       },
       [](int64_t i, int64_t j, Sizes) {
         return std::abs(i / 4 - j / 4) <= 1 && std::abs(i % 4 - j % 4) <= 1;
       }},
  };
}

class KeyTilesTest : public testing::TestWithParam<TestMask> {};

TEST_P(KeyTilesTest, AgreesWithBruteForce) {
  const TestMask &mask = GetParam();
  MaskChecker checker(mask.build, mask.isVisible, mask.precision);
  for (int64_t rows : {1, 2, 5, 8, 11})
    for (int64_t keys : {0, 1, 3, 6, 9, 12})
      for (int64_t head : {0, 2, 7}) {
        checker.check({rows, keys, head});
        if (HasFatalFailure())
          return;
      }
}

std::string getName(const testing::TestParamInfo<TestMask> &info) {
  std::string name = info.param.name;
  for (char &c : name)
    if (!isalnum(c))
      c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Bands, KeyTilesTest, testing::ValuesIn(getBands()),
                         getName);
INSTANTIATE_TEST_SUITE_P(Blocks, KeyTilesTest, testing::ValuesIn(getBlocks()),
                         getName);
INSTANTIATE_TEST_SUITE_P(Unions, KeyTilesTest, testing::ValuesIn(getUnions()),
                         getName);
INSTANTIATE_TEST_SUITE_P(Bounded, KeyTilesTest, testing::ValuesIn(getBounded()),
                         getName);

} // namespace
