//===- Error.h - The exception inside the simulator -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A fault may be found in one lane of one operand, many calls below the loop
/// that runs a warp. It travels as an exception inside this library; the public
/// interface turns it into a Diagnostic.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_SIMULATOR_PTX_ERROR_H
#define ATTN_LIB_SIMULATOR_PTX_ERROR_H

#include "attn/Simulator/Diagnostic.h"

#include <exception>
#include <string>

namespace attn::sim {

class SimulationError : public std::exception {
public:
  explicit SimulationError(Diagnostic diagnostic)
      : diagnostic(std::move(diagnostic)) {}
  const char *what() const noexcept override {
    return diagnostic.message.c_str();
  }

  Diagnostic diagnostic;
};

/// Throws a fault in the text or in the launch; line 0: no place.
[[noreturn]] void failPtx(const std::string &file, uint32_t line,
                          const std::string &message);

/// printf into a string.
std::string format(const char *text, ...) __attribute__((format(printf, 1, 2)));

} // namespace attn::sim

#endif // ATTN_LIB_SIMULATOR_PTX_ERROR_H
