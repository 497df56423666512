//===- MergeKernel.cpp - The kernel that merges attentions ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// attn.merge: a warp for each row of a head, whose lanes share out its columns.
// Parts are taken in their order, which is one order of additions in every run.
//
//===----------------------------------------------------------------------===//

#include "Kernel/Fragments.h"
#include "Launch/ElementKernel.h"
#include "Launch/LaunchProgram.h"
#include "Launch/PrologueKernels.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

static void addResult(TiledAttention &merges, StringRef name, Value result) {
  KernelOperand operand;
  operand.name = name.str();
  operand.tensor = result;
  operand.type = cast<RankedTensorType>(result.getType());
  operand.isOutput = true;
  operand.vectorElements = 1;
  merges.operands.push_back(operand);
}

FailureOr<TiledAttention> attn::findMerge(Operation *function) {
  SmallVector<MergeOp> ops;
  function->walk([&](MergeOp op) { ops.push_back(op); });
  MergeOp merge = ops.front();
  if (ops.size() > 1)
    return ops[1].emitOpError()
           << "expected one merge in a function on a GPU: merge all parts at "
              "once";
  for (Type type : merge->getOperandTypes())
    if (getElementTypeOrSelf(type).isF64())
      return merge.emitOpError()
             << "expected parts of f16, bf16 or f32 on a GPU, got "
             << getElementTypeOrSelf(type);
  for (Operation *user : merge->getUsers())
    if (!user->hasTrait<OpTrait::ReturnLike>())
      return merge.emitOpError()
             << "expected a merge whose results are those of "
                "its function on a GPU";
  TiledAttention merges;
  merges.semantics = "merge";
  merges.prologue.push_back({merge, {}});
  for (auto [name, parts] :
       {std::pair<StringRef, OperandRange>{"outputs", merge.getOutputs()},
        {"lses", merge.getLses()}})
    for (auto [number, part] : llvm::enumerate(parts))
      addInput(merges,
               merge.isStacked()
                   ? name.str()
                   : (name.drop_back() + "_" + Twine(number)).str(),
               part, 1);
  if (Value sink = merge.getSink())
    addInput(merges, "sink", sink, 1);
  addResult(merges, "output", merge.getOutput());
  addResult(merges, "lse", merge.getLse());
  return merges;
}

void attn::addMerge(LaunchProgram &program, StringRef name) {
  program.addKernel(
      name, program.getProduct("lse", kHeadDim).ceilDiv(kPrologueWarps));
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {
class MergeKernelBuilder : ElementKernel {
public:
  MergeKernelBuilder(OpBuilder &builder, TiledAttention &attention, MergeOp op)
      : ElementKernel(builder, attention, op.getLoc()), op(op),
        fragments(builder, loc) {}

  LogicalResult build(StringRef name);

private:
  /// A part: tensors, and for a stack its number.
  struct Part {
    Value output, lse, number;
  };
  using Body = function_ref<Value(const Part &part, Value carried)>;
  Value forEachPart(Value init, Body body);
  Value read(Value tensor, Value number, ValueRange at);
  Value readLse(const Part &part) { return read(part.lse, part.number, row); }
  Value getWeight(Value lse);
  void mergeRow();
  void mergeColumn(Value column);
  void store(Value number, Value result, ValueRange at);

  MergeOp op;
  Fragments fragments;
  Value lane;
  SmallVector<Value> row; ///< (b, h, i)
  Value base;             ///< the largest LSE, or 0 where all are -inf
  Value inverse;          ///< of the sum of the weights; 0 without any
};
} // namespace

/// What `body` makes of one part after the other.
Value MergeKernelBuilder::forEachPart(Value init, Body body) {
  if (!op.isStacked()) {
    for (auto [output, lse] : llvm::zip_equal(op.getOutputs(), op.getLses()))
      init = body({output, lse, Value()}, init);
    return init;
  }
  Value output = op.getOutputs().front(), lse = op.getLses().front();
  Value first = constant(0), parts = getSize(lse, 0), step = constant(1);
  auto loop =
      scf::ForOp::create(builder, loc, first, parts, step, ValueRange(init));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value next =
      body({output, lse, loop.getInductionVar()}, loop.getRegionIterArg(0));
  scf::YieldOp::create(builder, loc, next);
  return loop.getResult(0);
}

/// An element of a part, in f32.
Value MergeKernelBuilder::read(Value tensor, Value number, ValueRange at) {
  SmallVector<Value> indices;
  if (number)
    indices.push_back(toI64(number));
  for (Value index : at)
    indices.push_back(toI64(index));
  Value source = values.lookup(tensor);
  Type type = cast<tile::GlobalType>(source.getType()).getElementType();
  Value element = tile::ExtractOp::create(builder, loc, type, source, indices);
  return type.isF32() ? element
                      : arith::ExtFOp::create(builder, loc,
                                              builder.getF32Type(), element)
                            .getResult();
}

/// exp(lse - base).
Value MergeKernelBuilder::getWeight(Value lse) {
  Value exponent = fragments.sub(lse, base);
  return fragments.exp2(
      fragments.mul(exponent, fragments.constant(llvm::numbers::log2e)));
}

/// The column, of what each part with keys has: that of another may be NaN.
void MergeKernelBuilder::mergeColumn(Value column) {
  SmallVector<Value> at(row);
  at.push_back(column);
  Value sum =
      forEachPart(fragments.constant(0), [&](const Part &part, Value carried) {
        Value lse = readLse(part);
        Value number = read(part.output, part.number, at);
        Value added = fragments.fma(getWeight(lse), number, carried);
        return fragments.selectEqual(lse, kMinusInf, carried, added);
      });
  store(fragments.mul(sum, inverse), op.getOutput(), at);
}

void MergeKernelBuilder::store(Value number, Value result, ValueRange at) {
  Value tensor = values.lookup(result);
  Type type = cast<tile::GlobalType>(tensor.getType()).getElementType();
  if (!type.isF32())
    number = arith::TruncFOp::create(builder, loc, type, number);
  SmallVector<Value> indices =
      llvm::map_to_vector(at, [&](Value index) { return toI64(index); });
  tile::InsertOp::create(builder, loc, number, tensor, indices);
}

void MergeKernelBuilder::mergeRow() {
  Value sink = fragments.constant(kMinusInf);
  if (Value sinks = op.getSink())
    sink = read(sinks, Value(), row[kHead]);
  Value max = forEachPart(sink, [&](const Part &part, Value carried) {
    return arith::MaximumFOp::create(builder, loc, readLse(part), carried)
        .getResult();
  });
  base = fragments.selectEqual(max, kMinusInf, fragments.constant(0), max);
  Value sum =
      forEachPart(getWeight(sink), [&](const Part &part, Value carried) {
        return fragments.add(carried, getWeight(readLse(part)));
      });
  inverse = fragments.selectEqual(sum, 0, fragments.constant(0),
                                  fragments.divide(fragments.constant(1), sum));
  // No weight at all: the logarithm of 0.
  Value lse = fragments.add(base, fragments.log(sum));
  onlyIf(isBelow(lane, constant(1)), [&] { store(lse, op.getLse(), row); });
  auto columns = scf::ForOp::create(
      builder, loc, lane, getSize(op.getOutput(), kHeadDim), constant(kLanes));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(columns.getBody());
  mergeColumn(columns.getInductionVar());
}

LogicalResult MergeKernelBuilder::build(StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  if (failed(beginKernel(name, kPrologueWarps)))
    return failure();
  WarpOfGrid warp = getWarpOfGrid(builder, loc, kPrologueWarps);
  lane = warp.lane;
  row = getIndices(warp.number, values.lookup(op.getLse()), kHeadDim);
  // The last CTA may have more warps than there are rows.
  onlyIf(isBelow(row[kBatch], getSize(op.getLse(), kBatch)),
         [&] { mergeRow(); });
  tile::ReturnOp::create(builder, loc);
  return success();
}

LogicalResult attn::buildMergeKernel(OpBuilder &builder,
                                     TiledAttention &attention, MergeOp op,
                                     StringRef name) {
  return MergeKernelBuilder(builder, attention, op).build(name);
}
