//===- KernelManifest.cpp - The manifest of an attention kernel -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelOperands.h"
#include "Prologue.h"
#include "attn/Dialect/Attn/IR/ScheduleConversion.h"
#include "attn/Support/Format.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace attn;

namespace {

/// The name of a dtype in the manifest.
std::string dtypeName(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

/// The symbols of an operand's dimensions. Those of attention have the names
/// of the dialect's documentation; a capture's are its own.
SmallVector<std::string> dimNames(const KernelOperand &operand) {
  // A gradient has the dimensions of what it belongs to.
  StringRef name = operand.name;
  name.consume_front("d_");
  if (name == "query")
    return {"B", "Hq", "M", "D"};
  if (name == "key")
    return {"B", "Hkv", "N", "D"};
  if (name == "value")
    return {"B", "Hkv", "N", "Dv"};
  if (name == "bias")
    return {"B", "Hq", "M", "N"};
  if (name == "output")
    return {"B", "Hq", "M", "Dv"};
  if (name == "sink")
    return {"Hq"};
  if (name == "lse")
    return {"B", "Hq", "M"};
  SmallVector<std::string> names;
  for (int64_t i = 0; i < operand.type.getRank(); ++i)
    names.push_back(name.str() + "_dim" + std::to_string(i));
  return names;
}

class ManifestBuilder {
public:
  ManifestBuilder(TiledAttention &attention, const LaunchPlan &plan)
      : attention(attention), plan(plan),
        builder(attention.forall.getContext()) {}

  DictionaryAttr build() {
    auto function = attention.forall->getParentOfType<FunctionOpInterface>();
    SmallVector<NamedAttribute> fields = {
        field("name", text(function.getName())),
        field("operands", operands()),
        field("constraints", constraints()),
        field("kernels", kernels()),
        field("schedule", schedule()),
        field("semantics", semantics()),
    };
    if (!plan.workspaces.empty())
      fields.push_back(field("workspaces", workspaces()));
    if (!plan.repeat.empty())
      fields.push_back(field("repeat", text(plan.repeat)));
    return builder.getDictionaryAttr(fields);
  }

private:
  NamedAttribute field(StringRef key, Attribute value) {
    return builder.getNamedAttr(key, value);
  }
  Attribute text(const Twine &value) { return builder.getStringAttr(value); }
  Attribute number(int64_t value) { return builder.getI64IntegerAttr(value); }

  Attribute operands() {
    SmallVector<Attribute> list;
    for (const KernelOperand &operand : attention.operands)
      list.push_back(describe(operand));
    return builder.getArrayAttr(list);
  }

  Attribute describe(const KernelOperand &operand) {
    SmallVector<Attribute> shape;
    SmallVector<std::string> names = dimNames(operand);
    for (auto [size, symbol] : llvm::zip_equal(operand.type.getShape(), names))
      shape.push_back(ShapedType::isDynamic(size) ? text(symbol)
                                                  : number(size));
    int64_t bits = operand.type.getElementType().getIntOrFloatBitWidth();
    int64_t bytes = std::max<int64_t>(1, bits / 8) * operand.vectorElements;
    SmallVector<NamedAttribute> strides;
    if (operand.type.getRank() > 0)
      strides.push_back(
          field("contiguous_dims",
                builder.getArrayAttr({number(operand.type.getRank() - 1)})));
    strides.push_back(field("multiple_of", number(operand.vectorElements)));
    return builder.getDictionaryAttr({
        field("name", text(operand.name)),
        field("role", text(operand.isOutput ? "output" : "input")),
        field("dtype", text(dtypeName(operand.type.getElementType()))),
        field("shape", builder.getArrayAttr(shape)),
        field("stride_constraints", builder.getDictionaryAttr(strides)),
        field("alignment_bytes", number(bytes)),
    });
  }

  /// attention_c4, where the verifier could not check it. A key that is the
  /// query itself is no operand of its own.
  Attribute constraints() {
    bool hasKey = llvm::any_of(attention.operands, [](auto &operand) {
      return operand.name == "key";
    });
    SmallVector<LaunchPlan::Constraint> all(plan.constraints);
    if (hasKey)
      all.insert(all.begin(),
                 {"mod(dim(query, 1), dim(key, 1))",
                  "expected the number of query heads to be a multiple of the "
                  "number of key heads"});
    return builder.getArrayAttr(llvm::map_to_vector(
        all, [&](const LaunchPlan::Constraint &one) -> Attribute {
          return builder.getDictionaryAttr(
              {field("expr", text(one.expr)), field("equals", number(0)),
               field("message", text(one.message))});
        }));
  }

  Attribute workspaces() {
    SmallVector<Attribute> list;
    for (const WorkspaceView &workspace : plan.workspaces)
      list.push_back(
          builder.getDictionaryAttr({field("name", text(workspace.name)),
                                     field("bytes", text(workspace.bytes))}));
    return builder.getArrayAttr(list);
  }

  Attribute kernels() {
    Attribute one = number(1);
    SmallVector<Attribute> list;
    for (const LaunchPlan::Kernel &kernel : plan.kernels) {
      SmallVector<Attribute> grid;
      for (const std::string &size : kernel.grid)
        grid.push_back(text(size));
      int64_t warps =
          kernel.warps ? kernel.warps : attention.schedule.getWarps();
      list.push_back(builder.getDictionaryAttr({
          field("entry", text(kernel.entry)),
          field("grid", builder.getArrayAttr(grid)),
          field("block", builder.getArrayAttr({number(warps * 32), one, one})),
          field("cluster",
                builder.getArrayAttr({number(kernel.clusterCtas), one, one})),
          field("parameters", parameters(kernel)),
      }));
    }
    return builder.getArrayAttr(list);
  }

  Attribute scalar(StringRef kind, const Twine &value) {
    return builder.getDictionaryAttr(
        {field("kind", text(kind)), field("value", text(value))});
  }

  /// The workspaces of the prologue come first.
  ArrayRef<WorkspaceView> workspacesOf(const LaunchPlan::Kernel &kernel) {
    if (!kernel.isPrologue)
      return plan.workspaces;
    size_t count = 0;
    for (const PrologueOp &prologue : attention.prologue)
      count += prologue.views.size();
    return ArrayRef(plan.workspaces).take_front(count);
  }

  /// Views as TileTypeConverter takes them: pointer, sizes, strides.
  Attribute parameters(const LaunchPlan::Kernel &kernel) {
    SmallVector<Attribute> list;
    for (const KernelOperand &operand : attention.operands) {
      int64_t rank = operand.type.getRank();
      list.push_back(
          builder.getDictionaryAttr({field("kind", text("pointer")),
                                     field("operand", text(operand.name))}));
      for (int64_t i = 0; i < rank; ++i)
        if (operand.type.isDynamicDim(i))
          list.push_back(
              scalar("i32", "dim(" + operand.name + ", " + Twine(i) + ")"));
      for (int64_t i = 0; i + 1 < rank; ++i)
        list.push_back(
            scalar("i64", "stride(" + operand.name + ", " + Twine(i) + ")"));
    }
    for (const WorkspaceView &workspace : workspacesOf(kernel)) {
      list.push_back(builder.getDictionaryAttr(
          {field("kind", text("pointer")),
           field("workspace", text(workspace.name)),
           field("byte_offset", text(workspace.byteOffset))}));
      for (const std::string &size : workspace.sizes)
        list.push_back(scalar("i32", size));
      for (const std::string &stride : workspace.strides)
        list.push_back(scalar("i64", stride));
    }
    if (!plan.roundParameter.empty() && !kernel.isPrologue)
      list.push_back(scalar("i32", plan.roundParameter));
    return builder.getArrayAttr(list);
  }

  Attribute schedule() {
    SmallVector<NamedAttribute> fields;
    Schedule schedule = getSchedule(attention.schedule);
    for (const ScheduleField &known : getScheduleFields()) {
      std::string value = getScheduleField(schedule, known.name);
      int64_t integer = 0;
      bool isInteger = parseInteger(value, integer);
      fields.push_back(
          field(known.name, isInteger ? number(integer) : text(value)));
    }
    return builder.getDictionaryAttr(fields);
  }

  Attribute semantics() {
    return builder.getDictionaryAttr({
        field("op", text(attention.semantics)),
        field("scale", builder.getF64FloatAttr(attention.scale)),
        field("lse_base", text("e")),
        field("deterministic", builder.getBoolAttr(attention.deterministic)),
        field("arguments", arguments()),
        field("results", results()),
    });
  }

  /// The function's argument that each input is, where it is one.
  Attribute arguments() {
    NamedAttrList numbers;
    for (const KernelOperand &operand : attention.operands) {
      auto argument = dyn_cast<BlockArgument>(operand.tensor);
      if (!operand.isOutput && argument &&
          isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
        numbers.set(operand.name, number(argument.getArgNumber()));
    }
    return numbers.getDictionary(builder.getContext());
  }

  /// The function's result that each output is, where it is one.
  Attribute results() {
    NamedAttrList numbers;
    for (const KernelOperand &operand : attention.operands) {
      if (!operand.isOutput)
        continue;
      auto result = dyn_cast<OpResult>(operand.tensor);
      if (auto argument = dyn_cast<BlockArgument>(operand.tensor)) {
        auto forall = cast<scf::ForallOp>(argument.getOwner()->getParentOp());
        result = forall.getTiedOpResult(forall.getTiedOpOperand(argument));
      }
      for (OpOperand &use : result.getUses())
        if (use.getOwner()->hasTrait<OpTrait::ReturnLike>())
          numbers.set(operand.name, number(use.getOperandNumber()));
    }
    return numbers.getDictionary(builder.getContext());
  }

  TiledAttention &attention;
  const LaunchPlan &plan;
  Builder builder;
};

} // namespace

DictionaryAttr attn::buildManifest(TiledAttention &attention,
                                   const LaunchPlan &plan) {
  return ManifestBuilder(attention, plan).build();
}

DictionaryAttr attn::buildManifest(TiledAttention &attention,
                                   StringRef kernelName) {
  int64_t ctas = attention.getClusterCtas();
  std::string rowTiles = "ceildiv(dim(query, 2), " +
                         std::to_string(ctas * attention.getTilePositions()) +
                         ")";
  // Whole clusters: the last CTAs may have no rows.
  if (ctas > 1)
    rowTiles += " * " + std::to_string(ctas);
  std::string heads = "dim(query, 1)";
  if (int64_t packed = attention.getTileHeads(); packed > 1)
    heads = "ceildiv(dim(query, 1), " + std::to_string(packed) + ")";
  if (int64_t slices = attention.getDvSlices(); slices > 1)
    rowTiles += " * " + std::to_string(slices);
  LaunchPlan plan;
  addPrologue(plan, attention, kernelName);
  std::array<std::string, 3> grid = {rowTiles, heads, "dim(query, 0)"};
  std::optional<TileOrder> order = getTileOrder(attention);
  if (order && order->isOfBatches)
    grid = {rowTiles + " * dim(query, 0)", heads, "1"};
  if (int64_t most = getSchedule(attention.schedule).persistentCtas)
    grid = {"min(" + std::to_string(most) + ", " + rowTiles + " * " + heads +
                " * dim(query, 0))",
            "1", "1"};
  plan.kernels.push_back({kernelName.str(), grid});
  plan.kernels.back().clusterCtas = ctas;
  return buildManifest(attention, plan);
}
