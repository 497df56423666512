//===- ShapeNames.cpp - What the arguments' dimensions are called ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShapeResolver.h"

#include "attn/Dialect/Attn/IR/AttentionDims.h"
#include "attn/Dialect/Attn/IR/Views.h"

using namespace mlir;
using namespace attn;
using namespace attn::run;

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

/// The names of the batches, heads and rows of what `mod` changes: of a
/// gradient of keys and values those of these.
static ArrayRef<const char *> getNames(OutputModOp mod) {
  static const char *const kQuery[] = {"B", "Hq", "M", "N"}, *const kKeys[] = {
                                                                 "B", "Hkv",
                                                                 "N"};
  Value source;
  for (OutputModOp op = mod; op; op = source.getDefiningOp<OutputModOp>())
    source = op.getSource();
  auto backward = source ? source.getDefiningOp<AttentionBackwardOp>()
                         : AttentionBackwardOp();
  bool isOfKeys = backward && source != backward.getDQuery();
  return isOfKeys ? ArrayRef(kKeys) : ArrayRef(kQuery);
}

/// Looks for reads of arguments at coordinates of the attention, such as
/// tensor.extract %documents[%b, %j].
void ShapeResolver::suggestByReads(Region &mod, const std::string &suffix) {
  if (mod.empty())
    return;
  ArrayRef<const char *> names =
      getNames(dyn_cast<OutputModOp>(mod.getParentOp()));
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

/// Descales of rows have the batches of the attention, and its key heads.
void ShapeResolver::nameByDescales(Value rows, const std::string &suffix) {
  for (Operation *op = rows.getDefiningOp(); Value source = getRowSource(op);
       op = source.getDefiningOp()) {
    auto wide = dyn_cast<DequantizeOp>(op);
    if (!wide || !wide.getDescale() ||
        cast<ShapedType>(wide.getDescale().getType()).getRank() != 2)
      continue;
    tie(wide.getDescale(), kBatch, "B" + suffix);
    if (cast<ShapedType>(wide.getDescale().getType()).isDynamicDim(kHead))
      tie(wide.getDescale(), kHead, "Hkv" + suffix);
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
  for (Value rows : {query, key, value})
    nameByDescales(rows, suffix);
  Value map;
  bool isMapped = skipHeadMap(key) != key || skipHeadMap(value) != value;
  if (RaggedOp ragged = getRagged(query))
    nameByRagged(ragged, "query_rows", "Hq", suffix);
  for (Value operand : {key, value}) {
    // Beside heads by a map there is one for each query head.
    const char *name = isMapped ? "Hq" : "Hkv";
    if (auto heads = operand.getDefiningOp<SelectHeadsOp>()) {
      // A map has an entry for each query head, of any number of heads; by one
      // of their own there may be another number of the values.
      tie(heads.getMap(), 0, "Hq" + suffix);
      operand = heads.getSource();
      name = map && map != heads.getMap() ? "Hv" : "Hkv";
      map = heads.getMap();
      mappedHeads.push_back({"Hq" + suffix, name + suffix});
    }
    PagedOp paged = getPages(operand);
    if (!paged || !paged.getOffsets())
      tie(paged ? paged.getTable() : operand, kBatch, "B" + suffix);
    tie(paged ? paged.getPool() : operand, kHead, name + suffix);
    if (!paged)
      tie(operand, kSequence, "N" + suffix);
    if (RaggedOp ragged = getRagged(operand))
      nameByRagged(ragged, "key_rows", name, suffix);
  }
  // The pages of a pool, and those that a batch has room for: of pages of
  // another size there are others for the values.
  PagedOp keyPages = getPages(key);
  for (Value operand : {key, value})
    if (PagedOp paged = getPages(operand)) {
      bool isOther = keyPages && keyPages.getPageSize() != paged.getPageSize();
      tie(paged.getPool(), 0, (isOther ? "Pv" : "P") + suffix);
      if (Value offsets = paged.getOffsets()) {
        tie(paged.getTable(), 0,
            (isOther ? "value_entries" : "entries") + suffix);
        tie(offsets, 0, "offsets" + suffix);
      } else {
        tie(paged.getTable(), 1, (isOther ? "Tv" : "T") + suffix);
      }
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

/// What follows an attention, or stands alone, has its query's rows; behind a
/// gradient it has those of that.
void ShapeResolver::nameByOutputMod(OutputModOp mod,
                                    const std::string &suffix) {
  ArrayRef<const char *> rows = getNames(mod);
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
  for (Value scale : append.getScales())
    for (unsigned dim : {kBatch, kHead, kSequence})
      tie(scale, dim, pool[dim]);
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
  unsigned rowDim = getRowDim(cast<ShapedType>(source.getType()));
  std::string batch = variables[dims[kBatch]].name;
  std::string rows = variables[dims[rowDim]].name;
  tie(source, kBatch, batch);
  tie(source, rowDim, rows);
  auto tieBatch = [&](Value tensor) {
    if (cast<ShapedType>(tensor.getType()).isDynamicDim(0))
      tie(tensor, 0, batch);
  };
  if (Value positions = rotary.getPositions()) {
    unsigned last = cast<ShapedType>(positions.getType()).getRank() - 1;
    if (last > 0)
      tieBatch(positions);
    tie(positions, last, rows);
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
  nameHeads(backward.getDescales(), suffix);
}

/// Descales of key heads.
void ShapeResolver::nameHeads(ValueRange descales, const std::string &suffix) {
  for (Value descale : descales)
    if (cast<ShapedType>(descale.getType()).getRank() == 2) {
      tie(descale, kBatch, "B" + suffix);
      tie(descale, kHead, "Hkv" + suffix);
    }
}

void ShapeResolver::nameDimensions() {
  // The first attention gives the plain names; those after it M1, N2, ...
  size_t number = 0;
  function.walk([&](Operation *op) {
    std::string suffix = number == 0 ? "" : std::to_string(number);
    if (auto attention = dyn_cast<AttentionOp>(op)) {
      nameByAttention(attention, suffix);
      tie(attention.getSink(), 0, "Hq" + suffix);
      nameHeads(attention.getDescales(), suffix);
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
}
