"""The cases of ONNX's own backend tests for Attention, or FlexAttention: `onnx_conformance.py DEVICE [OPERATOR]`, a device of attn-run.

A quarter of them, one on the CPU and another on GPUs, or all in a long run. Results must be as near to ONNX's as its test suite asks. A case that cannot be imported must be one of docs/Python.md's.
"""

import concurrent.futures
import importlib
import os
import re
import sys
from pathlib import Path

import ml_dtypes
import numpy as np

from onnx.backend.test.case import node as node_cases

from attn_mlir import server
from attn_mlir.arrays import view_of
from attn_mlir.errors import AttnError
from attn_mlir.kernel import run_module
from attn_mlir.onnx import import_model
from sweep import LONG

NUMPY = {"f16": np.float16, "f32": np.float32, "bf16": ml_dtypes.bfloat16}
#: Two units in the last place: for bf16, ONNX's own test runner allows them too.
RELATIVE = {"f16": 2**-9, "f32": 0.0, "bf16": 2**-6}


def run_case(case, device):
    """(verdict, why): "passed", "failed" or "refused"."""
    on_gpu = device != "cpu"
    try:
        (node,) = import_model(case.model, head_multiple=8 if on_gpu else 1)
    except AttnError as error:
        return "refused", str(error)
    for inputs, outputs in case.data_sets:
        try:
            tensors = [view_of(np.ascontiguousarray(array)) for array in inputs]
            if on_gpu:
                results = run_module(node.mlir, [tensor.to_host() for tensor in tensors], device, ["--allow-tf32"])
            else:
                with server.results_of(node.mlir, tensors) as places:
                    results = [place.to_host() for place in places]
        except AttnError as error:
            return "failed", str(error)
        for result, expected in zip(results, outputs, strict=True):
            array = np.frombuffer(result.data, NUMPY[result.dtype]).reshape(result.shape)
            if array.dtype != expected.dtype or array.shape != expected.shape:
                return "failed", f"expected {expected.dtype} {expected.shape}, got {array.dtype} {array.shape}"
            wide = array.astype(np.float64), expected.astype(np.float64)
            if not np.allclose(*wide, rtol=max(case.rtol, RELATIVE[result.dtype]), atol=case.atol, equal_nan=True):
                return "failed", f"max abs error {np.abs(wide[0] - wide[1]).max()}"
    return "passed", ""


def main(device, operator="Attention", only=""):
    """`only`: a part of the names of the cases to run."""
    # Not those of all operators, which takes seconds.
    node_cases.import_recursive = lambda package: importlib.import_module(f"{package.__name__}.{operator.lower()}")
    cases = node_cases.collect_testcases(operator)
    cases = [c for c in cases if [n.op_type for n in c.model.graph.node] == [operator] and only in c.name]
    # Sizes are dynamic: cases that differ in nothing else share a kernel while it is kept.
    cases.sort(key=lambda case: str(case.model.graph.node[0]))
    if not (LONG or only):
        cases = cases[2 * (device != "cpu") :: 4]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = list(pool.map(lambda case: run_case(case, device), cases))
    for case, (verdict, why) in sorted(zip(cases, verdicts), key=lambda pair: pair[0].name):
        print(f"{verdict} {case.name}" + (f": {why}" if why else ""))
    counts = {kind: sum(verdict == kind for verdict, _ in verdicts) for kind in ("passed", "failed", "refused")}
    page = re.sub(r"\s+", " ", (Path(__file__).parents[3] / "docs" / "Python.md").read_text())
    for reason in {re.sub(r"^node '\w*': ", "", why) for verdict, why in verdicts if verdict == "refused"}:
        if reason not in page:
            print(f"docs/Python.md: not listed: {reason}")
            counts["failed"] += 1
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
