//===- LaunchVerifiers.cpp - Verifiers of the attn_launch dialect ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Launch/IR/Launch.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace attn;
using namespace attn::launch;

/// Of pointers to global memory.
static constexpr unsigned kGlobalSpace = 1;

SmallVector<Type> launch::getParameterTypes(Type type) {
  MLIRContext *context = type.getContext();
  if (isa<tile::TensorMapType>(type))
    return {LLVM::LLVMPointerType::get(context)};
  auto tensor = dyn_cast<tile::GlobalType>(type);
  if (!tensor)
    return {type};
  SmallVector<Type> types = {LLVM::LLVMPointerType::get(context, kGlobalSpace)};
  types.append(llvm::count_if(tensor.getShape(), ShapedType::isDynamic),
               IntegerType::get(context, 32));
  types.append(std::max<int64_t>(tensor.getRank() - 1, 0),
               IntegerType::get(context, 64));
  return types;
}

//===----------------------------------------------------------------------===//
// ProgramOp and RepeatOp
//===----------------------------------------------------------------------===//

/// Fails where two operands or workspaces have one name.
static LogicalResult verifyNames(ProgramOp program) {
  llvm::StringSet<> names;
  for (Operation &op : program.getBody().front()) {
    auto name = op.getAttrOfType<StringAttr>("name");
    if (isa<OperandOp, WorkspaceOp>(op) &&
        !names.insert(name.getValue()).second)
      return op.emitOpError()
             << "expected a name that no operand or workspace has, got "
             << name;
  }
  return success();
}

/// What runs before the first launch belongs to somebody else.
static LogicalResult verifyFirstLaunch(ProgramOp program) {
  LaunchOp first;
  program.walk([&](LaunchOp launch) {
    first = launch;
    return WalkResult::interrupt();
  });
  if (first && first.getProgrammatic())
    return first.emitOpError() << "expected a launch behind another one of the "
                                  "program to be programmatic, got the first";
  return success();
}

LogicalResult ProgramOp::verifyRegions() {
  WalkResult walk = getBody().walk([&](Operation *op) {
    bool isSize =
        isa<arith::ArithDialect>(op->getDialect()) || isa<tile::DimOp>(op);
    if (isSize || isa<AttnLaunchDialect>(op->getDialect()))
      return WalkResult::advance();
    op->emitOpError() << "expected ops of attn_launch and sizes in a program";
    return WalkResult::interrupt();
  });
  if (walk.wasInterrupted())
    return failure();
  Block &body = getBody().front();
  size_t rounds = llvm::range_size(body.getOps<RepeatOp>());
  if (rounds > 1)
    return emitOpError() << "expected at most one attn_launch.repeat, got "
                         << rounds;
  if (rounds == 1 && !body.getOps<LaunchOp>().empty())
    return (*body.getOps<LaunchOp>().begin()).emitOpError()
           << "expected to be in the attn_launch.repeat of the program";
  return failed(verifyFirstLaunch(*this)) ? failure() : verifyNames(*this);
}

LogicalResult RepeatOp::verifyRegions() {
  Block &body = getBody().front();
  if (body.getNumArguments() == 1 && body.getArgument(0).getType().isIndex())
    return success();
  return emitOpError()
         << "expected the number of the round, an index, as the only argument";
}

//===----------------------------------------------------------------------===//
// Operands and memory
//===----------------------------------------------------------------------===//

LogicalResult OperandOp::verify() {
  size_t rank = getTensor().getType().getRank();
  if (getDims() && getDims()->size() != rank)
    return emitOpError() << "expected names of " << rank << " dimensions, got "
                         << getDims()->size();
  return success();
}

LogicalResult StrideOp::verify() {
  if (!getOperand().getDefiningOp<OperandOp>())
    return emitOpError() << "expected an attn_launch.operand";
  int64_t last = getOperand().getType().getRank() - 1;
  if (getDim() >= static_cast<uint64_t>(std::max<int64_t>(last, 0)))
    return emitOpError() << "expected a dimension before the last, " << last
                         << ", got " << getDim();
  return success();
}

LogicalResult ViewOp::verify() {
  tile::GlobalType type = getTensor().getType();
  size_t sizes = llvm::count_if(type.getShape(), ShapedType::isDynamic);
  size_t strides = std::max<int64_t>(type.getRank() - 1, 0);
  if (getSizes().size() != sizes)
    return emitOpError() << "expected " << sizes << " sizes of " << type
                         << ", got " << getSizes().size();
  if (getStrides().size() != strides)
    return emitOpError() << "expected " << strides << " strides of " << type
                         << ", got " << getStrides().size();
  return success();
}

//===----------------------------------------------------------------------===//
// LaunchOp
//===----------------------------------------------------------------------===//

/// The first of a kernel's parameters that the launch does not have.
static LogicalResult verifyTypes(LaunchOp launch, TypeRange wanted,
                                 TypeRange got) {
  if (wanted.size() != got.size())
    return launch.emitOpError()
           << "expected " << wanted.size() << " parameters of "
           << launch.getKernelAttr() << ", got " << got.size();
  for (auto [i, types] : llvm::enumerate(llvm::zip_equal(wanted, got)))
    if (std::get<0>(types) != std::get<1>(types))
      return launch.emitOpError()
             << "expected parameter " << i << " of " << launch.getKernelAttr()
             << " to be of type " << std::get<0>(types) << ", got "
             << std::get<1>(types);
  return success();
}

LogicalResult TensorMapOp::verify() {
  if (getPacked() && getTensor().getType().getRank() != 3)
    return emitOpError() << "expected packed sequences [rows, H, D], got "
                         << getTensor().getType();
  return success();
}

static LogicalResult verifyTileKernel(LaunchOp launch, tile::KernelOp kernel) {
  SmallVector<Type> wanted;
  for (Type type : kernel.getBody().getArgumentTypes())
    if (!isa<tile::TensorMapType>(type))
      wanted.push_back(type);
  return verifyTypes(launch, wanted, launch.getArgs().getTypes());
}

/// A kernel's function says itself how many threads a CTA has, and how many
/// CTAs a cluster.
static LogicalResult verifyShape(LaunchOp launch, LLVM::LLVMFuncOp function) {
  auto first = [&](StringRef name, std::optional<int64_t> fallback) {
    auto sizes = function->getAttrOfType<DenseI32ArrayAttr>(name);
    return sizes && !sizes.empty() ? std::optional<int64_t>(sizes[0])
                                   : fallback;
  };
  std::optional<int64_t> threads =
      first(NVVM::NVVMDialect::getReqntidAttrName(), launch.getThreads());
  if (!launch.getThreads() || threads != launch.getThreads())
    return launch.emitOpError()
           << "expected the threads of a CTA of " << launch.getKernelAttr()
           << ", got " << launch.getThreads().value_or(0);
  int64_t ctas = launch.getClusterCtas().value_or(1);
  if (first(NVVM::NVVMDialect::getClusterDimAttrName(), 1) != ctas)
    return launch.emitOpError() << "expected the CTAs of a cluster of "
                                << launch.getKernelAttr() << ", got " << ctas;
  return success();
}

static LogicalResult verifyFunction(LaunchOp launch,
                                    LLVM::LLVMFuncOp function) {
  SmallVector<Type> parameters;
  for (Type type : launch.getArgs().getTypes())
    llvm::append_range(parameters, getParameterTypes(type));
  if (failed(verifyTypes(launch, function.getArgumentTypes(), parameters)))
    return failure();
  return verifyShape(launch, function);
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *module = (*this)->getParentOfType<ModuleOp>();
  Operation *kernel = symbols.lookupSymbolIn(module, getKernelAttr());
  if (auto tileKernel = dyn_cast_or_null<tile::KernelOp>(kernel))
    return verifyTileKernel(*this, tileKernel);
  auto function = dyn_cast_or_null<LLVM::LLVMFuncOp>(kernel);
  if (function && function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
    return verifyFunction(*this, function);
  return emitOpError() << "expected a kernel called " << getKernelAttr()
                       << ", got none";
}
