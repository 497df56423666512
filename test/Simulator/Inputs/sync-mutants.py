"""Weakens every synchronising instruction of emitted kernels, one at a time.

    sync-mutants.py [--sample N] [--kernel NAME] [--attn-opt PATH] [--attn-sim PATH]

sync-edits.json has the edits; GUARD stands for an optional guard predicate. Each
mutant runs once, under one schedule, with the checks that are on by default. A
finding or a rejection of the text counts, different outputs do not. What is not
found must be in HARMLESS, which says how many mutants of a kernel and an edit
leave it correct in every schedule, and why; without sampling it must be exact.
`--sample N` runs every N-th mutant. The exit status is 1 if anything differs.
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

import mutate

HERE = os.path.dirname(os.path.abspath(__file__))

# How the inputs of a kernel are made: dtype, shape.
FORWARD = [("f16", "1x2x200x64"), ("f16", "1x1x200x64"), ("f16", "1x1x200x64")]
BACKWARD = [("f16", "1x2x300x64"), ("f16", "1x1x300x64"), ("f16", "1x1x300x64")]
BACKWARD += [("f16", "1x2x300x64"), ("f16", "1x2x300x64"), ("f32", "1x2x300")]
FUSED = [("f16", "1x2x300x128"), ("f16", "1x1x256x128"), ("f16", "1x1x256x128")]
FUSED += [("f16", "1x2x300x128"), ("f16", "1x2x300x128"), ("f32", "1x2x300")]
SM80 = [("f16", "1x4x150x64"), ("f16", "1x2x141x64"), ("f16", "1x2x141x64")]
TABLES = [("f32", "200x32")] * 2
# Queries turn in their tile.
TURNED = [("tensor<1x1x?x64xf16>)", "tensor<1x1x?x64xf16>, %cos: tensor<?x32xf32>, %sin: tensor<?x32xf32>)"),
          ("%o, %lse = attn.attention %q,",
           "%t = attn.rotary %q, %cos, %sin halves : tensor<1x2x?x64xf16>, tensor<?x32xf32>\n  %o, %lse = attn.attention %t,")]

# Name: module, edits of its text, flags of attn-opt, inputs.
KERNELS = {
    "persistent": ("hopper.mlir", [], ["--target=sm_90a"], FORWARD),
    "causal": (
        "hopper.mlir",
        [("persistent_ctas = 1, ", ""), ('turns = "products", ', ""),
         ("%v {", "%v mask_mod causal(top_left) {")],
        ["--target=sm_90a"],
        FORWARD,
    ),
    "cluster": (
        "hopper.mlir",
        [("persistent_ctas = 1, ", ""), ("cluster_m = 1", "cluster_m = 2")],
        ["--target=sm_90a"],
        FORWARD,
    ),
    "rotary": (
        "hopper.mlir",
        [*TURNED, ('turns = "products"', 'turns = "none", query_prologue = "fused"')],
        ["--target=sm_90a"],
        FORWARD + TABLES,
    ),
    "rotary80": (
        "hopper.mlir",
        [*TURNED, ('kind = "large_cache", mma = "wgmma", tile_m = 128, tile_n = 64, stages = 2, warps = 8, persistent_ctas = 1, turns = "products", cluster_m = 1',
                   'query_prologue = "fused", tile_m = 64, tile_n = 32, stages = 2, warps = 2')],
        ["--target=sm_80"],
        FORWARD + TABLES,
    ),
    "backward": ("backward.mlir", [], ["--target=sm_90a", "--deterministic"], BACKWARD),
    "fused": (
        "backward.mlir",
        [("x64xf16", "x128xf16"),
         ("causal(top_left)", "causal(top_left) {schedule = #attn.schedule<fused = true>}")],
        ["--target=sm_90a"],
        FUSED,
    ),
    "sm80": (
        "attention.mlir",
        [],
        ["--target=sm_80", "--schedule=tile_m=128 tile_n=32 warps=4 stages=2 query_in_registers=1"],
        SM80,
    ),
}

# Reasons why a mutant is correct in every schedule.
FENCED = "the registers of the product were not accessed since the fence before the last one"
ORDERED = "another wait, which stays, comes before whatever would need this one"
MERGED = "the next group takes the products or copies along, and is waited for"
STRONGER = "a stronger barrier follows, or the wait for the product is enough"
LAST = "nobody loads the last stages again"
WAITED = "the same phase was waited for before, or one that implies it"
UNUSED = "nobody waits on it with these sizes"
OWN_ROWS = "the simulator's warp reads of A the rows that it has changed itself; the ISA does not say so"

# Kernel: edit: how many, why.
HARMLESS = {
    "persistent": {
        "wgmma.fence removed": (3, FENCED),
        "wgmma wait removed": (1, ORDERED),
        "wgmma wait leaves one group more": (1, ORDERED),
    },
    "causal": {
        "barrier removed": (1, STRONGER),
        "wgmma.fence removed": (3, FENCED),
        "wgmma wait removed": (1, ORDERED),
        "wgmma wait leaves one group more": (1, ORDERED),
        "arrival removed": (3, LAST),
    },
    "cluster": {
        "barrier removed": (2, STRONGER),
        "wgmma.fence removed": (3, FENCED),
        "wgmma wait removed": (1, ORDERED),
        "wgmma wait leaves one group more": (1, ORDERED),
        "arrival removed": (3, LAST),
    },
    "rotary": {
        "barrier removed": (1, OWN_ROWS),
        "wgmma.fence removed": (3, FENCED),
        "wgmma wait removed": (1, ORDERED),
        "wgmma wait leaves one group more": (1, ORDERED),
    },
    "rotary80": {
        "copy commit removed": (1, "the last tile has none behind it"),
        "copy wait removed": (1, "no copy is in flight behind the loop"),
        "copy wait leaves one group more": (1, "no copy is in flight behind the loop"),
    },
    "backward": {
        "barrier removed": (3, STRONGER),
        "wgmma.fence removed": (5, FENCED),
        "wgmma commit removed": (2, MERGED),
        "wgmma wait removed": (2, ORDERED),
        "wgmma wait leaves one group more": (2, ORDERED),
        "copy commit removed": (1, MERGED),
        "copy wait removed": (1, ORDERED),
        "copy wait leaves one group more": (1, ORDERED),
        "mbarrier count one too high": (2, UNUSED),
        "arrival removed": (2, LAST),
        "mbarrier wait removed": (6, WAITED),
    },
    "fused": {
        "fence removed": (1, "the products have read the tiles that the outputs go through"),
        "barrier removed": (2, STRONGER),
        "wgmma.fence removed": (5, FENCED),
        "wgmma commit removed": (2, MERGED),
        "wgmma wait removed": (2, ORDERED),
        "wgmma wait leaves one group more": (2, ORDERED),
        "copy commit removed": (1, MERGED),
        "copy wait removed": (3, ORDERED),
        "copy wait leaves one group more": (3, ORDERED),
        "mbarrier wait removed": (3, WAITED),
    },
    "sm80": {
        "copy wait removed": (1, "no copy is in flight behind the loop"),
        "copy wait leaves one group more": (1, "no copy is in flight behind the loop"),
    },
}


def make_kernel(arguments, name, folder):
    """The arguments of mutate.Simulator for a freshly emitted kernel."""
    module, edits, flags, inputs = KERNELS[name]
    text = open(os.path.join(HERE, module)).read()
    for before, after in edits:
        if before not in text:
            sys.exit("sync-mutants.py: '%s' is not in %s" % (before, module))
        text = text.replace(before, after)
    stem = os.path.join(folder, name)
    with open(stem + ".mlir", "w") as out:
        out.write(text)
    command = [arguments.attn_opt, stem + ".mlir", *flags, "--emit=ptx,manifest", "-o", stem]
    subprocess.run(command, check=True)
    files = []
    for seed, (dtype, shape) in enumerate(inputs, 1):
        files.append("%s-%d.npy" % (stem, seed))
        maker = os.path.join(HERE, "make-npy.py")
        subprocess.run([sys.executable, maker, files[-1], dtype, shape, str(seed)], check=True)
    return argparse.Namespace(
        ptx=stem + ".ptx",
        manifest=stem + ".json",
        input=files,
        attn_sim=arguments.attn_sim,
        max_instructions=2_000_000,
        skip_checks="",
    )


def all_mutants(text, executed):
    """The (edit's name, mutant's name, text) of every mutant."""
    for edit in json.load(open(os.path.join(HERE, "sync-edits.json"))):
        find = edit["find"].replace("GUARD", r"(?:@!?%\w+\s+)?").replace("REG", r"%[\w.]+")
        matches = [
            match
            for match in re.finditer(find, text)
            if 1 + text.count("\n", 0, match.end() - 1) in executed
        ]
        for match in matches:
            line = 1 + text.count("\n", 0, match.end() - 1)
            name = "%s, line %d" % (edit["name"], line)
            yield edit["name"], name, mutate.edit_matches(edit, text, [match])


def run_kernel(arguments, name):
    """Runs the mutants of a kernel; returns (how many, survivors by edit)."""
    survivors = collections.Counter()
    verdicts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        kernel = make_kernel(arguments, name, folder)
        simulator = mutate.Simulator(kernel, folder)
        simulator.checks = []
        text = open(kernel.ptx).read()
        status, message, _ = simulator.run(text, 0)
        if status:
            sys.exit("sync-mutants.py: the unedited kernel %s fails: %s" % (name, message))
        mutants = all_mutants(text, simulator.executed_lines(text))
        for count, (edit, mutant, changed) in enumerate(mutants):
            if count % arguments.sample:
                continue
            status, message, _ = simulator.run(changed, 0)
            if status < 0:
                sys.exit("sync-mutants.py: CRASH (signal %d) of %s: %s" % (-status, name, mutant))
            found = re.search(r"error: (\w+check):", message) if status else None
            verdicts[found[1] if found else "rejected" if status else "not found"] += 1
            if not status:
                survivors[edit] += 1
                if arguments.verbose:
                    print("%s: not found: %s" % (name, mutant))
            elif not found and "count 0, expected" not in message:
                print("%s: %s: %s" % (name, mutant, message))
    print("%s: %s" % (name, ", ".join("%d %s" % (n, verdict) for verdict, n in sorted(verdicts.items()))))
    return survivors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--kernel", action="append", choices=sorted(KERNELS))
    parser.add_argument("--attn-opt", default="attn-opt")
    parser.add_argument("--attn-sim", default="attn-sim")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    unexpected = 0
    for name in arguments.kernel or KERNELS:
        survivors = run_kernel(arguments, name)
        allowed = {edit: entry[0] for edit, entry in HARMLESS.get(name, {}).items()}
        for edit in sorted(set(survivors) | set(allowed)):
            got, expected = survivors[edit], allowed.get(edit, 0)
            if got > expected or (arguments.sample == 1 and got < expected):
                print("%s: %s: expected %d not found, got %d" % (name, edit, expected, got))
                unexpected += 1
    print("%d unexpected" % unexpected)
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
