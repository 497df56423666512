//===- EmitHeader.cpp - A C++ header that launches kernels ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The manifest, written out as code: one statement for each check that binding
// does, one block for each launch.
//
//===----------------------------------------------------------------------===//

#include "attn/Target/Header/EmitHeader.h"

#include "CppNames.h"
#include "Prelude.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <iterator>
#include <numeric>
#include <regex>
#include <set>
#include <sstream>

using namespace attn;
using namespace attn::runtime;

/// The prelude's namespace: "attn_launch_0_1_0".
static constexpr char library[] = ATTN_LAUNCH_NAMESPACE;
/// In each function, whatever other versions the program includes.
static constexpr char beginFunction[] =
    "  namespace attn_launch = " ATTN_LAUNCH_NAMESPACE ";\n"
    "  attn_launch::Checker check;\n";

namespace {
/// Writes what launches one program: its arguments and its function.
class ProgramEmitter {
public:
  /// `file` names the PTX in the header.
  ProgramEmitter(const Manifest &manifest, const std::string &file,
                 const std::string &name)
      : manifest(manifest), file(file), name(name) {}

  std::string emit() {
    emitArgs();
    emitLaunch();
    return out.str();
  }

private:
  void emitArgs();

  void emitLaunch();
  void emitSizes();
  void emitLayoutChecks();
  void emitAliasChecks();
  void emitWorkspaces();
  void emitEntries();
  void emitKernel(const Kernel &kernel);
  /// Whether a kernel may start before the end of the one before it.
  bool isChained() const {
    return std::any_of(manifest.kernels.begin(), manifest.kernels.end(),
                       [](const Kernel &kernel) {
                         return kernel.after == LaunchOrder::Programmatic;
                       });
  }
  void emitParameter(const Parameter &parameter, const std::string &variable);
  void emitTensorMap(const Parameter &parameter, const std::string &variable);

  /// The address that a pointer or tensor map starts from.
  static std::string addressOf(const Parameter &parameter) {
    std::string base =
        parameter.operand.empty()
            ? "workspace_" + toIdentifier(parameter.workspace)
            : "args." + toIdentifier(parameter.operand) + ".data";
    return parameter.byteOffset == "0"
               ? base
               : base + " + (" + toCpp(parameter.byteOffset) + ")";
  }

  const Manifest &manifest;
  std::string file, name;
  std::ostringstream out;
};
} // namespace

/// "[B, Hq, M, 64]"
static std::string describeShape(const Operand &operand) {
  std::string text = "[";
  for (const Extent &extent : operand.shape)
    text +=
        (text.size() > 1 ? ", " : "") +
        (extent.symbol.empty() ? std::to_string(extent.size) : extent.symbol);
  return text + "]";
}

static const char *describeRole(OperandRole role) {
  switch (role) {
  case OperandRole::Input:
    return "input";
  case OperandRole::Output:
    return "output";
  case OperandRole::InOut:
    return "input and output";
  }
  return "";
}

static bool isContiguous(const Operand &operand, size_t dim) {
  const std::vector<int64_t> &dims = operand.strides.contiguousDims;
  return std::find(dims.begin(), dims.end(), static_cast<int64_t>(dim)) !=
         dims.end();
}

/// The type of a CUtensorMap's elements.
static const char *tensorMapType(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return "CU_TENSOR_MAP_DATA_TYPE_FLOAT16";
  case DType::BF16:
    return "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16";
  case DType::F32:
    return "CU_TENSOR_MAP_DATA_TYPE_FLOAT32";
  case DType::F64:
    return "CU_TENSOR_MAP_DATA_TYPE_FLOAT64";
  case DType::I32:
    return "CU_TENSOR_MAP_DATA_TYPE_INT32";
  case DType::I64:
    return "CU_TENSOR_MAP_DATA_TYPE_INT64";
  case DType::F8E4M3FN:
  case DType::F8E5M2:
  case DType::I1:
  case DType::I8:
    return "CU_TENSOR_MAP_DATA_TYPE_UINT8";
  }
  return "";
}

void ProgramEmitter::emitArgs() {
  out << "\nstruct " << name << "_Args {\n";
  for (const Operand &operand : manifest.operands) {
    out << "  /// " << runtime::name(operand.dtype) << " "
        << describeShape(operand) << ", " << describeRole(operand.role) << "\n"
        << "  " << library << "::Tensor<" << operand.shape.size() << "> "
        << toIdentifier(operand.name) << ";\n";
  }
  out << "};\n";
}

void ProgramEmitter::emitSizes() {
  std::set<std::string> bound;
  for (const Operand &operand : manifest.operands)
    for (size_t i = 0; i < operand.shape.size(); ++i) {
      const Extent &extent = operand.shape[i];
      std::string actual = "args." + toIdentifier(operand.name) + ".shape[" +
                           std::to_string(i) + "]";
      if (!extent.symbol.empty() && bound.insert(extent.symbol).second) {
        out << "  [[maybe_unused]] const int64_t size_" << extent.symbol
            << " = check.size(" << toLiteral(operand.name) << ", " << i << ", "
            << actual << ");\n";
        continue;
      }
      out << "  check.extent(" << toLiteral(operand.name) << ", " << i << ", "
          << actual << ", "
          << (extent.symbol.empty() ? std::to_string(extent.size)
                                    : "size_" + extent.symbol)
          << ");\n";
    }
}

/// Each output against each other operand, two outputs once.
void ProgramEmitter::emitAliasChecks() {
  auto range = [](const Operand &operand) {
    return "{args." + toIdentifier(operand.name) + ", " +
           std::to_string(byteSize(operand.dtype)) + "}";
  };
  for (const Operand &output : manifest.operands)
    for (const Operand &other : manifest.operands)
      if (output.role == OperandRole::Output &&
          (other.role != OperandRole::Output || &output < &other))
        out << "  check.apart(" << toLiteral(output.name) << ", "
            << range(output) << ", " << toLiteral(other.name) << ", "
            << range(other) << ");\n";
}

void ProgramEmitter::emitLayoutChecks() {
  for (const Operand &operand : manifest.operands) {
    size_t rank = operand.shape.size();
    out << "  check.layout<" << rank << ">(" << toLiteral(operand.name)
        << ", args." << toIdentifier(operand.name) << ", {";
    for (size_t i = 0; i < rank; ++i)
      out << (i ? ", " : "") << (isContiguous(operand, i) ? "true" : "false");
    out << "}, " << operand.strides.multipleOf << ", " << operand.alignmentBytes
        << ");\n";
  }
  emitAliasChecks();
  for (const Constraint &constraint : manifest.constraints)
    out << "  if (check.status)\n    check.require(" << toCpp(constraint.expr)
        << " == " << constraint.equals << ", " << toLiteral(constraint.message)
        << ");\n";
}

/// Where each workspace is in the memory of a call, which is given, or taken
/// from the stream's pool.
void ProgramEmitter::emitWorkspaces() {
  out << "  attn_launch::Workspaces workspaces;\n";
  for (const Workspace &workspace : manifest.workspaces) {
    std::string id = toIdentifier(workspace.name);
    out << "  const size_t bytes_" << id << " = static_cast<size_t>("
        << toCpp(workspace.bytes) << ");\n"
        << "  const size_t offset_" << id << " = workspaces.add(bytes_" << id
        << ");\n";
  }
  out << "  if (planned) {\n    *planned = workspaces.bytes;\n"
         "    return check.status;\n  }\n"
         "  workspaces.take(given, stream, check);\n";
  for (const Workspace &workspace : manifest.workspaces) {
    std::string id = toIdentifier(workspace.name);
    out << "  CUdeviceptr workspace_" << id << " = workspaces.data + offset_"
        << id << ";\n";
    if (workspace.fill == WorkspaceFill::Zero)
      out << "  if (check.status && bytes_" << id
          << " > 0)\n    check.driver(cuda.cuMemsetD8Async(workspace_" << id
          << ", 0, bytes_" << id
          << ", stream), \"cuMemsetD8Async to succeed\");\n";
  }
}

void ProgramEmitter::emitTensorMap(const Parameter &parameter,
                                   const std::string &variable) {
  const TensorMap &map = parameter.tensorMap;
  size_t rank = map.dims.size();
  auto list = [&](const char *type, const char *suffix, size_t size,
                  auto element) {
    out << "    const " << type << " " << variable << suffix << "[] = {";
    for (size_t i = 0; i < size; ++i)
      out << (i ? ", " : "") << "static_cast<" << type << ">(" << element(i)
          << ")";
    out << "};\n";
  };
  list("cuuint64_t", "_dims", rank,
       [&](size_t i) { return toCpp(map.dims[i]); });
  // A tensor map of rank 1 has no strides, an array has at least one element.
  list("cuuint64_t", "_strides", std::max<size_t>(rank - 1, 1), [&](size_t i) {
    if (i == map.stridesBytes.size())
      return std::string("0");
    // The stride of a dimension with one element is anything, and not used.
    std::string stride = toCpp(map.stridesBytes[i]);
    return toCpp(map.dims[i + 1]) + " > 1 ? " + stride + " : (" + stride +
           " + 15) / 16 * 16";
  });
  list("cuuint32_t", "_box", rank,
       [&](size_t i) { return std::to_string(map.box[i]); });
  list("cuuint32_t", "_steps", rank, [&](size_t i) {
    return map.elementStrides.empty() ? "1"
                                      : std::to_string(map.elementStrides[i]);
  });
  std::string swizzle =
      map.swizzleBytes == 0 ? "NONE" : std::to_string(map.swizzleBytes) + "B";
  out << "    const CUdeviceptr " << variable << "_base = module->nonNull("
      << addressOf(parameter) << ", check);\n    CUtensorMap " << variable
      << "{};\n    if (check.status)\n      check.driver(\n"
      << "          cuda.cuTensorMapEncodeTiled(\n              &" << variable
      << ", " << tensorMapType(map.dtype) << ", " << rank
      << ",\n              reinterpret_cast<void *>(" << variable << "_base), "
      << variable << "_dims,\n              " << variable << "_strides, "
      << variable << "_box, " << variable
      << "_steps,\n              CU_TENSOR_MAP_INTERLEAVE_NONE, "
         "CU_TENSOR_MAP_SWIZZLE_"
      << swizzle
      << ",\n              CU_TENSOR_MAP_L2_PROMOTION_L2_128B, "
         "CU_TENSOR_MAP_FLOAT_OOB_FILL_"
      << (map.fill == TensorMapFill::Zero ? "NONE" : "NAN_REQUEST_ZERO_FMA")
      << "),\n          \"cuTensorMapEncodeTiled to succeed\");\n";
}

void ProgramEmitter::emitParameter(const Parameter &parameter,
                                   const std::string &variable) {
  auto scalar = [&](const char *type) {
    out << "    " << type << " " << variable << " = static_cast<" << type
        << ">(" << toCpp(parameter.value) << ");\n";
  };
  switch (parameter.kind) {
  case ParameterKind::Pointer:
    out << "    CUdeviceptr " << variable << " = " << addressOf(parameter)
        << ";\n";
    return;
  case ParameterKind::I32:
    out << "    check.require((" << toCpp(parameter.value)
        << ") <= 2147483647, \"expected sizes and strides that fit 32 "
           "bits\");\n";
    return scalar("int32_t");
  case ParameterKind::I64:
    return scalar("int64_t");
  case ParameterKind::F32:
    return scalar("float");
  case ParameterKind::F64:
    return scalar("double");
  case ParameterKind::TensorMap:
    return emitTensorMap(parameter, variable);
  }
}

void ProgramEmitter::emitKernel(const Kernel &kernel) {
  auto triple = [](const auto &values, auto text) {
    return "{" + text(values[0]) + ", " + text(values[1]) + ", " +
           text(values[2]) + "}";
  };
  auto number = [](int64_t value) { return std::to_string(value); };
  out << "  if (const std::array<int64_t, 3> grid" << triple(kernel.grid, toCpp)
      << "; check.status && attn_launch::hasCtas(grid)) {\n";
  std::string addresses;
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    std::string variable = "parameter" + std::to_string(i);
    emitParameter(kernel.parameters[i], variable);
    addresses += (i ? ", &" : "&") + variable;
  }
  out << "    void *parameters[] = {"
      << (addresses.empty() ? "nullptr" : addresses) << "};\n"
      << "    attn_launch::launch(check, *module, " << toLiteral(kernel.entry)
      << ", grid, " << triple(kernel.block, number) << ", "
      << triple(kernel.cluster, number) << ",\n                        "
      << toCpp(kernel.sharedBytes) << ", stream, parameters"
      << (kernel.after == LaunchOrder::Programmatic ? ", hasPredecessor" : "")
      << ");\n"
      << (isChained() ? "    hasPredecessor = true;\n" : "") << "  }\n";
}

/// An attn_launch::Architecture: `{"sm_90a", 90, true}`. PTX for "sm_90a" runs
/// on that architecture only, PTX for "sm_80" on later ones too.
static std::string describeArchitecture(const std::string &target) {
  std::string digits;
  std::copy_if(target.begin(), target.end(), std::back_inserter(digits),
               [](unsigned char c) { return std::isdigit(c); });
  bool isExact = !target.empty() && target.back() == 'a';
  return "{" + toLiteral(target) + ", " + (digits.empty() ? "0" : digits) +
         ", " + (isExact ? "true" : "false") + "}";
}

void ProgramEmitter::emitLaunch() {
  out << "\n/// What the functions below do: plans, where `planned` takes the "
         "bytes; else\n/// launches, in memory that is `given`, if it is.\n"
      << "inline " << library << "::Status " << name << "_call(const " << name
      << "_Args &args,\n    const " << library
      << "::Workspace *given, size_t *planned, CUstream stream) {\n"
      << beginFunction;
  emitSizes();
  emitLayoutChecks();
  out << "  if (!check.status)\n    return check.status;\n"
      << "  attn_launch::Module *module = attn_launch::Module::get(\n      "
      << file << "_ptx, " << describeArchitecture(manifest.target)
      << ", check);\n  if (!module)\n    return check.status;\n"
      << "  [[maybe_unused]] const attn_launch::Driver &cuda = "
         "attn_launch::Driver::get();\n"
      << "  [[maybe_unused]] const int64_t size_sm_count = module->smCount;\n";
  emitWorkspaces();
  // What was launched before is somebody else's.
  if (isChained())
    out << "  bool hasPredecessor = false;\n";
  if (manifest.repeat != "1")
    out << "  for (int64_t size_iteration = 0, repeat = "
        << toCpp(manifest.repeat)
        << "; check.status && size_iteration < repeat; ++size_iteration) {\n";
  for (const Kernel &kernel : manifest.kernels)
    emitKernel(kernel);
  if (manifest.repeat != "1")
    out << "  }\n";
  out << "  if (!given)\n    workspaces.free(stream, check);\n"
      << "  return check.status;\n}\n";
  emitEntries();
}

/// What a caller uses.
void ProgramEmitter::emitEntries() {
  std::string arguments = "(const " + name + "_Args &args";
  auto begin = [&](const char *doc, const char *entry,
                   const std::string &more) {
    out << "\n"
        << doc << "inline " << library << "::Status " << name << entry
        << arguments << more << ") {\n  return " << name << "_call(args, ";
  };
  begin("/// Launches on `stream` in this thread's context; the first fault "
        "found is\n/// returned and nothing launched. Threads may call it at "
        "once. Memory beside the\n/// arguments comes from the stream's pool, "
        "and goes back to it.\n",
        "_launch", ", CUstream stream");
  out << "nullptr, nullptr, stream);\n}\n";
  begin("/// The bytes of device memory that a launch takes beside its "
        "arguments, for "
        "their\n/// sizes: whatever is in them, such as lengths.\n",
        "_plan", ", size_t &workspaceBytes");
  out << "nullptr, &workspaceBytes, nullptr);\n}\n";
  begin("/// Launches with memory of the caller's, as many bytes as the plan "
        "says or more, in\n/// which calls on one stream may follow each "
        "other: nothing is allocated.\n",
        "_run",
        ", " + std::string(library) + "::Workspace workspace, CUstream stream");
  out << "&workspace, nullptr, stream);\n}\n";
}

static void emitHead(std::ostream &out, const Bundle &bundle) {
  std::string name = toIdentifier(bundle.name);
  out << "// " << bundle.name << ": written by attn-opt for " << bundle.target
      << ".\n// C++17; needs cuda.h, -ldl and, when it runs, the CUDA "
         "driver.\n"
      << "#ifndef ATTN_HEADER_" << name << "\n#define ATTN_HEADER_" << name
      << "\n"
      << std::regex_replace(headerPrelude, std::regex("attn_launch_VERSION"),
                            library);
}

static bool isLargeCluster(const Kernel &kernel) {
  return std::accumulate(kernel.cluster.begin(), kernel.cluster.end(),
                         int64_t{1}, std::multiplies<>()) > 8;
}

static bool hasTensorMaps(const Bundle &bundle) {
  for (const Manifest &program : bundle.programs)
    for (const Kernel &kernel : program.kernels)
      for (const Parameter &parameter : kernel.parameters)
        if (parameter.kind == ParameterKind::TensorMap)
          return true;
  return false;
}

/// What loads the module before its first launch, and what unloads it.
static void emitLoading(std::ostream &out, const Bundle &bundle) {
  std::string name = toIdentifier(bundle.name);
  out << "\n/// Loads the kernels in this thread's context, as the first "
         "launch "
         "would: call it\n/// before a stream is captured.\n"
      << "inline " << library << "::Status " << name << "_load() {\n"
      << beginFunction << "  attn_launch::Module *module = "
      << "attn_launch::Module::get(\n      " << name << "_ptx, "
      << describeArchitecture(bundle.target) << ", check);\n"
      << "  if (!module)\n    return check.status;\n";
  if (hasTensorMaps(bundle))
    out << "  module->nonNull(0, check);\n";
  for (const Manifest &program : bundle.programs)
    for (const Kernel &kernel : program.kernels)
      out << "  module->getKernel(" << toLiteral(kernel.entry) << ", 0, "
          << (isLargeCluster(kernel) ? "true" : "false") << ", check);\n";
  out << "  return check.status;\n}\n"
      << "\n/// Unloads the kernels from this thread's context: none may run, "
         "or be launched\n/// meanwhile by another thread.\n"
      << "inline " << library << "::Status " << name << "_unload() {\n"
      << beginFunction << "  attn_launch::Module::unload(" << name
      << "_ptx, check);\n  return check.status;\n}\n";
}

static void emitPtx(std::ostream &out, const Bundle &bundle,
                    const std::string &ptx) {
  // Compilers limit the length of one literal, not of several side by side.
  constexpr size_t chunk = 8000;
  out << "\n#ifdef __clang__ // -Wpedantic has a limit for all of them, too\n"
         "#pragma clang diagnostic push\n"
         "#pragma clang diagnostic ignored \"-Woverlength-strings\"\n#endif\n"
         "inline constexpr char "
      << toIdentifier(bundle.name) << "_ptx[] =";
  for (size_t at = 0; at < ptx.size(); at += chunk)
    out << "\n    R\"PTX(" << ptx.substr(at, chunk) << ")PTX\"";
  out << (ptx.empty() ? " \"\";\n" : ";\n")
      << "#ifdef __clang__\n#pragma clang diagnostic pop\n#endif\n";
}

std::string attn::emitHeader(const Bundle &bundle, const std::string &ptx) {
  std::ostringstream out;
  std::string file = toIdentifier(bundle.name);
  emitHead(out, bundle);
  emitPtx(out, bundle, ptx);
  bool isAlone = bundle.programs.size() == 1 && bundle.calls.empty();
  for (const Manifest &program : bundle.programs)
    out << ProgramEmitter(program, file,
                          isAlone ? file
                                  : file + "_" + toIdentifier(program.name))
               .emit();
  emitLoading(out, bundle);
  out << "\n#endif // ATTN_HEADER_" << file << "\n";
  return out.str();
}
