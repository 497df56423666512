//===- PtxBlock.cpp - Runs of instructions as inline PTX -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attn::tile;

PtxBlock::PtxBlock(OpBuilder &builder, Location loc, Type resultType,
                   int64_t numResults)
    : builder(builder), loc(loc), resultType(resultType),
      numResults(numResults) {}

/// LLVM counts the results first, then the operands.
static std::string placeholder(int64_t number) {
  return "$" + std::to_string(number);
}

SmallVector<std::string> PtxBlock::results(int64_t first, int64_t count) const {
  return llvm::map_to_vector(llvm::seq(first, first + count), placeholder);
}

SmallVector<std::string> PtxBlock::update(ValueRange values) {
  assert(operands.empty() && "operands are numbered after these");
  initial = llvm::to_vector(values);
  return results(0, values.size());
}

SmallVector<std::string> PtxBlock::use(ValueRange values) {
  int64_t first = numResults + initial.size();
  return llvm::map_to_vector(values, [&](Value value) {
    return placeholder(
        operands.try_emplace(value, first + operands.size()).first->second);
  });
}

SmallVector<std::string> PtxBlock::declare(const std::string &prefix,
                                           int64_t count, int64_t bits) {
  SmallVector<std::string> names;
  for (int64_t i = 0; i < count; ++i)
    names.push_back(prefix + std::to_string(i));
  add(".reg .b" + std::to_string(bits) + " " + llvm::join(names, ", "));
  return names;
}

std::string PtxBlock::list(ArrayRef<std::string> names) {
  return "{" + llvm::join(names, ", ") + "}";
}

void PtxBlock::add(const std::string &instruction) {
  text += "\t" + instruction + ";\n";
}

void PtxBlock::add(StringRef opcode, ArrayRef<std::string> operands) {
  add(opcode.str() + " " + llvm::join(operands, ", "));
}

void PtxBlock::label(const std::string &name) { text += name + ":\n"; }

/// The letter of a register (LLVM, "Supported Constraint Code List", NVPTX).
static std::string registerLetter(Type type) {
  return type.isF32() ? "f" : type.isInteger(32) ? "r" : "l";
}

SmallVector<Value> PtxBlock::create(bool hasSideEffects) {
  // A result may be written before all operands are read.
  SmallVector<std::string> constraints;
  if (numResults)
    constraints.assign(numResults, "=&" + registerLetter(resultType));
  for (size_t i = 0; i < initial.size(); ++i)
    constraints.push_back(std::to_string(i));
  for (auto [operand, number] : operands)
    constraints.push_back(registerLetter(operand.getType()));
  SmallVector<Type> types;
  if (numResults)
    types.push_back(LLVM::LLVMStructType::getLiteral(
        builder.getContext(), SmallVector<Type>(numResults, resultType)));
  SmallVector<Value> arguments = initial;
  llvm::append_range(arguments, llvm::make_first_range(operands));
  auto block = LLVM::InlineAsmOp::create(
      builder, loc, TypeRange(types), arguments, "{\n" + text + "\t}",
      llvm::join(constraints, ","), hasSideEffects,
      /*is_align_stack=*/false, LLVM::TailCallKind::None,
      /*asm_dialect=*/LLVM::AsmDialectAttr(),
      /*operand_attrs=*/ArrayAttr());
  SmallVector<Value> values;
  for (int64_t i = 0; i < numResults; ++i)
    values.push_back(
        LLVM::ExtractValueOp::create(builder, loc, block.getRes(), i));
  return values;
}
