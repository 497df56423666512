//===- LaunchProgram.cpp - How an attention is launched ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launch/LaunchProgram.h"

#include "Kernel/Prologue.h"
#include "Launch/LaunchOperands.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Size
//===----------------------------------------------------------------------===//

/// What all rounds share is computed before them: sets the builder there if
/// none of `operands` is of a round.
static void leaveRounds(OpBuilder &builder, ValueRange operands) {
  auto repeat = dyn_cast<launch::RepeatOp>(builder.getBlock()->getParentOp());
  if (repeat && llvm::none_of(operands, [&](Value operand) {
        return operand.getParentBlock() == builder.getBlock();
      }))
    builder.setInsertionPoint(repeat);
}

std::optional<int64_t> Size::getConstant() const {
  return getConstantIntValue(value);
}

Size Size::constant(int64_t number) const {
  OpBuilder::InsertionGuard guard(*builder);
  leaveRounds(*builder, {});
  return {*builder, arith::ConstantIndexOp::create(*builder, number)};
}

template <typename OpTy>
Size Size::compute(Size other) const {
  OpBuilder::InsertionGuard guard(*builder);
  leaveRounds(*builder, {value, other.value});
  return {*builder, builder->createOrFold<OpTy>(value, other.value)};
}

Size Size::operator+(Size other) const { return compute<arith::AddIOp>(other); }
Size Size::operator-(Size other) const { return compute<arith::SubIOp>(other); }
Size Size::operator*(Size other) const { return compute<arith::MulIOp>(other); }
Size Size::ceilDiv(Size other) const {
  return compute<arith::CeilDivSIOp>(other);
}
Size Size::floorDiv(Size other) const {
  return compute<arith::FloorDivSIOp>(other);
}
Size Size::mod(Size other) const { return compute<arith::RemUIOp>(other); }
Size Size::min(Size other) const { return compute<arith::MinSIOp>(other); }
Size Size::max(Size other) const { return compute<arith::MaxSIOp>(other); }

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

LaunchProgram::LaunchProgram(OpBuilder &outside,
                             const TiledAttention &attention)
    : LaunchProgram(outside, ProgramHeader{attention.forall, attention.operands,
                                           attention.semantics, attention.scale,
                                           attention.deterministic,
                                           attention.schedule}) {}

LaunchProgram::LaunchProgram(OpBuilder &outside, const ProgramHeader &header)
    : known(header.operands) {
  Location loc = header.op->getLoc();
  auto function = header.op->getParentOfType<FunctionOpInterface>();
  program = launch::ProgramOp::create(outside, loc, function.getName(),
                                      header.semantics, APFloat(header.scale),
                                      header.deterministic, header.schedule);
  builder = std::make_unique<ImplicitLocOpBuilder>(loc, outside.getContext());
  builder->createBlock(&program.getBody());
  for (const KernelOperand &operand : known)
    operands.push_back(createOperand(*builder, operand));
  // attention_c4, where the verifier could not check it. A key that is the
  // query itself is no operand of its own.
  if (hasOperand("key") && !isMapped("key"))
    addConstraint(dim("query", 1).mod(dim("key", 1)),
                  "expected the number of query heads to be a multiple of the "
                  "number of key heads");
  for (const KernelOperand &operand : known)
    if (operand.isMapped && !operand.isOutput) {
      Size needed = dim("query", kHead).min(1);
      addConstraint((needed - dim(operand.name, kHead)).max(constant(0)),
                    "expected at least one head of " + operand.name +
                        ", of which a map selects");
    }
  for (auto [name, other] :
       {std::pair("key", "value"), std::pair("value", "key")})
    if (hasOperand(name) && isMapped(other) && !isMapped(name)) {
      Size heads = dim("query", kHead);
      addConstraint(heads - dim(name, kHead),
                    ("expected a head of " + Twine(name) +
                     " for each query head, as a map selects them of " + other)
                        .str());
    }
  addOffsetConstraints();
  addReadConstraints(function);
}

namespace {
/// What a coordinate counts.
struct Coordinate {
  StringRef operand; ///< whose dimension `dim` it is
  unsigned dim;
  StringRef size; ///< its name
};
} // namespace

/// The operand whose elements an output_mod changes.
static StringRef getChanged(OutputModOp mod, ArrayRef<KernelOperand> known) {
  for (Operation *user : mod.getResult().getUsers()) {
    if (auto next = dyn_cast<OutputModOp>(user))
      return getChanged(next, known);
    if (auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(user))
      for (const KernelOperand &operand : known)
        if (operand.tensor == insert.getDest())
          return operand.name;
  }
  return "output";
}

/// The coordinate b, h, i, c that `number` is in an output_mod.
static Coordinate getCoordinate(OutputModOp mod, unsigned number,
                                ArrayRef<KernelOperand> known) {
  StringRef changed = getChanged(mod, known);
  bool isOfKeys = changed == "d_key" || changed == "d_value";
  if (number == kHeadDim && changed == "output")
    return {"output", kHeadDim, "Dv"};
  if (number == kHeadDim)
    return {changed, kHeadDim, changed == "d_value" ? "Dv" : "D"};
  StringRef rows[] = {"B", "Hq", "M"}, keys[] = {"B", "Hkv", "N"};
  return {isOfKeys ? changed : "query", number,
          (isOfKeys ? keys : rows)[number]};
}

/// The coordinate b, h, i, j that `index` is in a step's mask_mod, score_mod or
/// what is derived of them, where it is one, or b, h, i, c in an output_mod.
/// Regions of other ops have other coordinates: those of tables, or keys for
/// rows.
static std::optional<Coordinate> getCoordinate(Value index,
                                               ArrayRef<KernelOperand> known) {
  auto argument = dyn_cast<BlockArgument>(index);
  Operation *parent = argument ? argument.getOwner()->getParentOp() : nullptr;
  if (!isa_and_nonnull<OnlineAttentionOp, BackwardStepOp, OutputModOp>(parent))
    return std::nullopt;
  SmallVector<Type> types(argument.getOwner()->getArgumentTypes());
  constexpr unsigned kCoordinates = 4;
  if (types.size() < kCoordinates ||
      !llvm::all_of(ArrayRef(types).take_back(kCoordinates),
                    llvm::IsaPred<IndexType>) ||
      argument.getArgNumber() + kCoordinates < types.size())
    return std::nullopt;
  unsigned coordinate = argument.getArgNumber() + kCoordinates - types.size();
  if (auto mod = dyn_cast<OutputModOp>(parent))
    return getCoordinate(mod, coordinate, known);
  constexpr Coordinate kScores[] = {{"query", kBatch, "B"},
                                    {"query", kHead, "Hq"},
                                    {"query", kSequence, "M"},
                                    {"key", kSequence, "N"}};
  return kScores[coordinate];
}

/// `index` before the clamp to the last row or key, which padded tiles have.
Value LaunchProgram::skipClamp(Value index) const {
  auto clamp = index.getDefiningOp<arith::MinSIOp>();
  auto last = clamp ? clamp.getRhs().getDefiningOp<arith::SubIOp>() : nullptr;
  auto size = last ? last.getLhs().getDefiningOp<tensor::DimOp>() : nullptr;
  bool isPadding =
      size && matchPattern(last.getRhs(), m_One()) &&
      llvm::any_of(known, [&](const KernelOperand &operand) {
        return (operand.name == "query" || operand.name == "key") &&
               operand.tensor == size.getSource();
      });
  return isPadding ? clamp.getLhs() : index;
}

/// attention_c14, where the verifier could not check it: a tensor that is read
/// at a coordinate has an element for each of its values.
void LaunchProgram::addReadConstraints(Operation *function) {
  llvm::SetVector<
      std::tuple<StringRef, unsigned, StringRef, unsigned, StringRef>>
      reads;
  function->walk([&](tensor::ExtractOp extract) {
    for (const KernelOperand &operand : known)
      if (operand.tensor == extract.getTensor())
        for (auto [dim, index] : llvm::enumerate(extract.getIndices()))
          if (std::optional<Coordinate> at =
                  getCoordinate(skipClamp(index), known))
            reads.insert({operand.name, dim, at->operand, at->dim, at->size});
  });
  for (auto [name, position, sized, sizedDim, size] : reads) {
    Size range = dim(sized, sizedDim);
    Size missing = range - dim(name, position);
    addConstraint(missing.max(constant(0)),
                  ("expected dimension " + Twine(position) + " of " + name +
                   ", which is read at each position, to be at least " + size)
                      .str());
  }
}

Value LaunchProgram::getOperand(StringRef name) const {
  for (auto [operand, value] : llvm::zip_equal(known, operands))
    if (operand.name == name)
      return value;
  return Value();
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

Size LaunchProgram::constant(int64_t number) {
  OpBuilder::InsertionGuard guard(*builder);
  leaveRounds(*builder, {});
  return {*builder, arith::ConstantIndexOp::create(*builder, number)};
}

StringRef LaunchProgram::getName(Value tensor) const {
  for (const KernelOperand &operand : known)
    if (operand.tensor == tensor)
      return operand.name;
  return "";
}

const KernelOperand *LaunchProgram::getRagged(StringRef name) const {
  for (const KernelOperand &operand : known)
    if (operand.name == name && operand.offsets)
      return &operand;
  return nullptr;
}

/// Of several operands that have a dimension of batches only some may be
/// sequences behind each other.
void LaunchProgram::addOffsetConstraints() {
  for (StringRef name : {"key_table_offsets", "value_table_offsets"})
    if (hasOperand(name)) {
      Size batches = dim("query", kBatch);
      Size offsets = batches + constant(1);
      addConstraint(offsets - dim(name, 0),
                    ("expected " + name +
                     " to have an offset for each batch, and the end of the "
                     "last")
                        .str());
    }
  if (!getRagged("query"))
    return;
  for (StringRef name : {"key_lengths", "key_table", "value_table"})
    if (hasOperand(name) && !hasOperand((name + "_offsets").str())) {
      Size batches = dim("query", kBatch);
      addConstraint(batches - dim(name, 0),
                    ("expected query_offsets to have an offset for each batch "
                     "of " +
                     name + ", and the end of the last")
                        .str());
    }
}

bool LaunchProgram::isMapped(StringRef name) const {
  return llvm::any_of(known, [&](const KernelOperand &operand) {
    return operand.name == name && operand.isMapped;
  });
}

Size LaunchProgram::getKeyHeads() {
  return dim(isMapped("key") ? "query" : "key", kHead);
}

Size LaunchProgram::dim(StringRef operand, int64_t dim) {
  Value tensor = getOperand(operand);
  if (!tensor && operand == "key")
    tensor = getOperand("query"); // A key that is the query itself.
  // The keys of a batch are those of all its pages.
  bool isPaged = llvm::any_of(known, [&](const KernelOperand &other) {
    return other.name == operand && other.isPaged;
  });
  if (isPaged && operand == "key" && dim == kSequence) {
    int64_t page = cast<tile::GlobalType>(tensor.getType()).getShape()[dim];
    return this->dim("key_table", hasOperand("key_table_offsets") ? 0 : 1) *
           page;
  }
  if (const KernelOperand *ragged = getRagged(operand)) {
    if (dim == kBatch) {
      Size offsets = this->dim(getName(ragged->offsets), 0);
      return offsets - constant(1);
    }
    int64_t size = cast<ShapedType>(ragged->batches.getType()).getDimSize(dim);
    if (!ShapedType::isDynamic(size))
      return constant(size);
    dim = dim == kSequence ? 0 : dim == kHead ? 1 : 2;
  }
  return getSizeOf(tensor, dim);
}

Size LaunchProgram::getSizeOf(Value tensor, int64_t dim) {
  auto type = cast<tile::GlobalType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return constant(type.getShape()[dim]);
  OpBuilder::InsertionGuard guard(*builder);
  leaveRounds(*builder, {});
  return {*builder, tile::DimOp::create(*builder, builder->getIndexType(),
                                        tensor, uint64_t(dim))};
}

std::optional<Size> LaunchProgram::getSize(AffineExpr expr, Value operand,
                                           std::optional<Size> otherwise) {
  if (isa<AffineDimExpr, AffineSymbolExpr>(expr))
    return getSize(operand, otherwise);
  auto pair = dyn_cast<AffineBinaryOpExpr>(expr);
  auto number =
      dyn_cast_or_null<AffineConstantExpr>(pair ? pair.getRHS() : AffineExpr());
  std::optional<Size> left =
      number ? getSize(pair.getLHS(), operand, otherwise) : std::nullopt;
  if (!left)
    return std::nullopt;
  if (pair.getKind() == AffineExprKind::CeilDiv)
    return left->ceilDiv(number.getValue());
  if (pair.getKind() == AffineExprKind::Mul)
    return *left * number.getValue();
  if (pair.getKind() == AffineExprKind::Add)
    return *left + constant(number.getValue());
  return std::nullopt;
}

Size LaunchProgram::getSize(Value value, std::optional<Size> otherwise) {
  if (std::optional<int64_t> number = getConstantIntValue(value))
    return constant(*number);
  Operation *op = value.getDefiningOp();
  if (auto dimOp = dyn_cast_or_null<tensor::DimOp>(op))
    for (const KernelOperand &operand : known)
      if (operand.tensor == dimOp.getSource() && dimOp.getConstantIndex()) {
        int64_t index = *dimOp.getConstantIndex();
        // `dim` is that of batches, where sequences are behind each other.
        return operand.offsets ? getSizeOf(getOperand(operand.name), index)
                               : dim(operand.name, index);
      }
  // A number of tiles, or of rows of pages.
  if (auto apply = dyn_cast_or_null<affine::AffineApplyOp>(op))
    if (std::optional<Size> size = getSize(apply.getAffineMap().getResult(0),
                                           apply.getOperand(0), otherwise))
      return *size;
  if (auto min = dyn_cast_or_null<arith::MinSIOp>(op))
    return getSize(min.getLhs(), otherwise)
        .min(getSize(min.getRhs(), otherwise));
  if (auto max = dyn_cast_or_null<arith::MaxSIOp>(op))
    return getSize(max.getLhs(), otherwise)
        .max(getSize(max.getRhs(), otherwise));
  if (otherwise)
    return *otherwise;
  Size a = getSize(op->getOperand(0)), b = getSize(op->getOperand(1));
  if (isa<arith::CeilDivUIOp>(op))
    return a.ceilDiv(b);
  assert((isa<arith::MulIOp, arith::AddIOp>(op)) && "as the tiler counts CTAs");
  return isa<arith::MulIOp>(op) ? a * b : a + b;
}

Size LaunchProgram::getSplits(const TiledAttention &attention) {
  if (!attention.combine)
    return constant(1);
  OpFoldResult splits = attention.getSplits();
  if (std::optional<int64_t> number = getConstantIntValue(splits))
    return constant(*number);
  return getSize(cast<Value>(splits), dim("key", kSequence));
}

Size LaunchProgram::getPlannedTiles(const TiledAttention &attention) {
  Size tiles = dim("query", kHead).floorDiv(attention.getTileHeads());
  if (!plansRowTiles(attention))
    tiles = tiles *
            dim("query", kSequence).ceilDiv(attention.getTilePositions()) *
            attention.getDvSlices();
  return constant(attention.schedule.getValues().persistentCtas)
      .floorDiv(tiles.max(1));
}

Size LaunchProgram::getProduct(StringRef operand, int64_t rank) {
  Size product = constant(1);
  for (int64_t i = 0; i < rank; ++i)
    product = product * dim(operand, i);
  return product;
}

void LaunchProgram::addConstraint(Size value, StringRef message) {
  if (value.getConstant() != 0)
    launch::ConstraintOp::create(*builder, value.getValue(), /*equals=*/0,
                                 message);
}

//===----------------------------------------------------------------------===//
// Workspaces
//===----------------------------------------------------------------------===//

void LaunchProgram::addWorkspace(WorkspaceView view, ArrayRef<Size> sizes) {
  Size elements = constant(1);
  SmallVector<Size> strides;
  for (Size size : llvm::reverse(sizes)) {
    strides.insert(strides.begin(), elements);
    elements = elements * size;
  }
  int64_t bytes = view.type.getElementType().getIntOrFloatBitWidth() / 8;
  Size total = elements * bytes;
  addWorkspace(view, total, constant(0), sizes, ArrayRef(strides).drop_back());
}

void LaunchProgram::addWorkspace(WorkspaceView view, Size bytes, Size offset,
                                 ArrayRef<Size> sizes, ArrayRef<Size> strides) {
  Value memory;
  {
    OpBuilder::InsertionGuard guard(*builder);
    leaveRounds(*builder, bytes.getValue());
    memory = launch::WorkspaceOp::create(*builder, view.name, bytes.getValue());
  }
  SmallVector<Value> dynamic, steps;
  for (auto [i, size] : llvm::enumerate(sizes))
    if (view.type.isDynamicDim(i))
      dynamic.push_back(size.getValue());
  for (Size stride : strides)
    steps.push_back(stride.getValue());
  views.push_back(launch::ViewOp::create(*builder, view.type, memory,
                                         offset.getValue(), dynamic, steps));
  viewTypes.push_back(view.type);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

Size LaunchProgram::beginRounds(Size count) {
  auto repeat = launch::RepeatOp::create(*builder, count.getValue());
  Block *body = builder->createBlock(
      &repeat.getBody(), {}, builder->getIndexType(), builder->getLoc());
  return {*builder, body->getArgument(0)};
}

void LaunchProgram::addKernel(const Twine &entry, Size x, Size y, Size z) {
  kernels.push_back({entry.str(), {x, y, z}});
}

void LaunchProgram::addKernel(const Twine &entry, Size x) {
  Size one = constant(1);
  addKernel(entry, x, one, constant(1));
}

void LaunchProgram::endPrologue() {
  numPrologueViews = views.size();
  for (Kernel &kernel : kernels)
    kernel.isPrologue = true;
}

void LaunchProgram::addLaunch(const Kernel &kernel) {
  SmallVector<Value> args(operands);
  llvm::append_range(args, kernel.isPrologue
                               ? ArrayRef(views).take_front(numPrologueViews)
                               : ArrayRef(views));
  if (roundParameter && !kernel.isPrologue)
    args.push_back(arith::IndexCastOp::create(*builder, builder->getI32Type(),
                                              roundParameter->getValue()));
  launch::LaunchOp::create(*builder, kernel.entry, /*programmatic=*/false,
                           kernel.grid[0].getValue(), kernel.grid[1].getValue(),
                           kernel.grid[2].getValue(), args,
                           /*threads=*/IntegerAttr(),
                           /*cluster_ctas=*/IntegerAttr(),
                           /*shared_bytes=*/IntegerAttr());
}

void LaunchProgram::finish() {
  for (const Kernel &kernel : kernels)
    addLaunch(kernel);
}
