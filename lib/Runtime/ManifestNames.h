//===- ManifestNames.h - Enumerators and their spelling ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// One table per enumeration of the manifest, used by its reader and writer.
///
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_RUNTIME_MANIFESTNAMES_H
#define ATTN_LIB_RUNTIME_MANIFESTNAMES_H

#include "attn/Runtime/Manifest.h"

namespace attn::runtime {

template <typename E>
struct EnumName {
  E value;
  const char *text;
};

inline constexpr EnumName<DType> dtypeNames[] = {{DType::F8E4M3FN, "f8E4M3FN"},
                                                 {DType::F8E5M2, "f8E5M2"},
                                                 {DType::F16, "f16"},
                                                 {DType::BF16, "bf16"},
                                                 {DType::F32, "f32"},
                                                 {DType::F64, "f64"},
                                                 {DType::I1, "i1"},
                                                 {DType::I8, "i8"},
                                                 {DType::I32, "i32"},
                                                 {DType::I64, "i64"}};

inline constexpr EnumName<OperandRole> roleNames[] = {
    {OperandRole::Input, "input"},
    {OperandRole::Output, "output"},
    {OperandRole::InOut, "inout"}};

inline constexpr EnumName<WorkspaceFill> workspaceFillNames[] = {
    {WorkspaceFill::None, "none"}, {WorkspaceFill::Zero, "zero"}};

inline constexpr EnumName<LaunchOrder> launchOrderNames[] = {
    {LaunchOrder::Previous, "previous"},
    {LaunchOrder::Programmatic, "programmatic"}};

inline constexpr EnumName<TensorMapFill> tensorMapFillNames[] = {
    {TensorMapFill::Zero, "zero"}, {TensorMapFill::NaN, "nan"}};

inline constexpr EnumName<ParameterKind> parameterKindNames[] = {
    {ParameterKind::Pointer, "pointer"},
    {ParameterKind::I32, "i32"},
    {ParameterKind::I64, "i64"},
    {ParameterKind::F32, "f32"},
    {ParameterKind::F64, "f64"},
    {ParameterKind::TensorMap, "tensor_map"}};

template <typename E, size_t N>
const char *spell(const EnumName<E> (&table)[N], E value) {
  for (const EnumName<E> &entry : table)
    if (entry.value == value)
      return entry.text;
  return "";
}

} // namespace attn::runtime

#endif // ATTN_LIB_RUNTIME_MANIFESTNAMES_H
