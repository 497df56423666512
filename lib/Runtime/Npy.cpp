//===- Npy.cpp - NumPy's .npy files ---------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The header is a Python dictionary literal with the keys descr, fortran_order
// and shape; nothing more of Python is understood.
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Npy.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

using namespace attn;
using namespace attn::runtime;

static const std::string magic = "\x93NUMPY";

namespace {
struct DescrEntry {
  const char *descr;
  DType dtype;
};

struct Header {
  DType dtype = DType::F32;
  bool isFortranOrder = false;
  std::vector<int64_t> shape;
  size_t dataOffset = 0;
};
} // namespace

/// The first entry of a type is the one that is written. A V1 may be any 8-bit
/// float: whoever reads it knows which (`reinterpretFloat8`).
static constexpr DescrEntry descrTable[] = {
    {"<f2", DType::F16},      {"<f4", DType::F32},
    {"<f8", DType::F64},      {"|b1", DType::I1},
    {"|i1", DType::I8},       {"<i4", DType::I32},
    {"<i8", DType::I64},      {"<V2", DType::BF16},
    {"|V2", DType::BF16},     {"<u2", DType::BF16},
    {"<V1", DType::F8E4M3FN}, {"|V1", DType::F8E4M3FN},
    {"|u1", DType::F8E4M3FN}, {"<f1", DType::F8E5M2}};

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The text after `'key':`, or nothing.
static std::optional<std::string> findValue(const std::string &header,
                                            const std::string &key) {
  size_t at = header.find("'" + key + "'");
  if (at == std::string::npos)
    return std::nullopt;
  at = header.find(':', at);
  if (at == std::string::npos)
    return std::nullopt;
  at = header.find_first_not_of(" ", at + 1);
  if (at == std::string::npos)
    return std::nullopt;
  return header.substr(at);
}

static Result<DType> parseDescr(const std::string &header) {
  std::optional<std::string> value = findValue(header, "descr");
  if (!value || value->front() != '\'')
    return Error{"expected a plain element type in 'descr'"};
  std::string descr = value->substr(1, value->find('\'', 1) - 1);
  for (const DescrEntry &entry : descrTable)
    if (descr == entry.descr)
      return entry.dtype;
  std::string known;
  for (const DescrEntry &entry : descrTable)
    known += (known.empty() ? "" : ", ") + std::string(entry.descr);
  return Error{"expected an element type among " + known + ", got " + descr};
}

/// Parses "(2, 3)", "(2,)" or "()".
static Result<std::vector<int64_t>> parseShape(const std::string &header) {
  std::optional<std::string> value = findValue(header, "shape");
  Error bad{"expected a tuple of sizes in 'shape'"};
  if (!value || value->front() != '(')
    return bad;
  size_t end = value->find(')');
  if (end == std::string::npos)
    return bad;
  std::vector<int64_t> shape;
  int64_t count = 1;
  for (size_t at = 1; at < end;) {
    at = value->find_first_not_of(" ,", at);
    if (at >= end)
      break;
    int64_t size = 0;
    size_t digits = 0;
    for (; at < end && std::isdigit(static_cast<unsigned char>((*value)[at]));
         ++at, ++digits)
      if (__builtin_mul_overflow(size, 10, &size) ||
          __builtin_add_overflow(size, (*value)[at] - '0', &size))
        return bad;
    if (digits == 0 || __builtin_mul_overflow(count, size, &count) ||
        count > std::numeric_limits<int64_t>::max() / 16)
      return bad;
    shape.push_back(size);
  }
  return shape;
}

static Result<Header> parseHeader(const std::string &file) {
  if (file.compare(0, magic.size(), magic) != 0)
    return Error{"expected an .npy file (magic \\x93NUMPY)"};
  if (file.size() < 12)
    return Error{"expected a header, got the end of the file"};
  auto byte = [&](size_t at) {
    return static_cast<size_t>(static_cast<unsigned char>(file[at]));
  };
  size_t version = byte(6);
  if (version < 1 || version > 3)
    return Error{"expected .npy version 1, 2 or 3, got " +
                 std::to_string(version)};
  size_t start = version == 1 ? 10 : 12;
  size_t length = byte(8) | byte(9) << 8;
  if (version > 1)
    length |= byte(10) << 16 | byte(11) << 24;
  if (length > file.size() - start)
    return Error{"expected a header of " + std::to_string(length) +
                 " bytes, got the end of the file"};
  std::string text = file.substr(start, length);
  Result<DType> dtype = parseDescr(text);
  if (!dtype)
    return Error{dtype.error()};
  Result<std::vector<int64_t>> shape = parseShape(text);
  if (!shape)
    return Error{shape.error()};
  std::optional<std::string> order = findValue(text, "fortran_order");
  if (!order)
    return Error{"expected 'fortran_order' in the header"};
  return Header{*dtype, order->compare(0, 4, "True") == 0, *shape,
                start + length};
}

/// Reorders elements whose first dimension is contiguous.
static void copyFromFortranOrder(const char *source, HostTensor &tensor) {
  size_t size = byteSize(tensor.dtype);
  std::vector<int64_t> index(tensor.shape.size(), 0);
  for (int64_t i = 0, e = tensor.numElements(); i < e; ++i) {
    int64_t offset = 0;
    for (size_t d = index.size(); d-- > 0;)
      offset = offset * tensor.shape[d] + index[d];
    std::memcpy(&tensor.data[static_cast<size_t>(i) * size],
                source + static_cast<size_t>(offset) * size, size);
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < tensor.shape[d])
        break;
      index[d] = 0;
    }
  }
}

/// The rest of a stream, block by block: it may be a pipe. Nothing if it cannot
/// be read.
static std::optional<std::string> readAll(std::istream &stream) {
  constexpr size_t block = 1 << 16;
  std::string text;
  while (stream) {
    size_t size = text.size();
    text.resize(size + std::max(size, block));
    stream.read(&text[size], static_cast<std::streamsize>(text.size() - size));
    text.resize(size + static_cast<size_t>(stream.gcount()));
  }
  if (stream.bad())
    return std::nullopt;
  return text;
}

Result<HostTensor> attn::runtime::readNpy(const std::string &path) {
  auto fail = [&](const std::string &message) {
    return Error{path + ": " + message};
  };
  if (std::filesystem::is_directory(path))
    return fail("expected a file, got a folder");
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    return fail(std::string("cannot open: ") + std::strerror(errno));
  std::optional<std::string> contents = readAll(stream);
  if (!contents)
    return fail("cannot read");
  const std::string &file = *contents;
  Result<Header> header = parseHeader(file);
  if (!header)
    return fail(header.error());
  uint64_t count = 1;
  for (int64_t size : header->shape)
    count *= static_cast<uint64_t>(size);
  uint64_t bytes = count * byteSize(header->dtype);
  uint64_t available = file.size() - header->dataOffset;
  if (available != bytes)
    return fail("expected " + std::to_string(bytes) + " bytes of data, got " +
                std::to_string(available));
  HostTensor tensor(header->dtype, header->shape);
  const char *data = file.data() + header->dataOffset;
  if (header->isFortranOrder)
    copyFromFortranOrder(data, tensor);
  else
    std::copy_n(data, bytes, tensor.data.begin());
  return tensor;
}

void attn::runtime::reinterpretFloat8(HostTensor &tensor, DType expected) {
  if (tensor.dtype == DType::F8E4M3FN && expected == DType::F8E5M2)
    tensor.dtype = expected;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static std::string makeHeader(const HostTensor &tensor) {
  // Without ml_dtypes, NumPy reads no <f1.
  DType written =
      tensor.dtype == DType::F8E5M2 ? DType::F8E4M3FN : tensor.dtype;
  std::string descr;
  for (const DescrEntry &entry : descrTable)
    if (descr.empty() && entry.dtype == written)
      descr = entry.descr;
  std::string shape;
  for (int64_t size : tensor.shape)
    shape += std::to_string(size) + ", ";
  if (tensor.shape.size() > 1)
    shape.resize(shape.size() - 2);
  std::string dict = "{'descr': '" + descr +
                     "', 'fortran_order': False, 'shape': (" + shape + "), }";
  // Data begin at a multiple of 64 bytes; the header ends in a newline.
  size_t prefix = magic.size() + 4;
  dict.append(63 - (prefix + dict.size()) % 64, ' ');
  dict += '\n';
  std::string header = magic + std::string("\x01\x00", 2);
  header += static_cast<char>(dict.size() & 0xff);
  header += static_cast<char>(dict.size() >> 8);
  return header + dict;
}

std::optional<Error> attn::runtime::addNpy(OutputFiles &files,
                                           const std::string &path,
                                           const HostTensor &tensor) {
  std::string header = makeHeader(tensor);
  return files.add(path, {header, {tensor.data.data(), tensor.data.size()}});
}

std::optional<Error> attn::runtime::writeNpy(const std::string &path,
                                             const HostTensor &tensor) {
  OutputFiles files;
  if (auto error = addNpy(files, path, tensor))
    return error;
  return files.commit();
}
