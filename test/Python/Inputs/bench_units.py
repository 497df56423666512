"""Parts of the benchmark kit that need no device: areas, verdicts, workers that are lost, reports."""

import json
import math
import tempfile
import time
import unittest
from pathlib import Path

from attn_mlir.bench.configurations import Attention, Problem, full_suite
from attn_mlir.bench.numerics import judge
from attn_mlir.bench.peers import peer_flops, sets_needed
from attn_mlir.bench.plain_arrays import PlainArrays, attend
from attn_mlir.bench.report import plot_svg, report_text
from attn_mlir.bench.run import Run
from attn_mlir.bench.statistics_of import rank_correlation, summary
from attn_mlir.bench.worker_process import WorkerLost, WorkerProcess


class Configurations(unittest.TestCase):
    def test_visible_pairs(self):
        for mask, sees in {
            "": lambda i, j, m, n: True,
            "causal(top_left)": lambda i, j, m, n: j <= i,
            "causal(bottom_right)": lambda i, j, m, n: j <= i + n - m,
            "sliding_window(3, 2)": lambda i, j, m, n: i - 3 <= j <= i + 2,
        }.items():
            for m, n in ((5, 9), (9, 5), (7, 7), (1, 4)):
                problem = Problem(Attention("bf16", 64, 32, mask), B=2, Hq=3, Hkv=1, M=m, N=n)
                count = sum(sees(i, j, m, n) for i in range(m) for j in range(n))
                self.assertEqual(problem.visible_pairs(), count, problem.name)
                self.assertEqual(problem.flops(), 2 * (64 + 32) * count * 6)

    def test_suite_covers_what_it_says(self):
        suite = full_suite()
        proven = {(p.attention.D, p.attention.Dv, p.attention.dtype) for p in suite.numerics["sm_90a"]}
        for dims in ((64, 64), (96, 96), (128, 128), (192, 192), (256, 256), (192, 128)):
            self.assertIn((*dims, "bf16"), proven)
            self.assertIn((*dims, "f16"), proven)
        timed = {(p.attention.D, p.attention.Dv, p.attention.mask, p.M) for p in suite.speed}
        for dims in ((64, 64), (128, 128), (256, 256), (192, 128)):
            for mask in ("", "causal(top_left)"):
                for rows in (512, 1024, 2048, 4096, 8192, 16384, 32768):
                    self.assertIn((*dims, mask, rows), timed)
        self.assertTrue(any((p.Hq, p.Hkv, p.B) == (64, 8, 1) for p in suite.speed))
        self.assertTrue(any(p.attention.window == (1023, 0) for p in suite.speed))
        for problem in suite.speed:
            self.assertEqual(Problem.from_json(json.loads(json.dumps(problem.to_json()))), problem)

    def test_peers(self):
        problem = Problem(Attention(), B=2, Hq=16, Hkv=16, M=8192, N=8192)
        self.assertEqual(peer_flops("gemm", problem), 2 * 8192**3)
        self.assertEqual(peer_flops("cudnn", problem), 4 * 128 * 8192**2 * 32)
        self.assertEqual(sets_needed(problem, 60 << 20), 2)
        self.assertEqual(sets_needed(Problem(Attention(), M=512, N=512), 60 << 20), 16)


class Numerics(unittest.TestCase):
    def test_rule(self):
        """Twice the unfused error, or twice what roundings cost."""
        self.assertTrue(judge((2e-2, 1e-2, 4.0), (1e-2, 6e-3, 4.0), "bf16")["passed"] is True)
        self.assertEqual(judge((0, 0, 4.0), (0, 0, 4.0), "bf16")["max_abs_bound"], 2 * 4 * 2**-8)
        self.assertFalse(judge((0.04, 0, 4.0), (0, 0, 4.0), "bf16")["passed"])
        self.assertFalse(judge((0.0, 0.01, 4.0), (0, 0, 4.0), "bf16")["passed"])
        self.assertFalse(judge((math.inf, math.inf, 1.0), (math.inf, math.inf, 1.0), "bf16")["passed"])

    def test_stats(self):
        stats = PlainArrays.stats
        self.assertEqual(stats([3.0, 4.5], [3.0, 4.0]), (0.5, 0.1, 4.0))
        self.assertEqual(stats([math.nan], [1.0])[0], math.inf)
        self.assertEqual(stats([-math.inf, 1.0], [-math.inf, 1.0]), (0.0, 0.0, 1.0))
        self.assertEqual(stats([0.0, 1.0], [-math.inf, 1.0])[0], math.inf)
        with self.assertRaises(ValueError):
            stats([1.0], [1.0, 2.0])

    def test_row_without_keys(self):
        self.assertEqual(attend([-math.inf] * 3, [[1.0]] * 3, 1, "f64"), ([0.0], -math.inf))
        self.assertEqual(attend([0.0, -math.inf], [[2.0], [5.0]], 1, "bf16"), ([2.0], 0.0))


class Workers(unittest.TestCase):
    def lost(self, mode, timeout, message):
        with tempfile.TemporaryDirectory() as folder:
            worker = WorkerProcess("stub_worker", [mode], Path(folder) / "log")
            with self.assertRaisesRegex(WorkerLost, message):
                worker.request(timeout, do="x")
            self.assertIsNone(worker.process)

    def test_death(self):
        self.lost("die", 30, r"worker died \(status 3\): CUDA error: an illegal memory access")

    def test_hang(self):
        began = time.monotonic()
        self.lost("hang", 0.5, r"worker did not answer within 0 s")
        self.assertLess(time.monotonic() - began, 60)

    def test_restart(self):
        with tempfile.TemporaryDirectory() as folder:
            worker = WorkerProcess("stub_worker", ["once"], Path(folder) / "log")
            self.assertEqual(worker.request(30, do="x"), {"ok": True, "asked": "x"})
            with self.assertRaises(WorkerLost):
                worker.request(30, do="y")
            self.assertEqual(worker.request(30, do="z"), {"ok": True, "asked": "z"})
            worker.stop()


class Contests(unittest.TestCase):
    """A run whose workers are scripts: peers that fault, die or are not there, beside one that is timed."""

    def contest(self, script, rounds=3):
        class Arguments:
            device, all_lengths, sample_ms, seed = "cuda", True, 1, 1

        Arguments.rounds = rounds
        run = Run.__new__(Run)
        run.arguments, run.monitor, run.verdicts, run.results = Arguments, None, {}, {}
        run.worker = run.jax = ScriptedWorker(script)
        contestants = {name: (name, None) for name in script}
        return run.contest(Problem(Attention()), contestants), run.worker

    def test_one_fault_costs_one_peer(self):
        results, worker = self.contest({
            "flash2": {"seconds": [3.0, 1.0, 2.0]},
            "cudnn": {"unavailable": "too old"},
            "triton": {"error": "RuntimeError: CUDA error: an illegal memory access was encountered"},
            "flex": {"error": "OutOfMemoryError: tried to allocate 1 TiB"},
            "gemm": {"seconds": [1.0, "die"]},
        })  # fmt: skip
        self.assertEqual(results["flash2"]["seconds"]["median"], 2.0)
        self.assertEqual(results["cudnn"]["unavailable"], "too old")
        self.assertIn("illegal memory access", results["triton"]["unavailable"])
        self.assertIn("OutOfMemory", results["flex"]["unavailable"])
        self.assertIn("died", results["gemm"]["unavailable"])
        self.assertEqual(worker.stops, 2)  # triton's fault and gemm's death

    def test_turns(self):
        _, worker = self.contest({name: {"seconds": [1.0] * 3} for name in ("flash2", "cudnn", "flex")})
        order = [message["name"] for message in worker.asked if message["do"] == "sample"]
        self.assertEqual(order, ["flash2", "cudnn", "flex", "cudnn", "flex", "flash2", "flex", "flash2", "cudnn"])


class ScriptedWorker:
    def __init__(self, script):
        self.script, self.stops, self.asked = script, 0, []

    def stop(self):
        self.stops += 1
        self.asked.clear()

    def request(self, timeout, **message):
        self.asked.append(message)
        told = self.script.get(message.get("name"), {})
        if message["do"] == "prepare" and ("error" in told or "unavailable" in told):
            return {"ok": False, **told}
        if message["do"] == "sample":
            seconds = told["seconds"][sum(m == message for m in self.asked) - 1]
            if seconds == "die":
                raise WorkerLost("worker died (status 9)")
            return {"ok": True, "seconds": seconds}
        return {"ok": True}


def results():
    seconds = {"median": 1e-3, "min": 9e-4, "q1": 9.5e-4, "q3": 1.05e-3, "samples": 9}
    peers = {
        "attn-mlir": {"tflops": 600.0, "seconds": seconds},
        "cudnn": {"tflops": 640.0, "seconds": seconds},
        "gemm": {"tflops": 800.0, "seconds": seconds},
        "flex": {"unavailable": "no reason"},
        "triton": {"tflops": 300.0, "seconds": seconds, "prepare_seconds": 2.5},
    }
    candidates = [
        {"rank": 1, "schedule": "tile_m=128", "predicted_seconds": 1e-3, "measured_seconds": 2e-3},
        {"rank": 2, "schedule": "tile_m=192", "predicted_seconds": 1.1e-3, "measured_seconds": 1.6e-3},
        {"rank": 3, "schedule": "tile_m=64", "unavailable": "its numerics have failed"},
    ]
    tune = {"label": "hd128", "flops": 8e11, "rank_correlation": -1.0, "candidates": candidates}
    return {
        "environment": {"gpu": "NVIDIA <H200>"},
        "bundle": {"compile_ms": {"sm_90a": 55.0}},
        "numerics": [],
        "speed": [{"label": "hd128 causal S8192 B2 H16", "peers": peers}],
        "tune": [tune],
    }


class Reports(unittest.TestCase):
    def test_text(self):
        text = report_text(results())
        for line in (
            r"hd128 causal S8192 B2 H16 +600\.0 ±5\.0% +640\.0 ±5\.0% +300\.0 ±5\.0% +800\.0 ±5\.0%",
            r"hd128 causal S8192 B2 H16 +0\.938 +2\.000 +0\.750",
            r"flex not available: no reason \(all 1\)",
            r"from text to PTX, .*: 55 ms for sm_90a",
            r"first call of triton, compilation included: 2\.50 to 2\.50 s",
            r"tune hd128: rank correlation -1\.0",
            r"2: tile_m=192 +1100\.0 us +1600\.0 us +1\.000 +500\.0",
            r"1: tile_m=128 +1000\.0 us +2000\.0 us +0\.800 +400\.0",
            r"not timed: tile_m=64: its numerics have failed",
        ):
            self.assertRegex(text, line)

    def test_plot(self):
        groups = [("a & b", {"attn-mlir": 600.0, "gemm": 800.0})]
        svg = plot_svg(groups, {"gpu": "NVIDIA <H200>"})
        self.assertIn("NVIDIA &lt;H200&gt;", svg)
        self.assertIn("<title>a &amp; b, attn-mlir: 600</title>", svg)
        heights = [float(part.split('"')[0]) for part in svg.split('width="8" height="')[1:]]
        self.assertAlmostEqual(heights[0] / heights[1], 600 / 800, places=3)

    def test_statistics(self):
        self.assertEqual(summary([3.0, 1.0, 2.0, 4.0])["median"], 2.5)
        self.assertEqual(summary([5.0]), {"median": 5.0, "min": 5.0, "q1": 5.0, "q3": 5.0, "samples": 1})
        self.assertEqual(rank_correlation([1, 2, 3], [30, 20, 10]), -1.0)
        self.assertIsNone(rank_correlation([1, 1], [1, 2]))


unittest.main()
