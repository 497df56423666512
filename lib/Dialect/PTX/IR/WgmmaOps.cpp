//===- WgmmaOps.cpp - wgmma as inline PTX -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX text and operands of the wgmma ops (PTX ISA, "wgmma.mma_async").
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/PTX/IR/PTX.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn::ptx;

using AsmValues = SmallVectorImpl<std::pair<Value, NVVM::PTXRegisterMod>>;

/// Operand registers of one product whose A is not in shared memory.
static constexpr unsigned kOperandRegisters = 4;

/// Fails unless `type` is a struct of f32, or of i32, as an accumulator is.
static LogicalResult verifyAccumulator(Operation *op, Type type) {
  ArrayRef<Type> body = cast<LLVM::LLVMStructType>(type).getBody();
  bool isSum = llvm::all_equal(body) && !body.empty() &&
               (body.front().isF32() || body.front().isInteger(32));
  if (isSum && body.size() % 4 == 0 && body.size() <= 128)
    return success();
  return op->emitOpError() << "expected an accumulator of 4, 8, ... 128 f32 or "
                              "i32, got "
                           << type;
}

/// A type as wgmma spells it; empty if there is no product of it.
static StringRef getTypeName(Type element) {
  return llvm::TypeSwitch<Type, StringRef>(element)
      .Case([](Float16Type) { return "f16"; })
      .Case([](BFloat16Type) { return "bf16"; })
      .Case([](Float8E4M3FNType) { return "e4m3"; })
      .Case([](Float8E5M2Type) { return "e5m2"; })
      .Case([](IntegerType type) { return type.isInteger(8) ? "s8" : ""; })
      .Default(StringRef());
}

static bool isByte(Type element) {
  return element.getIntOrFloatBitWidth() == 8;
}

//===----------------------------------------------------------------------===//
// WgmmaOp
//===----------------------------------------------------------------------===//

int64_t WgmmaOp::getNumRegisters() {
  return cast<LLVM::LLVMStructType>(getResult().getType()).getBody().size();
}

LogicalResult WgmmaOp::verify() {
  if (failed(verifyAccumulator(*this, getResult().getType())))
    return failure();
  if (getAcc() && getAcc().getType() != getResult().getType())
    return emitOpError() << "expected acc to be of the result's type, got "
                         << getAcc().getType();
  if (getTypeName(getElement()).empty())
    return emitOpError() << "expected i8, f8E4M3FN, f8E5M2, f16 or bf16, got "
                         << getElement();
  auto isFloat8 = [](Type type) {
    return isa<Float8E4M3FNType, Float8E5M2Type>(type);
  };
  if (getElementOfB() != getElement() &&
      !(isFloat8(getElement()) && isFloat8(getElementOfB())))
    return emitOpError() << "expected a and b of one type, or of 8-bit floats, "
                            "got "
                         << getElement() << " and " << getElementOfB();
  Type sum = cast<LLVM::LLVMStructType>(getResult().getType()).getBody()[0];
  if (getElement().isInteger() != sum.isInteger())
    return emitOpError() << "expected sums in i32 of i8, and in f32 of others, "
                            "got "
                         << sum << " of " << getElement();
  if (isByte(getElement()) && (getAMnMajor() || getBMnMajor()))
    return emitOpError() << "expected K-major operands of " << getElement();
  size_t products = getB().size(), registers = getARegisters().size();
  if (getAMnMajor() && registers != 0)
    return emitOpError() << "expected a in shared memory with a_mn_major, got "
                            "registers";
  if (products == 0)
    return emitOpError() << "expected at least one product";
  if (registers != 0 && !getADescriptors().empty())
    return emitOpError() << "expected a in registers or in shared memory, got "
                            "both";
  if (registers != 0 ? registers != kOperandRegisters * products
                     : getADescriptors().size() != products)
    return emitOpError() << "expected a to be one descriptor or "
                         << kOperandRegisters << " registers for each of "
                         << products << " products, got "
                         << getADescriptors().size() << " and " << registers;
  return success();
}

/// Result, then what is tied to it, then A and B of each product.
bool WgmmaOp::getAsmValues(RewriterBase &, AsmValues &values) {
  using NVVM::PTXRegisterMod;
  values.push_back({getResult(), PTXRegisterMod::Write});
  if (getAcc())
    values.push_back({getAcc(), PTXRegisterMod::ReadWrite});
  for (Value a : getADescriptors())
    values.push_back({a, PTXRegisterMod::Read});
  for (Value a : getARegisters())
    values.push_back({a, PTXRegisterMod::Read});
  for (Value b : getB())
    values.push_back({b, PTXRegisterMod::Read});
  return true; // The text numbers its registers itself.
}

/// "{$first, ..., $last}"
static std::string registerList(unsigned first, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(first + i);
  return text + "}";
}

std::string WgmmaOp::getPtx() {
  unsigned numAcc = getNumRegisters(), products = getB().size();
  bool inRegisters = !getARegisters().empty();
  unsigned firstA = numAcc * (getAcc() ? 2 : 1);
  unsigned firstB = firstA + (inRegisters ? kOperandRegisters : 1) * products;
  std::string element = getTypeName(getElement()).str();
  bool canTranspose = !isByte(getElement());
  bool isInteger = getElement().isInteger();
  std::string shape = ".m64n" + std::to_string(2 * numAcc) +
                      (canTranspose ? "k16" : "k32") +
                      (isInteger ? ".s32." : ".f32.");
  shape += element + "." + getTypeName(getElementOfB()).str() + " ";
  std::string text = "{ .reg .pred add, set; setp.ne.b32 add, 1, 0; "
                     "setp.ne.b32 set, 0, 0; wgmma.fence.sync.aligned; ";
  for (unsigned k = 0; k < products; ++k) {
    text += "wgmma.mma_async.sync.aligned" + shape;
    text += registerList(0, numAcc) + ", ";
    text += inRegisters ? registerList(firstA + kOperandRegisters * k,
                                       kOperandRegisters)
                        : "$" + std::to_string(firstA + k);
    text += ", $" + std::to_string(firstB + k);
    text += k == 0 && !getAcc() ? ", set" : ", add";
    // Signs of A and B, which integers have none of, then which of them is
    // transposed: a register operand cannot be, nor one of 8 bits.
    if (!isInteger)
      text += ", 1, 1";
    if (canTranspose && !inRegisters)
      text += getAMnMajor() ? ", 1" : ", 0";
    if (canTranspose)
      text += getBMnMajor() ? ", 1" : ", 0";
    text += "; ";
  }
  return text + "}";
}

//===----------------------------------------------------------------------===//
// WgmmaWaitOp
//===----------------------------------------------------------------------===//

LogicalResult WgmmaWaitOp::verify() {
  if (getPending() > 7)
    return emitOpError() << "expected 0 to 7 pending groups, got "
                         << getPending();
  return verifyAccumulator(*this, getResult().getType());
}

bool WgmmaWaitOp::getAsmValues(RewriterBase &, AsmValues &values) {
  values.push_back({getResult(), NVVM::PTXRegisterMod::Write});
  values.push_back({getAcc(), NVVM::PTXRegisterMod::ReadWrite});
  return true; // The text numbers its registers itself.
}

std::string WgmmaWaitOp::getPtx() {
  return "wgmma.wait_group.sync.aligned " + std::to_string(getPending()) + ";";
}
