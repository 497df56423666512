"""Runs the examples of the documentation.

`run-examples.py [--sh] FILE.md...`

An ```mlir block is parsed and verified by attn-opt; `// attn-opt FLAGS` as its
first line adds passes. Values that it uses without defining them are taken as
given: they get the type that the example itself uses them with. A block that
leaves something out (`...`) is prose and only counted.

In a ```console block, each line `$ COMMAND` is run in a fresh folder, and what
follows must be its output, where `...` stands for any text. The folder has the
files of the page: blocks ```LANGUAGE NAME.

With `--sh`, every line of a ```sh block must be a command that continuous
integration runs anyway, to build the tree and to run this.
"""

import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

FENCE = re.compile(r"^( *)```(mlir|console|sh)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
NAMED = re.compile(r"^```\w+ +(\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
VALUE = re.compile(r"%[A-Za-z_][\w$.-]*")
PREVIOUS_USE = re.compile(r"definition of SSA value '(%[^']+)#0' has type 'none'.*?"
                          r"previously used here with type '([^\n]+)'\n", re.DOTALL)


def attn_opt(text, flags):
    command = ["attn-opt", "--allow-unregistered-dialect", "-", *flags]
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=600)


def defined_values(code):
    """Names that the example defines: results, block and region arguments."""
    names = set()
    for match in re.finditer(r"^\s*(%[^=\n]*?)\s*=\s*[\w\"]", code, re.MULTILINE):
        names.update(VALUE.findall(match[1]))
    # `(%x: f32, %i: index)`, `iter_args(%a = ...)`, `for %i = ...`, `(%b) = (...)`
    names.update(re.findall(r"(%[A-Za-z_][\w$.-]*): [\w!]", code))
    names.update(re.findall(r"(%[A-Za-z_][\w$.-]*)\s*=", code))
    for group in re.findall(r"\(([^()]*)\)\s*=\s*\(|\(([^()]*)\) in \(", code):
        names.update(VALUE.findall("".join(group)))
    return names


def run_mlir(code):
    """None if attn-opt accepts the example, else what it says.

    A line `// becomes` stands between two examples."""
    parts = re.split(r"^ *// becomes.*\n", code, flags=re.MULTILINE)
    return next(filter(None, map(run_mlir_part, parts)), None)


def run_mlir_part(code):
    first = code.split("\n", 1)[0]
    flags = shlex.split(first[len("// attn-opt"):]) if first.startswith("// attn-opt") else []
    if "func.func" in code or re.search(r"(?<!%)\bmodule\b", code):
        result = attn_opt(code, flags)
        return None if result.returncode == 0 else result.stderr
    if code.startswith("#"):
        code = f'"doc.given"() {{attribute = {code}}} : () -> ()'
    # A module's body is a graph region, where definitions may follow uses.
    types = {name: "none" for name in sorted(set(VALUE.findall(code)) - defined_values(code))}
    for _ in range(len(types) + 1):
        given = [f'{name} = "doc.given"() : () -> {type}' for name, type in types.items()]
        result = attn_opt("module {\n" + code + "\n" + "\n".join(given) + "\n}\n", flags)
        if result.returncode == 0:
            return None
        use = PREVIOUS_USE.search(result.stderr)
        if not use:
            return result.stderr
        types[use[1]] = use[2]
    return result.stderr


def matches(expected, actual):
    pattern = ".*".join(re.escape(part.strip("\n")) for part in re.split(r"\.\.\.", expected.strip("\n")))
    return re.fullmatch(pattern, actual.strip("\n"), re.DOTALL)


# What tools/check.sh does: one way or another, it has run before this.
RUN_BY_CI = {
    "tools/demo.sh",
    "tools/check.sh",
    "cmake -G Ninja -S . -B build -DMLIR_DIR=/path/to/llvm-22/lib/cmake/mlir",
    "ninja -C build",
    "ninja -C build check",
}


def check_sh(block):
    """None if continuous integration runs every command, else the first that it does not."""
    commands = (line.split(" # ")[0].strip() for line in block.split("\n"))
    return next((f"expected ```console, got ```sh with `{command}`, which nothing runs"
                 for command in commands if command and command not in RUN_BY_CI), None)


def run_console(block, root, files):
    """None if every command prints what the block shows, else the difference."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files:
            Path(folder, name).write_text(content)
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, expected = re.match(r"((?:[^\n]*\\\n)*[^\n]*)\n?(.*)", part, re.DOTALL).groups()
            for name in ("test",):
                link = Path(folder, name)
                if not link.exists():
                    link.symlink_to(root / name)
            result = subprocess.run(["bash", "-c", command], cwd=folder, timeout=600,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            # What a busy machine says of its progress is in no document.
            output = re.sub(r"\r[^\n]*\n?", "", result.stdout.decode())
            if result.returncode != 0:
                return f"$ {command}\nfails with code {result.returncode}:\n{output}"
            if not matches(expected, output):
                return f"$ {command}\nexpected:\n{expected}\ngot:\n{output}"
    return None


def run(language, code, root, files):
    if language == "sh":
        return check_sh(code)
    return run_mlir(code) if language == "mlir" else run_console(code, root, files)


def main(arguments):
    root = Path(__file__).resolve().parents[2]
    has_sh = "--sh" in arguments
    ran = skipped = failed = 0
    for path in (argument for argument in arguments if argument != "--sh"):
        text = Path(path).read_text()
        files = NAMED.findall(text)
        for block in FENCE.finditer(text):
            indent, language, code = block.groups()
            code = "\n".join(line.removeprefix(indent) for line in code.split("\n"))
            if language == "mlir" and "..." in code:
                skipped += 1
                continue
            if language == "sh" and not has_sh:
                continue
            fault = run(language, code, root, files)
            ran += 1
            if fault:
                failed += 1
                print(f"{path}:{text.count(chr(10), 0, block.start()) + 1}: {fault}")
    print(f"{ran} examples run, {failed} failed, {skipped} with parts left out")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
