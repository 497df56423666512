//===- Map.cpp - Maps, element by element ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"
#include "FloatPairs.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace attn::tile;

namespace {

/// Clones the body of a map for each register of its result. What depends on
/// the row alone, or on the column, is cloned once for each of them.
class MapExpansion {
public:
  /// `inputs` are the registers of the map's inputs.
  MapExpansion(OpBuilder &builder, MapOp op, RowWarps warps,
               ArrayRef<ValueRange> inputs);
  /// The registers of the result; with `inPairs` neighbours are computed
  /// together where there are instructions for that.
  SmallVector<Value> run(bool inPairs);

private:
  /// What a value of the body differs by, from register to register.
  enum Dependence : unsigned { None = 0, Row = 1, Column = 2, Both = 3 };

  static unsigned dependenceOf(FragmentType type);
  void noteDependences();
  void mapArguments(IRMapping &mapping, int64_t i);
  Value firstCoordinate(unsigned argument);
  Value coordinate(unsigned argument, int64_t number, int64_t distance);
  Value baseOfKeys(Operation *op);
  Value keyOf(Operation *sum, int64_t i);
  /// Numbers of register `i` among those of a dependence.
  int64_t numberOf(unsigned dependence, int64_t i) const;
  void cloneOp(Operation &inner, IRMapping &mapping, int64_t i);
  Value pack(ValuePair values);
  void clonePaired(Operation &inner, MutableArrayRef<IRMapping> mappings);
  Value getResult(const IRMapping &mapping);
  Value cloneBody(int64_t i);
  ValuePair cloneBodies(int64_t i);

  OpBuilder &builder;
  IndexBuilder index;
  MapOp op;
  Block &body;
  FragmentType type;
  RowWarps warps;
  ArrayRef<ValueRange> inputs;
  llvm::SmallDenseMap<Value, unsigned> dependences;
  /// Clones of an op by row or column register, where it differs by no more.
  llvm::DenseMap<std::pair<Operation *, int64_t>, Operation *> clones;
  /// Coordinates by the argument of the body and the register.
  llvm::DenseMap<std::pair<unsigned, int64_t>, Value> coordinates;
  /// Vectors of two values.
  llvm::DenseMap<std::pair<Value, Value>, Value> pairs;
  /// The sums of `keyOf`, by number as coordinates are.
  llvm::DenseMap<std::pair<Operation *, int64_t>, Value> keys;
};

MapExpansion::MapExpansion(OpBuilder &builder, MapOp op, RowWarps warps,
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
  if (argument != op.getInputs().size())
    return first = index.laneColumn(type.getLayout());
  Value warpRow = index.warpRow(type.getRows(), warps);
  return first = index.add(warpRow, index.laneRow(type.getLayout()));
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
Value MapExpansion::keyOf(Operation *sum, int64_t i) {
  if (!keys.contains({sum, -1})) {
    Value column = firstCoordinate(inputs.size() + 1);
    keys[{sum, -1}] = hide(builder, index.add(baseOfKeys(sum), column));
  }
  Value first = keys[{sum, -1}];
  Value &key = keys[{sum, type.getColumnNumber(i)}];
  if (!key)
    key = index.add(first, type.getPlace(i).second);
  return key;
}

int64_t MapExpansion::numberOf(unsigned dependence, int64_t i) const {
  switch (dependence) {
  case None:
    return 0;
  case Row:
    return type.getRowNumber(i);
  case Column:
    return type.getColumnNumber(i);
  default:
    return i;
  }
}

void MapExpansion::mapArguments(IRMapping &mapping, int64_t i) {
  unsigned argument = 0;
  for (; argument < inputs.size(); ++argument) {
    unsigned dependence = dependences.lookup(body.getArgument(argument));
    mapping.map(body.getArgument(argument),
                inputs[argument][numberOf(dependence, i)]);
  }
  Value row = body.getArgument(argument);
  if (!row.use_empty())
    mapping.map(row, coordinate(argument, type.getRowNumber(i),
                                type.getPlace(i).first));
  if (type.isRow())
    return;
  Value column = body.getArgument(++argument);
  auto isSum = [&](Operation *user) { return bool(baseOfKeys(user)); };
  if (!llvm::all_of(column.getUsers(), isSum))
    mapping.map(column, coordinate(argument, type.getColumnNumber(i),
                                   type.getPlace(i).second));
}

/// What `inner` is for register `i`.
void MapExpansion::cloneOp(Operation &inner, IRMapping &mapping, int64_t i) {
  // `share` of 16 are spread evenly over the elements.
  int64_t share = op.getExp2OnFma();
  bool exp2OnFma = i * share % 16 < share;
  if (auto exp2 = dyn_cast<math::Exp2Op>(inner); exp2 && exp2OnFma) {
    mapping.map(exp2.getResult(),
                buildExp2OnFma(builder, op.getLoc(),
                               mapping.lookup(exp2.getOperand())));
    return;
  }
  if (baseOfKeys(&inner)) {
    mapping.map(inner.getResult(0), keyOf(&inner, i));
    return;
  }
  unsigned dependence =
      inner.getNumResults() ? dependences.lookup(inner.getResult(0)) : Both;
  if (dependence == Both) {
    builder.clone(inner, mapping);
    return;
  }
  Operation *&clone = clones[{&inner, numberOf(dependence, i)}];
  if (!clone)
    clone = builder.clone(inner, mapping);
  mapping.map(inner.getResults(), clone->getResults());
}

/// What a row has for both is packed once, and a result not again.
Value MapExpansion::pack(ValuePair values) {
  Value &pair = pairs[{values[0], values[1]}];
  if (!pair)
    pair = packPair(builder, op.getLoc(), values);
  return pair;
}

/// One instruction for two registers.
void MapExpansion::clonePaired(Operation &inner,
                               MutableArrayRef<IRMapping> mappings) {
  SmallVector<Value> operands;
  for (Value operand : inner.getOperands())
    operands.push_back(pack({mappings[0].lookupOrDefault(operand),
                             mappings[1].lookupOrDefault(operand)}));
  Value pair = createPaired(builder, &inner, operands);
  ValuePair results = unpackPair(builder, inner.getLoc(), pair);
  pairs[{results[0], results[1]}] = pair;
  for (auto [mapping, result] : llvm::zip_equal(mappings, results))
    mapping.map(inner.getResult(0), result);
}

Value MapExpansion::getResult(const IRMapping &mapping) {
  return mapping.lookupOrDefault(
      cast<attn::tile::YieldOp>(body.getTerminator()).getValue());
}

/// What the body yields for register `i`.
Value MapExpansion::cloneBody(int64_t i) {
  IRMapping mapping;
  mapArguments(mapping, i);
  for (Operation &inner : body.without_terminator())
    cloneOp(inner, mapping, i);
  return getResult(mapping);
}

/// The same for it and the next one, its neighbour in the row.
ValuePair MapExpansion::cloneBodies(int64_t i) {
  IRMapping mappings[2];
  for (int64_t half : {0, 1})
    mapArguments(mappings[half], i + half);
  for (Operation &inner : body.without_terminator()) {
    if (isPaired(&inner) && dependences.lookup(inner.getResult(0)) == Both) {
      clonePaired(inner, mappings);
      continue;
    }
    for (int64_t half : {0, 1})
      cloneOp(inner, mappings[half], i + half);
  }
  return {getResult(mappings[0]), getResult(mappings[1])};
}

SmallVector<Value> MapExpansion::run(bool inPairs) {
  SmallVector<Value> results;
  inPairs &= type.hasPairs();
  for (int64_t i = 0, e = type.countElements(warps.count); i < e;
       i += inPairs ? 2 : 1)
    if (inPairs)
      llvm::append_range(results, cloneBodies(i));
    else
      results.push_back(cloneBody(i));
  return results;
}

struct MapLowering : TileOpLowering<MapOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(MapOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<ValueRange> inputs(adaptor.getInputs());
    MapExpansion expansion(rewriter, op, getRowWarps(), inputs);
    rewriter.replaceOpWithMultiple(op, {expansion.run(hasFloatPairs())});
    return success();
  }
};

} // namespace

void attn::tile::populateMapPatterns(TypeConverter &converter,
                                     RewritePatternSet &patterns) {
  patterns.add<MapLowering>(converter, patterns.getContext());
}
