//===- LaunchOperands.cpp - What a program's operands are called -*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launch/LaunchOperands.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/HeadOps.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace attn;

/// The function's argument that an input is, where it is one.
static std::optional<int64_t> getArgument(const KernelOperand &operand) {
  auto argument = dyn_cast<BlockArgument>(operand.tensor);
  if (operand.isOutput || !argument ||
      !isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
    return std::nullopt;
  return argument.getArgNumber();
}

/// The function's result that an output is, where it is one.
static std::optional<int64_t> getResult(const KernelOperand &operand) {
  Value written = operand.isOutput ? operand.tensor : operand.appended;
  if (!written)
    return std::nullopt;
  auto result = dyn_cast<OpResult>(written);
  if (auto argument = dyn_cast<BlockArgument>(written)) {
    auto forall = cast<scf::ForallOp>(argument.getOwner()->getParentOp());
    result = forall.getTiedOpResult(forall.getTiedOpOperand(argument));
  }
  // A repaired attention has the results of what repairs it.
  for (OpOperand &use : result.getUses())
    if (auto repair = dyn_cast<RepairOp>(use.getOwner()))
      result = repair->getResult(use.getOperandNumber());
  for (OpOperand &use : result.getUses())
    if (auto pack = dyn_cast<PackOp>(use.getOwner()))
      result = cast<OpResult>(pack.getResult());
  for (OpOperand &use : result.getUses())
    if (use.getOwner()->hasTrait<OpTrait::ReturnLike>())
      return use.getOperandNumber();
  return std::nullopt;
}

/// Those of what attn.append takes: rows [tokens, Hkv, D] with slots [tokens],
/// or [Bnew, Hkv, Mnew, D] with [Bnew, Mnew]; pools that no attention reads;
/// nothing for other operands.
static std::optional<SmallVector<std::string>>
getAppendDims(const KernelOperand &operand) {
  for (OpOperand &use : operand.tensor.getUses()) {
    auto append = dyn_cast<AppendOp>(use.getOwner());
    if (!append)
      continue;
    int64_t tokens = cast<ShapedType>(append.getSlots().getType()).getRank();
    SmallVector<std::string> names =
        tokens == 1 ? SmallVector<std::string>{"tokens"}
                    : SmallVector<std::string>{"Bnew", "Mnew"};
    // Of several appends each has its own.
    auto function = append->getParentOfType<FunctionOpInterface>();
    unsigned number = 0;
    function->walk(
        [&](AppendOp other) { number += other->isBeforeInBlock(append); });
    for (std::string &name : names)
      name += number ? std::to_string(number) : "";
    if (use.get() == append.getSlots())
      return names;
    StringRef pool = operand.name;
    bool isDescale = pool.consume_front("descale_");
    bool isScale = pool.consume_front("scale_");
    bool isPool = !pool.consume_front("new_") && !isDescale && !isScale;
    bool isOfAttention = pool == "key" || pool == "value";
    std::string heads = isOfAttention ? "Hkv" : (pool + "_heads").str();
    std::string columns = pool == "key"     ? "D"
                          : pool == "value" ? "Dv"
                                            : (pool + "_columns").str();
    SmallVector<std::string> ofPool = {(pool + "_pages").str(), heads,
                                       (pool + "_page").str()};
    if (isScale)
      return ofPool;
    if (isPool) {
      ofPool.push_back(columns);
      return ofPool;
    }
    if (isDescale)
      return operand.type.getRank() == 1
                 ? std::nullopt
                 : std::optional(SmallVector<std::string>{names[0], heads});
    names.insert(names.begin() + AppendOp::kRowHead, heads);
    names.push_back(columns);
    return names;
  }
  return std::nullopt;
}

/// Those of what attn.merge takes; nothing for other operands.
static std::optional<SmallVector<std::string>>
getMergeDims(const KernelOperand &operand) {
  auto merge = operand.tensor.use_empty()
                   ? MergeOp()
                   : dyn_cast<MergeOp>(*operand.tensor.user_begin());
  if (!merge)
    return std::nullopt;
  SmallVector<std::string> names = {"B", "Hq", "M"};
  if (llvm::is_contained(merge.getOutputs(), operand.tensor))
    names.push_back("Dv");
  if (merge.isStacked())
    names.insert(names.begin(), "parts");
  return names;
}

/// Those of sequences behind each other.
static SmallVector<std::string> getRaggedDims(StringRef name, StringRef heads) {
  if (name == "lse" || name.starts_with("amax"))
    return {"Hq", "query_rows"};
  bool isKey = name == "key" || name == "value";
  return {isKey ? "key_rows" : "query_rows", isKey ? heads.str() : "Hq",
          name == "value" || name == "output" ? "Dv" : "D"};
}

/// The heads of a key or value. By maps of their own they may have different
/// numbers of them.
static std::string getHeads(const KernelOperand &operand, StringRef name) {
  bool isSummed = operand.tensor.getDefiningOp<SumHeadsOp>() != nullptr;
  if (isSummed || (operand.isMapped && !operand.isOutput))
    return (name + "_heads").str();
  return operand.isMapped ? "Hq" : "Hkv";
}

/// The names of an operand's dimensions. Those of attention are of the
/// dialect's documentation; a capture's are its own.
static SmallVector<std::string> getDimNames(const KernelOperand &operand) {
  // A gradient has the dimensions of what it belongs to.
  StringRef name = operand.name;
  name.consume_front("d_");
  // So have its largest magnitudes, of which there may be several, but for its
  // columns.
  if (name.consume_front("amax_d_")) {
    KernelOperand gradient = operand;
    gradient.name = name.rtrim("0123456789");
    SmallVector<std::string> names = getDimNames(gradient);
    names.pop_back();
    return names;
  }
  std::string heads = getHeads(operand, name);
  // Those of K and V may be different, in number and in size.
  if (operand.isPaged)
    return {(name + "_pages").str(), heads, (name + "_page").str(),
            name == "key" ? "D" : "Dv"};
  if (operand.offsets)
    return getRaggedDims(name, heads);
  if (name.ends_with("_offsets"))
    return {"offsets"};
  if (name == "query")
    return {"B", "Hq", "M", "D"};
  if (name == "key")
    return {"B", heads, "N", "D"};
  if (name == "value")
    return {"B", heads, "N", "Dv"};
  if (name == "bias")
    return {"B", "Hq", "M", "N"};
  if (name == "output")
    return {"B", "Hq", "M", "Dv"};
  if (name == "sink")
    return {"Hq"};
  if (name == "key_lengths")
    return {"B"};
  if (name == "key_table" || name == "value_table")
    return operand.type.getRank() == 1
               ? SmallVector<std::string>{(name + "_entries").str()}
               : SmallVector<std::string>{"B", (name + "_columns").str()};
  if (name == "lse" || name == "decay" || name.starts_with("amax"))
    return {"B", "Hq", "M"};
  if (name == "slope")
    return {"Hq"};
  if (name == "state" || name == "final_state")
    return {"B", "Hq", "D", "Dv"};
  if (name == "states")
    return {"B", "Hq", "states", "D", "Dv"};
  if (std::optional<SmallVector<std::string>> names = getAppendDims(operand))
    return *names;
  if (std::optional<SmallVector<std::string>> names = getMergeDims(operand))
    return *names;
  // Of a dynamic number of heads: those of the keys.
  if (name.starts_with("descale_") && operand.type.getRank() == 2 &&
      operand.type.isDynamicDim(kHead))
    return {"B", "Hkv"};
  SmallVector<std::string> names;
  for (int64_t i = 0; i < operand.type.getRank(); ++i)
    names.push_back((name + "_dim" + Twine(i)).str());
  return names;
}

Value attn::createOperand(ImplicitLocOpBuilder &builder,
                          const KernelOperand &operand) {
  auto number = [&](std::optional<int64_t> value) {
    return value ? builder.getI64IntegerAttr(*value) : IntegerAttr();
  };
  SmallVector<std::string> dims = getDimNames(operand);
  return launch::OperandOp::create(
      builder, getGlobalType(operand),
      operand.isOutput   ? launch::OperandRole::Output
      : operand.appended ? launch::OperandRole::InOut
                         : launch::OperandRole::Input,
      operand.name, operand.vectorElements, number(getArgument(operand)),
      number(getResult(operand)),
      builder.getStrArrayAttr(
          SmallVector<StringRef>(dims.begin(), dims.end())));
}
