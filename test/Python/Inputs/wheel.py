"""In an environment that has the wheel alone: attention on the CPU and in the simulator, with the programs inside it."""

import math
import os
import random
import sys
from pathlib import Path

import attn_mlir
from attn_mlir.runtime.host_array import HostArray, round_to
from attn_mlir.tools import find_library, find_tool

package = Path(attn_mlir.__file__).parent
assert package.is_relative_to(sys.prefix), package
for tool in ("attn-opt", "attn-run", "attn-sim"):
    assert Path(find_tool(tool)).parent == package / "bin", find_tool(tool)
assert Path(find_library("attn-c")).parent == package / "lib", find_library("attn-c")
assert "PATH" not in os.environ and "LD_LIBRARY_PATH" not in os.environ

generator = random.Random(1)
values = [round_to(generator.gauss(0, 1), "f16") for _ in range(2 * 20 * 64)]
q = HostArray.of("f16", (1, 2, 20, 64), values)
on_cpu = attn_mlir.attention(q, q, q, causal=True).values()
simulated = attn_mlir.attention(q, q, q, causal=True, device="sim").values()
assert on_cpu[:64] == values[:64], "the first row sees the first key alone"
error = max(abs(a - b) for a, b in zip(on_cpu, simulated))
assert error < 4e-3 and not any(math.isnan(x) for x in on_cpu), error
print(f"wheel of {attn_mlir.__version__}: CPU and simulator agree to {error:.1e}")
