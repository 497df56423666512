//===- ManifestAttr.cpp - The manifest as an attribute --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attribute -> JSON text -> the runtime's reader. Going through the reader
// costs microseconds and makes it impossible to write a manifest that no
// launcher accepts.
//
//===----------------------------------------------------------------------===//

#include "attn/Target/PTX/ManifestAttr.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace attn;
using Json = llvm::json::Value;

/// The JSON value that `attr` stands for. Fails on an attribute without a
/// counterpart, which is then in `culprit`.
static FailureOr<Json> toJson(Attribute attr, Attribute &culprit) {
  if (auto array = dyn_cast<ArrayAttr>(attr)) {
    llvm::json::Array values;
    for (Attribute element : array) {
      FailureOr<Json> value = toJson(element, culprit);
      if (failed(value))
        return failure();
      values.push_back(std::move(*value));
    }
    return Json(std::move(values));
  }
  if (auto dictionary = dyn_cast<DictionaryAttr>(attr)) {
    llvm::json::Object fields;
    for (NamedAttribute field : dictionary) {
      FailureOr<Json> value = toJson(field.getValue(), culprit);
      if (failed(value))
        return failure();
      fields[field.getName().strref()] = std::move(*value);
    }
    return Json(std::move(fields));
  }
  if (auto text = dyn_cast<StringAttr>(attr))
    return Json(text.getValue());
  if (auto flag = dyn_cast<BoolAttr>(attr))
    return Json(flag.getValue());
  if (auto integer = dyn_cast<IntegerAttr>(attr))
    return Json(integer.getValue().getSExtValue());
  if (auto number = dyn_cast<FloatAttr>(attr))
    return Json(number.getValueAsDouble());
  culprit = attr;
  return failure();
}

FailureOr<runtime::Manifest>
attn::manifestFromAttr(DictionaryAttr fields, const ManifestIdentity &identity,
                       function_ref<InFlightDiagnostic()> emitError) {
  Builder builder(fields.getContext());
  NamedAttrList named(fields);
  named.set("schema", builder.getStringAttr(runtime::manifestSchema));
  named.set("name", builder.getStringAttr(identity.name));
  named.set("target", builder.getStringAttr(identity.target));
  named.set("ptx", builder.getStringAttr(identity.name + ".ptx"));

  Attribute culprit;
  FailureOr<Json> json =
      toJson(named.getDictionary(fields.getContext()), culprit);
  if (failed(json))
    return emitError() << "expected strings, numbers, booleans, arrays and "
                          "dictionaries in '"
                       << manifestAttrName << "', got " << culprit;
  Result<runtime::Manifest> manifest =
      runtime::readManifest(llvm::formatv("{0}", *json));
  if (!manifest)
    return emitError() << "expected a valid '" << manifestAttrName
                       << "', got: " << manifest.error();
  return std::move(*manifest);
}

FailureOr<std::vector<runtime::Manifest>>
attn::manifestsOf(ModuleOp module, const ManifestIdentity &identity) {
  auto emitError = [&] { return mlir::emitError(module.getLoc()); };
  Attribute attr = module->getAttr(manifestAttrName);
  auto list = dyn_cast_if_present<ArrayAttr>(attr);
  SmallVector<Attribute> all;
  if (list)
    llvm::append_range(all, list);
  else if (attr)
    all.push_back(attr);
  if (all.empty() || !llvm::all_of(all, llvm::IsaPred<DictionaryAttr>))
    return emitError() << "expected a module with the dictionary '"
                       << manifestAttrName << "', got none";
  std::vector<runtime::Manifest> manifests;
  for (Attribute one : all) {
    FailureOr<runtime::Manifest> manifest =
        manifestFromAttr(cast<DictionaryAttr>(one), identity, emitError);
    if (failed(manifest))
      return failure();
    auto name = cast<DictionaryAttr>(one).getAs<StringAttr>("name");
    if (list && name)
      manifest->name = name.str();
    manifests.push_back(std::move(*manifest));
  }
  return manifests;
}
