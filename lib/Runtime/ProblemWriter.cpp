//===- ProblemWriter.cpp - A bound problem as JSON text -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Manifest.h"

#include <nlohmann/json.hpp>

using namespace attn;
using namespace attn::runtime;
using Json = nlohmann::ordered_json;

std::string attn::runtime::writeProblem(const BoundProblem &problem) {
  Json operands = Json::array();
  for (const OperandBinding &operand : problem.operands)
    operands.push_back(
        {{"shape", operand.shape}, {"strides", operand.strides}});
  Json root = {{"symbols", problem.symbols}, {"operands", std::move(operands)}};
  return root.dump();
}

static Json parameterToJson(const ParameterValue &value) {
  switch (value.parameter->kind) {
  case ParameterKind::Pointer:
    return {{"byte_offset", value.byteOffset}};
  case ParameterKind::TensorMap:
    return {{"byte_offset", value.byteOffset},
            {"dims", value.dims},
            {"strides_bytes", value.stridesBytes}};
  default:
    return value.scalar.isFloat ? Json{{"value", value.scalar.real}}
                                : Json{{"value", value.scalar.integer}};
  }
}

Result<std::string> attn::runtime::writeLaunches(const BoundProblem &problem) {
  Result<std::vector<KernelLaunch>> launches = resolveLaunches(problem);
  if (!launches)
    return Error{launches.error()};
  Result<std::vector<int64_t>> bytes = workspaceBytes(problem);
  if (!bytes)
    return Error{bytes.error()};
  Json list = Json::array();
  for (const KernelLaunch &launch : *launches) {
    Json parameters = Json::array();
    for (const ParameterValue &value : launch.parameters)
      parameters.push_back(parameterToJson(value));
    list.push_back(
        {{"kernel", launch.kernel - problem.manifest->kernels.data()},
         {"grid", launch.grid},
         {"shared_bytes", launch.sharedBytes},
         {"programmatic", launch.isProgrammatic},
         {"parameters", std::move(parameters)}});
  }
  Json root = {{"workspace_bytes", *bytes}, {"launches", std::move(list)}};
  return root.dump();
}
