# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention in graphs of torch.fx, torch.export and torch.compile: found, as modules, or called by our op."""

from __future__ import annotations

import dataclasses
import inspect
import types
import warnings
from typing import Any, Callable, Collection, Iterator, Union

import torch
from torch import fx

from ..errors import AttnError
from ..mask import Mask
from ..mask import causal as causal_mask
from ..mask.tensors import Placeholder
from ..problem import AttentionProblem, bias_shape
from .flex import called_attention, regions_of
from .ops import scaled_dot_product_attention

Graph = Union[fx.GraphModule, "torch.export.ExportedProgram"]
DTYPES = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32", torch.float64: "f64"}
#: What a traced graph calls: the function, or the op that torch.export keeps.
SDPA = (
    torch.nn.functional.scaled_dot_product_attention,
    torch._C._nn.scaled_dot_product_attention,
    torch.ops.aten.scaled_dot_product_attention.default,
)
FLEX = torch.ops.higher_order.flex_attention
#: Of torch.nn.MultiheadAttention, in graphs of torch.compile.
MULTI_HEAD = torch.nn.functional.multi_head_attention_forward
#: Layers as one op, in which attention cannot be replaced.
FAST_PATHS = (torch._transformer_encoder_layer_fwd, torch._native_multi_head_attention)


def multi_head_attention(*args: Any, **kwargs: Any) -> Any:
    """MULTI_HEAD, with our attention where it calls torch's. Where it returns weights, it calls none, but computes them."""
    ours = {scaled_dot_product_attention.__name__: scaled_dot_product_attention, MULTI_HEAD.__name__: multi_head_attention}
    names = {**MULTI_HEAD.__globals__, **ours}
    return types.FunctionType(MULTI_HEAD.__code__, names, argdefs=MULTI_HEAD.__defaults__)(*args, **kwargs)


#: What takes the place of what.
REPLACEMENTS = {**dict.fromkeys(SDPA, scaled_dot_product_attention), FLEX: called_attention, MULTI_HEAD: multi_head_attention}
PARAMETERS = inspect.signature(scaled_dot_product_attention)


@dataclasses.dataclass(frozen=True)
class AttentionCall:
    """A call in a graph: the node's name, that of the branch or body it is in before it, as in `true_graph_0.attention`, and what it
    computes. The module's arguments are the values of the nodes `operands`:
    query, key and value; of scaled_dot_product_attention the mask, with rank 4, where there is one; of flex_attention the
    tensors that score_mod and then mask_mod and its lists of blocks read."""

    name: str
    problem: AttentionProblem
    operands: tuple[str, ...]

    def mlir(self) -> str:
        return self.problem.mlir(name=self.name.replace(".", "_"))


def module_of(graph: Graph) -> fx.GraphModule:
    module = graph if isinstance(graph, fx.GraphModule) else getattr(graph, "graph_module", None)
    if isinstance(module, fx.GraphModule):
        return module
    raise AttnError(f"expected a GraphModule or an ExportedProgram, got {type(graph).__name__}")


def calls_of(graph: fx.Graph, targets: Collection[Any]) -> list[Any]:
    """Nodes, whose arguments have no type that says anything."""
    return [node for node in graph.nodes if node.op == "call_function" and node.target in targets]


def parts_of(module: fx.GraphModule) -> Iterator[tuple[str, fx.GraphModule]]:
    """The module, branches of torch.cond, bodies of loops and checkpointed parts, with their names."""
    return ((name, part) for name, part in module.named_modules() if isinstance(part, fx.GraphModule))


def attentions_of(graph: Graph) -> list[AttentionCall]:
    """Every scaled_dot_product_attention and flex_attention of a graph whose nodes know their shapes, as torch.export's do."""
    calls = []
    for name, part in parts_of(module_of(graph)):
        for node in calls_of(part.graph, (*SDPA, FLEX)):
            call = flex_call_of(node) if node.target is FLEX else call_of(node)
            calls.append(dataclasses.replace(call, name=f"{name}.{call.name}") if name else call)
    return calls


def arguments_of(node: Any) -> dict[str, Any]:
    bound = PARAMETERS.bind(*node.args, **node.kwargs)
    bound.apply_defaults()
    return bound.arguments


def value_of(node: Any, name: str) -> torch.Tensor:
    """The fake tensor that tracing left at a node."""
    value = node.meta.get("val", node.meta.get("example_value")) if isinstance(node, fx.Node) else None
    if not isinstance(value, torch.Tensor):
        raise AttnError(f"{name}: expected a node with a known shape, got none: use torch.export")
    return value


def check_query(node: fx.Node, query: torch.Tensor):
    if query.dim() != 4:
        raise AttnError(f"{node.name}: query: expected [batch, heads, rows, head dim], got rank {query.dim()}")
    if query.dtype not in DTYPES:
        raise AttnError(f"{node.name}: query: expected one of {', '.join(DTYPES.values())}, got {query.dtype}")


def call_of(node: Any) -> AttentionCall:
    arguments = arguments_of(node)
    operands = [arguments[name] for name in ("query", "key", "value", "attn_mask") if arguments[name] is not None]
    query, key, value, *mask = (value_of(o, f"{node.name}: {n}") for n, o in zip(("query", "key", "value", "attn_mask"), operands))
    check_query(node, query)
    fields: dict[str, Any] = {"scale": arguments["scale"], "dropout": arguments["dropout_p"]}
    if arguments["is_causal"]:
        fields["mask"] = causal_mask("top_left").region
    if mask:
        fields.update(mask_fields(mask[0], query, key))
    problem = AttentionProblem(DTYPES[query.dtype], int(query.shape[-1]), int(value.shape[-1]), **fields)
    return AttentionCall(node.name, problem, tuple(operand.name for operand in operands))


def flex_call_of(node: Any) -> AttentionCall:
    """Of a call of torch.ops.higher_order.flex_attention."""
    known: dict[int, str] = {}

    def example(argument: Any) -> Any:
        if argument.op == "get_attr":
            return getattr(argument.graph.owning_module, argument.target)
        value = argument.meta.get("val", argument.meta.get("example_value"))
        if value is None:
            raise AttnError(f"{node.name}: {argument.name}: expected a node with a known shape, got none: use torch.export")
        known[id(value)] = argument.name
        return value

    query, key, value, score_mod, block_mask, scale, options, *reads = fx.node.map_arg(node.args, example)
    check_query(node, query)
    parts = regions_of(query, key, score_mod, block_mask, *reads)
    score, mask = (part.region if part else None for part in parts)
    problem = AttentionProblem(
        DTYPES[query.dtype], int(query.shape[-1]), int(value.shape[-1]), mask, score,
        scale=float(scale), lse=bool(options.get("OUTPUT_LOGSUMEXP")),
    )  # fmt: skip
    read = [array for part in parts if part for array in part.arrays]
    return AttentionCall(node.name, problem, tuple(known[id(array)] for array in (query, key, value, *read)))


def mask_fields(mask: torch.Tensor, query: torch.Tensor, key: torch.Tensor) -> dict[str, Any]:
    """A float mask as bias, a bool one as a mask that reads it."""
    sizes = (*query.shape[:3], key.shape[2])
    shape = (1,) * (4 - mask.dim()) + tuple(mask.shape)
    if mask.dtype != torch.bool:
        return {"bias_shape": bias_shape(shape, sizes), "bias_dtype": DTYPES[mask.dtype]}
    single = [size == 1 for size in shape]
    capture = Placeholder("attn_mask", "i1", 4)
    return {"mask": Mask(lambda *at: capture[tuple(0 if one else p for one, p in zip(single, at))]).region}


def replace_attention(graph: fx.GraphModule) -> int:
    """Makes the graph's calls of scaled_dot_product_attention, flex_attention and torch.nn.MultiheadAttention's function ours,
    in place, those of checkpointed parts too; returns how many there were. Warns of layers that torch computes as one op."""
    count = 0
    for _, part in parts_of(graph):
        for node in calls_of(part.graph, FAST_PATHS):
            warnings.warn(
                f"{node.target.__name__}: expected calls of attention, got a whole layer as one op, which stays torch's: "
                "torch.backends.mha.set_fastpath_enabled(False) prevents it"
            )
        nodes = calls_of(part.graph, REPLACEMENTS)
        for node in nodes:
            node.target = REPLACEMENTS[node.target]
        if nodes:
            part.recompile()
        count += len(nodes)
    return count


def backend(graph: fx.GraphModule, inputs: list[Any], inner: str = "inductor", **options: Any) -> Callable[..., Any]:
    """A backend for torch.compile: attention is ours, what is around it is compiled by the backend `inner`."""
    replace_attention(graph)
    return torch._dynamo.lookup_backend(inner)(graph, inputs, **options)
