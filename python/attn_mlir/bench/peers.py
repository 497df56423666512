# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the kit times: this compiler's kernels, and its peers through PyTorch (JAX has a process of its own).

A peer is a function of a `Session` that returns a function of i, which starts one pass, forward or backward, over the i-th
set of inputs; it raises Unavailable with the reason where it cannot.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import warnings
from typing import Any, Callable

#: Which of a problem's kernels each of ours is.
OURS = {"attn-mlir": "sm_90a", "attn-mlir-deterministic": "sm_90a-deterministic", "attn-mlir-sm80": "sm_80"}
PEER_DESCRIPTIONS = {
    "attn-mlir": "this compiler, sm_90a kernel",
    "attn-mlir-deterministic": "the same with fused=0: gradients without atomics",
    "attn-mlir-sm80": "this compiler, sm_80 kernel",
    "cudnn": "cuDNN through torch scaled_dot_product_attention",
    "cudnn-deterministic": "the same under torch.use_deterministic_algorithms",
    "flash2": "FlashAttention-2 through torch scaled_dot_product_attention, or varlen_attn",
    "flash2-deterministic": "the same under torch.use_deterministic_algorithms",
    "flex": "torch FlexAttention, compiled",
    "triton": "a plain Triton kernel (triton_attention.py)",
    "jax-mosaic": "JAX Pallas Mosaic GPU attention",
    "gemm": "cuBLAS bf16 matrix product, 8192^3, through torch: the ceiling",
    "copy": "a copy on the device that moves the bytes of query, key, value and output: the ceiling of serving",
}
PEER_NAMES = tuple(PEER_DESCRIPTIONS)
#: Peers whose gradients are the same bits in every run. FlexAttention's are: it has a kernel for dQ and one for dK and dV.
DETERMINISTIC = ("attn-mlir-deterministic", "attn-mlir-sm80", "cudnn-deterministic", "flash2-deterministic", "flex")
GEMM_SIZE = 8192
MAX_REASON = 400
#: Runs of a kernel that is timed, after the first, that must give the same bits.
REPEATS = 11
#: How a spot check begins that found errors which are near what the rule allows (numerics.MARGIN).
MARGINAL = "marginal: "


class Unavailable(Exception):
    """Why a peer cannot run a problem."""


def first_line(error: Exception) -> str:
    """Of what an error says; its type where it says nothing."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def timed_call(session, attend: Callable, deterministic: bool = False) -> Callable[[int], object]:
    """What is timed of attend(query, key, value): itself; of a backward, its gradients alone, each set's forward done before."""
    import torch

    sets, names = session.sets, ("query", "key", "value")
    inputs = [[s[name].detach().requires_grad_(session.problem.attention.gradient) for name in names] for s in sets]
    if not session.problem.attention.gradient:
        return lambda i: attend(*inputs[i % len(sets)])
    with algorithms(deterministic):
        outputs = [attend(*tensors) for tensors in inputs]

    def call(i):
        k = i % len(sets)
        with algorithms(deterministic):
            return torch.autograd.grad(outputs[k], inputs[k], sets[k]["d_output"], retain_graph=True)

    if deterministic and not all(torch.equal(a, b) for a, b in zip(call(0), call(0))):
        raise Unavailable("its gradients are not the same bits in two runs")
    return call


@contextlib.contextmanager
def algorithms(deterministic: bool):
    """torch's deterministic algorithms for a while, without the filling of fresh memory that comes with them."""
    import torch

    torch.use_deterministic_algorithms(deterministic)
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


def checked(make_call: Callable[[], Callable[[int], object]]) -> Callable[[int], object]:
    """The call that is made, once it has worked; else Unavailable with what torch says and warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call = make_call()
            call(0)
        except RuntimeError as error:
            reasons = [str(w.message).split("(Triggered")[0].strip() for w in caught]
            raise Unavailable("; ".join([first_line(error), *reasons])[:MAX_REASON]) from None
    return call


def sdpa(session, backend_name: str, deterministic: bool = False) -> Callable[[int], object]:
    """torch's scaled_dot_product_attention, by one backend or not at all."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    problem = session.problem
    if problem.attention.mask not in ("", "causal(top_left)"):
        raise Unavailable(
            f"scaled_dot_product_attention has no mask {problem.attention.mask}, but as a tensor of all pairs"
        )
    backend = getattr(SDPBackend, backend_name)
    is_causal, grouped = problem.attention.mask != "", problem.Hq != problem.Hkv

    def attend(q, k, v):
        with sdpa_kernel(backend):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=is_causal, enable_gqa=grouped)

    return checked(lambda: timed_call(session, attend, deterministic))


def varlen(session, deterministic: bool = False) -> Callable[[int], object]:
    """FlashAttention-2 on rows without padding, [tokens, heads, head dim]: for windows, and for documents."""
    import torch

    try:
        from torch.nn.attention.varlen import varlen_attn
    except ImportError as error:
        raise Unavailable(f"windows and documents need varlen_attn of PyTorch 2.10: {error}") from None
    problem = session.problem
    lengths = list(problem.lengths) or [problem.M] * problem.B
    offsets = torch.tensor([0, *itertools.accumulate(lengths)], dtype=torch.int32, device=session.device)
    window, longest = problem.attention.window or (-1, 0), max(lengths)

    def attend(q, k, v):
        q, k, v = (t.transpose(1, 2).reshape(-1, t.shape[1], t.shape[3]) for t in (q, k, v))
        output: Any = varlen_attn(q, k, v, offsets, offsets, longest, longest, window_size=window)
        return output.view(problem.B, problem.M, problem.Hq, problem.attention.Dv).transpose(1, 2)

    return checked(lambda: timed_call(session, attend, deterministic))


def cudnn(session, deterministic=False):
    return sdpa(session, "CUDNN_ATTENTION", deterministic)


def flash2(session, deterministic=False):
    if session.problem.attention.window or session.problem.lengths:
        return varlen(session, deterministic)
    return sdpa(session, "FLASH_ATTENTION", deterministic)


def flex(session):
    """FlexAttention with the block mask that it makes of a predicate."""
    import torch
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    problem = session.problem
    predicate = problem.attention.form.predicate(problem, lambda values: torch.tensor(values, device=session.device))
    block_mask = None
    if predicate:
        block_mask = create_block_mask(predicate, None, None, problem.M, problem.N, device=session.device)
    # A new problem is a new compilation: more of them than this would run uncompiled.
    torch._dynamo.config.recompile_limit = 256
    # A backward that is called again must not be given the buffers of its forward.
    torch._functorch.config.donated_buffer = False
    compiled = torch.compile(flex_attention, dynamic=False)
    grouped = problem.Hq != problem.Hkv
    return timed_call(session, lambda q, k, v: compiled(q, k, v, block_mask=block_mask, enable_gqa=grouped))


def triton(session):
    try:
        import triton  # noqa: F401
    except ImportError as error:
        raise Unavailable(f"no Triton: {error}") from None
    if session.device == "cpu":
        raise Unavailable("Triton needs a GPU")
    if session.problem.attention.gradient:
        raise Unavailable("this kernel has no backward")
    from .triton_attention import make_attention

    return make_attention(session.problem, session.sets)


def gemm(session):
    """Not an attention: what the tensor cores give to a library's matrix product in the same minutes."""
    import torch

    size = GEMM_SIZE if session.device != "cpu" else 256
    a, b = (torch.randn(size, size, device=session.device).to(torch.bfloat16) for _ in range(2))
    out = torch.empty_like(a)
    return lambda i: torch.matmul(a, b, out=out)


def copy(session):
    """Not an attention: reads half of the problem's bytes and writes as many."""
    import torch

    size = max(session.problem.bytes() // 2, 1)
    pairs = [torch.empty((2, size), dtype=torch.uint8, device=session.device).fill_(k) for k in range(len(session.sets))]
    return lambda i: pairs[i % len(pairs)][1].copy_(pairs[i % len(pairs)][0])


def ours(session):
    """Our kernel for session.kernel, its launches packed beforehand, one for each set of inputs."""
    import torch

    from .torch_arrays import TorchArrays, layouts

    if session.device == "cpu":
        raise Unavailable("its kernels need a GPU")
    device, program = session.cuda_device(), session.program
    device.context.require_target(program.manifest.target)
    problem, arrays = session.problem, TorchArrays(session.device)
    results = arrays.empty_results(problem)
    launches = [device.prepare(program, layouts(program, {**s, **results})) for s in session.sets]
    for tensor in results.values():
        tensor.fill_(math.nan)
    launches[0].run(torch.cuda.current_stream().cuda_stream)
    fault = arrays.spot_check(problem, session.sets[0], results)
    if fault and not fault.startswith(MARGINAL):
        raise Unavailable(fault)
    session.note = fault or ""
    check_finite(results)
    if program.manifest.semantics.get("deterministic", True):
        check_repeats(lambda: launches[0].run(torch.cuda.current_stream().cuda_stream), results)

    def call(i):
        launches[i % len(launches)].run(torch.cuda.current_stream().cuda_stream)
        return results  # kept as long as the call: the launches know only their addresses

    return call


def check_finite(results: dict[str, Any]):
    """Results of finite inputs are NaN nowhere."""
    for name, tensor in results.items():
        count = int(tensor.isnan().sum())
        if count:
            raise Unavailable(f"its {name} is wrong: {count} of {tensor.numel()} elements are NaN")


def check_repeats(run: Callable[[], None], results: dict[str, Any]):
    """Runs a kernel REPEATS times more: raises Unavailable unless its results, which are there, are the same each time."""
    first = {name: tensor.clone() for name, tensor in results.items()}
    for repeat in range(REPEATS):
        for tensor in results.values():
            tensor.fill_(math.nan)
        run()
        for name, tensor in results.items():
            differs = tensor != first[name]
            count = int(differs.sum())
            if count:
                where = differs.nonzero()[0].tolist()
                raise Unavailable(
                    f"its {name} is wrong: {count} of {tensor.numel()} elements of run {repeat + 2} are not those of the "
                    f"first, the first at {where}"
                )


PEERS: dict[str, Callable] = {
    "attn-mlir": ours,
    "attn-mlir-deterministic": ours,
    "attn-mlir-sm80": ours,
    "cudnn": cudnn,
    "cudnn-deterministic": functools.partial(cudnn, deterministic=True),
    "flash2": flash2,
    "flash2-deterministic": functools.partial(flash2, deterministic=True),
    "flex": flex,
    "triton": triton,
    "gemm": gemm,
    "copy": copy,
}


def is_contestant(peer: str, problem) -> bool:
    """Whether a peer has a problem and differs from the others on it: a forward is deterministic as it is, and has one ceiling;
    of the others none takes a cache in pages with lengths."""
    if peer in ("gemm", "copy"):
        return (peer == "copy") == problem.is_serving
    if problem.attention.page and peer not in OURS:
        return False
    return problem.attention.gradient or not peer.endswith("-deterministic")


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
