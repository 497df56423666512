//===- Manifest.h - Everything a launcher needs to know ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The manifest (NAME.json) that the compiler writes beside NAME.ptx, as plain
/// structs, with its reader, writer and the binding of actual operands to it.
/// docs/Manifest.md gives the schema. An `expr` is text in the grammar of
/// Expression.h.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_MANIFEST_H
#define ATTN_RUNTIME_MANIFEST_H

#include "attn/Runtime/Expression.h"
#include "attn/Support/Result.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace attn::runtime {

/// The value of the "schema" field that this library reads and writes.
inline constexpr const char *manifestSchema = "attn-mlir/manifest/1";

//===----------------------------------------------------------------------===//
// The file's content
//===----------------------------------------------------------------------===//

enum class DType { F8E4M3FN, F8E5M2, F16, BF16, F32, F64, I1, I8, I32, I64 };
enum class OperandRole { Input, Output, InOut };
enum class WorkspaceFill { None, Zero };
enum class TensorMapFill { Zero, NaN };
/// What a launch comes after: the end of the one before it, or the moment when
/// all CTAs of that have ended or let it in, and the kernel waits for the rest.
enum class LaunchOrder { Previous, Programmatic };
enum class ParameterKind { Pointer, I32, I64, F32, F64, TensorMap };

/// Bytes of one element in memory; i1 takes a whole byte.
unsigned byteSize(DType dtype);
/// The name in the file: "f16", "bf16", ...
const char *name(DType dtype);
std::optional<DType> parseDType(const std::string &text);

/// One dimension of a shape: a fixed size, or a symbol when `symbol` is set.
struct Extent {
  int64_t size = 0;
  std::string symbol;
};

/// What the kernel assumes of an operand's strides (in elements).
struct StrideConstraints {
  /// Dimensions whose stride is 1.
  std::vector<int64_t> contiguousDims;
  /// Every other stride is a multiple of this.
  int64_t multipleOf = 1;
};

/// A tensor that the caller passes: an argument or a result.
struct Operand {
  std::string name;
  OperandRole role = OperandRole::Input;
  DType dtype = DType::F32;
  std::vector<Extent> shape;
  StrideConstraints strides;
  int64_t alignmentBytes = 1;
};

/// A condition on the sizes: `expr` must equal `equals`.
struct Constraint {
  std::string expr;
  int64_t equals = 0;
  std::string message;
};

/// Device memory that the launcher allocates for the kernels.
struct Workspace {
  std::string name;
  std::string bytes; // expr
  WorkspaceFill fill = WorkspaceFill::None;
  int64_t alignmentBytes = 256;
};

/// A tiled CUtensorMap over an operand or workspace; lists go from the
/// innermost dimension outwards, as cuTensorMapEncodeTiled takes them.
struct TensorMap {
  DType dtype = DType::F16;
  std::vector<std::string> dims;         // expr, elements
  std::vector<std::string> stridesBytes; // expr, dimensions 1.. only
  std::vector<int64_t> box;
  std::vector<int64_t> elementStrides; // empty: all 1
  int64_t swizzleBytes = 0;            // 0, 32, 64 or 128
  TensorMapFill fill = TensorMapFill::Zero;
};

/// One kernel parameter, in the order of the PTX entry.
struct Parameter {
  ParameterKind kind = ParameterKind::Pointer;
  /// Pointer and tensor map: the operand or the workspace it points to, with
  /// exactly one of the two set.
  std::string operand;
  std::string workspace;
  std::string byteOffset = "0"; // expr
  /// Scalars.
  std::string value; // expr
  TensorMap tensorMap;
};

/// One launch.
struct Kernel {
  std::string entry;
  LaunchOrder after = LaunchOrder::Previous;
  std::array<std::string, 3> grid{"1", "1", "1"}; // expr, in CTAs
  std::array<int64_t, 3> block{1, 1, 1};          // threads
  std::array<int64_t, 3> cluster{1, 1, 1};        // CTAs
  std::string sharedBytes = "0";                  // expr, dynamic shared memory
  std::vector<Parameter> parameters;
};

/// The cost model's prediction of HBM traffic for one operand or workspace.
struct PredictedBytes {
  std::string operand;
  std::string read;  // expr
  std::string write; // expr
};

struct Manifest {
  std::string name;
  std::string target; // "sm_80", "sm_90a"
  std::string ptx;    // file name, in the manifest's folder
  /// Of the PTX that belongs to it, as getPtxDigest gives it; may be empty.
  std::string ptxDigest;
  std::vector<Operand> operands;
  std::vector<Constraint> constraints;
  std::vector<Workspace> workspaces;
  std::vector<Kernel> kernels; // in launch order
  /// How often the kernels are launched, one after the other (expr). Their
  /// expressions may use the symbol `iteration`: 0, 1, ...
  std::string repeat = "1";
  std::vector<PredictedBytes> predictedBytes;
  /// Free-form JSON objects, kept as text.
  std::string schedule = "{}";
  std::string semantics = "{}";

  const Operand *findOperand(const std::string &name) const;
  const Workspace *findWorkspace(const std::string &name) const;
};

/// Parses and validates `text`. An error gives the JSON path and, for an
/// expression, the column: "kernels[0].grid[1]: column 4: expected ')'". Of a
/// bundle (Bundle.h) with one program it is that program's.
Result<Manifest> readManifest(const std::string &text);

/// 16 hexadecimal digits that other PTX is unlikely to have (FNV-1a, 64 bits):
/// they tell files of different compilations apart, and prove nothing.
std::string getPtxDigest(const std::string &ptx);

/// An error if `ptx` is not the one that the manifest was written with.
std::optional<Error> checkPtxDigest(const Manifest &manifest,
                                    const std::string &ptx);

/// Checks what the types cannot express: names exist and are unique, ranks
/// agree, expressions parse. Returns the first fault.
std::optional<Error> validate(const Manifest &manifest);

/// The file's text: stable order, two-space indentation, final newline.
std::string writeManifest(const Manifest &manifest);

//===----------------------------------------------------------------------===//
// Binding
//===----------------------------------------------------------------------===//

/// The tensor that a caller passes for an operand. Empty `strides`: row-major.
/// A zero `address` skips the alignment check.
struct OperandBinding {
  std::vector<int64_t> shape;
  std::vector<int64_t> strides; // elements
  uint64_t address = 0;
};

/// Sizes of a problem that agree with a manifest.
struct BoundProblem {
  const Manifest *manifest = nullptr;
  std::vector<OperandBinding> operands; // as the manifest's, all filled in
  std::map<std::string, int64_t> symbols;
  int64_t smCount = 1;

  /// The names of this problem, for Expression::evaluate.
  ExpressionScope scope() const;
};

/// Checks ranks, sizes, strides, alignment and constraints. An operand without
/// a binding must be an output whose symbols other operands bind; it becomes
/// row-major. Errors read "operand query: expected dim 3 to be 128, got 64".
Result<BoundProblem>
bindOperands(const Manifest &manifest,
             const std::vector<std::optional<OperandBinding>> &operands,
             int64_t smCount = 1);

/// A parameter with its expressions evaluated.
struct ParameterValue {
  const Parameter *parameter = nullptr;
  int64_t byteOffset = 0;
  Scalar scalar;
  std::vector<uint64_t> dims;         // tensor map
  std::vector<uint64_t> stridesBytes; // tensor map
};

/// A launch with its expressions evaluated. A grid with a zero dimension means
/// that there is nothing to launch.
struct KernelLaunch {
  const Kernel *kernel = nullptr;
  std::array<int64_t, 3> grid{};
  int64_t sharedBytes = 0;
  /// Programmatic, and behind a launch of this problem that has CTAs: what was
  /// launched before the problem is somebody else's.
  bool isProgrammatic = false;

  bool isEmpty() const { return grid[0] == 0 || grid[1] == 0 || grid[2] == 0; }

  std::vector<ParameterValue> parameters;
};

/// Evaluates every launch for a problem, in order: all kernels, `repeat` times.
Result<std::vector<KernelLaunch>> resolveLaunches(const BoundProblem &problem);

/// Bytes of each workspace, in the manifest's order.
Result<std::vector<int64_t>> workspaceBytes(const BoundProblem &problem);

/// JSON: {"symbols": {"M": 300}, "operands": [{"shape", "strides"}, ...]}.
std::string writeProblem(const BoundProblem &problem);

/// What is launched, as JSON: {"workspace_bytes": [...], "launches":
/// [{"kernel": its number, "grid", "shared_bytes", "programmatic": whether it
/// starts so, "parameters": [...]}, ...]}; a parameter has a "value" or a
/// "byte_offset", a tensor map "dims" and "strides_bytes" too.
Result<std::string> writeLaunches(const BoundProblem &problem);

/// Evaluates an integer expression in a problem; `what` prefixes the error.
Result<int64_t> evaluateInteger(const std::string &expr,
                                const BoundProblem &problem,
                                const std::string &what);

} // namespace attn::runtime

#endif // ATTN_RUNTIME_MANIFEST_H
