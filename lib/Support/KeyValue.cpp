//===- KeyValue.cpp - "name=value" text -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Support/KeyValue.h"

#include "attn/Support/Format.h"

#include <algorithm>

namespace attn {

bool hasKey(const std::vector<KeyValue> &fields, std::string_view key) {
  return std::any_of(fields.begin(), fields.end(),
                     [&](const KeyValue &field) { return field.key == key; });
}

Result<std::vector<KeyValue>> parseKeyValues(std::string_view text) {
  std::vector<KeyValue> fields;
  constexpr std::string_view space = " \t\r\n";
  while (true) {
    text = trim(text);
    if (text.empty())
      return fields;
    std::string_view word = text.substr(0, text.find_first_of(space));
    text.remove_prefix(word.size());
    size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0)
      return Error{"expected name=value, got '" + std::string(word) + "'"};
    std::string key(word.substr(0, equals));
    if (hasKey(fields, key))
      return Error{"expected field " + key + " once, got it twice"};
    fields.push_back({key, std::string(word.substr(equals + 1))});
  }
}

Error makeUnknownFieldError(std::string_view what, std::string_view key,
                            const std::vector<std::string> &known) {
  std::string nearest = nearestSpelling(key, known);
  return Error{"unknown " + std::string(what) + " field '" + std::string(key) +
               "', expected one of " + join(known, ", ") +
               (nearest.empty() ? "" : " (did you mean '" + nearest + "'?)")};
}

Status applyKeyValues(
    const std::vector<KeyValue> &fields,
    const std::map<std::string, std::function<Status(const KeyValue &)>>
        &setters,
    std::string_view what) {
  for (const KeyValue &field : fields) {
    auto setter = setters.find(field.key);
    if (setter == setters.end()) {
      std::vector<std::string> known;
      for (const auto &entry : setters)
        known.push_back(entry.first);
      return makeUnknownFieldError(what, field.key, known);
    }
    if (Status status = setter->second(field); !status)
      return status;
  }
  return {};
}

Status setInteger(int64_t &target, const KeyValue &field) {
  if (!parseInteger(field.value, target))
    return Error{"expected an integer for " + field.key + ", got '" +
                 field.value + "'"};
  return {};
}

Status setInteger(std::optional<int64_t> &target, const KeyValue &field) {
  return setInteger(target.emplace(), field);
}

Status setBool(bool &target, const KeyValue &field) {
  if (field.value != "0" && field.value != "1" && field.value != "false" &&
      field.value != "true")
    return Error{"expected 0 or 1 for " + field.key + ", got '" + field.value +
                 "'"};
  target = field.value == "1" || field.value == "true";
  return {};
}

} // namespace attn
