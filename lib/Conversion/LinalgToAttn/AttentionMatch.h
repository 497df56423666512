//===- AttentionMatch.h - What a captured attention consists of -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The steps of a capture and what each one finds: softmax, score, operands,
// roles of the dimensions, and at last the op.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_CONVERSION_LINALGTOATTN_ATTENTIONMATCH_H
#define ATTN_LIB_CONVERSION_LINALGTOATTN_ATTENTIONMATCH_H

#include "attn/Analysis/Elements/ElementWalker.h"
#include "attn/Conversion/LinalgToAttn/LinalgToAttn.h"
#include "attn/Dialect/Attn/IR/NamedMods.h"

namespace attn::raise {

/// Why a contraction was not captured; filled by whichever step fails.
class MissRecorder {
public:
  explicit MissRecorder(mlir::Operation *candidate) : candidate(candidate) {}

  /// Records the reason, at `op` or else at the candidate. Returns failure.
  mlir::LogicalResult miss(MissedAttention::Progress progress,
                           mlir::Operation *op, const llvm::Twine &reason);
  const std::optional<MissedAttention> &get() const { return missed; }
  mlir::Operation *getCandidate() const { return candidate; }

private:
  mlir::Operation *candidate;
  std::optional<MissedAttention> missed;
};

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// weights = exp(score) / (sum over j of exp(score) [+ exp(sink)]).
struct Softmax {
  ScalarRef score = nullptr;
  ScalarRef sink = nullptr;
  /// Weights are set to 0 in rows that see no key.
  bool isGuarded = false;
};

/// The op at which the walk from `weights` ended, if there is a softmax behind
/// it; null if none is near.
mlir::Operation *findHidingOp(ElementWalker &walker, ScalarRef weights);

/// True if `weights` are sums over a softmax and something else, as where
/// probabilities of several heads are mixed.
bool mixSoftmax(ElementWalker &walker, ScalarRef weights);

/// Matches `weights`, an expression in the key position `key`.
mlir::FailureOr<Softmax> matchSoftmax(ElementWalker &walker, ScalarRef weights,
                                      mlir::AffineExpr key,
                                      MissRecorder &recorder);

/// weights = prob(softmax), in terms of `hole`.
struct ChangedSoftmax {
  Softmax softmax;
  ScalarRef prob = nullptr, hole = nullptr;
  mlir::Type
      rounded; ///< of 8 bits, that of the weights; null if they have more
};

/// Matches weights that are a function of one softmax, element by element.
mlir::FailureOr<ChangedSoftmax> matchChangedSoftmax(ElementWalker &walker,
                                                    ScalarRef weights,
                                                    mlir::AffineExpr key,
                                                    MissRecorder &recorder);

/// The summands of `weights`, if each has sums of exponentials: softmaxes that
/// are attentions of their own; else `weights`.
llvm::SmallVector<ScalarRef> splitWeights(ScalarGraph &graph,
                                          ScalarRef weights);

/// True if a softmax may be in `scalar`: a sum of exponentials is.
bool hasSumOfExponentials(ScalarGraph &graph, ScalarRef scalar);

/// True if `weights` are made of scores one by one: without a reduction.
bool areElementwise(ScalarRef weights);

/// True if `part` occurs in `scalar`.
bool contains(ScalarRef scalar, ScalarRef part);

//===----------------------------------------------------------------------===//
// Score
//===----------------------------------------------------------------------===//

/// A scalar that depends on `row` and `key` only by their distance.
struct DistanceTable {
  ScalarRef scalar;
  mlir::AffineExpr row, key;
};

/// score = mod(scale * product + bias), -inf where a mask is false.
struct Score {
  ScalarRef product = nullptr; ///< the contraction Q K^T
  double scale = 1;
  ScalarRef bias = nullptr;
  ScalarRef mod = nullptr; ///< in terms of `hole`; null if it is the hole
  ScalarRef hole = nullptr;
  llvm::SmallVector<ScalarRef> masks; ///< all must hold
  /// Parts of `mod` that are computed once for each distance j - i.
  llvm::SmallVector<DistanceTable> tables;
  /// A finite mask value that had to stay a number.
  std::optional<double> finiteMask;
  /// One that looks like a mask's, but that scores may reach.
  std::optional<double> reachableMask;
};

/// What the matcher of scores needs to know of the loops.
struct ScoreContext {
  mlir::AffineExpr key;
  /// Candidates for the query position: loops of the weights and the result.
  llvm::SmallVector<mlir::AffineExpr> rows;
  RaiseOptions options;
};

mlir::FailureOr<Score> matchScore(ElementWalker &walker, ScalarRef score,
                                  const ScoreContext &context,
                                  MissRecorder &recorder);

/// Takes weights apart that are no softmax but a function of each score, which
/// becomes the mod. A mask may multiply the weights, or be added to the scores
/// if it makes the weights 0.
mlir::FailureOr<Score> matchWeights(ElementWalker &walker, ScalarRef weights,
                                    const ScoreContext &context,
                                    MissRecorder &recorder);

/// True if `term` should be an operand of the op: it is a tensor of its own,
/// or one that is small or expensive to compute per element. A formula over
/// positions, and what reads smaller tensors, stays in the region.
bool shouldBeBias(ElementWalker &walker, ScalarRef term,
                  const ScoreContext &context);

/// The expensive parts of `scalar` that depend on row and key only by their
/// distance, and that some tensor of the graph holds.
llvm::SmallVector<DistanceTable> findTables(ElementWalker &walker,
                                            ScalarRef scalar,
                                            const ScoreContext &context);

/// True if an index in `scalar` divides `variable`: it counts a grid.
bool dividesVariable(ScalarRef scalar, mlir::AffineExpr variable);

/// Rewrites conditions that read constant tables as comparisons of indices,
/// where the table is a band: `lower <= j - i <= upper`.
ScalarRef replaceTables(ScalarGraph &graph, ScalarRef condition,
                        const ScoreContext &context);

/// True if `scalar` is read from constant tables by row and key, and every
/// number that it takes satisfies `predicate`.
bool isTableOf(ScalarGraph &graph, ScalarRef scalar,
               const ScoreContext &context,
               llvm::function_ref<bool(double)> predicate);

/// True if for every row some key satisfies all `masks`.
bool everyRowSeesAKey(ScalarGraph &graph, llvm::ArrayRef<ScalarRef> masks,
                      const ScoreContext &context);

/// cap * tanh(x / cap) as a named score_mod: the cap, with the factor that the
/// scale has to be multiplied with.
std::optional<std::pair<double, double>> matchSoftCap(const Score &score);

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// One tensor that an operand can be taken from, with the constant factor
/// between it and the operand.
struct OperandSource {
  mlir::Value tensor;
  llvm::SmallVector<mlir::AffineExpr> indices;
  double factor = 1;
};

/// The operand itself and the tensors that it is a view (times a constant) of.
llvm::SmallVector<OperandSource>
traceOperand(ElementWalker &walker, mlir::Value tensor, Indices indices);

/// A tensor's dimensions as lists of variables, most significant first. An
/// empty list is a dimension of size 1.
using Layout = llvm::SmallVector<llvm::SmallVector<mlir::AffineExpr>>;

/// The layout of `source`, if its indices are digits of distinct variables.
std::optional<Layout> getLayout(ElementWalker &walker,
                                const OperandSource &source);

/// Reshapes and transposes `tensor` from one layout to another over the same
/// variables.
mlir::Value convertLayout(mlir::OpBuilder &builder, mlir::Location loc,
                          IndexSpace &space, mlir::Value tensor,
                          const Layout &from, const Layout &to);

//===----------------------------------------------------------------------===//
// Match
//===----------------------------------------------------------------------===//

/// Which variables make up each dimension of the attention.
struct Roles {
  llvm::SmallVector<mlir::AffineExpr> batch, keyHeads, groups, query, key,
      headDim, valueDim;

  llvm::SmallVector<mlir::AffineExpr> getQueryHeads() const;
  Layout getQueryLayout() const {
    return {batch, getQueryHeads(), query, headDim};
  }
  Layout getKeyLayout() const { return {batch, keyHeads, key, headDim}; }
  Layout getValueLayout() const { return {batch, keyHeads, key, valueDim}; }
  Layout getResultLayout() const {
    return {batch, getQueryHeads(), query, valueDim};
  }
};

struct AttentionMatch {
  Contraction values; ///< the contraction of weights and values
  OperandSource query, key, value;
  Roles roles;
  Score score;
  ScalarRef sink = nullptr;
  bool isGuarded = false; ///< as of Softmax
  /// The weights in terms of `probHole`, a probability; null if they are it.
  ScalarRef prob = nullptr, probHole = nullptr;
  double weightFactor = 1; ///< of all weights, before they are of 8 bits
  mlir::Type weightType;   ///< of 8 bits, if the graph rounds weights to such
  bool hasSoftmax = true;
  size_t numSummands = 1; ///< of the weights: this is the attention of one
  Layout resultLayout;    ///< of the result of `values`
  std::optional<OperandSource> bias;
};

/// Takes a factor of all weights out of the function of the probabilities, and
/// the function with it if nothing else is left.
void takeWeightFactor(AttentionMatch &match);

/// Lets the function of the probabilities see hidden keys, by scores of -inf in
/// place of masks, unless it gives 0 for them.
mlir::LogicalResult showHiddenKeys(ElementWalker &walker,
                                   const ScoreContext &context,
                                   AttentionMatch &match,
                                   MissRecorder &recorder);

/// What may be an attention: the contraction, with the weights as operand 0
/// (lhs) or 1 (rhs), and which of their summands (splitWeights), if not all.
struct Candidate {
  mlir::Operation *op;
  bool weightsAreLhs;
  std::optional<size_t> summand = std::nullopt;
};

/// Matches the attention that `candidate` is. `splits` holds the factors of
/// merged loops found so far; if the match needs another, it fails and adds it.
mlir::FailureOr<AttentionMatch> matchAttention(ElementWalker &walker,
                                               const Candidate &candidate,
                                               class LoopSplits &splits,
                                               const RaiseOptions &options,
                                               MissRecorder &recorder);

/// Inner sizes by which loops of the candidate are divided: a loop with
/// {2, 4} is (rest, 2, 4).
class LoopSplits {
public:
  llvm::ArrayRef<int64_t> get(unsigned loop) { return sizes[loop]; }
  /// Divides digit `digit` of `loop`, of size `extent` if it is static.
  void divide(unsigned loop, unsigned digit, int64_t inner);

  bool changed = false;

private:
  std::map<unsigned, llvm::SmallVector<int64_t>> sizes;
};

/// Finds the roles of the variables of `match`. `batch` and `rows` hold the
/// variables of loops that the values have or do not have.
mlir::LogicalResult assignRoles(ElementWalker &walker, AttentionMatch &match,
                                llvm::ArrayRef<mlir::AffineExpr> batch,
                                llvm::ArrayRef<mlir::AffineExpr> rows,
                                llvm::ArrayRef<OperandSource> queries,
                                llvm::ArrayRef<OperandSource> keys,
                                llvm::ArrayRef<OperandSource> values,
                                MissRecorder &recorder);

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

/// Emits scalars as ops in a region whose block arguments stand for variables.
class ScalarEmitter {
public:
  ScalarEmitter(mlir::OpBuilder &builder, mlir::Location loc,
                ElementWalker &walker, mlir::FloatType scoreType)
      : builder(builder), loc(loc), walker(walker), scoreType(scoreType) {}

  /// Binds the digits `variables` of the coordinate `value`.
  void bind(llvm::ArrayRef<mlir::AffineExpr> variables, mlir::Value value);
  void bind(ScalarRef scalar, mlir::Value value) { emitted[scalar] = value; }
  /// Binds a run-time size to a value, for use instead of its tensor.dim.
  void bindSize(mlir::AffineExpr size, mlir::Value value) {
    sizes[size] = value;
  }

  /// Reads `scalar` from a tensor that holds it.
  void bind(ScalarRef scalar, const Element &element) {
    tables[scalar] = element;
  }
  /// The value of an index expression over what is bound; null if it has
  /// others.
  mlir::Value emitAffine(mlir::AffineExpr expr);
  mlir::Value ifVisible(mlir::Value value);
  /// The value of `scalar`, or null after recording why there is none.
  mlir::Value emit(ScalarRef scalar);
  /// What could not be emitted.
  ScalarRef getFailed() const { return failed; }

private:
  mlir::Value emitNew(ScalarRef scalar);
  mlir::Value emitRead(mlir::Value tensor, llvm::ArrayRef<mlir::Value> indices);
  mlir::Value emitApply(ScalarRef scalar, llvm::ArrayRef<mlir::Value> operands);
  mlir::Value emitOrigin(ScalarRef scalar);
  mlir::Value emitElement(const Element &element);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  ElementWalker &walker;
  mlir::FloatType scoreType;
  llvm::DenseMap<ScalarRef, mlir::Value> emitted;
  llvm::DenseMap<ScalarRef, Element> tables;
  llvm::DenseMap<mlir::AffineExpr, mlir::Value> variables, sizes;
  ScalarRef failed = nullptr;
};

/// The table of `entry`, filled by the ops of the graph as they are, and how it
/// is read.
Element createTable(mlir::OpBuilder &builder, mlir::Location loc,
                    ElementWalker &walker, const DistanceTable &entry,
                    mlir::FloatType scoreType);

/// The name of the mask that `masks` make together, if it has one.
std::optional<NamedMod> nameMask(IndexSpace &space,
                                 llvm::ArrayRef<ScalarRef> masks,
                                 const Roles &roles);

/// Builds the attention in front of the matched contraction; returns what the
/// contraction gives, of one of several summands in the type of scores.
mlir::FailureOr<mlir::Value> buildAttention(mlir::RewriterBase &rewriter,
                                            ElementWalker &walker,
                                            const AttentionMatch &match,
                                            MissRecorder &recorder);

/// Takes attn.rotary and attn.qk_norm for what computes query and key of `op`.
/// Returns their number.
unsigned raiseRows(mlir::RewriterBase &rewriter, AttentionOp op);

/// Lets `op`, of a query of 16 bits, read key and value as the f8E4M3FN or
/// f8E5M2 that a graph dequantises, with descales [1]. True if it does.
bool raiseCache(mlir::RewriterBase &rewriter, AttentionOp op);

/// Lets `op` read query, key and value as the 8-bit floats that a graph widens,
/// with its numbers as descales, where the graph rounds weights to
/// `weightType`, the type of the values, too: so do kernels of 8-bit products.
/// Remarks on why it does not where all three are of 8 bits.
void raiseProducts(mlir::RewriterBase &rewriter, AttentionOp op,
                   mlir::Type weightType);

/// The sum of `parts` in the type of the contraction's result.
mlir::Value sumAttentions(mlir::RewriterBase &rewriter,
                          mlir::Operation *contraction,
                          llvm::ArrayRef<mlir::Value> parts);

} // namespace attn::raise

#endif // ATTN_LIB_CONVERSION_LINALGTOATTN_ATTENTIONMATCH_H
