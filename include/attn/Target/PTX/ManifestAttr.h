//===- ManifestAttr.h - The manifest as an attribute ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// While a module is lowered, its manifest (docs/Manifest.md) grows in the
// attribute `attn.manifest` of the module: a dictionary with the fields of
// NAME.json, one to one, or a list of them where the module is of several
// attentions. This reads it back for the file.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGET_PTX_MANIFESTATTR_H
#define ATTN_TARGET_PTX_MANIFESTATTR_H

#include "attn/Runtime/Manifest.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"

namespace attn {

/// The module attribute that holds the manifest.
inline constexpr llvm::StringLiteral manifestAttrName = "attn.manifest";

/// What only the driver knows of a manifest.
struct ManifestIdentity {
  std::string name;   ///< of the module; the PTX is in NAME.ptx
  std::string target; ///< "sm_80"
};

/// The manifest in `fields`. Strings, integers, floats, booleans, arrays and
/// dictionaries stand for their JSON counterparts. "name", "target" and "ptx"
/// come from `identity`, "schema" is the version that the runtime reads; the
/// rest must be what the runtime's reader takes. Otherwise reports through
/// `emitError` and fails.
mlir::FailureOr<runtime::Manifest>
manifestFromAttr(mlir::DictionaryAttr fields, const ManifestIdentity &identity,
                 llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// manifestFromAttr of each dictionary of `module`; errors are located there.
/// Where there are several, each has the name that its dictionary gives it.
mlir::FailureOr<std::vector<runtime::Manifest>>
manifestsOf(mlir::ModuleOp module, const ManifestIdentity &identity);

} // namespace attn

#endif // ATTN_TARGET_PTX_MANIFESTATTR_H
