//===- MlirCore.cpp - MLIR's C API as a shared library --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything in it is linked from MLIR's archive; CMake asks for a source file.
//
//===----------------------------------------------------------------------===//
