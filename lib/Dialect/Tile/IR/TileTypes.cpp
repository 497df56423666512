//===- TileTypes.cpp - Types of the attn_tile dialect -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn::tile;

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

/// Parses `?x32x64xbf16`.
static ParseResult parseTileShape(AsmParser &parser,
                                  SmallVector<int64_t> &shape, Type &element) {
  return failure(parser.parseDimensionList(shape, /*allowDynamic=*/true) ||
                 parser.parseType(element));
}

static void printTileShape(AsmPrinter &printer, ArrayRef<int64_t> shape,
                           Type element) {
  for (int64_t size : shape) {
    if (ShapedType::isDynamic(size))
      printer << '?';
    else
      printer << size;
    printer << 'x';
  }
  printer << element;
}

#define GET_TYPEDEF_CLASSES
#include "attn/Dialect/Tile/IR/TileTypes.cpp.inc"

void AttnTileDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "attn/Dialect/Tile/IR/TileTypes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// GlobalType
//===----------------------------------------------------------------------===//

bool GlobalType::isDynamicDim(unsigned dim) const {
  return ShapedType::isDynamic(getShape()[dim]);
}

LogicalResult GlobalType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> shape, Type element) {
  if (!element.isIntOrFloat())
    return emitError() << "expected an integer or float element type, got "
                       << element;
  return success();
}

//===----------------------------------------------------------------------===//
// SharedType
//===----------------------------------------------------------------------===//

SharedType SharedType::getTile() const {
  return get(getContext(), getShape().take_back(2), getElementType(),
             getSwizzle());
}

int64_t SharedType::getSwizzleFor(int64_t bytes) {
  return bytes % 128 == 0 ? 128 : bytes % 64 == 0 ? 64 : 32;
}

static bool isFloat8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

static bool isByteType(Type type) {
  return isFloat8(type) || type.isInteger(8);
}

bool attn::tile::areFactors(Type a, Type b) {
  return a == b || (isFloat8(a) && isFloat8(b));
}

/// What tensor cores multiply: 8-bit types, f16, bf16, and f32 as tf32.
static bool isOperandType(Type type) {
  return isByteType(type) || type.isF16() || type.isBF16() || type.isF32();
}

static constexpr const char *kOperandTypes =
    "i8, f8E4M3FN, f8E5M2, f16, bf16 or f32";

/// No memory of a CTA has so many rows or columns, and their product can be
/// counted.
static constexpr int64_t kLargestExtent = 65536;

static bool isTooLarge(int64_t size) {
  return size < 1 || size > kLargestExtent;
}

static LogicalResult
emitTooLarge(function_ref<InFlightDiagnostic()> emitError) {
  return emitError() << "expected dimensions of 1 to " << kLargestExtent;
}

LogicalResult SharedType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> shape, Type element,
                                 int64_t swizzle) {
  if (shape.size() != 2 && shape.size() != 3)
    return emitError() << "expected rows x cols or stages x rows x cols, got "
                       << shape.size() << " dimensions";
  if (!isOperandType(element))
    return emitError() << "expected " << kOperandTypes << " elements, got "
                       << element;
  if (swizzle != 32 && swizzle != 64 && swizzle != 128)
    return emitError() << "expected swizzle to be 32, 64 or 128 bytes, got "
                       << swizzle;
  if (llvm::any_of(shape, ShapedType::isDynamic))
    return emitError() << "expected a static shape";
  if (llvm::any_of(shape, isTooLarge))
    return emitTooLarge(emitError);
  int64_t panelCols = swizzle * 8 / element.getIntOrFloatBitWidth();
  if (shape.back() % panelCols != 0)
    return emitError() << "expected columns to be a multiple of " << panelCols
                       << " (swizzle " << swizzle << "), got " << shape.back();
  if (int64_t rows = shape[shape.size() - 2]; rows != 1 && rows % 8 != 0)
    return emitError() << "expected rows to be 1 or a multiple of 8, got "
                       << shape[shape.size() - 2];
  return success();
}

//===----------------------------------------------------------------------===//
// TensorMapType and MbarrierType
//===----------------------------------------------------------------------===//

TensorMapType TensorMapType::getFor(SharedType tile,
                                    std::optional<int64_t> rows) {
  return get(tile.getContext(),
             {rows.value_or(tile.getRows()), tile.getPanelCols()},
             tile.getElementType(), tile.getSwizzle());
}

LogicalResult
TensorMapType::verify(function_ref<InFlightDiagnostic()> emitError,
                      ArrayRef<int64_t> shape, Type element, int64_t swizzle) {
  if (shape.size() != 2 || llvm::any_of(shape, ShapedType::isDynamic))
    return emitError() << "expected 2 static dimensions, got " << shape.size();
  if (llvm::any_of(shape, [](int64_t size) { return size < 1 || size > 256; }))
    return emitError() << "expected a box of 1 to 256 elements in each "
                          "dimension, got "
                       << shape[0] << " x " << shape[1];
  return SharedType::verify(emitError, shape, element, swizzle);
}

LogicalResult MbarrierType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t stages, int64_t arrivals) {
  if (stages < 1 || stages > 64)
    return emitError() << "expected 1 to 64 stages, got " << stages;
  if (arrivals < 1 || arrivals >= (1 << 20))
    return emitError() << "expected 1 to 2^20 - 1 arrivals, got " << arrivals;
  return success();
}

//===----------------------------------------------------------------------===//
// FragmentType
//===----------------------------------------------------------------------===//

FragmentLayout FragmentType::getProductLayout(Type element, bool rowsAreN) {
  return isByteType(element) && !rowsAreN ? FragmentLayout::Quads
                                          : FragmentLayout::Accumulator;
}

int64_t FragmentType::getRegisters(int64_t warps) const {
  int64_t rowBlocks = getRows() / warps / 16;
  switch (getLayout()) {
  case FragmentLayout::Accumulator:
  case FragmentLayout::Quads:
    return rowBlocks * (getShape()[1] / 8) * 4;
  case FragmentLayout::OperandA:
    // Four of 32 bits for each 32 bytes of 16 rows.
    return rowBlocks * getShape()[1] *
           getElementType().getIntOrFloatBitWidth() / 64;
  case FragmentLayout::Row:
    return rowBlocks * 2;
  case FragmentLayout::Column:
    return getShape().front() / 8 * 2;
  }
  llvm_unreachable("unknown fragment layout");
}

LogicalResult FragmentType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<int64_t> shape, Type element,
                                   FragmentLayout layout) {
  bool isVector =
      layout == FragmentLayout::Row || layout == FragmentLayout::Column;
  unsigned rank = isVector ? 1 : 2;
  if (shape.size() != rank || llvm::any_of(shape, ShapedType::isDynamic))
    return emitError() << "expected " << rank << " static dimension(s), got "
                       << shape.size();
  if (llvm::any_of(shape, isTooLarge))
    return emitTooLarge(emitError);
  if (layout == FragmentLayout::Column) {
    if (shape.front() % 8 != 0)
      return emitError() << "expected columns to be a multiple of 8, got "
                         << shape.front();
  } else if (shape.front() % 16 != 0) {
    return emitError() << "expected rows to be a multiple of 16, got "
                       << shape.front();
  }
  bool isOperand = layout == FragmentLayout::OperandA;
  int64_t multiple = layout == FragmentLayout::Quads ? 16 : 8;
  if (isOperand)
    multiple = isByteType(element) ? 32 : 16;
  if (rank == 2 && shape[1] % multiple != 0)
    return emitError() << "expected columns to be a multiple of " << multiple
                       << ", got " << shape[1];
  // Sums of products of i8 are integers.
  bool mayBeInteger =
      layout == FragmentLayout::Row || layout == FragmentLayout::Accumulator;
  if (isOperand ? !isOperandType(element)
                : !element.isF32() && !(mayBeInteger && element.isInteger(32)))
    return emitError() << "expected "
                       << (isOperand      ? kOperandTypes
                           : mayBeInteger ? "f32 or i32"
                                          : "f32")
                       << " elements, got " << element;
  return success();
}
