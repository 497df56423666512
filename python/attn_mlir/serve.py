# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An example: a small Llama with random weights serves prompts of different lengths over a paged cache.

    python -m attn_mlir.serve                            # on the CPU
    python -m attn_mlir.serve --target sm_80 --device sim

Requests join the batch while there is room for them and pages for their tokens, and give the pages back when they are done. A step
takes the new tokens of each sequence, a prompt or one token, behind each other. Projections are NumPy's; `attn_mlir.prefill` turns
queries and keys, appends to the cache and attends, on a GPU in one launch. `Model.dense` computes the same without a cache, in
float64. Needs NumPy.
"""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any, Callable, Optional, Sequence

import numpy as np

from .ragged import prefill

Array = Any  # of numpy
#: (layer, q [rows, Hq, D], k and v [rows, Hkv, D]), whose rows are not turned yet, to [rows, Hq, D].
Attend = Callable[[int, Array, Array, Array], Array]


@dataclasses.dataclass(frozen=True)
class Config:
    vocabulary: int = 97
    layers: int = 2
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 32
    inner: int = 96

    @property
    def hidden(self) -> int:
        return self.heads * self.head_dim


def rms_norm(x: Array) -> Array:
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-6)


def rotary_tables(positions: int, head_dim: int) -> tuple[Array, Array]:
    """cos and sin [positions, D / 2]; halves are pairs."""
    half = head_dim // 2
    angles = np.arange(positions)[:, None] * 10000.0 ** (-np.arange(half) / half)
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def rotate(x: Array) -> Array:
    """Rotary embedding of x [rows, H, D] at positions 0, 1, ..."""
    cos, sin = (table[:, None] for table in rotary_tables(x.shape[0], x.shape[2]))
    a, b = np.split(x, 2, axis=-1)
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)


class Model:
    """Weights that a seed gives."""

    def __init__(self, config: Config = Config(), seed: int = 0):
        self.config, generator = config, np.random.default_rng(seed)
        queries, keys = config.heads * config.head_dim, config.kv_heads * config.head_dim

        def matrix(rows: int, columns: int) -> Array:
            return generator.normal(0, rows**-0.5, (rows, columns)).astype(np.float32)

        shapes = {
            "q": (config.hidden, queries), "k": (config.hidden, keys), "v": (config.hidden, keys), "o": (queries, config.hidden),
            "gate": (config.hidden, config.inner), "up": (config.hidden, config.inner), "down": (config.inner, config.hidden),
        }  # fmt: skip
        self.layers = [{name: matrix(*shape) for name, shape in shapes.items()} for _ in range(config.layers)]
        self.embedding = generator.normal(0, 1, (config.vocabulary, config.hidden)).astype(np.float32)
        self.head = matrix(config.hidden, config.vocabulary)

    def forward(self, tokens: Array, last: Array, attend: Attend) -> Array:
        """Logits [B, vocabulary] of some of tokens [rows], those at `last` [B]."""
        x = self.embedding[tokens]
        for number, layer in enumerate(self.layers):
            x = x + self.attention(layer, rms_norm(x), lambda *qkv, n=number: attend(n, *qkv))
            y = rms_norm(x)
            gate = y @ layer["gate"]
            x = x + (gate / (1 + np.exp(-gate)) * (y @ layer["up"])) @ layer["down"]
        return rms_norm(x[last]) @ self.head

    def attention(self, layer: dict[str, Array], x: Array, attend: Callable) -> Array:
        q, k, v = ((x @ layer[name]).reshape(len(x), -1, self.config.head_dim) for name in "qkv")
        return attend(q, k, v).reshape(len(x), -1) @ layer["o"]

    def dense(self, tokens: Sequence[int]) -> Array:
        """Logits of the token after `tokens`, of all of them at once, without a cache."""

        def attend(_: int, q: Array, k: Array, v: Array) -> Array:
            group = self.config.heads // self.config.kv_heads
            k, v = (np.repeat(x, group, axis=1) for x in (rotate(k), v))
            q, k, v = (x.astype(np.float64).transpose(1, 0, 2) for x in (rotate(q), k, v))
            scores = q @ k.transpose(0, 2, 1) / self.config.head_dim**0.5
            scores = np.where(np.tri(scores.shape[-1], dtype=bool), scores, -np.inf)
            weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
            return (weights / weights.sum(axis=-1, keepdims=True) @ v).transpose(1, 0, 2)

        return self.forward(np.array(tokens), np.array([-1]), attend)[0]


@dataclasses.dataclass
class Request:
    """A request in the batch: its tokens, how many of them have keys in the cache, and its pages."""

    number: int
    tokens: list[int]
    end: int  #: tokens when it is done
    cached: int = 0
    pages: list[int] = dataclasses.field(default_factory=list)


class PagedCache:
    """Pools of all layers, and the pages that nobody has. All begin as NaN: what reads a row that was not written shows."""

    def __init__(self, config: Config, pages: int, page_size: int, dtype: Any = np.float16):
        shape = (pages, config.kv_heads, page_size, config.head_dim)
        self.keys, self.values = ([np.full(shape, np.nan, dtype) for _ in range(config.layers)] for _ in range(2))
        self.page_size, self.free = page_size, list(range(pages))[::-1]

    def pages_for(self, tokens: int) -> int:
        return -(-tokens // self.page_size)

    def release(self, sequence: Request):
        self.free += sequence.pages
        sequence.pages = []

    def slots(self, sequence: Request, begin: int, end: int) -> list[int]:
        """Of the positions from `begin` to `end`."""
        return [sequence.pages[j // self.page_size] * self.page_size + j % self.page_size for j in range(begin, end)]


class Engine:
    """Greedy tokens for prompts. `options` are prefill's: target, device."""

    def __init__(self, model: Model, pages: int = 12, page_size: int = 4, most_sequences: int = 3, **options: Any):
        self.model, self.most_sequences, self.options = model, most_sequences, options
        self.cache = PagedCache(model.config, pages, page_size)
        self.tables = rotary_tables(pages * page_size, model.config.head_dim)
        self.active: list[Request] = []

    def step(self, sequences: Sequence[Request]) -> Array:
        """Appends the tokens that are not in the cache, and gives the logits of the next one of each sequence."""
        counts = [len(s.tokens) - s.cached for s in sequences]
        offsets = np.cumsum([0, *counts]).astype(np.int32)
        tokens = np.concatenate([s.tokens[s.cached :] for s in sequences])
        slots = np.concatenate([self.cache.slots(s, s.cached, len(s.tokens)) for s in sequences]).astype(np.int32)
        table = np.full((len(sequences), max(len(s.pages) for s in sequences)), -1, np.int32)
        for row, sequence in zip(table, sequences):
            row[: len(sequence.pages)] = sequence.pages
        lengths = np.array([len(s.tokens) for s in sequences], np.int32)

        def attend(layer: int, q: Array, k: Array, v: Array) -> Array:
            pools = self.cache.keys[layer], self.cache.values[layer]
            q, most = q.astype(pools[0].dtype), max(counts)
            output = prefill(q, *pools, table, lengths, offsets, most, k_new=k, v_new=v, slots=slots, rotary=self.tables, **self.options)
            return output.astype(np.float32)

        logits = self.model.forward(tokens, offsets[1:] - 1, attend)
        for sequence in sequences:
            sequence.cached = len(sequence.tokens)
        return logits

    def admit(self, waiting: list[Request]) -> list[Request]:
        """The first of those that wait, as many as there is room for, with pages for all of their tokens."""
        new: list[Request] = []
        while waiting and len(self.active) + len(new) < self.most_sequences:
            pages = self.cache.pages_for(waiting[0].end)
            if pages > len(self.cache.free):
                break
            new.append(waiting.pop(0))
            new[-1].pages = [self.cache.free.pop() for _ in range(pages)]
        return new

    def run(self, prompts: Sequence[Sequence[int]], counts: Sequence[int]) -> list[list[int]]:
        """For each prompt the counts[i] tokens that follow it."""
        waiting = [Request(i, list(p), len(p) + n) for i, (p, n) in enumerate(zip(prompts, counts))]
        for sequence in waiting:
            if not prompts[sequence.number] or self.cache.pages_for(sequence.end) > len(self.cache.free):
                raise ValueError(f"prompt {sequence.number}: expected tokens that fit into the cache, got {sequence.end}")
        results: list[list[int]] = [[] for _ in prompts]
        while waiting or self.active:
            self.active += self.admit(waiting)
            # Sequences that join have a prompt, the others a token.
            for sequence, logits in zip(self.active, self.step(self.active)):
                sequence.tokens.append(int(np.argmax(logits)))
            for sequence in [s for s in self.active if len(s.tokens) == s.end]:
                results[sequence.number] = sequence.tokens[len(prompts[sequence.number]) :]
                self.cache.release(sequence)
                self.active.remove(sequence)
        return results


def check(model: Model, prompt: Sequence[int], generated: Sequence[int]) -> Optional[str]:
    """What is wrong with the tokens after a prompt, by the dense computation; nothing if they are its greedy ones."""
    tokens = list(prompt)
    for token in generated:
        expected = int(np.argmax(model.dense(tokens)))
        if token != expected:
            return f"token {len(tokens)}: expected {expected}, got {token}"
        tokens.append(token)
    return None


def make_prompts(config: Config, seed: int) -> tuple[list[list[int]], list[int]]:
    """Ragged, one of them longer than a page, and how many tokens are asked for."""
    generator = np.random.default_rng(seed)
    lengths, counts = (5, 1, 9, 3, 4), (4, 6, 2, 5, 3)
    return [generator.integers(0, config.vocabulary, n).tolist() for n in lengths], list(counts)


def main(arguments: Optional[Sequence[str]] = None):
    parser = argparse.ArgumentParser(prog="python -m attn_mlir.serve", description=__doc__.split("\n")[0])
    parser.add_argument("--target", default="cpu", help="what to compile for: cpu, sm_80, sm_90a")
    parser.add_argument("--device", help="cpu, sim (the simulator) or cuda")
    parser.add_argument("--seed", type=int, default=0, help="of weights and prompts")
    options = parser.parse_args(arguments)
    model = Model(seed=options.seed)
    prompts, counts = make_prompts(model.config, options.seed)
    results = Engine(model, target=options.target, device=options.device).run(prompts, counts)
    for prompt, generated in zip(prompts, results):
        fault = check(model, prompt, generated)
        print(f"{prompt} -> {generated} {fault or 'as the dense computation'}")
        if fault:
            raise SystemExit(1)


if __name__ == "__main__":
    main()
