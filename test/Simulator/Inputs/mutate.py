"""Runs edited copies of a kernel in attn-sim: every edit must be caught.

    mutate.py NAME.ptx --edits EDITS.json ... --input q.npy ... [--manifest NAME.json]
              [--seeds 10] [--at-least N] [--sample N] [--skip-checks LIST] [--attn-sim PATH]

EDITS.json is a list of {"name", "find", "replace", "which", "expect"}:

find      a regular expression over the PTX text; REG stands for a register
replace   what a match becomes (groups as in re.sub); <8-1> is computed
which     the match to edit, counted from the end if negative; "each" makes a
          mutant of every match, "all" (the default) edits them all in one
expect    a regular expression that the verdict must match (optional)
harmless  the numbers of "each" whose mutants leave the kernel correct, and why: {"7": "..."} (optional); these must survive

Only matches on lines that the unedited kernel executes with these inputs count;
an edit without one fails the run, so that edits follow the compiler.

First the unedited kernel must be clean, with equal outputs, under every schedule
seed. Then each mutant is run until a check, a rejection of the text, or
different outputs catch it; with --sample N the first of each edit, and each
N-th of all. Outputs are compared bit by bit with the unedited
kernel's. Prints one line per mutant; the exit status is 1 if one survives.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ptx")
    parser.add_argument("--manifest")
    parser.add_argument("--edits", action="append", required=True)
    parser.add_argument("--input", action="append", default=[])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--at-least", type=int, default=1, help="how many mutants there must be")
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--skip-checks", default="")
    parser.add_argument("--max-instructions", type=int, default=20_000_000)
    parser.add_argument("--attn-sim", default="attn-sim")
    arguments = parser.parse_args()
    if arguments.manifest is None:
        arguments.manifest = os.path.splitext(arguments.ptx)[0] + ".json"
    return arguments


class Simulator:
    """attn-sim with fixed inputs, in a temporary folder."""

    def __init__(self, arguments, folder):
        self.arguments = arguments
        self.folder = folder
        self.checks = ["--check"]
        manifest = json.load(open(arguments.manifest))
        self.manifest = self.write_manifest(manifest)
        self.outputs = [
            os.path.join(folder, "%d.npy" % i)
            for i, operand in enumerate(manifest["operands"])
            if operand["role"] != "input"
        ]

    def executed_lines(self, text):
        """The numbers of the lines that are executed, from 1."""
        report = os.path.join(self.folder, "report.json")
        self.run(text, 0, ["--profile", "--report", report])
        kernels = json.load(open(report))["kernels"]
        return {line for kernel in kernels for line, _, _ in kernel["counters"]["lines"]}

    def write_manifest(self, manifest):
        """A copy of the manifest that takes any PTX."""
        manifest.pop("ptx_digest", None)
        path = os.path.join(self.folder, "mutant.json")
        with open(path, "w") as out:
            json.dump(manifest, out)
        return path

    def run(self, text, seed, flags=[]):
        """Returns (exit status, first line of the diagnostics, outputs)."""
        path = os.path.join(self.folder, "mutant.ptx")
        with open(path, "w") as out:
            out.write(text)
        command = [self.arguments.attn_sim, path, "--manifest", self.manifest, *self.checks]
        command += ["--max-instructions", str(self.arguments.max_instructions)]
        command += ["--seed", str(seed), "--slice", str(20 + 13 * seed)]
        command += flags
        if self.arguments.skip_checks:
            command += ["--no-check", self.arguments.skip_checks]
        for name in self.arguments.input:
            command += ["--input", name]
        for name in self.outputs:
            command += ["--output", name]
        result = subprocess.run(command, capture_output=True, text=True)
        message = (result.stderr.splitlines() or [""])[0].replace(self.folder + "/", "")
        if result.returncode:
            return result.returncode, message, None
        return 0, message, [open(name, "rb").read() for name in self.outputs]


def add_constants(match):
    return str(int(match[1]) + int(match[2]))


def edit_matches(edit, text, matches):
    """The text with these matches edited, which must change it."""
    mutant, end = "", 0
    for match in matches:
        replacement = re.sub(r"<(\d+)([+-]\d+)>", add_constants, match.expand(edit["replace"]))
        mutant += text[end : match.start()] + replacement
        end = match.end()
    mutant += text[end:]
    if mutant == text:
        sys.exit("mutate.py: '%s' changes nothing" % edit["name"])
    return mutant


def make_mutants(edit, text, executed):
    """The (name, text) of each mutant; fails if there is nothing to edit."""
    line_of = lambda position: 1 + text.count("\n", 0, position)
    is_live = lambda m: any(line in executed for line in range(line_of(m.start()), line_of(m.end()) + 1))
    pattern = re.compile(edit["find"].replace("REG", r"%[\w.]+"))
    matches = [match for match in pattern.finditer(text) if is_live(match)]
    which = edit.get("which", "all")
    if not matches or isinstance(which, int) and not -len(matches) <= which < len(matches):
        sys.exit("mutate.py: '%s' has %d executed matches" % (edit["name"], len(matches)))
    if which == "each":
        return [("%s #%d" % (edit["name"], i), edit_matches(edit, text, [m])) for i, m in enumerate(matches)]
    return [(edit["name"], edit_matches(edit, text, matches if which == "all" else [matches[which]]))]


def check_baseline(simulator, text, seeds):
    """The outputs of the unedited kernel, which no schedule may change."""
    outputs = None
    for seed in range(seeds):
        status, message, result = simulator.run(text, seed)
        if status:
            sys.exit("mutate.py: the unedited kernel fails with seed %d: %s" % (seed, message))
        if outputs is not None and result != outputs:
            sys.exit("mutate.py: the unedited kernel's outputs depend on the schedule (seed %d)" % seed)
        outputs = result
    return outputs


def judge(simulator, text, expected, seeds):
    """How a mutant is caught, or None."""
    for seed in range(seeds):
        status, message, result = simulator.run(text, seed)
        if status < 0:
            return "CRASH (signal %d)" % -status
        if status:
            return message
        if result != expected:
            return "different outputs (seed %d)" % seed
    return None


def main():
    arguments = parse_arguments()
    text = open(arguments.ptx).read()
    edits = [edit for name in arguments.edits for edit in json.load(open(name))]
    count = faults = 0
    with tempfile.TemporaryDirectory() as folder:
        simulator = Simulator(arguments, folder)
        expected = check_baseline(simulator, text, arguments.seeds)
        executed = simulator.executed_lines(text)
        for edit in edits:
            harmless = edit.get("harmless", {})
            for number, (name, mutant) in enumerate(make_mutants(edit, text, executed)):
                count += 1
                if number and count % arguments.sample:
                    continue
                verdict = judge(simulator, mutant, expected, arguments.seeds) or "SURVIVED"
                if str(number) in harmless:
                    good = verdict == "SURVIVED"
                else:
                    good = not re.match("SURVIVED|CRASH", verdict) and re.search(edit.get("expect", ""), verdict)
                faults += not good
                print("%-40s %s%s" % (name, "" if good else "UNEXPECTED: ", verdict))
    part = " (each %d-th run)" % arguments.sample if arguments.sample > 1 else ""
    print("%d mutants%s, %d not caught as expected" % (count, part, faults))
    return 1 if faults or count < arguments.at_least else 0


if __name__ == "__main__":
    sys.exit(main())
