//===- ArtifactFiles.cpp - Writing all artefacts or none ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArtifactFiles.h"

#include "llvm/Support/FileSystem.h"

using namespace attn;
using llvm::sys::fs::TempFile;

std::string attn::getArtifactPath(llvm::StringRef base, ArtifactKind kind) {
  return (base + getExtension(kind)).str();
}

static llvm::Error cannotWrite(llvm::StringRef path, llvm::Error reason) {
  return llvm::createStringError("cannot write '" + path +
                                 "': " + llvm::toString(std::move(reason)));
}

/// Writes `content` to a new file beside `path`.
static llvm::Expected<TempFile> writeBeside(llvm::StringRef path,
                                            llvm::StringRef content) {
  if (llvm::sys::fs::is_directory(path))
    return cannotWrite(path, llvm::errorCodeToError(std::make_error_code(
                                 std::errc::is_a_directory)));
  llvm::Expected<TempFile> file = TempFile::create(path + ".tmp%%%%%%");
  if (!file)
    return cannotWrite(path, file.takeError());
  llvm::raw_fd_ostream stream(file->FD, /*shouldClose=*/false);
  stream << content;
  stream.flush();
  if (std::error_code code = stream.error()) {
    stream.clear_error();
    llvm::consumeError(file->discard());
    return cannotWrite(path, llvm::errorCodeToError(code));
  }
  return file;
}

llvm::Error attn::writeArtifacts(llvm::ArrayRef<Artifact> artifacts,
                                 llvm::StringRef base) {
  std::vector<std::string> paths;
  std::vector<TempFile> files;
  llvm::Error error = llvm::Error::success();
  for (const Artifact &artifact : artifacts) {
    paths.push_back(getArtifactPath(base, artifact.kind));
    llvm::Expected<TempFile> file = writeBeside(paths.back(), artifact.content);
    if (!file) {
      error = file.takeError();
      break;
    }
    files.push_back(std::move(*file));
  }

  size_t kept = 0;
  while (!error && kept < files.size()) {
    if (llvm::Error failed = files[kept].keep(paths[kept]))
      error = cannotWrite(paths[kept], std::move(failed));
    else
      ++kept;
  }
  if (!error)
    return error;
  for (size_t i = 0; i < files.size(); ++i)
    if (i < kept)
      llvm::sys::fs::remove(paths[i]);
    else
      llvm::consumeError(files[i].discard());
  return error;
}
