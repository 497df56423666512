# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans that move queries: they go to the ranks whose keys they see, and partial results return to their owner, who merges
them in ascending order of ranks. Keys, and their gradients, stay where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, Sequence

from .calls import attend, differentiate, merge
from .plan import Call
from .ranges import Ranges, count
from .tokens import Library, Store

if TYPE_CHECKING:
    from .executor import Executor, Gradients, Saved


def forward(executor: "Executor", query: Any, key: Any, value: Any, sink: Any) -> tuple[Any, Any]:
    """Output and LSE of the rank's rows."""
    library, wide = Library(query), Library(query).dtype(executor.score_dtype)
    answers = Store(library)
    for call, (rows,), keys, values in calls(executor, (query,), key, value):
        part, lse = attend(rows, keys, values, result_dtype=executor.score_dtype, **executor.at(call, library), **executor.options)
        answers.add(call.rows, (part, lse[..., None]))
    shape = (*query.shape[:3], value.shape[3])
    # The sink is a part of its own.
    output, lse = library.full(shape, 0.0, wide), library.full(shape[:3], 0.0 if sink is not None else float("-inf"), wide)
    lse = lse if sink is None else lse + sink[:, None]
    for ranges, (part, part_lse) in answer(executor, answers, [value.shape[3], 1], library.full((0,), 0.0, wide)):
        for own, theirs in places(executor.mine.rows, ranges):
            merged = merge(library, (output[:, :, own], lse[:, :, own]), (part[:, :, theirs], part_lse[:, :, theirs, 0]))
            output[:, :, own], lse[:, :, own] = merged
    return library.convert(output, query.dtype), lse


def backward(executor: "Executor", saved: "Saved", d_output: Any, d_lse: Any, capture_gradients: bool) -> "Gradients":
    """dQ of the rank's rows, from those who have their keys; dK and dV of its own keys. O does not travel, but delta."""
    from .executor import Gradients

    library, wide = Library(d_output), saved.lse.dtype
    delta = (library.convert(d_output, wide) * library.convert(saved.output, wide)).sum(-1)
    delta = delta if d_lse is None else delta - d_lse
    learned = executor.learned() if capture_gradients else []
    d_query, d_key, d_value = (library.full(array.shape, 0.0, wide) for array in (saved.query, saved.key, saved.value))
    d_reads = [library.full(array.shape, 0.0, wide) for array in learned]
    answers = Store(library)
    more: dict[str, Any] = {"capture_gradients": bool(learned), "deterministic": True, "result_dtype": executor.score_dtype}
    own = (saved.query, d_output, saved.lse[..., None], delta[..., None])
    for call, (rows, d_rows, lse, deltas), keys, values in calls(executor, own, saved.key, saved.value):
        nothing = library.full(d_rows.shape, 0.0, d_rows.dtype)
        part, *of_keys, others = split_gradients(
            differentiate(
                rows, keys, values, nothing, lse[..., 0], d_rows, d_lse=-deltas[..., 0], **more, **executor.at(call, library),
                **executor.options,
            )
        )  # fmt: skip
        answers.add(call.rows, (part,))
        for total, gradient in zip((d_key, d_value), of_keys):
            for mine, theirs in places(executor.mine.rows, call.keys):
                total[:, :, mine] += gradient[:, :, theirs]
        for total, gradient in zip(d_reads, others):
            total += gradient
    for ranges, (part,) in answer(executor, answers, [saved.query.shape[3]], library.full((0,), 0.0, wide)):
        for mine, theirs in places(executor.mine.rows, ranges):
            d_query[:, :, mine] += part[:, :, theirs]
    dtype = saved.query.dtype
    reads = [library.convert(d, a.dtype) for d, a in zip(d_reads, learned)]
    d_query, d_key, d_value = (library.convert(d, dtype) for d in (d_query, d_key, d_value))
    return Gradients(d_query, d_key, d_value, None, reads)


def split_gradients(gradients: Sequence[Any]) -> tuple[Any, Any, Any, Sequence[Any]]:
    return (*gradients[:3], gradients[3:])


def calls(executor: "Executor", own: Sequence[Any], key: Any, value: Any) -> Iterator[tuple[Call, list[Any], Any, Any]]:
    """The rank's calls in their order, with their rows of `own` and keys. What arrives in the next stage is on its way while one
    is computed."""
    plan, rows, keys = executor.plan, Store(Library(key)), Store(Library(key))
    rows.add(executor.mine.rows, own)
    keys.add(executor.mine.rows, (key, value))
    wait = send_rows(executor, 0, rows, own)
    for number in range(plan.stage_count):
        wait()
        wait = send_rows(executor, number + 1, rows, own)
        for call in executor.mine.stages[number].calls:
            yield call, rows.take(call.rows), *keys.take(call.keys)


def send_rows(executor: "Executor", number: int, store: Store, like: Sequence[Any]) -> Any:
    """Begins a stage's transfers, arrays of one type at a time; returns what waits for them and adds to the store what arrives."""
    if number >= executor.plan.stage_count or executor.plan.is_quiet(number):
        return lambda: None
    stage, library = executor.mine.stages[number], store.library
    kinds = [[n for n, array in enumerate(like) if array.dtype == dtype] for dtype in dict.fromkeys(array.dtype for array in like)]
    waits = []
    for kind in kinds:
        nothing = like[kind[0]].reshape(-1)[:0]
        parts, shapes = [], []
        for peer in executor.everybody:
            rows = stage.send.get(peer, ())
            parts.append(library.flatten([store.take(rows)[n] for n in kind]) if rows else nothing)
            tokens = count(stage.receive.get(peer, ()))
            shapes.append([(*like[n].shape[:2], tokens, like[n].shape[3]) for n in kind])
        waits.append(executor.exchange(parts, shapes))

    def arrive():
        received = [wait() for wait in waits]
        for peer, rows in stage.receive.items():
            arrays = {n: array for kind, by_rank in zip(kinds, received) for n, array in zip(kind, by_rank[peer])}
            store.add(rows, [arrays[n] for n in range(len(like))])

    return arrive


def answer(executor: "Executor", answers: Store, dims: Sequence[int], nothing: Any) -> Iterator[tuple[Ranges, list[Any]]]:
    """Sends partial results to the owners of their rows; the parts of the rank's own rows, in ascending order of ranks."""
    plan, rank = executor.plan, executor.rank
    parts, shapes = [], []
    for peer in executor.everybody:
        rows = plan.answered(rank, peer)
        parts.append(answers.library.flatten(answers.take(rows)) if rows else nothing)
        shapes.append([(*executor.sizes[:2], count(plan.answered(peer, rank)), dim) for dim in dims])
    for peer, arrays in enumerate(executor.exchange(parts, shapes)()):
        if ranges := plan.answered(peer, rank):
            yield ranges, arrays


def places(whole: Ranges, part: Ranges) -> Iterator[tuple[slice, slice]]:
    """Where tokens of a part are among those of the whole, and of the part."""
    at = 0
    for begin, end in part:
        before = 0
        for first, last in whole:
            low, high = max(begin, first), min(end, last)
            if low < high:
                yield slice(before + low - first, before + high - first), slice(at + low - begin, at + high - begin)
            before += last - first
        at += end - begin
