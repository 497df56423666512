# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled kernels on disk, found by what they were made from.

An entry is a folder named by the digest of its key. It appears by a rename, whole or not at all, so any number of
processes may look up, insert and prune at once; at worst one compiles what another has just compiled. Threads of one
process never do. What an entry holds is checked against a digest when it is read. When the entries exceed the limit, those not used for longest go.

    ATTN_CACHE_DIR     where (default: $XDG_CACHE_HOME/attn-mlir, or ~/.cache/attn-mlir)
    ATTN_CACHE_BYTES   limit (default: 256 MiB); 0 keeps nothing
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import string
import tempfile
import threading
import time
import warnings
from concurrent.futures import Future
from pathlib import Path
from typing import Callable, Iterable, Iterator, Mapping, Optional

DEFAULT_BYTES = 256 << 20
DIGEST = "digest"
#: Folders that entries are spread over, by the first two digits of their keys.
PARTS = 256
#: A temporary folder that is older was left by a process that ended.
STALE_SECONDS = 3600

Files = Mapping[str, str]

#: What threads make at present, by folder and key.
_in_the_making: dict[tuple[Path, str], Future[Files]] = {}
_making_lock = threading.Lock()


def _forget_threads():
    """In the child of a fork, where the threads that make something are not."""
    global _making_lock
    _making_lock = threading.Lock()
    _in_the_making.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


def default_folder() -> Path:
    given = os.environ.get("ATTN_CACHE_DIR")
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "attn-mlir"


def digest_of(parts: list[str]) -> str:
    """Of texts, so that no two lists give the same by moving a boundary."""
    state = hashlib.sha256()
    for part in parts:
        data = part.encode()
        state.update(len(data).to_bytes(8, "little") + data)
    return state.hexdigest()


def default_limit() -> int:
    """ATTN_CACHE_BYTES; a warning where that is no number."""
    given = os.environ.get("ATTN_CACHE_BYTES", "")
    if given == "" or (given.isascii() and given.isdigit() and len(given) < 20):
        return int(given or DEFAULT_BYTES)
    warnings.warn(f"attn_mlir: ATTN_CACHE_BYTES: expected a number of bytes, got {given!r}", stacklevel=3)
    return DEFAULT_BYTES


class Cache:
    """name -> text, by key."""

    def __init__(self, folder: Optional[Path] = None, max_bytes: Optional[int] = None):
        self.folder = folder or default_folder()
        self.max_bytes = default_limit() if max_bytes is None else max_bytes

    def entry(self, key: str) -> Path:
        return self.folder / key[:2] / key

    def get(self, key: str) -> Optional[dict[str, str]]:
        """The files of an entry, or None. An entry that is damaged is removed."""
        entry = self.entry(key)
        try:
            files = {path.name: read_plain(path) for path in entry.iterdir()}
            now = time.time()
            os.utime(entry, (now, now))  # used now, for `prune`
            if files.pop(DIGEST, None) == content_digest(files):
                return files
        except (OSError, UnicodeError):  # also of a file's name
            pass
        # Absent, or pruned by another process while we read; what is still there is damaged.
        if os.path.lexists(entry):
            self.remove(entry)
        return None

    def put(self, key: str, files: Files):
        """Inserts an entry; one that is there already stays. A folder that cannot be written is a warning."""
        if self.max_bytes == 0:
            return
        entry = self.entry(key)
        try:
            if os.path.lexists(entry.parent) and not entry.parent.is_dir():
                self.remove(entry.parent)
            entry.parent.mkdir(parents=True, exist_ok=True)
            temporary = Path(tempfile.mkdtemp(prefix="tmp-", dir=self.folder))
            try:
                for name, text in {**files, DIGEST: content_digest(files)}.items():
                    (temporary / name).write_text(text, encoding="utf-8")
                temporary.rename(entry)
            except OSError:
                if not entry.is_dir():
                    raise  # else another process was first
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
            if self.may_be_full(entry.parent):
                self.prune()
        except OSError as error:
            warnings.warn(f"attn_mlir: kernels are not cached in {self.folder}: {error}", stacklevel=3)

    def get_or_make(self, key: str, make: Callable[[], Files]) -> Files:
        """The files of an entry, which `make` makes if there is none. Threads that ask for one key at a time share what one
        of them makes, or its error."""
        place = (self.folder, key)
        with _making_lock:
            future = _in_the_making.get(place)
            is_first = future is None
            if future is None:
                future = _in_the_making[place] = Future()
        if not is_first:
            return future.result()
        try:
            files: Optional[Files] = self.get(key)
            if files is None:
                files = make()
                self.put(key, files)
            future.set_result(files)
            return files
        except BaseException as error:
            future.set_exception(error)
            raise
        finally:
            with _making_lock:
                del _in_the_making[place]

    def may_be_full(self, part: Path) -> bool:
        """By the entries of one of the parts, which are alike: looking at all of them takes longer than writing one."""
        return PARTS * sum(size for _, size, _ in sizes_of(part.glob("*"))) > self.max_bytes

    def prune(self):
        """Removes what was not used for longest, until the rest is within three quarters of the limit."""
        entries = list(sizes_of(self.folder.glob("??/*")))
        total = sum(size for _, size, _ in entries)
        for path in self.folder.glob("tmp-*"):
            try:
                if time.time() - path.stat().st_mtime > STALE_SECONDS:
                    shutil.rmtree(path, ignore_errors=True)
            except OSError:
                continue
        if total <= self.max_bytes:
            return
        for _, size, path in sorted(entries):
            if total <= self.max_bytes * 3 // 4:
                break
            self.remove(path)
            total -= size

    def remove(self, entry: Path):
        """Takes an entry away in one step, then deletes it: nobody sees half of one."""
        try:
            temporary = Path(tempfile.mkdtemp(prefix="tmp-", dir=self.folder))
            entry.rename(temporary / "entry")
        except OSError:
            return  # another process was first
        shutil.rmtree(temporary, ignore_errors=True)


def sizes_of(entries: Iterable[Path]) -> Iterator[tuple[float, int, Path]]:
    """When each was used last, its bytes, and itself."""
    for path in entries:
        try:
            size = sum(file.stat().st_size for file in path.iterdir())
            yield path.stat().st_mtime, size, path
        except OSError:
            continue  # removed meanwhile


def read_plain(path: Path) -> str:
    """The text of a file that `put` may have written: a pipe, or a link to a device, might not end."""
    if path.is_symlink() or not path.is_file():
        raise OSError(f"{path}: expected a plain file")
    return path.read_text(encoding="utf-8")


def content_digest(files: Files) -> str:
    return digest_of([part for name in sorted(files) for part in (name, files[name])])


@functools.lru_cache(maxsize=None)
def file_digest(path: str, size: int, modified: int, changed: int) -> str:
    """Kept beside the entries: of a compiler of 200 MB it takes a quarter of a second in each process."""
    note = default_folder() / "compilers" / digest_of([path, str(size), str(modified), str(changed)])
    try:
        digest = read_plain(note)
        if len(digest) == 64 and set(digest) <= set(string.hexdigits):
            return digest
    except (OSError, UnicodeError):
        pass
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    if default_limit() > 0:
        try:
            note.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=note.parent)
            with os.fdopen(handle, "w") as file:
                file.write(digest)
            os.replace(temporary, note)
        except OSError:
            pass  # `put` says that nothing can be kept
    return digest


def compiler_digest(path: str) -> str:
    """Of the compiler's own bytes: another build gives other keys. Archives set the time of modification, and of two builds to the same; that of the change of status they cannot."""
    status = os.stat(path)
    return file_digest(os.path.abspath(path), status.st_size, status.st_mtime_ns, status.st_ctime_ns)
