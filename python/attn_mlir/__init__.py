# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fused attention, compiled: `attention(q, k, v)` on arrays, `compile` for a module, `mask` for predicates.

    import attn_mlir
    output = attn_mlir.attention(query, key, value, causal=True)             # [B, H, M, D]

    kernel = attn_mlir.compile("attention.mlir", target="sm_90a")
    output = kernel(query, key, value)

The compiler's programs are found on PATH, in the folder that ATTN_BIN names, or in the build folder of the repository.
"""

import importlib
from typing import TYPE_CHECKING

from .errors import AttnError, BindingError, CompileError, DeviceError, ManifestError

if TYPE_CHECKING:
    from . import cascade, latent, mask, norms, rotary, serving
    from .functional import attention, attention_backward
    from .cache import Cache
    from .int8 import sageattn, sageattn_varlen
    from .kernel import Kernel, compile
    from .linear import linear_attention
    from .paged import append, decode
    from .problem import AttentionProblem
    from .flash_cache import flash_attn_with_kvcache
    from .flash_names import flash_attn_varlen_func
    from .latent import flash_mla_with_kvcache, get_mla_metadata
    from .ragged import prefill, varlen
    from .states import merge_state, merge_states

__version__ = "0.1.0"
__all__ = [
    "AttentionProblem", "AttnError", "BindingError", "Cache", "CompileError", "DeviceError", "Kernel", "ManifestError",
    "append", "attention", "attention_backward", "cascade", "compile", "decode", "flash_attn_varlen_func", "flash_attn_with_kvcache",
    "flash_mla_with_kvcache", "get_mla_metadata", "latent", "linear_attention", "mask", "merge_state", "merge_states", "norms", "prefill", "rotary", "sageattn", "sageattn_varlen", "serving", "varlen",
]  # fmt: skip

#: Loaded when they are asked for: `python -m attn_mlir.plot` needs none of them.
_MODULES = ("cascade", "latent", "mask", "norms", "rotary", "serving")
_HOMES = {
    "append": "paged",
    "attention": "functional",
    "attention_backward": "functional",
    "decode": "paged",
    "flash_attn_varlen_func": "flash_names",
    "flash_attn_with_kvcache": "flash_cache",
    "flash_mla_with_kvcache": "latent",
    "get_mla_metadata": "latent",
    "merge_state": "states",
    "merge_states": "states",
    "prefill": "ragged",
    "sageattn": "int8",
    "sageattn_varlen": "int8",
    "varlen": "ragged",
    "linear_attention": "linear",
    "compile": "kernel",
    "Kernel": "kernel",
    "Cache": "cache",
    "AttentionProblem": "problem",
}


def __getattr__(name: str):
    if name in _MODULES:
        return importlib.import_module("." + name, __name__)
    if name in _HOMES:
        value = getattr(importlib.import_module("." + _HOMES[name], __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
