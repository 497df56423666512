//===- OutputFiles.cpp - Files that appear together or not at all ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/OutputFiles.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

using namespace attn;
using namespace attn::runtime;

static Error makeError(const std::string &path, const std::string &what) {
  return Error{path + ": " + what};
}

static Error makeSystemError(const std::string &path, const std::string &what) {
  return makeError(path, what + ": " + std::strerror(errno));
}

/// A device must not be replaced by a file.
static bool isDevice(const std::string &path) {
  std::error_code ignored;
  std::filesystem::file_status status = std::filesystem::status(path, ignored);
  return std::filesystem::exists(status) &&
         !std::filesystem::is_regular_file(status);
}

OutputFiles::~OutputFiles() {
  for (const auto &[temporary, path] : files)
    std::remove(temporary.c_str());
}

std::optional<Error>
OutputFiles::add(const std::string &path,
                 const std::vector<std::string_view> &parts) {
  if (path.empty())
    return Error{"expected the name of a file for an output, got none"};
  std::string target = path;
  if (!isDevice(path)) {
    target += ".partial";
    for (const auto &[temporary, other] : files)
      if (other == path)
        return makeError(path, "expected a file of its own for each output");
  }
  std::ofstream stream(target, std::ios::binary);
  if (!stream)
    return makeSystemError(path, "cannot open for writing");
  if (target != path)
    files.emplace_back(target, path);
  for (std::string_view part : parts)
    stream.write(part.data(), static_cast<std::streamsize>(part.size()));
  stream.close();
  if (!stream)
    return makeSystemError(path, "cannot write");
  return std::nullopt;
}

std::optional<Error> OutputFiles::commit() {
  for (; !files.empty(); files.pop_back()) {
    const auto &[temporary, path] = files.back();
    if (std::rename(temporary.c_str(), path.c_str()) != 0)
      return makeSystemError(path, "cannot write");
  }
  return std::nullopt;
}
