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
#include "MatrixDescriptors.h"

#include "attn/Dialect/PTX/IR/PTX.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn::tile;

namespace {

/// Rows of a warpgroup's product.
constexpr int64_t kWgmmaM = 64;

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

  /// The number of the 64 rows that `warpgroup` has of the A operand.
  Value getOwner(IndexBuilder &index, Value warpgroup) const {
    int64_t groups = getWarps() / 4;
    if (!getRowWarps().areShared)
      return warpgroup;
    return groups == 1 ? index.i32(0)
                       : index.rem(index.toI32(warpgroup), groups);
  }

  LogicalResult
  matchAndRewrite(MmaAsyncOp op, Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    FragmentType type = op.getResult().getType();
    if (type.getRows() != 16 * getWarps() || getWarps() % 4 != 0)
      return rewriter.notifyMatchFailure(op, "not 64 rows for each warpgroup");
    SharedType bType = op.getB().getType();
    int64_t depth = op.getTransposeB() ? bType.getCols() : bType.getRows();
    int64_t products = depth / getProductDepth(bType);

    IndexBuilder index(rewriter, loc);
    SmallVector<Value> descriptorsA, registersA;
    if (auto shared = dyn_cast<TypedValue<SharedType>>(op.getA()))
      descriptorsA =
          MatrixDescriptors(rewriter, loc, DescriptorFormat::Wgmma, shared,
                            op.getTransposeA(), hasClusters())
              .getRows(getOwner(index, adaptor.getWarpgroup().front()), kWgmmaM,
                       products);
    else
      llvm::append_range(registersA, adaptor.getA());
    SmallVector<Value> descriptorsB =
        MatrixDescriptors(rewriter, loc, DescriptorFormat::Wgmma, op.getB(),
                          /*isMnMajor=*/!op.getTransposeB(), hasClusters())
            .getWhole(products);
    Value acc;
    if (op.getAcc())
      acc = packAccumulator(rewriter, loc, adaptor.getAcc());
    Type resultType = LLVM::LLVMStructType::getLiteral(
        getContext(), SmallVector<Type>(type.getRegisters(getWarps()),
                                        type.getElementType()));
    Type elementA = TypeSwitch<Type, Type>(op.getA().getType())
                        .Case<FragmentType, SharedType>(
                            [](auto a) { return a.getElementType(); });
    Type elementB = bType.getElementType();
    auto flag = [&](bool isSet) {
      return isSet ? rewriter.getUnitAttr() : UnitAttr();
    };
    Value result = attn::ptx::WgmmaOp::create(
        rewriter, loc, resultType, TypeAttr::get(elementA),
        elementA == elementB ? TypeAttr() : TypeAttr::get(elementB),
        descriptorsA, registersA, descriptorsB,
        /*a_mn_major=*/flag(op.getTransposeA()),
        /*b_mn_major=*/flag(!op.getTransposeB()), acc);
    NVVM::WgmmaGroupSyncAlignedOp::create(rewriter, loc);
    rewriter.replaceOpWithMultiple(op,
                                   {unpackAccumulator(rewriter, loc, result)});
    return success();
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
