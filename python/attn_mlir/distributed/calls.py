# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One call of a plan, and what becomes of the results of several."""

from __future__ import annotations

from typing import Any, Optional

from ..functional import attention, attention_backward
from ..mask import Score, tensor, trace_score, where
from ..mask import philox
from ..states import merged
from .ranges import Ranges
from .tokens import Library

WORD = 2**32


def random_words(library: Library, seed: Any, offset: Any) -> Any:
    """[4], i32: seed and offset of dropout, the low word of each first."""
    words = [int(number) >> shift & WORD - 1 for number in (seed, offset) for shift in (0, 32)]
    return library.integers(word - WORD if word >= WORD // 2 else word for word in words)


def keeping(score: Optional[Any], random: Any, rate: float) -> Any:
    """A score_mod of the whole that gives -inf where dropout drops: the kernels' own dropout is by positions in the part."""
    words, changed = tensor(random), score and trace_score(score).function

    def kept(s, b, h, i, j):
        word = philox.word([words[0], words[1]], [words[2], words[3]], b, h, i, j)
        s = changed(s, b, h, i, j) if changed else s
        return where(philox.at_least(word, int(rate * WORD)), s, float("-inf"))

    return kept


def attend(query: Any, keys: Any, values: Any, *, rate: float = 0.0, kept_mod: Optional[Score] = None, **options: Any) -> tuple[Any, Any]:
    """(output, LSE). With dropout by two kernels, one for the LSE, which is of all scores, and one of what is kept."""
    output, lse = attention(query, keys, values, return_lse=True, **options)
    if kept_mod is None:
        return output, lse
    library = Library(lse)
    module, wide = library.module, "f64" if lse.dtype == library.dtype("f64") else "f32"
    options.update(score_mod=kept_mod, sink=None, result_dtype=wide)
    kept, kept_lse = attention(query, keys, values, return_lse=True, **options)
    # Rows of which nothing is kept: exp(-inf - 0) is 0.
    whole = module.where(module.isinf(lse), module.zeros_like(lse), lse)
    kept = kept * (module.exp(kept_lse - whole) / (1 - rate))[..., None]
    return library.convert(kept, output.dtype), lse


def differentiate(
    query: Any, keys: Any, values: Any, output: Any, lse: Any, d_output: Any, *, d_lse: Any = None, rate: float = 0.0,
    kept_mod: Optional[Score] = None, **options: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """As attention_backward. With dropout dS = P D dP - P delta by two kernels, one for each term: delta of the first is 0, and dO
    of the second."""
    if kept_mod is None:
        return attention_backward(query, keys, values, output, lse, d_output, d_lse=d_lse, **options)
    library = Library(lse)
    d_wide = library.convert(d_output, lse.dtype)
    delta = (d_wide * library.convert(output, lse.dtype)).sum(-1)
    delta = delta if d_lse is None else delta - d_lse
    nothing = library.full(output.shape, 0.0, output.dtype)
    kept_output = library.convert(d_wide / (1 - rate), d_output.dtype)
    terms = [
        attention_backward(query, keys, values, nothing, lse, kept_output, **{**options, "score_mod": kept_mod}),
        attention_backward(query, keys, values, nothing, lse, nothing, d_lse=-delta, **options),
    ]
    return tuple(a + b for a, b in zip(*terms))


def columns(library: Library, bias: Any, keys: Ranges) -> Any:
    """Those of some keys, of a bias of all."""
    if bias is None or bias.shape[3] == 1:
        return bias
    return library.concatenate([bias[..., begin:end] for begin, end in keys], 3)


def add_columns(total: Any, part: Any, keys: Ranges):
    """Adds the gradient of some keys' columns to that of all."""
    if total.shape[3] == 1:
        total += part
        return
    at = 0
    for begin, end in keys:
        total[..., begin:end] += part[..., at : at + end - begin]
        at += end - begin


def merge(library: Library, a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    """(output, LSE) over the keys of both, which share none: as attn.merge of Spec.md."""
    return merged(library.module, (a, b))
