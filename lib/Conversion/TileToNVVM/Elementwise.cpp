//===- Elementwise.cpp - Fragments element by element -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fill, row reductions and the conversion of an accumulator to an operand: what
// works on the registers of a fragment, beside maps (Map.cpp).
//
//===----------------------------------------------------------------------===//

#include "Common.h"
#include "FloatPairs.h"
#include "FragmentPosition.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace attn::tile;

namespace {

struct FillLowering : TileOpLowering<FillOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(FillOp op, Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    TypedAttr value = op.getValueAttr();
    if (Type element = op.getResult().getType().getElementType();
        element.isInteger())
      value = rewriter.getIntegerAttr(
          element, static_cast<int64_t>(op.getValue().convertToFloat()));
    Value constant = arith::ConstantOp::create(rewriter, op.getLoc(), value);
    int64_t count = op.getResult().getType().getRegisters(getWarps());
    SmallVector<Value> registers(count, constant);
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

/// What the reduction makes of two scalars.
Value combine(OpBuilder &builder, Location loc, Reduction kind, Value a,
              Value b) {
  if (kind == Reduction::max)
    return arith::MaxNumFOp::create(builder, loc, a, b);
  if (kind == Reduction::maximum)
    return arith::MaximumFOp::create(builder, loc, a, b);
  return arith::AddFOp::create(builder, loc, a, b);
}

struct RowReduceLowering : TileOpLowering<RowReduceOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(RowReduceOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FragmentType type = op.getSource().getType();
    SmallVector<Value> rows(adaptor.getInit());
    if (hasFloatPairs() && op.getKind() == Reduction::sum && !type.isRow()) {
      rewriter.replaceOpWithMultiple(op, {sumPairs(rewriter, op.getLoc(), type,
                                                   rows, adaptor.getSource())});
      return success();
    }
    for (auto [i, value] : llvm::enumerate(adaptor.getSource())) {
      Value &row = rows[positionOf(type, i).rowRegister()];
      row = combine(rewriter, op.getLoc(), op.getKind(), row, value);
    }
    rewriter.replaceOpWithMultiple(op, {rows});
    return success();
  }

private:
  /// The even and the odd columns of a row have a sum each, until the end.
  static SmallVector<Value> sumPairs(OpBuilder &builder, Location loc,
                                     FragmentType type, ArrayRef<Value> init,
                                     ValueRange source) {
    SmallVector<Value> sums(init.size());
    for (size_t i = 0; i < source.size(); i += 2) {
      Value &sum = sums[positionOf(type, i).rowRegister()];
      Value pair = packPair(builder, loc, {source[i], source[i + 1]});
      sum = sum ? LLVM::FAddOp::create(builder, loc, sum, pair).getResult()
                : pair;
    }
    return llvm::map_to_vector(
        llvm::zip_equal(init, sums), [&](auto entry) -> Value {
          auto [first, sum] = entry;
          auto [even, odd] = unpackPair(builder, loc, sum);
          Value both = arith::AddFOp::create(builder, loc, even, odd);
          return arith::AddFOp::create(builder, loc, first, both);
        });
  }
};

/// Butterfly over the four lanes of a quad (PTX ISA, shfl.sync).
struct RowAllReduceLowering : TileOpLowering<RowAllReduceOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(RowAllReduceOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    SmallVector<Value> rows(adaptor.getSource());
    for (Value &row : rows)
      for (int64_t distance : {1, 2}) {
        Value other = index.shuffle(NVVM::ShflKind::bfly, row, distance);
        row = combine(rewriter, loc, op.getKind(), row, other);
      }
    rewriter.replaceOpWithMultiple(op, {rows});
    return success();
  }
};

struct AnyLowering : TileOpLowering<AnyOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(AnyOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    Value zero = arith::ConstantOp::create(rewriter, loc,
                                           rewriter.getF32FloatAttr(0.0f));
    Value own;
    for (Value value : adaptor.getSource()) {
      Value isSet = arith::CmpFOp::create(
          rewriter, loc, arith::CmpFPredicate::UNE, value, zero);
      own = own ? arith::OrIOp::create(rewriter, loc, own, isSet).getResult()
                : isSet;
    }
    rewriter.replaceOpWithNewOp<NVVM::VoteSyncOp>(
        op, rewriter.getI1Type(), index.i32(-1), own,
        NVVM::VoteSyncKindAttr::get(getContext(), NVVM::VoteSyncKind::any));
    return success();
  }
};

/// A branch over the changes, in the block.
struct UpdateRowsLowering : TileOpLowering<UpdateRowsOp> {
  using TileOpLowering::TileOpLowering;

  /// Changes `value` by the number of its row.
  static std::string change(RowUpdate kind, StringRef value, StringRef number) {
    switch (kind) {
    case RowUpdate::subtract:
      return llvm::formatv("sub.rn.f32 {0}, {0}, {1}", value, number);
    case RowUpdate::multiply:
      return llvm::formatv("mul.rn.f32 {0}, {0}, {1}", value, number);
    case RowUpdate::keep:
      return llvm::formatv("setp.eq.f32 %none, {1}, 0f00000000;\n"
                           "\t@%none mov.b32 {0}, 0f00000000",
                           value, number);
    }
    llvm_unreachable("unknown row update");
  }

  LogicalResult
  matchAndRewrite(UpdateRowsOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FragmentType type = op.getSource().getType();
    ValueRange source = adaptor.getSource();
    ValueRange rows = adaptor.getRows();
    Value condition =
        arith::ExtUIOp::create(rewriter, op.getLoc(), rewriter.getI32Type(),
                               adaptor.getCondition().front());
    PtxBlock block(rewriter, op.getLoc(), rewriter.getF32Type(), source.size());
    SmallVector<std::string> results = block.update(source);
    block.add(".reg .pred %none");
    block.add("setp.eq.b32 %none, " + block.use(condition).front() + ", 0");
    block.add("@%none bra.uni UNCHANGED");
    for (auto [i, result] : llvm::enumerate(results))
      block.add(
          change(op.getKind(), result,
                 block.use(rows[positionOf(type, i).rowRegister()]).front()));
    block.label("UNCHANGED");
    rewriter.replaceOpWithMultiple(op,
                                   {block.create(/*hasSideEffects=*/false)});
    return success();
  }
};

/// Two f32 values rounded to a pair of `element`, in one instruction.
Value createPair(OpBuilder &builder, Location loc, Value first, Value second,
                 Type element) {
  IndexBuilder index(builder, loc);
  Value values = LLVM::PoisonOp::create(
      builder, loc, VectorType::get(2, builder.getF32Type()));
  values =
      LLVM::InsertElementOp::create(builder, loc, values, first, index.i32(0));
  values =
      LLVM::InsertElementOp::create(builder, loc, values, second, index.i32(1));
  return LLVM::FPTruncOp::create(builder, loc, VectorType::get(2, element),
                                 values);
}

/// Of each block of 16 rows a thread has four registers of eight columns.
struct FragmentColumnsLowering : TileOpLowering<FragmentColumnsOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(FragmentColumnsOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto begin = static_cast<int64_t>(op.getColumn());
    int64_t end = begin + op.getResult().getType().getShape()[1];
    SmallVector<Value> registers;
    for (auto [i, value] : llvm::enumerate(adaptor.getSource())) {
      int64_t column = 8 * positionOf(op.getSource().getType(), i).colBlock;
      if (begin <= column && column < end)
        registers.push_back(value);
    }
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

struct ToOperandLowering : TileOpLowering<ToOperandOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(ToOperandOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type element = op.getOperand().getType().getElementType();
    ValueRange source = adaptor.getSource();
    if (element.isF32()) {
      PtxBlock block(rewriter, loc, rewriter.getI32Type(), source.size());
      // An accumulator block makes an operand block, columns 2t first. Left to
      // itself, mma would cut the low bits off.
      constexpr size_t order[] = {0, 2, 1, 3};
      for (size_t i = 0; i < source.size(); ++i)
        block.add("cvt.rna.tf32.f32 " + block.results(i, 1).front() + ", " +
                  block.use(source[i - i % 4 + order[i % 4]]).front());
      rewriter.replaceOpWithMultiple(op,
                                     {block.create(/*hasSideEffects=*/false)});
      return success();
    }
    if (element.getIntOrFloatBitWidth() == 8) {
      rewriter.replaceOpWithMultiple(
          op, {convertToBytes(rewriter, loc, source, element)});
      return success();
    }
    if (!element.isF16() && !element.isBF16())
      return rewriter.notifyMatchFailure(op, "no conversion to its elements");
    // Two accumulator blocks, 8 values, make one operand block, 4 registers, in
    // the same order. PTX names the upper half first.
    int64_t numPairs = source.size() / 2;
    PtxBlock block(rewriter, loc, rewriter.getI32Type(), numPairs);
    std::string name = element.isF16() ? "f16" : "bf16";
    for (int64_t i = 0; i < numPairs; ++i) {
      SmallVector<std::string> pair = block.use(source.slice(2 * i, 2));
      block.add("cvt.rn." + name + "x2.f32 " + block.results(i, 1).front() +
                ", " + pair[1] + ", " + pair[0]);
    }
    rewriter.replaceOpWithMultiple(op,
                                   {block.create(/*hasSideEffects=*/false)});
    return success();
  }

private:
  /// Four accumulator blocks, 16 values, make one operand block: a register has
  /// a row of two of them.
  static SmallVector<Value> convertToBytes(OpBuilder &builder, Location loc,
                                           ValueRange source, Type element) {
    PtxBlock block(builder, loc, builder.getI32Type(), source.size() / 4);
    std::string convert = isa<Float8E4M3FNType>(element)
                              ? "cvt.rn.satfinite.e4m3x2.f32 "
                              : "cvt.rn.satfinite.e5m2x2.f32 ";
    SmallVector<std::string> half = block.declare("%half", 2, /*bits=*/16);
    for (size_t i = 0; i < source.size() / 4; ++i) {
      size_t first = i / 2 * 8 + i % 2 * 2;
      SmallVector<std::string> low = block.use(source.slice(first, 2));
      SmallVector<std::string> high = block.use(source.slice(first + 4, 2));
      block.add(convert + half[0] + ", " + low[1] + ", " + low[0]);
      block.add(convert + half[1] + ", " + high[1] + ", " + high[0]);
      block.add("mov.b32 " + block.results(i, 1).front() + ", " +
                PtxBlock::list(half));
    }
    return block.create(/*hasSideEffects=*/false);
  }
};

/// The registers of an operand block hold rows g, g + 8, g, g + 8.
struct ScaleRowsLowering : TileOpLowering<ScaleRowsOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(ScaleRowsOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    FragmentType type = op.getSource().getType();
    int64_t blocksPerRow = type.getShape()[1] / 16;
    Type pair = VectorType::get(2, type.getElementType());
    SmallVector<Value> factors =
        llvm::map_to_vector(adaptor.getFactor(), [&](Value factor) -> Value {
          return createPair(rewriter, loc, factor, factor,
                            type.getElementType());
        });
    SmallVector<Value> results;
    for (auto [i, source] : llvm::enumerate(adaptor.getSource())) {
      Value factor = factors[(i / 4 / blocksPerRow) * 2 + i % 2];
      Value values = LLVM::BitcastOp::create(rewriter, loc, pair, source);
      Value product = LLVM::FMulOp::create(rewriter, loc, values, factor);
      results.push_back(LLVM::BitcastOp::create(
          rewriter, loc, rewriter.getI32Type(), product));
    }
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }
};

/// The registers of an operand block hold columns 2t, 2t + 1 for two of them,
/// then 8 + 2t, 9 + 2t.
struct ScaleColumnsLowering : TileOpLowering<ScaleColumnsOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(ScaleColumnsOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    FragmentType type = op.getSource().getType();
    int64_t blocksPerRow = type.getShape()[1] / 16;
    Type pair = VectorType::get(2, type.getElementType());
    Type wide = VectorType::get(2, rewriter.getF32Type());
    SmallVector<Value> results;
    for (auto [i, source] : llvm::enumerate(adaptor.getSource())) {
      size_t block = i / 4 % blocksPerRow;
      Value values = LLVM::FPExtOp::create(
          rewriter, loc, wide,
          LLVM::BitcastOp::create(rewriter, loc, pair, source));
      Value products[2];
      for (int64_t parity : {0, 1}) {
        Value factor =
            adaptor.getFactor()[(2 * block + i % 4 / 2) * 2 + parity];
        Value element = LLVM::ExtractElementOp::create(rewriter, loc, values,
                                                       index.i32(parity));
        products[parity] = LLVM::FMulOp::create(rewriter, loc, element, factor);
      }
      results.push_back(LLVM::BitcastOp::create(
          rewriter, loc, rewriter.getI32Type(),
          createPair(rewriter, loc, products[0], products[1],
                     type.getElementType())));
    }
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }
};

} // namespace

void attn::tile::populateElementwisePatterns(TypeConverter &converter,
                                             RewritePatternSet &patterns) {
  patterns.add<AnyLowering, FillLowering, RowReduceLowering,
               RowAllReduceLowering, ScaleColumnsLowering, ScaleRowsLowering,
               UpdateRowsLowering, FragmentColumnsLowering, ToOperandLowering>(
      converter, patterns.getContext());
}
