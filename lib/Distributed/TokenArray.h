//===- TokenArray.h - Arrays of some heads and tokens -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What ranks have of an array of the whole, in any memory, and moves of tokens
// and heads between them.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DISTRIBUTED_TOKENARRAY_H
#define LIB_DISTRIBUTED_TOKENARRAY_H

#include "attn/Distributed/PlanExecutor.h"

namespace attn {

/// [batch, heads, tokens, rowBytes], row-major: these heads and tokens of the
/// whole.
struct TokenArray {
  int64_t batch = 0;
  HeadRange heads;
  TokenRanges tokens;
  size_t rowBytes = 0;
  char *data = nullptr;
  std::shared_ptr<void> owner = nullptr; ///< null: the program's

  size_t getHeadBytes() const { return tokens.count() * rowBytes; }
  size_t getBytes() const { return batch * heads.size() * getHeadBytes(); }
  float *getFloats() const { return reinterpret_cast<float *>(data); }
};

/// A PlanMemory whose first failure is kept; what follows it does nothing.
class ArrayMemory {
public:
  explicit ArrayMemory(PlanMemory table) : table(std::move(table)) {}

  const Status &getStatus() const { return status; }

  std::shared_ptr<void> allocate(size_t bytes);
  TokenArray allocate(int64_t batch, HeadRange heads, TokenRanges tokens,
                      size_t rowBytes);
  void fill(const TokenArray &to, float value);
  void copy(void *to, const void *from, size_t bytes);
  void copy(void *to, size_t toPitch, const void *from, size_t fromPitch,
            size_t width, size_t height);

  /// Heads and tokens that both arrays have.
  void copy(const TokenArray &to, const TokenArray &from, HeadRange heads,
            const TokenRanges &tokens);
  /// Adds, of f32.
  void add(const TokenArray &to, const TokenArray &from, HeadRange heads,
           const TokenRanges &tokens);

  void merge(const CallResults &into, const CallResults &part, int64_t rows,
             int64_t dim);

private:
  PlanMemory table;
  Status status;
};

} // namespace attn

#endif // LIB_DISTRIBUTED_TOKENARRAY_H
