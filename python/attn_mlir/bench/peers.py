# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the kit times: this compiler's kernels, and its peers through PyTorch (JAX has a process of its own).

A peer is a function of a `Session` that returns a function of i, which starts one forward pass over the i-th set of
inputs; it raises Unavailable with the reason where it cannot.
"""

from __future__ import annotations

import math
import warnings
from typing import Callable

PEER_NAMES = ("attn-mlir", "attn-mlir-sm80", "cudnn", "flash2", "flex", "triton", "jax-mosaic", "gemm")
OURS = {"attn-mlir": "sm_90a", "attn-mlir-sm80": "sm_80"}
PEER_DESCRIPTIONS = {
    "attn-mlir": "this compiler, sm_90a kernel",
    "attn-mlir-sm80": "this compiler, sm_80 kernel",
    "cudnn": "cuDNN through torch scaled_dot_product_attention",
    "flash2": "FlashAttention-2 through torch scaled_dot_product_attention",
    "flex": "torch FlexAttention, compiled",
    "triton": "a plain Triton kernel (triton_attention.py)",
    "jax-mosaic": "JAX Pallas Mosaic GPU attention",
    "gemm": "cuBLAS bf16 matrix product, 8192^3, through torch: the ceiling",
}
GEMM_SIZE = 8192


class Unavailable(Exception):
    """Why a peer cannot run a problem."""


def sdpa(session, backend_name: str) -> Callable[[int], object]:
    """torch's scaled_dot_product_attention, by one backend or not at all."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    problem = session.problem
    if problem.attention.window:
        raise Unavailable("scaled_dot_product_attention has no sliding window")
    backend = getattr(SDPBackend, backend_name)
    is_causal, grouped = problem.attention.mask != "", problem.Hq != problem.Hkv

    def call(i):
        s = session.sets[i % len(session.sets)]
        with sdpa_kernel(backend):
            return torch.nn.functional.scaled_dot_product_attention(
                s["query"], s["key"], s["value"], is_causal=is_causal, enable_gqa=grouped
            )

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call(0)
        except RuntimeError as error:
            reasons = [str(w.message).split("(Triggered")[0].strip() for w in caught]
            raise Unavailable("; ".join([str(error).splitlines()[0], *reasons])) from None
    return call


def cudnn(session):
    return sdpa(session, "CUDNN_ATTENTION")


def flash2(session):
    return sdpa(session, "FLASH_ATTENTION")


def flex(session):
    """FlexAttention with the block mask that it makes of a predicate."""
    import torch
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    problem = session.problem
    predicates = {"": None, "causal(top_left)": lambda b, h, i, j: i >= j}
    if problem.attention.window:
        left, right = problem.attention.window
        predicates[problem.attention.mask] = lambda b, h, i, j: (j >= i - left) & (j <= i + right)
    if problem.attention.mask not in predicates:
        raise Unavailable(f"no predicate for {problem.attention.mask}")
    predicate, block_mask = predicates[problem.attention.mask], None
    if predicate:
        block_mask = create_block_mask(predicate, None, None, problem.M, problem.N, device=session.device)
    # A new problem is a new compilation: more of them than this would run uncompiled.
    torch._dynamo.config.recompile_limit = 256
    compiled = torch.compile(flex_attention, dynamic=False)
    grouped = problem.Hq != problem.Hkv

    def call(i):
        s = session.sets[i % len(session.sets)]
        return compiled(s["query"], s["key"], s["value"], block_mask=block_mask, enable_gqa=grouped)

    return call


def triton(session):
    try:
        import triton  # noqa: F401
    except ImportError as error:
        raise Unavailable(f"no Triton: {error}") from None
    if session.device == "cpu":
        raise Unavailable("Triton needs a GPU")
    from .triton_attention import make_attention

    return make_attention(session.problem, session.sets)


def gemm(session):
    """Not an attention: what the tensor cores give to a library's matrix product in the same minutes."""
    import torch

    size = GEMM_SIZE if session.device != "cpu" else 256
    a, b = (torch.randn(size, size, device=session.device).to(torch.bfloat16) for _ in range(2))
    out = torch.empty_like(a)
    return lambda i: torch.matmul(a, b, out=out)


def ours(session):
    """Our kernel for session.kernel, its launches packed beforehand, one for each set of inputs."""
    import torch

    from .torch_arrays import TorchArrays, layouts

    if session.device == "cpu":
        raise Unavailable("its kernels need a GPU")
    device, program = session.cuda_device(), session.program
    device.context.require_target(program.manifest.target)
    problem = session.problem
    output = torch.empty_strided(
        problem.shapes()["output"],
        problem.strides()["output"],
        dtype=session.sets[0]["query"].dtype,
        device=session.device,
    )
    launches = [device.prepare(program, layouts(program, {**s, "output": output})) for s in session.sets]
    output.fill_(math.nan)
    launches[0].run(torch.cuda.current_stream().cuda_stream)
    fault = TorchArrays(session.device).spot_check(problem, session.sets[0], output)
    if fault:
        raise Unavailable(fault)
    return lambda i: launches[i % len(launches)].run(torch.cuda.current_stream().cuda_stream)


PEERS = {
    "attn-mlir": ours,
    "attn-mlir-sm80": ours,
    "cudnn": cudnn,
    "flash2": flash2,
    "flex": flex,
    "triton": triton,
    "gemm": gemm,
}


def peer_flops(peer: str, problem, device: str = "cuda") -> float:
    if peer == "gemm":
        return 2.0 * (GEMM_SIZE if device != "cpu" else 256) ** 3
    return float(problem.flops())


def sets_needed(problem, cache_bytes: int) -> int:
    """Sets of inputs to rotate so that none is left in a cache of that size: 2 to 16."""
    element = 2 if problem.attention.dtype in ("bf16", "f16") else 4
    shapes = problem.shapes()
    size = element * sum(math.prod(shapes[name]) for name in ("query", "key", "value"))
    return max(2, min(16, 1 + math.ceil(3 * cache_bytes / max(size, 1))))
