//===- RolesOp.cpp - Roles of warps ---------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Text and verifier of attn_tile.roles, and of what a role may hold.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <algorithm>

using namespace mlir;
using namespace attn::tile;

void RolesOp::build(OpBuilder &builder, OperationState &state,
                    ArrayRef<StringRef> names, int64_t producerRegisters,
                    bool all, int64_t consumerRegisters) {
  build(builder, state, builder.getStrArrayAttr(names), producerRegisters, all,
        consumerRegisters, names.size());
}

Region *RolesOp::getRole(StringRef name) {
  for (auto [other, role] : llvm::zip_equal(
           getNames().getAsValueRange<StringAttr>(), getProducers()))
    if (other == name)
      return &role;
  return nullptr;
}

/// `producer(24) all {...}`: the registers with the first role, which all have.
void RolesOp::print(OpAsmPrinter &printer) {
  auto printRegisters = [&](int64_t count) {
    if (count != kAsLaunched)
      printer << "(" << count << ")";
  };
  bool isFirst = true;
  for (auto [name, role] : llvm::zip_equal(
           getNames().getAsValueRange<StringAttr>(), getProducers())) {
    printer << " " << name;
    if (isFirst) {
      printRegisters(getProducerRegisters());
      printer << (getAll() ? " all" : "");
    }
    printer << " ";
    printer.printRegion(role);
    isFirst = false;
  }
  printer << " " << kConsumer;
  printRegisters(getConsumerRegisters());
  printer << " ";
  printer.printRegion(getConsumer());
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {getNamesAttrName(), getAllAttrName(),
                                 getProducerRegistersAttrName(),
                                 getConsumerRegistersAttrName()});
}

ParseResult RolesOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  SmallVector<StringRef> names;
  auto parseRole = [&]() -> ParseResult {
    Region &role = *result.addRegion();
    if (parser.parseRegion(role))
      return failure();
    if (role.empty())
      role.emplaceBlock();
    return success();
  };
  auto parseRegisters = [&](StringAttr name) -> ParseResult {
    int64_t count = kAsLaunched;
    if (succeeded(parser.parseOptionalLParen()) &&
        (parser.parseInteger(count) || parser.parseRParen()))
      return failure();
    result.addAttribute(name, builder.getI64IntegerAttr(count));
    return success();
  };
  StringRef name;
  while (true) {
    if (parser.parseKeyword(&name))
      return failure();
    if (name == kConsumer)
      break;
    if (names.empty() &&
        parseRegisters(getProducerRegistersAttrName(result.name)))
      return failure();
    if (names.empty() && succeeded(parser.parseOptionalKeyword("all")))
      result.addAttribute(getAllAttrName(result.name), builder.getUnitAttr());
    names.push_back(name);
    if (parseRole())
      return failure();
  }
  if (names.empty())
    return parser.emitError(parser.getNameLoc(),
                            "expected a role beside the consumer, got none");
  result.addAttribute(getNamesAttrName(result.name),
                      builder.getStrArrayAttr(names));
  if (parseRegisters(getConsumerRegistersAttrName(result.name)) || parseRole())
    return failure();
  // The consumer's region is the first one.
  std::rotate(result.regions.begin(), std::prev(result.regions.end()),
              result.regions.end());
  return parser.parseOptionalAttrDict(result.attributes);
}

/// A keyword of the text, and not that of the consumer.
static bool isRoleName(StringRef name) {
  auto isPart = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  return !name.empty() && !llvm::isDigit(name.front()) &&
         llvm::all_of(name, isPart) && name != RolesOp::kConsumer;
}

LogicalResult RolesOp::verify() {
  if (getNames().empty() || getNames().size() != getProducers().size())
    return emitOpError() << "expected a name for each role beside the "
                            "consumer, and at least one, got "
                         << getNames().size() << " for "
                         << getProducers().size();
  llvm::StringSet<> names;
  for (auto [name, role] : llvm::zip_equal(
           getNames().getAsValueRange<StringAttr>(), getProducers())) {
    if (!isRoleName(name))
      return emitOpError() << "expected names of roles to be keywords other "
                              "than '"
                           << kConsumer << "', got '" << name << "'";
    if (!names.insert(name).second)
      return emitOpError() << "expected roles of different names, got '" << name
                           << "' twice";
    if (role.getNumArguments() != 0)
      return emitOpError() << "expected the " << name
                           << " to take no argument, got "
                           << role.getNumArguments();
  }
  if (getConsumer().getNumArguments() != 1 ||
      !getConsumer().getArgument(0).getType().isIndex())
    return emitOpError() << "expected the consumer to take the number of its "
                            "warpgroup, an index";
  uint64_t warps =
      cast<KernelOp>((*this)->getParentOp()).getProducerWarps().value_or(0);
  if (uint64_t most = getAll() ? 1 : std::max<uint64_t>(warps, 1);
      names.size() > most)
    return emitOpError() << "expected at most " << most
                         << " roles beside the consumer, got " << names.size();
  int64_t producer = getProducerRegisters(), consumer = getConsumerRegisters();
  if (producer == kAsLaunched && consumer == kAsLaunched)
    return success();
  for (int64_t registers : {producer, consumer})
    if (registers < 24 || registers > 256 || registers % 8 != 0)
      return emitOpError()
             << "expected registers to be a multiple of 8 from 24 "
                "to 256, got "
             << registers;
  return success();
}

LogicalResult UniformOp::verify() {
  auto roles = (*this)->getParentOfType<RolesOp>();
  if (roles && !roles.getAll() &&
      !roles.getConsumer().isAncestor((*this)->getParentRegion()))
    return emitOpError(
        "expected all lanes of a warp, got a role of one thread");
  return success();
}
