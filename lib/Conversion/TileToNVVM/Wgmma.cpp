//===- Wgmma.cpp - Tensor core operations of sm_90a -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// wgmma.mma_async with operands from shared memory by matrix descriptors (PTX
// ISA, "Asynchronous Warpgroup Level Matrix Instructions"). The accumulator of
// m64nN is, warp by warp, that of mma.m16n8 (TileTypes.td draws it), so what
// works on fragments is shared with sm_80.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

#include "attn/Dialect/PTX/IR/PTX.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn::tile;

namespace {

/// Rows of a warpgroup's product.
constexpr int64_t kWgmmaM = 64;
/// Rows after which the pattern of a swizzle repeats.
constexpr int64_t kSwizzleRows = 8;

/// Products that one instruction sums: 32 bytes of them.
int64_t getDepth(SharedType type) { return 32 / type.getElementBytes(); }

//===----------------------------------------------------------------------===//
// Matrix descriptors
//===----------------------------------------------------------------------===//

/// The constant part of a descriptor, from bit 16 up (PTX ISA, "Matrix
/// Descriptor Format"). The leading offset separates the panels of an MN-major
/// operand and is not used for a K-major one; the stride offset separates
/// groups of 8 rows.
int64_t descriptorLayout(SharedType type, bool isMnMajor) {
  int64_t leading = isMnMajor ? type.getRows() * type.getSwizzle() : 16;
  int64_t stride = kSwizzleRows * type.getSwizzle();
  // 1, 2 or 3 for 128, 64 or 32 bytes.
  uint64_t swizzleMode = 8 - llvm::Log2_64(type.getSwizzle());
  return static_cast<int64_t>(uint64_t(leading >> 4) << 16 |
                              uint64_t(stride >> 4) << 32 | swizzleMode << 62);
}

/// The descriptor of a tile of which `pointer` is the start. `rowBytes` (null
/// for none) is added to the address.
///
/// A descriptor has 14 bits of address in units of 16 bytes: as many as shared
/// memory has, but in a cluster the CTA's rank is above them, and would become
/// part of the leading offset.
Value buildDescriptor(OpBuilder &builder, Location loc, SharedType type,
                      Value pointer, bool isMnMajor, bool hasClusters,
                      Value rowBytes = Value()) {
  IndexBuilder index(builder, loc);
  Value address =
      LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(), pointer);
  if (rowBytes)
    address = index.add(address, rowBytes);
  Value start = index.shiftRight(address, 4);
  if (hasClusters)
    start = index.bitAnd(start, 0x3fff);
  Value wide =
      arith::ExtUIOp::create(builder, loc, builder.getI64Type(), start);
  return arith::OrIOp::create(builder, loc, wide,
                              index.i64(descriptorLayout(type, isMnMajor)));
}

/// Bytes from the start of a tile to the operand of product `k`.
int64_t productOffset(SharedType type, bool isMnMajor, int64_t k) {
  int64_t first = k * getDepth(type);
  if (isMnMajor)
    return first * type.getSwizzle();
  int64_t panel = first / type.getPanelCols();
  int64_t inPanel = first % type.getPanelCols();
  return panel * type.getRows() * type.getSwizzle() +
         inPanel * type.getElementBytes();
}

/// The descriptors of `products` products, from that of the tile.
SmallVector<Value> productDescriptors(IndexBuilder &index, SharedType type,
                                      Value descriptor, bool isMnMajor,
                                      int64_t products) {
  SmallVector<Value> descriptors;
  for (int64_t k = 0; k < products; ++k)
    descriptors.push_back(
        index.add(descriptor, productOffset(type, isMnMajor, k) >> 4));
  return descriptors;
}

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

/// The struct of which `registers` are the elements in order, if there is one.
Value findStruct(ValueRange registers, Type type) {
  Value whole;
  for (auto [i, value] : llvm::enumerate(registers)) {
    auto extract = value.getDefiningOp<LLVM::ExtractValueOp>();
    if (!extract || extract.getPosition() != ArrayRef<int64_t>(i) ||
        (whole && extract.getContainer() != whole))
      return Value();
    whole = extract.getContainer();
  }
  return whole && whole.getType() == type ? whole : Value();
}

Value packAccumulator(OpBuilder &builder, Location loc, ValueRange registers) {
  auto type = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), llvm::to_vector(registers.getTypes()));
  if (Value whole = findStruct(registers, type))
    return whole;
  Value packed = LLVM::PoisonOp::create(builder, loc, type);
  for (auto [i, value] : llvm::enumerate(registers))
    packed = LLVM::InsertValueOp::create(builder, loc, packed, value, i);
  return packed;
}

SmallVector<Value> unpackAccumulator(OpBuilder &builder, Location loc,
                                     Value packed) {
  SmallVector<Value> registers;
  size_t count = cast<LLVM::LLVMStructType>(packed.getType()).getBody().size();
  for (size_t i = 0; i < count; ++i)
    registers.push_back(LLVM::ExtractValueOp::create(builder, loc, packed, i));
  return registers;
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// One group: fence, the products, commit. The fence orders the products after
/// the code that wrote their registers.
struct MmaAsyncLowering : TileOpLowering<MmaAsyncOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(MmaAsyncOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    FragmentType type = op.getResult().getType();
    if (type.getRows() != 16 * getWarps() || getWarps() % 4 != 0)
      return rewriter.notifyMatchFailure(op, "not 64 rows for each warpgroup");
    SharedType bType = op.getB().getType();
    int64_t depth = op.getTransposeB() ? bType.getCols() : bType.getRows();
    int64_t products = depth / getDepth(bType);

    SmallVector<Value> descriptorsA, registersA;
    if (auto aType = dyn_cast<SharedType>(op.getA().getType()))
      descriptorsA = rowsOfWarpgroup(rewriter, op, adaptor, aType, products);
    else
      llvm::append_range(registersA, adaptor.getA());
    SmallVector<Value> descriptorsB = rightOperand(rewriter, op, products);
    Value acc;
    if (op.getAcc())
      acc = packAccumulator(rewriter, loc, adaptor.getAcc());
    Type resultType = LLVM::LLVMStructType::getLiteral(
        getContext(), SmallVector<Type>(type.getRegisters(getWarps()),
                                        rewriter.getF32Type()));
    Value result = attn::ptx::WgmmaOp::create(
        rewriter, loc, resultType, bType.getElementType(), descriptorsA,
        registersA, descriptorsB, op.getTransposeA(),
        /*b_mn_major=*/!op.getTransposeB(), acc);
    NVVM::WgmmaGroupSyncAlignedOp::create(rewriter, loc);
    rewriter.replaceOpWithMultiple(op,
                                   {unpackAccumulator(rewriter, loc, result)});
    return success();
  }

private:
  /// A in shared memory: 64 rows of the tile, or columns of the transposed one.
  SmallVector<Value> rowsOfWarpgroup(ConversionPatternRewriter &rewriter,
                                     MmaAsyncOp op, Adaptor adaptor,
                                     SharedType type, int64_t products) const {
    IndexBuilder index(rewriter, op.getLoc());
    bool isMnMajor = op.getTransposeA();
    int64_t stride = type.getSwizzle();
    if (isMnMajor)
      stride *= type.getRows() / type.getPanelCols();
    Value rowBytes = index.mul(index.toI32(adaptor.getWarpgroup().front()),
                               kWgmmaM * stride);
    Value descriptor =
        buildDescriptor(rewriter, op.getLoc(), type, adaptor.getA().front(),
                        isMnMajor, hasClusters(), rowBytes);
    return productDescriptors(index, type, descriptor, isMnMajor, products);
  }

  /// B: a stage of a ring has the ring's descriptor, which does not change in a
  /// loop, plus its distance.
  SmallVector<Value> rightOperand(ConversionPatternRewriter &rewriter,
                                  MmaAsyncOp op, int64_t products) const {
    Location loc = op.getLoc();
    IndexBuilder index(rewriter, loc);
    SharedType type = op.getB().getType();
    bool isMnMajor = !op.getTransposeB();
    auto stage = op.getB().getDefiningOp<StageOp>();
    Value tile = rewriter.getRemappedValue(stage ? stage.getRing() : op.getB());
    Value descriptor =
        buildDescriptor(rewriter, loc, type, tile, isMnMajor, hasClusters());
    if (stage) {
      Value number = index.toI32(rewriter.getRemappedValue(stage.getIndex()));
      Value distance =
          arith::ExtUIOp::create(rewriter, loc, rewriter.getI64Type(),
                                 index.mul(number, type.getTileBytes() >> 4));
      descriptor = index.add(descriptor, distance);
    }
    return productDescriptors(index, type, descriptor, isMnMajor, products);
  }
};

struct MmaWaitLowering : TileOpLowering<MmaWaitOp> {
  using TileOpLowering::TileOpLowering;

  LogicalResult
  matchAndRewrite(MmaWaitOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value source = packAccumulator(rewriter, loc, adaptor.getSource());
    Value result = attn::ptx::WgmmaWaitOp::create(
        rewriter, loc, source.getType(), op.getPending(), source);
    rewriter.replaceOpWithMultiple(op,
                                   {unpackAccumulator(rewriter, loc, result)});
    return success();
  }
};

} // namespace

void attn::tile::populateWgmmaPatterns(TypeConverter &converter,
                                       RewritePatternSet &patterns) {
  patterns.add<MmaAsyncLowering, MmaWaitLowering>(converter,
                                                  patterns.getContext());
}
