"""Holds the tree against its budgets (docs/CodingStyle.md).

Prints one line per finding. Warnings do not fail; errors do: a function over
100 lines, a pass that no test runs, a file without its licence line.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILE_LINES = {".cpp": 500, ".h": 500, ".td": 600, ".py": 500, ".mlir": 150}
FUNCTION_LINES, FUNCTION_LINES_MAX, PARAMETERS = 60, 100, 6
SPDX = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"

NOT_A_FUNCTION = re.compile(r"^(if|for|while|switch|do|else|namespace|class|struct|enum|union|extern)\b")
FUNCTION_HEAD = re.compile(r"\)\s*(const|override|noexcept|final|->\s*[\w:<>*& ]+|:[^:].*)*\s*$", re.DOTALL)
SCOPE_HEAD = re.compile(r"\b(namespace|class|struct|union|extern)\b")


def tracked(*suffixes):
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in names.stdout.split("\n") if name.endswith(suffixes)]


def without_comments(text):
    """C++ `text` with comments, strings and preprocessor lines blanked."""
    pattern = r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#[^\n]*'
    return re.sub(pattern, lambda m: "\n" * m[0].count("\n"), text, flags=re.DOTALL | re.MULTILINE)


def count_parameters(head):
    """Those of the function whose `head` is what stands before its body; 0 if it is unclear."""
    depth, count, start = 0, 0, head.find("(")
    for at, char in enumerate(head[start:], start):
        depth += (char in "(<[{") - (char in ")]}" or (char == ">" and head[at - 1] != "-"))
        count += depth == 1 and char == ","
        if depth == 0:
            return count + bool(head[start + 1 : at].strip())
    return 0


def functions(text):
    """Yields (first line, number of lines, number of parameters) of each function body in C++ `text`."""
    code = without_comments(text)
    stack, head_start = [], 0
    for match in re.finditer(r"[{};]", code):
        char, at = match[0], match.start()
        head = code[head_start:at].strip()
        if char == "{":
            at_scope = all(kind == "scope" for kind, *_ in stack)
            if SCOPE_HEAD.search(head) and "(" not in head.split("{")[-1]:
                kind = "scope"
            elif at_scope and FUNCTION_HEAD.search(head) and not NOT_A_FUNCTION.match(head):
                kind = "function"
            else:
                kind = "block"
            first = code.count("\n", 0, at - len(code[head_start:at].lstrip())) + 1
            stack.append((kind, first, count_parameters(head)))
        elif char == "}" and stack:
            kind, first, parameters = stack.pop()
            if kind == "function":
                yield first, code.count("\n", 0, at) + 1 - first + 1, parameters
        if not (char == ";" and code.count("(", head_start, at) > code.count(")", head_start, at)):
            head_start = match.end()


class Findings:
    def __init__(self):
        self.warnings, self.errors = 0, 0

    def warn(self, path, line, message):
        self.warnings += 1
        print(f"{path.relative_to(ROOT)}:{line}: warning: {message}")

    def error(self, path, line, message):
        self.errors += 1
        print(f"{path.relative_to(ROOT)}:{line}: error: {message}")


def check_file_lengths(findings):
    for path in tracked(*FILE_LINES):
        if "test/Models/" in path.as_posix():
            continue  # exported, not written
        lines = path.read_text().count("\n")
        budget = FILE_LINES[path.suffix]
        if lines > budget:
            findings.warn(path, lines, f"{lines} lines, the budget is {budget}")


def check_sources(findings):
    code_lines = comment_lines = 0
    for path in tracked(".cpp", ".h", ".td"):
        text = path.read_text()
        if SPDX not in text:
            findings.error(path, 1, f"expected the line '{SPDX}' in the head")
        if path.suffix == ".td":
            continue
        lines = [line.strip() for line in text.split("\n") if line.strip()]
        code_lines += len(lines)
        comment_lines += sum(line.startswith(("//", "/*", "*")) for line in lines)
        for first, length, parameters in functions(text):
            if parameters > PARAMETERS:
                findings.warn(path, first, f"function of {parameters} parameters, the budget is {PARAMETERS}")
            if length > FUNCTION_LINES_MAX:
                findings.error(path, first, f"function of {length} lines, at most {FUNCTION_LINES_MAX}")
            elif length > FUNCTION_LINES:
                findings.warn(path, first, f"function of {length} lines, the budget is {FUNCTION_LINES}")
    print(f"comment lines: {100 * comment_lines / code_lines:.0f}% (budget 12-20%)")


def check_passes(findings, tests):
    for path in tracked("Passes.td"):
        text = path.read_text()
        for match in re.finditer(r'def (\w+)\s*:\s*Pass<"([\w-]+)"(.*?)\n}', text, re.DOTALL):
            line = text.count("\n", 0, match.start()) + 1
            name, flag, body = match.groups()
            for field in ("let summary", "let description", "Requires:", "Ensures:", "Example"):
                if field not in body:
                    findings.warn(path, line, f"pass {flag} is documented without '{field}'")
            if not re.search(rf"(?:^|[\s,({{\"']|--?){flag}(?![\w-])", tests):
                findings.error(path, line, f"no test runs {flag}")


def check_diagnostics(findings, tests):
    """Style of messages, and how many a test expects."""
    sites = 0
    pattern = re.compile(r'emit(?:Op|Optional)?Error\([^;]*?"((?:\\.|[^"\\])*)"', re.DOTALL)
    for path in tracked(".cpp"):
        if "lib" not in path.relative_to(ROOT).parts[:1]:
            continue
        text = path.read_text()
        for match in pattern.finditer(text):
            sites += 1
            message, line = match[1], text.count("\n", 0, match.start()) + 1
            if message[:1].isupper() and not message[:2].isupper() or message.endswith("."):
                findings.warn(path, line, f"message '{message[:40]}': lower case, no final period")
    expected = tests.count("expected-error") + len(re.findall(r"\berror: ", tests))
    print(f"errors expected by tests: {expected} for {sites} places that emit one")


def main():
    findings = Findings()
    tests = "\n".join(path.read_text() for path in tracked(".mlir", ".test") if "test/Models/" not in path.as_posix())
    check_file_lengths(findings)
    check_sources(findings)
    check_passes(findings, tests)
    check_diagnostics(findings, tests)
    print(f"{findings.warnings} warnings, {findings.errors} errors")
    return 1 if findings.errors else 0


if __name__ == "__main__":
    sys.exit(main())
