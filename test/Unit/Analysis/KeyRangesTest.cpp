//===- KeyRangesTest.cpp - Bounds of key loops, against brute force -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every tile of every small size: a key tile is visited exactly if some pair
// in it is visible, and taken as full exactly if every pair is. For masks that
// the analysis only bounds, both hold in one direction.
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/KeyRanges.h"
#include "attn/Dialect/Attn/IR/NamedMods.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/MLIRContext.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace attn;

namespace {

/// M and N, and the value of the argument h.
struct Sizes {
  int64_t rows, keys, head;
};

/// The arguments of a mask_mod region, and the builder in it.
struct MaskBuilder {
  ImplicitLocOpBuilder &b;
  Value h, i, j;
  Sizes sizes;

  Value constant(int64_t number) {
    return arith::ConstantIndexOp::create(b, number);
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, x, y); }
  Value mul(Value x, int64_t y) {
    return arith::MulIOp::create(b, x, constant(y));
  }
  Value cmp(arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, predicate, x, y);
  }
  Value le(Value x, Value y) { return cmp(arith::CmpIPredicate::sle, x, y); }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, x, y); }
  Value either(Value x, Value y) { return arith::OrIOp::create(b, x, y); }
  Value no(Value x) {
    Value yes = arith::ConstantOp::create(b, b.getBoolAttr(true));
    return arith::XOrIOp::create(b, x, yes);
  }
};

struct TestMask {
  const char *name;
  bool isExact;
  std::function<Value(MaskBuilder &)> build;
  std::function<bool(int64_t i, int64_t j, Sizes)> isVisible;
};

void PrintTo(const TestMask &mask, std::ostream *os) { *os << mask.name; }

std::vector<TestMask> getMasks() {
  using B = MaskBuilder;
  return {
      {"causal(top_left)", true, [](B &m) { return m.le(m.j, m.i); },
       [](int64_t i, int64_t j, Sizes) { return j <= i; }},
      {"causal(bottom_right)", true,
       [](B &m) {
         return m.le(m.j, m.add(m.i, m.constant(m.sizes.keys - m.sizes.rows)));
       },
       [](int64_t i, int64_t j, Sizes s) { return j <= i + s.keys - s.rows; }},
      {"left window", true,
       [](B &m) { return m.le(m.sub(m.i, m.constant(2)), m.j); },
       [](int64_t i, int64_t j, Sizes) { return j >= i - 2; }},
      {"window of both sides", true,
       [](B &m) {
         return m.both(m.le(m.sub(m.i, m.constant(3)), m.j),
                       m.le(m.j, m.add(m.i, m.constant(1))));
       },
       [](int64_t i, int64_t j, Sizes) { return j >= i - 3 && j <= i + 1; }},
      {"causal(bottom_right) and window", true,
       [](B &m) {
         Value p = m.add(m.i, m.constant(m.sizes.keys - m.sizes.rows));
         return m.both(m.le(m.j, p), m.no(m.le(m.j, m.sub(p, m.constant(2)))));
       },
       [](int64_t i, int64_t j, Sizes s) {
         int64_t p = i + s.keys - s.rows;
         return j <= p && j > p - 2;
       }},
      {"diagonal", true,
       [](B &m) { return m.cmp(arith::CmpIPredicate::eq, m.j, m.i); },
       [](int64_t i, int64_t j, Sizes) { return i == j; }},
      {"padding by a value of the head, and causal", true,
       [](B &m) {
         return m.both(m.cmp(arith::CmpIPredicate::slt, m.j, m.h),
                       m.le(m.j, m.i));
       },
       [](int64_t i, int64_t j, Sizes s) { return j < s.head && j <= i; }},
      {"prefix", true,
       [](B &m) { return m.either(m.le(m.j, m.i), m.le(m.j, m.h)); },
       [](int64_t i, int64_t j, Sizes s) { return j <= i || j <= s.head; }},
      {"contradiction", false, // no row sees a key: there is no band

       [](B &m) {
         return m.both(m.le(m.j, m.sub(m.i, m.constant(1))),
                       m.le(m.add(m.i, m.constant(2)), m.j));
       },
       [](int64_t, int64_t, Sizes) { return false; }},
      {"never", true, [](B &m) { return m.le(m.i, m.sub(m.i, m.constant(1))); },
       [](int64_t, int64_t, Sizes) { return false; }},
      {"always", true, [](B &m) { return m.le(m.i, m.i); },
       [](int64_t, int64_t, Sizes) { return true; }},
      {"strided causal", true,
       [](B &m) { return m.le(m.mul(m.j, 3), m.add(m.mul(m.i, 2), m.h)); },
       [](int64_t i, int64_t j, Sizes s) { return 3 * j <= 2 * i + s.head; }},
      {"not a window", false,
       [](B &m) {
         return m.no(m.both(m.le(m.sub(m.i, m.constant(3)), m.j),
                            m.le(m.j, m.add(m.i, m.constant(1)))));
       },
       [](int64_t i, int64_t j, Sizes) { return j < i - 3 || j > i + 1; }},
      {"sink and window", false,
       [](B &m) {
         Value window =
             m.both(m.le(m.sub(m.i, m.constant(2)), m.j), m.le(m.j, m.i));
         return m.either(m.le(m.j, m.constant(0)), window);
       },
       [](int64_t i, int64_t j, Sizes) {
         return j <= 0 || (j >= i - 2 && j <= i);
       }},
      {"anti-diagonal window", false,
       [](B &m) {
         Value p = m.sub(m.constant(7), m.i);
         return m.both(m.le(m.j, p), m.le(m.sub(m.i, m.constant(2)), m.j));
       },
       [](int64_t i, int64_t j, Sizes) { return j <= 7 - i && j >= i - 2; }},
      {"causal and a remainder", false,
       [](B &m) {
         Value odd = arith::RemSIOp::create(m.b, m.j, m.constant(2));
         return m.both(m.le(m.j, m.i), m.le(m.constant(1), odd));
       },
       [](int64_t i, int64_t j, Sizes) { return j <= i && j % 2 == 1; }},
      {"select", false,
       [](B &m) {
         Value first = m.le(m.i, m.constant(3));
         return arith::SelectOp::create(m.b, first, m.le(m.j, m.i),
                                        m.le(m.i, m.j))
             .getResult();
       },
       [](int64_t i, int64_t j, Sizes) { return i <= 3 ? j <= i : j >= i; }},
      {"unsigned", false,
       [](B &m) {
         return m.cmp(arith::CmpIPredicate::ult, m.sub(m.i, m.j), m.h);
       },
       [](int64_t i, int64_t j, Sizes s) {
         return static_cast<uint64_t>(i - j) < static_cast<uint64_t>(s.head);
       }},
  };
}

class KeyRangesTest : public testing::TestWithParam<TestMask> {
protected:
  KeyRangesTest() { context.loadDialect<AttnDialect>(); }

  /// Checks all tiles of one problem.
  void checkSizes(Sizes sizes) {
    OpBuilder builder(&context);
    Location loc = builder.getUnknownLoc();
    Region region;
    Block *block = addMaskModBlock(builder, loc, region);
    ImplicitLocOpBuilder inside(loc, builder);
    MaskBuilder mask{inside, block->getArgument(1), block->getArgument(2),
                     block->getArgument(3), sizes};
    YieldOp::create(inside, GetParam().build(mask));
    MaskFormula formula = analyzeMask(region);
    for (int64_t tileM : {1, 3, 4})
      for (int64_t tileN : {1, 2, 3, 5})
        for (int64_t row = 0; row < sizes.rows; row += tileM)
          checkRowTile(formula, sizes, row,
                       std::min(row + tileM, sizes.rows) - 1, tileN);
  }

private:
  void checkRowTile(const MaskFormula &formula, Sizes sizes, int64_t first,
                    int64_t last, int64_t tileN) {
    OpBuilder builder(&context);
    Location loc = builder.getUnknownLoc();
    RowRange rows{builder.getIndexAttr(first), builder.getIndexAttr(last)};
    KeyVisibility visibility =
        computeVisibility(builder, loc, formula, rows, [&](Value) {
          return OpFoldResult(builder.getIndexAttr(sizes.head));
        });
    KeyTileBounds bounds = computeKeyTileBounds(
        builder, loc, visibility, tileN, builder.getIndexAttr(sizes.keys));
    int64_t begin = *getConstantIntValue(bounds.begin);
    int64_t fullBegin = *getConstantIntValue(bounds.fullBegin);
    int64_t fullEnd = *getConstantIntValue(bounds.fullEnd);
    int64_t end = *getConstantIntValue(bounds.end);
    int64_t raggedEnd = *getConstantIntValue(bounds.raggedEnd);
    SCOPED_TRACE(testing::Message()
                 << "M=" << sizes.rows << " N=" << sizes.keys
                 << " h=" << sizes.head << " rows " << first << ".." << last
                 << " tile_n=" << tileN << " bounds " << begin << " "
                 << fullBegin << " " << fullEnd << " " << end << " "
                 << raggedEnd);
    int64_t staticEnd = sizes.keys / tileN * tileN;
    ASSERT_TRUE(0 <= begin && begin <= fullBegin && fullBegin <= fullEnd &&
                fullEnd <= end && end <= staticEnd && end <= raggedEnd &&
                raggedEnd <= std::max(end, sizes.keys));
    for (int64_t bound : {begin, fullBegin, fullEnd, end})
      ASSERT_EQ(bound % tileN, 0);
    // The ragged loop runs once, over the ragged tile, or not at all.
    ASSERT_TRUE(raggedEnd == end || end == staticEnd);
    for (int64_t n = 0; n < sizes.keys; n += tileN) {
      bool isVisited = n < staticEnd ? begin <= n && n < end : n < raggedEnd;
      bool isFull = fullBegin <= n && n < fullEnd;
      checkKeyTile(sizes, first, last, n, std::min(n + tileN, sizes.keys),
                   isVisited, isFull, /*mayBeFull=*/n < staticEnd);
    }
  }

  void checkKeyTile(Sizes sizes, int64_t first, int64_t last, int64_t begin,
                    int64_t end, bool isVisited, bool isFull, bool mayBeFull) {
    bool some = false, all = true;
    for (int64_t i = first; i <= last; ++i)
      for (int64_t j = begin; j < end; ++j) {
        bool isVisible = GetParam().isVisible(i, j, sizes);
        some |= isVisible;
        all &= isVisible;
      }
    ASSERT_TRUE(isVisited || !some) << "visible tile skipped at " << begin;
    ASSERT_TRUE(!isFull || all) << "masked pair in a full tile at " << begin;
    if (!GetParam().isExact)
      return;
    ASSERT_EQ(isVisited, some) << "at " << begin;
    if (mayBeFull) {
      ASSERT_EQ(isFull, all) << "at " << begin;
    }
  }

  MLIRContext context;
};

TEST_P(KeyRangesTest, AgreesWithBruteForce) {
  for (int64_t rows : {1, 2, 5, 8, 11})
    for (int64_t keys : {0, 1, 3, 6, 9, 12})
      for (int64_t head : {0, 2, 7}) {
        checkSizes({rows, keys, head});
        if (HasFatalFailure())
          return;
      }
}

INSTANTIATE_TEST_SUITE_P(Masks, KeyRangesTest, testing::ValuesIn(getMasks()),
                         [](const testing::TestParamInfo<TestMask> &info) {
                           std::string name = info.param.name;
                           for (char &c : name)
                             if (!isalnum(c))
                               c = '_';
                           return name;
                         });

} // namespace
