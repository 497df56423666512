# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A plan carried out by threads of one process: what the ranks of a cluster would compute, and the bytes they would send."""

from __future__ import annotations

import threading
from typing import Any, Callable, NamedTuple, Optional, Sequence, TypeVar

from ..errors import BindingError
from .communicator import Mailboxes, ThreadCommunicator
from .executor import Executor
from .plan import Plan
from .tokens import AXIS, Library, Store


Result = TypeVar("Result")


class Simulated(NamedTuple):
    """Of the whole attention; gradients are None without d_output. Bytes are those that each rank has sent to others."""

    output: Any
    lse: Any
    d_query: Any
    d_key: Any
    d_value: Any
    d_sink: Any
    d_bias: Any
    d_reads: list[Any]
    forward_bytes: list[int]
    backward_bytes: list[int]


class RankResult(NamedTuple):
    """Of one rank."""

    arrays: list[Any]
    d_sink: Any
    d_bias: Any
    d_reads: list[Any]
    forward_bytes: int
    backward_bytes: int


def simulate(
    plan: Plan, query: Any, key: Any, value: Any, *, sink: Any = None, bias: Any = None, lengths: Any = None, d_output: Any = None,
    d_lse: Any = None, timeout: Optional[float] = None, **options: Any,
) -> Simulated:  # fmt: skip
    """attention(query, key, value) of arrays [B, H, tokens, D] in host memory, as the ranks of `plan` compute it.

    `sink` is [Hq]; `bias` broadcasts to [B, Hq, tokens, tokens]; `lengths` [B], i32: how many tokens of each batch exist; `options` are mask_mod and score_mod of the whole attention, soft_cap, scale, dropout, seed, offset,
    target, device and allow_tf32 of attn_mlir.attention; the plan's mask holds beside mask_mod. With d_output, and d_lse, gradients too, also of what
    score_mod reads (`d_reads`, in the order of its reads). Raises what a rank
    raises; `timeout`: seconds that ranks wait for each other; None: for as long as none has failed.
    """
    for name, array in (("query", query), ("key", key), ("value", value)):
        if array.shape[AXIS] != plan.tokens:
            raise BindingError(f"{name}: expected {plan.tokens} tokens, as the plan has, got {array.shape[AXIS]}")
    inputs, gradients = (query, key, value, sink, bias, lengths), (d_output, d_lse)
    done = on_threads(plan.size, lambda communicator: run_rank(plan, communicator, inputs, gradients, options), timeout)
    arrays = [assemble(plan, Library(query), parts) for parts in zip(*(result.arrays for result in done))]
    padded: list[Any] = arrays + [None] * (5 - len(arrays))
    output, lse, d_query, d_key, d_value = padded
    sinks = [result.d_sink for result in done if result.d_sink is not None]
    d_reads = [sum(parts) for parts in zip(*(result.d_reads for result in done))]
    forward, backward = [result.forward_bytes for result in done], [result.backward_bytes for result in done]
    d_bias = assemble_bias(plan, bias, [result.d_bias for result in done]) if bias is not None and d_output is not None else None
    return Simulated(output, lse, d_query, d_key, d_value, sum(sinks) if sinks else None, d_bias, d_reads, forward, backward)


def on_threads(size: int, work: Callable[[ThreadCommunicator], Result], timeout: Optional[float] = None) -> list[Result]:
    """What `work` returns on each of `size` ranks that are threads, which wait `timeout` seconds for each other, or without limit. Raises what the
    first that fails raises."""
    mailboxes = Mailboxes(size, timeout)
    results: dict[int, Result] = {}
    errors: list[Exception] = []

    def run(rank: int):
        try:
            results[rank] = work(ThreadCommunicator(mailboxes, rank))
        except Exception as error:
            errors.append(error)
            mailboxes.fail(str(error))

    threads = [threading.Thread(target=run, args=(rank,), daemon=True) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [results[rank] for rank in range(size)]


def run_rank(
    plan: Plan, communicator: ThreadCommunicator, inputs: Sequence[Any], gradients: Sequence[Any], options: dict[str, Any]
) -> RankResult:
    rank = communicator.rank
    executor = Executor(plan, communicator, options)
    query, key, value = (plan.part(array, rank) for array in inputs[:3])
    sink, bias, lengths = inputs[3:]
    if bias is not None and bias.shape[AXIS] > 1:
        bias = plan.part(bias, rank)
    output, saved = executor.forward(query, key, value, sink, bias, lengths)
    forward_bytes = communicator.sent_bytes
    arrays = [output, executor.lse(saved)]
    before = communicator.sent_bytes
    d_bias, d_reads = None, []
    if gradients[0] is not None:
        d_output, d_lse = (None if array is None else plan.part(array, rank) for array in gradients)
        found = executor.backward(saved, d_output, d_lse, bias_gradient=bias is not None, capture_gradients=True)
        arrays += found[:3]
        d_bias, d_reads = found.bias, found.reads
    backward_bytes = communicator.sent_bytes - before
    has_sink = sink is not None and gradients[0] is not None
    d_sink = executor.sink_gradient(sink, saved, d_output, d_lse) if has_sink else None
    return RankResult(arrays, d_sink, d_bias, d_reads, forward_bytes, backward_bytes)


def assemble_bias(plan: Plan, bias: Any, parts: Sequence[Any]) -> Any:
    """The gradient of the whole bias: of rows, or the sum where all rows share one."""
    return assemble(plan, Library(bias), parts) if bias.shape[AXIS] > 1 else sum(parts)


def assemble(plan: Plan, library: Library, parts: Sequence[Any]) -> Any:
    """The whole, from the ranks' parts."""
    store = Store(library)
    for rank, part in zip(plan.ranks, parts):
        store.add(rank.rows, (part,))
    return store.take(((0, plan.tokens),))[0]
