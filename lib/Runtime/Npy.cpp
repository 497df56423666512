//===- Npy.cpp - Tensors in .npy files ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Runtime/Npy.h"

#include <cstring>
#include <fstream>
#include <sstream>

using namespace attn::runtime;

namespace {

constexpr char magic[] = "\x93NUMPY";
constexpr size_t magicBytes = 6;
/// NumPy itself allows 32 dimensions (64 since 2.0).
constexpr size_t maxRank = 64;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// The descriptor that is written for a type; the first of those accepted.
std::vector<std::string> descriptors(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return {"<f2"};
  case DType::BF16:
    return {"<u2", "|V2", "<V2", "bfloat16"};
  case DType::F32:
    return {"<f4"};
  case DType::F64:
    return {"<f8"};
  case DType::I1:
    return {"|b1", "|u1", "|i1"};
  case DType::I8:
    return {"|i1", "|u1"};
  case DType::I32:
    return {"<i4", "<u4"};
  case DType::I64:
    return {"<i8", "<u8"};
  }
  return {};
}

//===----------------------------------------------------------------------===//
// The header: a Python dictionary literal
//===----------------------------------------------------------------------===//

struct Header {
  std::string descriptor;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
};

class HeaderParser {
public:
  explicit HeaderParser(const std::string &text) : text(text) {}

  Result<Header> parse() {
    bool hasDescriptor = false, hasOrder = false, hasShape = false;
    if (!accept('{'))
      return fail();
    while (!accept('}')) {
      std::string key = quoted();
      if (!accept(':'))
        return fail();
      if (key == "descr" && (peek() == '\'' || peek() == '"')) {
        header.descriptor = quoted();
        hasDescriptor = true;
      } else if (key == "fortran_order") {
        header.fortranOrder = word() == "True";
        hasOrder = true;
      } else if (key == "shape" && parseShape()) {
        hasShape = true;
      } else {
        return fail();
      }
      accept(',');
    }
    if (!hasDescriptor || !hasOrder || !hasShape)
      return fail();
    return header;
  }

private:
  bool parseShape() {
    if (!accept('('))
      return false;
    while (!accept(')')) {
      std::string digits = word();
      if (digits.empty() || digits.size() > 18 ||
          digits.find_first_not_of("0123456789") != std::string::npos ||
          header.shape.size() >= maxRank)
        return false;
      header.shape.push_back(std::stoll(digits));
      accept(',');
    }
    return true;
  }

  char peek() {
    while (position < text.size() && std::strchr(" \n\t", text[position]))
      ++position;
    return position < text.size() ? text[position] : '\0';
  }
  bool accept(char c) {
    if (c == '\0' || peek() != c)
      return false;
    ++position;
    return true;
  }
  std::string quoted() {
    char quote = peek();
    if (quote != '\'' && quote != '"')
      return "";
    size_t end = text.find(quote, ++position);
    if (end == std::string::npos)
      return "";
    std::string value = text.substr(position, end - position);
    position = end + 1;
    return value;
  }
  std::string word() {
    peek();
    size_t begin = position;
    while (position < text.size() &&
           std::isalnum(static_cast<unsigned char>(text[position])))
      ++position;
    return text.substr(begin, position - begin);
  }
  Error fail() const {
    return {"expected a NumPy header with descr, fortran_order and shape"};
  }

  const std::string &text;
  size_t position = 0;
  Header header;
};

/// The header's text, and where the data begins.
struct HeaderText {
  std::string text;
  size_t dataOffset = 0;
};

Result<HeaderText> findHeader(const std::string &content) {
  if (content.size() < magicBytes + 4 ||
      std::memcmp(content.data(), magic, magicBytes) != 0)
    return Error{"not a .npy file"};
  unsigned version = static_cast<unsigned char>(content[magicBytes]);
  if (version < 1 || version > 3)
    return Error{"expected .npy version 1 to 3, got " +
                 std::to_string(version)};
  size_t lengthBytes = version == 1 ? 2 : 4;
  size_t begin = magicBytes + 2 + lengthBytes, length = 0;
  if (content.size() < begin)
    return Error{"truncated .npy header"};
  for (size_t k = 0; k < lengthBytes; ++k)
    length |= size_t(static_cast<unsigned char>(content[magicBytes + 2 + k]))
              << (8 * k);
  if (length > content.size() - begin)
    return Error{"truncated .npy header"};
  return HeaderText{content.substr(begin, length), begin + length};
}

std::optional<Error> checkDescriptor(const std::string &got, DType dtype) {
  std::vector<std::string> accepted = descriptors(dtype);
  for (const std::string &text : accepted)
    if (got == text)
      return std::nullopt;
  std::string list;
  for (const std::string &text : accepted)
    list += (list.empty() ? "" : ", ") + text;
  return Error{std::string("expected dtype ") + name(dtype) + " (" + list +
               "), got " + got};
}

/// Column-major data to row-major.
std::vector<uint8_t> transpose(const uint8_t *data,
                               const std::vector<int64_t> &shape, size_t count,
                               size_t elementBytes) {
  std::vector<uint8_t> out(count * elementBytes);
  std::vector<int64_t> index(shape.size(), 0);
  for (size_t to = 0; to < count; ++to) {
    size_t from = 0, stride = 1;
    for (size_t d = 0; d < shape.size(); ++d) {
      from += size_t(index[d]) * stride;
      stride *= size_t(shape[d]);
    }
    std::memcpy(&out[to * elementBytes], data + from * elementBytes,
                elementBytes);
    for (size_t d = shape.size(); d-- > 0 && ++index[d] == shape[d];)
      index[d] = 0;
  }
  return out;
}

} // namespace

Result<NpyArray> attn::runtime::decodeNpy(const std::string &content,
                                          DType dtype) {
  Result<HeaderText> headerText = findHeader(content);
  if (!headerText)
    return headerText.error();
  Result<Header> header = HeaderParser(headerText->text).parse();
  if (!header)
    return header.error();
  if (std::optional<Error> error = checkDescriptor(header->descriptor, dtype))
    return *error;
  size_t count = 1, bytes = byteSize(dtype);
  for (int64_t size : header->shape)
    if (__builtin_mul_overflow(count, size_t(size), &count))
      return Error{"size of the array overflows"};
  size_t expected, available = content.size() - headerText->dataOffset;
  if (__builtin_mul_overflow(count, bytes, &expected) || expected > available)
    return Error{"expected " + std::to_string(count) + " elements of " +
                 std::to_string(bytes) + " bytes, got " +
                 std::to_string(available) + " bytes"};
  const uint8_t *data = reinterpret_cast<const uint8_t *>(
      content.data() + headerText->dataOffset);
  NpyArray array;
  array.dtype = dtype;
  array.shape = header->shape;
  if (header->fortranOrder)
    array.data = transpose(data, array.shape, count, bytes);
  else
    array.data.assign(data, data + expected);
  return array;
}

std::string attn::runtime::encodeNpy(const NpyArray &array) {
  std::string shape;
  for (int64_t size : array.shape)
    shape += std::to_string(size) + ", ";
  if (array.shape.size() > 1)
    shape.resize(shape.size() - 2);
  else if (!shape.empty())
    shape.resize(shape.size() - 1); // "(3,)"
  std::string header = "{'descr': '" + descriptors(array.dtype).front() +
                       "', 'fortran_order': False, 'shape': (" + shape + "), }";
  // Data begins at a multiple of 64 bytes, after a newline.
  size_t prefix = magicBytes + 4;
  size_t total = (prefix + header.size() + 1 + 63) / 64 * 64;
  header.resize(total - prefix - 1, ' ');
  header += '\n';
  std::string out(magic, magicBytes);
  out += '\x01';
  out += '\0';
  out += char(header.size() & 0xFF);
  out += char(header.size() >> 8);
  out += header;
  out.append(reinterpret_cast<const char *>(array.data.data()),
             array.data.size());
  return out;
}

Result<NpyArray> attn::runtime::readNpy(const std::string &path, DType dtype) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  if (!file)
    return Error{path + ": cannot read the file"};
  Result<NpyArray> array = decodeNpy(content.str(), dtype);
  if (!array)
    return Error{path + ": " + array.message()};
  return array;
}

std::optional<Error> attn::runtime::writeNpy(const std::string &path,
                                             const NpyArray &array) {
  std::ofstream file(path, std::ios::binary);
  std::string content = encodeNpy(array);
  file.write(content.data(), std::streamsize(content.size()));
  file.close();
  if (!file)
    return Error{path + ": cannot write the file"};
  return std::nullopt;
}
