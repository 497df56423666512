//===- KeyValue.h - "name=value" text -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text form that problems, schedules and links share: name=value fields
// separated by white space, each name at most once.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SUPPORT_KEYVALUE_H
#define ATTN_SUPPORT_KEYVALUE_H

#include "attn/Support/Result.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

struct KeyValue {
  std::string key;
  std::string value;
};

/// Splits "a=1 b=2". Fails on a field without '=' and on a repeated name.
Result<std::vector<KeyValue>> parseKeyValues(std::string_view text);

bool hasKey(const std::vector<KeyValue> &fields, std::string_view key);

/// Calls the setter of each field; an unknown name is an error that lists the
/// known ones. `what` names the thing parsed ("problem").
Status applyKeyValues(
    const std::vector<KeyValue> &fields,
    const std::map<std::string, std::function<Status(const KeyValue &)>>
        &setters,
    std::string_view what);

/// The error for a field whose name is none of `known`.
Error makeUnknownFieldError(std::string_view what, std::string_view key,
                            const std::vector<std::string> &known);

Status setInteger(int64_t &target, const KeyValue &field);
Status setInteger(std::optional<int64_t> &target, const KeyValue &field);
/// 0, 1, false or true.
Status setBool(bool &target, const KeyValue &field);

} // namespace attn

#endif // ATTN_SUPPORT_KEYVALUE_H
