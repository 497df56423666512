"""First use from several processes and threads at once, and what becomes of the processes that keep CPU kernels."""

import base64
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

import attn_mlir
from attn_mlir import arrays, cpu, functional, server
from attn_mlir.arrays import StreamArray, view_of
from attn_mlir.problem import AttentionProblem
from attn_mlir.runtime.host_array import HostArray
from sweep import LONG

CHILD = """
import attn_mlir, sys
from attn_mlir.runtime.host_array import HostArray
q = HostArray.of("f16", (1, 1, 16, 64), [(37 * k % 101 - 50) / 32 for k in range(1024)])
print(sys.stdin.readline(), end="", flush=True)
for device in ("sim", None):
    print(hash(tuple(attn_mlir.attention(q, q, q, causal=True, device=device).values())))
"""


def ramp(*shape):
    count = 1
    for size in shape:
        count *= size
    return HostArray.of("f16", shape, [((37 * k) % 101 - 50) / 32 for k in range(count)])


def kept(q, k, v, **options):
    """In a process: a module of the caller's may read whatever it is given."""
    dim = q.shape[3]
    return attn_mlir.compile(AttentionProblem("f16", dim, dim, **options), target="cpu")(q, k, v)


class Direct(unittest.TestCase):
    """Attention in this process."""

    def setUp(self):
        server._servers.clear()
        functional._kernels.clear()
        functional.direct.cache_clear()

    def test_what_is_kept_in_a_process(self):
        """Reads that nothing has checked."""
        q = ramp(1, 1, 4, 8)
        ids, table = HostArray.of("i32", (4,), [0, 0, 1, 1]), HostArray.of("f32", (7,), [0.0] * 7)
        bias = attn_mlir.mask.tensor(table)
        attn_mlir.attention(q, q, q, mask_mod=attn_mlir.mask.document(ids))
        self.assertEqual(len(server._servers), 0)
        attn_mlir.attention(q, q, q, score_mod=lambda s, b, h, i, j: s + bias[i - j + 3])
        self.assertEqual(len(server._servers), 1)
        offsets = HostArray.of("i32", (3,), [0, 2, 4])
        attn_mlir.attention(q, q, q, mask_mod=attn_mlir.mask.packed(offsets))
        self.assertEqual(len(server._servers), 2)

    def test_as_from_a_process(self):
        """Strides, also of 0 and along the head dim, on one thread and two."""
        q, k = ramp(2, 3, 70, 16), view_of(ramp(2, 70, 1, 16))
        shape, (batch, row, _, element) = (2, 3, 70, 16), k.strides
        shared = k._replace(shape=shape, strides=(batch, 0, row, element))
        turned = view_of(ramp(2, 3, 16, 70))
        turned = turned._replace(shape=shape, strides=tuple(turned.strides[d] for d in (0, 1, 3, 2)))
        expected = kept(q, shared.to_host(), turned.to_host()).values()
        for threads in ("1", "2"):
            with mock.patch.dict(os.environ, OMP_NUM_THREADS=threads), mock.patch.object(cpu, "SMALL_WORK", 0):
                self.assertEqual(cpu.threads_for(1), int(threads))
                out = attn_mlir.attention(q, StreamArray(shared, 0), StreamArray(turned, 0))
                self.assertEqual(out.values(), expected)

    def test_other_sizes_need_no_other_kernel(self):
        """But for one row and two, for up to 4, 16, 32 and 64, and for up to 16, 32 and 64 keys."""
        for rows, kernels in (((65, 70, 200), 1), ((33, 64), 2), ((17, 20, 32), 3), ((5, 16), 4), ((3, 4), 5), ((2, 2), 6), ((1, 1), 7)):
            for m, (b, hq, hkv, n) in zip(rows, ((1, 1, 1, 66), (2, 4, 2, 133), (1, 3, 1, 70))):
                k = ramp(b, hkv, n, 32)
                attn_mlir.attention(ramp(b, hq, m, 32), k, k, causal=True)
                self.assertEqual(functional.direct.cache_info().currsize, kernels)
        for keys, kernels in ((4, 8), (16, 8), (17, 9), (64, 10), (33, 10)):
            k = ramp(1, 1, keys, 32)
            attn_mlir.attention(ramp(1, 1, 70, 32), k, k, causal=True)
            self.assertEqual(functional.direct.cache_info().currsize, kernels)

    def test_number_of_threads(self):
        few, many = 1 << 22, 1 << 23
        for given, threads in {"3": 3, "": 0, "two": 0, "0": 0}.items():
            with mock.patch.dict(os.environ, OMP_NUM_THREADS=given):
                self.assertEqual((cpu.threads_for(few), cpu.threads_for(many)), (1, threads))
        with mock.patch.dict(sys.modules, torch=mock.Mock(get_num_threads=lambda: 5)):
            self.assertEqual(cpu.threads_for(many), 5)

    def test_out(self):
        q = ramp(1, 1, 4, 8)
        for shape, got in (((1, 1, 4, 7), r"\(1, 1, 4, 7\)"), ((1, 4, 8), r"\(1, 4, 8\)")):
            out = HostArray.of("f16", shape, [0.0] * (28 if len(shape) == 4 else 32))
            with self.assertRaisesRegex(attn_mlir.BindingError, r"result 0: expected f16 \(1, 1, 4, 8\), got f16 " + got):
                attn_mlir.attention(q, q, q, out=out)
        with self.assertRaisesRegex(attn_mlir.BindingError, "expected 1 results in out, got 2"):
            attn_mlir.attention(q, q, q, out=(q, q))
        with self.assertRaisesRegex(attn_mlir.BindingError, "result 0: expected memory of its own, got some of argument 0"):
            attn_mlir.attention(q, q, q, out=q)

    def test_fork(self):
        """A child has threads of its own, and ends."""
        code = """
import attn_mlir, os, sys
from attn_mlir import cpu
from attn_mlir.runtime.host_array import HostArray
q = HostArray.of("f16", (1, 2, 256, 64), [(37 * k % 101 - 50) / 32 for k in range(1 << 15)])
cpu.SMALL_WORK = 0
expected = attn_mlir.attention(q, q, q).values()
child = os.fork()
same = attn_mlir.attention(q, q, q).values() == expected
print("same " if same else "other ", end="", flush=True)
sys.exit(3 if child == 0 else os.waitpid(child, 0)[1] >> 8)
"""
        environment = {**os.environ, "OMP_NUM_THREADS": "2"}
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
        self.assertEqual((result.stdout.split(), result.stderr, result.returncode), (["same", "same"], "", 3))

    def test_damaged_file(self):
        """A loaded file is one of this version and processor."""
        content, _ = cpu.compiled_file(AttentionProblem("f16", 8, 8).mlir(), (), attn_mlir.Cache())
        head, code = content.split(b"\n", 1)
        for other, said in (
            (b"{}\n" + code, "expected a function of version attn-mlir/cpu-function/2"),
            (b"ELF\n", "expected a function compiled for the CPU"),
            (head.replace(b'"host":"', b'"host":"z80 ') + b"\n" + code, "expected code for this processor, .*, got code for z80 "),
        ):
            self.assertIsNone(cpu.library().attnCpuFunctionLoad(other, len(other)))
            self.assertRegex(cpu.message(), said)

    def test_layouts(self):
        """What libattn-c checks."""
        kernel = cpu.DirectKernel(AttentionProblem("f16", 8, 8).mlir())
        view = view_of(ramp(1, 1, 4, 8))
        for other, said in (
            (view._replace(dtype="bf16"), "argument 1: expected dtype f16, got bf16"),
            (view._replace(shape=(4, 8), strides=(8, 1)), "argument 1: expected rank 4, got 2"),
            (view._replace(shape=(1, 1, 4, 7)), "argument 1: expected dim 3 to be 8, got 7"),
            (view._replace(shape=(1, 1, -4, 8)), "argument 1: expected sizes of at least 0, got -4"),
            (view._replace(strides=(32, 32, 1, 4)), "argument 1: expected a last dimension of stride 1, got 4"),
        ):
            with self.assertRaisesRegex(attn_mlir.BindingError, said):
                cpu.Call(kernel.function, [view, other, view])
        with self.assertRaisesRegex(attn_mlir.BindingError, "expected 3 arguments, got 2"):
            cpu.Call(kernel.function, [view, view])


class Concurrent(unittest.TestCase):
    def setUp(self):
        server._servers.clear()

    def test_first_use_by_processes(self):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "ATTN_CACHE_DIR": folder, "PYTHONHASHSEED": "0"}
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            children = [subprocess.Popen([sys.executable, "-c", CHILD], env=environment, **pipes) for _ in range(4 if LONG else 2)]
            for child in children:  # all have imported the package and wait
                child.stdin.write("go\n")
                child.stdin.flush()
            answers = [child.communicate()[0] for child in children]
            self.assertEqual([child.returncode for child in children], [0] * len(children))
            self.assertEqual(len(set(answers)), 1, answers)
            self.assertEqual(len(answers[0].split()), 3)
            entries = list(Path(folder).glob("??/*"))  # of the GPU's kernel and the CPU's
            self.assertEqual(len(entries), 2)
            self.assertEqual(list(Path(folder).glob("tmp-*")), [])

    def test_second_process_compiles_nothing(self):
        """What the first has compiled, and said of it, comes from the cache; a damaged entry is compiled again."""
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, ATTN_CACHE_DIR=folder):
            q = ramp(1, 2, 16, 64)
            first = kept(q, q, q).values()
            (entry,) = Path(folder).glob("??/*")
            (one,) = server._servers.values()
            content = (entry / "object").read_text()
            self.assertEqual((one.folder / "module.o").read_bytes(), base64.b64decode(content))
            for damage in (False, True):
                server._servers.clear()
                if damage:
                    (entry / "object").write_text("QUJD")
                written = (entry / "object").stat().st_mtime_ns
                self.assertEqual(kept(q, q, q).values(), first)
                self.assertEqual((entry / "object").stat().st_mtime_ns != written, damage)
                self.assertEqual((entry / "object").read_text(), content)

    def test_number_of_threads(self):
        """As OMP_NUM_THREADS asks for, or torch; what is no number is all cores."""
        for given, options in {"3": ("--threads=3",), "": (), "two": (), "0": ()}.items():
            with mock.patch.dict(os.environ, OMP_NUM_THREADS=given):
                self.assertEqual(server.with_threads(()), options)
        self.assertEqual(server.with_threads(("--threads=1",)), ("--threads=1",))
        with mock.patch.dict(sys.modules, torch=mock.Mock(get_num_threads=lambda: 5)):
            self.assertEqual(server.with_threads(()), ("--threads=5",))

    def test_arrays_between_others(self):
        """Arguments and results whose elements do not lie together, with NumPy's help and without."""
        q = ramp(1, 6, 2, 64)  # [B, M, H, D]
        view = view_of(q)
        turned = view._replace(shape=(1, 2, 6, 64), strides=tuple(view.strides[i] for i in (0, 2, 1, 3)))
        expected = attn_mlir.attention(*[turned.to_host()] * 3).values()
        for find in (arrays.find_numpy, lambda: None):
            with mock.patch.object(arrays, "find_numpy", find):
                out = HostArray.of("f16", (1, 6, 2, 64), [0] * 768)
                target = turned._replace(address=view_of(out).address, owner=out)
                call = [StreamArray(turned, 0)] * 3
                attn_mlir.attention(*call, out=StreamArray(target, 0))
                self.assertEqual(target.to_host().values(), expected)

    def test_threads(self):
        q, results = ramp(1, 2, 8, 32), []
        threads = [threading.Thread(target=lambda: results.append(attn_mlir.attention(q, q, q).values())) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(results), 4)
        self.assertEqual(len({tuple(r) for r in results}), 1)


class Kept(unittest.TestCase):
    def setUp(self):
        server._servers.clear()

    def pids(self):
        return [s.process.pid for s in server._servers.values()]

    def test_bounded(self):
        q = ramp(1, 1, 2, 8)
        with mock.patch.object(server, "MAX_SERVERS", 2):
            for scale in (0.1, 0.2, 0.3):
                kept(q, q, q, scale=scale)
                last = self.pids()[-1]
            self.assertEqual(len(self.pids()), 2)
            # The one that went is compiled again when it is used.
            kept(q, q, q, scale=0.1)
            self.assertEqual(len(self.pids()), 2)
            self.assertIn(last, self.pids())

    def test_killed(self):
        q = ramp(1, 1, 2, 8)
        expected = kept(q, q, q).values()
        (process,) = (s.process for s in server._servers.values())
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertEqual(kept(q, q, q).values(), expected)

    def test_killed_in_a_call(self):
        """What the call says; the next one works."""
        q = ramp(1, 1, 2, 8)
        kept(q, q, q)
        (one,) = server._servers.values()
        os.kill(one.process.pid, signal.SIGSTOP)
        caught = []

        def call():
            try:
                kept(q, q, q)
            except attn_mlir.AttnError as error:
                caught.append(str(error))

        thread = threading.Thread(target=call)
        thread.start()
        os.kill(one.process.pid, signal.SIGKILL)
        thread.join()
        if caught:  # the kill came after the call had begun
            self.assertEqual(caught, ["the kernel's process ended with status -9"])
        kept(q, q, q)

    def test_fork(self):
        """A child starts processes of its own and leaves the parent's alone."""
        q = ramp(1, 1, 2, 8)
        expected = kept(q, q, q).values()
        (one,) = server._servers.values()
        child = os.fork()
        if child == 0:
            same = kept(q, q, q).values() == expected
            other = [s.process.pid for s in server._servers.values()] != [one.process.pid]
            sys.stdout.flush()
            os._exit(0 if same and other else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertIsNone(one.process.poll())
        self.assertEqual(kept(q, q, q).values(), expected)

    def test_nothing_is_left(self):
        """Neither processes nor files, once Python has ended."""
        code = CHILD + "from attn_mlir import server\n"
        code += "attn_mlir.attention(q, q, q, score_mod=lambda s, b, h, i, j: s + attn_mlir.mask.tensor(q)[0, 0, 0, i - j + 1])\n"
        code += "for s in server._servers.values(): print(s.process.pid, s.folder)\n"
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "ATTN_CACHE_DIR": folder}
            result = subprocess.run([sys.executable, "-c", code], input="go\n", text=True, capture_output=True, env=environment)
        self.assertEqual(result.stderr, "")
        pid, path = result.stdout.splitlines()[-1].split()
        self.assertFalse(Path(path).exists())
        with self.assertRaises(ProcessLookupError):
            os.kill(int(pid), 0)


if __name__ == "__main__":
    sys.exit(unittest.main())
