//===- JsonCursor.cpp - A walk over JSON that keeps its path --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonCursor.h"

#include <algorithm>

using namespace attn;
using namespace attn::runtime;

bool Cursor::expectObject(std::initializer_list<const char *> fields) const {
  if (!value.is_object())
    return fail("expected an object");
  for (const auto &item : value.items()) {
    auto known = [&](const char *field) { return item.key() == field; };
    if (std::none_of(fields.begin(), fields.end(), known))
      return fail("unknown field '" + item.key() + "'");
  }
  return true;
}

bool Cursor::has(const char *field) const {
  return value.is_object() && value.contains(field);
}

Cursor Cursor::field(const char *field) const {
  static const json null;
  std::string inner = path.empty() ? field : path + "." + field;
  if (has(field))
    return Cursor(value[field], inner, error);
  fail(std::string("missing field '") + field + "'");
  return Cursor(null, inner, error);
}

std::string Cursor::string() const {
  if (value.is_string())
    return value.get<std::string>();
  fail("expected a string");
  return {};
}

int64_t Cursor::integer() const {
  if (value.is_number_integer())
    return value.get<int64_t>();
  fail("expected an integer");
  return 0;
}

std::string Cursor::expr() const {
  if (value.is_number())
    return value.dump();
  return string();
}

std::string Cursor::object() const {
  if (!value.is_object())
    fail("expected an object");
  return value.dump();
}

std::vector<Cursor> Cursor::elements() const {
  std::vector<Cursor> result;
  if (!value.is_array())
    fail("expected an array");
  else
    for (size_t i = 0; i < value.size(); ++i)
      result.emplace_back(value[i], path + "[" + std::to_string(i) + "]",
                          error);
  return result;
}

std::vector<std::pair<std::string, Cursor>> Cursor::fields() const {
  std::vector<std::pair<std::string, Cursor>> result;
  if (!value.is_object())
    fail("expected an object");
  else
    for (auto it = value.begin(); it != value.end(); ++it)
      result.emplace_back(it.key(),
                          Cursor(it.value(), path + "." + it.key(), error));
  return result;
}

void Cursor::checkTriple(size_t size) const {
  if (size == 0 || size > 3)
    fail("expected 1 to 3 values, got " + std::to_string(size));
}

bool Cursor::fail(const std::string &what) const {
  if (!error)
    error = Error{(path.empty() ? "manifest" : path) + ": " + what};
  return false;
}
