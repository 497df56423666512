"""Follows a tutorial word by word.

`run-tutorial.py PAGE --source DIR --build DIR --home DIR [--files DIR...]`

The page is followed in one shell session, in a home directory made anew that holds
`attn-mlir`: the source tree, built in `attn-mlir/build`. In it,

* a block ```LANGUAGE NAME is written to the file NAME;
* in a block ```console, each line `$ COMMAND` is run, and what follows must be
  its output, where `...` stands for any text; a command must succeed, unless
  `error:` is in what it prints;
* a block without a language is a figure;
* every other block is a fault: nothing in a tutorial goes unchecked.

`--path DIR` is for pages that take the tools to be on PATH from the start.

With `--files`, the page must show each file that is in these folders, word by word.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

FENCE = re.compile(r"^```(\w*)(?: +(\S+))?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# What one command leaves behind for the next: variables and the folder.
SESSION = """
[ -f "$HOME/.session" ] && . "$HOME/.session"
@COMMAND@
code=$?
{ export -p; echo "cd '$PWD'"; } > "$HOME/.session"
exit $code
"""


def matches(expected, actual):
    parts = (re.escape(part.strip("\n")) for part in expected.strip("\n").split("..."))
    return re.fullmatch(".*".join(parts), actual.strip("\n"), re.DOTALL)


def make_home(home, source, build):
    """A clone as the page takes it to be, made of links."""
    clone = home / "attn-mlir"
    clone.mkdir()
    for entry in source.iterdir():
        if not entry.name.startswith((".", "build")):
            (clone / entry.name).symlink_to(entry)
    (clone / "build").symlink_to(build)


def run_console(block, environment):
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, expected = re.match(r"((?:[^\n]*\\\n)*[^\n]*)\n?(.*)", part, re.DOTALL).groups()
        script = SESSION.replace("@COMMAND@", command)
        result = subprocess.run(["bash", "-c", script], cwd=environment["HOME"], env=environment, text=True,
                                timeout=300, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        fails = "error:" in expected
        if (result.returncode != 0) != fails:
            return f"$ {command}\nends with code {result.returncode}:\n{result.stdout}"
        # A command without output shown may print what it likes.
        if expected.strip() and not matches(expected, result.stdout):
            return f"$ {command}\nexpected:\n{expected}\ngot:\n{result.stdout}"
    return None


def run_block(language, name, content, environment):
    if language == "console":
        return run_console(content, environment)
    if not language:
        return None
    if not name:
        return f"expected a file name after ```{language}, or a console"
    session = Path(environment["HOME"], ".session")
    folder = re.search(r"^cd '(.*)'$", session.read_text(), re.MULTILINE)[1] if session.exists() else environment["HOME"]
    Path(folder, name).write_text(content)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--files", type=Path, nargs="+", default=[])
    parser.add_argument("--path", default="")
    arguments = parser.parse_args()

    text = arguments.page.read_text()
    count, shown = 0, set()
    home = arguments.home.resolve()
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    make_home(home, arguments.source.resolve(), arguments.build.resolve())
    # A newcomer's shell, not the test's: PATH is what the page makes it.
    path = f"{arguments.path}:/usr/local/bin:/usr/bin:/bin".lstrip(":")
    environment = {"HOME": str(home), "PATH": path, "LANG": "C.UTF-8"}
    for name in ("CMAKE_CXX_COMPILER_LAUNCHER", "CCACHE_DIR"):
        if name in os.environ:
            environment[name] = os.environ[name]
    for block in FENCE.finditer(text):
        count += 1
        shown.add((block[2], block[3]))
        if fault := run_block(*block.groups(), environment):
            line = text.count("\n", 0, block.start()) + 1
            print(f"{arguments.page}:{line}: {fault}")
            return 1
    files = [path for folder in arguments.files for path in folder.iterdir()]
    missing = [path for path in files if (path.name, path.read_text()) not in shown]
    for path in missing:
        print(f"{arguments.page}: expected {path} as it is")
    print(f"{count} blocks followed")
    return 1 if missing or not count else 0


if __name__ == "__main__":
    sys.exit(main())
