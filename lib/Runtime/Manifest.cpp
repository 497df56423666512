//===- Manifest.cpp - Reading and checking a manifest ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// JSON text to structs. Unknown fields are errors: a misspelt optional field
/// must not become its default.
///
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Manifest.h"
#include "attn/Runtime/Bundle.h"

#include "JsonCursor.h"
#include "ManifestNames.h"

#include <algorithm>
#include <cstdio>

using namespace attn;
using namespace attn::runtime;
using nlohmann::json;

unsigned attn::runtime::byteSize(DType dtype) {
  switch (dtype) {
  case DType::F8E4M3FN:
  case DType::F8E5M2:
  case DType::I1:
  case DType::I8:
    return 1;
  case DType::F16:
  case DType::BF16:
    return 2;
  case DType::F32:
  case DType::I32:
    return 4;
  case DType::F64:
  case DType::I64:
    return 8;
  }
  return 0;
}

const char *attn::runtime::name(DType dtype) {
  return spell(dtypeNames, dtype);
}

std::optional<DType> attn::runtime::parseDType(const std::string &text) {
  for (const auto &entry : dtypeNames)
    if (text == entry.text)
      return entry.value;
  return std::nullopt;
}

template <typename T>
static const T *findByName(const std::vector<T> &list,
                           const std::string &name) {
  auto it = std::find_if(list.begin(), list.end(),
                         [&](const T &item) { return item.name == name; });
  return it == list.end() ? nullptr : &*it;
}

const Operand *Manifest::findOperand(const std::string &name) const {
  return findByName(operands, name);
}

const Workspace *Manifest::findWorkspace(const std::string &name) const {
  return findByName(workspaces, name);
}

namespace {

std::string readExpr(const Cursor &c) { return c.expr(); }
int64_t readInteger(const Cursor &c) { return c.integer(); }

Extent readExtent(const Cursor &c) {
  if (c.isString())
    return {0, c.string()};
  return {c.integer(), ""};
}

Operand readOperand(const Cursor &c) {
  Operand operand;
  if (!c.expectObject({"name", "role", "dtype", "shape", "stride_constraints",
                       "alignment_bytes"}))
    return operand;
  operand.name = c.field("name").string();
  operand.role = c.field("role").oneOf(roleNames);
  operand.dtype = c.field("dtype").oneOf(dtypeNames);
  operand.shape = c.field("shape").list(readExtent);
  if (c.has("stride_constraints")) {
    Cursor strides = c.field("stride_constraints");
    strides.expectObject({"contiguous_dims", "multiple_of"});
    if (strides.has("contiguous_dims"))
      operand.strides.contiguousDims =
          strides.field("contiguous_dims").list(readInteger);
    if (strides.has("multiple_of"))
      operand.strides.multipleOf = strides.field("multiple_of").integer();
  }
  if (c.has("alignment_bytes"))
    operand.alignmentBytes = c.field("alignment_bytes").integer();
  return operand;
}

Constraint readConstraint(const Cursor &c) {
  Constraint constraint;
  if (!c.expectObject({"expr", "equals", "message"}))
    return constraint;
  constraint.expr = c.field("expr").expr();
  constraint.equals = c.field("equals").integer();
  constraint.message = c.field("message").string();
  return constraint;
}

Workspace readWorkspace(const Cursor &c) {
  Workspace workspace;
  if (!c.expectObject({"name", "bytes", "fill", "alignment_bytes"}))
    return workspace;
  workspace.name = c.field("name").string();
  workspace.bytes = c.field("bytes").expr();
  if (c.has("fill"))
    workspace.fill = c.field("fill").oneOf(workspaceFillNames);
  if (c.has("alignment_bytes"))
    workspace.alignmentBytes = c.field("alignment_bytes").integer();
  return workspace;
}

/// The fields "operand" or "workspace" and "byte_offset".
void readBase(const Cursor &c, Parameter &parameter) {
  if (c.has("operand") == c.has("workspace")) {
    c.fail("expected one of 'operand' and 'workspace'");
    return;
  }
  if (c.has("operand"))
    parameter.operand = c.field("operand").string();
  else
    parameter.workspace = c.field("workspace").string();
  if (c.has("byte_offset"))
    parameter.byteOffset = c.field("byte_offset").expr();
}

TensorMap readTensorMap(const Cursor &c) {
  TensorMap map;
  map.dtype = c.field("dtype").oneOf(dtypeNames);
  map.dims = c.field("dims").list(readExpr);
  map.stridesBytes = c.field("strides_bytes").list(readExpr);
  map.box = c.field("box").list(readInteger);
  if (c.has("element_strides"))
    map.elementStrides = c.field("element_strides").list(readInteger);
  if (c.has("swizzle"))
    map.swizzleBytes = c.field("swizzle").integer();
  if (c.has("fill"))
    map.fill = c.field("fill").oneOf(tensorMapFillNames);
  return map;
}

Parameter readParameter(const Cursor &c) {
  Parameter parameter;
  parameter.kind = c.field("kind").oneOf(parameterKindNames);
  switch (parameter.kind) {
  case ParameterKind::Pointer:
    if (c.expectObject({"kind", "operand", "workspace", "byte_offset"}))
      readBase(c, parameter);
    break;
  case ParameterKind::TensorMap:
    if (c.expectObject({"kind", "operand", "workspace", "byte_offset", "dtype",
                        "dims", "strides_bytes", "box", "element_strides",
                        "swizzle", "fill"})) {
      readBase(c, parameter);
      parameter.tensorMap = readTensorMap(c);
    }
    break;
  default:
    if (c.expectObject({"kind", "value"}))
      parameter.value = c.field("value").expr();
  }
  return parameter;
}

Kernel readKernel(const Cursor &c) {
  Kernel kernel;
  if (!c.expectObject({"entry", "after", "grid", "block", "cluster",
                       "shared_bytes", "parameters"}))
    return kernel;
  kernel.entry = c.field("entry").string();
  if (c.has("after"))
    kernel.after = c.field("after").oneOf(launchOrderNames);
  kernel.grid = c.field("grid").triple<std::string>(readExpr, "1");
  kernel.block = c.field("block").triple<int64_t>(readInteger, 1);
  if (c.has("cluster"))
    kernel.cluster = c.field("cluster").triple<int64_t>(readInteger, 1);
  if (c.has("shared_bytes"))
    kernel.sharedBytes = c.field("shared_bytes").expr();
  kernel.parameters = c.field("parameters").list(readParameter);
  return kernel;
}

PredictedBytes readPredictedBytes(const Cursor &c) {
  PredictedBytes predicted;
  if (!c.expectObject({"operand", "read", "write"}))
    return predicted;
  predicted.operand = c.field("operand").string();
  predicted.read = c.field("read").expr();
  predicted.write = c.field("write").expr();
  return predicted;
}

} // namespace

Manifest attn::runtime::readManifest(const Cursor &c) {
  Manifest manifest;
  if (!c.expectObject({"schema", "name", "target", "ptx", "operands",
                       "constraints", "workspaces", "kernels", "repeat",
                       "schedule", "predicted_bytes", "semantics",
                       "ptx_digest"}))
    return manifest;
  std::string schema = c.field("schema").string();
  if (schema != manifestSchema)
    c.fail("expected schema '" + std::string(manifestSchema) + "', got '" +
           schema + "'");
  manifest.name = c.field("name").string();
  manifest.target = c.field("target").string();
  manifest.ptx = c.field("ptx").string();
  if (c.has("ptx_digest"))
    manifest.ptxDigest = c.field("ptx_digest").string();
  manifest.operands = c.field("operands").list(readOperand);
  if (c.has("constraints"))
    manifest.constraints = c.field("constraints").list(readConstraint);
  if (c.has("workspaces"))
    manifest.workspaces = c.field("workspaces").list(readWorkspace);
  manifest.kernels = c.field("kernels").list(readKernel);
  if (c.has("repeat"))
    manifest.repeat = c.field("repeat").expr();
  if (c.has("predicted_bytes"))
    manifest.predictedBytes =
        c.field("predicted_bytes").list(readPredictedBytes);
  if (c.has("schedule"))
    manifest.schedule = c.field("schedule").object();
  if (c.has("semantics"))
    manifest.semantics = c.field("semantics").object();
  return manifest;
}

Result<Manifest> attn::runtime::readManifest(const std::string &text) {
  Result<json> root = parseJson(text);
  if (!root)
    return Error{root.error()};
  if (isBundle(*root)) {
    Result<Bundle> bundle = readBundle(text);
    return bundle ? selectProgram(*bundle, "") : Error{bundle.error()};
  }
  std::optional<Error> error;
  Manifest manifest = readManifest(Cursor(*root, "", error));
  if (!error)
    error = validate(manifest);
  if (error)
    return *error;
  return manifest;
}

std::string attn::runtime::getPtxDigest(const std::string &ptx) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : ptx)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx",
                static_cast<unsigned long long>(hash));
  return digits;
}

std::optional<Error> attn::runtime::checkPtxDigest(const Manifest &manifest,
                                                   const std::string &ptx) {
  std::string digest = getPtxDigest(ptx);
  if (manifest.ptxDigest.empty() || manifest.ptxDigest == digest)
    return std::nullopt;
  return Error{"ptx_digest: expected the PTX that the manifest was written "
               "with (" +
               manifest.ptxDigest + "), got another (" + digest +
               "): compile again, or take ptx_digest out of a manifest whose "
               "PTX was changed by hand"};
}
