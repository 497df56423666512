# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Custom calls of attention over several devices: XLA shares out batches and heads, and moves nothing for it.

A sharding rule says which dimensions are batches, query heads and key heads; all others are whole on each device. Key heads go
where their query heads are. Mods see batches and heads of the whole, by a tensor of two numbers that each device adds to
its own. Gradients that all batches or heads have a part in are summed over devices.
"""

from __future__ import annotations

import functools
import json
from typing import Any, Callable, NamedTuple, Sequence

import jax
import jax.numpy as jnp
from jax.custom_batching import sequential_vmap
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import NamedSharding, PartitionSpec

from ..heads import HEAD_MAPS

Shape = tuple[int, ...]
#: Batches, query heads and key heads: what devices share out. A compound factor, key heads times group, would have XLA split an axis
#: of the mesh where there are fewer key heads than devices, for which JAX has no name. With a map of heads any query head may need any
#: key head: only batches are shared out then.
BATCH, HEADS, KEY_HEADS = "b", "h", "k"
ROWS = {
    "query": (BATCH, HEADS, "m", "d"), "key": (BATCH, KEY_HEADS, "n", "d"), "value": (BATCH, KEY_HEADS, "n", "e"),
    "output": (BATCH, HEADS, "m", "e"), "d_output": (BATCH, HEADS, "m", "e"), "lse": (BATCH, HEADS, "m"), "d_lse": (BATCH, HEADS, "m"),
    "bias": (BATCH, HEADS, "m", "n"),
}  # fmt: skip


class Tensors(NamedTuple):
    """Names, shapes and element types of a call's arguments; its results have the names and types of `results`."""

    names: tuple[str, ...]
    shapes: tuple[Shape, ...]
    results: tuple[str, ...]
    heads_inside: bool

    def shape(self, name: str) -> Shape:
        return self.shapes[self.names.index(name)]


class Rule:
    """Factors of each dimension of a call's arrays."""

    def __init__(self, tensors: Tensors):
        self.tensors, self.alone = tensors, 0
        self.arguments = [self.factors(name, shape) for name, shape in zip(tensors.names, tensors.shapes)]
        self.results = [self.factors(name, tensors.shape(name) if name in tensors.names else ()) for name in tensors.results]

    def factors(self, name: str, shape: Shape) -> tuple[str, ...]:
        known = ROWS.get(name)
        if known is None:  # what mods read, and maps of heads
            return tuple(self.next() for _ in shape)
        if HEAD_MAPS[0] in self.tensors.names:
            known = tuple(self.next() if factor in (HEADS, KEY_HEADS) else factor for factor in known)
        if self.tensors.heads_inside and len(known) == 4 and name != "bias":
            known = (known[0], known[2], known[1], known[3])
        return tuple(self.next() if name == "bias" and size == 1 else f for f, size in zip(known, shape or (0,) * len(known)))

    def next(self) -> str:
        """A factor of one dimension alone."""
        self.alone += 1
        return f"x{self.alone}"

    @property
    def text(self) -> str:
        sides = (", ".join(" ".join(factors) for factors in side) for side in (self.arguments, self.results))
        return " -> ".join(sides)

    @property
    def whole(self) -> tuple[str, ...]:
        """Factors that devices do not share out, in the order in which the rule names them."""
        named = (factor for factors in (*self.arguments, *self.results) for factor in factors)
        return tuple(dict.fromkeys(factor for factor in named if factor not in (BATCH, HEADS, KEY_HEADS)))


def axes_of(sharding: Any, dim: int) -> tuple[str, ...]:
    """The mesh's axes that share out a dimension."""
    spec = sharding.spec if isinstance(sharding, NamedSharding) else ()
    entry = spec[dim] if dim < len(spec) else None
    return () if entry is None else entry if isinstance(entry, tuple) else (entry,)


class Share(NamedTuple):
    """The mesh's axes that share out batches, query heads and key heads. Those of key heads are the first of query heads'; the
    others share out the heads of a group, where each device has one key head."""

    batch: tuple[str, ...]
    heads: tuple[str, ...]
    keys: tuple[str, ...]

    @classmethod
    def of(cls, mesh: Any, tensors: Tensors, query: Any) -> "Share":
        """From the sharding of query; what does not divide batches or heads is left out."""
        inside = tensors.heads_inside
        shape, keys = tensors.shape("query"), tensors.shape("key")[2 if inside else 1]
        at = 2 if inside else 1
        batch = prefix(mesh, axes_of(query, 0), shape[0])
        if HEAD_MAPS[0] in tensors.names:
            return cls(batch, (), ())
        wanted = axes_of(query, at)
        of_keys = prefix(mesh, wanted, keys)
        rest = wanted[len(of_keys) :]
        is_one = extent(mesh, of_keys) == keys
        of_group = prefix(mesh, rest, shape[at] // keys) if is_one and keys else ()
        return cls(batch, of_keys + of_group, of_keys)

    def spec(self, factors: Sequence[str]) -> PartitionSpec:
        axes = {BATCH: self.batch, HEADS: self.heads, KEY_HEADS: self.keys}
        return PartitionSpec(*(axes.get(factor) or None for factor in factors))

    def missing(self, factors: Sequence[str]) -> tuple[str, ...]:
        """Axes over which a result with these factors is to be summed."""
        found = () if BATCH in factors else self.batch
        if HEADS in factors:
            return found
        return found + (self.heads[len(self.keys) :] if KEY_HEADS in factors else self.heads)


def extent(mesh: Any, axes: Sequence[str]) -> int:
    return functools.reduce(lambda size, axis: size * mesh.shape[axis], axes, 1)


def prefix(mesh: Any, axes: tuple[str, ...], size: int) -> tuple[str, ...]:
    """The longest whose devices share out `size` evenly."""
    while axes and (size == 0 or size % extent(mesh, axes)):
        axes = axes[:-1]
    return axes


def shifted(record: str) -> str:
    """A record whose batch and head are those of the whole: one more tensor [2], i32, has the first of the part."""
    text, dims, *known = json.loads(record)
    head, brace, body = text.partition("{\n")
    if not brace:  # a named form, which reads neither
        return json.dumps([text, [*dims, ["?"]], *known])
    lines = ["%part_0 = arith.constant 0 : index", "%part_1 = arith.constant 1 : index"]
    for name, number in (("b", 0), ("h", 1)):
        head = head.replace(f"%{name}: index", f"%part_{name}: index")
        lines += [
            f"%first_{name} = tensor.extract %@{len(dims)}@[%part_{number}] : tensor<?xi32>",
            f"%wide_{name} = arith.index_cast %first_{name} : i32 to index",
            f"%{name} = arith.addi %part_{name}, %wide_{name} : index",
        ]
    added = "".join(f"      {line}\n" for line in lines)
    return json.dumps([head + brace + added + body, [*dims, ["?"]], *known])


Run = Callable[..., Sequence[Any]]


@functools.lru_cache(maxsize=256)
def partitioned(run: Run, tensors: Tensors, records: tuple[str, str]) -> Callable[..., Any]:
    """A function of a call's arrays that XLA may share out. run(names, records, arrays) makes the call for arrays of any size;
    `records` are those of score and mask, whose arrays are named score_0, ..., mask_0, ..."""
    rule = Rule(tensors)

    @custom_partitioning
    def whole(*arrays: Any):
        return tuple(run(tensors.names, records, arrays))

    def partition(mesh: Any, argument_shapes: Any, result_shapes: Any):
        at = tensors.names.index("query")
        share = Share.of(mesh, tensors, argument_shapes[at].sharding)

        def part(*arrays: Any):
            names, shifted_records = list(tensors.names), list(records)
            given = list(arrays)
            if share.batch or share.heads:
                query = arrays[at].shape
                sizes = (query[0], query[2 if tensors.heads_inside else 1])
                first = [jax.lax.axis_index(axes) * n if axes else 0 for axes, n in zip((share.batch, share.heads), sizes)]
                for which, kind in enumerate(("score", "mask")):
                    if records[which]:
                        shifted_records[which] = shifted(records[which])
                        end = max([i + 1 for i, name in enumerate(names) if name.startswith(f"{kind}_")], default=len(names))
                        names.insert(end, f"{kind}_first")
                        given.insert(end, jnp.stack([jnp.asarray(x, jnp.int32) for x in first]))
            found = run(tuple(names), tuple(shifted_records), given)
            return tuple(
                jax.lax.psum(array, axes) if (axes := share.missing(factors)) else array for array, factors in zip(found, rule.results)
            )

        shardings = [tuple(NamedSharding(mesh, share.spec(factors)) for factors in side) for side in (rule.results, rule.arguments)]
        return mesh, part, *shardings

    whole.def_partition(partition=partition, sharding_rule=rule.text, need_replication_factors=rule.whole)
    return sequential_vmap(whole)
