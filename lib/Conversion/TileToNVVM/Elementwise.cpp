//===- Elementwise.cpp - Fragments element by element -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fill, map, row reductions and the conversion of an accumulator to an operand:
// everything that works on the registers of a fragment.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attn::tile;

namespace {

/// Where a register of a fragment stands: rows by blocks of 16 and halves of
/// 8, columns by blocks of 8 and two neighbours.
struct Position {
  int64_t rowBlock, rowHalf, colBlock, colParity;
  /// Index among the registers of a row fragment.
  int64_t rowRegister() const { return rowBlock * 2 + rowHalf; }
  /// Index among the registers of a column fragment.
  int64_t columnRegister() const { return colBlock * 2 + colParity; }
};

/// The position of register `i` of an accumulator, row or column fragment.
Position positionOf(FragmentType type, int64_t i) {
  if (type.isRow())
    return {i / 2, i % 2, 0, 0};
  if (type.isColumn())
    return {0, 0, i / 2, i % 2};
  int64_t colBlocks = type.getShape()[1] / 8;
  int64_t block = i / 4;
  return {block / colBlocks, (i / 2) % 2, block % colBlocks, i % 2};
}

/// The column of a position, from the thread's first one on.
int64_t columnDistance(FragmentType type, const Position &position) {
  if (!type.isQuads())
    return position.colBlock * 8 + position.colParity;
  return position.colBlock / 2 * 16 + position.colParity * 2 +
         position.colBlock % 2;
}

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

/// Clones the body of a map for each register of its result. What depends on
/// the row alone, or on the column, is cloned once for each of them.
class MapExpansion {
public:
  /// `inputs` are the registers of the map's inputs.
  MapExpansion(OpBuilder &builder, MapOp op, int64_t warps,
               ArrayRef<ValueRange> inputs);
  /// The registers of the result.
  SmallVector<Value> run();

private:
  /// What a value of the body differs by, from register to register.
  enum Dependence : unsigned { None = 0, Row = 1, Column = 2, Both = 3 };

  static unsigned dependenceOf(FragmentType type);
  void noteDependences();
  void mapArguments(IRMapping &mapping, int64_t i);
  Value firstCoordinate(unsigned argument);
  Value coordinate(unsigned argument, int64_t number, int64_t distance);
  Value baseOfKeys(Operation *op);
  Value keyOf(Operation *sum, const Position &position);
  Value cloneBody(int64_t i);

  OpBuilder &builder;
  IndexBuilder index;
  MapOp op;
  Block &body;
  FragmentType type;
  int64_t warps;
  ArrayRef<ValueRange> inputs;
  llvm::SmallDenseMap<Value, unsigned> dependences;
  /// Clones of an op by row or column register, where it differs by no more.
  llvm::DenseMap<std::pair<Operation *, int64_t>, Operation *> clones;
  /// Coordinates by the argument of the body and the register.
  llvm::DenseMap<std::pair<unsigned, int64_t>, Value> coordinates;
  /// The sums of `keyOf`, by number as coordinates are.
  llvm::DenseMap<std::pair<Operation *, int64_t>, Value> keys;
};

MapExpansion::MapExpansion(OpBuilder &builder, MapOp op, int64_t warps,
                           ArrayRef<ValueRange> inputs)
    : builder(builder), index(builder, op.getLoc()), op(op),
      body(op.getBody().front()), type(op.getResult().getType()), warps(warps),
      inputs(inputs) {
  noteDependences();
}

unsigned MapExpansion::dependenceOf(FragmentType type) {
  return type.isRow() ? Row : type.isColumn() ? Column : Both;
}

void MapExpansion::noteDependences() {
  size_t numInputs = op.getInputs().size();
  for (auto [i, argument] : llvm::enumerate(body.getArguments()))
    dependences[argument] =
        i < numInputs
            ? dependenceOf(cast<FragmentType>(op.getInputs()[i].getType()))
        : i == numInputs ? Row
                         : Column;
  for (Operation &inner : body.without_terminator()) {
    bool mayDiffer = !isPure(&inner) || inner.getNumRegions() != 0 ||
                     (isa<math::Exp2Op>(inner) && op.getExp2OnFma() != 0);
    unsigned dependence = mayDiffer ? Both : None;
    for (Value operand : inner.getOperands())
      dependence |= dependences.lookup(operand);
    for (Value result : inner.getResults())
      dependences[result] = dependence;
  }
}

/// The first row or column of the thread.
Value MapExpansion::firstCoordinate(unsigned argument) {
  Value &first = coordinates[{argument, -1}];
  if (first)
    return first;
  Value lane = index.lane();
  if (argument != op.getInputs().size())
    return first = index.mul(index.bitAnd(lane, 3), type.isQuads() ? 4 : 2);
  Value warpRow = index.mul(index.warp(), type.getRows() / warps);
  return first = index.add(warpRow, index.shiftRight(lane, 2));
}

/// The first row or column of the thread plus `distance`, for register `number`
/// of a row or column fragment.
Value MapExpansion::coordinate(unsigned argument, int64_t number,
                               int64_t distance) {
  Value &known = coordinates[{argument, number}];
  if (known)
    return known;
  Value sum = index.add(firstCoordinate(argument), distance);
  return coordinates[{argument, number}] = sum;
}

/// What `op` adds to the column, the same for all elements; nothing otherwise.
Value MapExpansion::baseOfKeys(Operation *op) {
  auto sum = dyn_cast<arith::AddIOp>(op);
  if (!sum || sum->getBlock() != &body || type.isRow() ||
      !sum.getType().isInteger(32))
    return {};
  Value column = body.getArguments().back();
  Value base = sum.getLhs() == column   ? sum.getRhs()
               : sum.getRhs() == column ? sum.getLhs()
                                        : Value();
  // An argument of the kernel may have lost its block to the conversion.
  return base && base.getParentBlock() != &body ? base : Value();
}

/// An i32 as a value that LLVM knows nothing of.
static Value hide(OpBuilder &builder, Value value) {
  return LLVM::InlineAsmOp::create(
             builder, value.getLoc(), value.getType(), value, "mov.b32 $0, $1;",
             "=r,r", /*has_side_effects=*/false, /*is_align_stack=*/false,
             LLVM::TailCallKind::None, /*asm_dialect=*/LLVM::AsmDialectAttr(),
             /*operand_attrs=*/ArrayAttr())
      .getRes();
}

/// The key of a position: the thread's first one, hidden, plus a constant. LLVM
/// would weigh each as an induction variable (docs/Rationale/CompileTime.md).
Value MapExpansion::keyOf(Operation *sum, const Position &position) {
  if (!keys.contains({sum, -1})) {
    Value column = firstCoordinate(inputs.size() + 1);
    keys[{sum, -1}] = hide(builder, index.add(baseOfKeys(sum), column));
  }
  Value first = keys[{sum, -1}];
  Value &key = keys[{sum, position.columnRegister()}];
  if (!key)
    key = index.add(first, columnDistance(type, position));
  return key;
}

void MapExpansion::mapArguments(IRMapping &mapping, int64_t i) {
  Position position = positionOf(type, i);
  unsigned argument = 0;
  for (; argument < inputs.size(); ++argument) {
    unsigned dependence = dependences.lookup(body.getArgument(argument));
    mapping.map(
        body.getArgument(argument),
        inputs[argument][dependence == Row      ? position.rowRegister()
                         : dependence == Column ? position.columnRegister()
                                                : i]);
  }
  Value row = body.getArgument(argument);
  if (!row.use_empty())
    mapping.map(row, coordinate(argument, position.rowRegister(),
                                position.rowBlock * 16 + position.rowHalf * 8));
  if (type.isRow())
    return;
  Value column = body.getArgument(++argument);
  auto isSum = [&](Operation *user) { return bool(baseOfKeys(user)); };
  if (!llvm::all_of(column.getUsers(), isSum))
    mapping.map(column, coordinate(argument, position.columnRegister(),
                                   columnDistance(type, position)));
}

/// What the body yields for register `i`.
Value MapExpansion::cloneBody(int64_t i) {
  IRMapping mapping;
  mapArguments(mapping, i);
  Position position = positionOf(type, i);
  // `share` of 16 are spread evenly over the elements.
  int64_t share = op.getExp2OnFma();
  bool exp2OnFma = i * share % 16 < share;
  for (Operation &inner : body.without_terminator()) {
    auto exp2 = dyn_cast<math::Exp2Op>(inner);
    if (exp2 && exp2OnFma) {
      mapping.map(exp2.getResult(),
                  buildExp2OnFma(builder, op.getLoc(),
                                 mapping.lookup(exp2.getOperand())));
      continue;
    }
    if (baseOfKeys(&inner)) {
      mapping.map(inner.getResult(0), keyOf(&inner, position));
      continue;
    }
    unsigned dependence =
        inner.getNumResults() ? dependences.lookup(inner.getResult(0)) : Both;
    if (dependence == Both) {
      builder.clone(inner, mapping);
      continue;
    }
    int64_t number = dependence == Row      ? position.rowRegister()
                     : dependence == Column ? position.columnRegister()
                                            : 0;
    Operation *&clone = clones[{&inner, number}];
    if (!clone)
      clone = builder.clone(inner, mapping);
    mapping.map(inner.getResults(), clone->getResults());
  }
  return mapping.lookupOrDefault(
      cast<attn::tile::YieldOp>(body.getTerminator()).getValue());
}

SmallVector<Value> MapExpansion::run() {
  SmallVector<Value> results;
  for (int64_t i = 0, e = type.getRegisters(warps); i < e; ++i)
    results.push_back(cloneBody(i));
  return results;
}

struct MapLowering : TileOpLowering<MapOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(MapOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<ValueRange> inputs(adaptor.getInputs());
    MapExpansion expansion(rewriter, op, getWarps(), inputs);
    rewriter.replaceOpWithMultiple(op, {expansion.run()});
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
    for (auto [i, value] : llvm::enumerate(adaptor.getSource())) {
      Value &row = rows[positionOf(type, i).rowRegister()];
      row = combine(rewriter, op.getLoc(), op.getKind(), row, value);
    }
    rewriter.replaceOpWithMultiple(op, {rows});
    return success();
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
  patterns.add<AnyLowering, FillLowering, MapLowering, RowReduceLowering,
               RowAllReduceLowering, ScaleColumnsLowering, ScaleRowsLowering,
               ToOperandLowering>(converter, patterns.getContext());
}
