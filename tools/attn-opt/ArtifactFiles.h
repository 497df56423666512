//===- ArtifactFiles.h - Writing all artefacts or none ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TOOLS_ATTN_OPT_ARTIFACTFILES_H
#define ATTN_TOOLS_ATTN_OPT_ARTIFACTFILES_H

#include "attn/Pipelines/Compiler.h"

#include "llvm/Support/Error.h"

namespace attn {

/// Where an artefact of a compilation to `base` ("DIR/NAME") goes:
/// "DIR/NAME.ptx".
std::string getArtifactPath(llvm::StringRef base, ArtifactKind kind);

/// Writes every artefact to its path beside `base`. Each is written in full to
/// a temporary file in the same folder and renamed when all are there, so that
/// a failure leaves neither a partial file nor part of the set.
llvm::Error writeArtifacts(llvm::ArrayRef<Artifact> artifacts,
                           llvm::StringRef base);

} // namespace attn

#endif // ATTN_TOOLS_ATTN_OPT_ARTIFACTFILES_H
