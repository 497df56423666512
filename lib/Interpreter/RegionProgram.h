//===- RegionProgram.h - A region made ready to evaluate --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A score_mod or mask_mod is evaluated once per score, by several threads at
// once; decoding it beforehand keeps that affordable.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_INTERPRETER_REGIONPROGRAM_H
#define ATTN_LIB_INTERPRETER_REGIONPROGRAM_H

#include "ScalarOps.h"

#include <atomic>

namespace attn {

/// The first op in `region` that no program can hold, or null.
mlir::Operation *findUnsupportedRegionOp(mlir::Region &region);

/// The ops of a region over numbered slots, with captured values filled in.
/// How many positions of a sequence exist.
struct SequenceLengths {
  int64_t capacity = 0;   ///< M or N
  SharedTensor ofBatches; ///< null: all exist

  int64_t get(int64_t batch) const {
    return ofBatches ? ofBatches->elements[batch].integer : capacity;
  }
};

/// Those of both sequences of an attention.
struct AttentionLengths {
  SequenceLengths query, key;
};

class RegionProgram {
public:
  /// `lengths` are what attn.length gives. Computes what the region yields, or
  /// another of its values.
  RegionProgram(mlir::Region &region, const Environment &environment,
                const AttentionLengths &lengths,
                mlir::Value result = mlir::Value());

  /// Runs the region for (b, h, i, j) or (score, b, h, i, j); safe to call
  /// concurrently, fast where the keys of a row come one after the other.
  Scalar run(llvm::ArrayRef<Scalar> arguments) const;

  /// A read that left its tensor in some run, which then gave 0; null if none.
  mlir::Operation *getFaultyRead() const { return faultyRead; }

private:
  struct Instruction {
    /// Null: reads `tensor` at the operands.
    ScalarFunction function;
    ScalarOpInfo info;
    SharedTensor tensor;
    mlir::Operation *op;
    llvm::SmallVector<unsigned, 4> operands;
    unsigned result;
  };

  unsigned getSlot(mlir::Value value, const Environment &environment);
  void addConstant(mlir::Value value, Scalar constant);
  void addLength(mlir::Value value, const SequenceLengths &length,
                 mlir::Value batch);
  void addOp(mlir::Operation &op, const Environment &environment);
  /// Those that depend on neither the key nor the score.
  void moveUniformFirst(unsigned numArguments);
  Scalar read(const Instruction &instruction, const Scalar *slots) const;
  void runInstructions(llvm::ArrayRef<Instruction> some,
                       llvm::MutableArrayRef<Scalar> slots) const;

  llvm::DenseMap<mlir::Value, unsigned> slotOf;
  std::vector<Scalar> initialSlots;
  std::vector<Instruction> instructions;
  size_t numUniform = 0;   ///< the first instructions
  size_t mostOperands = 0; ///< of one instruction
  uint64_t id;             ///< that no other program has had
  unsigned result = 0;
  mutable std::atomic<mlir::Operation *> faultyRead{nullptr};
};

} // namespace attn

#endif // ATTN_LIB_INTERPRETER_REGIONPROGRAM_H
