//===- TranslateToManifest.h - From programs to manifests -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TARGET_MANIFEST_TRANSLATETOMANIFEST_H
#define ATTN_TARGET_MANIFEST_TRANSLATETOMANIFEST_H

#include "attn/Runtime/Manifest.h"

#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace attn {

/// What only the driver knows of a manifest.
struct ManifestIdentity {
  std::string name;   ///< of the module; the PTX is in NAME.ptx
  std::string target; ///< "sm_80"
};

/// The manifest (docs/Manifest.md) of each attn_launch.program of `module`,
/// which is in the nvvm form: each launch knows its kernel's threads. One
/// program has the module's name, several have their own. Emits an error where
/// there is none, and where a manifest would not be valid.
mlir::FailureOr<std::vector<runtime::Manifest>>
translateToManifests(mlir::ModuleOp module, const ManifestIdentity &identity);

} // namespace attn

#endif // ATTN_TARGET_MANIFEST_TRANSLATETOMANIFEST_H
