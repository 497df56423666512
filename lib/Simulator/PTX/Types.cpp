//===- Types.cpp - PTX types ----------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Types.h"

#include <unordered_map>

using namespace attn::sim;

Type attn::sim::parseType(std::string_view text) {
  static const std::unordered_map<std::string_view, Type> names = {
      {"b8", Type::B8},         {"b16", Type::B16},
      {"b32", Type::B32},       {"b64", Type::B64},
      {"b128", Type::B128},     {"u8", Type::U8},
      {"u16", Type::U16},       {"u32", Type::U32},
      {"u64", Type::U64},       {"s8", Type::S8},
      {"s16", Type::S16},       {"s32", Type::S32},
      {"s64", Type::S64},       {"f16", Type::F16},
      {"bf16", Type::BF16},     {"f32", Type::F32},
      {"f64", Type::F64},       {"f16x2", Type::F16x2},
      {"bf16x2", Type::BF16x2}, {"tf32", Type::TF32},
      {"e4m3", Type::E4M3},     {"e5m2", Type::E5M2},
      {"e4m3x2", Type::E4M3x2}, {"e5m2x2", Type::E5M2x2},
      {"f32x2", Type::F32x2},   {"u16x2", Type::U16x2},
      {"s16x2", Type::S16x2},   {"pred", Type::Pred}};
  auto it = names.find(text);
  return it == names.end() ? Type::None : it->second;
}
