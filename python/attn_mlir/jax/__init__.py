# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention for JAX: a function with gradients, under jit too, and functions of one's own as modules.

    from attn_mlir.jax import attention, lower
    output = jax.jit(attention)(query, key, value)                      # [B, Hq, M, Dv]

    module = lower(function, *arguments)                                # its jaxpr as linalg
    print(module.attentions())                                          # what the compiler recognises in it
    kernel = attn_mlir.compile(module.mlir, target="sm_90a")
"""

from .attention import attention
from .lowering import Lowered, lower

__all__ = ["Lowered", "attention", "lower"]
