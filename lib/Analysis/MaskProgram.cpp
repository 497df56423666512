//===- MaskProgram.cpp - A mask evaluated on boxes of pairs -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/MaskProgram.h"
#include "IntervalMath.h"
#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// One operation
//===----------------------------------------------------------------------===//

namespace {
/// What an instruction computes.
enum Opcode : unsigned {
  Unknown,
  Copy,
  Add,
  Sub,
  Mul,
  DivS,
  DivU,
  FloorDiv,
  CeilDiv,
  RemS,
  RemU,
  Min,
  Max,
  And,
  Or,
  Xor,
  ShiftLeft,
  ShiftRight,
  ShiftRightU,
  Compare,
  Select
};
} // namespace

static Opcode getOpcode(Operation *op) {
  return llvm::TypeSwitch<Operation *, Opcode>(op)
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
            arith::ExtUIOp, arith::TruncIOp>([](auto) { return Copy; })
      .Case([](arith::AddIOp) { return Add; })
      .Case([](arith::SubIOp) { return Sub; })
      .Case([](arith::MulIOp) { return Mul; })
      .Case([](arith::DivSIOp) { return DivS; })
      .Case([](arith::DivUIOp) { return DivU; })
      .Case([](arith::FloorDivSIOp) { return FloorDiv; })
      .Case([](arith::CeilDivSIOp) { return CeilDiv; })
      .Case([](arith::RemSIOp) { return RemS; })
      .Case([](arith::RemUIOp) { return RemU; })
      .Case([](arith::MinSIOp) { return Min; })
      .Case([](arith::MaxSIOp) { return Max; })
      .Case([](arith::AndIOp) { return And; })
      .Case([](arith::OrIOp) { return Or; })
      .Case([](arith::XOrIOp) { return Xor; })
      .Case([](arith::ShLIOp) { return ShiftLeft; })
      .Case([](arith::ShRSIOp) { return ShiftRight; })
      .Case([](arith::ShRUIOp) { return ShiftRightU; })
      .Case([](arith::CmpIOp) { return Compare; })
      .Case([](arith::SelectOp) { return Select; })
      .Default([](Operation *) { return Unknown; });
}

/// Casts keep the number where it fits the types on both sides; narrower ones
/// than positions need, and signs, are not followed.
static bool isFollowedCast(Operation *op) {
  auto width = [](Type type) {
    return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  };
  unsigned from = width(op->getOperand(0).getType());
  unsigned to = width(op->getResult(0).getType());
  bool isUnsigned = isa<arith::ExtUIOp, arith::IndexCastUIOp>(op);
  return (from >= 32 && to >= 32) || (isUnsigned && from == 1);
}

static Interval shift(Opcode opcode, Interval x, Interval by) {
  if (!by.isSingle() || by.low < 0 || by.low > 40)
    return kAnything;
  Interval power{int64_t(1) << by.low, int64_t(1) << by.low};
  return opcode == ShiftLeft ? multiplyIntervals(x, power)
                             : divideIntervals(x, power, Rounding::Down);
}

Interval MaskProgram::run(const Instruction &instruction) const {
  Interval a = slots[instruction.operands[0]];
  Interval b = slots[instruction.operands[1]];
  auto opcode = static_cast<Opcode>(instruction.opcode);
  bool isUnsigned = opcode == DivU || opcode == RemU || opcode == ShiftRightU;
  if (isUnsigned && (a.low < 0 || b.low < 0))
    return kAnything;
  switch (opcode) {
  case Unknown:
    break;
  case Copy:
    return a;
  case Add:
    return addIntervals(a, b);
  case Sub:
    return subtractIntervals(a, b);
  case Mul:
    return multiplyIntervals(a, b);
  case DivU:
  case DivS:
    return divideIntervals(a, b, Rounding::ToZero);
  case FloorDiv:
    return divideIntervals(a, b, Rounding::Down);
  case CeilDiv:
    return divideIntervals(a, b, Rounding::Up);
  case RemU:
  case RemS:
    return remainderOfIntervals(a, b);
  case Min:
    return {std::min(a.low, b.low), std::min(a.high, b.high)};
  case Max:
    return {std::max(a.low, b.low), std::max(a.high, b.high)};
  case And:
    return combineBits(a, b, Bitwise::And);
  case Or:
    return combineBits(a, b, Bitwise::Or);
  case Xor:
    return combineBits(a, b, Bitwise::Xor);
  case ShiftRightU:
  case ShiftLeft:
  case ShiftRight:
    return shift(opcode, a, b);
  case Compare:
    return compareIntervals(cast<arith::CmpIOp>(instruction.op).getPredicate(),
                            a, b);
  case Select: {
    Interval c = slots[instruction.operands[2]];
    if (a.isSingle())
      return a.low ? b : c;
    return {std::min(b.low, c.low), std::max(b.high, c.high)};
  }
  }
  return instruction.op->getResult(0).getType().isInteger(1) ? kAnyTruth
                                                             : kAnything;
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

unsigned MaskProgram::addSlot(Interval interval) {
  slots.push_back(interval);
  return slots.size() - 1;
}

unsigned MaskProgram::add(Value value) {
  auto known = numbers.find(value);
  if (known != numbers.end())
    return known->second;
  bool isTruth = value.getType().isInteger(1);
  Interval interval = isTruth ? kAnyTruth : kAnything;
  APInt number;
  Operation *op = value.getDefiningOp();
  bool isConstant = matchPattern(value, m_ConstantInt(&number)) &&
                    number.getSignificantBits() < 61;
  if (isConstant)
    interval.low = interval.high =
        isTruth ? number.getZExtValue() : number.getSExtValue();
  else if (isa_and_nonnull<tensor::DimOp>(op))
    interval = {0, kFar};
  else if (auto length = dyn_cast_or_null<LengthOp>(op)) {
    bool isQuery = length.getSequence() == Sequence::query;
    unsigned slot = addSlot({0, kFar});
    (isQuery ? queryLengths : keyLengths).push_back(slot);
    return numbers[value] = slot;
  } else if (op && region.isAncestor(op->getParentRegion())) {
    Instruction instruction{op, getOpcode(op), {0, 0, 0}};
    if (instruction.opcode == Copy && !isFollowedCast(op))
      instruction.opcode = Unknown;
    if (instruction.opcode != Unknown)
      for (auto [slot, operand] :
           llvm::zip(instruction.operands, op->getOperands()))
        slot = add(operand);
    instructions.push_back(instruction);
    targets.push_back(addSlot(interval));
    return numbers[value] = targets.back();
  }
  return numbers[value] = addSlot(interval);
}

MaskProgram::MaskProgram(Region &maskMod) : region(maskMod) {
  for (BlockArgument argument : region.getArguments())
    numbers[argument] = addSlot(kAnything);
  result = add(region.front().getTerminator()->getOperand(0));
}

/// What `value` may be, where without the limits of its type it is in `x`.
static Interval wrap(Interval x, Value value) {
  auto type = dyn_cast<IntegerType>(value.getType());
  unsigned width = type ? type.getWidth() : 64;
  bool fits = width == 1 || width > 62 ||
              (llvm::isIntN(width, x.low) && llvm::isIntN(width, x.high));
  return fits ? x : kAnything;
}

BoxState MaskProgram::evaluate(const MaskBox &box) {
  --budget;
  slots[kLoopB] = box.b;
  slots[kLoopH] = box.h;
  slots[kLoopM] = box.i;
  slots[kLoopN] = box.j;
  for (auto [instruction, target] : llvm::zip_equal(instructions, targets))
    slots[target] = wrap(run(instruction), instruction.op->getResult(0));
  Interval truth = slots[result];
  if (!truth.isSingle())
    return BoxState::Unknown;
  return truth.low ? BoxState::Full : BoxState::Empty;
}

/// The halves of a box, along its longer side.
static std::pair<MaskBox, MaskBox> split(const MaskBox &box) {
  bool splitsRows = box.i.high - box.i.low > box.j.high - box.j.low;
  MaskBox first = box, second = box;
  Interval &lower = splitsRows ? first.i : first.j;
  Interval &upper = splitsRows ? second.i : second.j;
  lower.high = lower.low + (lower.high - lower.low) / 2;
  upper.low = lower.high + 1;
  return {first, second};
}

void MaskProgram::classify(const MaskBox &box, Contents &contents) {
  if ((contents.hasVisible && contents.hasHidden) || budget <= 0)
    return;
  BoxState state = evaluate(box);
  bool isPair = box.i.isSingle() && box.j.isSingle();
  if (state == BoxState::Unknown && !isPair) {
    auto [first, second] = split(box);
    classify(first, contents);
    classify(second, contents);
    return;
  }
  contents.hasVisible |= state != BoxState::Empty;
  contents.hasHidden |= state != BoxState::Full;
}

//===----------------------------------------------------------------------===//
// All tiles
//===----------------------------------------------------------------------===//

void MaskProgram::fill(BlockMap &map, const MaskBox &tiles,
                       const MaskBox &problem) {
  MaskBox box = problem;
  box.i = {tiles.i.low * map.tileM,
           std::min(box.i.high, (tiles.i.high + 1) * map.tileM - 1)};
  box.j = {tiles.j.low * map.tileN,
           std::min(box.j.high, (tiles.j.high + 1) * map.tileN - 1)};
  BoxState state = evaluate(box);
  bool isTile = tiles.i.isSingle() && tiles.j.isSingle();
  if (state == BoxState::Unknown && !isTile && budget > 0) {
    auto [first, second] = split(tiles);
    fill(map, first, problem);
    fill(map, second, problem);
    return;
  }
  BlockState block =
      state == BoxState::Full ? BlockState::Full : BlockState::Empty;
  if (state == BoxState::Unknown) {
    Contents contents;
    classify(box, contents);
    if (contents.hasVisible)
      block = contents.hasHidden ? BlockState::Partial : BlockState::Full;
  }
  for (int64_t row = tiles.i.low; row <= tiles.i.high; ++row)
    for (int64_t key = tiles.j.low; key <= tiles.j.high; ++key)
      map.blocks[row * map.keyTiles + key] = block;
}

std::optional<BlockMap> MaskProgram::classifyBlocks(const MaskBox &problem,
                                                    int64_t tileM,
                                                    int64_t tileN,
                                                    int64_t mostBoxes) {
  BlockMap map;
  map.tileM = tileM;
  map.tileN = tileN;
  map.rowTiles = (problem.i.high + tileM) / tileM;
  map.keyTiles = (problem.j.high + tileN) / tileN;
  if (map.rowTiles < 1 || map.keyTiles < 1 ||
      map.rowTiles > mostBoxes / map.keyTiles)
    return std::nullopt;
  map.blocks.resize(map.rowTiles * map.keyTiles, BlockState::Partial);
  budget = mostBoxes;
  for (unsigned slot : queryLengths)
    slots[slot] = {problem.i.high + 1, problem.i.high + 1};
  for (unsigned slot : keyLengths)
    slots[slot] = {problem.j.high + 1, problem.j.high + 1};
  MaskBox tiles = problem;
  tiles.i = {0, map.rowTiles - 1};
  tiles.j = {0, map.keyTiles - 1};
  fill(map, tiles, problem);
  return budget > 0 ? std::optional(std::move(map)) : std::nullopt;
}
