//===- PageTable.h - Which page has the keys of a batch ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_INTERPRETER_PAGETABLE_H
#define ATTN_LIB_INTERPRETER_PAGETABLE_H

#include "Values.h"

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// The table of an attn.paged, by batches or of all of them behind each other.
class PageTable {
public:
  PageTable(PagedOp view, const Environment &environment)
      : table(environment.tensor(view.getTable())) {
    if (mlir::Value value = view.getOffsets())
      offsets = environment.tensor(value);
  }

  int64_t getBatches() const {
    return offsets ? offsets->shape[0] - 1 : table->shape[0];
  }
  /// The most entries that a batch has.
  int64_t getColumns() const { return table->shape[offsets ? 0 : 1]; }

  /// An entry; -1, which is no page, behind those of the batch.
  int64_t find(int64_t batch, int64_t column) const {
    if (!offsets)
      return table->find({batch, column})->integer;
    int64_t first = offsets->elements[batch].integer;
    int64_t end = offsets->elements[batch + 1].integer;
    bool exists = first >= 0 && first + column < end;
    const Scalar *entry = exists ? table->find({first + column}) : nullptr;
    return entry ? entry->integer : -1;
  }

private:
  SharedTensor table, offsets;
};

} // namespace attn

#endif // ATTN_LIB_INTERPRETER_PAGETABLE_H
