//===- ElementType.cpp - Element types of tensors -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Support/ElementType.h"

namespace attn {

namespace {
struct ElementTypeRow {
  ElementType type;
  std::string_view name;
  int64_t sizeBytes;
  int precisionBits;
  std::vector<std::string_view> aliases;
};
} // namespace

/// One row per type, in the order of the enum.
static const std::vector<ElementTypeRow> &getRows() {
  static const std::vector<ElementTypeRow> rows = {
      {ElementType::F8E4M3FN, "f8E4M3FN", 1, 4, {"fp8", "e4m3"}},
      {ElementType::F8E5M2, "f8E5M2", 1, 3, {"e5m2"}},
      {ElementType::F16, "f16", 2, 11, {"fp16", "half"}},
      {ElementType::BF16, "bf16", 2, 8, {"bfloat16"}},
      {ElementType::F32, "f32", 4, 24, {"fp32", "float"}},
      {ElementType::F64, "f64", 8, 53, {"fp64", "double"}},
      {ElementType::I1, "i1", 1, 0, {"bool"}},
      {ElementType::I8, "i8", 1, 8, {"int8"}},
  };
  return rows;
}

static const ElementTypeRow &getRow(ElementType type) {
  return getRows()[static_cast<size_t>(type)];
}

std::string_view getName(ElementType type) { return getRow(type).name; }

bool isInteger(ElementType type) {
  return type == ElementType::I1 || type == ElementType::I8;
}

int64_t getSizeBytes(ElementType type) { return getRow(type).sizeBytes; }

int getPrecisionBits(ElementType type) { return getRow(type).precisionBits; }

std::optional<ElementType> parseElementType(std::string_view name) {
  for (const ElementTypeRow &row : getRows()) {
    if (row.name == name)
      return row.type;
    for (std::string_view alias : row.aliases)
      if (alias == name)
        return row.type;
  }
  return std::nullopt;
}

std::vector<std::string> getElementTypeNames() {
  std::vector<std::string> names;
  for (const ElementTypeRow &row : getRows())
    names.emplace_back(row.name);
  return names;
}

} // namespace attn
