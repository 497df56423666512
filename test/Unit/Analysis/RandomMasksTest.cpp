//===- RandomMasksTest.cpp - Generated masks, against brute force ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Thousands of predicates from a generator: whatever they are, no visible tile
// is skipped and no masked pair is in a full one, and the map of blocks is
// exact. ATTN_MASK_SEED gives another
// seed than the default.
//
//===----------------------------------------------------------------------===//

#include "MaskTest.h"

#include "llvm/Support/MathExtras.h"

#include <cstdlib>
#include <random>

using namespace mlir;
using namespace attn;

namespace {

/// An integer or truth value in both worlds.
struct Term {
  std::function<Value(MaskBuilder &)> build;
  std::function<int64_t(int64_t i, int64_t j, Sizes)> evaluate;
};

class Generator {
public:
  explicit Generator(unsigned seed) : random(seed) {}

  Term makePredicate(int depth) {
    if (depth == 0 || draw(4) == 0)
      return makeComparison();
    Term a = makePredicate(depth - 1);
    int64_t kind = draw(5);
    if (kind == 0)
      return {[=](MaskBuilder &m) { return m.no(a.build(m)); },
              [=](int64_t i, int64_t j, Sizes s) -> int64_t {
                return !a.evaluate(i, j, s);
              }};
    Term b = makePredicate(depth - 1);
    if (kind == 1)
      return binary<arith::XOrIOp>(
          a, b, [](int64_t x, int64_t y) -> int64_t { return x != y; });
    if (kind == 2 && depth > 1)
      return makeSelect(makeComparison(), a, b);
    if (kind % 2 == 0)
      return binary<arith::AndIOp>(a, b,
                                   [](int64_t x, int64_t y) { return x & y; });
    return binary<arith::OrIOp>(a, b,
                                [](int64_t x, int64_t y) { return x | y; });
  }

  int64_t draw(int64_t count) { return random() % count; }

private:
  using Function = int64_t (*)(int64_t, int64_t);

  template <typename OpTy>
  static Term binary(Term a, Term b, Function function) {
    return {[=](MaskBuilder &m) {
              Value x = a.build(m);
              return m.make<OpTy>(x, b.build(m));
            },
            [=](int64_t i, int64_t j, Sizes s) {
              return function(a.evaluate(i, j, s), b.evaluate(i, j, s));
            }};
  }

  static Term makeSelect(Term condition, Term a, Term b) {
    return {[=](MaskBuilder &m) -> Value {
              Value c = condition.build(m), x = a.build(m);
              return arith::SelectOp::create(m.b, c, x, b.build(m));
            },
            [=](int64_t i, int64_t j, Sizes s) {
              return condition.evaluate(i, j, s) ? a.evaluate(i, j, s)
                                                 : b.evaluate(i, j, s);
            }};
  }

  static Term makeConstant(int64_t number) {
    return {[=](MaskBuilder &m) { return m.constant(number); },
            [=](int64_t, int64_t, Sizes) { return number; }};
  }

  Term makeLeaf() {
    switch (draw(5)) {
    case 0:
      return makeConstant(draw(14) - 3);
    case 1:
      return {[](MaskBuilder &m) { return m.h; },
              [](int64_t, int64_t, Sizes s) { return s.head; }};
    case 2:
      return {[](MaskBuilder &m) { return m.i; },
              [](int64_t i, int64_t, Sizes) { return i; }};
    default:
      return {[](MaskBuilder &m) { return m.j; },
              [](int64_t, int64_t j, Sizes) { return j; }};
    }
  }

  Term makeInteger(int depth) {
    if (depth == 0 || draw(4) == 0)
      return makeLeaf();
    Term a = makeInteger(depth - 1), constant = makeConstant(1 + draw(5));
    Term power = makeConstant((int64_t(1) << draw(3)) - 1);
    switch (draw(16)) {
    case 0:
      return binary<arith::MulIOp>(a, makeConstant(draw(6) - 2),
                                   [](int64_t x, int64_t y) { return x * y; });
    case 1:
      return binary<arith::DivSIOp>(a, constant,
                                    [](int64_t x, int64_t y) { return x / y; });
    case 2:
      return binary<arith::FloorDivSIOp>(a, constant, [](int64_t x, int64_t y) {
        return llvm::divideFloorSigned(x, y);
      });
    case 3:
      return binary<arith::RemSIOp>(a, constant,
                                    [](int64_t x, int64_t y) { return x % y; });
    case 4:
      return binary<arith::MinSIOp>(
          a, makeInteger(depth - 1),
          [](int64_t x, int64_t y) { return std::min(x, y); });
    case 5:
      return binary<arith::MaxSIOp>(
          a, makeInteger(depth - 1),
          [](int64_t x, int64_t y) { return std::max(x, y); });
    case 6:
      return binary<arith::AndIOp>(a, power,
                                   [](int64_t x, int64_t y) { return x & y; });
    case 7:
      return binary<arith::ShRSIOp>(
          a, makeConstant(draw(3)),
          [](int64_t x, int64_t y) { return x >> y; });
    case 8:
      return binary<arith::CeilDivSIOp>(a, constant, [](int64_t x, int64_t y) {
        return llvm::divideCeilSigned(x, y);
      });
    case 9:
      return makeSelect(makeComparison(), a, makeInteger(depth - 1));
    case 10:
      return binary<arith::XOrIOp>(a, constant,
                                   [](int64_t x, int64_t y) { return x ^ y; });
    case 11: {
      // Of numbers that are not negative: others leave the range of positions.
      Term positive =
          binary<arith::MaxSIOp>(a, makeConstant(0), [](int64_t x, int64_t y) {
            return std::max(x, y);
          });
      return binary<arith::DivUIOp>(positive, constant,
                                    [](int64_t x, int64_t y) { return x / y; });
    }
    case 12:
    case 13:
      return binary<arith::SubIOp>(a, makeInteger(depth - 1),
                                   [](int64_t x, int64_t y) { return x - y; });
    default:
      return binary<arith::AddIOp>(a, makeInteger(depth - 1),
                                   [](int64_t x, int64_t y) { return x + y; });
    }
  }

  Term makeComparison() {
    using Predicate = arith::CmpIPredicate;
    int64_t predicate = draw(10); // sle and slt twice as often
    Predicate kinds[] = {Predicate::eq,  Predicate::ne,  Predicate::slt,
                         Predicate::sle, Predicate::sgt, Predicate::sge,
                         Predicate::ult, Predicate::uge, Predicate::slt,
                         Predicate::sle};
    Predicate kind = kinds[predicate];
    int depth = draw(3);
    Term a = makeInteger(depth), b = makeInteger(draw(2));
    return {[=](MaskBuilder &m) {
              Value x = a.build(m);
              return m.cmp(kind, x, b.build(m));
            },
            [=](int64_t i, int64_t j, Sizes s) -> int64_t {
              return arith::applyCmpPredicate(
                  kind, APInt(64, a.evaluate(i, j, s), true),
                  APInt(64, b.evaluate(i, j, s), true));
            }};
  }

  std::mt19937 random;
};

TEST(RandomMasksTest, AreSound) {
  const char *given = std::getenv("ATTN_MASK_SEED");
  unsigned seed = given ? std::strtoul(given, nullptr, 10) : 20240607;
  std::cout << "seed " << seed << "\n";
  int64_t numVisited = 0, numVisible = 0;
  for (unsigned number = 0; number < 4000; ++number) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << " mask " << number);
    Generator generator(seed * 4001 + number);
    Term mask = generator.makePredicate(3);
    MaskChecker checker(
        mask.build,
        [&](int64_t i, int64_t j, Sizes s) {
          return mask.evaluate(i, j, s) != 0;
        },
        Precision::Bounded);
    Sizes sizes{1 + generator.draw(11), generator.draw(14), generator.draw(8)};
    int64_t tiles[] = {1 + generator.draw(4), 1 + generator.draw(5)};
    checker.check(sizes, tiles[0], tiles[1]);
    if (HasFatalFailure())
      return;
    numVisited += checker.numVisited;
    numVisible += checker.numVisible;
  }
  std::cout << "visited " << numVisited << " tiles, visible " << numVisible
            << "\n";
  // Most of what is generated is understood.
  EXPECT_LT(numVisited * 2, numVisible * 3);
}

} // namespace
