//===- LinearAttention.cpp - Kernels of linear attention --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Linear/LinearAttention.h"

#include "Launch/LaunchProgram.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// What the kernels share
//===----------------------------------------------------------------------===//

int64_t LinearKernels::getSlices() const {
  int64_t columns = llvm::alignTo(AttentionDims::get(op).valueDim, 16);
  return llvm::divideCeil(columns, getColumns());
}

Value LinearKernels::beginKernel(OpBuilder &builder, StringRef name,
                                 int64_t warps, IRMapping &values) const {
  LinearAttentionOp source = op;
  Location loc = source.getLoc();
  auto kernel = tile::KernelOp::create(
      builder, loc, name, warps, /*sharing=*/IntegerAttr(),
      /*producer_warps=*/IntegerAttr(),
      /*cluster_ctas=*/IntegerAttr(), /*shared_bytes=*/IntegerAttr(),
      source.getScheduleAttr(), /*forward=*/false,
      /*mapped=*/DenseI64ArrayAttr(), /*mapped_heads=*/DenseI64ArrayAttr());
  Block *body = builder.createBlock(&kernel.getBody());
  for (const KernelOperand &operand : operands)
    values.map(operand.tensor, body->addArgument(getGlobalType(operand), loc));
  return workspace ? body->addArgument(workspace->type, loc) : Value();
}

static SmallVector<KernelOperand> getOperands(LinearAttentionOp op) {
  SmallVector<KernelOperand> operands;
  auto add = [&](StringRef name, Value tensor, int64_t vector, bool isOutput) {
    if (!tensor || llvm::any_of(operands, [&](const KernelOperand &known) {
          return known.tensor == tensor;
        }))
      return;
    operands.push_back({name.str(), tensor,
                        cast<RankedTensorType>(tensor.getType()), isOutput,
                        vector});
  };
  // Tiles are copied by 16 bytes, results written by pairs.
  add("query", op.getQuery(), 8, /*isOutput=*/false);
  add("key", op.getKey(), 8, /*isOutput=*/false);
  add("value", op.getValue(), 8, /*isOutput=*/false);
  add("decay", op.getDecay(), 1, /*isOutput=*/false);
  add("slope", op.getSlope(), 1, /*isOutput=*/false);
  add("state", op.getState(), 1, /*isOutput=*/false);
  add("output", op.getOutput(), 2, /*isOutput=*/true);
  add("final_state", op.getFinalState(), 2, /*isOutput=*/true);
  add("states", op.getStates(), 2, /*isOutput=*/true);
  return operands;
}

static WorkspaceView getDecays(LinearAttentionOp op, int64_t chunk) {
  SmallVector<int64_t> shape(
      cast<ShapedType>(op.getQuery().getType()).getShape().take_front(3));
  if (!ShapedType::isDynamic(shape[kSequence]))
    shape[kSequence] = llvm::alignTo(shape[kSequence], chunk);
  return {"decays", tile::GlobalType::get(op.getContext(), shape,
                                          Float32Type::get(op.getContext()))};
}

static WorkspaceView getFactor(LinearAttentionOp op) {
  auto query = cast<ShapedType>(op.getQuery().getType());
  AttentionDims dims = AttentionDims::get(op);
  int64_t shape[] = {dims.batch, dims.queryHeads, dims.headDim, dims.valueDim};
  return {"factor", tile::GlobalType::get(op.getContext(), shape,
                                          query.getElementType())};
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

/// The kernel before the one called `name`.
static std::string getFirstName(const LinearKernels &kernels, StringRef name) {
  LinearAttentionOp op = kernels.op;
  return (name + (op.getFull() ? "_state" : "_decays")).str();
}

static void buildProgram(OpBuilder &builder, const LinearKernels &kernels,
                         StringRef name) {
  LinearAttentionOp op = kernels.op;
  LaunchProgram program(
      builder, ProgramHeader{op, kernels.operands, "linear_attention",
                             op.getScaleValue(),
                             /*deterministic=*/true, op.getScheduleAttr()});
  Size batches = program.dim("query", kBatch),
       heads = program.dim("query", kHead),
       rows = program.dim("query", kSequence);
  Size slices = program.constant(kernels.getSlices());
  if (op.getFull()) {
    auto value = cast<ShapedType>(op.getValue().getType());
    auto query = cast<ShapedType>(op.getQuery().getType());
    program.addWorkspace(*kernels.workspace,
                         {batches, heads,
                          program.constant(query.getDimSize(kHeadDim)),
                          program.constant(value.getDimSize(kHeadDim))});
    program.addKernel(getFirstName(kernels, name), slices, heads, batches);
  } else {
    // linear_attention_c2, where the verifier could not check it.
    program.addConstraint(rows - program.dim("key", kSequence),
                          "expected as many keys as queries");
    // linear_attention_c7
    if (op.getStates()) {
      Size states = program.dim("states", 2);
      program.addConstraint(states - rows.ceilDiv(kStateStride),
                            "expected states of every 64 positions");
    }
    if (kernels.workspace) {
      program.addWorkspace(*kernels.workspace,
                           {batches, heads, rows.alignTo(kernels.getChunk())});
      Size chunks = batches * heads;
      chunks = chunks * rows.ceilDiv(kernels.getChunk());
      program.addKernel(getFirstName(kernels, name),
                        chunks.ceilDiv(kDecayWarps));
    }
  }
  program.addKernel(name, slices, heads, batches);
  program.finish();
}

static FailureOr<LinearAttentionOp> findOnly(Operation *function) {
  SmallVector<LinearAttentionOp> ops;
  function->walk([&](LinearAttentionOp op) { ops.push_back(op); });
  if (ops.size() > 1)
    return ops[1].emitOpError()
           << "expected one linear attention in a function on a GPU, got "
           << ops.size() << ": put each into a function of a module of its own";
  return ops.front();
}

/// Builds the kernels; returns their number.
static int64_t buildKernels(OpBuilder &builder, const LinearKernels &kernels,
                            StringRef name) {
  LinearAttentionOp op = kernels.op;
  if (op.getFull()) {
    buildStateKernel(builder, kernels, getFirstName(kernels, name));
    buildRowKernel(builder, kernels, name);
    return 2;
  }
  if (kernels.workspace)
    buildDecayKernel(builder, kernels, getFirstName(kernels, name));
  buildChunkKernel(builder, kernels, name);
  return kernels.workspace ? 2 : 1;
}

FailureOr<int64_t> attn::buildLinearKernels(OpBuilder &builder,
                                            Operation *function,
                                            StringRef name) {
  FailureOr<LinearAttentionOp> op = findOnly(function);
  if (failed(op))
    return failure();
  std::optional<ScheduleAttr> schedule = op->getSchedule();
  if (!schedule || !schedule->isComplete())
    return op->emitOpError()
           << "expected a complete schedule, as --attn-select-schedule gives";
  LinearKernels kernels;
  kernels.op = *op;
  kernels.schedule = schedule->getValues();
  LinearProblem problem = getProblem(*op);
  if (Status status = checkLinearSchedule(problem, kernels.schedule); !status)
    return op->emitOpError() << status.error();
  kernels.stateRows = getStateRows(problem, kernels.schedule);
  kernels.operands = getOperands(*op);
  if (op->getFull())
    kernels.workspace = getFactor(*op);
  else if (op->getDecay() || op->getSlope())
    kernels.workspace = getDecays(*op, kernels.getChunk());
  buildProgram(builder, kernels, name);
  return buildKernels(builder, kernels, name);
}
