//===- AttentionProblem.h - What is to be computed --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sizes and types of one attention, without IR. Everything the cost model
// knows of an operation is here.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SCHEDULE_ATTENTIONPROBLEM_H
#define ATTN_SCHEDULE_ATTENTIONPROBLEM_H

#include "attn/Support/ElementType.h"
#include "attn/Support/MathExtras.h"
#include "attn/Support/Result.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace attn {

/// Which scores are visible, as far as sizes depend on it: a band around the
/// diagonal, and the fraction of blocks that a data-dependent mask leaves.
///
/// Query position p sees key j iff  p + offset - left <= j <= p + offset +
/// right, with offset = N - M (bottom-right alignment) or 0 (top-left).
struct MaskPattern {
  enum class Alignment { BottomRight, TopLeft };

  std::optional<int64_t> left;  ///< unset: no limit
  std::optional<int64_t> right; ///< unset: no limit; 0: causal
  Alignment alignment = Alignment::BottomRight;
  /// Fraction of the tiles inside the band that are visible.
  double density = 1;

  static MaskPattern full() { return {}; }
  static MaskPattern causal() { return {std::nullopt, 0}; }
  /// The last `size` keys up to the query's own position.
  static MaskPattern slidingWindow(int64_t size) { return {size - 1, 0}; }
  static MaskPattern local(int64_t left, int64_t right) {
    return {left, right};
  }

  bool isBand() const { return left || right; }

  /// "full", "causal", "window:1024", "local:256,128"; then "*0.25" for a
  /// density and "@top_left" for that alignment.
  std::string print() const;
  static Result<MaskPattern> parse(std::string_view text);
};

enum class AttentionPass { Forward, Backward };

/// How scores become weights: exponentials relative to a running maximum,
/// divided by their sum; as they are, divided by their sum; as they are.
enum class Normalization { Softmax, Sum, None };

/// One attention: query [B, Hq, M, D], key [B, Hkv, N, D], value [B, Hkv, N,
/// Dv].
struct AttentionProblem {
  /// More rotations, norms and bytes of captures than this count as so many.
  static constexpr int64_t kMostOps = 64;

  int64_t batch = 1;                           ///< B
  int64_t queryHeads = 1;                      ///< Hq
  int64_t kvHeads = 1;                         ///< Hkv, divides Hq
  int64_t queryLength = 1;                     ///< M
  int64_t kvLength = 1;                        ///< N
  int64_t headDim = 64;                        ///< D
  int64_t valueDim = 64;                       ///< Dv
  ElementType elementType = ElementType::BF16; ///< of Q, K, V
  std::optional<ElementType> cacheType; ///< of K, V, if they have fewer bits
  std::optional<ElementType> valueType; ///< of V, beside Q and K of i8
  ElementType outputType = ElementType::BF16;
  /// Backward: as they are stored, if not in the type of Q, or of 8-bit inputs
  /// in one of 16 bits.
  std::optional<ElementType> dQueryType, dKeyType, dValueType;
  MaskPattern mask;
  AttentionPass pass = AttentionPass::Forward;
  Normalization normalization = Normalization::Softmax;
  /// Keys of a page of K and of V; 0 where all of them follow each other.
  int64_t keyPage = 0, valuePage = 0;
  /// What happens to the query alone before the attention.
  int64_t queryRotations = 0, queryNorms = 0;
  /// Read by an output_mod for each element of the output, all tensors
  /// together.
  int64_t captureBytes = 0;
  bool hasLse = false; ///< the forward pass writes its LSE
  /// The largest magnitude of each row of the output is written, too; in the
  /// backward of each row of all gradients.
  bool hasAmax = false;
  bool hasBias = false;     ///< a bias of the size of the scores is read
  bool isRowBias = false;   ///< and is the same for all query rows
  bool hasScoreMod = false; ///< backward: its derivative takes the scores
  bool hasDropout = false;  ///< each score takes a word of random bits
  bool hasProbMod = false;  ///< each weight takes a factor, in the step
  bool sharedKV = false;    ///< K and V are views of one tensor (MLA latent)
  bool allowTf32 = false;   ///< f32 operands may be rounded to tf32

  /// Query heads per K/V head.
  int64_t getGroupSize() const { return queryHeads / kvHeads; }
  /// Rows of all query heads that share one K/V head.
  int64_t getPackedRows() const { return queryLength * getGroupSize(); }
  /// Rows of the query are turned or normalised before they are multiplied.
  bool changesQuery() const { return queryRotations + queryNorms > 0; }
  /// Weights are exponentials.
  bool hasSoftmax() const { return normalization == Normalization::Softmax; }
  /// Of K.
  ElementType getKeyType() const { return cacheType.value_or(elementType); }
  /// Of V.
  ElementType getValueType() const { return valueType.value_or(getKeyType()); }
  /// What weights are rounded to before they meet V.
  ElementType getWeightType() const { return valueType.value_or(elementType); }
  /// Independent (batch, K/V head) pairs.
  int64_t getKvHeadCount() const { return batch * kvHeads; }
  /// Elements of a K row and a V row that are distinct in memory.
  int64_t getKvRowElements() const {
    return sharedKV ? std::max(headDim, valueDim) : headDim + valueDim;
  }
  /// Bytes of them.
  int64_t getKvRowBytes() const;
  /// Of dQ, dK or dV, whose own type is `given`.
  ElementType getGradientType(std::optional<ElementType> given) const;
  /// Gradients take a kernel that has them whole before it stores them.
  bool changesGradients() const;

  /// Sizes positive, heads divide, types supported.
  Status verify() const;

  /// "B=4 Hq=32 Hkv=8 M=8192 N=8192 D=128 Dv=128 dtype=bf16 mask=causal";
  /// fields at their default (cache, value, key_page, value_page, out, d_query,
  /// d_key, d_value, pass, normalization, rotary, qk_norm, captures, lse, amax,
  /// bias, dropout, shared_kv, tf32) are left out.
  std::string print() const;

  /// Parses what print writes, in any order. Needed: M, N, D. Defaults: B = 1,
  /// Hq = 1, Hkv = Hq, Dv = D, dtype = bf16, out = dtype, or bf16 where that
  /// has 8 bits, mask = full. H sets Hq and Hkv. The result is verified.
  static Result<AttentionProblem> parse(std::string_view text);
};

} // namespace attn

#endif // ATTN_SCHEDULE_ATTENTIONPROBLEM_H
