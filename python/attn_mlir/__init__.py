# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python side of attn-mlir."""
