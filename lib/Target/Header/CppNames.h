//===- CppNames.h - Manifest names and expressions in C++ -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_TARGET_HEADER_CPPNAMES_H
#define ATTN_LIB_TARGET_HEADER_CPPNAMES_H

#include <string>

namespace attn {

/// `name` as a C++ identifier: other characters become `_`, and a keyword or a
/// leading digit gets one.
std::string toIdentifier(const std::string &name);

/// `text` as a C++ string literal.
std::string toLiteral(const std::string &text);

/// An expression of the manifest in C++: `dim(query, 2)` becomes
/// `args.query.shape[2]`, a symbol `size_M`.
std::string toCpp(const std::string &expression);

} // namespace attn

#endif // ATTN_LIB_TARGET_HEADER_CPPNAMES_H
