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
#include "ManifestNames.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <initializer_list>

using namespace attn;
using namespace attn::runtime;
using nlohmann::json;

unsigned attn::runtime::byteSize(DType dtype) {
  switch (dtype) {
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

/// A JSON value with its path; the first error of the whole walk is kept in
/// `error`, and every later access of a failed walk is harmless.
class Cursor {
public:
  Cursor(const json &value, std::string path, std::optional<Error> &error)
      : value(value), path(std::move(path)), error(error) {}

  bool expectObject(std::initializer_list<const char *> fields) const {
    if (!value.is_object())
      return fail("expected an object");
    for (const auto &item : value.items()) {
      auto known = [&](const char *field) { return item.key() == field; };
      if (std::none_of(fields.begin(), fields.end(), known))
        return fail("unknown field '" + item.key() + "'");
    }
    return true;
  }

  bool has(const char *field) const {
    return value.is_object() && value.contains(field);
  }

  /// The value of a field; a null value, with an error, when it is missing.
  Cursor field(const char *field) const {
    std::string inner = path.empty() ? field : path + "." + field;
    if (has(field))
      return Cursor(value[field], inner, error);
    fail(std::string("missing field '") + field + "'");
    return Cursor(null(), inner, error);
  }

  std::string string() const {
    if (value.is_string())
      return value.get<std::string>();
    fail("expected a string");
    return {};
  }

  int64_t integer() const {
    if (value.is_number_integer())
      return value.get<int64_t>();
    fail("expected an integer");
    return 0;
  }

  /// An expression: a string, or a bare number.
  std::string expr() const {
    if (value.is_number())
      return value.dump();
    return string();
  }

  /// A free-form object, as text.
  std::string object() const {
    if (!value.is_object())
      fail("expected an object");
    return value.dump();
  }

  template <typename E, size_t N>
  E oneOf(const EnumName<E> (&table)[N]) const {
    std::string text = string(), list;
    for (const EnumName<E> &entry : table) {
      if (text == entry.text)
        return entry.value;
      list += (list.empty() ? "" : ", ") + std::string(entry.text);
    }
    fail("expected one of " + list + ", got '" + text + "'");
    return table[0].value;
  }

  /// `read` of every element of an array.
  template <typename Fn>
  auto list(Fn read) const -> std::vector<decltype(read(*this))> {
    std::vector<decltype(read(*this))> result;
    if (!value.is_array()) {
      fail("expected an array");
      return result;
    }
    for (size_t i = 0; i < value.size(); ++i)
      result.push_back(
          read(Cursor(value[i], path + "[" + std::to_string(i) + "]", error)));
    return result;
  }

  /// Three values; shorter arrays are filled up with `rest`.
  template <typename T, typename Fn>
  std::array<T, 3> triple(Fn read, T rest) const {
    std::array<T, 3> result{rest, rest, rest};
    std::vector<T> values = list(read);
    if (values.empty() || values.size() > 3)
      fail("expected 1 to 3 values, got " + std::to_string(values.size()));
    for (size_t i = 0; i < values.size() && i < 3; ++i)
      result[i] = values[i];
    return result;
  }

  bool fail(const std::string &what) const {
    if (!error)
      error = Error{(path.empty() ? "manifest" : path) + ": " + what};
    return false;
  }

  bool isString() const { return value.is_string(); }

private:
  static const json &null() {
    static const json value;
    return value;
  }

  const json &value;
  std::string path;
  std::optional<Error> &error;
};

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
  if (!c.expectObject(
          {"entry", "grid", "block", "cluster", "shared_bytes", "parameters"}))
    return kernel;
  kernel.entry = c.field("entry").string();
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

Manifest readRoot(const Cursor &c) {
  Manifest manifest;
  if (!c.expectObject({"schema", "name", "target", "ptx", "operands",
                       "constraints", "workspaces", "kernels", "repeat",
                       "schedule", "predicted_bytes", "semantics"}))
    return manifest;
  std::string schema = c.field("schema").string();
  if (schema != manifestSchema)
    c.fail("expected schema '" + std::string(manifestSchema) + "', got '" +
           schema + "'");
  manifest.name = c.field("name").string();
  manifest.target = c.field("target").string();
  manifest.ptx = c.field("ptx").string();
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

} // namespace

Result<Manifest> attn::runtime::readManifest(const std::string &text) {
  json root;
  try {
    root = json::parse(text);
  } catch (const json::exception &exception) {
    return Error{std::string("manifest is not JSON: ") + exception.what()};
  }
  std::optional<Error> error;
  Manifest manifest = readRoot(Cursor(root, "", error));
  if (!error)
    error = validate(manifest);
  if (error)
    return *error;
  return manifest;
}
