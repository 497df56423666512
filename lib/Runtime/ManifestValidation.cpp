//===- ManifestValidation.cpp - Facts that the structs cannot express -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Names exist once, ranks agree, every expression parses and uses only names
/// that the operands define. Limits of tensor maps are those of
/// cuTensorMapEncodeTiled (CUDA driver API, "Tensor Map Object Management").
///
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Manifest.h"

#include <set>

using namespace attn;
using namespace attn::runtime;

namespace {

std::string at(const char *list, size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

class Validator {
public:
  explicit Validator(const Manifest &manifest) : manifest(manifest) {}

  std::optional<Error> run() {
    if (manifest.ptx.empty())
      fail("ptx", "expected a file name");
    if (manifest.kernels.empty())
      fail("kernels", "expected at least one kernel");
    for (size_t i = 0; i < manifest.operands.size(); ++i)
      checkOperand(at("operands", i), manifest.operands[i]);
    for (size_t i = 0; i < manifest.constraints.size(); ++i)
      checkExpr(at("constraints", i) + ".expr", manifest.constraints[i].expr);
    for (size_t i = 0; i < manifest.workspaces.size(); ++i)
      checkWorkspace(at("workspaces", i), manifest.workspaces[i]);
    checkExpr("repeat", manifest.repeat);
    inKernel = true;
    for (size_t i = 0; i < manifest.kernels.size(); ++i)
      checkKernel(at("kernels", i), manifest.kernels[i]);
    checkOrder();
    inKernel = false;
    for (size_t i = 0; i < manifest.predictedBytes.size(); ++i)
      checkPredicted(at("predicted_bytes", i), manifest.predictedBytes[i]);
    return error;
  }

private:
  void checkOperand(const std::string &path, const Operand &operand) {
    checkName(path, operand.name);
    for (const Extent &extent : operand.shape) {
      if (extent.symbol.empty() && extent.size < 0)
        fail(path + ".shape", "expected sizes of at least 0, got " +
                                  std::to_string(extent.size));
      if (extent.symbol == "sm_count" || extent.symbol == "iteration")
        fail(path + ".shape", "'" + extent.symbol + "' is reserved");
    }
    for (int64_t dim : operand.strides.contiguousDims)
      if (dim < 0 || dim >= int64_t(operand.shape.size()))
        fail(path + ".stride_constraints.contiguous_dims",
             "expected a dimension below " +
                 std::to_string(operand.shape.size()) + ", got " +
                 std::to_string(dim));
    if (operand.strides.multipleOf < 1)
      fail(path + ".stride_constraints.multiple_of",
           "expected at least 1, got " +
               std::to_string(operand.strides.multipleOf));
    checkAlignment(path, operand.alignmentBytes);
  }

  void checkWorkspace(const std::string &path, const Workspace &workspace) {
    checkName(path, workspace.name);
    checkExpr(path + ".bytes", workspace.bytes);
    checkAlignment(path, workspace.alignmentBytes);
  }

  void checkKernel(const std::string &path, const Kernel &kernel) {
    if (kernel.entry.empty())
      fail(path + ".entry", "expected a name");
    for (size_t i = 0; i < 3; ++i) {
      checkExpr(path + "." + at("grid", i), kernel.grid[i]);
      if (kernel.block[i] < 1 || kernel.block[i] > 1024)
        fail(path + "." + at("block", i), "expected 1 to 1024 threads, got " +
                                              std::to_string(kernel.block[i]));
      if (kernel.cluster[i] < 1 || kernel.cluster[i] > 16)
        fail(path + "." + at("cluster", i),
             "expected 1 to 16 CTAs, got " + std::to_string(kernel.cluster[i]));
    }
    checkExpr(path + ".shared_bytes", kernel.sharedBytes);
    for (size_t i = 0; i < kernel.parameters.size(); ++i)
      checkParameter(path + "." + at("parameters", i), kernel.parameters[i]);
  }

  /// What runs before the first kernel is not this manifest's.
  void checkOrder() {
    for (size_t i = 0; i < manifest.kernels.size(); ++i) {
      if (manifest.kernels[i].after != LaunchOrder::Programmatic)
        continue;
      std::string path = at("kernels", i) + ".after";
      if (i == 0)
        fail(path, "expected 'previous' of the first kernel, got "
                   "'programmatic'");
      if (getCapability(manifest.target) < 90)
        fail(path, "expected 'previous' before sm_90, got 'programmatic' for " +
                       manifest.target);
    }
  }

  /// 90 of "sm_90a".
  static int getCapability(const std::string &target) {
    size_t digits = target.find_first_of("0123456789");
    return digits == std::string::npos ? 0 : std::atoi(&target[digits]);
  }

  void checkParameter(const std::string &path, const Parameter &parameter) {
    if (parameter.kind != ParameterKind::Pointer &&
        parameter.kind != ParameterKind::TensorMap)
      return checkExpr(path + ".value", parameter.value);
    if (!parameter.operand.empty() && !manifest.findOperand(parameter.operand))
      fail(path + ".operand", "no operand '" + parameter.operand + "'");
    if (!parameter.workspace.empty() &&
        !manifest.findWorkspace(parameter.workspace))
      fail(path + ".workspace", "no workspace '" + parameter.workspace + "'");
    checkExpr(path + ".byte_offset", parameter.byteOffset);
    if (parameter.kind == ParameterKind::TensorMap)
      checkTensorMap(path, parameter.tensorMap);
  }

  void checkTensorMap(const std::string &path, const TensorMap &map) {
    size_t rank = map.dims.size();
    if (rank < 1 || rank > 5)
      fail(path + ".dims",
           "expected 1 to 5 dimensions, got " + std::to_string(rank));
    checkLength(path + ".strides_bytes", map.stridesBytes.size(), rank - 1);
    checkLength(path + ".box", map.box.size(), rank);
    if (!map.elementStrides.empty())
      checkLength(path + ".element_strides", map.elementStrides.size(), rank);
    for (int64_t size : map.box)
      if (size < 1 || size > 256)
        fail(path + ".box", "expected 1 to 256, got " + std::to_string(size));
    for (int64_t stride : map.elementStrides)
      if (stride < 1 || stride > 8)
        fail(path + ".element_strides",
             "expected 1 to 8, got " + std::to_string(stride));
    int64_t swizzle = map.swizzleBytes;
    if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
      fail(path + ".swizzle",
           "expected 0, 32, 64 or 128, got " + std::to_string(swizzle));
    for (size_t i = 0; i < map.dims.size(); ++i)
      checkExpr(path + "." + at("dims", i), map.dims[i]);
    for (size_t i = 0; i < map.stridesBytes.size(); ++i)
      checkExpr(path + "." + at("strides_bytes", i), map.stridesBytes[i]);
  }

  void checkPredicted(const std::string &path, const PredictedBytes &bytes) {
    if (!manifest.findOperand(bytes.operand) &&
        !manifest.findWorkspace(bytes.operand))
      fail(path + ".operand",
           "no operand or workspace '" + bytes.operand + "'");
    checkExpr(path + ".read", bytes.read);
    checkExpr(path + ".write", bytes.write);
  }

  void checkName(const std::string &path, const std::string &name) {
    if (name.empty())
      fail(path + ".name", "expected a name");
    else if (!names.insert(name).second)
      fail(path + ".name", "'" + name + "' is already used");
  }

  void checkAlignment(const std::string &path, int64_t bytes) {
    if (bytes < 1 || (bytes & (bytes - 1)) != 0)
      fail(path + ".alignment_bytes",
           "expected a power of two, got " + std::to_string(bytes));
  }

  void checkLength(const std::string &path, size_t length, size_t expected) {
    if (length != expected)
      fail(path, "expected " + std::to_string(expected) + " values, got " +
                     std::to_string(length));
  }

  /// Parses the text, and evaluates it with 1 for every name that exists, so
  /// that a misspelt name is found before there is a problem to bind.
  void checkExpr(const std::string &path, const std::string &text) {
    Result<Expression> expression = Expression::parse(text);
    if (!expression)
      return fail(path, expression.error());
    std::string unknown;
    ExpressionScope scope;
    scope.symbol = [&](const std::string &name) -> std::optional<int64_t> {
      bool isReserved = name == "sm_count" || (inKernel && name == "iteration");
      if (!isReserved && !isSymbol(name))
        unknown = name;
      return 1;
    };
    scope.dim = scope.stride = [&](const std::string &name,
                                   int64_t dim) -> std::optional<int64_t> {
      const Operand *operand = manifest.findOperand(name);
      if (!operand || dim >= int64_t(operand->shape.size()))
        unknown = name + ", " + std::to_string(dim);
      return 1;
    };
    // Values do not matter: 1 may divide by zero where real sizes do not.
    (void)bool(expression->evaluate(scope));
    if (!unknown.empty())
      fail(path, "unknown name '" + unknown + "' in '" + text + "'");
  }

  bool isSymbol(const std::string &name) const {
    for (const Operand &operand : manifest.operands)
      for (const Extent &extent : operand.shape)
        if (extent.symbol == name)
          return true;
    return false;
  }

  void fail(const std::string &path, const std::string &what) {
    if (!error)
      error = Error{path + ": " + what};
  }

  const Manifest &manifest;
  std::set<std::string> names;
  bool inKernel = false; ///< where `iteration` has a meaning
  std::optional<Error> error;
};

} // namespace

std::optional<Error> attn::runtime::validate(const Manifest &manifest) {
  return Validator(manifest).run();
}
