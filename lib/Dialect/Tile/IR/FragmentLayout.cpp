//===- FragmentLayout.cpp - Which lane holds what -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FragmentLayout.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn::tile;

/// Bits of the number of a lane.
static constexpr size_t kLaneBits = 5;
/// Of an element's: a thread has no more registers.
static constexpr size_t kMostElementBits = 8;

//===----------------------------------------------------------------------===//
// Layouts of instructions
//===----------------------------------------------------------------------===//

using Bases = SmallVector<FragmentPlace, 6>;

/// Lane 4g + t has row g, and begins at column `columns` * t.
static Bases getQuadLanes(int64_t columns) {
  return {{0, columns}, {0, 2 * columns}, {1, 0}, {2, 0}, {4, 0}};
}

FragmentLayoutAttr FragmentLayoutAttr::getAccumulator(MLIRContext *context) {
  return get(context, Bases{{0, 1}, {8, 0}}, getQuadLanes(2));
}

FragmentLayoutAttr FragmentLayoutAttr::getOperandA(MLIRContext *context,
                                                   int64_t bits) {
  if (bits == 8)
    return get(context, Bases{{0, 1}, {0, 2}, {8, 0}, {0, 16}},
               getQuadLanes(4));
  if (bits == 16)
    return get(context, Bases{{0, 1}, {8, 0}, {0, 8}}, getQuadLanes(2));
  return get(context, Bases{{8, 0}, {0, 4}}, getQuadLanes(1));
}

FragmentLayoutAttr FragmentLayoutAttr::getOperandPairs(MLIRContext *context,
                                                       int64_t bits) {
  if (bits == 8)
    return get(context, Bases{{0, 1}, {0, 8}, {8, 0}, {0, 16}},
               getQuadLanes(2));
  if (bits == 16)
    return getOperandA(context, bits);
  return get(context, Bases{{8, 0}, {0, 1}}, getQuadLanes(2));
}

FragmentLayoutAttr FragmentLayoutAttr::getOperandBytes(MLIRContext *context) {
  return get(context, Bases{{0, 1}, {8, 0}, {0, 2}}, getQuadLanes(4));
}

FragmentLayoutAttr FragmentLayoutAttr::getQuads(MLIRContext *context) {
  return get(context, Bases{{0, 2}, {8, 0}, {0, 1}}, getQuadLanes(4));
}

FragmentLayoutAttr FragmentLayoutAttr::getLaneRow(MLIRContext *context) {
  return get(context, Bases{}, Bases{{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}});
}

//===----------------------------------------------------------------------===//
// Parts of a layout
//===----------------------------------------------------------------------===//

static bool isNowhere(FragmentPlace place) {
  return place.first == 0 && place.second == 0;
}

/// The bases of elements and of lanes, changed alike. Elements that no longer
/// differ are one.
static FragmentLayoutAttr
project(FragmentLayoutAttr layout,
        function_ref<FragmentPlace(FragmentPlace)> change) {
  Bases elements = llvm::map_to_vector<6>(layout.getElements(), change);
  llvm::erase_if(elements, isNowhere);
  return FragmentLayoutAttr::get(
      layout.getContext(), elements,
      llvm::map_to_vector<6>(layout.getLanes(), change));
}

FragmentLayoutAttr FragmentLayoutAttr::getRowLayout() const {
  return project(
      *this, [](FragmentPlace place) { return FragmentPlace(place.first, 0); });
}

FragmentLayoutAttr FragmentLayoutAttr::getColumnLayout() const {
  return project(*this, [](FragmentPlace place) {
    return FragmentPlace(0, place.second);
  });
}

/// The sum of the bases of the bits that `number` has.
static FragmentPlace addBases(ArrayRef<FragmentPlace> bases, int64_t number) {
  FragmentPlace sum(0, 0);
  for (auto [bit, basis] : llvm::enumerate(bases))
    if (number >> bit & 1) {
      sum.first += basis.first;
      sum.second += basis.second;
    }
  return sum;
}

FragmentPlace FragmentLayoutAttr::getPlace(int64_t number) const {
  return addBases(getElements(), number);
}

FragmentPlace FragmentLayoutAttr::getUnit() const {
  FragmentPlace element = addBases(getElements(), -1),
                lane = addBases(getLanes(), -1);
  return {element.first + lane.first + 1, element.second + lane.second + 1};
}

bool FragmentLayoutAttr::hasRows() const { return getUnit().first > 1; }

bool FragmentLayoutAttr::hasColumns() const { return getUnit().second > 1; }

SmallVector<unsigned> FragmentLayoutAttr::getCopies() const {
  SmallVector<unsigned> bits;
  for (auto [bit, basis] : llvm::enumerate(getLanes()))
    if (isNowhere(basis))
      bits.push_back(bit);
  return bits;
}

/// The bits of `number` whose bases are of rows (of columns), put together.
static int64_t packBits(ArrayRef<FragmentPlace> bases, int64_t number,
                        bool ofRows) {
  int64_t packed = 0, next = 0;
  for (auto [bit, basis] : llvm::enumerate(bases))
    if ((basis.first != 0) == ofRows)
      packed |= (number >> bit & 1) << next++;
  return packed;
}

int64_t FragmentLayoutAttr::getRowNumber(int64_t number) const {
  return packBits(getElements(), number, /*ofRows=*/true);
}

int64_t FragmentLayoutAttr::getColumnNumber(int64_t number) const {
  return packBits(getElements(), number, /*ofRows=*/false);
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

/// Whether `extents` are 1, 2, 4 and so on, in any order.
static bool arePowers(SmallVector<int64_t> extents) {
  llvm::sort(extents);
  return llvm::all_of(llvm::enumerate(extents), [](auto entry) {
    return entry.value() == int64_t(1) << entry.index();
  });
}

LogicalResult
FragmentLayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                           ArrayRef<FragmentPlace> elements,
                           ArrayRef<FragmentPlace> lanes) {
  if (lanes.size() != kLaneBits)
    return emitError() << "expected a basis for each of the " << kLaneBits
                       << " bits of a lane, got " << lanes.size();
  if (elements.size() > kMostElementBits)
    return emitError() << "expected at most " << kMostElementBits
                       << " bases of elements, got " << elements.size();
  if (llvm::any_of(elements, isNowhere))
    return emitError() << "expected elements that differ by row or column, got "
                          "the basis [0, 0]";
  SmallVector<int64_t> rows, columns;
  for (ArrayRef<FragmentPlace> bases : {elements, lanes})
    for (auto [row, column] : bases) {
      if (row != 0 && column != 0)
        return emitError() << "expected bases of a row or of a column, got ["
                           << row << ", " << column << "]";
      if (row != 0)
        rows.push_back(row);
      if (column != 0)
        columns.push_back(column);
    }
  if (!arePowers(rows) || !arePowers(columns))
    return emitError() << "expected bases 1, 2, 4 and so on of rows and of "
                          "columns, each once";
  return success();
}

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

static constexpr StringRef kWrittenOut = "layout";

namespace {
struct NamedLayout {
  StringRef name;
  FragmentLayoutAttr layout;
};
} // namespace

/// The layouts that have names, for elements of `bits` bits. Of two equal ones
/// the first name is printed.
static SmallVector<NamedLayout> getNamed(MLIRContext *context, int64_t bits) {
  auto accumulator = FragmentLayoutAttr::getAccumulator(context);
  return {{"accumulator", accumulator},
          {"operand_a", FragmentLayoutAttr::getOperandA(context, bits)},
          {"operand_pairs", FragmentLayoutAttr::getOperandPairs(context, bits)},
          {"operand_bytes", FragmentLayoutAttr::getOperandBytes(context)},
          {"quads", FragmentLayoutAttr::getQuads(context)},
          {"lane_row", FragmentLayoutAttr::getLaneRow(context)},
          {"row", accumulator.getRowLayout()},
          {"column", accumulator.getColumnLayout()}};
}

static int64_t getBits(Type element) {
  return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
}

/// Parses `[[0, 1], [8, 0]]`.
static ParseResult parseBases(AsmParser &parser,
                              SmallVector<FragmentPlace> &bases) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    FragmentPlace &basis = bases.emplace_back();
    return failure(parser.parseLSquare() || parser.parseInteger(basis.first) ||
                   parser.parseComma() || parser.parseInteger(basis.second) ||
                   parser.parseRSquare());
  });
}

static void printBases(AsmPrinter &printer, ArrayRef<FragmentPlace> bases) {
  printer << '[';
  llvm::interleaveComma(bases, printer, [&](FragmentPlace basis) {
    printer << '[' << basis.first << ", " << basis.second << ']';
  });
  printer << ']';
}

#define GET_ATTRDEF_CLASSES
#include "attn/Dialect/Tile/IR/TileAttrs.cpp.inc"

ParseResult attn::tile::parseLayout(AsmParser &parser,
                                    FragmentLayoutAttr &layout, Type element) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseKeyword(&name))
    return failure();
  if (name == kWrittenOut) {
    layout = dyn_cast_if_present<FragmentLayoutAttr>(
        FragmentLayoutAttr::parse(parser, Type()));
    return failure(!layout);
  }
  SmallVector<NamedLayout> named =
      getNamed(parser.getContext(), getBits(element));
  for (const NamedLayout &entry : named)
    if (entry.name == name) {
      layout = entry.layout;
      return success();
    }
  InFlightDiagnostic error = parser.emitError(loc, "expected a layout: ");
  for (const NamedLayout &entry : named)
    error << entry.name << ", ";
  error << "or layout<...>, got " << name;
  return error;
}

void attn::tile::printLayout(AsmPrinter &printer, FragmentLayoutAttr layout,
                             Type element) {
  for (const NamedLayout &entry :
       getNamed(layout.getContext(), getBits(element)))
    if (entry.layout == layout) {
      printer << entry.name;
      return;
    }
  printer << kWrittenOut;
  layout.print(printer);
}

void AttnTileDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "attn/Dialect/Tile/IR/TileAttrs.cpp.inc"
      >();
}
