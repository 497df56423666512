//===- TranslateToManifest.cpp - From programs to manifests -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/Manifest/TranslateToManifest.h"

#include "SizePrinter.h"
#include "attn/Dialect/Launch/IR/Launch.h"
#include "attn/Support/Format.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace attn;
using namespace attn::launch;
namespace json = llvm::json;

/// The unit of addresses and strides of a tensor map.
static constexpr int64_t kChunkBytes = 16;

static int64_t getBytes(Type element) {
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The name of an operand's dimension.
static std::string getDimName(OperandOp operand, int64_t dim) {
  if (std::optional<ArrayAttr> names = operand.getDims())
    return cast<StringAttr>((*names)[dim]).str();
  return llvm::formatv("{0}_dim{1}", operand.getName(), dim);
}

static FailureOr<runtime::DType> getDType(Operation *op, Type element) {
  std::string name;
  llvm::raw_string_ostream(name) << element;
  if (std::optional<runtime::DType> dtype = runtime::parseDType(name))
    return *dtype;
  return op->emitOpError()
         << "expected an element type that a manifest has a name for, got "
         << element;
}

/// TMA asks for whole chunks of 16 bytes.
static bool isMapped(OperandOp operand) {
  return llvm::any_of(operand->getUsers(), llvm::IsaPred<TensorMapOp>);
}

static runtime::OperandRole getRole(OperandRole role) {
  switch (role) {
  case OperandRole::Input:
    return runtime::OperandRole::Input;
  case OperandRole::Output:
    return runtime::OperandRole::Output;
  case OperandRole::InOut:
    return runtime::OperandRole::InOut;
  }
  llvm_unreachable("unknown role");
}

static FailureOr<runtime::Operand> getOperand(OperandOp op) {
  tile::GlobalType type = op.getTensor().getType();
  FailureOr<runtime::DType> dtype = getDType(op, type.getElementType());
  if (failed(dtype))
    return failure();
  runtime::Operand operand;
  operand.name = op.getName().str();
  operand.role = getRole(op.getRole());
  operand.dtype = *dtype;
  for (auto [i, size] : llvm::enumerate(type.getShape()))
    operand.shape.push_back(type.isDynamicDim(i)
                                ? runtime::Extent{0, getDimName(op, i)}
                                : runtime::Extent{size, ""});
  if (type.getRank() > 0)
    operand.strides.contiguousDims = {type.getRank() - 1};
  int64_t bytes = getBytes(type.getElementType());
  int64_t chunk = isMapped(op) ? kChunkBytes / bytes : 1;
  int64_t vector = std::max<int64_t>(op.getVector(), chunk);
  operand.strides.multipleOf = vector;
  operand.alignmentBytes = vector * bytes;
  return operand;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

namespace {
/// Builds the manifest of one program. What is wrong is emitted where it is
/// found, and leaves `isValid` false.
class ManifestBuilder {
public:
  explicit ManifestBuilder(ProgramOp program) : program(program) {}

  FailureOr<runtime::Manifest> build(const ManifestIdentity &identity);

private:
  std::string size(Value value);
  std::string getSchedule();
  std::string getSemantics();
  void add(Operation &op);
  void addAll(Block &block);
  void addLaunch(LaunchOp launch);
  void addParameters(Value arg, std::vector<runtime::Parameter> &parameters);
  void addSizes(TypedValue<tile::GlobalType> tensor,
                std::vector<runtime::Parameter> &parameters);
  runtime::Parameter getPointer(Value tensor);
  runtime::Parameter getScalar(Type type, std::string value);
  runtime::Parameter getTensorMap(TensorMapOp map);
  std::string getSize(TypedValue<tile::GlobalType> tensor, int64_t dim);
  std::string getStride(TypedValue<tile::GlobalType> tensor, int64_t dim);

  ProgramOp program;
  runtime::Manifest manifest;
  bool isValid = true;
};
} // namespace

std::string ManifestBuilder::size(Value value) {
  FailureOr<std::string> text = printSize(value);
  isValid &= succeeded(text);
  return succeeded(text) ? *text : "";
}

/// The size of a dimension of an operand, or of a view.
std::string ManifestBuilder::getSize(TypedValue<tile::GlobalType> tensor,
                                     int64_t dim) {
  tile::GlobalType type = tensor.getType();
  if (!type.isDynamicDim(dim))
    return std::to_string(type.getShape()[dim]);
  if (auto view = tensor.getDefiningOp<ViewOp>())
    return size(view.getSizes()[llvm::count_if(type.getShape().take_front(dim),
                                               ShapedType::isDynamic)]);
  auto operand = tensor.getDefiningOp<OperandOp>();
  return llvm::formatv("dim({0}, {1})", operand.getName(), dim);
}

std::string ManifestBuilder::getStride(TypedValue<tile::GlobalType> tensor,
                                       int64_t dim) {
  if (auto view = tensor.getDefiningOp<ViewOp>())
    return size(view.getStrides()[dim]);
  auto operand = tensor.getDefiningOp<OperandOp>();
  return llvm::formatv("stride({0}, {1})", operand.getName(), dim);
}

runtime::Parameter ManifestBuilder::getPointer(Value tensor) {
  runtime::Parameter parameter;
  Value memory = tensor;
  if (auto view = tensor.getDefiningOp<ViewOp>()) {
    parameter.byteOffset = size(view.getByteOffset());
    memory = view.getSource();
  }
  if (auto workspace = memory.getDefiningOp<WorkspaceOp>())
    parameter.workspace = workspace.getName().str();
  else if (auto operand = memory.getDefiningOp<OperandOp>())
    parameter.operand = operand.getName().str();
  return parameter;
}

runtime::Parameter ManifestBuilder::getScalar(Type type, std::string value) {
  runtime::Parameter parameter;
  parameter.kind = type.isInteger(32)   ? runtime::ParameterKind::I32
                   : type.isInteger(64) ? runtime::ParameterKind::I64
                   : type.isF32()       ? runtime::ParameterKind::F32
                                        : runtime::ParameterKind::F64;
  parameter.value = std::move(value);
  return parameter;
}

/// Dimensions from the innermost out, columns, rows, heads and batches, and a
/// box of one panel.
runtime::Parameter ManifestBuilder::getTensorMap(TensorMapOp map) {
  runtime::Parameter parameter = getPointer(map.getTensor());
  parameter.kind = runtime::ParameterKind::TensorMap;
  tile::GlobalType tensor = map.getTensor().getType();
  tile::TensorMapType type = map.getMap().getType();
  FailureOr<runtime::DType> dtype = getDType(map, tensor.getElementType());
  isValid &= succeeded(dtype);
  runtime::TensorMap &described = parameter.tensorMap;
  described.dtype = dtype.value_or(runtime::DType::F16);
  described.swizzleBytes = type.getSwizzle();
  int64_t heads = map.getHeads();
  int64_t bytes = getBytes(tensor.getElementType());
  auto dims = llvm::to_vector(llvm::reverse(llvm::seq(tensor.getRank())));
  if (map.getPacked())
    dims = {2, 0, 1};
  described.box = {type.getShape()[1], type.getRows() / heads};
  for (int64_t dim : dims) {
    // A map of nothing cannot be made; it is not read then.
    std::string extent = getSize(map.getTensor(), dim);
    described.dims.push_back(tensor.isDynamicDim(dim) ? "max(" + extent + ", 1)"
                             : extent == "0"          ? "1"
                                                      : extent);
    if (dim != dims.front())
      described.stridesBytes.push_back(
          llvm::formatv("{0} * {1}", getStride(map.getTensor(), dim), bytes));
  }
  if (map.getPacked()) {
    described.dims.push_back("1");
    described.stridesBytes.push_back(described.stridesBytes.front());
  }
  described.box.resize(described.dims.size(), 1);
  if (described.box.size() > 2)
    described.box[2] = heads;
  return parameter;
}

/// The dynamic sizes and the strides of a tensor.
void ManifestBuilder::addSizes(TypedValue<tile::GlobalType> tensor,
                               std::vector<runtime::Parameter> &parameters) {
  tile::GlobalType type = tensor.getType();
  MLIRContext *context = type.getContext();
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      parameters.push_back(
          getScalar(IntegerType::get(context, 32), getSize(tensor, dim)));
  for (int64_t dim = 0; dim + 1 < type.getRank(); ++dim)
    parameters.push_back(
        getScalar(IntegerType::get(context, 64), getStride(tensor, dim)));
}

/// As launch::getParameterTypes.
void ManifestBuilder::addParameters(
    Value arg, std::vector<runtime::Parameter> &parameters) {
  if (auto map = arg.getDefiningOp<TensorMapOp>()) {
    parameters.push_back(getTensorMap(map));
  } else if (auto tensor = dyn_cast<TypedValue<tile::GlobalType>>(arg)) {
    parameters.push_back(getPointer(tensor));
    addSizes(tensor, parameters);
  } else {
    parameters.push_back(getScalar(arg.getType(), size(arg)));
  }
}

void ManifestBuilder::addLaunch(LaunchOp launch) {
  runtime::Kernel kernel;
  kernel.entry = launch.getKernel().str();
  kernel.after = launch.getProgrammatic() ? runtime::LaunchOrder::Programmatic
                                          : runtime::LaunchOrder::Previous;
  kernel.grid = {size(launch.getGridX()), size(launch.getGridY()),
                 size(launch.getGridZ())};
  kernel.block[0] = launch.getThreads().value_or(1);
  kernel.cluster[0] = launch.getClusterCtas().value_or(1);
  kernel.sharedBytes = std::to_string(launch.getSharedBytes().value_or(0));
  for (Value arg : launch.getArgs())
    addParameters(arg, kernel.parameters);
  manifest.kernels.push_back(std::move(kernel));
}

void ManifestBuilder::add(Operation &op) {
  if (auto operand = dyn_cast<OperandOp>(op)) {
    FailureOr<runtime::Operand> described = getOperand(operand);
    isValid &= succeeded(described);
    if (succeeded(described))
      manifest.operands.push_back(std::move(*described));
  } else if (auto constraint = dyn_cast<ConstraintOp>(op)) {
    manifest.constraints.push_back(
        {size(constraint.getValue()),
         static_cast<int64_t>(constraint.getEquals()),
         constraint.getMessage().str()});
  } else if (auto workspace = dyn_cast<WorkspaceOp>(op)) {
    manifest.workspaces.push_back(
        {workspace.getName().str(), size(workspace.getBytes()),
         workspace.getZero() ? runtime::WorkspaceFill::Zero
                             : runtime::WorkspaceFill::None});
  } else if (auto repeat = dyn_cast<RepeatOp>(op)) {
    manifest.repeat = size(repeat.getCount());
    addAll(repeat.getBody().front());
  } else if (auto launch = dyn_cast<LaunchOp>(op)) {
    addLaunch(launch);
  }
}

void ManifestBuilder::addAll(Block &block) {
  for (Operation &op : block)
    add(op);
}

/// The schedule as an object.
std::string ManifestBuilder::getSchedule() {
  json::Object fields;
  if (std::optional<ScheduleAttr> attribute = program.getSchedule()) {
    Schedule schedule = attribute->getValues();
    for (const ScheduleField &known : getScheduleFields()) {
      std::string value = getScheduleField(schedule, known.name);
      int64_t integer = 0;
      fields[StringRef(known.name)] = parseInteger(value, integer)
                                          ? json::Value(integer)
                                          : json::Value(value);
    }
  }
  return llvm::formatv("{0}", json::Value(std::move(fields)));
}

/// What is computed, as an object.
std::string ManifestBuilder::getSemantics() {
  json::Object arguments, results;
  for (auto operand : program.getBody().getOps<OperandOp>()) {
    if (operand.getArgument())
      arguments[operand.getName()] = *operand.getArgument();
    if (operand.getResultNumber())
      results[operand.getName()] = *operand.getResultNumber();
  }
  json::Object fields{
      {"function", program.getName()},
      {"op", program.getSemantics()},
      {"scale", program.getScale().convertToDouble()},
      {"lse_base", "e"},
      {"deterministic", program.getDeterministic()},
      {"arguments", std::move(arguments)},
      {"results", std::move(results)},
  };
  std::optional<ScheduleAttr> schedule = program.getSchedule();
  if (schedule && schedule->getValues().invariance != Invariance::None)
    fields["invariance"] =
        std::string(getName(schedule->getValues().invariance));
  return llvm::formatv("{0}", json::Value(std::move(fields)));
}

FailureOr<runtime::Manifest>
ManifestBuilder::build(const ManifestIdentity &identity) {
  manifest.name = identity.name;
  manifest.target = identity.target;
  manifest.ptx = identity.name + ".ptx";
  manifest.schedule = getSchedule();
  manifest.semantics = getSemantics();
  addAll(program.getBody().front());
  if (!isValid)
    return failure();
  if (std::optional<Error> error = runtime::validate(manifest))
    return program.emitOpError()
           << "expected a valid manifest, got: " << error->message;
  return std::move(manifest);
}

FailureOr<std::vector<runtime::Manifest>>
attn::translateToManifests(ModuleOp module, const ManifestIdentity &identity) {
  SmallVector<ProgramOp> programs(module.getOps<ProgramOp>());
  if (programs.empty())
    return emitError(module.getLoc())
           << "expected a module with an attn_launch.program, got none";
  std::vector<runtime::Manifest> manifests;
  for (ProgramOp program : programs) {
    FailureOr<runtime::Manifest> manifest =
        ManifestBuilder(program).build(identity);
    if (failed(manifest))
      return failure();
    if (programs.size() > 1)
      manifest->name = program.getName().str();
    manifests.push_back(std::move(*manifest));
  }
  return manifests;
}
