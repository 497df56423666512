//===- Instruction.h - Decoded instructions and programs --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The decoded form that warps execute. A register is a row of 32 lanes of 32
/// bits ("slot"); 64-bit registers take two slots as one row of 32 u64, 128-bit
/// registers two such rows (low halves, then high halves). Constants are rows
/// too, so that an operand is always an array indexed by lane.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_INSTRUCTION_H
#define ATTN_LIB_SIMULATOR_PTX_INSTRUCTION_H

#include "Numerics.h"
#include "Types.h"
#include "attn/Simulator/Counters.h"

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace attn::sim {

class Module;
struct Instruction;
struct Warp;

/// What a handler leaves: go on with the next instruction, `pc` was set, or
/// the active lanes wait for `Warp::wait`.
enum class Step : u8 { Next, Jump, Block };
using Handler = Step (*)(Warp &, const Instruction &);

struct Operand {
  enum class Kind : u8 { None, Register, Constant, Predicate, Sink };
  Kind kind = Kind::None;
  u8 width = 4; // bytes: 4, 8 or 16
  bool negated = false;
  s32 index = 0; // slot, row of the constant pool, or predicate

  explicit operator bool() const { return kind != Kind::None; }
  bool isRegister() const { return kind == Kind::Register; }
  bool isPredicate() const { return kind == Kind::Predicate; }
  bool isSink() const { return kind == Kind::Sink; }
};

/// base + offset; without a base the offset is the address.
struct Address {
  Operand base;
  s64 offset = 0;
  bool valid = false;

  explicit operator bool() const { return valid; }
};

/// Called for an operand with whether the instruction writes and reads it.
using OperandVisitor = std::function<void(Operand &, bool writes, bool reads)>;

/// What an instruction needs beyond the common fields.
struct Payload {
  virtual ~Payload() = default;
  virtual void forEachOperand(const OperandVisitor &visit) {}
};

/// The slots of a register of 64 bits, or of a vector of two of 32; -1: none.
using Halves = std::array<s32, 2>;

struct Instruction {
  Handler run = nullptr;
  InstructionClass instructionClass = InstructionClass::Other;

  // Guard predicate (PTX ISA 9.3); -1: none.
  s32 guard = -1;
  bool guardNegated = false;

  // Modifiers.
  Type type = Type::None, type2 = Type::None, type3 = Type::None;
  Space space = Space::Generic;
  Rounding rounding = Rounding::None;
  bool flushSubnormals = false; // .ftz
  bool saturate = false;        // .sat, .satfinite
  bool synchronizes = false;    // volatile, relaxed, acquire, release accesses

  // Operands. `results` and `values` are vectors written and read.
  Operand dst, dst2;
  Operand a, b, c, d;
  Address address, address2, address3;
  std::vector<Operand> results, values;
  std::shared_ptr<Payload> payload;

  // Meaning given by the family that decoded the instruction.
  u32 operation = 0;
  u32 flags = 0;
  s64 immediate = 0;
  s32 target = -1;
  std::vector<u32> targets;
  u64 flops = 0;
  u64 wgmmaSharedBytes = 0; // what a warp's part of a product reads
  bool isWarpSync = false;  // bar.warp.sync
  bool isByHalf = false;    // halves of 64 bits on their own: .f32x2, packing

  // Place.
  u32 line = 0, pc = 0;
  std::string text;

  // Slots and predicates touched, for the checks.
  std::vector<s32> readSlots, writtenSlots, readPredicates, writtenPredicates;
  std::vector<s32> stampedSlots;  // those of the two first that a wgmma uses
  std::vector<Halves> readHalves; // of one that is by halves
  Halves writtenHalves = {-1, -1};

  void forEachOperand(const OperandVisitor &visit);
  /// Fills the lists above from the operands.
  void noteRegisters();
};

/// A .param variable or kernel parameter.
struct ParameterDecl {
  std::string name;
  u32 offset = 0, bytes = 0, alignment = 1;
  Type type = Type::None;
};

/// A special register or an internal base address, set when a warp starts.
struct SpecialRegister {
  s32 slot = -1;
  u8 width = 4;
  std::string name;
};

/// Where an indirect call goes.
struct CallTarget {
  u32 pc = 0;
  s32 returnSlot = -1;
  std::vector<ParameterDecl> parameters, results;
};

/// One entry with every function that it can reach, decoded.
struct Program {
  const Module *module = nullptr;
  std::string name;
  std::vector<Instruction> code;
  u32 entryPc = 0;

  u32 numSlots = 0, numPredicates = 0;
  bool usesWgmma = false;
  u32 tensorCtaGroup = 0;     // of its tcgen05 instructions; 0: none has one
  u32 localBytes = localBase; // per lane
  std::vector<u32> constants; // rows of 32
  std::vector<SpecialRegister> specials;
  std::vector<std::string> slotNames, predicateNames;

  std::vector<ParameterDecl> parameters;
  u32 parameterBytes = 0;
  u32 staticSharedBytes = 0;
  u32 dynamicSharedOffset = 0;
  bool usesDynamicShared = false;

  // Performance-tuning directives (PTX ISA 11.4); 0: absent.
  u32 maxThreads = 0;
  u32 requiredThreads[3] = {0, 0, 0};
  u32 requiredCluster[3] = {0, 0, 0};

  std::unordered_map<u64, CallTarget> indirectTargets; // by function address

  bool hasSpecial(const std::string &name) const;
};

/// Renames virtual registers to few slots by liveness, so that the registers of
/// a warp stay in cache. Not used where diagnostics must name registers.
void allocateRegisters(Program &program);

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_INSTRUCTION_H
