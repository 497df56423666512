//===- MaskProgram.h - A mask evaluated on boxes of pairs -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mask_mod region as a list of instructions on intervals of integers: given
// ranges of rows and keys, it says that all pairs are visible, that none is, or
// that it cannot tell. On a single pair it can always tell, unless the region
// reads memory or depends on sizes that are not constant.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_ANALYSIS_MASKPROGRAM_H
#define ATTN_ANALYSIS_MASKPROGRAM_H

#include "mlir/IR/Region.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>
#include <vector>

namespace attn {

/// The integers from `low` to `high`. Truth values are 0 and 1.
struct Interval {
  int64_t low, high;

  bool isSingle() const { return low == high; }
};

/// Coordinates from first to last, both included.
struct MaskBox {
  Interval b, h, i, j;
};

enum class BoxState { Empty, Full, Unknown };

enum class BlockState : uint8_t { Empty, Partial, Full };

/// The states of all tiles of a problem.
struct BlockMap {
  int64_t tileM, tileN;
  int64_t rowTiles, keyTiles;
  std::vector<BlockState> blocks; ///< [rowTiles, keyTiles]

  BlockState get(int64_t row, int64_t key) const {
    return blocks[row * keyTiles + key];
  }
};

class MaskProgram {
public:
  explicit MaskProgram(mlir::Region &maskMod);

  /// What the mask is on a box, as far as intervals say.
  BoxState evaluate(const MaskBox &box);

  /// The states of all tiles of `problem`, whose rows and keys start at 0 and
  /// end at the values of attn.length. They
  /// are exact if the region depends on i, j and constants alone; else a block
  /// may be partial that is empty or full for every batch and head. Nothing if
  /// more than `mostBoxes` boxes would have to be evaluated.
  std::optional<BlockMap> classifyBlocks(const MaskBox &problem, int64_t tileM,
                                         int64_t tileN, int64_t mostBoxes);

private:
  struct Instruction {
    mlir::Operation *op;
    unsigned opcode;
    unsigned operands[3];
  };

  /// What is in a box; boxes are split until there is no doubt.
  struct Contents {
    bool hasVisible = false, hasHidden = false;
  };

  unsigned add(mlir::Value value);
  unsigned addSlot(Interval interval);
  void classify(const MaskBox &box, Contents &contents);
  void fill(BlockMap &map, const MaskBox &tiles, const MaskBox &problem);
  Interval run(const Instruction &instruction) const;

  mlir::Region &region;
  llvm::DenseMap<mlir::Value, unsigned> numbers;
  std::vector<Instruction> instructions;
  std::vector<unsigned> targets;
  std::vector<Interval> slots;
  /// Slots of attn.length ops: of the query, of the key.
  std::vector<unsigned> queryLengths, keyLengths;
  unsigned result;
  int64_t budget = 0; ///< boxes that may still be evaluated
};

} // namespace attn

#endif // ATTN_ANALYSIS_MASKPROGRAM_H
