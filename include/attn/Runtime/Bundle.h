//===- Bundle.h - Several programs and their calls --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What the compiler writes as NAME.json for a module with several attentions:
/// a manifest for each distinct one, all with their kernels in NAME.ptx, and
/// where the module's functions call them. docs/Manifest.md gives the schema.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_BUNDLE_H
#define ATTN_RUNTIME_BUNDLE_H

#include "attn/Runtime/Manifest.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace attn::runtime {

/// The value of a bundle's "schema" field.
inline constexpr const char *bundleSchema = "attn-mlir/bundle/1";

/// Where an input of a call comes from: an argument of the function, or the
/// output `operand` of call number `call`. Neither: other code computes it.
struct CallInput {
  std::optional<int64_t> argument;
  std::optional<int64_t> call;
  std::string operand;
};

/// One attention of a function.
struct ProgramCall {
  std::string function;
  std::string program;
  /// The ops around it, from the outside in: "scf.for", "scf.if". It runs once
  /// if there are none.
  std::vector<std::string> within;
  std::map<std::string, CallInput> inputs;
  /// The function's results that outputs are.
  std::map<std::string, int64_t> results;
};

struct Bundle {
  std::string name;
  std::string target;
  std::string ptx; // file name, in the bundle's folder; each program's too
  std::vector<Manifest> programs;
  std::vector<ProgramCall> calls; // in the order of the module

  const Manifest *findProgram(const std::string &name) const;
};

/// Parses and validates `text`, a bundle or the manifest of one program, which
/// becomes a bundle without calls. Errors as of readManifest:
/// "programs[1].kernels[0].grid[1]: ...".
Result<Bundle> readBundle(const std::string &text);

/// The program called `name`; without a name the only one. An error names those
/// that there are.
Result<Manifest> selectProgram(const Bundle &bundle, const std::string &name);

/// The file's text. One program without calls: its manifest alone.
std::string writeBundle(const Bundle &bundle);

} // namespace attn::runtime

#endif // ATTN_RUNTIME_BUNDLE_H
