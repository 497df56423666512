//===- PlanExecutor.h - One rank's part of a plan ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Carries out one rank's part of a plan (docs/Distributed.md), forward and
// backward. How ranks communicate, what computes a call, and where arrays are,
// is the program's: three tables of functions, over MPI, NCCL or threads, with
// kernels of this compiler or of another.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_DISTRIBUTED_PLANEXECUTOR_H
#define ATTN_DISTRIBUTED_PLANEXECUTOR_H

#include "attn/Distributed/Plan.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace attn {

//===----------------------------------------------------------------------===//
// How ranks communicate
//===----------------------------------------------------------------------===//

struct SentBytes {
  const char *data;
  size_t size;
};

struct ReceivedBytes {
  char *data;
  size_t size;
};

/// Waits for what has begun, and says why it failed.
using Wait = std::function<Status()>;

/// This rank among the others, of which all do the same exchanges in the same
/// order. `MpiCommunicator.h` has one.
struct PlanCommunicator {
  int64_t rank = 0, size = 1;
  /// Begins to send send[p] to each rank p, itself too, and to fill receive[p]
  /// from it: as many bytes as are sent. One exchange is under way at a time;
  /// its memory stays until it has been waited for. Where a rank fails or does
  /// not come, waiting fails within a time limit of the communicator's own.
  std::function<Wait(const std::vector<SentBytes> &send,
                     const std::vector<ReceivedBytes> &receive)>
      exchange;
};

//===----------------------------------------------------------------------===//
// What computes
//===----------------------------------------------------------------------===//

/// Heads [begin, end).
struct HeadRange {
  int64_t begin = 0, end = 0;

  int64_t size() const { return end - begin; }
};

/// Of the whole attention, the same on all ranks.
struct PlanSizes {
  int64_t batch, heads, keyHeads, headDim, valueDim;
  int64_t elementBytes; ///< of query, key and value
};

/// What a kernel reads: the heads at hand of a call's rows and keys, at whose
/// positions in the whole mask and scores are taken. Arrays are
/// [batch, heads, tokens, dim], row-major.
struct CallInputs {
  const Call &call;
  HeadRange heads, keyHeads;
  const void *query, *key, *value;
  /// Added to the scores, [batch, heads, rows, keys]; null for none.
  const float *bias = nullptr;
  /// As PlanInputs has them: rows and keys at positions behind them do not
  /// exist, and what arrays hold there may be anything.
  const int64_t *lengths = nullptr;
};

/// Results of f32.
struct CallResults {
  float *output; ///< [batch, heads, rows, Dv]
  float *lse;    ///< [batch, heads, rows], natural; -inf where nothing is seen
};

struct CallGradients {
  float *query, *key, *value; ///< shaped as what they are the gradients of
  float *bias = nullptr;      ///< null where none is asked for
};

struct PlanKernels {
  /// What ranks compare beside plan and sizes: scale, type, score function, ...
  std::string description;
  /// The attention of the rows over the keys alone.
  std::function<Status(const CallInputs &, const CallResults &)> forward;
  /// Gradients of query, key and value in this call, where output and LSE are
  /// those of all keys. `dOutput` is of query's type. May be empty.
  std::function<Status(const CallInputs &, const CallResults &,
                       const void *dOutput, const CallGradients &)>
      backward;
};

//===----------------------------------------------------------------------===//
// Where arrays are
//===----------------------------------------------------------------------===//

/// What the executor does with arrays. A program whose arrays are a GPU's fills
/// the table with copies and kernels of its stream (a copy is cudaMemcpy2D),
/// and has kernels and a communicator for the same memory and stream.
struct PlanMemory {
  /// Null where there is none left.
  std::function<std::shared_ptr<void>(size_t bytes)> allocate;
  /// `height` rows of `width` bytes, each `pitch` behind the one before. One
  /// side may be in the host's memory, and has been read or written then.
  std::function<Status(void *to, size_t toPitch, const void *from,
                       size_t fromPitch, size_t width, size_t height)>
      copy;
  /// Adds, of f32; pitches and width are in bytes, as of a copy.
  std::function<Status(float *to, size_t toPitch, const float *from,
                       size_t fromPitch, size_t width, size_t height)>
      add;
  std::function<Status(float *to, float value, size_t count)> fill;
  /// Makes of `into`, [rows, dim] and [rows], what it is over the keys of both,
  /// which share none: as attn.merge of docs/Spec.md.
  std::function<Status(const CallResults &into, const CallResults &part,
                       int64_t rows, int64_t dim)>
      merge;
};

PlanMemory getHostMemory();

//===----------------------------------------------------------------------===//
// The executor
//===----------------------------------------------------------------------===//

/// Of the rank's tokens and all heads.
struct PlanInputs {
  const void *query, *key, *value;
  /// [heads], in the host's memory: one more score in each row of a head, of a
  /// key without a value. The executor adds it to what kernels give, once.
  const float *sink = nullptr;
  /// [batch], in the host's memory: how many tokens of each batch exist.
  const int64_t *lengths = nullptr;
  /// Of the rank's rows and all keys, [batch, heads, tokens of the rank, tokens
  /// of the plan]; for plans that move keys without an exchange of heads.
  const float *bias = nullptr;
};

/// Writes the gradient of a sink, [heads], from a rank's tokens alone, of which
/// that of the whole is the sum over ranks: -exp(sink - LSE) rowsum(dO O).
/// Output, LSE and dOutput are [batch, heads, tokens, Dv] and [batch, heads,
/// tokens], of f32 in the host's memory.
void computeSinkGradient(const PlanSizes &sizes, int64_t tokens,
                         const float *sink, const CallResults &results,
                         const float *dOutput, float *dSink);

/// What a backward needs of its forward: the memory of inputs and results stays
/// until then.
struct SavedAttention;

class PlanExecutor {
public:
  PlanExecutor(Plan plan, PlanSizes sizes, PlanCommunicator communicator,
               PlanKernels kernels, PlanMemory memory = getHostMemory());
  ~PlanExecutor();

  /// Writes output [batch, heads, tokens, Dv] and LSE [batch, heads, tokens] of
  /// the rank's tokens; `results.lse` may be null. What the next stage needs is
  /// on its way while one is computed. Fails on all ranks where plans, sizes or
  /// kernels differ, or one rank cannot begin.
  Result<std::shared_ptr<const SavedAttention>>
  forward(const PlanInputs &inputs, const CallResults &results);

  /// Writes the gradients, of f32, of the rank's tokens; with a bias also its
  /// own, unless `gradients.bias` is null. Keys go once more, and
  /// their sums return to their owner, who adds them in ascending order of
  /// ranks: the bits are the same in every run.
  Status backward(const SavedAttention &saved, const void *dOutput,
                  const CallGradients &gradients);

  /// To other ranks, of all calls so far, without what they compare.
  int64_t getSentBytes() const;

private:
  class Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace attn

#endif // ATTN_DISTRIBUTED_PLANEXECUTOR_H
