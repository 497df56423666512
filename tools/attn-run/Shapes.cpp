//===- Shapes.cpp - Sizes of the arguments --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShapeResolver.h"

#include "Arguments.h"

#include "attn/Support/Format.h"

using namespace mlir;
using namespace attn;
using namespace attn::run;

void ShapeResolver::createVariables() {
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    variableOf.emplace_back();
    auto tensor = dyn_cast<RankedTensorType>(type);
    for (int64_t d = 0; tensor && d < tensor.getRank(); ++d) {
      variableOf.back().push_back(variables.size());
      variables.push_back(
          {"arg" + std::to_string(i) + "[" + std::to_string(d) + "]",
           std::nullopt, ""});
    }
  }
}

/// The number of offsets from that of batches, where that is given alone, and
/// the other way round.
void ShapeResolver::countOffsets() {
  for (const auto &[name, variable] : byName) {
    if (StringRef(name).substr(0, 7) != "offsets")
      continue;
    auto batches = byName.find("B" + name.substr(7));
    if (batches == byName.end())
      continue;
    Variable &offsets = variables[variable],
             &batch = variables[batches->second];
    if (batch.size && !offsets.size) {
      offsets.size = *batch.size + 1;
      offsets.source = batch.source;
    } else if (offsets.size && !batch.size) {
      batch.size = *offsets.size - 1;
      batch.source = offsets.source;
    }
  }
}

bool ShapeResolver::assign(size_t variable, int64_t size,
                           const std::string &source) {
  Variable &target = variables[variable];
  if (target.size && *target.size != size)
    return reportError("expected " + target.name + " = " +
                       std::to_string(*target.size) + " as given by " +
                       target.source + ", got " + std::to_string(size) +
                       " from " + source);
  if (!target.size) {
    target.size = size;
    target.source = source;
  }
  return true;
}

bool ShapeResolver::assignShape(size_t argument, ArrayRef<int64_t> shape,
                                const std::string &source) {
  ArrayRef<size_t> dims = variableOf[argument];
  if (shape.size() != dims.size())
    return reportError(source + ": expected rank " +
                       std::to_string(dims.size()) + " for " +
                       describeArgument(function, argument) + ", got " +
                       std::to_string(shape.size()));
  for (auto [variable, size] : llvm::zip_equal(dims, shape))
    if (!assign(variable, size, source))
      return false;
  return true;
}

bool ShapeResolver::assignTypes() {
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    for (int64_t d = 0; tensor && d < tensor.getRank(); ++d)
      if (!tensor.isDynamicDim(d) &&
          !assign(variableOf[i][d], tensor.getDimSize(d),
                  "the type of " + describeArgument(function, i)))
        return false;
  }
  return true;
}

void ShapeResolver::assignSuggestions() {
  for (const auto &[variable, name] : suggestions) {
    auto entry = byName.find(name);
    if (entry == byName.end() || variables[variable].size)
      continue;
    variables[variable].size = variables[entry->second].size;
    variables[variable].source = name;
  }
}

/// "M=100"
bool ShapeResolver::assignName(const std::string &item) {
  size_t equals = item.find('=');
  int64_t size;
  if (equals == std::string::npos ||
      !parseInteger(item.substr(equals + 1), size))
    return reportError("--shape: expected NAME=SIZE or argN=AxBxC, got '" +
                       item + "'");
  if (size < 0)
    return reportError("--shape: expected a size of at least 0, got '" + item +
                       "'");
  std::string name(trim(item.substr(0, equals)));
  auto entry = byName.find(name);
  if (entry != byName.end())
    return assign(entry->second, size, "--shape " + item);
  std::string known;
  for (const auto &[candidate, variable] : byName)
    known += (known.empty() ? "" : ", ") + candidate;
  return reportError("--shape: no dimension of an argument of @" +
                     function.getName().str() + " is named '" + name +
                     "': expected " +
                     (known.empty() ? "argN=AxBxC, since no attention reads "
                                      "an argument"
                                    : known + " or argN=AxBxC"));
}

bool ShapeResolver::assignOption(const std::string &text) {
  for (const std::string &item : split(text, ',')) {
    std::optional<ArgumentOption> option =
        parseArgumentOption(std::string(trim(item)));
    if (!option) {
      if (!assignName(std::string(trim(item))))
        return false;
      continue;
    }
    if (option->argument >= function.getNumArguments())
      return reportError("--shape " + item + ": @" + function.getName().str() +
                         " has " + std::to_string(function.getNumArguments()) +
                         " arguments");
    std::vector<int64_t> shape;
    for (const std::string &size : split(option->value, 'x')) {
      shape.emplace_back();
      if (!parseInteger(size, shape.back()) || shape.back() < 0)
        return reportError("--shape " + item +
                           ": expected sizes like "
                           "2x100x256, got '" +
                           option->value + "'");
    }
    if (!assignShape(option->argument, shape, "--shape " + item))
      return false;
  }
  return true;
}

bool ShapeResolver::checkComplete() {
  std::string missing;
  std::optional<size_t> example;
  std::vector<size_t> seen;
  for (auto [argument, dims] : llvm::enumerate(variableOf))
    for (size_t variable : dims) {
      if (variables[variable].size || llvm::is_contained(seen, variable))
        continue;
      seen.push_back(variable);
      missing += (missing.empty() ? "" : ", ") + variables[variable].name;
      if (!example)
        example = argument;
    }
  if (missing.empty())
    return true;
  bool isNamed = byName.count(variables[seen.front()].name) != 0;
  std::string hint = isNamed ? variables[seen.front()].name + "=SIZE"
                             : "arg" + std::to_string(*example) + "=AxBxC";
  return reportError("no size for the dynamic dimensions " + missing + ": " +
                     describeArgument(function, *example) + " needs --shape " +
                     hint + " or an --input file");
}

static bool checkHeads(const std::string &queryName, int64_t queryHeads,
                       const std::string &keyName, int64_t keyHeads) {
  if (keyHeads != 0 && queryHeads % keyHeads == 0)
    return true;
  return reportError("expected " + queryName + " to be a multiple of " +
                     keyName + ", got " + queryName + " = " +
                     std::to_string(queryHeads) + " and " + keyName + " = " +
                     std::to_string(keyHeads));
}

/// attention_c4 for sizes that are known only now.
bool ShapeResolver::checkHeads() {
  for (const auto &[queryName, keyName] : headPairs) {
    auto query = byName.find(queryName), key = byName.find(keyName);
    if (query == byName.end() || key == byName.end())
      continue;
    if (!::checkHeads(queryName, *variables[query->second].size, keyName,
                      *variables[key->second].size))
      return false;
  }
  return true;
}

/// select_heads_c2 for sizes that are known only now.
bool ShapeResolver::checkMaps() {
  for (const auto &[queryName, keyName] : mappedHeads) {
    auto query = byName.find(queryName), key = byName.find(keyName);
    if (query == byName.end() || key == byName.end() ||
        *variables[query->second].size == 0 ||
        *variables[key->second].size != 0)
      continue;
    return reportError("expected at least one head, of which a map selects, "
                       "got " +
                       keyName + " = 0");
  }
  return true;
}

/// attention_c14 for sizes that are known only now.
bool ShapeResolver::checkReads() {
  for (const auto &[variable, name] : suggestions) {
    auto coordinate = byName.find(name);
    if (coordinate == byName.end())
      continue;
    std::optional<int64_t> size = variables[variable].size,
                           range = variables[coordinate->second].size;
    if (size && range && *size < *range)
      return reportError("expected " + variables[variable].name +
                         ", which is read at each position, to be at least " +
                         name + " = " + std::to_string(*range) + ", got " +
                         std::to_string(*size));
  }
  return true;
}

std::optional<Shapes> ShapeResolver::run(
    const Options &options,
    const std::vector<std::optional<std::vector<int64_t>>> &given) {
  createVariables();
  nameDimensions();
  if (!assignTypes())
    return std::nullopt;
  for (auto [i, input] : llvm::enumerate(given))
    if (input &&
        !assignShape(i, *input, "--input of argument " + std::to_string(i)))
      return std::nullopt;
  for (const std::string &shape : options.set.shapes)
    if (!assignOption(shape))
      return std::nullopt;
  countOffsets();
  assignSuggestions();
  if (!checkComplete() || !checkHeads() || !checkMaps() || !checkReads())
    return std::nullopt;
  Shapes shapes;
  for (const std::vector<size_t> &dims : variableOf) {
    shapes.emplace_back();
    for (size_t variable : dims)
      shapes.back().push_back(*variables[variable].size);
  }
  return shapes;
}

std::optional<Shapes> attn::run::resolveShapes(
    func::FuncOp function, const Options &options,
    const std::vector<std::optional<std::vector<int64_t>>> &given) {
  return ShapeResolver(function).run(options, given);
}
