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

#include <algorithm>
#include <initializer_list>

namespace attn::runtime {

using nlohmann::json;

/// A JSON value with its path; the first error of the whole walk is kept in
/// `error`, and every later access of a failed walk is harmless.
class Cursor {
public:
  Cursor(const json &value, std::string path, std::optional<Error> &error)
      : value(value), path(std::move(path)), error(error) {}

  bool expectObject(std::initializer_list<const char *> fields) const {
    if (!value.is_object())
      return fail("expected an object");
    for (const auto &item : value.items()) {
      auto known = [&](const char *field) { return item.key() == field; };
      if (std::none_of(fields.begin(), fields.end(), known))
        return fail("unknown field '" + item.key() + "'");
    }
    return true;
  }

  bool has(const char *field) const {
    return value.is_object() && value.contains(field);
  }

  /// The value of a field; a null value, with an error, when it is missing.
  Cursor field(const char *field) const {
    std::string inner = path.empty() ? field : path + "." + field;
    if (has(field))
      return Cursor(value[field], inner, error);
    fail(std::string("missing field '") + field + "'");
    return Cursor(null(), inner, error);
  }

  std::string string() const {
    if (value.is_string())
      return value.get<std::string>();
    fail("expected a string");
    return {};
  }

  int64_t integer() const {
    if (value.is_number_integer())
      return value.get<int64_t>();
    fail("expected an integer");
    return 0;
  }

  /// An expression: a string, or a bare number.
  std::string expr() const {
    if (value.is_number())
      return value.dump();
    return string();
  }

  /// A free-form object, as text.
  std::string object() const {
    if (!value.is_object())
      fail("expected an object");
    return value.dump();
  }

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
    if (!value.is_array()) {
      fail("expected an array");
      return result;
    }
    for (size_t i = 0; i < value.size(); ++i)
      result.push_back(
          read(Cursor(value[i], path + "[" + std::to_string(i) + "]", error)));
    return result;
  }

  /// `read` of every field of an object.
  template <typename Fn>
  auto map(Fn read) const
      -> std::map<std::string, decltype(read(*this))> {
    std::map<std::string, decltype(read(*this))> result;
    if (!value.is_object())
      fail("expected an object");
    else
      for (const auto &item : value.items())
        result.emplace(
            item.key(),
            read(Cursor(item.value(), path + "." + item.key(), error)));
    return result;
  }

  /// Three values; shorter arrays are filled up with `rest`.
  template <typename T, typename Fn>
  std::array<T, 3> triple(Fn read, T rest) const {
    std::array<T, 3> result{rest, rest, rest};
    std::vector<T> values = list(read);
    if (values.empty() || values.size() > 3)
      fail("expected 1 to 3 values, got " + std::to_string(values.size()));
    for (size_t i = 0; i < values.size() && i < 3; ++i)
      result[i] = values[i];
    return result;
  }

  bool fail(const std::string &what) const {
    if (!error)
      error = Error{(path.empty() ? "manifest" : path) + ": " + what};
    return false;
  }

  bool isString() const { return value.is_string(); }

private:
  static const json &null() {
    static const json value;
    return value;
  }

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
