//===- Result.h - A value or an error message -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Result<T> is what a function of the IR-free libraries returns when its input
// can be wrong. It stands where LLVM's Expected would, without LLVM:
// applications link these libraries.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_SUPPORT_RESULT_H
#define ATTN_SUPPORT_RESULT_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace attn {

/// Why an operation failed: lower case, no final period, says what was expected
/// and what was got.
struct Error {
  std::string message;
};

/// A `T`, or the error that prevented it.
template <typename T>
class [[nodiscard]] Result {
public:
  Result(T value) : value(std::move(value)) {}
  Result(Error error) : message(std::move(error.message)) {}

  explicit operator bool() const { return value.has_value(); }

  T &operator*() {
    assert(value && "result holds an error");
    return *value;
  }
  const T &operator*() const {
    assert(value && "result holds an error");
    return *value;
  }
  T *operator->() { return &**this; }
  const T *operator->() const { return &**this; }

  /// The error message; empty if the result holds a value.
  const std::string &error() const { return message; }

private:
  std::optional<T> value;
  std::string message;
};

/// Success, or the error: the result of a function that returns nothing.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Error error) : message(std::move(error.message)), failed(true) {}

  /// True on success.
  explicit operator bool() const { return !failed; }
  const std::string &error() const { return message; }

private:
  std::string message;
  bool failed = false;
};

} // namespace attn

#endif // ATTN_SUPPORT_RESULT_H
