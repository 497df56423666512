//===- ModuleTarget.cpp - The target of a module ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A known target with what the module's DLTI attributes, and then the user,
// change of it.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/ScheduleSelection.h"

#include "mlir/Interfaces/DataLayoutInterfaces.h"

using namespace mlir;
using namespace attn;

/// The target field that a DLTI key stands for; empty if none.
static StringRef getField(StringRef key) {
  if (key.consume_front("attn."))
    return key;
  return key == "L2_cache_size_in_bytes" ? "l2-bytes" : "";
}

/// A number of a DLTI entry as text; empty if it is none.
static std::string printNumber(Attribute value) {
  std::string text;
  if (auto integer = dyn_cast<IntegerAttr>(value))
    text = std::to_string(integer.getValue().getSExtValue());
  else if (auto number = dyn_cast<FloatAttr>(value))
    text = std::to_string(number.getValueAsDouble());
  else if (auto string = dyn_cast<StringAttr>(value))
    text = string.str();
  return text;
}

static LogicalResult applyDlti(ModuleOp module, TargetInfo &target) {
  TargetSystemSpecInterface system = module.getTargetSystemSpec();
  if (!system)
    return success();
  StringRef device = target.kind == TargetKind::Cpu ? "CPU" : "GPU";
  std::optional<TargetDeviceSpecInterface> spec =
      system.getDeviceSpecForDeviceID(
          StringAttr::get(module.getContext(), device));
  if (!spec)
    return success();
  for (DataLayoutEntryInterface entry : spec->getEntries()) {
    auto key = dyn_cast<StringAttr>(entry.getKey());
    StringRef field = key ? getField(key.getValue()) : StringRef();
    if (field.empty())
      continue; // Meant for others.
    if (Status status =
            setTargetField(target, field.str(), printNumber(entry.getValue()));
        !status)
      return module.emitError()
             << "DLTI entry '" << key.getValue() << "': " << status.error();
  }
  return success();
}

FailureOr<TargetInfo> attn::getModuleTarget(ModuleOp module, StringRef name,
                                            StringRef fields) {
  Result<TargetInfo> target = lookupTarget(name.str());
  if (!target)
    return module.emitError() << target.error();
  if (failed(applyDlti(module, *target)))
    return failure();
  if (Status status = setTargetFields(*target, fields.str()); !status)
    return module.emitError() << status.error();
  return std::move(*target);
}
