"""Runs the code of a page of documentation, block by block, in one namespace: `docs.py PAGE.md [--arrays]`.

What a ```python block prints must be the ```text block behind it, where `...` stands for anything. Blocks that need a
package that is not installed are counted. ```sh blocks run in a folder that looks like the repository's root, with pip
installing into a folder of the test; variables that they export stay. --arrays: small arrays under the names that pages use.
"""

import contextlib
import importlib.util
import io
import math
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

FENCE = re.compile(r"^```(python|sh)\n(.*?)^```$(?:\n^```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE)
ROOT = Path(__file__).parents[3]


def is_missing(block):
    """A package that the block, or one like it before, needs and that is not there."""
    wanted = [name for name in ("torch", "jax", "onnx") if re.search(rf"\b(import|attn_mlir\.){name}\b|\b{name}\.", block)]
    return any(importlib.util.find_spec(name) is None for name in wanted)


def run_shell(block, folder):
    """pip finds what it needs here: no index is asked."""
    if not (folder / "python").exists():
        shutil.copytree(ROOT / "python", folder / "python", ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "build").symlink_to(Path(shutil.which("attn-opt")).parents[1])
    options = {"PIP_TARGET": str(folder / "site"), "PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_QUIET": "1"}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, **options, "PATH": path, "PIP_NO_DEPS": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    command = ["bash", "-e", "-c", block.replace(" numpy", "") + "\nenv"]
    result = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    for line in result.stdout.splitlines():
        name, _, value = line.partition("=")
        if name.startswith("ATTN_"):
            os.environ[name] = value
    sys.path_importer_cache.clear()  # a folder that was not there has modules now


def matches(expected, printed):
    pattern = ".*".join(re.escape(part.strip("\n")) for part in re.split(r"\.\.\.", expected.strip("\n")))
    return re.fullmatch(pattern, printed.strip("\n"), re.DOTALL)


def arrays():
    from attn_mlir.runtime.host_array import HostArray, round_to

    generator = random.Random(1)

    def normal(dtype, *shape):
        return HostArray.of(dtype, shape, [round_to(generator.gauss(0, 1), dtype) for _ in range(math.prod(shape))])

    Path("attention.mlir").write_text((Path(__file__).parent / "attention.mlir").read_text())
    command = ["attn-opt", "attention.mlir", "--target=sm_80", "--emit=ptx,manifest", "-o", "./attention"]
    subprocess.run(command, check=True)
    names = {name: normal("bf16", 1, 2, 20, 64) for name in ("query", "key", "value", "q", "k", "v")}
    names["ids"] = HostArray.of("i32", (20,), [i // 6 for i in range(20)])
    names["lengths"] = HostArray.of("i32", (1,), [20])
    names["k_pool"], names["v_pool"] = normal("bf16", 5, 2, 4, 64), normal("bf16", 5, 2, 4, 64)
    pages = [3, 0, 4, 1, 2]
    names.update((name, HostArray("f8E4M3FN", (5, 2, 4, 64), bytearray(range(32, 72)) * 64)) for name in ("k_pool8", "v_pool8"))
    names.update((name, HostArray("f8E4M3FN", (1, 2, 20, 64), bytearray(range(32, 72)) * 64)) for name in ("q8", "k8", "v8", "d_output8"))
    names.update((name, HostArray.of("f32", (1,), [0.5])) for name in ("dq", "dk", "dv", "ddo", "sq", "sk", "sv"))
    names.update(output=normal("bf16", 1, 2, 20, 64), lse=HostArray.of("f32", (1, 2, 20), [4.0] * 40), s=64.0)
    names["scales"] = HostArray.of("f32", (1, 2), [0.5, 0.25])
    names["indptr"], names["indices"], names["last_page_len"] = (HostArray.of("i32", (len(x),), x) for x in ([0, 5], pages, [4]))
    names["tokens"] = normal("bf16", 1, 2, 64)
    names["table"] = HostArray.of("i32", (1, 5), pages)
    names["slots"] = HostArray.of("i32", (1, 20), [4 * pages[i // 4] + i % 4 for i in range(20)])
    names.update((name, normal("bf16", 20, 2, 64)) for name in ("queries", "keys", "values"))
    names.update((name, HostArray.of("i32", (2,), [0, 20])) for name in ("cu_seqlens_q", "cu_seqlens_k"))
    names["max_seqlen_q"] = 20
    names["guesses"] = normal("bf16", 1, 2, 4, 64)
    names["bits"] = HostArray.of("i32", (20,), [(2 << i) - 1 for i in range(20)])
    names["heads"] = names["value_heads"] = HostArray.of("i32", (2,), [1, 0])
    names["gate"] = normal("f32", 1, 2, 20, 64)
    names["cos"], names["sin"] = normal("f32", 20, 32), normal("f32", 20, 32)
    names["query_weight"], names["key_weight"] = normal("f32", 64), normal("f32", 64)
    names["positions"] = HostArray.of("i32", (1, 20), list(range(20)))
    names["alibi_slopes"] = names["head_shares"] = HostArray.of("f32", (2,), [0.5, 0.25])
    if importlib.util.find_spec("torch"):
        import torch

        names.update(model=torch.nn.Linear(4, 4), x=torch.ones(4))
    return names


def jax_arrays():
    import jax

    names = {name: jax.numpy.ones((1, 2, 20, 64)) for name in ("query", "key", "value")}
    names.update(ids=jax.numpy.arange(20)[None] // 6, slopes=jax.numpy.ones(2))
    return {**names, "x": names["query"][0, 0], "function": lambda x: jax.nn.softmax(x @ x.T) @ x}


def main(page, with_arrays):
    names = arrays() if with_arrays else {}
    ran = skipped = 0
    for match in FENCE.finditer(Path(page).read_text()):
        kind, block, expected = match.groups()
        if kind == "sh":
            if not with_arrays:
                run_shell(block, Path.cwd())
                ran += 1
            continue
        if is_missing(block):
            skipped += 1
            continue
        printed = io.StringIO()
        own = {**names, **jax_arrays()} if with_arrays and "attn_mlir.jax" in block else names
        with contextlib.redirect_stdout(printed):
            exec(compile(block, page, "exec"), own)
        if expected is not None and not matches(expected, printed.getvalue()):
            sys.exit(f"{page}: expected\n{expected}got\n{printed.getvalue()}")
        ran += 1
    print(f"{ran} blocks run, {skipped} without their package")


if __name__ == "__main__":
    main(sys.argv[1], "--arrays" in sys.argv)
