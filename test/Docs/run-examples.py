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

import bisect
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

FENCE = re.compile(r"^( *)```(mlir|console|sh)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
NAMED = re.compile(r"^```\w+ +(\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINE = re.compile(r"^<stdin>:(\d+):")
VALUE = re.compile(r"%[A-Za-z_][\w$.-]*")
PREVIOUS_USE = re.compile(r"definition of SSA value '(%[^']+)#0' has type 'none'.*?"
                          r"previously used here with type '([^\n]+)'\n", re.DOTALL)


def attn_opt(texts, flags):
    """What attn-opt says of each text, None of those that it accepts. One process for all: most of its time is the start."""
    command = ["attn-opt", "--allow-unregistered-dialect", "-", "--split-input-file", *flags]
    result = subprocess.run(command, input="\n// -----\n".join(texts), capture_output=True, text=True, timeout=600)
    # Each alone where a crash, or an error without a line, is one text's.
    if result.returncode not in (0, 1) or re.search(r"^(?!<stdin>:\d+:)\S*error:", result.stderr, re.MULTILINE):
        return [result.stderr or "a crash"] if len(texts) == 1 else [attn_opt([text], flags)[0] for text in texts]
    firsts, said = [1], [""] * len(texts)
    for text in texts:
        firsts.append(firsts[-1] + text.count("\n") + 2)
    for part in re.split(r"^(?=<stdin>:\d+:)", result.stderr, flags=re.MULTILINE):
        if match := LINE.match(part):
            n = bisect.bisect(firsts, int(match[1])) - 1
            said[n] += LINE.sub(f"<stdin>:{int(match[1]) - firsts[n] + 1}:", part)
    said = [part if "error: " in part else None for part in said]
    if result.returncode != 0 and not any(said):
        return [result.stderr or "it fails"] * len(texts)
    return said


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


def faults_of(examples):
    """Of each MLIR example None if attn-opt accepts it, else what it says. A line `// becomes` stands between two."""
    parts = [(n, tries(part)) for n, code in enumerate(examples) for part in re.split(r"^ *// becomes.*\n", code, flags=re.MULTILINE)]
    faults, waiting = [None] * len(examples), [(n, part, next(part)) for n, part in parts]
    while waiting:
        flags = waiting[0][2][1]
        together = [entry for entry in waiting if entry[2][1] == flags]
        waiting = [entry for entry in waiting if entry[2][1] != flags]
        for (n, part, _), said in zip(together, attn_opt([text for _, _, (text, _) in together], flags)):
            try:
                waiting.append((n, part, part.send(said)))
            except StopIteration as end:
                faults[n] = faults[n] or end.value
    return faults


def tries(code):
    """Yields (text, flags) for attn-opt, is sent what it says, and returns the last of that."""
    first = code.split("\n", 1)[0]
    flags = shlex.split(first[len("// attn-opt"):]) if first.startswith("// attn-opt") else []
    if "func.func" in code or re.search(r"(?<!%)\bmodule\b", code):
        return (yield code, flags)
    if code.startswith("#"):
        code = f'"doc.given"() {{attribute = {code}}} : () -> ()'
    # A module's body is a graph region, where definitions may follow uses.
    types = {name: "none" for name in sorted(set(VALUE.findall(code)) - defined_values(code))}
    for _ in range(len(types) + 1):
        given = [f'{name} = "doc.given"() : () -> {type}' for name, type in types.items()]
        said = yield "module {\n" + code + "\n" + "\n".join(given) + "\n}\n", flags
        use = said and PREVIOUS_USE.search(said)
        if not use:
            return said
        types[use[1]] = use[2]
    return said


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


def main(arguments):
    root = Path(__file__).resolve().parents[2]
    has_sh = "--sh" in arguments
    found, skipped, failed = [], 0, 0
    for path in (argument for argument in arguments if argument != "--sh"):
        text = Path(path).read_text()
        files = NAMED.findall(text)
        for block in FENCE.finditer(text):
            indent, language, code = block.groups()
            code = "\n".join(line.removeprefix(indent) for line in code.split("\n"))
            if language == "mlir" and "..." in code:
                skipped += 1
            elif language != "sh" or has_sh:
                found.append((f"{path}:{text.count(chr(10), 0, block.start()) + 1}", language, code, files))
    of_mlir = iter(faults_of([code for _, language, code, _ in found if language == "mlir"]))
    for place, language, code, files in found:
        fault = next(of_mlir) if language == "mlir" else check_sh(code) if language == "sh" else run_console(code, root, files)
        if fault:
            failed += 1
            print(f"{place}: {fault}")
    ran = len(found)
    print(f"{ran} examples run, {failed} failed, {skipped} with parts left out")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
