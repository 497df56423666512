//===- ManifestBinding.cpp - Actual operands against a manifest -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Binds symbols to sizes, checks what the kernels assume, and evaluates the
/// launches. The driver launcher and the simulator both start here.
///
//===----------------------------------------------------------------------===//

#include "OperandChecks.h"

#include <limits>

using namespace attn;
using namespace attn::runtime;

namespace {

/// A CUtensorMap dimension holds 32 bits, its stride 40.
constexpr int64_t maxTensorMapDim = int64_t(1) << 32;
constexpr int64_t maxTensorMapStride = int64_t(1) << 40;

std::string number(int64_t value) { return std::to_string(value); }

class Binder {
public:
  Binder(const Manifest &manifest, int64_t smCount) : manifest(manifest) {
    problem.manifest = &manifest;
    problem.smCount = smCount;
  }

  Result<BoundProblem>
  run(const std::vector<std::optional<OperandBinding>> &bindings) {
    if (bindings.size() != manifest.operands.size())
      return Error{"expected " + number(manifest.operands.size()) +
                   " operands, got " + number(bindings.size())};
    for (size_t i = 0; i < bindings.size(); ++i)
      if (bindings[i])
        bindShape(manifest.operands[i], *bindings[i]);
    for (size_t i = 0; i < bindings.size(); ++i)
      addOperand(manifest.operands[i], bindings[i]);
    if (!error)
      checkConstraints();
    if (!error)
      error = checkAliases(manifest, problem.operands);
    if (error)
      return *error;
    return problem;
  }

private:
  void bindShape(const Operand &operand, const OperandBinding &binding) {
    if (binding.shape.size() != operand.shape.size())
      return fail(operand, "expected rank " + number(operand.shape.size()) +
                               ", got " + number(binding.shape.size()));
    for (size_t d = 0; d < operand.shape.size(); ++d) {
      const Extent &extent = operand.shape[d];
      int64_t got = binding.shape[d], expected = extent.size;
      std::string origin;
      if (got < 0)
        return fail(operand, "expected dim " + number(d) +
                                 " to be at least 0, got " + number(got));
      if (!extent.symbol.empty()) {
        expected = problem.symbols.emplace(extent.symbol, got).first->second;
        origin = " (" + extent.symbol + ")";
      }
      if (got != expected)
        return fail(operand, "expected dim " + number(d) + origin + " to be " +
                                 number(expected) + ", got " + number(got));
    }
  }

  void addOperand(const Operand &operand,
                  const std::optional<OperandBinding> &given) {
    OperandBinding binding = given ? *given : inferShape(operand);
    if (error)
      return;
    if (binding.strides.empty())
      binding.strides = rowMajorStrides(operand, binding.shape);
    else
      checkStrides(operand, binding);
    if (std::optional<Error> fault = checkAlignment(operand, binding.address))
      if (!error)
        error = fault;
    problem.operands.push_back(std::move(binding));
  }

  OperandBinding inferShape(const Operand &operand) {
    OperandBinding binding;
    if (operand.role != OperandRole::Output)
      fail(operand, "not given");
    for (const Extent &extent : operand.shape) {
      if (!extent.symbol.empty() && problem.symbols.count(extent.symbol) == 0)
        solveSize(operand, binding.shape.size());
      auto it = problem.symbols.find(extent.symbol);
      if (!extent.symbol.empty() && it == problem.symbols.end())
        fail(operand, "no other operand gives the size " + extent.symbol);
      else
        binding.shape.push_back(extent.symbol.empty() ? extent.size
                                                      : it->second);
    }
    return binding;
  }

  /// The size of dimension `d` that satisfies the first constraint that names
  /// it, if that is linear in it and has no other size that is not known.
  void solveSize(const Operand &operand, size_t d) {
    std::string name = "dim(" + operand.name + ", " + number(d) + ")";
    for (const Constraint &constraint : manifest.constraints) {
      if (constraint.expr.find(name) == std::string::npos)
        continue;
      std::optional<int64_t> at0 = evaluateAt(constraint, operand, d, 0),
                             at1 = evaluateAt(constraint, operand, d, 1);
      if (!at0 || !at1 || *at0 == *at1)
        continue;
      int64_t size = (constraint.equals - *at0) / (*at1 - *at0);
      if (size >= 0)
        problem.symbols.emplace(operand.shape[d].symbol, size);
      return;
    }
  }

  /// A constraint where dimension `d` of the operand that is next has `size`.
  std::optional<int64_t> evaluateAt(const Constraint &constraint,
                                    const Operand &operand, size_t d,
                                    int64_t size) {
    OperandBinding tried;
    tried.shape.resize(operand.shape.size());
    tried.shape[d] = size;
    problem.operands.push_back(std::move(tried));
    Result<int64_t> value =
        evaluateInteger(constraint.expr, problem, "constraint");
    problem.operands.pop_back();
    return value ? std::optional(*value) : std::nullopt;
  }

  std::vector<int64_t> rowMajorStrides(const Operand &operand,
                                       const std::vector<int64_t> &shape) {
    std::vector<int64_t> strides(shape.size(), 1);
    int64_t stride = 1;
    for (size_t d = shape.size(); d-- > 0;) {
      strides[d] = stride;
      int64_t size = shape[d] > 0 ? shape[d] : 1;
      if (__builtin_mul_overflow(stride, size, &stride) ||
          stride > std::numeric_limits<int64_t>::max() / 8) {
        fail(operand, "size overflows 64 bits");
        break;
      }
    }
    return strides;
  }

  void checkStrides(const Operand &operand, const OperandBinding &binding) {
    if (binding.strides.size() != binding.shape.size())
      return fail(operand, "expected " + number(binding.shape.size()) +
                               " strides, got " +
                               number(binding.strides.size()));
    std::vector<bool> contiguous(binding.shape.size(), false);
    for (int64_t dim : operand.strides.contiguousDims)
      contiguous[dim] = true;
    for (size_t d = 0; d < binding.shape.size(); ++d) {
      int64_t stride = binding.strides[d];
      if (stride < 0)
        return fail(operand, "expected stride " + number(d) +
                                 " to be at least 0, got " + number(stride));
      // The stride of a dimension of size 1 is never used.
      if (binding.shape[d] <= 1)
        continue;
      if (contiguous[d] && stride != 1)
        return fail(operand, "expected stride " + number(d) + " to be 1, got " +
                                 number(stride));
      if (!contiguous[d] && stride % operand.strides.multipleOf != 0)
        return fail(operand, "expected stride " + number(d) +
                                 " to be a multiple of " +
                                 number(operand.strides.multipleOf) + ", got " +
                                 number(stride));
    }
  }

  void checkConstraints() {
    for (const Constraint &constraint : manifest.constraints) {
      Result<int64_t> value =
          evaluateInteger(constraint.expr, problem, "constraint");
      if (!value) {
        error = Error{value.error()};
        return;
      }
      if (*value != constraint.equals) {
        error = Error{constraint.message + ": expected " + constraint.expr +
                      " to be " + number(constraint.equals) + ", got " +
                      number(*value)};
        return;
      }
    }
  }

  void fail(const Operand &operand, const std::string &what) {
    if (!error)
      error = Error{"operand " + operand.name + ": " + what};
  }

  const Manifest &manifest;
  BoundProblem problem;
  std::optional<Error> error;
};

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

class LaunchResolver {
public:
  explicit LaunchResolver(const BoundProblem &problem) : problem(problem) {}

  Result<std::vector<KernelLaunch>> run() {
    std::vector<KernelLaunch> launches;
    bool hasPredecessor = false;
    const std::vector<Kernel> &kernels = problem.manifest->kernels;
    int64_t repeat = integer(problem.manifest->repeat, "repeat", 0, maxRepeat);
    for (int64_t iteration = 0; iteration < repeat && !error; ++iteration) {
      problem.symbols["iteration"] = iteration;
      for (size_t i = 0; i < kernels.size(); ++i) {
        launches.push_back(
            resolveKernel(kernels[i], "kernels[" + number(i) + "]"));
        launches.back().isProgrammatic =
            hasPredecessor && kernels[i].after == LaunchOrder::Programmatic;
        hasPredecessor |= !launches.back().isEmpty();
      }
    }
    if (error)
      return *error;
    return launches;
  }

private:
  KernelLaunch resolveKernel(const Kernel &kernel, const std::string &path) {
    KernelLaunch launch;
    launch.kernel = &kernel;
    // PTX ISA, %nctaid: x holds 31 bits, y and z 16.
    const int64_t limits[3] = {0x7fffffff, 0xffff, 0xffff};
    for (size_t i = 0; i < 3; ++i) {
      std::string what = path + ".grid[" + number(i) + "]";
      launch.grid[i] = integer(kernel.grid[i], what, 0, limits[i]);
      if (launch.grid[i] % kernel.cluster[i] != 0)
        fail(what + ": expected a multiple of the cluster's " +
             number(kernel.cluster[i]) + " CTAs, got " +
             number(launch.grid[i]));
    }
    launch.sharedBytes =
        integer(kernel.sharedBytes, path + ".shared_bytes", 0, 1 << 24);
    for (size_t i = 0; i < kernel.parameters.size(); ++i)
      launch.parameters.push_back(resolveParameter(
          kernel.parameters[i], path + ".parameters[" + number(i) + "]"));
    return launch;
  }

  ParameterValue resolveParameter(const Parameter &parameter,
                                  const std::string &path) {
    ParameterValue value;
    value.parameter = &parameter;
    switch (parameter.kind) {
    case ParameterKind::I32:
      value.scalar = Scalar::ofInteger(
          integer(parameter.value, path, std::numeric_limits<int32_t>::min(),
                  std::numeric_limits<int32_t>::max()));
      break;
    case ParameterKind::I64:
      value.scalar = Scalar::ofInteger(
          integer(parameter.value, path, std::numeric_limits<int64_t>::min()));
      break;
    case ParameterKind::F32:
    case ParameterKind::F64:
      value.scalar = Scalar::ofReal(scalar(parameter.value, path).asReal());
      break;
    case ParameterKind::TensorMap:
      resolveTensorMap(parameter.tensorMap, path, value);
      [[fallthrough]];
    case ParameterKind::Pointer:
      value.byteOffset = integer(parameter.byteOffset, path + ".byte_offset",
                                 std::numeric_limits<int64_t>::min());
    }
    return value;
  }

  void resolveTensorMap(const TensorMap &map, const std::string &path,
                        ParameterValue &value) {
    for (size_t i = 0; i < map.dims.size(); ++i)
      value.dims.push_back(integer(
          map.dims[i], path + ".dims[" + number(i) + "]", 0, maxTensorMapDim));
    for (size_t i = 0; i < map.stridesBytes.size(); ++i) {
      std::string what = path + ".strides_bytes[" + number(i) + "]";
      int64_t stride =
          integer(map.stridesBytes[i], what, 0, maxTensorMapStride - 1);
      // The stride of a dimension with one element is anything, and not used.
      if (value.dims[i + 1] <= 1)
        stride = (stride + 15) / 16 * 16;
      if (stride % 16 != 0)
        fail(what + ": expected a multiple of 16 bytes, got " + number(stride));
      value.stridesBytes.push_back(stride);
    }
  }

  Scalar scalar(const std::string &expr, const std::string &path) {
    Result<Expression> expression = Expression::parse(expr);
    if (!expression) {
      fail(path + ": " + expression.error());
      return {};
    }
    Result<Scalar> value = expression->evaluate(problem.scope());
    if (!value) {
      fail(path + ": " + value.error());
      return {};
    }
    return *value;
  }

  /// An integer between `low` and `high`; `low` (and an error) otherwise.
  int64_t integer(const std::string &expr, const std::string &path,
                  int64_t low = 0,
                  int64_t high = std::numeric_limits<int64_t>::max()) {
    Result<int64_t> value = evaluateInteger(expr, problem, path);
    if (!value) {
      fail(value.error());
      return low;
    }
    if (*value < low || *value > high) {
      fail(path + ": expected " + number(low) + " to " + number(high) +
           ", got " + number(*value));
      return low;
    }
    return *value;
  }

  void fail(const std::string &message) {
    if (!error)
      error = Error{message};
  }

  static constexpr int64_t maxRepeat = 1 << 20;

  BoundProblem problem; ///< a copy: the iteration is one of its symbols
  std::optional<Error> error;
};

} // namespace

ExpressionScope BoundProblem::scope() const {
  ExpressionScope scope;
  scope.symbol = [this](const std::string &name) -> std::optional<int64_t> {
    if (name == "sm_count")
      return smCount;
    auto it = symbols.find(name);
    if (it == symbols.end())
      return std::nullopt;
    return it->second;
  };
  auto access = [this](std::vector<int64_t> OperandBinding::*list) {
    return [this, list](const std::string &name,
                        int64_t dim) -> std::optional<int64_t> {
      for (size_t i = 0; i < operands.size(); ++i) {
        const std::vector<int64_t> &values = operands[i].*list;
        if (manifest->operands[i].name == name && dim < int64_t(values.size()))
          return values[dim];
      }
      return std::nullopt;
    };
  };
  scope.dim = access(&OperandBinding::shape);
  scope.stride = access(&OperandBinding::strides);
  return scope;
}

Result<BoundProblem> attn::runtime::bindOperands(
    const Manifest &manifest,
    const std::vector<std::optional<OperandBinding>> &operands,
    int64_t smCount) {
  return Binder(manifest, smCount).run(operands);
}

std::optional<Error> attn::runtime::checkAlignment(const Operand &operand,
                                                   uint64_t address) {
  if (address % operand.alignmentBytes == 0)
    return std::nullopt;
  return Error{"operand " + operand.name + ": expected alignment to " +
               number(operand.alignmentBytes) + " bytes, got address " +
               std::to_string(address)};
}

namespace {
/// The bytes of an operand, from its first to behind its last; none where the
/// address is not known.
struct Range {
  Range(const Operand &operand, const OperandBinding &binding) {
    int64_t last = 0, elements = 1, rowMajor = 1;
    for (size_t d = binding.shape.size(); d-- > 0;) {
      int64_t size = binding.shape[d];
      last += (size - 1) *
              (binding.strides.empty() ? rowMajor : binding.strides[d]);
      rowMajor *= size;
      elements *= size;
    }
    if (binding.address == 0 || elements == 0)
      return;
    begin = binding.address;
    end = begin + (last + 1) * byteSize(operand.dtype);
    hasGaps = last + 1 != elements;
  }

  uint64_t begin = 0, end = 0;
  bool hasGaps = false;
};
} // namespace

std::optional<Error>
attn::runtime::checkAliases(const Manifest &manifest,
                            const std::vector<OperandBinding> &operands) {
  for (size_t i = 0; i < operands.size(); ++i)
    for (size_t j = 0; j < operands.size(); ++j) {
      if (i == j || manifest.operands[i].role != OperandRole::Output)
        continue;
      Range output(manifest.operands[i], operands[i]);
      Range other(manifest.operands[j], operands[j]);
      bool areApart = output.end <= other.begin || other.end <= output.begin;
      bool areWoven =
          (output.hasGaps || other.hasGaps) && output.begin != other.begin;
      if (!areApart && !areWoven)
        return Error{"operand " + manifest.operands[i].name +
                     ": expected memory of its own, got that of operand " +
                     manifest.operands[j].name};
    }
  return std::nullopt;
}

Result<std::vector<KernelLaunch>>
attn::runtime::resolveLaunches(const BoundProblem &problem) {
  return LaunchResolver(problem).run();
}

Result<std::vector<int64_t>>
attn::runtime::workspaceBytes(const BoundProblem &problem) {
  std::vector<int64_t> sizes;
  for (const Workspace &workspace : problem.manifest->workspaces) {
    Result<int64_t> bytes = evaluateInteger(workspace.bytes, problem,
                                            "workspace " + workspace.name);
    if (!bytes)
      return Error{bytes.error()};
    if (*bytes < 0)
      return Error{"workspace " + workspace.name +
                   ": expected at least 0 bytes, got " +
                   std::to_string(*bytes)};
    sizes.push_back(*bytes);
  }
  return sizes;
}

Result<int64_t> attn::runtime::evaluateInteger(const std::string &expr,
                                               const BoundProblem &problem,
                                               const std::string &what) {
  Result<Expression> expression = Expression::parse(expr);
  if (!expression)
    return Error{what + ": " + expression.error()};
  Result<Scalar> value = expression->evaluate(problem.scope());
  if (!value)
    return Error{what + ": " + value.error()};
  if (value->isFloat)
    return Error{what + ": expected an integer, got a float in '" + expr + "'"};
  return value->integer;
}
