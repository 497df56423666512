"""The cache on disk: many processes at once, damage, the limit on its size."""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
import warnings
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import attn_mlir
from attn_mlir.cache import Cache, digest_of

ATTENTION = Path(__file__).parent / "attention.mlir"
FIRST_USE = f"""
import attn_mlir, sys
kernel = attn_mlir.compile({str(ATTENTION)!r}, target="sm_80")
print(len(kernel.ptx), kernel.manifest.name)
"""


class Disk(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name) / "cache"
        self.cache = Cache(self.folder)

    def entries(self):
        return sorted(path for path in self.folder.glob("??/*"))

    def test_first_use_by_many_processes(self):
        environment = {**os.environ, "ATTN_CACHE_DIR": str(self.folder)}
        command = [sys.executable, "-c", FIRST_USE]
        processes = [
            subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(6)
        ]
        said = {(p.communicate(timeout=120), p.returncode) for p in processes}
        self.assertEqual(len(said), 1, said)
        (output, errors), status = said.pop()
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual(len(self.entries()), 1)
        self.assertEqual(list(self.folder.glob("tmp-*")), [])

    def test_first_use_by_many_threads(self):
        """One makes what all ask for, also where nothing is kept; its error is that of all, and is not kept."""
        waiting = threading.Semaphore(0)

        class Watched(Future):
            def result(self, timeout=None):
                waiting.release()
                return super().result(timeout)

        for cache in (self.cache, Cache(self.folder / "none", max_bytes=0)):
            made = []

            def make():
                for _ in range(5):
                    waiting.acquire()
                made.append("made")  # noqa: B023
                if len(made) == 1:  # noqa: B023
                    raise OSError("the first fails")
                return {"text": str(len(made))}  # noqa: B023

            def ask(_):
                try:
                    return cache.get_or_make("c" * 64, make)  # noqa: B023
                except OSError as error:
                    return str(error)

            with unittest.mock.patch("attn_mlir.cache.Future", Watched), ThreadPoolExecutor(6) as pool:
                self.assertEqual(list(pool.map(ask, range(6))), ["the first fails"] * 6)
                self.assertEqual(list(pool.map(ask, range(6))), [{"text": "2"}] * 6)
            self.assertEqual(cache.get("c" * 64), {"text": "2"} if cache.max_bytes else None)

    def test_fork_while_a_thread_compiles(self):
        """The child does not wait for a thread that it has not."""
        with ThreadPoolExecutor(1) as pool:
            begun = threading.Event()
            future = pool.submit(self.cache.get_or_make, "d" * 64, lambda: (begun.set(), time.sleep(0.3), {"text": "parent"})[-1])
            begun.wait()
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                os._exit(self.cache.get_or_make("d" * 64, lambda: {"text": "child"}) != {"text": "child"})
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertIn(future.result()["text"], ("parent", "child"))

    def test_hit(self):
        first = attn_mlir.compile(ATTENTION, target="sm_80", cache=self.cache)
        began = self.entries()[0].stat().st_mtime_ns
        time.sleep(0.01)
        second = attn_mlir.compile(ATTENTION, target="sm_80", cache=self.cache)
        self.assertEqual(first.ptx, second.ptx)
        self.assertGreater(self.entries()[0].stat().st_mtime_ns, began)
        attn_mlir.compile(ATTENTION, target="sm_80", schedule="tile_m=64", cache=self.cache)
        self.assertEqual(len(self.entries()), 2)

    def test_damage(self):
        for damage in (lambda p: p.write_text("// half"), Path.unlink, lambda p: p.write_bytes(b"\xff\xfe")):
            kernel = attn_mlir.compile(ATTENTION, target="sm_80", cache=self.cache)
            (entry,) = self.entries()
            damage(entry / "kernel.ptx")
            again = attn_mlir.compile(ATTENTION, target="sm_80", cache=self.cache)
            self.assertEqual(again.ptx, kernel.ptx)

    def test_entry_that_cannot_be_read(self):
        key = digest_of(["k"])
        entry = self.cache.entry(key)

        def replace(make):
            shutil.rmtree(entry)
            make(entry)

        damages = [
            lambda: (entry / "a").write_bytes(b"\xff\xfe"),
            lambda: (entry / "folder").mkdir(),
            lambda: (entry / "link").symlink_to("nowhere"),
            lambda: (entry / "link").symlink_to("/dev/zero"),
            lambda: os.mkfifo(entry / "pipe"),
            lambda: open(os.fsencode(entry) + b"/\xff", "w").close(),
            lambda: replace(Path.touch),
            lambda: replace(lambda path: path.symlink_to("nowhere")),
        ]
        for damage in damages:
            self.cache.put(key, {"a": "b"})
            damage()
            self.assertIsNone(self.cache.get(key))
            self.cache.put(key, {"a": "b"})
            self.assertEqual(self.cache.get(key), {"a": "b"})
        for damage in (Path.touch, lambda path: path.symlink_to("nowhere")):
            shutil.rmtree(entry.parent)
            damage(entry.parent)
            self.assertIsNone(self.cache.get(key))
            self.cache.put(key, {"a": "b"})
            self.assertEqual(self.cache.get(key), {"a": "b"})
        self.assertEqual(list(self.folder.glob("tmp-*")), [])

    def test_full_disk(self):
        full = unittest.mock.patch.object(Path, "write_text", side_effect=OSError(28, "No space left on device"))
        with full, self.assertWarnsRegex(UserWarning, "kernels are not cached in .*No space left on device"):
            self.cache.put(digest_of(["k"]), {"a": "b"})
        self.assertEqual(list(self.folder.glob("tmp-*")), [])
        self.assertIsNone(self.cache.get(digest_of(["k"])))

    def test_limit_of_the_environment(self):
        for given in ("\u00b2", "-1", "1e6", "9" * 5000):
            with unittest.mock.patch.dict(os.environ, ATTN_CACHE_BYTES=given):
                with self.assertWarnsRegex(UserWarning, "ATTN_CACHE_BYTES: expected a number of bytes, got "):
                    self.assertEqual(Cache(self.folder).max_bytes, 256 << 20)
        with unittest.mock.patch.dict(os.environ, ATTN_CACHE_BYTES="1000"):
            self.assertEqual(Cache(self.folder).max_bytes, 1000)

    def test_limit(self):
        cache = Cache(self.folder, max_bytes=10_000)
        for k in range(20):
            cache.put(digest_of([str(k)]), {"a": "x" * 1000})
            os.utime(cache.entry(digest_of([str(k)])), (1000 + k, 1000 + k))
            cache.get(digest_of(["0"]))  # used again and again: stays
        sizes = [sum(f.stat().st_size for f in entry.iterdir()) for entry in self.entries()]
        self.assertLessEqual(sum(sizes), 10_000)
        self.assertIsNotNone(cache.get(digest_of(["0"])))
        self.assertIsNotNone(cache.get(digest_of(["19"])))
        self.assertIsNone(cache.get(digest_of(["1"])))

    def test_digest_of_the_compiler(self):
        """Kept for the next process; what is damaged, or of another build, is not taken."""
        compiler = self.folder.parent / "compiler"
        compiler.write_bytes(b"one")
        with unittest.mock.patch.dict(os.environ, ATTN_CACHE_DIR=str(self.folder)):
            digest = attn_mlir.cache.compiler_digest(str(compiler))
            self.assertEqual(digest, hashlib.sha256(b"one").hexdigest())
            (note,) = (self.folder / "compilers").iterdir()
            for kept, expected in [("0" * 64, "0" * 64), ("0" * 63, digest), ("x" * 64, digest), ("", digest)]:
                note.write_text(kept)
                attn_mlir.cache.file_digest.cache_clear()  # as a new process begins
                self.assertEqual(attn_mlir.cache.compiler_digest(str(compiler)), expected)
            compiler.write_bytes(b"another")
            self.assertEqual(attn_mlir.cache.compiler_digest(str(compiler)), hashlib.sha256(b"another").hexdigest())
            times = compiler.stat()
            compiler.write_bytes(b"unequal")  # as long, and as old, as an archive may make it
            os.utime(compiler, ns=(times.st_atime_ns, times.st_mtime_ns))
            self.assertEqual(attn_mlir.cache.compiler_digest(str(compiler)), hashlib.sha256(b"unequal").hexdigest())

    def test_nothing_kept(self):
        Cache(self.folder, max_bytes=0).put(digest_of(["k"]), {"a": "b"})
        self.assertFalse(self.folder.exists())

    def test_keys(self):
        self.assertNotEqual(digest_of(["ab", "c"]), digest_of(["a", "bc"]))

    def test_folder_that_cannot_be_written(self):
        self.folder.parent.joinpath("file").write_text("")
        cache = Cache(self.folder.parent / "file" / "cache")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            kernel = attn_mlir.compile(ATTENTION, target="sm_80", cache=cache)
        self.assertIn(".target sm_80", kernel.ptx)
        self.assertRegex(str(caught[0].message), "kernels are not cached in .*file/cache")


if __name__ == "__main__":
    sys.exit(unittest.main())
