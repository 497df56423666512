//===- MmaSync.cpp - Tensor core operations of sm_80 -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mma.sync.m16n8k16 for 16-bit types and m16n8k8 for tf32, with operands from
// ldmatrix (PTX ISA, "Warp-level Matrix Instructions"). TileTypes.td draws
// which lane holds what.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace attn::tile;

namespace {

/// mma.sync works on blocks of 16 rows and 8 columns.
constexpr int64_t kMmaM = 16, kMmaN = 8;

/// It takes 32 bytes of products at a time, two 16-byte chunks, each of which
/// is the row of an 8x8 matrix of ldmatrix: 16 products of 16-bit types, 8 of
/// tf32.
int64_t getBlockK(SharedType type) { return 32 / type.getElementBytes(); }

/// Loads four 8x8 matrices (of 16-bit types; 8x4 of f32, rounded to tf32) whose
/// rows' addresses the lanes give.
SmallVector<Value> loadMatrices(OpBuilder &builder, Location loc, Type element,
                                Value address, bool transpose) {
  MLIRContext *context = builder.getContext();
  Type i32 = builder.getI32Type();
  auto type =
      LLVM::LLVMStructType::getLiteral(context, SmallVector<Type>(4, i32));
  Value loaded = NVVM::LdMatrixOp::create(
      builder, loc, type, address, /*num=*/4,
      transpose ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(context, 8, 8),
      NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> registers;
  for (int64_t i = 0; i < 4; ++i) {
    registers.push_back(LLVM::ExtractValueOp::create(builder, loc, loaded, i));
    if (element.isF32())
      registers.back() = roundToTF32(builder, loc, registers.back());
  }
  return registers;
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
  /// `b` is [n, k] if `rowsAreN`, else [k, n].
  RightOperand(OpBuilder &builder, Location loc, SharedType type, Value base,
               bool rowsAreN);

  /// Registers of the column blocks 2 * pair and 2 * pair + 1, two each, of the
  /// k-th block of products.
  SmallVector<Value> load(int64_t k, int64_t pair);

private:
  void addressMatrices(Value base);
  void addressElements(Value base);

  OpBuilder &builder;
  Location loc;
  IndexBuilder index;
  SharedType type;
  bool rowsAreN;
  /// One address for ldmatrix, or one for each of the two rows of a lane.
  SmallVector<SwizzledAddress, 2> addresses;
};

RightOperand::RightOperand(OpBuilder &builder, Location loc, SharedType type,
                           Value base, bool rowsAreN)
    : builder(builder), loc(loc), index(builder, loc), type(type),
      rowsAreN(rowsAreN) {
  if (type.getElementType().isF32() && !rowsAreN)
    addressElements(base);
  else
    addressMatrices(base);
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
  for (int64_t row : {0, 1})
    addresses.emplace_back(index, type, inChunk,
                           index.add(index.mul(t, 2), row),
                           index.shiftRight(g, 2));
}

SmallVector<Value> RightOperand::load(int64_t k, int64_t pair) {
  if (addresses.size() == 1) {
    SwizzledAddress &address = addresses.front();
    return loadMatrices(builder, loc, type.getElementType(),
                        rowsAreN ? address.get(pair * 16, 2 * k)
                                 : address.get(k * getBlockK(type), 2 * pair),
                        /*transpose=*/!rowsAreN);
  }
  SmallVector<Value> registers;
  for (int64_t half = 0; half < 2; ++half)
    for (SwizzledAddress &address : addresses) {
      // A block of 8 columns is two chunks of 4.
      Value from = address.get(k * getBlockK(type), 2 * (2 * pair + half));
      Value element =
          LLVM::LoadOp::create(builder, loc, builder.getF32Type(), from);
      registers.push_back(roundToTF32(builder, loc, element));
    }
  return registers;
}

/// First row of the calling warp, of `rows` dealt out over `warps`.
Value warpFirstRow(IndexBuilder &index, int64_t rows, int64_t warps) {
  return index.mul(index.warp(), rows / warps);
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
    SwizzledAddress address = operandAddress(
        index, type, base, warpFirstRow(index, type.getRows(), getWarps()));
    SmallVector<Value> registers;
    int64_t kBlocks = type.getCols() / getBlockK(type);
    for (int64_t row = 0; row < rows; row += kMmaM)
      for (int64_t k = 0; k < kBlocks; ++k)
        llvm::append_range(registers, loadMatrices(builder, op.getLoc(),
                                                   type.getElementType(),
                                                   address.get(row, 2 * k),
                                                   /*transpose=*/false));
    return registers;
  }

  SmallVector<Value> loadTransposed(LoadOperandOp op, Value base,
                                    OpBuilder &builder) const {
    IndexBuilder index(builder, op.getLoc());
    SharedType type = op.getTile().getType();
    Value warpFirst = warpFirstRow(index, type.getCols(), getWarps());
    SmallVector<Value> registers;
    int64_t blockK = getBlockK(type);
    for (int64_t col = 0; col < type.getCols() / getWarps(); col += kMmaM) {
      SwizzledAddress address =
          transposedAddress(index, type, base, index.add(warpFirst, col));
      for (int64_t row = 0; row < type.getRows(); row += blockK)
        llvm::append_range(registers, loadMatrices(builder, op.getLoc(),
                                                   type.getElementType(),
                                                   address.get(row, 0),
                                                   /*transpose=*/true));
    }
    return registers;
  }
};

/// One mma.sync on registers.
SmallVector<Value> mmaBlock(OpBuilder &builder, Location loc, SharedType type,
                            ValueRange a, ValueRange b, ValueRange acc) {
  MLIRContext *context = builder.getContext();
  Type element = type.getElementType();
  auto toOperands = [&](ValueRange registers) {
    if (!element.isF16())
      return SmallVector<Value>(registers);
    Type pair = VectorType::get(2, element);
    return llvm::map_to_vector(registers, [&](Value value) -> Value {
      return LLVM::BitcastOp::create(builder, loc, pair, value);
    });
  };
  Type f32 = builder.getF32Type();
  auto result =
      LLVM::LLVMStructType::getLiteral(context, SmallVector<Type>(4, f32));
  NVVM::MMATypes ptxType = element.isF16()    ? NVVM::MMATypes::f16
                           : element.isBF16() ? NVVM::MMATypes::bf16
                                              : NVVM::MMATypes::tf32;
  Value product =
      NVVM::MmaOp::create(builder, loc, result, toOperands(a), toOperands(b),
                          acc, ArrayRef<int64_t>{kMmaM, kMmaN, getBlockK(type)},
                          /*b1Op=*/std::nullopt,
                          /*intOverflow=*/std::nullopt,
                          std::array<NVVM::MMATypes, 2>{ptxType, ptxType},
                          std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                                         NVVM::MMALayout::col});
  SmallVector<Value> registers;
  for (int64_t i = 0; i < 4; ++i)
    registers.push_back(LLVM::ExtractValueOp::create(builder, loc, product, i));
  return registers;
}

/// Walks k outermost, so that each accumulator block is touched once per k and
/// B registers live shortly.
struct MmaLowering : TileOpLowering<MmaOp> {
  using TileOpLowering::TileOpLowering;

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
    int64_t kBlocks =
        (rowsAreN ? bType.getCols() : bType.getRows()) / getBlockK(bType);
    if (colBlocks % 2 != 0)
      return rewriter.notifyMatchFailure(op,
                                         "columns are not a multiple of 16");

    RightOperand right(rewriter, loc, bType, adaptor.getB().front(), rowsAreN);
    // Empty where A is in registers.
    SmallVector<SwizzledAddress, 1> left;
    if (auto aType = dyn_cast<SharedType>(op.getA().getType()))
      left.push_back(
          operandAddress(index, aType, adaptor.getA().front(),
                         warpFirstRow(index, aType.getRows(), getWarps())));

    SmallVector<Value> acc(adaptor.getAcc());
    for (int64_t k = 0; k < kBlocks; ++k) {
      SmallVector<SmallVector<Value>> a;
      for (int64_t r = 0; r < rowBlocks; ++r) {
        if (!left.empty())
          a.push_back(loadMatrices(rewriter, loc, bType.getElementType(),
                                   left[0].get(r * kMmaM, 2 * k), false));
        else
          a.emplace_back(adaptor.getA().slice((r * kBlocks + k) * 4, 4));
      }
      for (int64_t pair = 0; pair < colBlocks / 2; ++pair) {
        SmallVector<Value> b = right.load(k, pair);
        for (int64_t r = 0; r < rowBlocks; ++r)
          for (int64_t half = 0; half < 2; ++half) {
            int64_t block = r * colBlocks + 2 * pair + half;
            MutableArrayRef<Value> c =
                MutableArrayRef<Value>(acc).slice(block * 4, 4);
            SmallVector<Value> sum =
                mmaBlock(rewriter, loc, bType, a[r],
                         ArrayRef<Value>(b).slice(2 * half, 2), c);
            llvm::copy(sum, c.begin());
          }
      }
    }
    rewriter.replaceOpWithMultiple(op, {acc});
    return success();
  }
};

} // namespace

void attn::tile::populateMmaSyncPatterns(TypeConverter &converter,
                                         RewritePatternSet &patterns) {
  patterns.add<LoadOperandLowering, MmaLowering>(converter,
                                                 patterns.getContext());
}
