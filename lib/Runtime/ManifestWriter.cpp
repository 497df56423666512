//===- ManifestWriter.cpp - Structs to JSON text --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Fields are written in the schema's order, optional ones only when they
/// differ from their default, so that equal manifests are equal text.
///
//===----------------------------------------------------------------------===//

#include "ManifestNames.h"
#include "attn/Runtime/Manifest.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace attn;
using namespace attn::runtime;
using Json = nlohmann::ordered_json;

namespace {

/// An integer literal is written as a number, anything else as text.
Json exprToJson(const std::string &expr) {
  bool isInteger = !expr.empty() && expr.size() < 19 &&
                   std::all_of(expr.begin(), expr.end(),
                               [](char c) { return c >= '0' && c <= '9'; });
  if (isInteger)
    return std::stoll(expr);
  return expr;
}

template <typename List>
Json exprsToJson(const List &exprs) {
  Json list = Json::array();
  for (const std::string &expr : exprs)
    list.push_back(exprToJson(expr));
  return list;
}

Json operandToJson(const Operand &operand) {
  Json shape = Json::array();
  for (const Extent &extent : operand.shape)
    if (extent.symbol.empty())
      shape.push_back(extent.size);
    else
      shape.push_back(extent.symbol);
  return {{"name", operand.name},
          {"role", spell(roleNames, operand.role)},
          {"dtype", spell(dtypeNames, operand.dtype)},
          {"shape", std::move(shape)},
          {"stride_constraints",
           {{"contiguous_dims", operand.strides.contiguousDims},
            {"multiple_of", operand.strides.multipleOf}}},
          {"alignment_bytes", operand.alignmentBytes}};
}

void writeBase(Json &out, const Parameter &parameter) {
  if (!parameter.operand.empty())
    out["operand"] = parameter.operand;
  else
    out["workspace"] = parameter.workspace;
  if (parameter.byteOffset != "0")
    out["byte_offset"] = exprToJson(parameter.byteOffset);
}

Json parameterToJson(const Parameter &parameter) {
  Json out = {{"kind", spell(parameterKindNames, parameter.kind)}};
  if (parameter.kind != ParameterKind::Pointer &&
      parameter.kind != ParameterKind::TensorMap) {
    out["value"] = exprToJson(parameter.value);
    return out;
  }
  writeBase(out, parameter);
  if (parameter.kind == ParameterKind::Pointer)
    return out;
  const TensorMap &map = parameter.tensorMap;
  out["dtype"] = spell(dtypeNames, map.dtype);
  out["dims"] = exprsToJson(map.dims);
  out["strides_bytes"] = exprsToJson(map.stridesBytes);
  out["box"] = map.box;
  if (!map.elementStrides.empty())
    out["element_strides"] = map.elementStrides;
  out["swizzle"] = map.swizzleBytes;
  out["fill"] = spell(tensorMapFillNames, map.fill);
  return out;
}

Json kernelToJson(const Kernel &kernel) {
  Json parameters = Json::array();
  for (const Parameter &parameter : kernel.parameters)
    parameters.push_back(parameterToJson(parameter));
  Json out = {{"entry", kernel.entry}};
  if (kernel.after != LaunchOrder::Previous)
    out["after"] = spell(launchOrderNames, kernel.after);
  out["grid"] = exprsToJson(kernel.grid);
  out["block"] = kernel.block;
  out["cluster"] = kernel.cluster;
  out["shared_bytes"] = exprToJson(kernel.sharedBytes);
  out["parameters"] = std::move(parameters);
  return out;
}

/// `write` of every element, as an array.
template <typename T, typename Fn>
Json listToJson(const std::vector<T> &list, Fn write) {
  Json out = Json::array();
  for (const T &item : list)
    out.push_back(write(item));
  return out;
}

Json constraintToJson(const Constraint &constraint) {
  return {{"expr", constraint.expr},
          {"equals", constraint.equals},
          {"message", constraint.message}};
}

Json workspaceToJson(const Workspace &workspace) {
  return {{"name", workspace.name},
          {"bytes", exprToJson(workspace.bytes)},
          {"fill", spell(workspaceFillNames, workspace.fill)},
          {"alignment_bytes", workspace.alignmentBytes}};
}

Json predictedToJson(const PredictedBytes &predicted) {
  return {{"operand", predicted.operand},
          {"read", exprToJson(predicted.read)},
          {"write", exprToJson(predicted.write)}};
}

} // namespace

std::string attn::runtime::writeManifest(const Manifest &manifest) {
  Json root;
  root["schema"] = manifestSchema;
  root["name"] = manifest.name;
  root["target"] = manifest.target;
  root["ptx"] = manifest.ptx;
  if (!manifest.ptxDigest.empty())
    root["ptx_digest"] = manifest.ptxDigest;
  root["operands"] = listToJson(manifest.operands, operandToJson);
  root["constraints"] = listToJson(manifest.constraints, constraintToJson);
  root["workspaces"] = listToJson(manifest.workspaces, workspaceToJson);
  root["kernels"] = listToJson(manifest.kernels, kernelToJson);
  if (manifest.repeat != "1")
    root["repeat"] = exprToJson(manifest.repeat);
  root["schedule"] = Json::parse(manifest.schedule);
  root["predicted_bytes"] =
      listToJson(manifest.predictedBytes, predictedToJson);
  root["semantics"] = Json::parse(manifest.semantics);
  return root.dump(2) + "\n";
}
