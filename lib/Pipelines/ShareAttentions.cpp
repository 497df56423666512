//===- ShareAttentions.cpp - Equal attentions as one function ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements --attn-share-attentions.
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Passes.h"

#include "AttentionPrograms.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

#include <map>
#include <vector>

namespace attn {
#define GEN_PASS_DEF_SHAREATTENTIONSPASS
#include "attn/Pipelines/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

namespace {
/// An attention, and what a function for it takes and gives; without the
/// function.
struct Use {
  Operation *attention;
  ExtractedAttention extracted;
};

/// The attentions that one function can serve.
struct Group {
  ExtractedAttention extracted; ///< of the first
  SmallVector<Use, 0> uses;
};

struct ShareAttentions
    : public attn::impl::ShareAttentionsPassBase<ShareAttentions> {
  using Base::Base;

  void runOnOperation() override {
    std::map<std::pair<Operation *, std::string>, size_t> numbers;
    std::vector<Group> groups;
    for (Operation *attention : findAttentions(getOperation())) {
      auto module = attention->getParentOfType<ModuleOp>();
      ExtractedAttention extracted =
          extractAttention(attention, getProgramName(attention),
                           /*appends=*/false);
      Use use{attention,
              {nullptr, nullptr, extracted.arguments, extracted.results,
               extracted.ends, extracted.place}};
      auto [number, isNew] = numbers.try_emplace(
          {module, getProgramKey(extracted)}, groups.size());
      if (isNew)
        groups.push_back({std::move(extracted), {}});
      groups[number->second].uses.push_back(std::move(use));
    }
    IRMapping replaced;
    for (Group &group : groups)
      if (group.uses.size() > 1)
        share(group, replaced);
  }

private:
  /// `replaced` has the results of what are calls by now.
  void share(Group &group, IRMapping &replaced) {
    auto module = group.uses.front().attention->getParentOfType<ModuleOp>();
    func::FuncOp function = group.extracted.function;
    function->remove();
    function.setPrivate();
    SymbolTable(module).insert(function);
    ++numFunctions;
    for (Use &use : group.uses) {
      OpBuilder builder(use.extracted.place);
      for (Value &argument : use.extracted.arguments)
        argument = replaced.lookupOrDefault(argument);
      auto call = func::CallOp::create(builder, use.attention->getLoc(),
                                       function, use.extracted.arguments);
      replaced.map(use.extracted.results, call.getResults());
      replaceResults(use.attention, use.extracted, call);
      use.attention->erase();
      ++numShared;
    }
  }
};
} // namespace
