//===- TestManifest.h - A manifest for the tests ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_TEST_UNIT_RUNTIME_TESTMANIFEST_H
#define ATTN_TEST_UNIT_RUNTIME_TESTMANIFEST_H

/// Attention, head dim 128, with a workspace and parameters of every kind.
inline constexpr const char *testManifestText = R"json({
  "schema": "attn-mlir/manifest/1",
  "name": "attention",
  "target": "sm_90a",
  "ptx": "attention.ptx",
  "operands": [
    {
      "name": "query",
      "role": "input",
      "dtype": "bf16",
      "shape": ["B", "Hq", "M", 128],
      "stride_constraints": {"contiguous_dims": [3], "multiple_of": 8},
      "alignment_bytes": 16
    },
    {
      "name": "key",
      "role": "input",
      "dtype": "bf16",
      "shape": ["B", "Hkv", "N", 128],
      "stride_constraints": {"contiguous_dims": [3], "multiple_of": 8},
      "alignment_bytes": 16
    },
    {
      "name": "output",
      "role": "output",
      "dtype": "bf16",
      "shape": ["B", "Hq", "M", 128],
      "stride_constraints": {"contiguous_dims": [3], "multiple_of": 8},
      "alignment_bytes": 16
    }
  ],
  "constraints": [
    {
      "expr": "mod(dim(query, 1), dim(key, 1))",
      "equals": 0,
      "message": "query heads must be a multiple of key heads"
    }
  ],
  "workspaces": [
    {
      "name": "partials",
      "bytes": "B * Hq * M * 4",
      "fill": "zero",
      "alignment_bytes": 256
    }
  ],
  "kernels": [
    {
      "entry": "attention_kernel",
      "grid": ["ceildiv(M, 128)", "Hq", "B"],
      "block": [384, 1, 1],
      "cluster": [1, 1, 1],
      "shared_bytes": 65536,
      "parameters": [
        {
          "kind": "tensor_map",
          "operand": "key",
          "dtype": "bf16",
          "dims": [128, "N", "B * Hkv"],
          "strides_bytes": ["stride(key, 2) * 2", "stride(key, 1) * 2"],
          "box": [64, 128, 1],
          "swizzle": 128,
          "fill": "zero"
        },
        {"kind": "pointer", "operand": "query"},
        {"kind": "pointer", "workspace": "partials", "byte_offset": "M * 4"},
        {"kind": "pointer", "operand": "output"},
        {"kind": "i32", "value": "M"},
        {"kind": "i64", "value": "stride(query, 0)"},
        {"kind": "f32", "value": "0.125 * 1.5"}
      ]
    }
  ],
  "schedule": {
    "kind": "large_cache"
  },
  "predicted_bytes": [
    {"operand": "query", "read": "B * Hq * M * 256", "write": 0}
  ],
  "semantics": {}
})json";

#endif // ATTN_TEST_UNIT_RUNTIME_TESTMANIFEST_H
