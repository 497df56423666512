//===- ScheduleAttr.cpp - The text of #attn.schedule ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints and parses the fields that are chosen, as attn::Schedule describes
// them: numbers, `true` or `false`, and names in quotes.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"

using namespace mlir;
using namespace attn;

bool ScheduleAttr::isComplete() const {
  const ScheduleOverrides &fields = getFields();
  return llvm::all_of(
      ArrayRef<StringRef>{"tile_m", "tile_n", "warps", "stages"},
      [&](StringRef name) { return fields.has(name); });
}

static void printValue(AsmPrinter &printer, const ScheduleField &field,
                       StringRef value) {
  switch (field.type) {
  case ScheduleField::Type::Integer:
    printer << value;
    return;
  case ScheduleField::Type::Flag:
    printer << (value == "1" ? "true" : "false");
    return;
  case ScheduleField::Type::Name:
    printer.printString(value);
    return;
  }
}

void ScheduleAttr::print(AsmPrinter &printer) const {
  auto isChosen = [&](const ScheduleField &field) {
    return getFields().has(field.name);
  };
  printer << "<";
  llvm::interleaveComma(llvm::make_filter_range(getScheduleFields(), isChosen),
                        printer, [&](const ScheduleField &field) {
                          printer << StringRef(field.name) << " = ";
                          printValue(printer, field,
                                     getScheduleField(getValues(), field.name));
                        });
  printer << ">";
}

/// A number, a name in quotes, `true` or `false`, as text.
static ParseResult parseValue(AsmParser &parser, std::string &value) {
  if (succeeded(parser.parseOptionalString(&value)))
    return success();
  // As an integer `true` would be -1.
  StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword(&keyword, {"true", "false"}))) {
    value = keyword.str();
    return success();
  }
  int64_t number = 0;
  if (parser.parseInteger(number))
    return failure();
  value = std::to_string(number);
  return success();
}

/// The error of the schedule's own text form is that of the attribute's.
static ParseResult parseField(AsmParser &parser, ScheduleOverrides &fields) {
  SMLoc loc = parser.getCurrentLocation();
  std::string name, value;
  if (parser.parseKeywordOrString(&name) || parser.parseEqual() ||
      parseValue(parser, value))
    return failure();
  if (fields.has(name))
    return parser.emitError(loc)
           << "expected " << name << " once, got it again";
  if (Status status = fields.set(name, value); !status)
    return parser.emitError(loc) << status.error();
  return success();
}

Attribute ScheduleAttr::parse(AsmParser &parser, Type) {
  ScheduleOverrides fields;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, [&] {
        return parseField(parser, fields);
      }))
    return {};
  return get(parser.getContext(), fields);
}
