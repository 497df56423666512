//===- BackwardReport.cpp - The kernels of a backward as text ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Schedule/BackwardReport.h"

#include "attn/Schedule/Family.h"

#include "attn/Support/Format.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace attn;
using Json = nlohmann::ordered_json;

/// The seconds of the named term; "-" if it is none of the kernel's.
static std::string formatTerm(const BackwardCost &cost,
                              const std::string &name) {
  for (const CostTerm &term : cost.terms)
    if (term.name == name && term.seconds > 0)
      return formatSeconds(term.seconds);
  return "-";
}

/// A row for each term that some kernel has, a column for each kernel.
static std::string printTerms(const BackwardSelection &selection) {
  std::vector<std::string> names, head = {"term"};
  std::vector<Table::Alignment> sides = {Table::Left};
  for (const BackwardChoice &choice : selection.kernels) {
    head.emplace_back(getName(choice.kernel));
    sides.push_back(Table::Right);
    for (const CostTerm &term : choice.cost.terms)
      if (term.seconds > 0 &&
          std::find(names.begin(), names.end(), term.name) == names.end())
        names.push_back(term.name);
  }
  Table table(head, sides);
  for (const std::string &name : names) {
    std::vector<std::string> row = {name};
    for (const BackwardChoice &choice : selection.kernels)
      row.push_back(formatTerm(choice.cost, name));
    table.addRow(row);
  }
  return table.print();
}

std::string attn::printBackwardReport(const AttentionProblem &problem,
                                      const TargetInfo &target,
                                      const BackwardSelection &selection) {
  std::string text = "problem  " + problem.print() + "\n" + "target   " +
                     target.name + " (" + target.product + ")\n\n";
  Table table({"kernel", "predicted", "limiter", "L2 <-> SM", "smem", "regs",
               "schedule"},
              {Table::Left, Table::Right, Table::Left, Table::Right,
               Table::Right, Table::Right, Table::Left});
  for (const BackwardChoice &choice : selection.kernels)
    table.addRow({std::string(getName(choice.kernel)),
                  formatSeconds(choice.cost.seconds), choice.cost.limiter,
                  formatBytes(choice.cost.bytes.getTotal()),
                  std::to_string(choice.cost.sharedMemoryBytes),
                  std::to_string(choice.cost.registersPerThread),
                  choice.schedule.print()});
  text += table.print();
  text += "all      " + formatSeconds(selection.getSeconds()) + "\n";
  text += "workspace " + formatBytes(selection.workspaceBytes) + "\n";
  if (selection.isDequantised)
    text += "dequantised to 16 bits: " +
            (selection.obstacle.empty()
                 ? "predicted to be faster than products of 8 (promote=0 or 1)"
                 : selection.obstacle) +
            "\n";
  if (!selection.fallback.empty())
    text += "no " +
            std::string(getName(getFamilies(target).front()->facts.id)) + ": " +
            selection.fallback + "\n";
  text += "\nIf nothing else limited it:\n" + printTerms(selection);
  return text;
}

Json attn::getBackwardReportJson(const AttentionProblem &problem,
                                 const TargetInfo &target,
                                 const BackwardSelection &selection) {
  Json kernels = Json::array();
  for (const BackwardChoice &choice : selection.kernels) {
    Json operands = Json::object(), terms = Json::object();
    for (const CostTerm &term : choice.cost.terms)
      terms[term.name] = term.seconds;
    for (size_t i = 0; i < kNumOperands; ++i) {
      auto operand = static_cast<Operand>(i);
      int64_t read = choice.cost.bytes.getReads(operand);
      int64_t written = choice.cost.bytes.getWrites(operand);
      if (read || written)
        operands[std::string(getName(operand))] = {{"read_bytes", read},
                                                   {"written_bytes", written}};
    }
    kernels.push_back({{"kernel", getName(choice.kernel)},
                       {"text", choice.schedule.print()},
                       {"seconds", choice.cost.seconds},
                       {"limiter", choice.cost.limiter},
                       {"terms", terms},
                       {"shared_memory_bytes", choice.cost.sharedMemoryBytes},
                       {"registers_per_thread", choice.cost.registersPerThread},
                       {"operands", operands}});
  }
  return {{"schema_version", 1},
          {"problem", problem.print()},
          {"target", {{"name", target.name}, {"product", target.product}}},
          {"seconds", selection.getSeconds()},
          {"workspace_bytes", selection.workspaceBytes},
          {"dequantised", selection.isDequantised},
          {"kernels", kernels}};
}
