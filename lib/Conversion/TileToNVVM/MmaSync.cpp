//===- MmaSync.cpp - Tensor core operations of sm_80 -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mma.sync.m16n8k16 for 16-bit types, m16n8k8 for tf32 and m16n8k32 for 8-bit
// types, with operands from ldmatrix (PTX ISA, "Warp-level Matrix
// Instructions"). TileTypes.td draws which lane holds what.
//
//===----------------------------------------------------------------------===//

#include "Common.h"
#include "WidenBytes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn::tile;

namespace {

/// mma.sync works on blocks of 16 rows and 8 columns.
constexpr int64_t kMmaM = 16, kMmaN = 8;

/// It takes 32 bytes of products at a time, two 16-byte chunks, each of which
/// is the row of an 8x8 matrix of ldmatrix: 16 products of 16-bit types, 8 of
/// tf32, 32 of 8-bit types.
int64_t getBlockK(Type element) {
  return 256 / element.getIntOrFloatBitWidth();
}
int64_t getBlockK(SharedType type) { return getBlockK(type.getElementType()); }

/// The rounding of the register called `name` to the nearest tf32, ties away
/// from zero: mma would cut the low bits off.
std::string roundToTF32(const std::string &name) {
  return "cvt.rna.tf32.f32 " + name + ", " + name;
}

/// The address of byte `inChunk` of a chunk, as an operand of an instruction of
/// `block`.
std::string addressText(PtxBlock &block, SwizzledAddress &address, int64_t row,
                        int64_t chunk, int64_t inChunk = 0) {
  auto [base, bytes] = address.split(row, chunk);
  bytes += inChunk;
  return "[" + block.use(base).front() +
         (bytes ? "+" + std::to_string(bytes) : "") + "]";
}

/// Writes the load of two or four 8x8 matrices (of 16-bit types; 8x4 of f32,
/// rounded to tf32) into the registers called `names`; the lanes give their
/// rows' addresses.
void loadMatrices(PtxBlock &block, Type element, ArrayRef<std::string> names,
                  const std::string &address, bool transpose) {
  block.add("ldmatrix.sync.aligned.m8n8.x" + std::to_string(names.size()) +
            std::string(transpose ? ".trans" : "") + ".shared.b16 " +
            PtxBlock::list(names) + ", " + address);
  if (element.isF32())
    for (const std::string &name : names)
      block.add(roundToTF32(name));
}

/// Addresses the A operand: matrices (rows 0-7, chunk 0), (rows 8-15, chunk 0),
/// (rows 0-7, chunk 1), (rows 8-15, chunk 1) come from lanes 0-7, 8-15, 16-23,
/// 24-31. `firstRow` is the warp's first row.
SwizzledAddress operandAddress(IndexBuilder &index, SharedType type, Value base,
                               Value firstRow) {
  Value lane = index.lane();
  Value row = index.add(firstRow, index.bitAnd(lane, 15));
  return SwizzledAddress(index, type, base, row, index.shiftRight(lane, 4));
}

/// The B operand, from shared memory.
class RightOperand {
public:
  /// `b` is [n, k] if `rowsAreN`, else [k, n]. Its elements become `element`,
  /// that of the other operand; `hasFloat8` as of `widenBytes`.
  RightOperand(OpBuilder &builder, Location loc, SharedType type, Type element,
               Value base, bool rowsAreN, bool hasFloat8);
  /// Registers that `load` needs.
  void declare(PtxBlock &block) const;

  /// Writes the load of the column blocks 2 * pair and 2 * pair + 1, two
  /// registers each, of the k-th block of products.
  void load(PtxBlock &block, ArrayRef<std::string> names, int64_t k,
            int64_t pair);

private:
  void addressMatrices(Value base);
  void addressElements(Value base);
  void addressRows(Value base);
  void addressWidened(Value base);
  void loadBytes(PtxBlock &block, ArrayRef<std::string> names, int64_t k,
                 int64_t pair);
  void loadWidened(PtxBlock &block, ArrayRef<std::string> names, int64_t k,
                   int64_t pair);
  /// True if bytes become operands of 16 bits.
  bool widens() const { return element != type.getElementType(); }
  /// How many pairs of column blocks one ldmatrix loads of them.
  int64_t getWidenedPairs() const {
    int64_t cols = rowsAreN ? type.getRows() : type.getCols();
    return cols % (4 * kMmaN) == 0 ? 2 : 1;
  }
  /// True if the operand has to be transposed byte by byte.
  bool transposesBytes() const {
    return type.getElementBytes() == 1 && !rowsAreN && !widens();
  }

  IndexBuilder index;
  SharedType type;
  Type element;
  bool rowsAreN, hasFloat8;
  /// One address for ldmatrix, or one for each of the two rows of a lane.
  SmallVector<SwizzledAddress, 2> addresses;
};

RightOperand::RightOperand(OpBuilder &builder, Location loc, SharedType type,
                           Type element, Value base, bool rowsAreN,
                           bool hasFloat8)
    : index(builder, loc), type(type), element(element), rowsAreN(rowsAreN),
      hasFloat8(hasFloat8) {
  if (widens()) {
    addressWidened(base);
  } else if (type.getElementType().isF32() && !rowsAreN) {
    addressElements(base);
  } else if (transposesBytes()) {
    addressRows(base);
  } else {
    addressMatrices(base);
  }
}

/// Matrices are (n 0-7, k half 0), (n 0-7, k half 1), (n 8-15, k half 0),
/// (n 8-15, k half 1).
void RightOperand::addressMatrices(Value base) {
  Value lane = index.lane();
  Value inMatrix = index.bitAnd(lane, 7);
  Value kHalf = index.bitAnd(index.shiftRight(lane, 3), 1);
  Value nHalf = index.shiftRight(lane, 4);
  Value rowHalf = rowsAreN ? nHalf : kHalf;
  Value chunkHalf = rowsAreN ? kHalf : nHalf;
  Value row = index.add(index.mul(rowHalf, 8), inMatrix);
  addresses.emplace_back(index, type, base, row, chunkHalf);
}

/// ldmatrix cannot transpose 32-bit elements: lane 4g + t reads column g of the
/// rows 2t and 2t + 1, the order in which to_operand gives the A operand.
void RightOperand::addressElements(Value base) {
  Value g = index.shiftRight(index.lane(), 2);
  Value t = index.bitAnd(index.lane(), 3);
  Value inChunk = index.offset(base, index.mul(index.bitAnd(g, 3), 4));
  for (int64_t second : {0, 1}) {
    Value row = index.add(index.mul(t, 2), second);
    addresses.emplace_back(index, type, inChunk, row, index.shiftRight(g, 2));
  }
}

/// Four matrices of 8 rows in one chunk, 16 columns of 8 bits.
void RightOperand::addressRows(Value base) {
  Value lane = index.lane();
  addresses.emplace_back(index, type, base, lane, index.i32(0));
}

/// ldmatrix transposes pairs of bytes: lane 4g + t has the columns 2g and 2g +
/// 1 of the rows 2t and 2t + 1 of each matrix. Of two matrices, prmt makes four
/// rows of one column: first of the even columns, then of the odd ones. These
/// are the rows that to_operand gives the A operand.
void RightOperand::loadBytes(PtxBlock &block, ArrayRef<std::string> names,
                             int64_t k, int64_t pair) {
  loadMatrices(block, type.getElementType(), names,
               addressText(block, addresses.front(), k * getBlockK(type), pair),
               /*transpose=*/true);
  auto permute = [&](const std::string &to, size_t first,
                     const std::string &bytes) {
    block.add("prmt.b32 " + to + ", " + names[first] + ", " + names[first + 1] +
              ", " + bytes);
  };
  for (size_t half : {0, 1})
    permute("%even" + std::to_string(half), 2 * half, "0x6420");
  for (size_t half : {1, 0})
    permute(names[2 + half], 2 * half, "0x7531");
  for (size_t half : {0, 1})
    block.add("mov.b32 " + names[half] + ", %even" + std::to_string(half));
}

void RightOperand::declare(PtxBlock &block) const {
  if (widens()) {
    block.declare("%bytes", 2 * getWidenedPairs());
    declareWidened(block, type.getElementType(), hasFloat8);
  } else if (transposesBytes()) {
    block.declare("%even", 2);
  }
}

/// Matrices of 8 rows and 16 columns of 8 bits: of [n, k] one below the other,
/// of [k, n] two and two.
void RightOperand::addressWidened(Value base) {
  Value lane = index.lane();
  Value row =
      rowsAreN && getWidenedPairs() == 2 ? lane : index.bitAnd(lane, 15);
  Value chunk = rowsAreN ? index.i32(0) : index.shiftRight(lane, 4);
  addresses.emplace_back(index, type, base, row, chunk);
}

/// Of [n, k] a lane 4g + t has the bytes 4t to 4t + 3 of row g of each of two
/// matrices of 8 rows, a column block; two bytes are a register of the operand,
/// in an order that `loadInByteOrder` gives the other one. Of [k, n], whose
/// transposed matrices are halves of the rows, it has the columns 2g and 2g + 1
/// of the rows 2t and 2t + 1: even columns are one block, odd ones the other,
/// as of `loadBytes`.
void RightOperand::loadWidened(PtxBlock &block, ArrayRef<std::string> names,
                               int64_t k, int64_t pair) {
  const std::string bytes[] = {"%bytes0", "%bytes1", "%bytes2", "%bytes3"};
  int64_t pairs = getWidenedPairs(), at = pair % pairs;
  SwizzledAddress &address = addresses.front();
  if (at == 0)
    loadMatrices(block, type.getElementType(),
                 ArrayRef(bytes).take_front(2 * pairs),
                 rowsAreN ? addressText(block, address, pair * 16, k)
                          : addressText(block, address, k * 16, pair),
                 /*transpose=*/!rowsAreN);
  for (int64_t half : {0, 1}) {
    std::string results[] = {rowsAreN ? names[2 * half] : names[half],
                             rowsAreN ? names[2 * half + 1] : names[half + 2]};
    widenBytes(
        block, type.getElementType(), element, results, bytes[2 * at + half],
        rowsAreN ? BytePairs::Neighbours : BytePairs::EveryOther, hasFloat8);
  }
}

void RightOperand::load(PtxBlock &block, ArrayRef<std::string> names, int64_t k,
                        int64_t pair) {
  if (widens())
    return loadWidened(block, names, k, pair);
  if (transposesBytes())
    return loadBytes(block, names, k, pair);
  if (addresses.size() == 1) {
    SwizzledAddress &address = addresses.front();
    loadMatrices(
        block, type.getElementType(), names,
        rowsAreN ? addressText(block, address, pair * 16, 2 * k)
                 : addressText(block, address, k * getBlockK(type), 2 * pair),
        /*transpose=*/!rowsAreN);
    return;
  }
  const std::string *name = names.begin();
  for (int64_t half = 0; half < 2; ++half)
    for (SwizzledAddress &address : addresses) {
      // A block of 8 columns is two chunks of 4.
      block.add("ld.shared.b32 " + *name + ", " +
                addressText(block, address, k * getBlockK(type),
                            2 * (2 * pair + half)));
      block.add(roundToTF32(*name++));
    }
}

/// The A operand [m, k] beside bytes [n, k], whose lane 4g + t has the columns
/// 4t to 4t + 3 of 16: of the rows g and g + 8.
SwizzledAddress byteOrderAddress(IndexBuilder &index, SharedType type,
                                 Value base, Value firstRow) {
  Value g = index.shiftRight(index.lane(), 2);
  Value t = index.bitAnd(index.lane(), 3);
  Value inChunk = index.offset(base, index.mul(index.bitAnd(t, 1), 8));
  Value row = index.add(firstRow, g);
  return SwizzledAddress(index, type, inChunk, row, index.shiftRight(t, 1));
}

/// Volatile, since of two neighbours ptxas would make one load of a pair of
/// registers, and move these to where the operand has them for each product.
void loadInByteOrder(PtxBlock &block, ArrayRef<std::string> names,
                     SwizzledAddress &address, int64_t row, int64_t k) {
  for (size_t i = 0; i < 4; ++i)
    block.add("ld.volatile.shared.b32 " + names[i] + ", " +
              addressText(block, address, row + 8 * (i % 2), 2 * k,
                          /*inChunk=*/4 * (i / 2)));
}

/// The A operand of a transposed tile, 16 of its columns after `firstCol`:
/// matrices (cols 0-7, rows 0-7), (cols 8-15, rows 0-7), (cols 0-7, rows 8-15),
/// (cols 8-15, rows 8-15), which ldmatrix transposes.
SwizzledAddress transposedAddress(IndexBuilder &index, SharedType type,
                                  Value base, Value firstCol) {
  Value lane = index.lane();
  Value inMatrix = index.bitAnd(lane, 7);
  Value colHalf = index.bitAnd(index.shiftRight(lane, 3), 1);
  Value rowHalf = index.shiftRight(lane, 4);
  Value row = index.add(index.mul(rowHalf, 8), inMatrix);
  int64_t panelCols = type.getPanelCols();
  Value panel = index.div(firstCol, panelCols);
  Value inPanel = index.shiftRight(index.rem(firstCol, panelCols), 3);
  Value ofPanel =
      index.offset(base, index.mul(panel, type.getRows() * type.getSwizzle()));
  return SwizzledAddress(index, type, ofPanel, row,
                         index.add(inPanel, colHalf));
}

struct LoadOperandLowering : TileOpLowering<LoadOperandOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(LoadOperandOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value base = adaptor.getTile().front();
    rewriter.replaceOpWithMultiple(op, {op.getTranspose()
                                            ? loadTransposed(op, base, rewriter)
                                            : load(op, base, rewriter)});
    return success();
  }

private:
  SmallVector<Value> load(LoadOperandOp op, Value base,
                          OpBuilder &builder) const {
    IndexBuilder index(builder, op.getLoc());
    SharedType type = op.getTile().getType();
    int64_t rows = type.getRows() / getWarps();
    bool isBytes = op.getOperand().getType().isOperandBytes();
    auto addressOf = isBytes ? byteOrderAddress : operandAddress;
    SwizzledAddress address = addressOf(
        index, type, base, index.warpRow(type.getRows(), getRowWarps()));
    PtxBlock block = createBlock(op, builder);
    int64_t kBlocks = type.getCols() / getBlockK(type), block4 = 0;
    for (int64_t row = 0; row < rows; row += kMmaM)
      for (int64_t k = 0; k < kBlocks; ++k) {
        SmallVector<std::string> names = block.results(4 * block4++, 4);
        if (isBytes)
          loadInByteOrder(block, names, address, row, k);
        else
          loadMatrices(block, type.getElementType(), names,
                       addressText(block, address, row, 2 * k),
                       /*transpose=*/false);
      }
    return block.create();
  }

  SmallVector<Value> loadTransposed(LoadOperandOp op, Value base,
                                    OpBuilder &builder) const {
    IndexBuilder index(builder, op.getLoc());
    SharedType type = op.getTile().getType();
    Value warpFirst = index.warpRow(type.getCols(), getRowWarps());
    PtxBlock block = createBlock(op, builder);
    int64_t blockK = getBlockK(type), block4 = 0;
    for (int64_t col = 0; col < type.getCols() / getWarps(); col += kMmaM) {
      SwizzledAddress address =
          transposedAddress(index, type, base, index.add(warpFirst, col));
      for (int64_t row = 0; row < type.getRows(); row += blockK)
        loadMatrices(block, type.getElementType(),
                     block.results(4 * block4++, 4),
                     addressText(block, address, row, 0), /*transpose=*/true);
    }
    return block.create();
  }

  PtxBlock createBlock(LoadOperandOp op, OpBuilder &builder) const {
    int64_t registers = op.getOperand().getType().getRegisters(getWarps());
    return PtxBlock(builder, op.getLoc(), builder.getI32Type(), registers);
  }
};

/// A type as mma.sync spells it; empty if there is no product of it.
StringRef getOperandName(Type element) {
  return llvm::TypeSwitch<Type, StringRef>(element)
      .Case([](Float16Type) { return "f16"; })
      .Case([](BFloat16Type) { return "bf16"; })
      .Case([](Float32Type) { return "tf32"; })
      .Case([](Float8E4M3FNType) { return "e4m3"; })
      .Case([](Float8E5M2Type) { return "e5m2"; })
      .Case([](IntegerType) { return "s8"; })
      .Default(StringRef());
}

/// mma.sync with the shape and types of a product of `a` and `b`.
std::string mmaName(Type a, Type b) {
  std::string sum = a.isInteger() ? "s32" : "f32";
  return "mma.sync.aligned.m16n8k" + std::to_string(getBlockK(a)) +
         ".row.col." + sum + "." + getOperandName(a).str() + "." +
         getOperandName(b).str() + "." + sum + " ";
}

Type getElementTypeOfOperand(Type type) {
  if (auto fragment = dyn_cast<FragmentType>(type))
    return fragment.getElementType();
  return cast<SharedType>(type).getElementType();
}

/// One block of PTX. Walks k outermost, so that each accumulator block is
/// touched once per k and B registers live shortly.
struct MmaLowering : TileOpLowering<MmaOp> {
  MmaLowering(const TypeConverter &converter, MLIRContext *context,
              bool hasFloat8)
      : TileOpLowering(converter, context), hasFloat8(hasFloat8) {}

  LogicalResult
  matchAndRewrite(MmaOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    IndexBuilder index(rewriter, op.getLoc());
    Location loc = op.getLoc();
    SharedType bType = op.getB().getType();
    FragmentType accType = op.getAcc().getType();
    bool rowsAreN = op.getTransposeB();
    int64_t rowBlocks = accType.getRows() / getWarps() / kMmaM;
    int64_t colBlocks = accType.getShape()[1] / kMmaN;
    Type element = getElementTypeOfOperand(op.getA().getType());
    bool widens =
        bType.getElementBytes() == 1 && element.getIntOrFloatBitWidth() > 8;
    Type rightElement = widens ? element : bType.getElementType();
    int64_t kBlocks =
        (rowsAreN ? bType.getCols() : bType.getRows()) / getBlockK(element);
    if (getOperandName(element).empty())
      return rewriter.notifyMatchFailure(op, "no mma.sync of its elements");
    if (accType.getLayout() !=
        FragmentType::getProductLayout(bType.getElementType(), rowsAreN))
      return rewriter.notifyMatchFailure(op, "its columns come as quads");
    if (colBlocks % 2 != 0)
      return rewriter.notifyMatchFailure(op,
                                         "columns are not a multiple of 16");

    RightOperand right(rewriter, loc, bType, rightElement,
                       adaptor.getB().front(), rowsAreN, hasFloat8);
    // Empty where A is in registers.
    SmallVector<SwizzledAddress, 1> left;
    bool inByteOrder = widens && rowsAreN;
    if (auto aType = dyn_cast<SharedType>(op.getA().getType())) {
      Value firstRow = index.warpRow(aType.getRows(), getRowWarps());
      auto addressOf = inByteOrder ? byteOrderAddress : operandAddress;
      left.push_back(addressOf(index, aType, adaptor.getA().front(), firstRow));
    }

    ValueRange acc = adaptor.getAcc();
    PtxBlock block(rewriter, loc, accType.getElementType(), acc.size());
    // A sum stays in its registers; of a constant they are written.
    bool isConstant = op.getAcc().getDefiningOp<FillOp>() != nullptr;
    if (!isConstant)
      block.update(acc);
    SmallVector<SmallVector<std::string>> a(rowBlocks);
    if (!left.empty())
      for (auto [r, names] : llvm::enumerate(a))
        names = block.declare("%a" + std::to_string(r) + "_", 4);
    SmallVector<std::string> b = block.declare("%b", 4);
    right.declare(block);
    for (int64_t k = 0; k < kBlocks; ++k) {
      for (int64_t r = 0; r < rowBlocks; ++r) {
        if (!left.empty() && inByteOrder)
          loadInByteOrder(block, a[r], left[0], r * kMmaM, k);
        else if (!left.empty())
          loadMatrices(block, element, a[r],
                       addressText(block, left[0], r * kMmaM, 2 * k), false);
        else
          a[r] = block.use(adaptor.getA().slice((r * kBlocks + k) * 4, 4));
      }
      for (int64_t pair = 0; pair < colBlocks / 2; ++pair) {
        right.load(block, b, k, pair);
        for (int64_t r = 0; r < rowBlocks; ++r)
          for (int64_t half = 0; half < 2; ++half) {
            int64_t first = 4 * (r * colBlocks + 2 * pair + half);
            SmallVector<std::string> sum = block.results(first, 4);
            block.add(mmaName(element, rightElement) + PtxBlock::list(sum) +
                      ", " + PtxBlock::list(a[r]) + ", " +
                      PtxBlock::list(ArrayRef(b).slice(2 * half, 2)) + ", " +
                      PtxBlock::list(k == 0 && isConstant
                                         ? block.use(acc.slice(first, 4))
                                         : sum));
          }
      }
    }
    rewriter.replaceOpWithMultiple(op, {block.create()});
    return success();
  }

private:
  bool hasFloat8;
};

} // namespace

void attn::tile::populateMmaSyncPatterns(TypeConverter &converter,
                                         RewritePatternSet &patterns,
                                         bool hasFloat8) {
  patterns.add<LoadOperandLowering>(converter, patterns.getContext());
  patterns.add<MmaLowering>(converter, patterns.getContext(), hasFloat8);
}
