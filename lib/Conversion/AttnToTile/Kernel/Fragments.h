//===- Fragments.h - Elementwise functions of fragments -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shorthand for attn_tile.map on f32 fragments.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_ATTNTOTILE_KERNEL_FRAGMENTS_H
#define LIB_CONVERSION_ATTNTOTILE_KERNEL_FRAGMENTS_H

#include "attn/Dialect/Tile/IR/Tile.h"

#include <limits>

namespace attn {

inline constexpr float kMinusInf = -std::numeric_limits<float>::infinity();

/// One f32 for each of `rows` rows.
inline tile::FragmentType getRowType(mlir::OpBuilder &builder, int64_t rows) {
  return tile::FragmentType::getRow(rows, builder.getF32Type());
}

/// The accumulator of a product of `element`: i32 of i8, f32 of others.
inline tile::FragmentType getAccumulatorType(mlir::OpBuilder &builder,
                                             int64_t rows, int64_t cols,
                                             mlir::Type element = {}) {
  bool isInteger = element && element.isInteger();
  return tile::FragmentType::getAccumulator(
      {rows, cols},
      isInteger ? mlir::Type(builder.getI32Type()) : builder.getF32Type());
}

inline mlir::Value createFill(mlir::OpBuilder &builder, mlir::Location loc,
                              mlir::Type type, float value) {
  return tile::FillOp::create(builder, loc, type,
                              builder.getF32FloatAttr(value));
}

/// The block of `map`, whose arguments are an element of each input and its row
/// in the tile, and with two dimensions its column.
inline mlir::Block *createMapBody(mlir::OpBuilder &builder, tile::MapOp map) {
  auto types = llvm::map_to_vector(map.getInputs(), [](mlir::Value input) {
    return mlir::cast<tile::FragmentType>(input.getType()).getElementType();
  });
  bool isRow = map.getResult().getType().isRow();
  types.append(isRow ? 1 : 2, builder.getI32Type());
  return builder.createBlock(
      &map.getBody(), {}, types,
      llvm::SmallVector<mlir::Location>(types.size(), map.getLoc()));
}

/// Builds elementwise functions of fragments.
class Fragments {
public:
  Fragments(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  using Value = mlir::Value;
  using Body = llvm::function_ref<Value(mlir::ValueRange elements)>;

  /// A map to `type` of `inputs`.
  Value map(mlir::Type type, mlir::ValueRange inputs, Body body) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    auto op = tile::MapOp::create(builder, loc, type, inputs);
    mlir::Block *block = createMapBody(builder, op);
    Value result =
        body(mlir::ValueRange(block->getArguments().take_front(inputs.size())));
    tile::YieldOp::create(builder, loc, result);
    return op.getResult();
  }

  /// What `body` makes of each of `rows` numbers of rows.
  Value mapRows(int64_t rows, llvm::function_ref<Value(Value row)> body) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    auto op = tile::MapOp::create(builder, loc, getRowType(builder, rows),
                                  mlir::ValueRange());
    Value result = body(createMapBody(builder, op)->getArgument(0));
    tile::YieldOp::create(builder, loc, result);
    return op.getResult();
  }

  /// `fragment` times `factor`, which may be a row fragment.
  Value scale(Value fragment, Value factor) {
    return map(fragment.getType(), {fragment, factor},
               [&](mlir::ValueRange args) { return mul(args[0], args[1]); });
  }

  /// `fragment` times a number.
  Value multiply(Value fragment, double factor) {
    return map(fragment.getType(), fragment, [&](mlir::ValueRange args) {
      return mul(args[0], constant(factor));
    });
  }

  /// `fragment` times an f32 of the kernel.
  Value multiply(Value fragment, Value factor) {
    return map(fragment.getType(), fragment,
               [&](mlir::ValueRange args) { return mul(args[0], factor); });
  }

  /// The maximum or sum of each row, in all lanes that hold it.
  Value reduce(tile::Reduction kind, Value source, float init) {
    mlir::Type rows = getRowType(
        builder, mlir::cast<tile::FragmentType>(source.getType()).getRows());
    Value parts = tile::RowReduceOp::create(
        builder, loc, kind, source, createFill(builder, loc, rows, init));
    return tile::RowAllReduceOp::create(builder, loc, rows, kind, parts);
  }

  Value constant(double value) {
    return mlir::arith::ConstantOp::create(
        builder, loc, builder.getF32FloatAttr(static_cast<float>(value)));
  }
  Value add(Value a, Value b) {
    return mlir::arith::AddFOp::create(builder, loc, a, b);
  }
  Value sub(Value a, Value b) {
    return mlir::arith::SubFOp::create(builder, loc, a, b);
  }
  Value mul(Value a, Value b) {
    return mlir::arith::MulFOp::create(builder, loc, a, b);
  }
  Value max(Value a, Value b) {
    return mlir::arith::MaxNumFOp::create(builder, loc, a, b);
  }
  Value min(Value a, Value b) {
    return mlir::arith::MinNumFOp::create(builder, loc, a, b);
  }
  Value fma(Value a, Value b, Value c) {
    return mlir::math::FmaOp::create(builder, loc, a, b, c);
  }
  Value absolute(Value a) {
    return mlir::math::AbsFOp::create(builder, loc, a);
  }
  Value negate(Value a) { return mlir::arith::NegFOp::create(builder, loc, a); }
  Value exp2(Value a) { return mlir::math::Exp2Op::create(builder, loc, a); }
  Value log(Value a) { return mlir::math::LogOp::create(builder, loc, a); }
  Value log2(Value a) { return mlir::math::Log2Op::create(builder, loc, a); }
  Value divide(Value a, Value b) {
    return mlir::arith::DivFOp::create(builder, loc, a, b);
  }
  /// `a == number ? whenEqual : otherwise`
  Value selectEqual(Value a, double number, Value whenEqual, Value otherwise) {
    Value equal = mlir::arith::CmpFOp::create(
        builder, loc, mlir::arith::CmpFPredicate::OEQ, a, constant(number));
    return mlir::arith::SelectOp::create(builder, loc, equal, whenEqual,
                                         otherwise);
  }

  /// `a > number ? whenGreater : otherwise`
  Value selectGreater(Value a, double number, Value whenGreater,
                      Value otherwise) {
    Value greater = mlir::arith::CmpFOp::create(
        builder, loc, mlir::arith::CmpFPredicate::OGT, a, constant(number));
    return mlir::arith::SelectOp::create(builder, loc, greater, whenGreater,
                                         otherwise);
  }
  /// True if an element that the warp holds is not 0.
  Value any(Value fragment) {
    return tile::AnyOp::create(builder, loc, fragment);
  }

  /// `condition ? build() : otherwise`, with `build` in a branch.
  mlir::ValueRange choose(Value condition,
                          llvm::function_ref<llvm::SmallVector<Value>()> build,
                          mlir::ValueRange otherwise) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    auto choice = mlir::scf::IfOp::create(builder, loc, otherwise.getTypes(),
                                          condition, /*withElseRegion=*/true);
    builder.setInsertionPointToStart(choice.thenBlock());
    mlir::scf::YieldOp::create(builder, loc, build());
    builder.setInsertionPointToStart(choice.elseBlock());
    mlir::scf::YieldOp::create(builder, loc, otherwise);
    return choice.getResults();
  }

  /// True if an absolute value that the warp holds is larger than `limit`.
  Value anyLarger(Value fragment, double limit) {
    return any(map(fragment.getType(), fragment, [&](mlir::ValueRange args) {
      Value size = mlir::math::AbsFOp::create(builder, loc, args[0]);
      Value one = constant(1.0);
      return selectGreater(size, limit, one, constant(0.0));
    }));
  }

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace attn

#endif // LIB_CONVERSION_ATTNTOTILE_KERNEL_FRAGMENTS_H
