//===- AttentionPrograms.cpp - The attentions of a module -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionPrograms.h"

#include "attn/Dialect/Attn/IR/HeadOps.h"
#include "attn/Dialect/Attn/IR/OutputOps.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace attn;
using runtime::CallInput;
using runtime::ProgramCall;

std::string attn::getProgramName(Operation *op) {
  auto parent = op->getParentOfType<SymbolOpInterface>();
  StringRef kind = isAttention(op) ? "attention" : "append";
  // The module itself may have a name, which says less than none.
  bool isNamed = parent && !isa<ModuleOp>(parent) && parent.getNameAttr();
  return isNamed ? (parent.getName() + "_" + kind).str() : kind.str();
}

std::string attn::getProgramKey(ExtractedAttention &extracted) {
  StringAttr name = extracted.function.getSymNameAttr();
  extracted.function.setName("f");
  std::string key;
  llvm::raw_string_ostream(key) << *extracted.module;
  extracted.function.setName(name);
  return key;
}

bool attn::needsPrograms(ModuleOp module) {
  SmallVector<Operation *> attentions = findAttentions(module);
  if (attentions.size() != 1)
    return !attentions.empty();
  auto function = attentions.front()->getParentOfType<func::FuncOp>();
  return function && (attentions.front()->getParentOp() != function ||
                      function->getParentOp() != module ||
                      !function.getBody().hasOneBlock());
}

void attn::dropOtherFunctions(ModuleOp module) {
  SmallVector<Operation *> programs = findPrograms(module);
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (isa<func::FuncOp, ModuleOp>(op) &&
        llvm::none_of(programs, [&](Operation *program) {
          return op.isAncestor(program);
        }))
      op.erase();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The ops around an attention, from the outside in. Branches of a function's
/// body are ops, too.
static std::vector<std::string> getOpsAround(Operation *attention) {
  std::vector<std::string> around;
  Operation *op = attention->getParentOp();
  for (; op && !isa<func::FuncOp>(op); op = op->getParentOp())
    around.insert(around.begin(), op->getName().getStringRef().str());
  if (auto function = dyn_cast_or_null<func::FuncOp>(op))
    if (!function.getBody().hasOneBlock())
      around.insert(around.begin(), "cf.br");
  return around;
}

/// The results of calls that attentions have become, as inputs of others.
using CallResults = DenseMap<Value, CallInput>;

/// Where `value` comes from; neither argument nor call if code of the host
/// computes it.
static CallInput getSource(Value value, const CallResults &calls) {
  CallInput input;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    if (function && argument.getOwner()->isEntryBlock())
      input.argument = argument.getArgNumber();
    return input;
  }
  return calls.lookup(value);
}

/// Adds those of call `number`; pools to which it appends are its arguments.
static void addResults(const ExtractedAttention &extracted, int64_t number,
                       CallResults &calls) {
  for (auto [i, result] : llvm::enumerate(extracted.results))
    if (!result.getDefiningOp<AppendOp>()) {
      CallInput input;
      input.call = number;
      input.operand = std::to_string(i);
      calls.try_emplace(result, input);
    }
}

static ProgramCall describeCall(Operation *attention, StringRef program,
                                const ExtractedAttention &extracted,
                                const CallResults &calls) {
  ProgramCall call;
  if (auto function = attention->getParentOfType<func::FuncOp>())
    call.function = function.getName().str();
  call.program = program.str();
  call.within = getOpsAround(attention);
  for (auto [i, argument] : llvm::enumerate(extracted.arguments)) {
    CallInput input = getSource(argument, calls);
    if (input.argument || input.call)
      call.inputs[std::to_string(i)] = input;
  }
  for (auto [number, result] : llvm::enumerate(extracted.results))
    for (OpOperand &use : result.getUses())
      if (isa<func::ReturnOp>(use.getOwner()))
        call.results[std::to_string(number)] = use.getOperandNumber();
  return call;
}

/// `name`, or with a number behind it one that no program has.
static std::string getUniqueName(StringRef name,
                                 ArrayRef<func::FuncOp> programs) {
  auto isTaken = [&](StringRef candidate) {
    return llvm::any_of(programs, [&](func::FuncOp known) {
      return known.getName() == candidate;
    });
  };
  if (!isTaken(name))
    return name.str();
  unsigned count = 0;
  return std::string(SymbolTable::generateSymbolName<64>(name, isTaken, count));
}

std::vector<ProgramCall> attn::convertToPrograms(ModuleOp module) {
  std::vector<ProgramCall> calls;
  llvm::StringMap<std::string> names;
  CallResults results;
  SmallVector<OwningOpRef<ModuleOp>> owners;
  SmallVector<func::FuncOp> programs;
  for (Operation *attention : findAttentions(module)) {
    ExtractedAttention extracted =
        extractAttention(attention, getProgramName(attention),
                         /*appends=*/true);
    std::string &name = names[getProgramKey(extracted)];
    if (name.empty()) {
      name = getUniqueName(extracted.function.getName(), programs);
      extracted.function.setName(name);
      programs.push_back(extracted.function);
      owners.push_back(std::move(extracted.module));
    }
    calls.push_back(describeCall(attention, name, extracted, results));
    addResults(extracted, static_cast<int64_t>(calls.size()) - 1, results);
  }
  module.getBody()->getOperations().clear();
  for (func::FuncOp program : programs) {
    program->remove();
    module.push_back(program);
  }
  return calls;
}

/// The names of the operands by the numbers that `semantics` has for them under
/// `key`: "arguments" or "results".
static std::map<std::string, std::string>
getNames(const runtime::Manifest &program, StringRef key) {
  std::map<std::string, std::string> names;
  llvm::Expected<llvm::json::Value> semantics =
      llvm::json::parse(program.semantics);
  if (!semantics) {
    llvm::consumeError(semantics.takeError());
    return names;
  }
  const llvm::json::Object *object = semantics->getAsObject();
  const llvm::json::Object *numbers = object ? object->getObject(key) : nullptr;
  if (numbers)
    for (const auto &[name, number] : *numbers)
      names[std::to_string(number.getAsInteger().value_or(-1))] = name.str();
  return names;
}

void attn::nameOperands(std::vector<ProgramCall> &calls,
                        ArrayRef<runtime::Manifest> programs) {
  std::map<std::string, std::map<std::string, std::string>> inputs, results;
  for (const runtime::Manifest &program : programs) {
    inputs[program.name] = getNames(program, "arguments");
    results[program.name] = getNames(program, "results");
  }
  // An argument that the kernels do not read has no name.
  auto rename = [](auto &fields, std::map<std::string, std::string> &names) {
    std::remove_reference_t<decltype(fields)> named;
    for (auto &[number, field] : fields)
      if (auto found = names.find(number); found != names.end())
        named.emplace(found->second, std::move(field));
    fields = std::move(named);
  };
  std::vector<std::string> producers;
  for (ProgramCall &call : calls) {
    producers.push_back(call.program);
    rename(call.inputs, inputs[call.program]);
    rename(call.results, results[call.program]);
    for (auto &[name, input] : call.inputs)
      if (input.call)
        input.operand = results[producers[*input.call]][input.operand];
  }
}
