//===- Shapes.cpp - Sizes of the arguments --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dimension of an argument is a variable. Variables that an attention ties
// together are merged (union by name); then each gets its size from types,
// files and options, which must agree.
//
//===----------------------------------------------------------------------===//

#include "Shapes.h"

#include "Arguments.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/HeadOps.h"
#include "attn/Dialect/Attn/IR/LinearAttentionOps.h"
#include "attn/Dialect/Attn/IR/OutputOps.h"
#include "attn/Dialect/Attn/IR/RowOps.h"
#include "attn/Dialect/Attn/IR/Views.h"
#include "attn/Support/Format.h"

#include <map>

using namespace mlir;
using namespace attn;
using namespace attn::run;

namespace {
class ShapeResolver {
public:
  ShapeResolver(func::FuncOp function) : function(function) {}

  std::optional<Shapes>
  run(const Options &options,
      const std::vector<std::optional<std::vector<int64_t>>> &given);

private:
  /// A set of dimensions of one size.
  struct Variable {
    /// "M", or "arg0[2]" where no attention names it.
    std::string name;
    std::optional<int64_t> size;
    /// What gave the size.
    std::string source;
  };

  void createVariables();
  template <typename OpTy>
  void nameByAttention(OpTy attention, const std::string &suffix);
  void nameByLinear(LinearAttentionOp linear, const std::string &suffix);
  void nameByBackward(AttentionBackwardOp backward, const std::string &suffix);
  void nameByOutputMod(OutputModOp mod, const std::string &suffix);
  void nameByRagged(RaggedOp ragged, const std::string &name,
                    const std::string &heads, const std::string &suffix);
  void countOffsets();
  void nameByAppend(AppendOp append, const std::string &suffix);
  void nameByRotary(RotaryOp rotary);
  void tie(Value operand, unsigned dim, const std::string &name);
  void suggestByReads(Region &mod, const std::string &suffix);
  bool assign(size_t variable, int64_t size, const std::string &source);
  bool assignShape(size_t argument, ArrayRef<int64_t> shape,
                   const std::string &source);
  bool assignTypes();
  void assignSuggestions();
  bool assignOption(const std::string &text);
  bool assignName(const std::string &item);
  bool checkComplete();
  bool checkHeads();
  bool checkMaps();
  bool checkReads();

  func::FuncOp function;
  std::vector<Variable> variables;
  /// Number of the variable of each dimension of each argument.
  std::vector<std::vector<size_t>> variableOf;
  std::map<std::string, size_t> byName;
  /// A dimension that is read at a coordinate has that coordinate's range
  /// unless something else is asked for: (variable, name).
  std::vector<std::pair<size_t, std::string>> suggestions;
  /// Names of (Hq, Hkv) pairs.
  std::vector<std::pair<std::string, std::string>> headPairs;
  /// Names of (Hq, Hkv) where a map has an entry for each query head.
  std::vector<std::pair<std::string, std::string>> mappedHeads;
};
} // namespace

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

/// Merges the variable of a dimension with the one that has the name.
void ShapeResolver::tie(Value operand, unsigned dim, const std::string &name) {
  if (operand)
    operand = getStorage(skipRowOps(operand));
  auto argument = dyn_cast_if_present<BlockArgument>(operand);
  if (!argument || argument.getOwner() != &function.getBody().front())
    return;
  size_t &variable = variableOf[argument.getArgNumber()][dim];
  auto [entry, isNew] = byName.try_emplace(name, variable);
  // A dimension that several attentions read keeps its first name.
  bool hasName = variables[variable].name.find('[') == std::string::npos;
  if (isNew) {
    if (!hasName)
      variables[variable].name = name;
    return;
  }
  size_t from = variable, to = entry->second;
  for (std::vector<size_t> &dims : variableOf)
    std::replace(dims.begin(), dims.end(), from, to);
  for (auto &[other, target] : byName)
    if (target == from)
      target = to;
}

/// Looks for reads of arguments at coordinates of the attention, such as
/// tensor.extract %documents[%b, %j].
void ShapeResolver::suggestByReads(Region &mod, const std::string &suffix) {
  if (mod.empty())
    return;
  const char *names[] = {"B", "Hq", "M", "N"};
  bool hasColumn = isa<OutputModOp>(mod.getParentOp());
  unsigned firstCoordinate = mod.getNumArguments() - 4;
  for (auto extract : mod.getOps<tensor::ExtractOp>()) {
    auto tensor = dyn_cast<BlockArgument>(extract.getTensor());
    if (!tensor || tensor.getOwner() != &function.getBody().front())
      continue;
    for (auto [dim, index] : llvm::enumerate(extract.getIndices())) {
      auto coordinate = dyn_cast<BlockArgument>(index);
      if (coordinate && coordinate.getOwner() == &mod.front() &&
          coordinate.getArgNumber() >= firstCoordinate &&
          coordinate.getArgNumber() < firstCoordinate + (hasColumn ? 3 : 4))
        suggestions.push_back(
            {variableOf[tensor.getArgNumber()][dim],
             names[coordinate.getArgNumber() - firstCoordinate] + suffix});
    }
  }
}

/// Ties the operands that forward and backward have.
template <typename OpTy>
void ShapeResolver::nameByAttention(OpTy attention, const std::string &suffix) {
  Value query = attention.getQuery(), key = attention.getKey(),
        value = attention.getValue(), bias = attention.getBias();
  tie(query, kBatch, "B" + suffix);
  tie(query, kHead, "Hq" + suffix);
  tie(query, kSequence, "M" + suffix);
  Value map;
  for (Value operand : {key, value}) {
    const char *name = "Hkv";
    if (auto heads = operand.getDefiningOp<SelectHeadsOp>()) {
      // A map has an entry for each query head, of any number of heads; by one
      // of their own there may be another number of the values.
      tie(heads.getMap(), 0, "Hq" + suffix);
      operand = heads.getSource();
      name = map && map != heads.getMap() ? "Hv" : "Hkv";
      map = heads.getMap();
      mappedHeads.push_back({"Hq" + suffix, name + suffix});
    }
    auto paged = operand.getDefiningOp<PagedOp>();
    tie(paged ? paged.getTable() : operand, kBatch, "B" + suffix);
    tie(paged ? paged.getPool() : operand, kHead, name + suffix);
    if (!paged)
      tie(operand, kSequence, "N" + suffix);
  }
  for (auto [operand, name, heads] : {std::tuple(query, "query_rows", "Hq"),
                                      std::tuple(key, "key_rows", "Hkv"),
                                      std::tuple(value, "key_rows", "Hkv")})
    if (auto ragged = operand.template getDefiningOp<RaggedOp>())
      nameByRagged(ragged, name, heads, suffix);
  // The pages of a pool, and those that a batch has room for: of pages of
  // another size there are others for the values.
  auto keyPages = key.getDefiningOp<PagedOp>();
  for (Value operand : {key, value})
    if (auto paged = operand.getDefiningOp<PagedOp>()) {
      bool isOther = keyPages && keyPages.getPageSize() != paged.getPageSize();
      tie(paged.getPool(), 0, (isOther ? "Pv" : "P") + suffix);
      tie(paged.getTable(), 1, (isOther ? "Tv" : "T") + suffix);
    }
  const char *names[] = {"B", "Hq", "M", "N"};
  for (unsigned dim = 0; bias && dim < 4; ++dim)
    if (cast<ShapedType>(bias.getType()).getDimSize(dim) != 1)
      tie(bias, dim, names[dim] + suffix);
  if (!map)
    headPairs.push_back({"Hq" + suffix, "Hkv" + suffix});
  suggestByReads(attention.getScoreMod(), suffix);
  suggestByReads(attention.getMaskMod(), suffix);
}

/// What follows an attention, or stands alone, has its query's rows.
void ShapeResolver::nameByOutputMod(OutputModOp mod,
                                    const std::string &suffix) {
  const char *rows[] = {"B", "Hq", "M"};
  for (unsigned dim = 0; dim < 3; ++dim)
    tie(mod.getSource(), dim, rows[dim] + suffix);
  suggestByReads(mod.getMod(), suffix);
}

/// The rows of all sequences have a name; of their offsets there is one more
/// than batches.
void ShapeResolver::nameByRagged(RaggedOp ragged, const std::string &name,
                                 const std::string &heads,
                                 const std::string &suffix) {
  tie(ragged.getPacked(), 0, name + suffix);
  tie(ragged.getPacked(), 1, heads + suffix);
  tie(ragged.getOffsets(), 0, "offsets" + suffix);
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

/// The results of the forward have its query's rows.
void ShapeResolver::nameByLinear(LinearAttentionOp linear,
                                 const std::string &suffix) {
  const char *rows[] = {"B", "Hq", "M"},
             *keys[] = {"B", "Hkv", linear.getFull() ? "N" : "M"};
  for (unsigned dim = 0; dim < 3; ++dim) {
    tie(linear.getQuery(), dim, rows[dim] + suffix);
    tie(linear.getKey(), dim, keys[dim] + suffix);
    tie(linear.getValue(), dim, keys[dim] + suffix);
    tie(linear.getDecay(), dim, rows[dim] + suffix);
  }
  tie(linear.getSlope(), 0, "Hq" + suffix);
  for (unsigned dim = 0; dim < 2; ++dim)
    tie(linear.getState(), dim, rows[dim] + suffix);
}

/// Named where no attention does: what is common to pools, rows and slots.
void ShapeResolver::nameByAppend(AppendOp append, const std::string &suffix) {
  unsigned rank = cast<ShapedType>(append.getSlots().getType()).getRank();
  const std::string tokens[] = {(rank == 1 ? "tokens" : "Bnew") + suffix,
                                "Mnew" + suffix};
  const std::string pool[] = {"Pnew" + suffix, "Hnew" + suffix,
                              "page" + suffix};
  for (unsigned dim = 0; dim < rank; ++dim)
    tie(append.getSlots(), dim, tokens[dim]);
  for (auto [rows, into] :
       llvm::zip_equal(append.getRows(), append.getPools())) {
    for (unsigned dim : {kBatch, kHead, kSequence})
      tie(into, dim, pool[dim]);
    tie(rows, AppendOp::kRowHead, pool[kHead]);
    for (unsigned dim = 0; dim < rank; ++dim)
      tie(rows, AppendOp::getRowDim(dim), tokens[dim]);
  }
  for (Value descale : append.getDescales())
    if (cast<ShapedType>(descale.getType()).getRank() == 2) {
      tie(descale, kBatch, tokens[0]);
      tie(descale, kHead, pool[kHead]);
    }
}

/// Positions and tables of batches have the source's sizes; without positions a
/// table has a row for each of the source's.
void ShapeResolver::nameByRotary(RotaryOp rotary) {
  auto source = dyn_cast<BlockArgument>(skipRowOps(rotary.getSource()));
  if (!source || source.getOwner() != &function.getBody().front())
    return;
  ArrayRef<size_t> dims = variableOf[source.getArgNumber()];
  std::string batch = variables[dims[kBatch]].name;
  std::string rows = variables[dims[kSequence]].name;
  tie(source, kBatch, batch);
  tie(source, kSequence, rows);
  auto tieBatch = [&](Value tensor) {
    if (cast<ShapedType>(tensor.getType()).isDynamicDim(0))
      tie(tensor, 0, batch);
  };
  if (Value positions = rotary.getPositions()) {
    tieBatch(positions);
    tie(positions, 1, rows);
  }
  for (Value table : {rotary.getCos(), rotary.getSin()}) {
    unsigned rank = cast<ShapedType>(table.getType()).getRank();
    if (rank == 3)
      tieBatch(table);
    auto argument = dyn_cast<BlockArgument>(table);
    if (argument && !rotary.getPositions())
      suggestions.push_back(
          {variableOf[argument.getArgNumber()][rank - 2], rows});
  }
}

void ShapeResolver::nameByBackward(AttentionBackwardOp backward,
                                   const std::string &suffix) {
  nameByAttention(backward, suffix);
  Value output = backward.getOutput(), dOutput = backward.getDOutput(),
        lse = backward.getLse(), dLse = backward.getDLse();
  for (Value rows : {output, dOutput, lse, dLse}) {
    tie(rows, kBatch, "B" + suffix);
    tie(rows, kHead, "Hq" + suffix);
    tie(rows, kSequence, "M" + suffix);
  }
  tie(backward.getSink(), 0, "Hq" + suffix);
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
  // The first attention gives the plain names; those after it M1, N2, ...
  size_t number = 0;
  function.walk([&](Operation *op) {
    std::string suffix = number == 0 ? "" : std::to_string(number);
    if (auto attention = dyn_cast<AttentionOp>(op)) {
      nameByAttention(attention, suffix);
      tie(attention.getSink(), 0, "Hq" + suffix);
      for (Value descale : attention.getDescales())
        if (cast<ShapedType>(descale.getType()).getRank() == 2) {
          tie(descale, kBatch, "B" + suffix);
          tie(descale, kHead, "Hkv" + suffix);
        }
      for (Value lengths :
           {attention.getQueryLengths(), attention.getKeyLengths()})
        tie(lengths, kBatch, "B" + suffix);
    } else if (auto backward = dyn_cast<AttentionBackwardOp>(op)) {
      nameByBackward(backward, suffix);
    } else if (auto linear = dyn_cast<LinearAttentionOp>(op)) {
      nameByLinear(linear, suffix);
    } else if (auto mod = dyn_cast<OutputModOp>(op)) {
      nameByOutputMod(mod, number < 2 ? "" : std::to_string(number - 1));
      return;
    } else {
      return;
    }
    ++number;
  });
  size_t appends = 0;
  function.walk([&](AppendOp append) {
    nameByAppend(append, appends == 0 ? "" : std::to_string(appends));
    ++appends;
  });
  function.walk([&](RotaryOp rotary) { nameByRotary(rotary); });
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
