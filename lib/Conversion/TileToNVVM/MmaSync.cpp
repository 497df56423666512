//===- MmaSync.cpp - Tensor core operations of sm_80 -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mma.sync.m16n8k16 with operands from ldmatrix (PTX ISA, "Warp-level Matrix
// Instructions"). TileTypes.td draws which lane holds what.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace attn::tile;

namespace {

/// mma.sync.m16n8k16 works on blocks of 16 rows, 8 columns and 16 products.
constexpr int64_t kBlockM = 16, kBlockN = 8, kBlockK = 16;
/// A 16-byte chunk, the row of an 8x8 matrix, holds 8 elements.
constexpr int64_t kChunkElements = 8;

/// Loads four 8x8 matrices whose rows' addresses the lanes give.
SmallVector<Value> loadMatrices(OpBuilder &builder, Location loc, Value address,
                                bool transpose) {
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
  for (int64_t i = 0; i < 4; ++i)
    registers.push_back(LLVM::ExtractValueOp::create(builder, loc, loaded, i));
  return registers;
}

/// Addresses the A operand: matrices (rows 0-7, k 0-7), (rows 8-15, k 0-7),
/// (rows 0-7, k 8-15), (rows 8-15, k 8-15) come from lanes 0-7, 8-15, 16-23,
/// 24-31. `firstRow` is the warp's first row.
SwizzledAddress operandAddress(IndexBuilder &index, SharedType type, Value base,
                               Value firstRow) {
  Value lane = index.lane();
  Value row = index.add(firstRow, index.bitAnd(lane, 15));
  return SwizzledAddress(index, type, base, row, index.shiftRight(lane, 4));
}

/// Addresses the B operand of two neighbouring column blocks. Matrices are
/// (n 0-7, k 0-7), (n 0-7, k 8-15), (n 8-15, k 0-7), (n 8-15, k 8-15).
SwizzledAddress rightAddress(IndexBuilder &index, SharedType type, Value base,
                             bool rowsAreN) {
  Value lane = index.lane();
  Value inMatrix = index.bitAnd(lane, 7);
  Value kHalf = index.bitAnd(index.shiftRight(lane, 3), 1);
  Value nHalf = index.shiftRight(lane, 4);
  Value rowHalf = rowsAreN ? nHalf : kHalf;
  Value chunkHalf = rowsAreN ? kHalf : nHalf;
  Value row = index.add(index.mul(rowHalf, 8), inMatrix);
  return SwizzledAddress(index, type, base, row, chunkHalf);
}

/// First row of the calling warp, of `rows` dealt out over `warps`.
Value warpFirstRow(IndexBuilder &index, int64_t rows, int64_t warps) {
  return index.mul(index.warp(), rows / warps);
}

struct LoadOperandLowering : TileOpLowering<LoadOperandOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(LoadOperandOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    IndexBuilder index(rewriter, op.getLoc());
    SharedType type = op.getTile().getType();
    int64_t rows = type.getRows() / getWarps();
    SwizzledAddress address =
        operandAddress(index, type, adaptor.getTile().front(),
                       warpFirstRow(index, type.getRows(), getWarps()));
    SmallVector<Value> registers;
    for (int64_t row = 0; row < rows; row += kBlockM)
      for (int64_t k = 0; k < type.getCols(); k += kBlockK)
        llvm::append_range(registers,
                           loadMatrices(rewriter, op.getLoc(),
                                        address.get(row, k / kChunkElements),
                                        /*transpose=*/false));
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

/// One mma.sync on registers.
SmallVector<Value> mmaBlock(OpBuilder &builder, Location loc, Type element,
                            ValueRange a, ValueRange b, ValueRange acc) {
  MLIRContext *context = builder.getContext();
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
  NVVM::MMATypes ptxType =
      element.isF16() ? NVVM::MMATypes::f16 : NVVM::MMATypes::bf16;
  Value product = NVVM::MmaOp::create(
      builder, loc, result, toOperands(a), toOperands(b), acc,
      ArrayRef<int64_t>{kBlockM, kBlockN, kBlockK}, /*b1Op=*/std::nullopt,
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
    int64_t rowBlocks = accType.getRows() / getWarps() / kBlockM;
    int64_t colBlocks = accType.getShape()[1] / kBlockN;
    int64_t kBlocks = (rowsAreN ? bType.getCols() : bType.getRows()) / kBlockK;
    if (colBlocks % 2 != 0)
      return rewriter.notifyMatchFailure(op,
                                         "columns are not a multiple of 16");

    SwizzledAddress bAddress =
        rightAddress(index, bType, adaptor.getB().front(), rowsAreN);
    std::optional<SwizzledAddress> aAddress;
    if (auto aType = dyn_cast<SharedType>(op.getA().getType()))
      aAddress.emplace(
          operandAddress(index, aType, adaptor.getA().front(),
                         warpFirstRow(index, aType.getRows(), getWarps())));

    SmallVector<Value> acc(adaptor.getAcc());
    for (int64_t k = 0; k < kBlocks; ++k) {
      SmallVector<SmallVector<Value>> a;
      for (int64_t r = 0; r < rowBlocks; ++r) {
        if (aAddress)
          a.push_back(loadMatrices(rewriter, loc,
                                   aAddress->get(r * kBlockM, 2 * k), false));
        else
          a.emplace_back(adaptor.getA().slice((r * kBlocks + k) * 4, 4));
      }
      for (int64_t pair = 0; pair < colBlocks / 2; ++pair) {
        Value address = rowsAreN ? bAddress.get(pair * 16, 2 * k)
                                 : bAddress.get(k * kBlockK, 2 * pair);
        SmallVector<Value> b =
            loadMatrices(rewriter, loc, address, /*transpose=*/!rowsAreN);
        for (int64_t r = 0; r < rowBlocks; ++r)
          for (int64_t half = 0; half < 2; ++half) {
            int64_t block = r * colBlocks + 2 * pair + half;
            MutableArrayRef<Value> c =
                MutableArrayRef<Value>(acc).slice(block * 4, 4);
            SmallVector<Value> sum =
                mmaBlock(rewriter, loc, bType.getElementType(), a[r],
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
