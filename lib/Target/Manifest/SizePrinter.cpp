//===- SizePrinter.cpp - Sizes as expressions of a manifest -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SizePrinter.h"

#include "attn/Dialect/Launch/IR/Launch.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace attn;
using llvm::formatv;

namespace {
/// What an expression is at its outermost level, which decides about brackets.
enum class Level { Factor, Term, Sum };

struct Printed {
  std::string text;
  Level level = Level::Factor;
};
} // namespace

static FailureOr<Printed> print(Value value);

/// `a` as part of an expression in which `most` needs no brackets.
static std::string within(const Printed &a, Level most) {
  return a.level <= most ? a.text : "(" + a.text + ")";
}

/// What is behind `-` is a term, what is behind `*` a factor.
static FailureOr<Printed> printInfix(Operation *op, const char *symbol,
                                     Level level, Level right) {
  FailureOr<Printed> a = print(op->getOperand(0));
  FailureOr<Printed> b = print(op->getOperand(1));
  if (failed(a) || failed(b))
    return failure();
  return Printed{
      formatv("{0} {1} {2}", within(*a, level), symbol, within(*b, right)),
      level};
}

static FailureOr<Printed> printFunction(Operation *op, const char *name) {
  FailureOr<Printed> a = print(op->getOperand(0));
  FailureOr<Printed> b = print(op->getOperand(1));
  if (failed(a) || failed(b))
    return failure();
  return Printed{formatv("{0}({1}, {2})", name, a->text, b->text)};
}

/// dim or stride of an operand.
static FailureOr<Printed> printOfOperand(Operation *op, const char *name,
                                         Value tensor, int64_t dim) {
  if (auto operand = tensor.getDefiningOp<launch::OperandOp>())
    return Printed{formatv("{0}({1}, {2})", name, operand.getName(), dim)};
  return op->emitOpError() << "expected an attn_launch.operand";
}

static std::string printNumber(Attribute attribute) {
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return std::to_string(integer.getValue().getSExtValue());
  double number = cast<FloatAttr>(attribute).getValueAsDouble();
  return formatv("{0}", llvm::json::Value(number));
}

static FailureOr<Printed> printOp(Operation *op) {
  using Result = FailureOr<Printed>;
  return TypeSwitch<Operation *, Result>(op)
      .Case([](tile::DimOp dim) -> Result {
        return printOfOperand(dim, "dim", dim.getSource(), dim.getDim());
      })
      .Case([](launch::StrideOp stride) -> Result {
        return printOfOperand(stride, "stride", stride.getOperand(),
                              stride.getDim());
      })
      .Case([](launch::SmCountOp) -> Result { return Printed{"sm_count"}; })
      .Case(
          [](arith::IndexCastOp cast) -> Result { return print(cast.getIn()); })
      .Case([](arith::AddIOp add) -> Result {
        return printInfix(add, "+", Level::Sum, Level::Term);
      })
      .Case([](arith::SubIOp sub) -> Result {
        return printInfix(sub, "-", Level::Sum, Level::Term);
      })
      .Case([](arith::MulIOp mul) -> Result {
        return printInfix(mul, "*", Level::Term, Level::Factor);
      })
      .Case([](arith::FloorDivSIOp div) -> Result {
        return printFunction(div, "floordiv");
      })
      .Case([](arith::CeilDivSIOp div) -> Result {
        return printFunction(div, "ceildiv");
      })
      .Case([](arith::RemUIOp rem) -> Result {
        return printFunction(rem, "mod");
      })
      .Case([](arith::MinSIOp min) -> Result {
        return printFunction(min, "min");
      })
      .Case([](arith::MaxSIOp max) -> Result {
        return printFunction(max, "max");
      })
      .Default([](Operation *other) -> Result {
        return other->emitOpError()
               << "expected an op that a manifest has an expression for: addi, "
                  "subi, muli, floordivsi, ceildivsi, remui, minsi, maxsi";
      });
}

static FailureOr<Printed> print(Value value) {
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return Printed{printNumber(constant)};
  if (Operation *op = value.getDefiningOp())
    return printOp(op);
  return Printed{"iteration"}; // of an attn_launch.repeat
}

FailureOr<std::string> attn::printSize(Value value) {
  FailureOr<Printed> printed = print(value);
  if (failed(printed))
    return failure();
  return printed->text;
}
