//===- JsonCursor.h - A walk over JSON that keeps its path ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_JSONCURSOR_H
#define LIB_RUNTIME_JSONCURSOR_H

#include "ManifestNames.h"
#include "attn/Runtime/Manifest.h"

#include <nlohmann/json.hpp>

#include <array>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace attn::runtime {

using nlohmann::json;

/// A JSON value with its path; the first error of the whole walk is kept in
/// `error`, and every later access of a failed walk is harmless.
class Cursor {
public:
  Cursor(const json &value, std::string path, std::optional<Error> &error)
      : value(value), path(std::move(path)), error(error) {}

  bool expectObject(std::initializer_list<const char *> fields) const;
  bool has(const char *field) const;
  /// The value of a field; a null value, with an error, when it is missing.
  Cursor field(const char *field) const;

  std::string string() const;
  int64_t integer() const;
  /// An expression: a string, or a bare number.
  std::string expr() const;
  /// A free-form object, as text.
  std::string object() const;
  bool isString() const { return value.is_string(); }

  template <typename E, size_t N>
  E oneOf(const EnumName<E> (&table)[N]) const {
    std::string text = string(), list;
    for (const EnumName<E> &entry : table) {
      if (text == entry.text)
        return entry.value;
      list += (list.empty() ? "" : ", ") + std::string(entry.text);
    }
    fail("expected one of " + list + ", got '" + text + "'");
    return table[0].value;
  }

  /// `read` of every element of an array.
  template <typename Fn>
  auto list(Fn read) const -> std::vector<decltype(read(*this))> {
    std::vector<decltype(read(*this))> result;
    for (const Cursor &element : elements())
      result.push_back(read(element));
    return result;
  }

  /// `read` of every field of an object.
  template <typename Fn>
  auto map(Fn read) const -> std::map<std::string, decltype(read(*this))> {
    std::map<std::string, decltype(read(*this))> result;
    for (const auto &[name, field] : fields())
      result.emplace(name, read(field));
    return result;
  }

  /// Three values; shorter arrays are filled up with `rest`.
  template <typename T, typename Fn>
  std::array<T, 3> triple(Fn read, T rest) const {
    std::array<T, 3> result{rest, rest, rest};
    std::vector<T> values = list(read);
    checkTriple(values.size());
    for (size_t i = 0; i < values.size() && i < 3; ++i)
      result[i] = values[i];
    return result;
  }

  bool fail(const std::string &what) const;

private:
  std::vector<Cursor> elements() const;
  std::vector<std::pair<std::string, Cursor>> fields() const;
  void checkTriple(size_t size) const;

  const json &value;
  std::string path;
  std::optional<Error> &error;
};

/// The value that `text` is.
Result<json> parseJson(const std::string &text);

/// True for a file of several programs.
bool isBundle(const json &root);

/// The manifest that the value is; unlike the public reader without `validate`.
Manifest readManifest(const Cursor &c);

} // namespace attn::runtime

#endif // LIB_RUNTIME_JSONCURSOR_H
