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

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

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
    if (hasFloatPairs() && op.getKind() == Reduction::sum && type.hasPairs()) {
      rewriter.replaceOpWithMultiple(op, {sumPairs(rewriter, op.getLoc(), type,
                                                   rows, adaptor.getSource())});
      return success();
    }
    size_t chains = countChains(rows.size());
    SmallVector<Value> parts(rows.size() * chains);
    for (auto [i, row] : llvm::enumerate(rows))
      parts[i * chains] = row;
    for (auto [i, value] : llvm::enumerate(adaptor.getSource())) {
      Value &part = parts[type.getRowNumber(i) * chains + i % chains];
      part = part ? combine(rewriter, op.getLoc(), op.getKind(), part, value)
                  : value;
    }
    for (auto [i, row] : llvm::enumerate(rows)) {
      auto ofRow = ArrayRef(parts).slice(i * chains, chains);
      row = ofRow.front();
      for (Value part : ofRow.drop_front())
        // There may be fewer elements than parts.
        if (part)
          row = combine(rewriter, op.getLoc(), op.getKind(), row, part);
    }
    rewriter.replaceOpWithMultiple(op, {rows});
    return success();
  }

private:
  /// Parts of a row that do not wait for each other. Several rows do not.
  static size_t countChains(size_t rows) { return rows == 1 ? 4 : 1; }

  /// The even and the odd columns of a part have a sum each, until the end.
  static SmallVector<Value> sumPairs(OpBuilder &builder, Location loc,
                                     FragmentType type, ArrayRef<Value> init,
                                     ValueRange source) {
    size_t chains = countChains(init.size());
    SmallVector<Value> sums(init.size() * chains);
    auto add = [&](Value a, Value b) -> Value {
      return a ? LLVM::FAddOp::create(builder, loc, a, b).getResult() : b;
    };
    for (size_t i = 0; i < source.size(); i += 2) {
      Value &sum = sums[type.getRowNumber(i) * chains + i / 2 % chains];
      sum = add(sum, packPair(builder, loc, {source[i], source[i + 1]}));
    }
    SmallVector<Value> rows;
    for (auto [i, first] : llvm::enumerate(init)) {
      Value sum;
      for (Value part : ArrayRef(sums).slice(i * chains, chains))
        if (part)
          sum = add(sum, part);
      auto [even, odd] = unpackPair(builder, loc, sum);
      rows.push_back(add(first, add(even, odd)));
    }
    return rows;
  }
};

/// Butterfly over the lanes that have copies (PTX ISA, shfl.sync).
struct RowAllReduceLowering : TileOpLowering<RowAllReduceOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(RowAllReduceOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    SmallVector<Value> rows(adaptor.getSource());
    SmallVector<unsigned> copies =
        op.getSource().getType().getLayout().getCopies();
    for (Value &row : rows)
      for (unsigned bit : copies) {
        Value other = index.shuffle(NVVM::ShflKind::bfly, row, 1 << bit);
        row = combine(rewriter, loc, op.getKind(), row, other);
      }
    rewriter.replaceOpWithMultiple(op, {rows});
    return success();
  }
};

/// The rows of a warp, and which element of which lane has each.
class RowHolders {
public:
  struct Holder {
    int64_t element, lane;
  };

  RowHolders(FragmentType type, int64_t warps) {
    FragmentLayoutAttr layout = type.getLayout();
    for (int64_t i = 0, e = type.countElements(warps); i < e; ++i)
      for (int64_t lane = 0; lane < kLanes; ++lane)
        holders.try_emplace(type.getPlace(i).first + rowOf(layout, lane),
                            Holder{i, lane});
  }

  static constexpr int64_t kLanes = 32;

  /// The row of a lane's first element in its unit.
  static int64_t rowOf(FragmentLayoutAttr layout, int64_t lane) {
    int64_t row = 0;
    for (auto [bit, basis] : llvm::enumerate(layout.getLanes()))
      row += (lane >> bit & 1) * basis.first;
    return row;
  }

  /// Of the lanes that have copies, the first.
  Holder getHolder(int64_t row) const { return holders.at(row); }

private:
  std::map<int64_t, Holder> holders;
};

/// The row of an element is, as the lane's number goes through its values, one
/// of some elements of the source, and in a lane that is a sum over bits.
struct ConvertLayoutLowering : TileOpLowering<ConvertLayoutOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(ConvertLayoutOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    IndexBuilder index(rewriter, op.getLoc());
    FragmentType type = op.getResult().getType();
    RowHolders source(op.getSource().getType(), getWarps());
    SmallVector<Value> values;
    for (int64_t i = 0, e = type.countElements(getWarps()); i < e; ++i)
      values.push_back(exchange(index, rewriter, op, adaptor.getSource(),
                                getHolders(source, type, i)));
    rewriter.replaceOpWithMultiple(op, {values});
    return success();
  }

private:
  using Holders = SmallVector<RowHolders::Holder, RowHolders::kLanes>;

  /// Who has element `i` of each lane.
  static Holders getHolders(const RowHolders &source, FragmentType type,
                            int64_t i) {
    Holders holders;
    for (int64_t lane = 0; lane < RowHolders::kLanes; ++lane)
      holders.push_back(source.getHolder(
          type.getPlace(i).first + RowHolders::rowOf(type.getLayout(), lane)));
    return holders;
  }

  static Value exchange(IndexBuilder &index, OpBuilder &builder,
                        ConvertLayoutOp op, ValueRange source,
                        const Holders &holders) {
    SmallVector<int64_t> lanes, elements;
    for (size_t bit = 1; bit < holders.size(); bit *= 2) {
      lanes.push_back(holders[bit].lane ^ holders[0].lane);
      elements.push_back(holders[bit].element ^ holders[0].element);
    }
    Value lane =
        index.bitXor(index.sumOfBits(index.lane(), lanes), holders[0].lane);
    Value element = index.bitXor(index.sumOfBits(index.lane(), elements),
                                 holders[0].element);
    SmallVector<int64_t> wanted;
    for (RowHolders::Holder holder : holders)
      if (!llvm::is_contained(wanted, holder.element))
        wanted.push_back(holder.element);
    Value result;
    for (int64_t number : wanted) {
      Value value = index.shuffle(source[number], lane);
      if (!result) {
        result = value;
        continue;
      }
      Value isIt =
          arith::CmpIOp::create(builder, op.getLoc(), arith::CmpIPredicate::eq,
                                element, index.i32(number));
      result =
          arith::SelectOp::create(builder, op.getLoc(), isIt, value, result);
    }
    return result;
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
      block.add(change(op.getKind(), result,
                       block.use(rows[type.getRowNumber(i)]).front()));
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

struct FragmentColumnsLowering : TileOpLowering<FragmentColumnsOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(FragmentColumnsOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto begin = static_cast<int64_t>(op.getColumn());
    int64_t end = begin + op.getResult().getType().getShape()[1];
    SmallVector<Value> registers;
    for (auto [i, value] : llvm::enumerate(adaptor.getSource())) {
      int64_t column = op.getSource().getType().getPlace(i).second;
      if (begin <= column && column < end)
        registers.push_back(value);
    }
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

/// An element of the operand is the one of the source in the same place: lanes
/// have the same rows and columns of both.
struct ToOperandLowering : TileOpLowering<ToOperandOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(ToOperandOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FragmentType type = op.getOperand().getType();
    FragmentType source = op.getSource().getType();
    std::map<FragmentPlace, Value> values;
    for (auto [i, value] : llvm::enumerate(adaptor.getSource()))
      values[source.getPlace(i)] = value;
    SmallVector<Value> elements;
    for (int64_t i = 0, e = type.countElements(getWarps()); i < e; ++i)
      elements.push_back(values.at(type.getPlace(i)));
    int64_t registers = type.getRegisters(getWarps());
    PtxBlock block(rewriter, op.getLoc(), rewriter.getI32Type(), registers);
    if (failed(convert(block, type.getElementType(), elements, registers)))
      return rewriter.notifyMatchFailure(op, "no conversion to its elements");
    rewriter.replaceOpWithMultiple(op,
                                   {block.create(/*hasSideEffects=*/false)});
    return success();
  }

private:
  /// Adds what makes the registers of neighbouring elements.
  static LogicalResult convert(PtxBlock &block, Type element,
                               ArrayRef<Value> elements, int64_t registers) {
    auto numberOf = [](Type element) -> StringRef {
      return llvm::TypeSwitch<Type, StringRef>(element)
          .Case([](Float32Type) { return "cvt.rna.tf32.f32"; })
          .Case([](Float16Type) { return "cvt.rn.f16x2.f32"; })
          .Case([](BFloat16Type) { return "cvt.rn.bf16x2.f32"; })
          .Case([](Float8E4M3FNType) { return "cvt.rn.satfinite.e4m3x2.f32"; })
          .Case([](Float8E5M2Type) { return "cvt.rn.satfinite.e5m2x2.f32"; })
          .Default(StringRef());
    };
    StringRef name = numberOf(element);
    if (name.empty())
      return failure();
    size_t width = elements.size() / registers;
    SmallVector<std::string> half;
    if (width == 4)
      half = block.declare("%half", 2, /*bits=*/16);
    // PTX names the upper half of two first.
    auto pair = [&](const std::string &to, ArrayRef<Value> values) {
      SmallVector<std::string> names = block.use(values);
      block.add(name, {to, names[1], names[0]});
    };
    for (int64_t i = 0; i < registers; ++i) {
      std::string to = block.results(i, 1).front();
      ArrayRef<Value> values = elements.slice(i * width, width);
      if (width == 1) {
        // Left to itself, mma would cut the low bits off.
        block.add(name, {to, block.use(values).front()});
      } else if (width == 2) {
        pair(to, values);
      } else {
        pair(half[0], values.take_front(2));
        pair(half[1], values.take_back(2));
        block.add("mov.b32", {to, PtxBlock::list(half)});
      }
    }
    return success();
  }
};

struct ScaleRowsLowering : TileOpLowering<ScaleRowsOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(ScaleRowsOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    FragmentType type = op.getSource().getType();
    Type pair = VectorType::get(2, type.getElementType());
    SmallVector<Value> factors =
        llvm::map_to_vector(adaptor.getFactor(), [&](Value factor) -> Value {
          return createPair(rewriter, loc, factor, factor,
                            type.getElementType());
        });
    SmallVector<Value> results;
    for (auto [i, source] : llvm::enumerate(adaptor.getSource())) {
      Value factor = factors[type.getRowNumber(2 * i)];
      Value values = LLVM::BitcastOp::create(rewriter, loc, pair, source);
      Value product = LLVM::FMulOp::create(rewriter, loc, values, factor);
      results.push_back(LLVM::BitcastOp::create(
          rewriter, loc, rewriter.getI32Type(), product));
    }
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }
};

struct ScaleColumnsLowering : TileOpLowering<ScaleColumnsOp> {
  using TileOpLowering::TileOpLowering;
  LogicalResult
  matchAndRewrite(ScaleColumnsOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    FragmentType type = op.getSource().getType();
    Type pair = VectorType::get(2, type.getElementType());
    Type wide = VectorType::get(2, rewriter.getF32Type());
    SmallVector<Value> results;
    for (auto [i, source] : llvm::enumerate(adaptor.getSource())) {
      Value values = LLVM::FPExtOp::create(
          rewriter, loc, wide,
          LLVM::BitcastOp::create(rewriter, loc, pair, source));
      Value products[2];
      for (int64_t parity : {0, 1}) {
        Value factor =
            adaptor.getFactor()[type.getColumnNumber(2 * i + parity)];
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
  patterns
      .add<AnyLowering, ConvertLayoutLowering, FillLowering, RowReduceLowering,
           RowAllReduceLowering, ScaleColumnsLowering, ScaleRowsLowering,
           UpdateRowsLowering, FragmentColumnsLowering, ToOperandLowering>(
          converter, patterns.getContext());
}
