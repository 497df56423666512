#!/usr/bin/env python3
"""Copies programs and the shared libraries they need into a folder that works wherever it lies.

    bundle-programs.py FOLDER --patchelf PATCHELF PROGRAM...

FOLDER/bin gets the programs, FOLDER/lib those that are libraries and all that they need but glibc's, which every system has; they find each other
relative to themselves; FOLDER/licenses the notices of their packages. Prints the wheel's platform tag, which names the oldest glibc that has all the symbols they use.
"""

import argparse
import re
import shutil
import subprocess
from pathlib import Path

#: Parts of glibc: from the system that the wheel runs on.
GLIBC = re.compile(r"(linux-vdso|ld-linux-x86-64|libc|libm|libdl|libpthread|librt|libutil|libresolv)\.so\b")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def libraries(program):
    """name -> path of what the program loads."""
    found = {}
    for name, path in re.findall(r"^\s*(\S+) => (\S+)", output_of("ldd", program), re.MULTILINE):
        if not GLIBC.match(name):
            if path == "not":
                raise SystemExit(f"error: {program}: {name} not found")
            found[name] = path
    return found


def glibc_of(path):
    """The newest version of glibc that a file asks for."""
    versions = re.findall(r"\bGLIBC_(\d+)\.(\d+)", output_of("objdump", "-T", path))
    return max(((int(major), int(minor)) for major, minor in versions), default=(2, 17))


def soname_of(path):
    """The name by which others load a library; "" of a program."""
    return "".join(re.findall(r"^\s*SONAME\s+(\S+)", output_of("objdump", "-p", path), re.MULTILINE))


def copy_license(library, folder):
    """The copyright file of the Debian package that a library is of."""
    path = str(library.resolve())
    # A package may know the file by its place before /lib moved into /usr.
    owner = subprocess.run(["dpkg", "-S", path, path.removeprefix("/usr")], capture_output=True, text=True).stdout
    package = owner.partition(":")[0]
    notice = Path("/usr/share/doc", package, "copyright")
    if not package or not notice.exists():
        raise SystemExit(f"error: {library}: expected the copyright file of its package, got none")
    folder.mkdir(exist_ok=True)
    shutil.copy(notice, folder / f"{package}.txt")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--patchelf", required=True)
    a = parser.parse_args()
    needed = {}
    for program in a.programs:
        needed.update(libraries(program))
    own = {Path(program).resolve().parent for program in a.programs}
    needed = {name: path for name, path in needed.items() if Path(path).resolve().parent not in own}
    files = []
    for name in a.programs:
        path = Path(name).resolve()  # of a library, not one of the links to it
        soname = soname_of(path)
        target = a.folder / "lib" / soname if soname else a.folder / "bin" / path.name
        files.append((path, target, "$ORIGIN" if soname else "$ORIGIN/../lib"))
    files += [(Path(path), a.folder / "lib" / name, "$ORIGIN") for name, path in sorted(needed.items())]
    for source, target, search in files:
        target.parent.mkdir(exist_ok=True)
        shutil.copy(source.resolve(), target)
        target.chmod(0o755)
        subprocess.run(["strip", "--strip-unneeded", target], check=True)
        subprocess.run([a.patchelf, "--set-rpath", search, target], check=True)
    for path in needed.values():
        copy_license(Path(path), a.folder / "licenses")
    major, minor = max(glibc_of(target) for _, target, _ in files)
    print(f"manylinux_{major}_{minor}_x86_64")


if __name__ == "__main__":
    main()
