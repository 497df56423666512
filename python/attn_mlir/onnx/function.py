# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of MLIR around an attention: heads out of hidden sizes, padding, and integers of rows."""

from __future__ import annotations

import dataclasses
import re
from typing import Mapping, Sequence, Union

from ..mask.tracing import Mask, Score

#: onnx.TensorProto.DataType
DTYPES = {1: "f32", 2: "ui8", 3: "i8", 6: "i32", 7: "i64", 9: "i1", 10: "f16", 11: "f64", 16: "bf16", 17: "f8E4M3FN"}
FLOATS = ("f16", "bf16", "f32")


@dataclasses.dataclass(frozen=True)
class TensorType:
    """Element type, and sizes: a name or None where the model leaves one open."""

    dtype: str
    shape: tuple[Union[int, str, None], ...]

    @property
    def mlir(self) -> str:
        dims = "".join(f"{size if isinstance(size, int) else '?'}x" for size in self.shape)
        return f"tensor<{dims}{self.dtype}>"


class Function:
    """The function that a node becomes. `lines` are its ops so far; head dims are padded by zeros to a multiple of `head_multiple`."""

    def __init__(self, head_multiple: int):
        self.head_multiple = head_multiple
        self.lines: list[str] = []

    def dim(self, value: str, type: TensorType, dim: int, name: str = "") -> str:
        name = name or f"{value}_dim{dim}"
        lines = [f"{name}_c = arith.constant {dim} : index", f"{name} = tensor.dim {value}, {name}_c : {type.mlir}"]
        self.lines += [line for line in lines if line not in self.lines]
        return name

    def split_heads(self, value: str, type: TensorType, heads: int) -> tuple[str, TensorType]:
        """[B, H, S, D] of [B, S, H * D]."""
        hidden = type.shape[-1]
        assert isinstance(hidden, int)
        batch, length = self.dim(value, type, 0), self.dim(value, type, 1)
        split = TensorType(type.dtype, (None, None, heads, hidden // heads))
        self.lines.append(
            f"{value}_heads = tensor.expand_shape {value} [[0], [1], [2, 3]] "
            f"output_shape [{batch}, {length}, {heads}, {hidden // heads}] : {type.mlir} into {split.mlir}"
        )
        turned = TensorType(type.dtype, (None, heads, None, hidden // heads))
        return self.transposed(f"{value}_heads", split, turned, f"{batch}, {length}")

    def transposed(self, value: str, type: TensorType, to: TensorType, sizes: str) -> tuple[str, TensorType]:
        """Exchanges dimensions 1 and 2."""
        self.lines.append(f"{value}_init = tensor.empty({sizes}) : {to.mlir}")
        self.lines.append(
            f"{value}_t = linalg.transpose ins({value} : {type.mlir}) outs({value}_init : {to.mlir}) "
            "permutation = [0, 2, 1, 3]"
        )
        return f"{value}_t", to

    def merged_heads(self, value: str, type: TensorType) -> tuple[str, TensorType]:
        """The inverse of `split_heads`, as %Y."""
        _, heads, _, dim = type.shape
        batch, length = self.dim(value, type, 0), self.dim(value, type, 2)
        turned, to = self.transposed(value, type, TensorType(type.dtype, (None, None, heads, dim)), f"{batch}, {length}")
        assert isinstance(heads, int) and isinstance(dim, int)
        merged = TensorType(type.dtype, (None, None, heads * dim))
        self.lines.append(
            f"%Y = tensor.collapse_shape {turned} [[0], [1], [2, 3]] : {to.mlir} into {merged.mlir}"
        )
        return "%Y", merged

    def padded(self, value: str, type: TensorType) -> tuple[str, TensorType]:
        """With zeros behind each row, which change neither the scores nor the columns of the output that are kept."""
        dim = type.shape[3]
        assert isinstance(dim, int)
        missing = -dim % self.head_multiple
        if not missing:
            return value, type
        wide = TensorType(type.dtype, (*type.shape[:3], dim + missing))
        self.lines.append(f"{value}_zero = arith.constant 0.0 : {type.dtype}")
        self.lines.append(
            f"{value}_padded = tensor.pad {value} low[0, 0, 0, 0] high[0, 0, 0, {missing}] {{\n"
            f"  ^bb0(%b: index, %h: index, %s: index, %d: index):\n"
            f"    tensor.yield {value}_zero : {type.dtype}\n  }} : {type.mlir} to {wide.mlir}"
        )
        return f"{value}_padded", wide

    def unpadded(self, value: str, type: TensorType, dim: Union[int, str, None]) -> tuple[str, TensorType]:
        """The first `dim` columns."""
        if type.shape[3] == dim:
            return value, type
        narrow = TensorType(type.dtype, (*type.shape[:3], dim))
        heads = type.shape[1]
        sizes = [self.dim(value, type, 0), str(heads) if heads else self.dim(value, type, 1), self.dim(value, type, 2)]
        self.lines.append(
            f"{value}_used = tensor.extract_slice {value}[0, 0, 0, 0] [{', '.join(sizes)}, {dim}] [1, 1, 1, 1] "
            f": {type.mlir} to {narrow.mlir}"
        )
        return f"{value}_used", narrow

    def elementwise(self, value: str, type: TensorType, sizes: Sequence[str], inputs: Mapping[str, tuple[TensorType, str, str]], body: Sequence[str]):
        """`value` of integers [B] or [B, S], by a linalg.generic over (b) or (b, t). `inputs` are tensors by name: their types, the
        dimensions that they have of these, and the names of their elements in `body`, which ends with linalg.yield."""
        loops = ("b", "b, t")[len(type.shape) - 1]
        maps = ", ".join(f"affine_map<({loops}) -> ({dims})>" for dims in (*(dims for _, dims, _ in inputs.values()), loops))
        kinds = ", ".join(['"parallel"'] * len(type.shape))
        ins = f" ins({', '.join(inputs)} : {', '.join(t.mlir for t, _, _ in inputs.values())})" if inputs else ""
        elements = "".join(f"{element}: {t.dtype}, " for t, _, element in inputs.values())
        self.lines += [
            f"{value}_init = tensor.empty({', '.join(sizes)}) : {type.mlir}",
            f"{value} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}{ins}\n"
            f"      outs({value}_init : {type.mlir}) {{\n  ^bb0({elements}%out: {type.dtype}):",
            *("  " + line for line in body),
            f"}} -> {type.mlir}",
        ]

    def region(self, traced: Union[Mask, Score]) -> str:
        """The text, with the module's names for what it reads."""
        region = traced.region
        for capture, tensor in zip(region.captures, traced.tensors):
            region = dataclasses.replace(region, text=re.sub(f"%{capture.name}\\b", f"%{tensor.array}", region.text))
        return region.text

    def text(self, name: str, arguments: Sequence[str], returned: Sequence[tuple[str, TensorType]]) -> str:
        """The module: `arguments` are "%name: type"."""
        names, types = (", ".join(part) for part in zip(*((n, t.mlir) for n, t in returned)))
        body = "\n".join("  " + line for line in self.lines)
        return f"func.func @{name}({', '.join(arguments)}) -> ({types}) {{\n{body}\n  return {names} : {types}\n}}\n"
