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
        /*warpgroup_registers=*/IntegerAttr(), consumerRegisters, names.size());
}

Region *RolesOp::getRole(StringRef name) {
  for (auto [other, role] : llvm::zip_equal(
           getNames().getAsValueRange<StringAttr>(), getProducers()))
    if (other == name)
      return &role;
  return nullptr;
}

bool RolesOp::hasOneThread(Operation *op) {
  auto isIn = [&](Region &role) {
    return role.isAncestor(op->getParentRegion());
  };
  Region *warpgroup = getWarpgroupRole();
  return !getAll() && !isIn(getConsumer()) && !(warpgroup && isIn(*warpgroup));
}

RolesOp RolesOp::addRole(StringRef name, Region &role,
                         std::optional<int64_t> registers) {
  OpBuilder builder(*this);
  std::optional<int64_t> ofWarpgroup = getWarpgroupRegisters();
  assert(!(registers && ofWarpgroup) && "two roles of warpgroups");
  SmallVector<StringRef> names(getNames().getAsValueRange<StringAttr>());
  SmallVector<Region *> roles =
      llvm::to_vector(llvm::make_pointer_range(getProducers()));
  size_t place = roles.size() - (ofWarpgroup ? 1 : 0);
  names.insert(names.begin() + place, name);
  roles.insert(roles.begin() + place, &role);
  auto added = create(builder, getLoc(), names, getProducerRegisters(),
                      getAll(), getConsumerRegisters());
  added.setWarpgroupRegisters(registers ? registers : ofWarpgroup);
  added.getConsumer().takeBody(getConsumer());
  for (auto [to, from] : llvm::zip_equal(added.getProducers(), roles))
    to.takeBody(*from);
  erase();
  return added;
}

/// `producer(24) all {...}`: the registers with the first role, which all of
/// one thread have.
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
    if (&role == getWarpgroupRole()) {
      printer << " warpgroup";
      printRegisters(*getWarpgroupRegisters());
    }
    printer << " ";
    printer.printRegion(role);
    isFirst = false;
  }
  printer << " " << kConsumer;
  printRegisters(getConsumerRegisters());
  printer << " ";
  printer.printRegion(getConsumer());
  printer.printOptionalAttrDict(
      (*this)->getAttrs(),
      {getNamesAttrName(), getAllAttrName(), getProducerRegistersAttrName(),
       getWarpgroupRegistersAttrName(), getConsumerRegistersAttrName()});
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
    StringAttr ofWarpgroup = getWarpgroupRegistersAttrName(result.name);
    if (result.attributes.get(ofWarpgroup))
      return parser.emitError(parser.getCurrentLocation(),
                              "expected the consumer behind the role of a "
                              "warpgroup, got '")
             << name << "'";
    names.push_back(name);
    if (succeeded(parser.parseOptionalKeyword("warpgroup")) &&
        parseRegisters(ofWarpgroup))
      return failure();
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
  int64_t warps =
      cast<KernelOp>((*this)->getParentOp()).getProducerWarps().value_or(0);
  bool hasWarpgroup = getWarpgroupRegisters().has_value();
  int64_t ofOneThread = static_cast<int64_t>(names.size()) - hasWarpgroup;
  if (hasWarpgroup && (warps != 2 * kWarpgroupWarps || ofOneThread < 1))
    return emitOpError() << "expected a warpgroup behind the four warps of at "
                            "least one other role, got "
                         << warps << " warps for " << names.size() << " roles";
  if (hasWarpgroup)
    warps -= kWarpgroupWarps;
  if (int64_t most = getAll() ? 1 : std::max<int64_t>(warps, 1);
      ofOneThread > most)
    return emitOpError() << "expected at most " << most
                         << " roles beside the consumer, got " << ofOneThread;
  SmallVector<int64_t> counts = {static_cast<int64_t>(getProducerRegisters()),
                                 static_cast<int64_t>(getConsumerRegisters())};
  if (hasWarpgroup)
    counts.push_back(*getWarpgroupRegisters());
  if (llvm::all_of(counts, [](int64_t n) { return n == kAsLaunched; }))
    return success();
  for (int64_t registers : counts)
    if (registers < 24 || registers > 256 || registers % 8 != 0)
      return emitOpError()
             << "expected registers to be a multiple of 8 from 24 "
                "to 256, got "
             << registers;
  return success();
}

LogicalResult UniformOp::verify() {
  auto roles = (*this)->getParentOfType<RolesOp>();
  if (roles && roles.hasOneThread(*this))
    return emitOpError(
        "expected all lanes of a warp, got a role of one thread");
  return success();
}

LogicalResult AsWarpgroupOp::verify() {
  auto roles = (*this)->getParentOfType<RolesOp>();
  Region *role = roles ? roles.getWarpgroupRole() : nullptr;
  if (role && role->isAncestor((*this)->getParentRegion()))
    return success();
  return emitOpError("expected to be in the role of a warpgroup");
}
