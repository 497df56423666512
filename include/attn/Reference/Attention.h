//===- Attention.h - Attention by definition, in float64 --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The oracle every kernel is compared with, and the yardstick of how exact a
// kernel has to be. Neither knows anything about tiles, online softmax or the
// compiler.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_REFERENCE_ATTENTION_H
#define ATTN_REFERENCE_ATTENTION_H

#include "attn/Reference/Dropout.h"
#include "attn/Reference/Tensor.h"

#include <functional>
#include <optional>

namespace attn {
namespace reference {

/// True where query i of head h in batch b may attend to key j.
using MaskMod = std::function<bool(int64_t b, int64_t h, int64_t i, int64_t j)>;

/// Maps a score to the score that enters the softmax.
using ScoreMod = std::function<double(double score, int64_t b, int64_t h,
                                      int64_t i, int64_t j)>;

/// Maps a probability, which is after the softmax, to the factor of a value.
using ProbMod = std::function<double(double probability, int64_t b, int64_t h,
                                     int64_t i, int64_t j)>;

/// The derivative of a ScoreMod with respect to the score, at the same
/// arguments.
using ScoreModDerivative = ScoreMod;

/// Receives a score before scoreMod and the gradient after it.
using ScoreGradientSink = std::function<void(
    double score, int64_t b, int64_t h, int64_t i, int64_t j, double gradient)>;

/// How the scores s of a row become the weights w of its values:
///
///   Softmax:  w = exp(s) / sum exp(s)
///   None:     w = s
///   Sum:      w = s / (sum s + epsilon), 0 where that is 0
///
/// A masked key has the weight 0.
enum class Normalization { Softmax, None, Sum };

/// What changes the scores, in the order in which it is applied:
///
///   s = scale * dot(query row, key row)
///   s = s * queryDescale * keyDescale       where they are set
///   s = softCap * tanh(s / softCap)         where softCap is set
///   s = s + bias[b, h, i, j]                where bias is set
///   s = scoreMod(s, b, h, i, j)             where scoreMod is set
///   s = -inf                                where maskMod is false
///                                           (0 without softmax)
///
/// The functions are called from several threads at once.
struct AttentionOptions {
  /// Default: 1 / sqrt(D).
  std::optional<double> scale;
  std::optional<double> softCap;
  /// Rank 4; each size is that of [B, Hq, M, N] or 1.
  const Tensor *bias = nullptr;
  /// [Hq]: one more score in each row of a head, of a key without a value.
  const Tensor *sink = nullptr;
  /// What Q, K and V are stored divided by, [1] or [B, Hkv].
  const Tensor *queryDescale = nullptr, *keyDescale = nullptr,
               *valueDescale = nullptr;
  ScoreMod scoreMod;
  /// Needed by attentionBackward where scoreMod is set.
  ScoreModDerivative scoreModDerivative;
  /// If set, attentionBackward calls it for each score with a probability other
  /// than 0: with the score before scoreMod, and the gradient after it; from
  /// one thread.
  ScoreGradientSink scoreGradientSink;
  MaskMod maskMod;
  /// Of the probabilities of visible keys in rows that see one, before dropout;
  /// only with softmax, and not in attentionBackward.
  ProbMod probMod;
  Normalization normalization = Normalization::Softmax;
  double epsilon = 0;
  /// Of the probabilities, as factors of V: what is kept is divided by 1 -
  /// rate.
  std::optional<Dropout> dropout;
  /// Element type of the output; default: that of the query.
  std::optional<ElementType> outputType;
  /// unfusedAttention rounds the factors of its products (Q, K, P, V) to tf32,
  /// as the tensor cores of a GPU take f32.
  bool tf32Products = false;
  /// unfusedAttention adds the products of a score as tensor cores add those of
  /// 8-bit floats that keep 13 bits of a sum (TargetInfo::f8SumBits).
  bool shortSums = false;
};

struct AttentionResult {
  /// [B, Hq, M, Dv]
  Tensor output;
  /// [B, Hq, M], natural logarithm; 0 without softmax, which has none.
  Tensor lse;
};

/// query [B, Hq, M, D], key [B, Hkv, N, D], value [B, Hkv, N, Dv]; Hkv divides
/// Hq, and query head h reads K/V head h / (Hq / Hkv).
///
/// Everything is computed in float64; output and LSE are f64 (rounding them is
/// the caller's choice). Rows:
///  - a row whose scores are all -inf (every key masked) gives output 0 and LSE
///    -inf (its sink, if there is one), never NaN;
///  - a masked key takes no part, whatever its K and V hold;
///  - else IEEE arithmetic decides: a NaN score, or a score of +inf, makes the
///    whole row and its LSE NaN; a NaN or infinity in a visible V propagates.
///
/// Fails where the shapes do not fit, saying which.
Result<AttentionResult> attention(const Tensor &query, const Tensor &key,
                                  const Tensor &value,
                                  const AttentionOptions &options = {});

/// The same function as an unfused implementation computes it at the precision
/// of the inputs, which is the yardstick for kernels (see ErrorBound.h):
/// S accumulated in f32, softmax in f32, P rounded to the type of `value` (kept
/// in f32 for wider types; 2^8 P to 8-bit ones), O accumulated in f32 and
/// rounded to the output type. LSE is f32.
Result<AttentionResult> unfusedAttention(const Tensor &query, const Tensor &key,
                                         const Tensor &value,
                                         const AttentionOptions &options = {});

/// Gradients of a scalar with respect to the inputs, in their shapes.
struct AttentionGradients {
  Tensor query, key, value;
  /// In the bias's own shape, summed over what it is broadcast to; empty
  /// without a bias.
  Tensor bias;
  /// [B, Hq, M]: the largest |scale * dS1| of each row.
  Tensor scoreMaxima;
};

/// How unfusedAttentionBackward rounds what a backward of 8-bit products
/// multiplies by: 2^8 P to the type of V, and scoreScale * dS, dS with the
/// scale of scores, to that of dO; no further than the largest number of the
/// type.
struct Float8Factors {
  ElementType weights, scores;
  double scoreScale = 1;
};

/// What the forward gave, and the gradients with respect to it.
struct BackwardInputs {
  /// [B, Hq, M, Dv]
  const Tensor &output;
  /// [B, Hq, M], natural logarithm.
  const Tensor &lse;
  /// In the shape of output.
  const Tensor &outputGradient;
  /// In the shape of lse; null for zeros.
  const Tensor *lseGradient = nullptr;
  /// Where inputs had 8 bits, and are here what they stand for.
  std::optional<Float8Factors> float8 = std::nullopt;
};

/// The gradients by the definition and in float64. With S1 the scores before
/// scoreMod and S those after it,
///
///   P = exp(S - lse),   dV = P^T dO,   delta = rowsum(dO * O) - dLSE,
///   dS = P * (dO V^T - delta),
///
/// dS goes back through scoreMod, bias and soft cap to dS1, then dQ = scale *
/// dS1 K and dK = scale * dS1^T Q. Masked keys and rows whose lse is -inf take
/// no part. With Normalization::None, P = S and dS = dO V^T, and output and lse
/// are not read. Normalization::Sum has no backward. Fails as attention does,
/// and where scoreMod is set without its derivative.
Result<AttentionGradients> attentionBackward(const Tensor &query,
                                             const Tensor &key,
                                             const Tensor &value,
                                             const BackwardInputs &inputs,
                                             const AttentionOptions &options);

/// The same, after a forward in float64.
Result<AttentionGradients>
attentionBackward(const Tensor &query, const Tensor &key, const Tensor &value,
                  const Tensor &outputGradient,
                  const AttentionOptions &options = {});

/// The same function as an unfused implementation computes it at the precision
/// of the inputs: everything in f32, P and dS rounded to the type of `value`
/// before the products that give dV, dQ and dK (kept in f32 for wider types).
/// The gradients are f32: rounding them is the caller's choice.
Result<AttentionGradients>
unfusedAttentionBackward(const Tensor &query, const Tensor &key,
                         const Tensor &value, const BackwardInputs &inputs,
                         const AttentionOptions &options);

} // namespace reference
} // namespace attn

#endif // ATTN_REFERENCE_ATTENTION_H
