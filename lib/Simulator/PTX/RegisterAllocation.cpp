//===- RegisterAllocation.cpp - Virtual registers to few slots ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Linear scan (Poletto and Sarkar, 1999) over live intervals from a data-flow
/// analysis. Accumulators of a wgmma in flight stay live up to a wait_group 0,
/// and registers of a tcgen05.ld up to its wait, because the simulator writes
/// them there.
///
//===----------------------------------------------------------------------===//

#include "Instruction.h"
#include "isa/ControlFlow.h"
#include "isa/Tcgen05.h"
#include "isa/Wgmma.h"

#include <algorithm>
#include <map>
#include <set>

using namespace attn::sim;

namespace {

/// Programs with fewer slots fit the cache anyway.
constexpr u32 minSlots = 256;

class BitSet {
public:
  explicit BitSet(u32 size = 0) : words((size + 63) / 64, 0) {}
  bool test(u32 i) const { return words[i >> 6] >> (i & 63) & 1; }
  void set(u32 i) { words[i >> 6] |= 1ull << (i & 63); }
  void clear() { std::fill(words.begin(), words.end(), 0); }
  /// this |= other; true if that changed anything.
  bool merge(const BitSet &other) {
    bool changed = false;
    for (size_t i = 0; i < words.size(); ++i) {
      changed |= (other.words[i] & ~words[i]) != 0;
      words[i] |= other.words[i];
    }
    return changed;
  }
  /// this |= a & ~b; true if that changed anything.
  bool mergeDifference(const BitSet &a, const BitSet &b) {
    bool changed = false;
    for (size_t i = 0; i < words.size(); ++i) {
      u64 bits = a.words[i] & ~b.words[i];
      changed |= (bits & ~words[i]) != 0;
      words[i] |= bits;
    }
    return changed;
  }

private:
  std::vector<u64> words;
};

class Allocator {
public:
  explicit Allocator(Program &program)
      : program(program), numSlots(program.numSlots),
        numInstructions(program.code.size()) {}

  void run() {
    findWidths();
    findBlocks();
    findAccesses();
    if (hasInFlight)
      findInFlight();
    findLiveness();
    findIntervals();
    assignSlots();
    rewrite();
  }

private:
  struct Block {
    u32 begin = 0, end = 0;
    std::vector<u32> successors;
    BitSet liveIn, liveOut, used, defined, inFlightIn, inFlightOut;
  };

  void findWidths() {
    width.assign(numSlots, 0);
    fixed.assign(numSlots, false);
    for (Instruction &instruction : program.code)
      instruction.forEachOperand([&](Operand &operand, bool, bool) {
        if (!operand.isRegister())
          return;
        width[operand.index] =
            std::max<u8>(width[operand.index], operand.width / 4);
        // The check of wgmma.fence must tell their writes from others.
        if (isWgmma(instruction))
          fixed[operand.index] = true;
      });
    for (const SpecialRegister &special : program.specials) {
      fixed[special.slot] = true;
      width[special.slot] =
          std::max<u8>(width[special.slot], special.width / 4);
    }
  }

  void findBlocks() {
    std::vector<bool> leader(numInstructions + 1, false);
    leader[0] = true;
    for (u32 i = 0; i < numInstructions; ++i) {
      const Instruction &instruction = program.code[i];
      if (instruction.target >= 0)
        leader[instruction.target] = true;
      for (u32 target : instruction.targets)
        leader[target] = true;
      if (endsBlock(instruction))
        leader[i + 1] = true;
    }
    blockOf.resize(numInstructions);
    for (u32 i = 0; i < numInstructions; ++i) {
      if (leader[i]) {
        if (!blocks.empty())
          blocks.back().end = i;
        blocks.push_back({i,
                          numInstructions,
                          {},
                          BitSet(numSlots),
                          BitSet(numSlots),
                          BitSet(numSlots),
                          BitSet(numSlots),
                          BitSet(numSlots),
                          BitSet(numSlots)});
      }
      blockOf[i] = blocks.size() - 1;
    }
    for (u32 b = 0; b < blocks.size(); ++b)
      findSuccessors(b);
  }

  void findSuccessors(u32 b) {
    Block &block = blocks[b];
    const Instruction &last = program.code[block.end - 1];
    bool ends = endsBlock(last);
    if (ends) {
      if (last.target >= 0)
        block.successors.push_back(blockOf[last.target]);
      for (u32 target : last.targets)
        block.successors.push_back(blockOf[target]);
    }
    if ((!ends || last.guard >= 0) && b + 1 < blocks.size())
      block.successors.push_back(b + 1);
  }

  void findAccesses() {
    reads.resize(numInstructions);
    writes.resize(numInstructions);
    for (u32 i = 0; i < numInstructions; ++i) {
      Instruction &instruction = program.code[i];
      hasInFlight |= isWgmma(instruction) || isTensorLoad(instruction);
      instruction.forEachOperand([&](Operand &operand, bool write, bool read) {
        if (!operand.isRegister())
          return;
        if (write)
          writes[i].push_back(operand.index);
        if (read)
          reads[i].push_back(operand.index);
      });
    }
  }

  static bool endsInFlight(const Instruction &instruction) {
    return isWgmmaWaitAll(instruction) || isTensorLoadWait(instruction);
  }

  /// The effect of one instruction on the set of registers in flight. A move of
  /// an accumulator is executed late too. No kernel has both wgmma and
  /// tcgen05.ld.
  void stepInFlight(BitSet &inFlight, u32 i) {
    const Instruction &instruction = program.code[i];
    if (isWgmma(instruction) || isTensorLoad(instruction)) {
      for (s32 slot : writes[i])
        inFlight.set(slot);
    } else if (endsInFlight(instruction)) {
      inFlight.clear();
    } else if (instruction.instructionClass == InstructionClass::Move &&
               writes[i].size() == 1) {
      for (s32 slot : reads[i])
        if (inFlight.test(slot)) {
          inFlight.set(writes[i][0]);
          break;
        }
    }
  }

  void findInFlight() {
    for (bool changed = true; changed;) {
      changed = false;
      for (Block &block : blocks) {
        BitSet inFlight = block.inFlightIn;
        for (u32 i = block.begin; i < block.end; ++i)
          stepInFlight(inFlight, i);
        changed |= block.inFlightOut.merge(inFlight);
        for (u32 successor : block.successors)
          changed |= blocks[successor].inFlightIn.merge(inFlight);
      }
    }
  }

  void findLiveness() {
    for (Block &block : blocks)
      for (u32 i = block.begin; i < block.end; ++i) {
        for (s32 slot : reads[i])
          if (!block.defined.test(slot))
            block.used.set(slot);
        // A guarded instruction may leave the old value.
        if (program.code[i].guard < 0 && !isWgmma(program.code[i]))
          for (s32 slot : writes[i])
            block.defined.set(slot);
      }
    for (Block &block : blocks)
      block.liveIn.merge(block.used);
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t b = blocks.size(); b-- > 0;) {
        Block &block = blocks[b];
        for (u32 successor : block.successors)
          block.liveOut.merge(blocks[successor].liveIn);
        changed |= block.liveIn.mergeDifference(block.liveOut, block.defined);
      }
    }
  }

  void touch(u32 slot, u32 position) {
    first[slot] = std::min(first[slot], position);
    last[slot] = std::max(last[slot], position);
  }

  /// Positions are 2 i for the reads and 2 i + 1 for the writes of i.
  void findIntervals() {
    first.assign(numSlots, ~0u);
    last.assign(numSlots, 0);
    for (Block &block : blocks) {
      for (u32 slot = 0; slot < numSlots; ++slot) {
        if (block.liveIn.test(slot) || block.inFlightIn.test(slot))
          touch(slot, 2 * block.begin);
        if (block.liveOut.test(slot) || block.inFlightOut.test(slot))
          touch(slot, 2 * block.end);
      }
      BitSet inFlight = block.inFlightIn;
      for (u32 i = block.begin; i < block.end; ++i) {
        for (s32 slot : reads[i])
          touch(slot, 2 * i + 1);
        for (s32 slot : writes[i]) {
          touch(slot, 2 * i);
          touch(slot, 2 * i + 1);
        }
        if (!hasInFlight)
          continue;
        if (endsInFlight(program.code[i]))
          for (u32 slot = 0; slot < numSlots; ++slot)
            if (inFlight.test(slot))
              touch(slot, 2 * i + 1);
        stepInFlight(inFlight, i);
      }
    }
  }

  void assignSlots() {
    mapped.assign(numSlots, -1);
    std::vector<u32> order;
    for (u32 slot = 0; slot < numSlots; ++slot) {
      if (!width[slot])
        continue;
      if (fixed[slot])
        mapped[slot] = newSlot(width[slot]);
      else if (first[slot] != ~0u)
        order.push_back(slot);
    }
    std::sort(order.begin(), order.end(),
              [&](u32 a, u32 b) { return first[a] < first[b]; });
    std::set<std::pair<u32, u32>> active; // end, slot
    std::map<u32, std::vector<s32>> freeSlots;
    for (u32 slot : order) {
      while (!active.empty() && active.begin()->first < first[slot]) {
        u32 expired = active.begin()->second;
        active.erase(active.begin());
        freeSlots[width[expired]].push_back(mapped[expired]);
      }
      std::vector<s32> &candidates = freeSlots[width[slot]];
      if (candidates.empty()) {
        mapped[slot] = newSlot(width[slot]);
      } else {
        mapped[slot] = candidates.back();
        candidates.pop_back();
      }
      active.insert({last[slot], slot});
    }
  }

  s32 newSlot(u32 slots) {
    if (slots > 1)
      nextSlot = alignUp(nextSlot, 2);
    s32 slot = nextSlot;
    nextSlot += slots;
    return slot;
  }

  void rewrite() {
    // An operand object may be shared (a payload by two instructions).
    std::set<Operand *> done;
    for (Instruction &instruction : program.code)
      instruction.forEachOperand([&](Operand &operand, bool, bool) {
        if (operand.isRegister() && done.insert(&operand).second)
          operand.index = mapped[operand.index];
      });
    for (Instruction &instruction : program.code)
      instruction.noteRegisters();
    for (SpecialRegister &special : program.specials)
      special.slot = mapped[special.slot];
    program.numSlots = nextSlot + 4;
    program.slotNames.clear();
    for (u32 slot = 0; slot < program.numSlots; ++slot)
      program.slotNames.push_back("(slot " + std::to_string(slot) + ")");
  }

  Program &program;
  const u32 numSlots, numInstructions;
  std::vector<u8> width;
  std::vector<bool> fixed;
  std::vector<Block> blocks;
  std::vector<u32> blockOf;
  std::vector<std::vector<s32>> reads, writes;
  std::vector<u32> first, last;
  std::vector<s32> mapped;
  u32 nextSlot = 0;
  bool hasInFlight = false;
};

} // namespace

void attn::sim::allocateRegisters(Program &program) {
  if (program.numSlots < minSlots)
    return;
  // Calls read and write slots that no operand names.
  for (const Instruction &instruction : program.code)
    if (instruction.instructionClass == InstructionClass::Call)
      return;
  Allocator(program).run();
}
