//===- ShapeResolver.h - Sizes of the arguments -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dimension of an argument is a variable. Variables that an op ties together
// are merged (union by name, ShapeNames.cpp); then each gets its size from
// types, files and options, which must agree (Shapes.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTNRUN_SHAPERESOLVER_H
#define ATTN_TOOLS_ATTNRUN_SHAPERESOLVER_H

#include "Shapes.h"

#include "attn/Dialect/Attn/IR/HeadOps.h"
#include "attn/Dialect/Attn/IR/LinearAttentionOps.h"
#include "attn/Dialect/Attn/IR/OutputOps.h"
#include "attn/Dialect/Attn/IR/RowOps.h"

#include <map>

namespace attn::run {

class ShapeResolver {
public:
  ShapeResolver(mlir::func::FuncOp function) : function(function) {}

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
  void nameDimensions();
  template <typename OpTy>
  void nameByAttention(OpTy attention, const std::string &suffix);
  void nameByLinear(LinearAttentionOp linear, const std::string &suffix);
  void nameByBackward(AttentionBackwardOp backward, const std::string &suffix);
  void nameHeads(mlir::ValueRange descales, const std::string &suffix);
  void nameByOutputMod(OutputModOp mod, const std::string &suffix);
  void nameByRagged(RaggedOp ragged, const std::string &name,
                    const std::string &heads, const std::string &suffix);
  void countOffsets();
  void nameByAppend(AppendOp append, const std::string &suffix);
  void nameByDescales(mlir::Value rows, const std::string &suffix);
  void nameByRotary(RotaryOp rotary);
  void tie(mlir::Value operand, unsigned dim, const std::string &name);
  void suggestByReads(mlir::Region &mod, const std::string &suffix);
  bool assign(size_t variable, int64_t size, const std::string &source);
  bool assignShape(size_t argument, llvm::ArrayRef<int64_t> shape,
                   const std::string &source);
  bool assignTypes();
  void assignSuggestions();
  bool assignOption(const std::string &text);
  bool assignName(const std::string &item);
  bool checkComplete();
  bool checkHeads();
  bool checkMaps();
  bool checkReads();

  mlir::func::FuncOp function;
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

} // namespace attn::run

#endif // ATTN_TOOLS_ATTNRUN_SHAPERESOLVER_H
