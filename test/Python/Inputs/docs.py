"""Runs the Python blocks of docs/Python.md, one after the other, with small arrays under the names that they use."""

import math
import random
import re
import subprocess
import sys
from pathlib import Path

import attn_mlir
from attn_mlir.runtime.host_array import HostArray, round_to

FENCE = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
generator = random.Random(1)


def normal(dtype, *shape):
    return HostArray.of(dtype, shape, [round_to(generator.gauss(0, 1), dtype) for _ in range(math.prod(shape))])


module = (Path(__file__).parent / "attention.mlir").read_text()
Path("attention.mlir").write_text(module)
command = ["attn-opt", "attention.mlir", "--target=sm_80", "--emit=ptx,manifest", "-o", "./attention"]
subprocess.run(command, check=True)
names = {name: normal("bf16", 1, 2, 20, 64) for name in ("query", "key", "value", "q", "k", "v")}
names["ids"] = HostArray.of("i32", (20,), [i // 6 for i in range(20)])
names["alibi_slopes"] = HostArray.of("f32", (2,), [0.5, 0.25])
blocks = FENCE.findall(Path(sys.argv[1]).read_text())
for block in blocks:
    exec(compile(block, sys.argv[1], "exec"), names)
assert isinstance(names["lse"], HostArray) and isinstance(names["kernel"], attn_mlir.Kernel)
print(f"{len(blocks)} blocks run")
