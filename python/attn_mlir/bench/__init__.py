# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The benchmark kit: kernels compiled beforehand, proven and timed on a GPU machine (docs/benchmarks/README.md)."""
