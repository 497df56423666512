"""Mutants of the barrier protocols of emitted kernels, each of which --attn-tile-prove-barriers must refuse.

usage: barrier-mutants.py FILE [SCHEDULE [TARGET [EACH]]]: compiles FILE for TARGET (sm_90a) up to the last tile form, proves it, and then each copy of it with one
barrier operation left out, one parity flipped, one count off by one, or one arrival moved in front of the wait for the products
before it; with EACH every EACH-th of these. Prints what was not refused, with the line; SAFE mutants are those that leave the protocol right.
"""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

PROVE = "--pass-pipeline=builtin.module(attn_tile.kernel(attn-tile-prove-barriers))"
BARRIER_OPS = r"attn_tile\.(mbarrier_wait|mbarrier_arrive|take_turn|pass_turn|cluster_barrier|copy_tma|copy_bulk|commit_tensors|wait_stores)\b"


def get_tile_form(path, schedule, target):
    pipeline = f"--attn-pipeline=target={target} schedule='{schedule}'"
    command = ["attn-opt", path, pipeline, "--mlir-print-ir-before=convert-attn-tile-to-nvvm", "-o", "/dev/null"]
    text = subprocess.run(command, capture_output=True, text=True).stderr
    return text[text.index("module attributes") :]


def prove(text):
    """The first error, or ""."""
    result = subprocess.run(["attn-opt", "-", PROVE, "-o", "/dev/null"], input=text, capture_output=True, text=True, timeout=100)
    if result.returncode == 0:
        return ""
    return result.stderr.splitlines()[0].partition("error: ")[2] or f"ended with {result.returncode}"


def get_mutants(lines):
    """(what is done, line, the lines)."""
    for i, line in enumerate(lines):
        found = re.search(BARRIER_OPS, line)
        if found and "init" not in line:
            yield f"without {found[1]}", i, lines[:i] + lines[i + 1 :]
        if wait := re.match(r"(\s*)attn_tile.mbarrier_wait (\S+)\[(\S+)\], (\S+)( .*)", line):
            indent, barrier, stage, parity, rest = wait.groups()
            flip = [f"{indent}%one_{i} = arith.constant 1 : index", f"{indent}%flip_{i} = arith.xori {parity}, %one_{i} : index"]
            yield "parity flipped", i, [*lines[:i], *flip, f"{indent}attn_tile.mbarrier_wait {barrier}[{stage}], %flip_{i}{rest}", *lines[i + 1 :]]
        if "attn_tile.mbarrier_arrive" in line:
            before = max((k for k in range(i) if "attn_tile.mma_wait" in lines[k]), default=None)
            if before is not None and not any("scf." in l or "}" in l for l in lines[before:i]):
                yield "arrival before the wait for products", i, lines[:before] + [line] + lines[before:i] + lines[i + 1 :]
        if "attn_tile.alloc_mbarrier" in line:
            name, count = re.match(r"\s*(\S+) =", line)[1], int(re.search(r"arrivals = (\d+)", line)[1])
            for change in (1, -1):
                if count + change > 0:
                    first, end = get_kernel(lines, i)
                    counted = recount(lines[first:end], name, re.search(r"<(\d+), arrivals", line)[1], count, count + change)
                    yield f"count {count + change}", i, lines[:first] + counted + lines[end:]


def get_kernel(lines, i):
    """Where the kernel of a line begins and ends: another one has values of the same names."""
    starts = [k for k, line in enumerate(lines) if "attn_tile.kernel" in line]
    return max(k for k in starts if k < i), min([k for k in starts if k > i], default=len(lines))


def recount(lines, name, stages, old, new):
    """The barrier `name` has another count, wherever its type is given."""
    before, after = f"<{stages}, arrivals = {old}>", f"<{stages}, arrivals = {new}>"
    changed = []
    for line in lines:
        if "attn_tile.init_mbarriers" in line:
            names, _, types = line.partition(" : ")
            position = re.findall(r"%\d+", names).index(name)
            parts = types.split("!attn_tile.mbarrier")
            parts[position + 1] = parts[position + 1].replace(before, after)
            line = names + " : " + "!attn_tile.mbarrier".join(parts)
        elif re.search(rf"{name}(?![\d#])", line):
            line = line[::-1].replace(before[::-1], after[::-1], 1)[::-1]
        changed.append(line)
    return changed


def main():
    path, schedule, target, each = (sys.argv[1:] + ["", "sm_90a", "1"][len(sys.argv) - 2 :])[:4]
    text = get_tile_form(path, schedule, target)
    error = prove(text)
    if error:
        sys.exit(f"the kernel is not proven: {error}")
    lines = text.split("\n")
    mutants = list(get_mutants(lines))[:: int(each)]
    with ThreadPoolExecutor(2) as executor:
        errors = list(executor.map(lambda mutant: prove("\n".join(mutant[2])), mutants))
    refused = sum(bool(error) for error in errors)
    for (what, i, _), error in zip(mutants, errors):
        if not error:
            print(f"not refused: {what}: {lines[i].strip()[:100]}")
    kinds = sorted({re.sub(r"\d+.*", "", error.split(":")[0]) for error in errors if error})
    print("refused as: " + "; ".join(kinds))
    print(f"{refused} of {len(mutants)} refused")


if __name__ == "__main__":
    main()
