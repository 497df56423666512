"""Runs edited copies of a kernel in attn-sim: every edit must be caught.

    mutate.py NAME.ptx --edits EDITS.json --input q.npy ... [--manifest NAME.json]
              [--seeds 10] [--skip-checks LIST] [--attn-sim PATH]

EDITS.json is a list of {"name", "find", "replace", "which"}: `find` is a regular
expression over the PTX text, `replace` what each match becomes (groups as in
re.sub), `which` the index of the one match to edit, or "all" (the default).

First the unedited kernel must be clean, with equal outputs, under every schedule
seed. Then each mutant is run until a check, a rejection of the text, or
different outputs catch it. Outputs are compared bit by bit with the unedited
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
    parser.add_argument("--edits", required=True)
    parser.add_argument("--input", action="append", default=[])
    parser.add_argument("--seeds", type=int, default=10)
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
        manifest = json.load(open(arguments.manifest))
        self.outputs = [
            os.path.join(folder, "%d.npy" % i)
            for i, operand in enumerate(manifest["operands"])
            if operand["role"] != "input"
        ]

    def run(self, text, seed):
        """Returns (exit status, first line of the diagnostics, outputs)."""
        path = os.path.join(self.folder, "mutant.ptx")
        with open(path, "w") as out:
            out.write(text)
        command = [self.arguments.attn_sim, path, "--manifest", self.arguments.manifest, "--check"]
        command += ["--max-instructions", str(self.arguments.max_instructions)]
        command += ["--seed", str(seed), "--slice", str(20 + 13 * seed)]
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


def apply(edit, text):
    """The edited text; fails if the edit changes nothing."""
    which = edit.get("which", "all")
    if which == "all":
        mutant = re.sub(edit["find"], edit["replace"], text)
    else:
        matches = list(re.finditer(edit["find"], text))
        if which >= len(matches):
            sys.exit("mutate.py: '%s' has %d matches" % (edit["name"], len(matches)))
        match = matches[which]
        mutant = text[: match.start()] + match.expand(edit["replace"]) + text[match.end() :]
    if mutant == text:
        sys.exit("mutate.py: '%s' changes nothing" % edit["name"])
    return mutant


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
    edits = json.load(open(arguments.edits))
    with tempfile.TemporaryDirectory() as folder:
        simulator = Simulator(arguments, folder)
        expected = check_baseline(simulator, text, arguments.seeds)
        survivors = 0
        for edit in edits:
            verdict = judge(simulator, apply(edit, text), expected, arguments.seeds)
            survivors += verdict is None or verdict.startswith("CRASH")
            print("%-40s %s" % (edit["name"], verdict or "SURVIVED"))
    print("%d mutants, %d survived" % (len(edits), survivors))
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
