"""Parts of the benchmark kit that need no device: areas, verdicts, workers that are lost, reports."""

import contextlib
import dataclasses
import io
import json
import math
import random
import tempfile
import time
import unittest
from pathlib import Path

from attn_mlir.bench.bundle import KernelRequest, kernel_class, others
from attn_mlir.bench.clock_monitor import ClockMonitor
from attn_mlir.bench.compile_time import own_times
from attn_mlir.bench.configurations import Attention, Problem
from attn_mlir.bench.failures import describe_errors, keep, shrink, sizes_text
from attn_mlir.bench.fit import fit, fit_factors, held_out, log_errors, mean_error, predict
from attn_mlir.bench.masks import chosen_blocks, document_lengths, visible_pairs, visible_ranges, visited_share
from attn_mlir.bench.numerics import judge, judge_all
from attn_mlir.bench.peers import PEER_NAMES, is_contestant, peer_flops, sets_needed
from attn_mlir.bench.plain_arrays import PlainArrays, attend
from attn_mlir.bench.plot_speed import plot_svg
from attn_mlir.bench.proofs import Proofs
from attn_mlir.bench.report import clocks_text, report_text, speed_tables
from attn_mlir.bench.run import Run, share_of
from attn_mlir.bench.silicon import difference, full_cases, make_case, metric_totals
from attn_mlir.bench.statistics_of import rank_correlation, summary
from attn_mlir.bench.suites import full_suite, proof_problem, static_sizes
from attn_mlir.bench.worker_process import WorkerLost, WorkerProcess
from attn_mlir.runtime.host_array import HostArray, read_npy, round_to


class Masks(unittest.TestCase):
    PROBLEMS = [
        Problem(Attention("bf16", 64, 32, mask), B=2, Hq=3, Hkv=1, M=m, N=n)
        for mask in ("", "causal(top_left)", "causal(bottom_right)", "sliding_window(3, 2)", "listed(4)", "butterfly(3, 4)")
        for m, n in ((5, 9), (9, 5), (7, 7), (1, 4))
    ] + [
        Problem(Attention("bf16", 64, 32, "documents"), B=2, Hq=3, Hkv=1, M=12, N=12, lengths=(1, 4, 5, 2)),
        Problem(Attention("bf16", 64, 32, "listed(4)"), B=2, Hq=3, Hkv=1, M=21, N=33, density=1 / 4),
    ]  # fmt: skip

    def test_ranges_and_predicates(self):
        """The two forms of a mask, and what is counted of it, agree."""
        for p in self.PROBLEMS:
            predicate = p.attention.form.predicate(p, list) or (lambda b, h, i, j: True)
            pairs = {(i, j) for i in range(p.M) for j in range(p.N) if predicate(0, 0, i, j)}
            ranges = {(i, j) for i in range(p.M) for begin, end in visible_ranges(p, i) for j in range(begin, end)}
            self.assertEqual(ranges, pairs, p.name)
            self.assertEqual(visible_pairs(p), len(pairs))
            self.assertEqual(p.flops(), 2 * (64 + 32) * len(pairs) * 6)
            tiles = {(i // 4, j // 3) for i, j in pairs}
            self.assertEqual(visited_share(p, 4, 3), len(tiles) / (-(-p.M // 4) * -(-p.N // 3)))

    def test_documents(self):
        p = self.PROBLEMS[-2]
        sees = {(i, j) for i in range(12) for begin, end in visible_ranges(p, i) for j in range(begin, end)}
        documents = ((0, 1), (1, 5), (5, 10), (10, 12))
        self.assertEqual(sees, {(i, j) for s in documents for i in range(*s) for j in range(s[0], i + 1)})
        self.assertEqual(p.attention.form.captures(p), {"capture0": ((5,), [0, 1, 5, 10, 12])})

    def test_listed(self):
        p = self.PROBLEMS[-1]
        self.assertEqual([len(row) for row in chosen_blocks(6, 9, 1 / 4)], [2] * 6)
        captures = p.attention.form.captures(p)
        self.assertEqual(captures["capture0"], ((1, 1, 6), [2] * 6))
        self.assertEqual(captures["capture1"][0], (1, 1, 6, 9))
        self.assertEqual(captures["capture1"][1][9:11], list(chosen_blocks(6, 9, 1 / 4)[1]))

    def test_document_lengths(self):
        lengths = document_lengths(32768)
        self.assertEqual(sum(lengths), 32768)
        self.assertEqual(lengths, document_lengths(32768))
        self.assertGreater(max(lengths), 4 * sorted(lengths)[len(lengths) // 2])  # a long tail


class Configurations(unittest.TestCase):
    def test_backward(self):
        p = Problem(Attention("f16", 64, 32, gradient=True), B=1, Hq=4, Hkv=2, M=5, N=7, layout="bnhd")
        self.assertEqual(p.flops(), 5 * (64 + 32) * 35 * 4)
        self.assertEqual(p.results, ("d_query", "d_key", "d_value"))
        self.assertEqual((p.shapes()["d_key"], p.strides()["d_key"]), ((1, 2, 7, 64), p.strides()["key"]))
        self.assertEqual((p.shapes()["lse"], p.dtype_of("lse"), p.dtype_of("d_output")), ((1, 4, 5), "f32", "f16"))

    def test_proofs(self):
        """What proves a kernel has the sizes that the kernel fixes."""
        butterfly = Problem(Attention(mask="butterfly(128, 128)"), B=1, Hq=16, Hkv=16, M=16384, N=16384)
        self.assertEqual(static_sizes(butterfly, "tile_m=128"), ("M", "N"))
        self.assertEqual(proof_problem(butterfly, ("M", "N")).sizes, dict(B=1, Hq=2, Hkv=2, M=16384, N=16384))
        grouped = Problem(Attention(), B=1, Hq=64, Hkv=8, M=8192, N=8192)
        self.assertEqual(static_sizes(grouped, "tile_m=128 pack_gqa=1"), ("Hq", "Hkv"))
        self.assertEqual(proof_problem(grouped, ("Hq", "Hkv")).sizes, dict(B=1, Hq=64, Hkv=8, M=997, N=997))
        documents = Problem(Attention(mask="documents"), M=4096, N=4096, lengths=document_lengths(4096))
        self.assertEqual(sum(proof_problem(documents).lengths), 997)
        persistent = proof_problem(grouped, (), "tile_m=128 persistent_ctas=132")
        self.assertGreater(persistent.B * persistent.Hq * -(-persistent.M // 128), 2 * 132)

    def test_suite_covers_what_it_says(self):
        suite = full_suite()
        proven = {(p.attention.D, p.attention.Dv, p.attention.dtype, p.attention.gradient) for p in suite.numerics["sm_90a"]}
        for dims in ((64, 64), (96, 96), (128, 128), (192, 192), (256, 256), (192, 128)):
            self.assertIn((*dims, "bf16", False), proven)
            self.assertIn((*dims, "f16", False), proven)
            self.assertIn((*dims, "bf16", True), proven)
            self.assertIn((*dims, "f16", True), proven)
        self.assertLessEqual(
            {p.attention for p in suite.numerics["sm_90a"] if p.attention.gradient},
            {p.attention for p in suite.numerics["sm_80"]},
        )
        for part in suite.timed.values():
            self.assertEqual(len({p.name for p in part}), len(part))
        speed, backward, masks, serving = (suite.timed[part] for part in ("speed", "backward", "masks", "serving"))
        self.assertTrue(all(p.is_serving for p in serving) and not any(p.is_serving for p in speed + backward + masks))
        self.assertEqual({p.M for p in serving}, {1, 4, 512, 2048})
        for part in (speed, backward):
            timed = {(p.attention.D, p.attention.Dv, p.attention.mask, p.M) for p in part}
            for dims in ((64, 64), (128, 128), (256, 256), (192, 128)):
                for mask in ("", "causal(top_left)"):
                    for rows in (512, 1024, 2048, 4096, 8192, 16384, 32768):
                        self.assertIn((*dims, mask, rows), timed)
        for part in (speed, backward):
            self.assertTrue(any((p.Hq, p.Hkv, p.B) == (64, 8, 1) for p in part))
            self.assertTrue(any(p.attention.window == (1023, 0) for p in part))
        listed = {(p.attention.D, round(1 / p.density)) for p in masks if p.attention.mask == "listed(128)"}
        self.assertEqual(listed, {(d, 2**k) for d in (64, 128) for k in range(7)})
        windows = {(p.attention.window[0] + 1, p.M) for p in masks if p.attention.window}
        self.assertTrue(any(p.lengths for p in backward) and any(p.attention.mask == "listed(128)" for p in backward))
        self.assertEqual({sum(p.lengths) for p in masks}, {0, 16384, 32768})
        self.assertEqual(windows, {(w, m) for w in (256, 512, 1024, 2048, 4096, 8192) for m in (16384, 65536)})
        for problem in speed + backward + masks + serving:
            self.assertEqual(Problem.from_json(json.loads(json.dumps(problem.to_json()))), problem)

    def test_peers(self):
        problem = Problem(Attention(), B=2, Hq=16, Hkv=16, M=8192, N=8192)
        self.assertEqual(peer_flops("gemm", problem), 2 * 8192**3)
        self.assertEqual(peer_flops("cudnn", problem), 4 * 128 * 8192**2 * 32)
        self.assertEqual(sets_needed(problem, 60 << 20), 2)
        self.assertFalse(is_contestant("cudnn-deterministic", problem))
        self.assertTrue(is_contestant("cudnn-deterministic", Problem(Attention(gradient=True))))
        self.assertEqual(sets_needed(Problem(Attention(), M=512, N=512), 60 << 20), 16)

    def test_pages(self):
        """A cache of pages: what exists of it counts, and no page is anyone else's."""
        problem = Problem(Attention(page=16), B=3, Hq=32, Hkv=8, M=1, N=100)
        lengths = [100, 91, 82]
        self.assertEqual(problem.key_lengths, lengths)
        self.assertEqual(problem.shapes()["key"], (21, 8, 16, 128))
        (shape, table), (_, counted) = problem.integers()["key_table"], problem.integers()["key_lengths"]
        self.assertEqual((shape, sorted(table), counted), ((3, 7), list(range(21)), lengths))
        self.assertNotEqual(table, sorted(table))
        self.assertEqual(problem.bytes(), 2 * (2 * 3 * 32 * 128 + 2 * 8 * 128 * sum(lengths)))
        self.assertEqual(problem.flops(), 4 * 128 * 32 * sum(lengths))
        self.assertEqual([peer for peer in PEER_NAMES if is_contestant(peer, problem)], ["attn-mlir", "attn-mlir-sm80", "copy"])


class CompileTime(unittest.TestCase):
    def test_own(self):
        to_ptx, to_cubin = own_times("sm_80", Attention(D=64, Dv=64), 1, None)
        self.assertGreater(to_ptx, 0)
        self.assertIsNone(to_cubin)


class Numerics(unittest.TestCase):
    def test_rule(self):
        """Twice the unfused error, or twice what roundings cost."""
        self.assertTrue(judge((2e-2, 1e-2, 4.0), (1e-2, 6e-3, 4.0), "bf16")["passed"] is True)
        self.assertEqual(judge((0, 0, 4.0), (0, 0, 4.0), "bf16")["max_abs_bound"], 2 * 4 * 2**-8)
        self.assertFalse(judge((0.04, 0, 4.0), (0, 0, 4.0), "bf16")["passed"])
        self.assertFalse(judge((0.0, 0.01, 4.0), (0, 0, 4.0), "bf16")["passed"])
        near, far = (judge((x, 0, 4.0), (0, 0, 4.0), "bf16") for x in (3 * 2 * 4 * 2**-8, 3.1 * 2 * 4 * 2**-8))
        self.assertEqual((near["passed"], near["marginal"], far["marginal"]), (False, True, False))
        self.assertFalse(judge((math.inf, math.inf, 1.0), (math.inf, math.inf, 1.0), "bf16")["passed"])

    def test_gradients_that_cancel(self):
        """Where each row sees one key, the gradients of queries are 0, and what is left of sums of the size of the others'."""
        exact = (0.0, 0.0, 0.0)
        stats = {"d_query": ((3e-5, math.inf, 0.0), exact), "d_value": ((0.0, 0.0, 4.0), (0.0, 0.0, 4.0))}
        self.assertTrue(all(r["passed"] for r in judge_all(stats, lambda name: "bf16").values()))
        stats["d_query"] = ((4e-5, math.inf, 0.0), exact)
        self.assertFalse(judge_all(stats, lambda name: "bf16")["d_query"]["passed"])
        forward = {"output": stats["d_query"], "lse": stats["d_value"]}
        self.assertFalse(judge_all(forward, lambda name: "bf16")["output"]["passed"])

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


class Failures(unittest.TestCase):
    def test_errors(self):
        """Of two heads of 3 x 20: one element is wrong in the second, one is NaN."""
        expected = [float(k) for k in range(120)]
        actual = list(expected)
        actual[60 + 2 * 20 + 17], actual[60 + 2 * 20 + 18] = 0.0, math.nan
        errors = describe_errors(actual, expected, (1, 2, 3, 20), 0.5)
        self.assertEqual((errors["elements"], errors["wrong"], errors["nan"]), (120, 2, 1))
        self.assertEqual((errors["first"], errors["first_values"]), ([0, 1, 2, 17], ["0.0", "117.0"]))
        self.assertEqual(errors["map"], [".#"])
        self.assertNotIn("first", describe_errors(expected, expected, (1, 2, 3, 20), 0.0))

    def test_kept(self):
        values = [float(k) for k in range(120)]
        with tempfile.TemporaryDirectory() as folder:
            keep(Path(folder), "output", values, values, (1, 2, 3, 20), [0, 1, 2, 17])
            self.assertEqual(read_npy(Path(folder) / "output.actual.npy").values(), values[100:])
            keep(Path(folder), "lse", values[:6], values[:6], (1, 2, 3), [0, 1, 1])
            self.assertEqual(read_npy(Path(folder) / "lse.expected.npy").values(), [4.0, 5.0])

    def test_smallest(self):
        problem = Problem(Attention(), B=4, Hq=8, Hkv=2, M=1000, N=1000)
        least = shrink(problem, lambda p: p.N > 100 and p.Hq >= 4)
        self.assertEqual(sizes_text(least), "B=1,Hq=4,Hkv=1,M=1,N=125")
        documents = Problem(Attention(mask="documents"), M=8, N=8, lengths=(4, 4))
        self.assertEqual(shrink(documents, lambda p: True), documents)


class Silicon(unittest.TestCase):
    def test_exact_cases(self):
        """Their arithmetic, done with integers, gives the bits that the cases expect of any machine."""
        case = next(c for c in full_cases() if c.is_exact and not c.problem.gradient)
        case = dataclasses.replace(case, M=30, N=50)
        with tempfile.TemporaryDirectory() as folder:
            entry = make_case(case, Path(folder))
            arrays = {name: read_npy(Path(folder, f"{entry['kernel']}.{name}.npy")) for name in ("query", "key", "value", "output")}
        q, k, v, o = ([list(map(int, row)) for row in rows_of(t)] for t in arrays.values())
        dot = lambda x, y: sum(a * b for a, b in zip(x, y))  # noqa: E731
        expected = []
        for h in range(2):
            for i in range(30):
                weights = [max(dot(q[h * 30 + i], k[j]), 0) if j - i <= 20 else 0 for j in range(50)]
                expected += [round_to(sum(w * row[d] for w, row in zip(weights, v)) / 8, "bf16") for d in range(64)]
        self.assertEqual(arrays["output"].values(), expected)
        self.assertGreater(len(set(expected)), 40)

    def test_sums(self):
        """Of 4096 equal weights, which a GPU's sums of 8 bits are to show: the simulator's drop some percent."""
        case = next(c for c in full_cases() if c.problem.promote is False)
        with tempfile.TemporaryDirectory() as folder:
            entry = make_case(case, Path(folder))
            value, output = (read_npy(Path(folder, f"{entry['kernel']}.{name}.npy")).values() for name in ("value", "output"))
        self.assertFalse(entry["is_exact"])
        for column in (0, 63):
            mean = sum(value[column::64]) / case.N
            self.assertTrue(0.9 < output[column] / mean < 0.99, (mean, output[column]))

    def test_difference(self):
        a = HostArray.of("bf16", (4,), [1.0, -1.0, 0.0, 2.0])
        b = HostArray.of("bf16", (4,), [1.0, -1.0078125, -0.0, 1.9921875])
        self.assertEqual(difference(a, b), {"elements": 4, "different": 3, "ulps": 1})
        self.assertEqual(difference(a, a), {"elements": 4, "different": 0, "ulps": 0})

    def test_metric_totals(self):
        text = '==PROF== x\n"ID","Name","a__b.sum","c__d.sum"\n"","","inst",""\n"0","f","1,234","n/a"\n"1","g","2e3","7"\n'
        self.assertEqual(metric_totals(text), {"a__b.sum": 3234.0, "c__d.sum": 7.0})
        self.assertEqual(metric_totals("==ERROR== no permission\n"), {})


def rows_of(tensor):
    values, width = tensor.values(), tensor.shape[-1]
    return [values[k : k + width] for k in range(0, len(values), width)]


class Budget(unittest.TestCase):
    def test_shares(self):
        """Of what is left, parts that were not asked for have nothing, and the last has all."""
        self.assertEqual(share_of("tune", ["numerics", "tune"]), 1.0)
        self.assertEqual(share_of("numerics", ["tune", "numerics"]), 4 / 7)

    def test_classes(self):
        """After two that hang, the others of a class are left out, and so are timings of them."""
        entries = [{"name": f"p{k}", "kernel": f"k{k}-bounded", "proves": f"k{k}", "problem": {}} for k in range(4)]
        kernels = {e["kernel"]: {"class": "wgmma" if k != 1 else "sm_80"} for k, e in enumerate(entries)}
        bundle = type("Bundle", (), {"index": {"kernels": kernels}, "refusal": lambda self, key: None})()
        arguments = type("Arguments", (), {"device": "cuda", "seed": 1, "jobs": 1})
        results, verdicts, lines = {"smoke": [], "numerics": []}, {}, []
        proofs = Proofs(bundle, HangingWorker(), results, verdicts, lines.append, lambda: None, arguments, Path("/absent"))
        proofs.numerics(entries, time.monotonic() + 100)
        self.assertEqual([r["status"] for r in results["numerics"]], ["lost", "passed", "lost", "skipped"])
        self.assertEqual(results["numerics"][3]["reason"], "2 kernels of class 'wgmma' have hung")
        self.assertEqual(verdicts, {"k0": "lost", "k1": "passed", "k2": "lost", "k3": "lost"})
        self.assertIn("again: run.sh prove k0-bounded", lines[0])


class HangingWorker:
    """Loses every kernel but one."""

    def request(self, timeout, **message):
        if message["kernel"] != "k1-bounded":
            raise WorkerLost("worker did not answer within 1 s")
        return {"ok": True, "status": "passed", "results": {}}


class Fits(unittest.TestCase):
    TRUE = {"mma": 1.3, "exp": 0.8, "l2": 2.0, "exposed": 1.5}

    def problems(self):
        """Synthetic: terms at random, times by the model with other rates."""
        generator = random.Random(3)
        problems = []
        for _ in range(8):
            terms = [{name: 10 ** generator.uniform(-5, -4) for name in (*self.TRUE, "dsmem")} for _ in range(12)]
            problems.append([({**t, "dsmem": 0.0}, predict(t | {"dsmem": 0.0}, self.TRUE)) for t in terms])
        return problems

    def test_recovers(self):
        problems = self.problems()
        points = [point for problem in problems for point in problem]
        factors = fit_factors(points)
        self.assertEqual(set(factors), set(self.TRUE))
        for name, factor in self.TRUE.items():
            self.assertAlmostEqual(factors[name] / factor, 1, delta=0.1)
        self.assertLess(mean_error(log_errors(points, factors)), 0.02)
        self.assertGreater(mean_error(log_errors(points, {})), 0.2)
        self.assertLess(held_out(problems), 0.05)

    def test_command(self):
        tune = [
            {"candidates": [{"terms": t, "measured_seconds": s} for t, s in p] + [{"rank": 9, "unavailable": "no"}]} for p in self.problems()
        ]
        target = {"name": "sm_90a", "numbers": {"f16-tflops": 990.0, "l2-gbps": 5500.0}}
        with tempfile.TemporaryDirectory() as folder:
            path, output = Path(folder) / "results.json", Path(folder) / "fitted.txt"
            path.write_text(json.dumps({"tune": tune, "environment": {"gpu": "H100"}, "bundle": {"target": target}}))
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                self.assertEqual(fit([path], output), 0)
            self.assertRegex(printed.getvalue(), r"96 schedules of 8 problems[^$]*rank correlation +0\.\d+ +(1\.000|0\.99\d)")
            lines = dict(line.split(" = ") for line in output.read_text().splitlines() if " = " in line)
        self.assertEqual(lines["base"], "sm_90a")
        self.assertAlmostEqual(float(lines["f16-tflops"]), 990 / 1.3, delta=80)
        self.assertAlmostEqual(float(lines["l2-gbps"]), 5500 / 2, delta=300)


class Bundles(unittest.TestCase):
    def test_classes(self):
        forward, backward = KernelRequest(Attention(), "sm_90a"), KernelRequest(Attention(gradient=True), "sm_90a")
        schedule = {"mma": "wgmma", "persistent_ctas": 132, "cluster_m": 2, "fused": 0}
        self.assertEqual(kernel_class(forward, schedule), "wgmma persistent cluster")
        self.assertEqual(kernel_class(backward, {"mma": "wgmma", "fused": 1}), "wgmma fused backward")
        self.assertEqual(kernel_class(forward, {"mma": "mma_sync"}), "sm_90a")
        self.assertEqual(forward.proof.key, forward.key + "-bounded")
        self.assertEqual(KernelRequest(Attention(), "sm_80").proof.key, "sm_80-bf16-d128-full")

    def test_one_field(self):
        self.assertEqual(others({"tile_n": "96"}, "tile_n"), [80, 112])
        self.assertEqual(others({"turns": "none"}, "turns"), ["products", "softmax"])
        self.assertEqual(others({}, "persistent_ctas"), [132])


class Clocks(unittest.TestCase):
    def test_throttled(self):
        monitor = ClockMonitor.__new__(ClockMonitor)
        monitor.readings = []
        monitor.read(["1980, 2619, 300.5, 40, 0x0000000000000001\n", "1500, 2619, 700, 70, 0x0000000000000004\n", "[N/A], 1, 1, 1, 0x0\n"])
        clocks = monitor.since(0)
        self.assertEqual(clocks["clocks.sm"], [1500, 1740, 1980])
        self.assertEqual(clocks["throttled"], ["power cap"])
        text = clocks_text({"clocks": {"p": clocks}})
        self.assertEqual(text, "SM clock while timing: 1500 to 1980 MHz; held down by: power cap in 1 of 1 problems")


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
        """Not waited for: it would answer in ten minutes."""
        self.lost("hang", 0.5, r"worker did not answer within 0 s")

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
        contestants = {name: (name, None) for name in script if name}
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
        rounds = [tuple(order[k : k + 3]) for k in range(0, 9, 3)]
        self.assertEqual({tuple(sorted(names)) for names in rounds}, {("cudnn", "flash2", "flex")})
        self.assertGreater(len(set(rounds)), 1)

    def test_close_that_hangs(self):
        results, worker = self.contest({"cudnn": {"seconds": [1.0] * 3}, "": {"close": "die"}})
        self.assertEqual(results["cudnn"]["seconds"]["median"], 1.0)


class ScriptedWorker:
    def __init__(self, script):
        self.script, self.stops, self.asked = script, 0, []

    def stop(self):
        self.stops += 1
        self.asked.clear()

    def request(self, timeout, **message):
        self.asked.append(message)
        told = self.script.get(message.get("name"), {})
        if message["do"] == "close" and "" in self.script:
            raise WorkerLost("worker did not answer within 15 s")
        if message["do"] == "prepare" and ("error" in told or "unavailable" in told):
            return {"ok": False, **told}
        if message["do"] == "sample":
            seconds = told["seconds"][sum(m == message for m in self.asked) - 1]
            if seconds == "die":
                raise WorkerLost("worker died (status 9)")
            return {"ok": True, "seconds": seconds}
        return {"ok": True}


def peer(tflops, milliseconds=1.0, **more):
    ms = milliseconds * 1e-3
    seconds = {"median": ms, "min": 0.9 * ms, "q1": 0.95 * ms, "q3": 1.05 * ms, "samples": 9}
    return {"tflops": tflops, "seconds": seconds, **more}


def masked(milliseconds, mask="", **more):
    """A problem of the part masks that was timed with tiles of 128 x 64."""
    problem = Problem(Attention(mask=mask), B=1, Hq=2, Hkv=2, M=1024, N=1024, **more)
    peers = {"attn-mlir": peer(1.0, milliseconds, schedule="kind=large_cache tile_m=128 tile_n=64 tile_d=128")}
    return {"label": problem.label, "problem": json.loads(json.dumps(problem.to_json())), "peers": peers}


def results():
    peers = {
        "attn-mlir": peer(600.0),
        "cudnn": peer(640.0),
        "gemm": peer(800.0),
        "flex": {"unavailable": "no reason"},
        "triton": peer(300.0, prepare_seconds=2.5),
    }
    backward = {"attn-mlir": peer(500.0), "cudnn": peer(550.0), "cudnn-deterministic": peer(400.0)}
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
        "backward": [{"label": "backward hd128 causal S8192 B2 H16", "peers": backward}],
        "masks": [
            masked(2.0),
            masked(0.55, "listed(128)", density=1 / 4),
            masked(0.3, "sliding_window(63, 0)"),
            masked(0.5, "documents", lengths=(256,) * 4),
        ],
        "tune": [tune],
    }


class Reports(unittest.TestCase):
    def test_serving(self):
        """4 GB in a millisecond are 4 TB/s, half of a copy's."""
        timed = lambda ms: {"tflops": 1 / ms, "seconds": {"median": ms * 1e-3, "q1": ms * 1e-3, "q3": ms * 1e-3}}  # noqa: E731
        peers = {"attn-mlir": timed(1.0), "copy": timed(0.5)}
        speeds, ratios = speed_tables([{"label": "decode", "bytes": 4e9, "peers": peers}], "TB/s")
        self.assertRegex(speeds, r"TB/s +attn-mlir +copy\n[- ]+\ndecode +4.000 ±0.0% +8.000 ±0.0%")
        self.assertRegex(ratios, r"decode +0.500")

    def test_text(self):
        text = report_text(results())
        for line in (
            r"hd128 causal S8192 B2 H16 +600\.0 ±5\.0% +640\.0 ±5\.0% +300\.0 ±5\.0% +800\.0 ±5\.0%",
            r"hd128 causal S8192 B2 H16 +0\.938 +2\.000 +0\.750",
            r"flex not available: no reason \(all 1\)",
            r"from text to PTX, .*: 55 ms for sm_90a",
            r"first call of triton, compilation included: 2\.50 to 2\.50 s",
            r"== backward",
            r"backward hd128 causal S8192 B2 H16 +500\.0 ±5\.0% +550\.0 ±5\.0% +400\.0 ±5\.0%",
            r"the same bits in every run: cudnn-deterministic; not: attn-mlir, cudnn",
            r"attn-mlir against hd128 full S1024 B1 H2 +visible +visited +time +time / \(dense x visited\)",
            r"hd128 listed128 1/4 S1024 B1 H2 +25\.00% +25\.00% +550\.0 us +1\.100",
            # Tiles of 128 rows and 64 keys: the first has 2 of them, the others 3.
            r"hd128 window64 S1024 B1 H2 +6\.06% +17\.97% +300\.0 us +0\.835",
            r"hd128 4 documents S1024 B1 H2 +12\.55% +18\.75% +500\.0 us +1\.333",
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
