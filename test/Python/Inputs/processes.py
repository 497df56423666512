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
from attn_mlir import arrays, server
from attn_mlir.arrays import StreamArray, view_of
from attn_mlir.runtime.host_array import HostArray

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


class Concurrent(unittest.TestCase):
    def setUp(self):
        server._servers.clear()

    def test_first_use_by_processes(self):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "ATTN_CACHE_DIR": folder, "PYTHONHASHSEED": "0"}
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            children = [subprocess.Popen([sys.executable, "-c", CHILD], env=environment, **pipes) for _ in range(4)]
            for child in children:  # all have imported the package and wait
                child.stdin.write("go\n")
                child.stdin.flush()
            answers = [child.communicate()[0] for child in children]
            self.assertEqual([child.returncode for child in children], [0] * 4)
            self.assertEqual(len(set(answers)), 1, answers)
            self.assertEqual(len(answers[0].split()), 3)
            entries = list(Path(folder).glob("??/*"))  # of the GPU's kernel and the CPU's
            self.assertEqual(len(entries), 2)
            self.assertEqual(list(Path(folder).glob("tmp-*")), [])

    def test_second_process_compiles_nothing(self):
        """What the first has compiled, and said of it, comes from the cache; a damaged entry is compiled again."""
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, ATTN_CACHE_DIR=folder):
            q = ramp(1, 2, 16, 64)
            first = attn_mlir.attention(q, q, q, causal=True).values()
            (entry,) = Path(folder).glob("??/*")
            (one,) = server._servers.values()
            content = (entry / "object").read_text()
            self.assertEqual((one.folder / "module.o").read_bytes(), base64.b64decode(content))
            for damage in (False, True):
                server._servers.clear()
                if damage:
                    (entry / "object").write_text("QUJD")
                written = (entry / "object").stat().st_mtime_ns
                self.assertEqual(attn_mlir.attention(q, q, q, causal=True).values(), first)
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

    def test_other_sizes_need_no_other_process(self):
        """But for one row, and for up to 16."""
        for rows, processes in (((17, 20, 70), 1), ((2, 16), 2), ((1, 1), 3)):
            for m, (b, hq, hkv, n) in zip(rows, ((1, 1, 1, 4), (2, 4, 2, 33), (1, 3, 1, 70))):
                k = ramp(b, hkv, n, 32)
                attn_mlir.attention(ramp(b, hq, m, 32), k, k, causal=True)
                self.assertEqual(len(self.pids()), processes)

    def test_bounded(self):
        q = ramp(1, 1, 2, 8)
        with mock.patch.object(server, "MAX_SERVERS", 2):
            for scale in (0.1, 0.2, 0.3):
                attn_mlir.attention(q, q, q, scale=scale)
                last = self.pids()[-1]
            self.assertEqual(len(self.pids()), 2)
            # The one that went is compiled again when it is used.
            attn_mlir.attention(q, q, q, scale=0.1)
            self.assertEqual(len(self.pids()), 2)
            self.assertIn(last, self.pids())

    def test_killed(self):
        q = ramp(1, 1, 2, 8)
        expected = attn_mlir.attention(q, q, q).values()
        (process,) = (s.process for s in server._servers.values())
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertEqual(attn_mlir.attention(q, q, q).values(), expected)

    def test_killed_in_a_call(self):
        """What the call says; the next one works."""
        q = ramp(1, 1, 2, 8)
        attn_mlir.attention(q, q, q)
        (one,) = server._servers.values()
        os.kill(one.process.pid, signal.SIGSTOP)
        caught = []

        def call():
            try:
                attn_mlir.attention(q, q, q)
            except attn_mlir.AttnError as error:
                caught.append(str(error))

        thread = threading.Thread(target=call)
        thread.start()
        os.kill(one.process.pid, signal.SIGKILL)
        thread.join()
        if caught:  # the kill came after the call had begun
            self.assertEqual(caught, ["the kernel's process ended with status -9"])
        attn_mlir.attention(q, q, q)

    def test_fork(self):
        """A child starts processes of its own and leaves the parent's alone."""
        q = ramp(1, 1, 2, 8)
        expected = attn_mlir.attention(q, q, q).values()
        (one,) = server._servers.values()
        child = os.fork()
        if child == 0:
            same = attn_mlir.attention(q, q, q).values() == expected
            other = [s.process.pid for s in server._servers.values()] != [one.process.pid]
            sys.stdout.flush()
            os._exit(0 if same and other else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertIsNone(one.process.poll())
        self.assertEqual(attn_mlir.attention(q, q, q).values(), expected)

    def test_nothing_is_left(self):
        """Neither processes nor files, once Python has ended."""
        code = CHILD + "from attn_mlir import server\n"
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
