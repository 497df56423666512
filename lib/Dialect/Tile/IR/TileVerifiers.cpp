//===- TileVerifiers.cpp - Verifiers of the attn_tile dialect -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileVerifiers.h"

using namespace mlir;
using namespace attn::tile;

LogicalResult attn::tile::verifyEqual(Operation *op, const Twine &what,
                                      int64_t expected, int64_t actual) {
  if (expected == actual)
    return success();
  return op->emitOpError() << "expected " << what << " to be " << expected
                           << ", got " << actual;
}

LogicalResult attn::tile::verifyNoBytes(Operation *op, Type element) {
  if (!isa<FloatType>(element) || element.getIntOrFloatBitWidth() > 8)
    return success();
  return op->emitOpError() << "expected elements of 16 bits or more, got "
                           << element;
}

/// A kernel whose tensor maps are described describes them all.
static LogicalResult verifyMapped(KernelOp kernel) {
  std::optional<ArrayRef<int64_t>> mapped = kernel.getMapped();
  std::optional<ArrayRef<int64_t>> heads = kernel.getMappedHeads();
  if (!mapped && !heads)
    return success();
  TypeRange parameters = kernel.getBody().getArgumentTypes();
  size_t maps = llvm::count_if(parameters, llvm::IsaPred<TensorMapType>);
  if (!mapped || !heads || mapped->size() != maps || heads->size() != maps)
    return kernel.emitOpError() << "expected mapped and mapped_heads for each "
                                   "of the "
                                << maps << " tensor maps";
  for (int64_t number : *mapped)
    if (number < 0 || number >= static_cast<int64_t>(parameters.size()) ||
        !isa<GlobalType>(parameters[number]))
      return kernel.emitOpError()
             << "expected mapped to have numbers of tensors, got " << number;
  return success();
}

LogicalResult KernelOp::verify() {
  int64_t consumers = getWarps(), producers = getProducerWarps().value_or(0);
  if (consumers < 1 || consumers > 32 || producers < 0 ||
      producers > 32 - consumers)
    return emitOpError() << "expected 1 to 32 warps, got " << consumers
                         << " and " << producers << " that load";
  int64_t shared = getSharing().value_or(1);
  if (shared < 1 || consumers % shared != 0)
    return emitOpError() << "expected sharing to divide " << consumers
                         << " warps, got " << shared;
  if (int64_t ctas = getClusterCtas().value_or(1); getCtaPairs() && ctas != 2)
    return emitOpError() << "expected cluster_ctas = 2 with cta_pairs, got "
                         << ctas;
  if (!isa<ReturnOp>(getBody().front().back()))
    return emitOpError() << "expected the body to end in attn_tile.return";
  return verifyMapped(*this);
}

/// Each warp has whole units of a fragment, and a thread no more of
/// it than it could hold if it held nothing else.
static LogicalResult verifyDealt(KernelOp kernel, Value value) {
  constexpr int64_t kMostRegisters = 1024;
  auto type = dyn_cast<FragmentType>(value.getType());
  if (!type)
    return success();
  int64_t warps = kernel.getRowWarps();
  int64_t rows = type.getLayout().getUnit().first;
  if (!type.isColumn() && type.getRows() % (rows * warps) != 0)
    return emitError(value.getLoc()) << "expected a fragment of " << rows
                                     << " rows or a multiple for each of "
                                     << warps << " warps, got " << type;
  if (int64_t registers = type.getRegisters(warps); registers > kMostRegisters)
    return emitError(value.getLoc())
           << "expected a fragment of at most " << kMostRegisters
           << " registers a thread, got " << registers << " of " << type;
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  WalkResult result = getBody().walk([&](Block *block) {
    for (Value argument : block->getArguments())
      if (failed(verifyDealt(*this, argument)))
        return WalkResult::interrupt();
    for (Operation &op : *block)
      for (Value value : op.getResults())
        if (failed(verifyDealt(*this, value)))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult attn::tile::verifyMatrixIndices(Operation *op, GlobalType global,
                                              int64_t cols, unsigned indices) {
  if (indices == global.getRank())
    return success();
  if (failed(verifyEqual(op, "the number of indices", global.getRank() - 1,
                         indices)))
    return failure();
  int64_t all = global.getShape().back();
  if (!ShapedType::isDynamic(all) && cols < all)
    return op->emitOpError() << "expected " << all
                             << " tile columns or the index of the first "
                                "column, got "
                             << cols << " columns";
  return success();
}

/// A tile is part of a matrix of the tensor: the last two dimensions.
static LogicalResult verifyTileOf(Operation *op, GlobalType global,
                                  SharedType tile, OperandRange indices) {
  if (tile.isRing())
    return op->emitOpError() << "expected one tile, got a ring";
  if (global.getElementType() != tile.getElementType())
    return op->emitOpError()
           << "expected element type " << global.getElementType() << ", got "
           << tile.getElementType();
  return verifyMatrixIndices(op, global, tile.getCols(), indices.size());
}

LogicalResult attn::tile::verifyHeads(Operation *op, int64_t heads,
                                      int64_t rows, size_t numIndices) {
  if (heads == 1)
    return success();
  if (heads < 1 || rows % heads != 0)
    return op->emitOpError() << "expected heads to divide the " << rows
                             << " rows of the tile, got " << heads;
  if (numIndices < 2)
    return op->emitOpError() << "expected an index of the first head";
  return success();
}

/// A tile of one row is part of a vector of the tensor: the last dimension.
static LogicalResult verifyVectorOf(Operation *op, GlobalType global,
                                    SharedType tile, OperandRange indices) {
  if (!tile.isVector() || tile.isRing())
    return op->emitOpError() << "expected one tile of one row, got " << tile;
  if (global.getElementType() != tile.getElementType())
    return op->emitOpError()
           << "expected element type " << global.getElementType() << ", got "
           << tile.getElementType();
  return verifyEqual(op, "the number of indices", global.getRank(),
                     indices.size());
}

/// Rows of pages are looked up one by one in a table [batches, columns].
template <typename OpTy>
static LogicalResult verifyPages(OpTy op) {
  if (op.getRows() && op.getHeads() != 1)
    return op.emitOpError() << "expected one head of a tile whose rows are "
                               "counted, got "
                            << op.getHeads();
  if (op.getFirst() && !op.getRows())
    return op.emitOpError() << "expected the number of rows with a first one";
  if (!op.getTable())
    return success();
  if (!op.getRows())
    return op.emitOpError() << "expected the number of rows with pages";
  GlobalType pool = op.getSource().getType(), table = op.getTable().getType();
  if (pool.getRank() != 4 || pool.isDynamicDim(2))
    return op.emitOpError() << "expected a pool of rank 4 with a static page "
                               "size, got "
                            << pool;
  Type entry = table.getElementType();
  if (table.getRank() != 2 || !(entry.isInteger(32) || entry.isInteger(64)))
    return op.emitOpError()
           << "expected a table of rank 2 of i32 or i64, got " << table;
  return success();
}

LogicalResult LoadOp::verify() {
  if (failed(verifyPages(*this)))
    return failure();
  if (getTile().getType().isVector())
    return verifyVectorOf(*this, getSource().getType(), getTile().getType(),
                          getIndices());
  if (failed(verifyHeads(*this, getHeads(), getTile().getType().getRows(),
                         getIndices().size())))
    return failure();
  return verifyTileOf(*this, getSource().getType(), getTile().getType(),
                      getIndices());
}

LogicalResult ColumnsOp::verify() {
  SharedType source = getSource().getType(), tile = getTile().getType();
  if (source.isRing() || tile.isRing() || source.getRows() != tile.getRows() ||
      source.getElementType() != tile.getElementType() ||
      source.getSwizzle() != tile.getSwizzle())
    return emitOpError() << "expected a tile with the rows, elements and "
                            "swizzle of the other, got "
                         << source << " and " << tile;
  std::optional<int64_t> column = getConstantIntValue(getColumn());
  if (tile.getCols() % tile.getPanelCols() != 0 ||
      (column && *column % tile.getPanelCols() != 0))
    return emitOpError() << "expected whole panels of " << tile.getPanelCols()
                         << " columns, got " << (column ? *column : 0)
                         << " and " << tile.getCols();
  if (tile.getCols() + column.value_or(0) > source.getCols())
    return emitOpError() << "expected at most " << source.getCols()
                         << " columns, got up to "
                         << tile.getCols() + column.value_or(0);
  return success();
}

LogicalResult CopyAsyncOp::verify() {
  if (failed(verifyPages(*this)) ||
      failed(verifyHeads(*this, getHeads(), getTile().getType().getRows(),
                         getIndices().size())))
    return failure();
  return verifyTileOf(*this, getSource().getType(), getTile().getType(),
                      getIndices());
}

GlobalType SequenceOp::getViewType(GlobalType packed) {
  ArrayRef<int64_t> shape = packed.getShape();
  SmallVector<int64_t> view = {1};
  if (shape.size() > 1)
    view.push_back(shape[1 - getRowDim(packed)]);
  view.push_back(ShapedType::kDynamic);
  if (shape.size() > 2)
    view.push_back(shape[2]);
  return GlobalType::get(packed.getContext(), view, packed.getElementType());
}

LogicalResult SequenceOp::verify() {
  GlobalType packed = getPacked().getType();
  if (packed.getRank() < 1 || packed.getRank() > 3)
    return emitOpError() << "expected a tensor [rows, H, D], [H, rows] or "
                            "[rows], got "
                         << packed;
  GlobalType view = getViewType(packed);
  if (getView().getType() != view)
    return emitOpError() << "expected a view of type " << view << ", got "
                         << getView().getType();
  return success();
}

LogicalResult CopyBulkOp::verify() {
  return verifyVectorOf(*this, getSource().getType(), getTile().getType(),
                        getIndices());
}

/// What completes, or arrives, at the first CTA's barrier is of a pair.
template <typename OpTy>
static LogicalResult verifyFirstCta(OpTy op) {
  if (!op.getFirstCta())
    return success();
  auto kernel = op->template getParentOfType<KernelOp>();
  if (kernel && !kernel.getCtaPairs())
    return op.emitOpError("expected cta_pairs of the kernel with first_cta");
  if (op.getCtas() > 1)
    return op.emitOpError()
           << "expected ctas = 1 with first_cta, got " << op.getCtas();
  return success();
}

LogicalResult MbarrierArriveOp::verify() { return verifyFirstCta(*this); }

LogicalResult CopyTmaOp::verify() {
  if (failed(verifyFirstCta(*this)))
    return failure();
  SharedType tile = getTile().getType();
  int64_t ctas = getCtas();
  // A swizzle repeats every eight rows.
  if (ctas < 1 || tile.getRows() % (8 * ctas) != 0)
    return emitOpError() << "expected ctas to divide the tile's "
                         << tile.getRows() << " rows into multiples of 8, got "
                         << ctas;
  auto pages = static_cast<int64_t>(getPages().size());
  if (pages > 0 && (ctas > 1 || tile.getRows() % (8 * pages) != 0))
    return emitOpError() << "expected pages to divide the tile's "
                         << tile.getRows()
                         << " rows, of one CTA, into multiples of 8, got "
                         << pages << " with ctas = " << ctas;
  int64_t parts = std::max(ctas, pages);
  if (std::optional<ArrayRef<int64_t>> rows = getRows();
      rows &&
      (parts > 1 || getFirstCta() || rows->size() != 2 || rows->front() < 0 ||
       rows->back() <= rows->front() || rows->back() > tile.getRows() ||
       rows->front() % 8 != 0 || rows->back() % 8 != 0))
    return emitOpError() << "expected rows [from, to] in multiples of 8 up to "
                         << tile.getRows() << ", of one CTA, got [" << *rows
                         << "]";
  auto expected = TensorMapType::getFor(tile, countRows() / parts);
  if (getSource().getType() != expected)
    return emitOpError() << "expected a tensor map of the tile's panels, "
                         << expected << ", got " << getSource().getType();
  if (getEvictFirst() && getEvictLast())
    return emitOpError() << "expected evict_first or evict_last, got both";
  // The last one may be a column.
  size_t least = pages > 0 ? 2 : 3, got = getIndices().size();
  if (got != least && got != least + 1)
    return emitOpError() << "expected " << least << " or " << least + 1
                         << " indices, got " << got;
  return success();
}

LogicalResult LoadOperandOp::verify() {
  SharedType tile = getTile().getType();
  FragmentType operand = getOperand().getType();
  bool isBytes = operand.isOperandBytes() && tile.getElementBytes() == 2;
  if (!isBytes && operand != FragmentType::getOperandA(
                                 operand.getShape(), operand.getElementType()))
    return emitOpError() << "expected an operand_a fragment, or operand_bytes "
                            "of 16-bit elements, got "
                         << operand;
  int64_t rows = tile.getRows(), cols = tile.getCols();
  if (getTranspose() && tile.getElementBytes() != 2)
    return emitOpError() << "expected elements of 16 bits with transpose, got "
                         << tile.getElementType();
  if (getTranspose() && isBytes)
    return emitOpError()
           << "expected an operand_a fragment with transpose, got " << operand;
  if (getTranspose())
    std::swap(rows, cols);
  if (failed(verifyEqual(*this, "rows", rows, operand.getRows())))
    return failure();
  return verifyEqual(*this, "columns", cols, operand.getShape()[1]);
}

static Type getElementTypeOf(Type type) {
  if (auto fragment = dyn_cast<FragmentType>(type))
    return fragment.getElementType();
  return cast<SharedType>(type).getElementType();
}

/// True if an `a` of 16 bits is multiplied by a `b` of 8.
static bool widens(Type a, SharedType b) {
  return b.getElementBytes() == 1 && (a.isF16() || a.isBF16());
}

/// acc [m, n] = a [m, k] * b [k, n], or a [k, m], or b [n, k], if `transposed`.
static LogicalResult verifyProduct(Operation *op, Type aType, bool aTransposed,
                                   SharedType b, bool transposed,
                                   FragmentType acc) {
  int64_t m, k;
  if (auto a = dyn_cast<FragmentType>(aType)) {
    if (aTransposed)
      return op->emitOpError()
             << "expected a shared tile with transpose_a, got " << a;
    if (!a.isOperand())
      return op->emitOpError()
             << "expected a to be an operand_a, operand_pairs or operand_bytes "
                "fragment, got "
             << a;
    m = a.getRows(), k = a.getShape()[1];
  } else {
    auto shared = cast<SharedType>(aType);
    m = shared.getRows(), k = shared.getCols();
    if (aTransposed)
      std::swap(m, k);
  }
  Type element = b.getElementType(), other = getElementTypeOf(aType);
  if (!areFactors(other, element) && !widens(other, b))
    return op->emitOpError() << "expected a and b of one element type, or of "
                                "8-bit floats, got "
                             << other << " and " << element;
  if (other.isInteger() != acc.getElementType().isInteger())
    return op->emitOpError()
           << "expected sums in i32 of operands of i8, and in f32 of others, "
              "got acc of "
           << acc.getElementType() << " beside a of " << other;
  if (other.isInteger() && (aTransposed || !transposed))
    return op->emitOpError() << "expected operands a [m, k] and b [n, k] of "
                                "i8, which no instruction transposes";
  // Of a product in tensor memory each lane reads the columns that it wants.
  if (!acc.isAccumulator() &&
      acc.getLayout() != FragmentType::getProductLayout(element, transposed))
    return op->emitOpError()
           << "expected acc to be an accumulator, or quads of an 8-bit b [k, "
              "n], got "
           << acc;
  if (int64_t depth = 256 / other.getIntOrFloatBitWidth(); k % depth != 0)
    return op->emitOpError() << "expected " << depth
                             << " products or a multiple, as one instruction "
                                "sums of "
                             << other << ", got " << k;
  if (failed(verifyEqual(op, "rows of acc", m, acc.getRows())) ||
      failed(verifyEqual(op, transposed ? "columns of b" : "rows of b", k,
                         transposed ? b.getCols() : b.getRows())))
    return failure();
  return verifyEqual(op, "columns of acc",
                     transposed ? b.getRows() : b.getCols(), acc.getShape()[1]);
}

LogicalResult ClearRowsOp::verify() {
  SharedType tile = getTile().getType();
  if (tile.isRing() || tile.isVector() || tile.getElementBytes() > 2)
    return emitOpError() << "expected a tile of rows of 16-bit or 8-bit "
                            "elements, got "
                         << tile;
  return success();
}

LogicalResult ChangeRowsOp::verify() {
  SharedType tile = getTile().getType();
  auto kernel = (*this)->getParentOfType<KernelOp>();
  int64_t atOnce = getBody().getNumArguments();
  if (tile.isRing() || tile.getElementBytes() < 2)
    return emitOpError() << "expected a tile of elements of 16 bits or more, "
                            "got "
                         << tile;
  if (!llvm::all_of(getBody().getArgumentTypes(), llvm::IsaPred<IndexType>) ||
      atOnce == 0)
    return emitOpError() << "expected arguments of type index, got "
                         << getBody().getArgumentTypes();
  if (kernel && tile.getRows() % (atOnce * kernel.getRowWarps()) != 0)
    return emitOpError() << "expected rows for each of " << kernel.getRowWarps()
                         << " warps, " << atOnce << " at once, got "
                         << tile.getRows();
  return success();
}

LogicalResult NarrowRowsOp::verify() {
  SharedType tile = getTile().getType();
  if (tile.isRing() || !tile.getElementType().isBF16())
    return emitOpError() << "expected a tile of bf16, got " << tile;
  auto narrow =
      SharedType::get(getContext(), tile.getShape(),
                      Float16Type::get(getContext()), tile.getSwizzle());
  if (getNarrow().getType() != narrow)
    return emitOpError() << "expected " << narrow << " of " << tile << ", got "
                         << getNarrow().getType();
  FragmentType factor = getFactor().getType();
  if (!factor.isRow() || factor.getRows() != tile.getRows())
    return emitOpError() << "expected a row fragment of " << tile.getRows()
                         << " rows as factor, got " << factor;
  return success();
}

void TransposeBytesOp::build(OpBuilder &, OperationState &state, Value tile) {
  auto type = cast<SharedType>(tile.getType());
  int64_t rows = type.getCols(), cols = type.getRows();
  state.addOperands(tile);
  state.addTypes(SharedType::get(
      type.getContext(), {rows, cols}, type.getElementType(),
      SharedType::getSwizzleFor(cols * type.getElementBytes())));
}

/// `to` is the transposed tile of `from`, in blocks of 32 rows and 16 columns.
static LogicalResult verifyTransposed(Operation *op, SharedType from,
                                      SharedType to) {
  if (from.isRing() || to.isRing())
    return op->emitOpError() << "expected tiles, got a ring";
  if (from.getElementBytes() != 1 ||
      from.getElementType() != to.getElementType())
    return op->emitOpError()
           << "expected tiles of one 8-bit type, got " << from.getElementType()
           << " and " << to.getElementType();
  if (from.getRows() % 32 != 0)
    return op->emitOpError()
           << "expected rows in multiples of 32, got " << from.getRows();
  if (failed(
          verifyEqual(op, "rows of the result", from.getCols(), to.getRows())))
    return failure();
  return verifyEqual(op, "columns of the result", from.getRows(), to.getCols());
}

static LogicalResult verifyWidened(Operation *op, SharedType from,
                                   SharedType to) {
  Type wide = to.getElementType();
  if (from.isRing() || to.isRing())
    return op->emitOpError() << "expected tiles, got a ring";
  if (from.getElementBytes() != 1 || !(wide.isF16() || wide.isBF16()))
    return op->emitOpError()
           << "expected an 8-bit tile and one of f16 or bf16, got "
           << from.getElementType() << " and " << wide;
  if (failed(
          verifyEqual(op, "rows of the result", from.getRows(), to.getRows())))
    return failure();
  return verifyEqual(op, "columns of the result", from.getCols(), to.getCols());
}

LogicalResult WidenBytesOp::verify() {
  return verifyWidened(*this, getTile().getType(), getResult().getType());
}

LogicalResult StoreWidenedOp::verify() {
  return verifyWidened(*this, getSource().getType(), getTile().getType());
}

LogicalResult TransposeBytesOp::verify() {
  return verifyTransposed(*this, getTile().getType(), getResult().getType());
}

LogicalResult StoreTransposedOp::verify() {
  return verifyTransposed(*this, getSource().getType(), getTile().getType());
}

LogicalResult FillOp::verify() {
  if (getResult().getType().getElementType().isF32() || getValue().isInteger())
    return success();
  return emitOpError() << "expected a whole number in a fragment of i32, got "
                       << getValueAttr();
}

LogicalResult MmaOp::verify() {
  // Its columns are read in the order in which bytes of b become operands.
  Type a = getA().getType();
  Type element = getElementTypeOf(a);
  bool ofBytes = getTransposeB() && widens(element, getB().getType());
  auto fragment = dyn_cast<FragmentType>(a);
  bool inByteOrder = fragment && fragment.isOperandBytes();
  if (ofBytes && ((fragment && !inByteOrder) || getTransposeA()))
    return emitOpError() << "expected a [m, k] in shared memory or an "
                            "operand_bytes fragment beside an 8-bit b [n, k], "
                            "got "
                         << a;
  if (inByteOrder && !ofBytes)
    return emitOpError()
           << "expected an 8-bit b [n, k] beside an operand_bytes "
              "fragment, got "
           << getB().getType();
  if (failed(verifyProduct(*this, a, getTransposeA(), getB().getType(),
                           getTransposeB(), getAcc().getType())))
    return failure();
  // No instruction transposes elements of 8 or 32 bits.
  if (fragment && !getTransposeB() && !fragment.isOperandPairs())
    return emitOpError() << "expected a to be an operand_pairs fragment beside "
                            "a b [k, n] of "
                         << element << ", got " << a;
  // Of [n, k] ldmatrix has the order of memory.
  if (fragment && getTransposeB() && element.isF32() &&
      fragment.isOperandPairs())
    return emitOpError() << "expected a to be an operand_a fragment beside a b "
                            "[n, k] of f32, got "
                         << a;
  return success();
}

LogicalResult MmaAsyncOp::verify() {
  FragmentType result = getResult().getType();
  SharedType b = getB().getType();
  if (b.getElementBytes() > 2)
    return emitOpError() << "expected operands of i8, f8E4M3FN, f8E5M2, f16 or "
                            "bf16, got "
                         << b;
  if (widens(getElementTypeOf(getA().getType()), b))
    return emitOpError() << "expected a and b of one element type, got "
                         << getElementTypeOf(getA().getType()) << " and "
                         << b.getElementType();
  if (auto a = dyn_cast<FragmentType>(getA().getType());
      a && a.isOperandBytes())
    return emitOpError() << "expected a to be an operand_a or operand_pairs "
                            "fragment, got "
                         << a;
  if (b.getElementBytes() == 1 && (!getTransposeB() || getTransposeA()))
    return emitOpError() << "expected 8-bit operands a [m, k] and b [n, k], "
                            "which wgmma does not transpose";
  if (getAcc() && getAcc().getType() != result)
    return emitOpError() << "expected acc to be of type " << result << ", got "
                         << getAcc().getType();
  if (isa<SharedType>(getA().getType()) != static_cast<bool>(getWarpgroup()))
    return emitOpError() << "expected a warpgroup with a shared tile, and only "
                            "with one";
  if (result.getShape().size() == 2 && result.getShape()[1] > 256)
    return emitOpError() << "expected at most 256 columns, got "
                         << result.getShape()[1];
  return verifyProduct(*this, getA().getType(), getTransposeA(),
                       getB().getType(), getTransposeB(), result);
}

LogicalResult MapOp::verify() {
  FragmentType result = getResult().getType();
  SmallVector<Type> expected;
  for (Value input : getInputs()) {
    auto type = cast<FragmentType>(input.getType());
    FragmentLayoutAttr layout = result.getLayout();
    Type element = type.getElementType();
    // An element may become one of another type.
    bool fits = result.withElements(element) == type;
    if (!fits && !result.isVector())
      fits = type == result.getRowType(element) ||
             (type.isColumn() && type.getLayout() == layout.getColumnLayout() &&
              type.getShape()[0] == result.getShape()[1]);
    if (!fits)
      return emitOpError() << "expected inputs to be " << result
                           << ", what it has for each row, or for each column, "
                              "got "
                           << type;
    expected.push_back(type.getElementType());
  }
  Type i32 = IntegerType::get(getContext(), 32);
  expected.append(result.isRow() ? 1 : 2, i32);
  if (getBody().getArgumentTypes() != TypeRange(expected))
    return emitOpError() << "expected the region to take " << expected.size()
                         << " arguments: elements, then "
                         << "coordinates as i32";
  auto yield = dyn_cast<YieldOp>(getBody().front().back());
  if (!yield || yield.getValue().getType() != result.getElementType())
    return emitOpError() << "expected the region to yield "
                         << result.getElementType();
  return success();
}

LogicalResult DropoutOp::verify() {
  FragmentType source = getSource().getType();
  if (!source.isAccumulator())
    return emitOpError() << "expected an accumulator, got " << source;
  if (source.getShape()[1] % 16 != 0)
    return emitOpError() << "expected columns to be a multiple of 16, got "
                         << source.getShape()[1];
  if (getHeads() < 1 || source.getRows() % getHeads() != 0)
    return emitOpError() << "expected heads to divide " << source.getRows()
                         << " rows, got " << getHeads();
  if (getTransposed() && getHeads() > 1)
    return emitOpError() << "expected one head with transposed, got "
                         << getHeads();
  if (getThreshold() > UINT32_MAX)
    return emitOpError() << "expected threshold to have 32 bits, got "
                         << getThreshold();
  return success();
}

LogicalResult RowReduceOp::verify() {
  FragmentType source = getSource().getType(), init = getInit().getType();
  if (!source.isVector() && source.getRowType(init.getElementType()) == init)
    return success();
  return emitOpError() << "expected a fragment and what it has for each row, "
                          "got "
                       << source << " and " << init;
}

LogicalResult ConvertLayoutOp::verify() {
  FragmentType source = getSource().getType(), result = getResult().getType();
  if (source.isRow() && result.isRow() &&
      source.getShape() == result.getShape() &&
      source.getElementType() == result.getElementType())
    return success();
  return emitOpError() << "expected row fragments of one shape and element "
                          "type, got "
                       << source << " and " << result;
}

LogicalResult AnyOp::verify() {
  if (getSource().getType().isRow())
    return success();
  return emitOpError() << "expected a row fragment, got "
                       << getSource().getType();
}

LogicalResult UpdateRowsOp::verify() {
  FragmentType source = getSource().getType();
  FragmentType rows = getRows().getType();
  if (!source.isVector() && source.getElementType().isF32() &&
      source.getRowType(rows.getElementType()) == rows)
    return success();
  return emitOpError() << "expected a fragment of f32 and what it has for each "
                          "row, got "
                       << source << " and " << rows;
}

LogicalResult ScaleRowsOp::verify() {
  FragmentType source = getSource().getType(), factor = getFactor().getType();
  if (!source.isOperand() || !factor.isRow())
    return emitOpError()
           << "expected an operand_a fragment and a row fragment, got "
           << source << " and " << factor;
  if (failed(verifyNoBytes(*this, source.getElementType())))
    return failure();
  return verifyEqual(*this, "rows of factor", source.getRows(),
                     factor.getRows());
}

LogicalResult ScaleColumnsOp::verify() {
  FragmentType source = getSource().getType(), factor = getFactor().getType();
  if (!source.isOperandPairs() || source.getElementType().isF32() ||
      !factor.isColumn())
    return emitOpError() << "expected an operand_a fragment of 16-bit elements "
                            "and a column fragment, got "
                         << source << " and " << factor;
  return verifyEqual(*this, "columns of factor", source.getShape()[1],
                     factor.getShape()[0]);
}

LogicalResult ToOperandOp::verify() {
  FragmentType source = getSource().getType(), operand = getOperand().getType();
  if (!source.getElementType().isF32() || source.isVector() ||
      operand.isVector() || operand.getElementType().isInteger(32) ||
      source.getShape() != operand.getShape())
    return emitOpError() << "expected a matrix of f32 and an operand of its "
                            "shape, got "
                         << source << " and " << operand;
  if (source.getLayout().getLanes() != operand.getLayout().getLanes())
    return emitOpError() << "expected an operand whose lanes have the rows and "
                            "columns of "
                         << source << ", got " << operand;
  return success();
}

LogicalResult FragmentColumnsOp::verify() {
  FragmentType source = getSource().getType(), result = getResult().getType();
  bool isSum = source.isAccumulator() || source.isLaneRow();
  if (!isSum || source.isVector() || result.isVector() ||
      source.getElementType().getIntOrFloatBitWidth() < 32 ||
      result.getLayout() != source.getLayout() ||
      result.getElementType() != source.getElementType() ||
      result.getRows() != source.getRows())
    return emitOpError() << "expected accumulators of one element type and as "
                            "many rows, got "
                         << source << " and " << result;
  int64_t columns = result.getShape()[1], column = getColumn();
  if (column < 0 || column % 16 != 0 || column > source.getShape()[1] - columns)
    return emitOpError() << "expected columns from a multiple of 16 on, of "
                         << source.getShape()[1] << ", got " << columns
                         << " from " << column;
  return success();
}

LogicalResult DimOp::verify() {
  int64_t rank = getSource().getType().getRank(), dim = getDim();
  if (dim < 0 || dim >= rank)
    return emitOpError() << "expected a dimension from 0 to " << rank - 1
                         << ", got " << dim;
  return success();
}

LogicalResult LookupOp::verify() {
  ShapedType type = getTable().getShapedType();
  if (type.getRank() != 1 || type.getNumElements() == 0)
    return emitOpError() << "expected a vector of entries, got " << type;
  return success();
}

LogicalResult attn::tile::verifyElement(Operation *op, GlobalType global,
                                        ValueRange indices) {
  return verifyEqual(op, "the number of indices", global.getRank(),
                     indices.size());
}

LogicalResult ExtractOp::verify() {
  return verifyElement(*this, getSource().getType(), getIndices());
}

LogicalResult InsertOp::verify() {
  return verifyElement(*this, getDestination().getType(), getIndices());
}

LogicalResult LoadRowOp::verify() {
  FragmentType result = getResult().getType();
  GlobalType source = getSource().getType();
  if (!result.isRow() || source.getElementType() != result.getElementType())
    return emitOpError() << "expected a row fragment of "
                         << source.getElementType() << ", got " << result;
  return verifyEqual(*this, "the number of indices", source.getRank(),
                     getIndices().size());
}

/// A row fragment and a vector of as many elements of its type.
static LogicalResult verifySharedRows(Operation *op, FragmentType rows,
                                      SharedType vector) {
  if (rows.isRow() && rows.getElementType().isF32() && !vector.isRing() &&
      vector.isVector() && vector.getCols() == rows.getRows() &&
      vector.getElementType() == rows.getElementType())
    return success();
  return op->emitOpError() << "expected f32 rows and a vector of as many, got "
                           << rows << " and " << vector;
}

LogicalResult StoreSharedRowsOp::verify() {
  return verifySharedRows(*this, getSource().getType(), getVector().getType());
}

LogicalResult LoadSharedRowsOp::verify() {
  return verifySharedRows(*this, getResult().getType(), getVector().getType());
}

LogicalResult LoadColumnOp::verify() {
  FragmentType result = getResult().getType();
  if (!result.isColumn() && !result.isAccumulator())
    return emitOpError() << "expected a column fragment or an accumulator, got "
                         << result;
  int64_t columns = result.getShape().back();
  if (auto tile = dyn_cast<SharedType>(getSource().getType())) {
    if (tile.isRing() || !tile.isVector() || !tile.getElementType().isF32())
      return emitOpError() << "expected a tile of one row of f32, got " << tile;
    if (failed(verifyEqual(*this, "the number of indices", 0,
                           getIndices().size())))
      return failure();
    if (auto column = static_cast<int64_t>(getColumn());
        column < 0 || column > tile.getCols() - columns)
      return emitOpError() << "expected at most " << tile.getCols()
                           << " columns, got " << columns << " from " << column;
    return success();
  }
  auto global = cast<GlobalType>(getSource().getType());
  if (!global.getElementType().isF32())
    return emitOpError() << "expected a tensor of f32, got " << global;
  return verifyEqual(*this, "the number of indices", global.getRank(),
                     getIndices().size());
}
