//===- Result.h - A value or an error message -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The error type of the libraries that applications link: no LLVM, no
/// exceptions across the interface.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_RESULT_H
#define ATTN_RUNTIME_RESULT_H

#include <string>
#include <utility>
#include <variant>

namespace attn::runtime {

/// What went wrong, as one sentence: lower case, no final period.
struct Error {
  std::string message;
};

/// A `T`, or the reason why there is none. Check before dereferencing.
template <typename T>
class [[nodiscard]] Result {
public:
  Result(T value) : state(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state.index() == 0; }
  T &operator*() { return std::get<0>(state); }
  const T &operator*() const { return std::get<0>(state); }
  T *operator->() { return &std::get<0>(state); }
  const T *operator->() const { return &std::get<0>(state); }

  const Error &error() const { return std::get<1>(state); }
  const std::string &message() const { return error().message; }

private:
  std::variant<T, Error> state;
};

} // namespace attn::runtime

#endif // ATTN_RUNTIME_RESULT_H
