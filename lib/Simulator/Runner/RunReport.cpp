//===- RunReport.cpp - A run's report as JSON -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// docs/Simulator.md describes the fields.
///
//===----------------------------------------------------------------------===//

#include "attn/Simulator/ManifestRunner.h"
#include "attn/Simulator/Timing.h"

#include <nlohmann/json.hpp>

using namespace attn;
using namespace attn::sim;
using namespace attn::runtime;
using json = nlohmann::ordered_json;

namespace {

json dimsToJson(const Dim3 &dims) { return {dims.x, dims.y, dims.z}; }

json diagnosticToJson(const Diagnostic &diagnostic) {
  json out = {{"check", name(diagnostic.finding)},
              {"message", diagnostic.message},
              {"line", diagnostic.line},
              {"text", diagnostic.text}};
  if (diagnostic.hasThread) {
    out["cta"] = diagnostic.cta;
    out["warp"] = diagnostic.warp;
  }
  if (!diagnostic.remedy.empty())
    out["remedy"] = diagnostic.remedy;
  return out;
}

json kernelToJson(const KernelRun &kernel) {
  json out = {{"entry", kernel.entry},
              {"grid", dimsToJson(kernel.config.grid)},
              {"block", dimsToJson(kernel.config.block)},
              {"cluster", dimsToJson(kernel.config.cluster)},
              {"shared_bytes", kernel.config.dynamicSharedBytes},
              {"completed", kernel.report.completed}};
  out["counters"] = json::parse(kernel.report.counters.json());
  if (kernel.report.timeline.cycles) {
    Timing timing = getTiming(kernel.report, /*smCount=*/1);
    out["modeled_cycles"] = kernel.report.timeline.cycles;
    out["cta_clocks"] = {{"mean", timing.ctaClocks},
                         {"longest", timing.longestCtaClocks}};
  }
  return out;
}

/// Bytes moved by an operand or workspace, in all and per path, beside what the
/// manifest predicts.
json trafficToJson(const std::string &name, const Counters &counters,
                   const BoundProblem &problem) {
  json out = {{"name", name}, {"read", 0}, {"write", 0}};
  for (const BufferTraffic &buffer : counters.buffers)
    if (buffer.name == name) {
      out["read"] = buffer.read();
      out["write"] = buffer.write();
      for (size_t path = 0; path < numGlobalPaths; ++path)
        if (buffer.paths[path].read || buffer.paths[path].write)
          out["paths"][attn::sim::name(GlobalPath(path))] = {
              {"read", buffer.paths[path].read},
              {"write", buffer.paths[path].write}};
    }
  for (const PredictedBytes &predicted : problem.manifest->predictedBytes) {
    if (predicted.operand != name)
      continue;
    Result<int64_t> read = evaluateInteger(predicted.read, problem, name);
    Result<int64_t> write = evaluateInteger(predicted.write, problem, name);
    if (read && write)
      out["predicted"] = {{"read", *read}, {"write", *write}};
  }
  return out;
}

} // namespace

std::string ManifestRun::json() const {
  ::json out;
  const Manifest &manifest = *problem.manifest;
  out["name"] = manifest.name;
  out["target"] = manifest.target;
  out["symbols"] = problem.symbols;
  out["operands"] = ::json::array();
  for (const Operand &operand : manifest.operands)
    out["operands"].push_back(trafficToJson(operand.name, counters, problem));
  out["workspaces"] = ::json::array();
  for (const Workspace &workspace : manifest.workspaces)
    out["workspaces"].push_back(
        trafficToJson(workspace.name, counters, problem));
  out["kernels"] = ::json::array();
  for (const KernelRun &kernel : kernels)
    out["kernels"].push_back(kernelToJson(kernel));
  out["findings"] = ::json::array();
  for (const Diagnostic &diagnostic : diagnostics())
    out["findings"].push_back(diagnosticToJson(diagnostic));
  // Findings quote the PTX, whatever bytes are in it.
  return out.dump(2, ' ', /*ensure_ascii=*/false,
                  ::json::error_handler_t::replace) +
         "\n";
}
