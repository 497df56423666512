//===- RegionProgram.cpp - A region made ready to evaluate ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RegionProgram.h"

#include "attn/Dialect/Attn/IR/Attn.h"

#include <algorithm>
#include <array>

using namespace mlir;
using namespace attn;

Operation *attn::findUnsupportedRegionOp(Region &region) {
  if (region.empty())
    return nullptr;
  for (Operation &op : region.front().without_terminator())
    if (!isa<LengthOp, tensor::ExtractOp, tensor::DimOp, BlockListedOp,
             SegmentOp>(op) &&
        !findScalarFunction(&op))
      return &op;
  return nullptr;
}

RegionProgram::RegionProgram(Region &region, const Environment &environment,
                             const AttentionLengths &lengths, Value value) {
  for (BlockArgument argument : region.getArguments())
    addConstant(argument, Scalar());
  Value batch = region.getArgument(region.getNumArguments() - 4);
  for (Operation &op : region.front().without_terminator()) {
    if (auto length = dyn_cast<LengthOp>(op))
      addLength(length,
                length.getSequence() == Sequence::query ? lengths.query
                                                        : lengths.key,
                batch);
    else
      addOp(op, environment);
  }
  if (!value)
    value = cast<YieldOp>(region.front().getTerminator()).getValue();
  result = getSlot(value, environment);
  moveUniformFirst(region.getNumArguments());
  static std::atomic<uint64_t> lastId{0};
  id = ++lastId;
}

void RegionProgram::addConstant(Value value, Scalar constant) {
  slotOf[value] = initialSlots.size();
  initialSlots.push_back(constant);
}

void RegionProgram::addLength(Value value, const SequenceLengths &length,
                              Value batch) {
  if (!length.ofBatches)
    return addConstant(value, Scalar::ofInteger(length.capacity));
  addConstant(value, Scalar());
  Instruction instruction;
  instruction.op = value.getDefiningOp();
  instruction.function = [length](const ScalarOpInfo &, const Scalar *a) {
    return Scalar::ofInteger(length.get(a[0].integer));
  };
  instruction.operands = {slotOf.at(batch)};
  mostOperands = std::max<size_t>(mostOperands, 1);
  instruction.result = slotOf.at(value);
  instructions.push_back(std::move(instruction));
}

/// The slot of a value of the region, or of one captured from above.
unsigned RegionProgram::getSlot(Value value, const Environment &environment) {
  if (!slotOf.contains(value))
    addConstant(value, environment.scalar(value));
  return slotOf.at(value);
}

/// attn.segment: how many of offsets[1] to offsets[S - 1] are at most a
/// position.
static ScalarFunction makeSegment(SegmentOp op,
                                  const Environment &environment) {
  SharedTensor offsets = environment.tensor(op.getOffsets());
  return [offsets](const ScalarOpInfo &, const Scalar *a) {
    auto first = offsets->elements.begin() + 1;
    auto last = offsets->elements.end() - 1;
    auto isBelow = [](const Scalar &position, const Scalar &entry) {
      return position.integer < entry.integer;
    };
    return Scalar::ofInteger(std::upper_bound(first, last, a[0], isBelow) -
                             first);
  };
}

/// attn.block_listed of (b, h, i, j).
static ScalarFunction makeBlockListed(BlockListedOp op,
                                      const Environment &environment) {
  SharedTensor counts = environment.tensor(op.getNumBlocks());
  SharedTensor indices = environment.tensor(op.getIndices());
  int64_t rows = op.getBlock()[0], keys = op.getBlock()[1];
  return [=](const ScalarOpInfo &, const Scalar *a) {
    auto broadcast = [&](int64_t dim) {
      return counts->shape[dim] == 1 ? 0 : a[dim].integer;
    };
    SmallVector<int64_t, 4> at = {broadcast(0), broadcast(1),
                                  a[2].integer / rows};
    const Scalar *count = counts->find(at);
    at.push_back(0);
    const Scalar *entry =
        count && count->integer > 0 ? indices->find(at) : nullptr;
    // Entries past the end were reported when the lists were checked.
    int64_t number =
        entry ? std::min(count->integer, indices->shape.back()) : 0;
    bool isListed = std::any_of(entry, entry + number, [&](const Scalar &e) {
      return e.integer == a[3].integer / keys;
    });
    return Scalar::ofInteger(isListed);
  };
}

void RegionProgram::addOp(Operation &op, const Environment &environment) {
  Instruction instruction;
  instruction.op = &op;
  ValueRange operands = op.getOperands();
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    SharedTensor tensor = environment.tensor(dim.getSource());
    instruction.function = [tensor](const ScalarOpInfo &, const Scalar *a) {
      size_t index = static_cast<size_t>(a[0].integer);
      return Scalar::ofInteger(
          index < tensor->shape.size() ? tensor->shape[index] : 0);
    };
    operands = operands.drop_front();
  } else if (auto segment = dyn_cast<SegmentOp>(op)) {
    instruction.function = makeSegment(segment, environment);
    operands = operands.drop_front();
  } else if (auto listed = dyn_cast<BlockListedOp>(op)) {
    instruction.function = makeBlockListed(listed, environment);
    operands = operands.drop_front(2);
  } else if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    instruction.tensor = environment.tensor(extract.getTensor());
    operands = operands.drop_front();
  } else {
    instruction.function = findScalarFunction(&op);
    instruction.info = getScalarOpInfo(&op, environment.precision);
  }
  for (Value operand : operands)
    instruction.operands.push_back(getSlot(operand, environment));
  mostOperands = std::max(mostOperands, operands.size());
  if (instruction.function && operands.empty()) {
    addConstant(op.getResult(0), evaluateScalar(instruction.function,
                                                instruction.info, nullptr));
    return;
  }
  addConstant(op.getResult(0), Scalar());
  instruction.result = slotOf.at(op.getResult(0));
  instructions.push_back(std::move(instruction));
}

Scalar RegionProgram::read(const Instruction &instruction,
                           const Scalar *operands) const {
  SmallVector<int64_t, 4> index;
  for (size_t i = 0; i < instruction.operands.size(); ++i)
    index.push_back(operands[i].integer);
  if (const Scalar *element = instruction.tensor->find(index))
    return *element;
  faultyRead = instruction.op;
  return Scalar();
}

namespace {
/// The slots of a program in a row of scores: what depends on neither the key
/// nor the score is computed once for each row.
struct Row {
  uint64_t program = 0;
  std::array<int64_t, 3> at; ///< batch, head, query
  SmallVector<Scalar, 0> slots;
};
} // namespace

/// The row that a program was last run for in this thread, if no other program
/// has taken its place: a mask and a score_mod take turns.
static Row &getLastRow(uint64_t program) {
  thread_local std::array<Row, 8> rows;
  return rows[program % rows.size()];
}

void RegionProgram::moveUniformFirst(unsigned numArguments) {
  SmallVector<bool> varies(initialSlots.size(), false);
  varies[numArguments - 1] = true;
  if (numArguments > 4)
    varies[0] = true;
  for (const Instruction &instruction : instructions)
    varies[instruction.result] = llvm::any_of(
        instruction.operands, [&](unsigned slot) { return varies[slot]; });
  auto first = std::stable_partition(
      instructions.begin(), instructions.end(),
      [&](const Instruction &i) { return !varies[i.result]; });
  numUniform = first - instructions.begin();
}

void RegionProgram::runInstructions(ArrayRef<Instruction> some,
                                    MutableArrayRef<Scalar> slots) const {
  SmallVector<Scalar, 4> operands(mostOperands);
  for (const Instruction &instruction : some) {
    Scalar *next = operands.data();
    for (unsigned slot : instruction.operands)
      *next++ = slots[slot];
    slots[instruction.result] =
        instruction.function ? evaluateScalar(instruction.function,
                                              instruction.info, operands.data())
                             : read(instruction, operands.data());
  }
}

Scalar RegionProgram::run(ArrayRef<Scalar> arguments) const {
  size_t batch = arguments.size() - 4;
  std::array<int64_t, 3> at = {arguments[batch].integer,
                               arguments[batch + 1].integer,
                               arguments[batch + 2].integer};
  Row &row = getLastRow(id);
  bool isNew = row.program != id || row.at != at;
  if (row.program != id)
    row.slots.assign(initialSlots.begin(), initialSlots.end());
  llvm::copy(arguments, row.slots.begin());
  ArrayRef<Instruction> all = instructions;
  if (isNew)
    runInstructions(all.take_front(numUniform), row.slots);
  row.program = id;
  row.at = at;
  runInstructions(all.drop_front(numUniform), row.slots);
  return row.slots[result];
}
