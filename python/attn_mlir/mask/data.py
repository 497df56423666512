# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Masks that read data: packed sequences by their offsets, lists of blocks in the layout of FlexAttention, bits of guessed tokens and of pairs."""

from __future__ import annotations

from typing import Any, Callable, Sequence, Union

from ..arrays import type_of
from ..errors import AttnError
from .ranges import ANYWHERE, NATURAL, Bound, Lists, Need
from .functions import key_length, query_length
from .symbols import BOOL, INDEX, Tracer, Value, as_index, lift, maximum, minimum, where
from .tensors import Tensor, tensor
from .tracing import Mask, trace_mask


def segment(offsets: Any, position) -> Value:
    """The packed sequence that a position lies in, by the offsets [S + 1] of S sequences; the last one behind the end."""
    tracer = Tracer.get()
    at = as_index(lift(position, INDEX))
    number = tracer.capture(offsets_of(offsets, "offsets"))
    tracer.bounds.append(Bound(number, 0, ANYWHERE))
    return tracer.op(f"attn.segment %@{number}@ at {at.name}", [], " : tensor<?xi32>", INDEX, NATURAL)


def packed(offsets: Any, key_offsets: Any = None, causal: Union[bool, str] = False) -> Mask:
    """Sequences behind each other, as `cu_seqlens` of FlashAttention gives them: j in i's sequence.

    offsets: [S + 1] i32, 0 first, not decreasing: sequence s has the positions offsets[s] to offsets[s + 1] - 1, and may be
    empty. key_offsets: those of the keys, if other. causal: within each sequence, True or "bottom_right" (its last query
    sees its last key), or "top_left". No work is done for pairs of different sequences but in tiles at their borders;
    positions behind the last sequence see nothing.
    """
    if causal not in (True, False, "top_left", "bottom_right"):
        raise AttnError(f"expected causal to be a bool, 'top_left' or 'bottom_right', got {causal!r}")
    queries = offsets_of(offsets, "offsets")
    keys = queries if key_offsets is None else offsets_of(key_offsets, "key_offsets")

    def sees(b, h, i, j):
        s = segment(queries, i)
        result = (i < queries[s + 1]) & (j >= keys[s])
        if causal and keys is queries:  # what is not behind i is not behind the end of its sequence
            return result & (j <= i)
        result = result & (j < keys[s + 1])
        if causal:
            end = 0 if causal == "top_left" else 1
            result = result & (j - keys[s + end] <= i - queries[s + end])
        return result

    return Mask(sees)


#: Bits of a number of i32.
WORD = 32


def tree_bits(bits: Any, offsets: Any = None) -> Mask:
    """Guessed tokens that form a tree, as of speculative decoding: the M queries of a sequence are its last M keys, of which query i sees key t if bit t of
    its number is set. All keys before them are seen. For `decode`, `varlen` and `prefill`; beside causal, whose order a tree's nodes have.

    bits: [B, M] of i32, or [B, M, words], where bit t is bit t % 32 of word t / 32. With offsets [B + 1], those of the queries (cu_seqlens_q), [rows] or
    [rows, words]. More queries than a number has bits are an error.
    """
    numbers, starts = tensor(bits), None if offsets is None else offsets_of(offsets, "offsets")
    rank = 2 if starts is None else 1
    if numbers.dtype != "i32" or numbers.rank not in (rank, rank + 1):
        raise AttnError(f"expected bits to be i32 of rank {rank} or {rank + 1}, got {numbers.dtype} of rank {numbers.rank}")
    words = type_of(bits, "bits")[1][-1] if numbers.rank > rank else 1

    def sees(b, h, i, j):
        row = (b, i) if starts is None else (starts[b] + i,)
        return of_tree(j, words, WORD * words, lambda word: numbers[(*row, word)] if numbers.rank > rank else numbers[row])

    return Mask(sees)


def tree(parents: Sequence[int]) -> Mask:
    """The same of a tree that all sequences have and that does not change: the parent of each of the M tokens, a token before it, or -1 of one that follows
    the keys before them. A token sees itself, its parent, and what that sees. Fewer queries than tokens are the first ones; more are an error."""
    seen: list[int] = []
    for number, parent in enumerate(parents):
        if not -1 <= parent < number:
            raise AttnError(f"expected the parent of token {number} to be -1 or a token before it, got {parent}")
        seen.append((seen[parent] if parent >= 0 else 0) | 1 << number)
    if not seen:
        raise AttnError("expected the parents of 1 token or more, got none")
    words = -(-len(seen) // WORD)

    def word_of(i, word):
        """Of token i's number: a constant of each."""
        found: Any = 0
        for number, bits in enumerate(seen):
            part = bits >> WORD * word & (1 << WORD) - 1
            found = where(i == number, part - (part >> WORD - 1 << WORD), found)
        return found

    def sees(b, h, i, j):
        def read(word):
            found = word_of(i, 0)
            for number in range(1, words):
                found = where(word == number, word_of(i, number), found)
            return found

        return of_tree(j, words, len(seen), read)

    return Mask(sees)


def of_tree(j: Any, words: int, tokens: int, read: Callable[[Any], Any]) -> Value:
    """Whether key j lies before the new tokens, of which there are at most `tokens`, or its bit is set in the word that `read` gives."""
    tracer = Tracer.get()
    tracer.most_rows = min(tracer.most_rows or tokens, tokens)
    token = j - (key_length() - query_length())
    at = minimum(maximum(token, 0), WORD * words - 1)
    return (token < 0) | (read(at // WORD) >> at % WORD & 1 == 1)


def flat(conditions: Any, starts: Any) -> Mask:
    """What each sequence sees, row by row: condition starts[b] + i * N + j, where N are the keys of sequence b (FlashInfer's custom_mask).

    conditions: [all rows by keys] of bools; or of bytes (uint8), of which each holds eight, the first in its lowest bit (packed_custom_mask): then starts
    count bytes, and each sequence begins with one. starts: [B] or more, i32.
    """
    pairs, begins = tensor(conditions), offsets_of(starts, "starts")
    if pairs.dtype not in ("i1", "i8") or pairs.rank != 1:
        raise AttnError(f"expected conditions to be i1 or i8 of rank 1, got {pairs.dtype} of rank {pairs.rank}")

    def sees(b, h, i, j):
        at = i * key_length() + j
        if pairs.dtype == "i1":
            return pairs[begins[b] + at]
        return pairs[begins[b] + at // 8] >> at % 8 & 1 == 1

    return Mask(sees)


def offsets_of(array: Any, name: str) -> Tensor:
    result = tensor(array)
    if (result.dtype, result.rank) != ("i32", 1):
        raise AttnError(f"expected {name} to be i32 of rank 1, got {result.dtype} of rank {result.rank}")
    return result


def listed(counts: Any, indices: Any, block: Sequence[int]) -> Mask:
    """True in the blocks of a list: counts [B, H, R], indices [B, H, R, C], i32, B and H may be 1; block (rows, keys).

    Of indices[b, h, r] the first counts[b, h, r] count; they ascend.
    """
    counts, indices = Tensor(counts, ones=2), Tensor(indices, ones=2)
    for name, got, rank in (("counts", counts, 3), ("indices", indices, 4)):
        if (got.dtype, got.rank) != ("i32", rank):
            raise AttnError(f"expected the {name} of blocks to be i32 of rank {rank}, got {got.dtype} of rank {got.rank}")
    if len(block) != 2 or any(isinstance(size, bool) or not isinstance(size, int) or size < 1 for size in block):
        raise AttnError(f"expected block to be two positive integers, got {block!r}")

    def sees(b, h, i, j):
        tracer = Tracer.get()
        numbers = tracer.capture(counts), tracer.capture(indices)
        for number, t in zip(numbers, (counts, indices)):
            tracer.needs += [Need(number, d, d, block[0] if d == 2 else 1) for d in range(3) if t.dims[d] != "1"]
        tracer.lists.append(Lists(*numbers, block[1]))
        lists = ", ".join(f"%@{number}@" for number in numbers)
        at = ", ".join(as_index(lift(p, INDEX)).name for p in (b, h, i, j))
        text = f"attn.block_listed {lists} at({at}) block [{block[0]}, {block[1]}]"
        return tracer.op(text, [], f" : {counts.type}, {indices.type}", BOOL)

    return Mask(sees)


def block_mask(
    kv_num_blocks: Any,
    kv_indices: Any,
    full_kv_num_blocks: Any = None,
    full_kv_indices: Any = None,
    *,
    block: Sequence[int] = (128, 128),
    mask_mod: Any = None,
) -> Mask:
    """Blocks in the layout of FlexAttention's BlockMask: visible in a full block, or where mask_mod holds in a partial one.

    No block may be in both lists. The blocks that are not listed cost nothing, and in full ones mask_mod is not computed, if
    the tiles of the kernel divide them, which the compiler sees to where it can.
    """
    some = listed(kv_num_blocks, kv_indices, block)
    if mask_mod is not None:
        some = some & trace_mask(mask_mod)
    if (full_kv_num_blocks is None) != (full_kv_indices is None):
        raise AttnError("expected both full_kv_num_blocks and full_kv_indices, got one")
    if full_kv_num_blocks is None:
        return some
    return listed(full_kv_num_blocks, full_kv_indices, block) | some


def as_block_mask(given: Any) -> Mask:
    """A Mask from what block_mask takes: a Mask, or an object with the attributes of FlexAttention's BlockMask."""
    if isinstance(given, Mask):
        return given
    fields = ("kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices", "BLOCK_SIZE", "mask_mod")
    missing = [field for field in fields if not hasattr(given, field)]
    if missing:
        raise AttnError(f"expected a block mask, got {type(given).__name__} without {missing[0]}")
    counts, indices, full_counts, full_indices, block, mask_mod = (getattr(given, field) for field in fields)
    block = (block, block) if isinstance(block, int) else tuple(block)
    return block_mask(counts, indices, full_counts, full_indices, block=block, mask_mod=mask_mod)
