//===- OutputFiles.h - Files that appear together or not at all -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_OUTPUTFILES_H
#define ATTN_RUNTIME_OUTPUTFILES_H

#include "attn/Support/Result.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attn::runtime {

/// Collects files beside their places; `commit` gives them their names. What is
/// not committed is removed, with files that stood there left as they were.
/// Errors begin with the path: "o.npy: cannot open for writing: ...".
class OutputFiles {
public:
  OutputFiles() = default;
  OutputFiles(const OutputFiles &) = delete;
  OutputFiles &operator=(const OutputFiles &) = delete;
  ~OutputFiles();

  /// Writes the parts, one after the other. A device such as /dev/null is
  /// written at once. Returns the error, if any.
  std::optional<Error> add(const std::string &path,
                           const std::vector<std::string_view> &parts);
  std::optional<Error> commit();

private:
  /// Where the content is, and where it is to be.
  std::vector<std::pair<std::string, std::string>> files;
};

} // namespace attn::runtime

#endif // ATTN_RUNTIME_OUTPUTFILES_H
