//===- LinearDecaySums.cpp - What crosses log decays ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinearDecaySums.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/Utils/GenericBuilder.h"
#include "attn/Schedule/LinearAttention.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;

namespace {
using Sizes = SmallVector<OpFoldResult>;
using Values = SmallVector<Value>;

class DecaySumEmitter {
public:
  DecaySumEmitter(ImplicitLocOpBuilder &b, const DecayTerms &given)
      : b(b), given(given),
        type(cast<FloatType>(getElementTypeOrSelf(given.terms))) {}

  Value emit();

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value number(double value) {
    return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
  }
  Value size(Value tensor, unsigned dim) {
    return getValueOrCreateConstantIndexOp(b, b.getLoc(),
                                           getDim(b, b.getLoc(), tensor, dim));
  }
  Values loop(unsigned dim, ValueRange state,
              llvm::function_ref<Values(Value, ValueRange)> body);
  Value emitCrossings();
  Value selectBehind(ValueRange at, Value sum);
  Values addTerm(ValueRange at, ValueRange carried);

  ImplicitLocOpBuilder &b;
  const DecayTerms &given;
  FloatType type;
  Value crossings; ///< null where the sums are over all positions
  Value last;      ///< position
};
} // namespace

/// [B, Hq, ceil(M / 64)]: what crosses position 64 (c + 1), 0 in the last.
Value DecaySumEmitter::emitCrossings() {
  Location loc = b.getLoc();
  Sizes sizes = tensor::getMixedSizes(b, loc, given.before);
  sizes.truncate(3);
  Value lastChunk = size(given.before, 2);
  lastChunk = arith::SubIOp::create(b, lastChunk, index(1));
  Value one = index(1), scale = number(given.scale), zero = number(0);
  Value zeros =
      linalg::FillOp::create(
          b, zero, tensor::EmptyOp::create(b, sizes, type).getResult())
          .getResult(0);
  return buildGeneric(
      b, given.after, {{0, 1, 2, 3, 4}}, zeros, {0, 1, 2},
      [&](ValueRange args) -> Value {
        Values at;
        for (unsigned dim = 0; dim < 5; ++dim)
          at.push_back(linalg::IndexOp::create(b, dim));
        Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                             at[2], lastChunk);
        Value next = arith::AddIOp::create(b, at[2], one);
        at[2] = arith::MinUIOp::create(b, next, lastChunk);
        Value state = tensor::ExtractOp::create(b, given.before, at);
        Value product = arith::MulFOp::create(
            b, scale, arith::MulFOp::create(b, state, args[0]));
        Value term = arith::SelectOp::create(b, exists, product, zero);
        return arith::AddFOp::create(b, args[1], term);
      });
}

/// What crosses position i + 1 for `at`, [b, h, i]: of the last of 64 positions
/// that is known, of others it is `sum`.
Value DecaySumEmitter::selectBehind(ValueRange at, Value sum) {
  Value stride = index(kStateStride);
  Value chunk = arith::DivUIOp::create(b, at[2], stride);
  Value crossing =
      tensor::ExtractOp::create(b, crossings, ValueRange{at[0], at[1], chunk});
  Value rest = arith::RemUIOp::create(
      b, arith::AddIOp::create(b, at[2], index(1)), stride);
  Value isLast =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rest, index(0));
  isLast = arith::AndIOp::create(
      b, isLast,
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, at[2], last));
  return arith::SelectOp::create(b, isLast, crossing, sum);
}

/// The sums and the last of them, with that of `at`, [b, h, i].
Values DecaySumEmitter::addTerm(ValueRange at, ValueRange carried) {
  Value behind = carried[1];
  if (crossings)
    behind = selectBehind(at, behind);
  Value term = tensor::ExtractOp::create(b, given.terms, at);
  Value sum = arith::AddFOp::create(b, behind, term);
  return {tensor::InsertOp::create(b, sum, carried[0], at), sum};
}

/// for iv in [0, size of dimension `dim`): state = body(iv, state).
Values
DecaySumEmitter::loop(unsigned dim, ValueRange state,
                      llvm::function_ref<Values(Value, ValueRange)> body) {
  Value lower = index(0), upper = size(given.terms, dim);
  auto made = scf::ForOp::create(b, lower, upper, index(1), state);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(made.getBody());
  scf::YieldOp::create(b,
                       body(made.getInductionVar(), made.getRegionIterArgs()));
  return Values(made.getResults());
}

Value DecaySumEmitter::emit() {
  if (given.before)
    crossings = emitCrossings();
  last = size(given.terms, kSequence);
  last = arith::SubIOp::create(b, last, index(1));
  Value sums = tensor::EmptyOp::create(
      b, tensor::getMixedSizes(b, b.getLoc(), given.terms), type);
  return loop(kBatch, sums, [&](Value batch, ValueRange outer) {
    return loop(kHead, outer, [&](Value head, ValueRange state) {
      Value start =
          given.end
              ? tensor::ExtractOp::create(b, given.end, ValueRange{batch, head})
                    .getResult()
              : number(0);
      Values ends = loop(kSequence, {state[0], start},
                         [&](Value step, ValueRange carried) {
                           Value row = arith::SubIOp::create(b, last, step);
                           return addTerm(Values{batch, head, row}, carried);
                         });
      return Values{ends[0]};
    });
  })[0];
}

Value attn::emitDecaySums(ImplicitLocOpBuilder &b, const DecayTerms &given) {
  return DecaySumEmitter(b, given).emit();
}
