//===- MaskTest.h - Masks against brute force -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds mask_mod regions and checks what the analysis says of every tile
// against all pairs in it: a tile that is skipped has no visible pair, one that
// is taken as full has no masked one, and where the mask is said to be exact
// the converse holds too.
//
//===----------------------------------------------------------------------===//

#ifndef TEST_UNIT_ANALYSIS_MASKTEST_H
#define TEST_UNIT_ANALYSIS_MASKTEST_H

#include "attn/Analysis/KeyTiles.h"
#include "attn/Analysis/MaskProgram.h"
#include "attn/Dialect/Attn/IR/NamedMods.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/MLIRContext.h"

#include "gtest/gtest.h"

namespace attn {

/// M and N, and the value of the argument h.
struct Sizes {
  int64_t rows, keys, head;
};

/// The arguments of a mask_mod region, and the builder in it.
struct MaskBuilder {
  using Value = mlir::Value;
  using Predicate = mlir::arith::CmpIPredicate;

  mlir::ImplicitLocOpBuilder &b;
  Value h, i, j;
  Sizes sizes;

  template <typename OpTy>
  Value make(Value x, Value y) {
    return b.createOrFold<OpTy>(x, y);
  }
  Value constant(int64_t number) {
    return mlir::arith::ConstantIndexOp::create(b, number);
  }
  Value add(Value x, Value y) { return make<mlir::arith::AddIOp>(x, y); }
  Value add(Value x, int64_t y) { return add(x, constant(y)); }
  Value sub(Value x, Value y) { return make<mlir::arith::SubIOp>(x, y); }
  Value mul(Value x, int64_t y) {
    return make<mlir::arith::MulIOp>(x, constant(y));
  }
  Value div(Value x, int64_t y) {
    return make<mlir::arith::DivSIOp>(x, constant(y));
  }
  Value rem(Value x, int64_t y) {
    return make<mlir::arith::RemSIOp>(x, constant(y));
  }
  Value min(Value x, Value y) { return make<mlir::arith::MinSIOp>(x, y); }
  Value max(Value x, Value y) { return make<mlir::arith::MaxSIOp>(x, y); }
  Value cmp(Predicate predicate, Value x, Value y) {
    return mlir::arith::CmpIOp::create(b, predicate, x, y);
  }
  Value le(Value x, Value y) { return cmp(Predicate::sle, x, y); }
  Value lt(Value x, Value y) { return cmp(Predicate::slt, x, y); }
  Value lt(Value x, int64_t y) { return lt(x, constant(y)); }
  Value eq(Value x, Value y) { return cmp(Predicate::eq, x, y); }
  Value both(Value x, Value y) { return make<mlir::arith::AndIOp>(x, y); }
  Value either(Value x, Value y) { return make<mlir::arith::OrIOp>(x, y); }
  Value no(Value x) {
    Value yes = mlir::arith::ConstantOp::create(b, b.getBoolAttr(true));
    return mlir::arith::XOrIOp::create(b, x, yes);
  }
  /// i - left <= j <= i + right.
  Value window(int64_t left, int64_t right) {
    return both(le(add(i, -left), j), le(j, add(i, right)));
  }
};

using MaskFunction = std::function<mlir::Value(MaskBuilder &)>;
using VisibleFunction = std::function<bool(int64_t i, int64_t j, Sizes)>;

/// What the analysis says of a tile.
struct TileState {
  bool isVisited = false, isFull = false;
};

enum class Precision {
  Exact,       ///< empty, partial and full
  ExactVisits, ///< empty; full tiles may be taken as partial
  Bounded      ///< nothing visible is skipped
};

/// Checks a mask at all tiles of problems.
class MaskChecker {
public:
  MaskChecker(MaskFunction build, VisibleFunction isVisible,
              Precision precision)
      : build(std::move(build)), isVisible(std::move(isVisible)),
        precision(precision) {
    context.loadDialect<AttnDialect>();
  }

  void check(Sizes sizes, llvm::ArrayRef<int64_t> tileRows = {1, 3, 4},
             llvm::ArrayRef<int64_t> tileKeys = {1, 2, 3, 5});

  /// Tiles that were visited, and that had a visible pair.
  int64_t numVisited = 0, numVisible = 0;

private:
  KeyVisibility getVisibility(const MaskAnalysis &mask, Sizes sizes,
                              int64_t first, int64_t last, unsigned mostRanges);
  void checkBlocks(mlir::Region &region, Sizes sizes, int64_t tileM,
                   int64_t tileN);
  void checkRows(const MaskAnalysis &mask, Sizes sizes, int64_t first,
                 int64_t last, int64_t tileN);
  std::vector<TileState> getBandTiles(const KeyVisibility &visibility,
                                      int64_t keys, int64_t tileN);
  std::vector<TileState> getWalkTiles(const KeyVisibility &visibility,
                                      int64_t keys, int64_t tileN);
  void addSequence(const KeyTileSequence &sequence, int64_t tileN, bool isFull,
                   std::vector<TileState> &tiles);
  void checkTiles(llvm::ArrayRef<TileState> tiles, Sizes sizes, int64_t first,
                  int64_t last, int64_t tileN, Precision expected);

  MaskFunction build;
  VisibleFunction isVisible;
  Precision precision;
  mlir::MLIRContext context;
};

} // namespace attn

#endif // TEST_UNIT_ANALYSIS_MASKTEST_H
