//===- LinearReport.cpp - A linear attention as text ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/LinearReport.h"

#include "ProblemFields.h"

#include "attn/Schedule/ScheduleSelector.h"
#include "attn/Support/Format.h"
#include "attn/Support/KeyValue.h"

#include <nlohmann/json.hpp>

namespace attn {

using Json = nlohmann::ordered_json;

//===----------------------------------------------------------------------===//
// The problem as text
//===----------------------------------------------------------------------===//

static const std::pair<const char *, LinearProblem::Decay> kDecays[] = {
    {"none", LinearProblem::Decay::None},
    {"position", LinearProblem::Decay::Position},
    {"head", LinearProblem::Decay::Head}};

std::string LinearProblem::print() const {
  std::string text =
      "B=" + std::to_string(batch) + " Hq=" + std::to_string(queryHeads) +
      " Hkv=" + std::to_string(kvHeads) + " N=" + std::to_string(keyLength) +
      " D=" + std::to_string(headDim) + " Dv=" + std::to_string(valueDim) +
      " dtype=" + std::string(getName(elementType));
  for (const auto &[name, value] : kDecays)
    if (decay == value)
      text += std::string(" decay=") + name;
  if (outputType != elementType)
    text += " out=" + std::string(getName(outputType));
  if (hasState)
    text += " state=1";
  if (hasFinalState)
    text += " final_state=1";
  if (hasStates)
    text += " states=1";
  if (full)
    text += " M=" + std::to_string(length) + " full=1";
  if (pass == AttentionPass::Backward)
    text += " pass=backward";
  return text;
}

AttentionProblem LinearProblem::getSoftmax() const {
  AttentionProblem problem;
  problem.batch = batch;
  problem.queryHeads = queryHeads;
  problem.kvHeads = kvHeads;
  problem.queryLength = length;
  problem.kvLength = keyLength;
  problem.headDim = headDim;
  problem.valueDim = valueDim;
  problem.elementType = elementType;
  problem.outputType = outputType;
  if (!full)
    problem.mask = MaskPattern::causal();
  return problem;
}

std::array<LinearProblem, 3> LinearProblem::getGradients() const {
  LinearProblem dQuery = *this;
  dQuery.pass = AttentionPass::Forward;
  dQuery.hasFinalState = false;
  // Of the other way: rows are keys, each of a query head, and the state comes
  // from the last position.
  LinearProblem dValue = dQuery;
  dValue.kvHeads = queryHeads;
  std::swap(dValue.length, dValue.keyLength);
  dValue.hasState = hasFinalState;
  dValue.hasFinalState = hasState;
  LinearProblem dKey = dValue;
  dKey.hasFinalState = false;
  for (LinearProblem *problem : {&dQuery, &dKey})
    std::swap(problem->headDim, problem->valueDim);
  if (kvHeads != queryHeads)
    dKey.outputType = dValue.outputType = ElementType::F32;
  if (decay == Decay::Position) {
    dQuery.outputType = dKey.outputType = ElementType::F32;
    dQuery.hasFinalState = hasFinalState;
    dQuery.hasStates = dKey.hasStates = length > kStateStride / 2;
  }
  return {dQuery, dKey, dValue};
}

static Status setDecay(LinearProblem::Decay &decay, const KeyValue &field) {
  for (const auto &[name, value] : kDecays)
    if (field.value == name) {
      decay = value;
      return {};
    }
  return Error{"expected decay=none, position or head, got '" + field.value +
               "'"};
}

static Status setType(std::optional<ElementType> &type, const KeyValue &field) {
  type = parseElementType(field.value);
  if (type)
    return {};
  return Error{"expected " + field.key + " one of " +
               join(getElementTypeNames(), ", ") + ", got '" + field.value +
               "'"};
}

Result<LinearProblem> LinearProblem::parse(std::string_view text) {
  Result<std::vector<KeyValue>> fields = parseKeyValues(text);
  if (!fields)
    return Error{fields.error()};
  LinearProblem problem;
  std::optional<int64_t> heads, kvHeads, valueDim, rows;
  std::optional<ElementType> type, outputType;
  auto set = [](auto setter, auto &target) {
    return [setter, &target](const KeyValue &field) {
      return setter(target, field);
    };
  };
  auto setSize = [](auto &size, const KeyValue &field) {
    return setInteger(size, field);
  };
  const std::map<std::string, std::function<Status(const KeyValue &)>> setters =
      {{"algorithm", [](const KeyValue &) { return Status(); }},
       {"B", set(setSize, problem.batch)},
       {"H", set(setSize, heads)},
       {"Hq", set(setSize, heads)},
       {"Hkv", set(setSize, kvHeads)},
       {"N", set(setSize, problem.keyLength)},
       {"M", set(setSize, rows)},
       {"D", set(setSize, problem.headDim)},
       {"Dv", set(setSize, valueDim)},
       {"dtype", set(setType, type)},
       {"out", set(setType, outputType)},
       {"decay", set(setDecay, problem.decay)},
       {"state", set(setBool, problem.hasState)},
       {"final_state", set(setBool, problem.hasFinalState)},
       {"states", set(setBool, problem.hasStates)},
       {"full", set(setBool, problem.full)},
       {"pass", set(detail::setPass, problem.pass)}};
  if (Status status = applyKeyValues(*fields, setters, "problem"); !status)
    return Error{status.error()};
  for (const char *name : {"N", "D"})
    if (!hasKey(*fields, name))
      return Error{std::string("expected problem field ") + name +
                   " (N and D have no default)"};
  problem.length = rows.value_or(problem.keyLength);
  if (!problem.full && problem.length != problem.keyLength)
    return Error{"expected M = N = " + std::to_string(problem.keyLength) +
                 " without full=1, got " + std::to_string(problem.length)};
  if (problem.full && problem.decay != LinearProblem::Decay::None)
    return Error{"expected decay=none with full=1"};
  if (problem.full && problem.hasStates)
    return Error{"expected no states with full=1, which has one state"};
  problem.queryHeads = heads.value_or(1);
  problem.kvHeads = kvHeads.value_or(problem.queryHeads);
  problem.valueDim = valueDim.value_or(problem.headDim);
  problem.elementType = type.value_or(ElementType::BF16);
  problem.outputType = outputType.value_or(problem.elementType);
  if (Status status = problem.getSoftmax().verify(); !status)
    return Error{status.error()};
  return problem;
}

//===----------------------------------------------------------------------===//
// The crossover
//===----------------------------------------------------------------------===//

/// Whether linear attention is the faster one at this length.
static Result<bool> isFaster(LinearProblem problem, int64_t length,
                             const TargetInfo &target,
                             const ScheduleOverrides &given) {
  problem.length = problem.keyLength = length;
  Result<LinearSelection> linear = selectLinearSchedule(problem, target, given);
  if (!linear)
    return Error{linear.error()};
  AttentionProblem softmax = problem.getSoftmax();
  SelectorOptions options;
  options.features = getGeneratorFeatures(softmax, target);
  Result<Selection> selection = selectSchedule(softmax, target, {}, options);
  if (!selection)
    return Error{selection.error()};
  return linear->cost.seconds < selection->chosen().cost.seconds;
}

Result<std::optional<int64_t>> findCrossover(const LinearProblem &problem,
                                             const TargetInfo &target,
                                             const ScheduleOverrides &given) {
  constexpr int64_t kStep = 64, kMost = int64_t(1) << 20;
  int64_t slower = 0, faster = 0;
  for (int64_t length = kStep; length <= kMost; length *= 2) {
    Result<bool> isThere = isFaster(problem, length, target, given);
    if (!isThere)
      return Error{isThere.error()};
    if (!*isThere) {
      slower = length;
      faster = 0;
    } else if (faster == 0) {
      faster = length;
    }
  }
  if (faster == 0)
    return std::optional<int64_t>();
  while (faster - slower > kStep) {
    int64_t middle = (slower + faster) / 2 / kStep * kStep;
    Result<bool> isThere = isFaster(problem, middle, target, given);
    if (!isThere)
      return Error{isThere.error()};
    (*isThere ? faster : slower) = middle;
  }
  return std::optional<int64_t>(faster);
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

namespace {
struct NamedBytes {
  const char *name;
  int64_t read, written;
};
} // namespace

static std::vector<NamedBytes> getNamedBytes(const LinearBytes &bytes) {
  return {{"query", bytes.query, 0},
          {"key", bytes.key, 0},
          {"value", bytes.value, 0},
          {"output", 0, bytes.output},
          {"state", bytes.state, 0},
          {"final_state", 0, bytes.finalState},
          {"states", 0, bytes.states},
          {"decay", bytes.decayRead, bytes.decayWritten},
          {"factor", bytes.factor, bytes.factor}};
}

static std::string printSelection(const LinearProblem &problem,
                                  const TargetInfo &target,
                                  const LinearSelection &selection) {
  const LinearCost &cost = selection.cost;
  std::string text =
      "problem  " + problem.print() + "\ntarget   " + target.name + " (" +
      target.product + ")\nschedule " + selection.schedule.print() +
      "\npredicted " + formatSeconds(cost.seconds) + ", " +
      std::to_string(cost.ctas) + " CTAs, " + std::to_string(cost.ctasPerSm) +
      " on an SM, " + std::to_string(cost.sharedMemoryBytes) +
      " bytes of shared memory, " + std::to_string(cost.registersPerThread) +
      " registers\n\n";
  Table table({"operand", "read", "written"},
              {Table::Left, Table::Right, Table::Right});
  for (const NamedBytes &bytes : getNamedBytes(cost.bytes))
    if (bytes.read || bytes.written)
      table.addRow({bytes.name, std::to_string(bytes.read),
                    std::to_string(bytes.written)});
  return text + table.print() + "\n";
}

std::string printLinearReport(const LinearProblem &problem,
                              const TargetInfo &target,
                              const LinearSelection &selection,
                              std::optional<int64_t> crossover) {
  std::string text = printSelection(problem, target, selection);
  std::string softmax =
      problem.full ? "softmax attention" : "causal softmax attention";
  if (!crossover)
    return text + softmax + " is faster up to N = 2^20\n";
  return text + "faster than " + softmax +
         " from N = " + std::to_string(*crossover) + " on\n";
}

static Json getSelectionJson(const LinearProblem &problem,
                             const TargetInfo &target,
                             const LinearSelection &selection) {
  const LinearCost &cost = selection.cost;
  Json operands = Json::object();
  for (const NamedBytes &bytes : getNamedBytes(cost.bytes))
    if (bytes.read || bytes.written)
      operands[bytes.name] = {{"read_bytes", bytes.read},
                              {"written_bytes", bytes.written}};
  return {{"schema_version", 1},
          {"algorithm", "linear"},
          {"problem", problem.print()},
          {"target", target.name},
          {"text", selection.schedule.print()},
          {"seconds", cost.seconds},
          {"flops", cost.flops},
          {"ctas", cost.ctas},
          {"shared_memory_bytes", cost.sharedMemoryBytes},
          {"registers_per_thread", cost.registersPerThread},
          {"operands", operands}};
}

Json getLinearReportJson(const LinearProblem &problem, const TargetInfo &target,
                         const LinearSelection &selection,
                         std::optional<int64_t> crossover) {
  Json report = getSelectionJson(problem, target, selection);
  report["crossover"] = crossover ? Json(*crossover) : Json();
  return report;
}

//===----------------------------------------------------------------------===//
// The backward
//===----------------------------------------------------------------------===//

static constexpr const char *kGradients[] = {"query", "key", "value"};

Result<LinearBackward> selectLinearBackward(const LinearProblem &problem,
                                            const TargetInfo &target,
                                            const ScheduleOverrides &given) {
  LinearBackward selections;
  std::array<LinearProblem, 3> gradients = problem.getGradients();
  for (size_t i = 0; i < gradients.size(); ++i) {
    Result<LinearSelection> selection =
        selectLinearSchedule(gradients[i], target, given);
    if (!selection)
      return Error{selection.error()};
    selections[i] = *selection;
  }
  return selections;
}

static double addSeconds(const LinearBackward &selections) {
  double seconds = 0;
  for (const LinearSelection &selection : selections)
    seconds += selection.cost.seconds;
  return seconds;
}

std::string printLinearBackward(const LinearProblem &problem,
                                const TargetInfo &target,
                                const LinearBackward &selections) {
  std::string text;
  std::array<LinearProblem, 3> gradients = problem.getGradients();
  for (size_t i = 0; i < gradients.size(); ++i)
    text += std::string("gradient ") + kGradients[i] + "\n" +
            printSelection(gradients[i], target, selections[i]) + "\n";
  return text + "predicted " + formatSeconds(addSeconds(selections)) +
         ", without the sums over groups of heads and decays\n";
}

Json getLinearBackwardJson(const LinearProblem &problem,
                           const TargetInfo &target,
                           const LinearBackward &selections) {
  Json parts = Json::object();
  std::array<LinearProblem, 3> gradients = problem.getGradients();
  for (size_t i = 0; i < gradients.size(); ++i)
    parts[kGradients[i]] =
        getSelectionJson(gradients[i], target, selections[i]);
  return {{"schema_version", 1},
          {"algorithm", "linear"},
          {"problem", problem.print()},
          {"target", target.name},
          {"seconds", addSeconds(selections)},
          {"gradients", parts}};
}

} // namespace attn
