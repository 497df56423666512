//===- AttnSyntax.cpp - Custom assembly directives -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttnSyntax.h"
#include "attn/Dialect/Attn/IR/NamedMods.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// scale and rate
//===----------------------------------------------------------------------===//

/// Parses `(number)`.
static ParseResult parseNumber(OpAsmParser &parser, FloatAttr &attr) {
  double number;
  if (parser.parseLParen() || parser.parseFloat(number) || parser.parseRParen())
    return failure();
  attr = parser.getBuilder().getF64FloatAttr(number);
  return success();
}

static void printNumber(OpAsmPrinter &printer, StringRef name, FloatAttr attr) {
  printer << name << "(";
  printer.printFloat(attr.getValue());
  printer << ")";
}

OptionalParseResult attn::parseScale(OpAsmParser &parser, FloatAttr &scale) {
  if (failed(parser.parseOptionalKeyword("scale")))
    return std::nullopt;
  return parseNumber(parser, scale);
}

void attn::printScale(OpAsmPrinter &printer, Operation *, FloatAttr scale) {
  if (scale)
    printNumber(printer, "scale", scale);
}

ParseResult attn::parseRate(OpAsmParser &parser, FloatAttr &rate) {
  return failure(parser.parseKeyword("rate") || parseNumber(parser, rate));
}

void attn::printRate(OpAsmPrinter &printer, Operation *, FloatAttr rate) {
  printNumber(printer, "rate", rate);
}

//===----------------------------------------------------------------------===//
// Lengths
//===----------------------------------------------------------------------===//

using OptionalOperand = std::optional<OpAsmParser::UnresolvedOperand>;

/// Parses `%lengths : type`.
static ParseResult parseLength(OpAsmParser &parser, OptionalOperand &operand,
                               Type &type) {
  SMLoc loc = parser.getCurrentLocation();
  if (operand)
    return parser.emitError(loc) << "expected one length of a kind, got two";
  operand.emplace();
  return failure(parser.parseOperand(*operand) || parser.parseColonType(type));
}

OptionalParseResult attn::parseLengths(OpAsmParser &parser,
                                       OptionalOperand &key, Type &keyType,
                                       OptionalOperand &query,
                                       Type &queryType) {
  if (failed(parser.parseOptionalKeyword("lengths")))
    return std::nullopt;
  auto parseOne = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef kind;
    if (parser.parseKeyword(&kind))
      return failure();
    if (kind == "key")
      return parseLength(parser, key, keyType);
    if (kind == "query")
      return parseLength(parser, query, queryType);
    return parser.emitError(loc)
           << "expected lengths of key or query, got '" << kind << "'";
  };
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                        parseOne);
}

void attn::printLengths(OpAsmPrinter &printer, Operation *, Value key,
                        Type keyType, Value query, Type queryType) {
  printer << "lengths(";
  if (key)
    printer << "key " << key << " : " << keyType;
  if (key && query)
    printer << ", ";
  if (query)
    printer << "query " << query << " : " << queryType;
  printer << ")";
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// Parses `(%a: type, ...) { ... }`.
static ParseResult parseModRegion(OpAsmParser &parser, Region &region) {
  SmallVector<OpAsmParser::Argument> arguments;
  return failure(parser.parseArgumentList(arguments,
                                          OpAsmParser::Delimiter::Paren,
                                          /*allowType=*/true) ||
                 parser.parseRegion(region, arguments));
}

static void printModRegion(OpAsmPrinter &printer, Region &region) {
  printer << "(";
  llvm::interleaveComma(region.getArguments(), printer, [&](BlockArgument arg) {
    printer.printRegionArgument(arg);
  });
  printer << ") ";
  printer.printRegion(region, /*printEntryBlockArgs=*/false);
}

/// Parses `(top_left)` or `(bottom_right)`.
static ParseResult parseCausal(OpAsmParser &parser, NamedMod &mod) {
  StringRef keyword;
  SMLoc loc;
  if (parser.parseLParen() || (loc = parser.getCurrentLocation(), false) ||
      parser.parseKeyword(&keyword) || parser.parseRParen())
    return failure();
  std::optional<CausalAlignment> alignment = symbolizeCausalAlignment(keyword);
  if (!alignment)
    return parser.emitError(loc)
           << "expected top_left or bottom_right, got '" << keyword << "'";
  mod.alignment = *alignment;
  return success();
}

/// Parses `name(parameters)` and builds the region; the score type of a named
/// score_mod is f32 unless `: type` follows.
static ParseResult parseNamedMod(OpAsmParser &parser, Region &region,
                                 StringRef name, NamedMod mod) {
  Builder &attrBuilder = parser.getBuilder();
  FloatType scoreType = attrBuilder.getF32Type();
  SMLoc loc = parser.getCurrentLocation();
  switch (mod.kind) {
  case NamedMod::Causal:
    if (parseCausal(parser, mod))
      return failure();
    break;
  case NamedMod::SlidingWindow:
    if (parser.parseLParen() || parser.parseInteger(mod.left) ||
        parser.parseComma() || parser.parseInteger(mod.right) ||
        parser.parseRParen())
      return failure();
    break;
  case NamedMod::SoftCap:
    if (parser.parseLParen() || parser.parseFloat(mod.cap) ||
        (succeeded(parser.parseOptionalColon()) &&
         parser.parseType(scoreType)) ||
        parser.parseRParen())
      return failure();
    if (!isSoftCap(mod.cap, scoreType))
      return parser.emitError(loc) << "expected soft_cap to be positive, and "
                                      "neither too small nor too large for "
                                   << scoreType << ", got " << mod.cap;
    break;
  }
  OpBuilder builder(parser.getContext());
  buildNamedMod(builder, parser.getEncodedSourceLoc(loc), region, scoreType,
                mod);
  return success();
}

static void printNamedMod(OpAsmPrinter &printer, Region &region,
                          const NamedMod &mod) {
  switch (mod.kind) {
  case NamedMod::Causal:
    printer << "causal(" << stringifyCausalAlignment(mod.alignment) << ")";
    return;
  case NamedMod::SlidingWindow:
    printer << "sliding_window(" << mod.left << ", " << mod.right << ")";
    return;
  case NamedMod::SoftCap:
    printer << "soft_cap(";
    printer.printFloat(APFloat(mod.cap));
    if (!region.getArgument(0).getType().isF32())
      printer << " : " << region.getArgument(0).getType();
    printer << ")";
    return;
  }
}

/// A word of the assembly that names a kind of region.
struct ModKeyword {
  StringRef keyword;
  NamedMod::Kind kind;
};
static constexpr ModKeyword kScoreMods[] = {{"soft_cap", NamedMod::SoftCap}};
static constexpr ModKeyword kMaskMods[] = {
    {"causal", NamedMod::Causal}, {"sliding_window", NamedMod::SlidingWindow}};

/// Parses `[clause (name(...) | (args) {...})]`.
static OptionalParseResult parseMod(OpAsmParser &parser, Region &region,
                                    StringRef clause,
                                    ArrayRef<ModKeyword> keywords) {
  if (failed(parser.parseOptionalKeyword(clause)))
    return std::nullopt;
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (failed(parser.parseOptionalKeyword(&name)))
    return parseModRegion(parser, region);
  for (const ModKeyword &keyword : keywords)
    if (name == keyword.keyword)
      return parseNamedMod(parser, region, name, {keyword.kind});
  InFlightDiagnostic diag = parser.emitError(loc)
                            << "expected " << clause << " to be a region or ";
  llvm::interleaveComma(keywords, diag,
                        [&](const ModKeyword &k) { diag << k.keyword; });
  return ParseResult(diag << ", got '" << name << "'");
}

static void printMod(OpAsmPrinter &printer, Region &region, StringRef clause) {
  if (region.empty())
    return;
  printer << clause << " ";
  if (std::optional<NamedMod> mod = recognizeNamedMod(region))
    printNamedMod(printer, region, *mod);
  else
    printModRegion(printer, region);
}

OptionalParseResult attn::parseScoreMod(OpAsmParser &parser, Region &region) {
  return parseMod(parser, region, "score_mod", kScoreMods);
}

void attn::printScoreMod(OpAsmPrinter &printer, Operation *, Region &region) {
  printMod(printer, region, "score_mod");
}

OptionalParseResult attn::parseMaskMod(OpAsmParser &parser, Region &region) {
  return parseMod(parser, region, "mask_mod", kMaskMods);
}

void attn::printMaskMod(OpAsmPrinter &printer, Operation *, Region &region) {
  printMod(printer, region, "mask_mod");
}

/// None has a name.
OptionalParseResult attn::parseProbMod(OpAsmParser &parser, Region &region) {
  if (failed(parser.parseOptionalKeyword("prob_mod")))
    return std::nullopt;
  return parseModRegion(parser, region);
}

void attn::printProbMod(OpAsmPrinter &printer, Operation *, Region &region) {
  if (region.empty())
    return;
  printer << "prob_mod ";
  printModRegion(printer, region);
}

ParseResult attn::parseOutputMod(OpAsmParser &parser, Region &region) {
  return parseModRegion(parser, region);
}

void attn::printOutputMod(OpAsmPrinter &printer, Operation *, Region &region) {
  printModRegion(printer, region);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

ParseResult attn::parseRowType(OpAsmParser &parser,
                               ArrayRef<OpAsmParser::UnresolvedOperand> rows,
                               SmallVectorImpl<Type> &types) {
  Type type;
  if (rows.empty())
    return success();
  if (parser.parseComma() || parser.parseType(type))
    return failure();
  types.assign(rows.size(), type);
  return success();
}

void attn::printRowType(OpAsmPrinter &printer, Operation *, ValueRange,
                        TypeRange types) {
  if (!types.empty())
    printer << ", " << types.front();
}

ParseResult attn::parsePoolTypes(OpAsmParser &parser,
                                 SmallVectorImpl<Type> &pools,
                                 ArrayRef<Type> scales,
                                 SmallVectorImpl<Type> &results) {
  if (parser.parseTypeList(pools))
    return failure();
  results.assign(pools.begin(), pools.end());
  llvm::append_range(results, scales);
  return success();
}

void attn::printPoolTypes(OpAsmPrinter &printer, Operation *, TypeRange pools,
                          TypeRange, TypeRange) {
  llvm::interleaveComma(pools, printer);
}

ParseResult attn::parseSameType(OpAsmParser &parser, Type &first,
                                Type &second) {
  if (parser.parseType(first))
    return failure();
  second = first;
  return success();
}

void attn::printSameType(OpAsmPrinter &printer, Operation *, Type first, Type) {
  printer << first;
}
