//===- LaunchStatus.h - What became of a launch -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Results of the functions that talk to a CUDA device: a code that a program
/// can act on, and a message for people.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUNTIME_LAUNCHSTATUS_H
#define ATTN_RUNTIME_LAUNCHSTATUS_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace attn::runtime {

enum class LaunchCode {
  Success,
  NoDriver,          ///< no CUDA driver, or one that is too old
  NoDevice,          ///< no such GPU
  WrongArchitecture, ///< the PTX is for other GPUs
  InvalidProgram,    ///< a manifest or PTX that cannot be loaded
  InvalidOperands, ///< a shape, stride or address that the kernels cannot take
  OutOfMemory,     ///< a tensor or workspace does not fit
  DriverError      ///< any other call of the driver failed
};

/// Success, or what failed. The message says what was expected and what was
/// got; it is empty on success.
struct [[nodiscard]] LaunchStatus {
  LaunchCode code = LaunchCode::Success;
  std::string message;

  explicit operator bool() const { return code == LaunchCode::Success; }
};

/// A `T`, or the failure that prevented it.
template <typename T>
class [[nodiscard]] LaunchResult {
public:
  LaunchResult(T value) : value(std::move(value)) {}
  LaunchResult(LaunchStatus failure) : failure(std::move(failure)) {
    assert(!this->failure && "expected a failure");
  }

  explicit operator bool() const { return value.has_value(); }
  T &operator*() { return *value; }
  const T &operator*() const { return *value; }
  T *operator->() { return &*value; }
  const T *operator->() const { return &*value; }

  /// Success if there is a value.
  const LaunchStatus &status() const { return failure; }

private:
  std::optional<T> value;
  LaunchStatus failure;
};

} // namespace attn::runtime

#endif // ATTN_RUNTIME_LAUNCHSTATUS_H
