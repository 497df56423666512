# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The nodes Attention, FlexAttention and GroupQueryAttention of an ONNX model, and the command that writes them."""

from __future__ import annotations

import argparse
import dataclasses
import re
import sys
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence, Union

from ..errors import AttnError
from .flex import import_flex_attention
from .function import DTYPES, TensorType
from .group_query import import_group_query_attention
from .importer import Update, import_attention

FLEX_ATTENTION = ("FlexAttention", "ai.onnx.preview")
GROUP_QUERY_ATTENTION = ("GroupQueryAttention", "com.microsoft")
OPERATORS = (("Attention", ""), ("Attention", "ai.onnx"), FLEX_ATTENTION, GROUP_QUERY_ATTENTION)


@dataclasses.dataclass(frozen=True)
class ImportedNode:
    """A node of a graph: its name, or "attention_N", and its function @name in a module."""

    name: str
    mlir: str


def import_model(model: Any, head_multiple: int = 1, share_buffer: Optional[bool] = None) -> list[ImportedNode]:
    """Every node of OPERATORS of a graph: `model` is a path or an onnx.ModelProto. Needs the package onnx. `share_buffer` says whether past
    and present of each GroupQueryAttention are one buffer; None: where their types have one size."""
    try:
        import onnx
    except ImportError:
        raise AttnError("reading ONNX models needs the package onnx, which is not installed (pip install onnx)") from None
    if not hasattr(model, "graph"):
        try:
            model = onnx.load(str(model), load_external_data=False)
        except Exception as error:  # protobuf's errors have no base class of their own
            raise AttnError(f"{model}: cannot read the model: {error}") from None
    graph = onnx.shape_inference.infer_shapes(model).graph
    types, makers = known_types(graph), {value: node for node in graph.node for value in node.output}
    nodes = [node for node in graph.node if (node.op_type, node.domain) in OPERATORS]
    if not nodes:
        raise AttnError(f"expected a graph with an Attention (opset 23 or later), FlexAttention or GroupQueryAttention, got {summary(graph)}")
    result = []
    for i, node in enumerate(nodes):
        name = re.sub(r"\W", "_", node.name) or f"attention_{i}"
        try:
            updates = tuple(makers.get(value) for value in node.input[1:3])
            result.append(ImportedNode(name, import_node(node, types, name, head_multiple, updates, share_buffer)))
        except AttnError as error:
            raise AttnError(f"node '{node.name or name}': {error}") from None
    return result


def import_node(
    node: Any,
    types: Mapping[str, TensorType],
    name: str = "attention",
    head_multiple: int = 1,
    updates: Sequence[Optional[Any]] = (),
    share_buffer: Optional[bool] = None,
) -> str:
    """The module for an onnx.NodeProto; `types` by the names of the graph's values. `updates` are the nodes that make K and V,
    which are part of it where both are TensorScatter of the same rows."""
    from onnx import helper

    inputs = []
    for value in node.input:
        if value and value not in types:
            raise AttnError(f"expected a known type of '{value}', got none: give the model's value_info")
        inputs.append(types[value] if value else None)
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    if (node.op_type, node.domain) == FLEX_ATTENTION:
        return import_flex_attention(inputs, attributes, name, head_multiple)
    outputs = [bool(value) for value in node.output]
    if (node.op_type, node.domain) == GROUP_QUERY_ATTENTION:
        share = are_of_one_size(node, types) if share_buffer is None else share_buffer
        return import_group_query_attention(inputs, attributes, outputs, name, head_multiple, share)
    return import_attention(inputs, attributes, outputs, name, head_multiple, update_of(updates, types))


def are_of_one_size(node: Any, types: Mapping[str, TensorType]) -> bool:
    """Past and present keys of a GroupQueryAttention: by a number, or by one name."""
    past, present = (types.get(values[at]) if len(values) > at else None for values, at in ((node.input, 3), (node.output, 1)))
    if past is None or present is None or len(past.shape) != 4:
        return False
    return past.shape[2] is not None and past.shape == present.shape


def update_of(nodes: Sequence[Optional[Any]], types: Mapping[str, TensorType]) -> Optional[Update]:
    """Of caches [B, H, S, D] of keys and values, if the nodes are that."""
    from onnx import helper

    scatters = [node for node in nodes if node is not None and node.op_type == "TensorScatter"]
    if len(scatters) != 2:
        return None
    rows, places = [], []
    for node in scatters:
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        _, new, at = [*node.input, ""][:3]
        type, indices = types.get(new), types.get(at)
        if type is None or len(type.shape) != 4 or not isinstance(type.shape[3], int):
            return None
        if bool(indices) != bool(at) or attributes.get("axis", -2) not in (-2, 2):
            return None
        rows.append(type)
        places.append((at, indices, attributes.get("mode", b"linear")))
    (_, indices, mode), other = places
    return Update(rows[0], rows[1], indices, mode == b"circular") if places[0] == other else None


def known_types(graph: Any) -> dict[str, TensorType]:
    types = {}
    for value in [*graph.input, *graph.value_info, *graph.output]:
        tensor = value.type.tensor_type
        if tensor.elem_type in DTYPES and tensor.HasField("shape"):
            shape = tuple(size_of(dim) for dim in tensor.shape.dim)
            types[value.name] = TensorType(DTYPES[tensor.elem_type], shape)
    for constant in graph.initializer:
        if constant.data_type in DTYPES:
            types[constant.name] = TensorType(DTYPES[constant.data_type], tuple(constant.dims))
    return types


def size_of(dim: Any) -> Union[int, str, None]:
    return dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None


def summary(graph: Any) -> str:
    """What is in a graph, for a message."""
    kinds = sorted({node.op_type for node in graph.node})
    return f"{len(graph.node)} nodes: {', '.join(kinds[:8])}{', ...' if len(kinds) > 8 else ''}"


def main(arguments: Optional[Sequence[str]] = None):
    parser = argparse.ArgumentParser(
        prog="attn_mlir.onnx", description="Every Attention, FlexAttention and GroupQueryAttention of an ONNX model as a module."
    )
    parser.add_argument("model")
    parser.add_argument("-o", "--output", required=True, help="folder for NAME.mlir of each node")
    parser.add_argument(
        "--head-multiple", type=int, default=1, help="pad head dims to a multiple of this (GPUs need 8; default: 1)"
    )
    parser.add_argument(
        "--share-buffer",
        action="store_const",
        const=True,
        help="past and present of each GroupQueryAttention are one buffer (default: as their types say)",
    )
    a = parser.parse_args(arguments)
    try:
        nodes = import_model(a.model, a.head_multiple, a.share_buffer)
        folder = Path(a.output)
        folder.mkdir(parents=True, exist_ok=True)
        for node in nodes:
            (folder / f"{node.name}.mlir").write_text(node.mlir)
            print(folder / f"{node.name}.mlir")
    except (AttnError, OSError) as error:
        sys.exit(f"error: {error}")
