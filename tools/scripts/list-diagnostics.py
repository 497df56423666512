"""Lists every diagnostic that the compiler and its tools can print, one a line.

`list-diagnostics.py` prints `FILE: MESSAGE`, where `…` stands for what is put in
when the message is made. `--check PAGE` compares with a page of documentation
instead: each message must be in it, as the code at the start of a table row or
of a list item, and each such code must be a message.
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Programs and the libraries behind them. The simulator reports on kernels, in
# docs/Simulator.md; the interpreter's messages are about the test's own inputs.
FOLDERS = ["lib", "tools"]
EXCLUDED = ("lib/Simulator/", "lib/Interpreter/", "lib/Reference/", "tools/attn-sim/")

CALL = re.compile(r"\b(?:emit(?:Op|Optional|Definite)?(?:Error|Warning|Failure)\s*\("
                  r"|Error\s*\{|LaunchStatus\s*\{|LaunchCode::\w+,|(?:fail|reportError)\((?!const |StringRef))")
# The text of emitted headers has messages of its own.
PRELUDE = "lib/Target/Header/Prelude.h"
PRELUDE_CALL = re.compile(r"\b(?<!void )(?:fault|require)\(|(?:return|status =) \{")
LITERAL = re.compile(r'"((?:\\.|[^"\\])*)"')
ENTRY = re.compile(r"^(?:\| |- )`([^`]+)`", re.MULTILINE)


def statement(text, begin):
    """The statement of C++ that `begin` is in, from there on."""
    depth, at, in_string = 0, begin, False
    while at < len(text):
        char = text[at]
        if in_string:
            at += char == "\\"
            in_string = char != '"'
        elif char == '"':
            in_string = True
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        if depth < 0 or (char == ";" and depth == 0 and not in_string):
            break
        at += 1
    return text[begin:at]


def message(code):
    """The text of a diagnostic from its C++, or None if it has none of its own."""
    code = re.sub(r'"\s*\n\s*"', "", code)  # adjacent literals are one
    parts, end = [], 0
    for literal in LITERAL.finditer(code):
        if parts and code[end:literal.start()].strip(" \n") not in ("<<", "+"):
            parts.append("…")
        parts.append(literal[1].replace('\\"', '"').replace("\\n", " "))
        end = literal.end()
    if not parts:
        return None
    rest = code[end:].strip(" \n)}")
    text = "".join(parts) + ("…" if rest.lstrip().startswith(("<<", "+")) else "")
    text = re.sub(r"\s*…\s*", "…", re.sub(r"(…\s*)+", "…", text)).replace("…", " … ")
    return re.sub(r"\s+", " ", text).strip().replace("' … '", "'…'")


def sources():
    """Yields (name, C++ without comments)."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.[ch]*")):
            name = path.relative_to(ROOT).as_posix()
            if (name.endswith(".cpp") or name == PRELUDE) and not name.startswith(EXCLUDED):
                yield name, re.sub(r"^\s*//[^\n]*", "", path.read_text(), flags=re.MULTILINE)


def diagnostics():
    """{message: file}."""
    found = {}
    for name, text in sources():
        for call in (PRELUDE_CALL if name == PRELUDE else CALL).finditer(text):
            text_of = message(statement(text, call.start()))
            if text_of and len(re.sub(r"\W", "", text_of)) > 3:
                found.setdefault(text_of, name)
    return found


def is_in_sources(entry):
    """Whether every part of a message that a search cannot put together is there."""
    literals = " ".join(re.sub(r'"\s*\n\s*"', "", text) for _, text in sources())
    return all(part in literals for part in map(str.strip, re.split("…|'", entry)) if len(part) > 3)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", type=Path, metavar="PAGE")
    page = parser.parse_args().check
    found = diagnostics()
    if not page:
        print("\n".join(f"{name}: {text}" for text, name in sorted(found.items(), key=lambda item: (item[1], item[0]))))
        return 0
    entries = {entry.replace("\\|", "|") for entry in ENTRY.findall(page.read_text())}
    missing = sorted(found.keys() - entries)
    stale = sorted(entry for entry in entries - found.keys() if not is_in_sources(entry))
    for text in missing:
        print(f"{page}: no remedy for `{text}` of {found[text]}")
    for text in stale:
        print(f"{page}: nothing prints `{text}`")
    print(f"{len(found)} diagnostics, {len(missing)} without remedy, {len(stale)} that are none")
    return 1 if missing or stale or not found else 0


if __name__ == "__main__":
    sys.exit(main())
