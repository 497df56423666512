//===- TileTypes.cpp - Types of the attn_tile dialect -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FragmentLayout.h"

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

FragmentType FragmentType::getAccumulator(ArrayRef<int64_t> shape,
                                          Type element) {
  MLIRContext *context = element.getContext();
  return get(context, shape, element,
             FragmentLayoutAttr::getAccumulator(context));
}

FragmentType FragmentType::getOperandA(ArrayRef<int64_t> shape, Type element) {
  MLIRContext *context = element.getContext();
  return get(context, shape, element,
             FragmentLayoutAttr::getOperandA(context,
                                             element.getIntOrFloatBitWidth()));
}

FragmentType FragmentType::getOperandPairs(ArrayRef<int64_t> shape,
                                           Type element) {
  MLIRContext *context = element.getContext();
  return get(context, shape, element,
             FragmentLayoutAttr::getOperandPairs(
                 context, element.getIntOrFloatBitWidth()));
}

FragmentType FragmentType::getOperandBytes(ArrayRef<int64_t> shape,
                                           Type element) {
  MLIRContext *context = element.getContext();
  return get(context, shape, element,
             FragmentLayoutAttr::getOperandBytes(context));
}

FragmentType FragmentType::getRow(int64_t rows, Type element) {
  MLIRContext *context = element.getContext();
  return get(context, rows, element,
             FragmentLayoutAttr::getAccumulator(context).getRowLayout());
}

FragmentType FragmentType::getColumn(int64_t columns, Type element) {
  MLIRContext *context = element.getContext();
  return get(context, columns, element,
             FragmentLayoutAttr::getAccumulator(context).getColumnLayout());
}

bool FragmentType::isAccumulator() const {
  return getLayout() == FragmentLayoutAttr::getAccumulator(getContext());
}

bool FragmentType::isQuads() const {
  return getLayout() == FragmentLayoutAttr::getQuads(getContext());
}

/// Of elements of `bits` bits.
static bool isPairs(FragmentLayoutAttr layout, int64_t bits) {
  return layout ==
         FragmentLayoutAttr::getOperandPairs(layout.getContext(), bits);
}

static bool isOperand(FragmentLayoutAttr layout, int64_t bits) {
  return isPairs(layout, bits) ||
         layout == FragmentLayoutAttr::getOperandBytes(layout.getContext()) ||
         layout == FragmentLayoutAttr::getOperandA(layout.getContext(), bits);
}

bool FragmentType::isOperand() const {
  return ::isOperand(getLayout(), getElementType().getIntOrFloatBitWidth());
}

bool FragmentType::isOperandPairs() const {
  return isPairs(getLayout(), getElementType().getIntOrFloatBitWidth());
}

bool FragmentType::isOperandBytes() const {
  return getLayout() == FragmentLayoutAttr::getOperandBytes(getContext());
}

bool FragmentType::isLaneRow() const {
  return getLayout() == FragmentLayoutAttr::getLaneRow(getContext());
}

FragmentLayoutAttr FragmentType::getProductLayout(Type element, bool rowsAreN) {
  return isByteType(element) && !rowsAreN
             ? FragmentLayoutAttr::getQuads(element.getContext())
             : FragmentLayoutAttr::getAccumulator(element.getContext());
}

FragmentType FragmentType::getRowType(Type element) const {
  return get(getContext(), getRows(), element, getLayout().getRowLayout());
}

FragmentType FragmentType::withElements(Type element) const {
  return get(getContext(), getShape(), element, getLayout());
}

/// Units side by side.
static int64_t countUnitsOfRow(FragmentType type) {
  return type.isRow()
             ? 1
             : type.getShape().back() / type.getLayout().getUnit().second;
}

int64_t FragmentType::countElements(int64_t warps) const {
  FragmentLayoutAttr layout = getLayout();
  int64_t rows = isColumn() ? 1 : getRows() / warps / layout.getUnit().first;
  return rows * countUnitsOfRow(*this) * layout.getUnitElements();
}

int64_t FragmentType::getRegisters(int64_t warps) const {
  int64_t perRegister =
      std::max<int64_t>(1, 32 / getElementType().getIntOrFloatBitWidth());
  return countElements(warps) / perRegister;
}

bool FragmentType::hasPairs() const {
  if (isVector())
    return false;
  ArrayRef<FragmentPlace> elements = getLayout().getElements();
  return elements.empty() ? countUnitsOfRow(*this) % 2 == 0
                          : elements.front().first == 0;
}

FragmentPlace FragmentType::getPlace(int64_t element) const {
  FragmentLayoutAttr layout = getLayout();
  auto [rows, columns] = layout.getUnit();
  int64_t unit = element / layout.getUnitElements();
  auto [row, column] = layout.getPlace(element % layout.getUnitElements());
  int64_t units = countUnitsOfRow(*this);
  return {unit / units * rows + row, unit % units * columns + column};
}

int64_t FragmentType::getRowNumber(int64_t element) const {
  FragmentLayoutAttr layout = getLayout();
  int64_t unit = element / layout.getUnitElements() / countUnitsOfRow(*this);
  return unit * layout.getRowLayout().getUnitElements() +
         layout.getRowNumber(element % layout.getUnitElements());
}

int64_t FragmentType::getColumnNumber(int64_t element) const {
  FragmentLayoutAttr layout = getLayout();
  int64_t unit = element / layout.getUnitElements() % countUnitsOfRow(*this);
  return unit * layout.getColumnLayout().getUnitElements() +
         layout.getColumnNumber(element % layout.getUnitElements());
}

/// Whether the layout is of vectors (of matrices), whose lanes have no copies.
static bool isOfRank(FragmentLayoutAttr layout, size_t rank) {
  if (rank == 2)
    return layout.getCopies().empty();
  return rank == 1 && !(layout.hasRows() && layout.hasColumns());
}

/// Sums and numbers of rows are f32, or i32 of products of i8; operands are in
/// the layouts that products take, or in lanes of rows.
static LogicalResult
verifyElements(function_ref<InFlightDiagnostic()> emitError, Type element,
               FragmentLayoutAttr layout, bool isVector) {
  bool isSum = element.isF32() || element.isInteger(32);
  bool isLaneRow =
      layout == FragmentLayoutAttr::getLaneRow(layout.getContext());
  bool isFactor =
      !isVector && ((isLaneRow && !isSum) ||
                    isOperand(layout, element.getIntOrFloatBitWidth()));
  bool mayBeInteger =
      !(isVector && layout.hasColumns()) &&
      layout != FragmentLayoutAttr::getQuads(layout.getContext());
  if (isFactor ? isOperandType(element)
               : element.isF32() || (mayBeInteger && isSum))
    return success();
  return emitError() << "expected "
                     << (isFactor       ? kOperandTypes
                         : mayBeInteger ? "f32 or i32"
                                        : "f32")
                     << " elements, got " << element;
}

LogicalResult FragmentType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<int64_t> shape, Type element,
                                   FragmentLayoutAttr layout) {
  if (!isOfRank(layout, shape.size()) ||
      llvm::any_of(shape, ShapedType::isDynamic))
    return emitError() << "expected " << (layout.getCopies().empty() ? 2 : 1)
                       << " static dimension(s) of this layout, got "
                       << shape.size();
  if (llvm::any_of(shape, isTooLarge))
    return emitTooLarge(emitError);
  if (!element.isIntOrFloat())
    return emitError() << "expected an integer or float element type, got "
                       << element;
  auto [rows, columns] = layout.getUnit();
  bool isMatrix = shape.size() == 2;
  if ((isMatrix || !layout.hasColumns()) && shape.front() % rows != 0)
    return emitError() << "expected rows to be a multiple of " << rows
                       << ", got " << shape.front();
  if ((isMatrix || layout.hasColumns()) && shape.back() % columns != 0)
    return emitError() << "expected columns to be a multiple of " << columns
                       << ", got " << shape.back();
  return verifyElements(emitError, element, layout, shape.size() == 1);
}
