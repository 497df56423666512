//===- FatBinary.cpp - PTX embedded by nvcc -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FatBinary.h"

#include <cstring>

using namespace attn::sim;
using attn::Error;
using attn::Result;

namespace {

// A header, then entries of a header and data each.
constexpr uint32_t fatBinaryMagic = 0xBA55ED50;
constexpr uint16_t ptxEntry = 1;

struct FileHeader {
  uint32_t magic;
  uint16_t version, headerBytes;
  uint64_t dataBytes;
};

struct EntryHeader {
  uint16_t kind, version;
  uint32_t headerBytes;
  uint64_t dataBytes;
};

template <typename T>
T read(const uint8_t *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

} // namespace

Result<std::vector<std::string>>
attn::sim::extractPtx(const uint8_t *fatBinary) {
  FileHeader file = read<FileHeader>(fatBinary);
  if (file.magic != fatBinaryMagic)
    return Error{"unknown fat binary"};
  std::vector<std::string> texts;
  const uint8_t *at = fatBinary + file.headerBytes;
  const uint8_t *end = at + file.dataBytes;
  while (at + sizeof(EntryHeader) <= end) {
    EntryHeader entry = read<EntryHeader>(at);
    if (!entry.headerBytes)
      break;
    const char *data = reinterpret_cast<const char *>(at + entry.headerBytes);
    at += entry.headerBytes + entry.dataBytes;
    if (entry.kind != ptxEntry)
      continue;
    std::string text(data, strnlen(data, entry.dataBytes));
    if (text.find(".version") == std::string::npos)
      return Error{"embedded PTX is compressed: compile with --no-compress"};
    texts.push_back(std::move(text));
  }
  return texts;
}
