# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Command line of the benchmark kit: `bundle` compiles, `run` proves and times, `prove` proves one kernel again, `once` is for
a profiler, `silicon` holds the simulator to the GPU, `report` prints results again, `fit` fits the time model to them, `published` holds it to measurements of others,
`compile` times the compiler on this machine."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path

from ..errors import AttnError
from .peers import PEER_NAMES
from .suites import SUITES, TIMED_PARTS

PARTS = ("smoke", "numerics", *TIMED_PARTS, "tune", "silicon", "slow")


def parse_arguments(argv):
    parser = argparse.ArgumentParser(prog="python -m attn_mlir.bench", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    bundle = commands.add_parser("bundle", help="compile a suite into a folder (needs attn-opt)")
    bundle.add_argument("-o", "--output", type=Path, default=Path("bench-bundle"), metavar="DIR")
    bundle.add_argument("--suite", choices=SUITES, default="full")
    bundle.add_argument("--max-mib", type=float, default=48, help="fail over this size (default: 48)")
    bundle.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="SCHEDULE",
        help="a schedule to tune over beside the cost model's, 'tile_m=128 tile_n=128 stages=2'; repeatable",
    )
    bundle.add_argument("--no-cubins", action="store_true", help="do not assemble kernels, though ptxas is there")
    run = commands.add_parser("run", help="prove and time the kernels of a bundle")
    run.add_argument("bundle", type=Path, metavar="BUNDLE")
    run.add_argument(
        "--device",
        choices=["cuda", "sim", "cpu"],
        default="cuda",
        help="sim: the simulator, which proves and does not time; cpu: the peers alone, to try the kit",
    )
    run.add_argument("--minutes", type=float, default=9, help="time to take in all (default: 9)")
    run.add_argument("--parts", type=names(PARTS), default=list(PARTS), metavar="LIST", help=",".join(PARTS))
    run.add_argument("--tune", action="store_const", const=["tune"], dest="parts", help="the part tune alone")
    run.add_argument(
        "--peers", type=names(PEER_NAMES), default=list(PEER_NAMES), metavar="LIST", help=",".join(PEER_NAMES)
    )
    run.add_argument("--filter", default="", metavar="TEXT", help="only problems whose name contains TEXT")
    run.add_argument("--rounds", type=int, default=9, help="samples of each peer (default: 9)")
    run.add_argument("--sample-ms", type=float, default=15, help="length of a sample (default: 15)")
    run.add_argument("--jobs", type=int, help="processes that prove at once (default: 4 on cuda, else 1)")
    run.add_argument(
        "--all-lengths", action="store_true", help="time peers that compile for seconds at every length too"
    )
    run.add_argument("--seed", type=int, default=1)
    run.add_argument(
        "--arrays", choices=["torch", "plain"], help="reference by PyTorch (default), or without it (sim's)"
    )
    run.add_argument("-o", "--output", type=Path, metavar="DIR", help="for the results (default: BUNDLE/results)")
    prove = commands.add_parser("prove", help="prove one kernel again, as `run` says where one has failed")
    prove.add_argument("bundle", type=Path, metavar="BUNDLE")
    prove.add_argument("kernel", metavar="KEY", help="its key in the bundle")
    prove.add_argument("--sizes", type=sizes, metavar="LIST", help="B=1,Hq=2,Hkv=1,M=64,N=64 in place of the kernel's own problems")
    prove.add_argument("--device", choices=["cuda", "sim"], default="cuda")
    prove.add_argument("--arrays", choices=["torch", "plain"], help="reference by PyTorch (default), or without it (sim's)")
    prove.add_argument("--seed", type=int, default=1)
    prove.add_argument("-o", "--output", type=Path, metavar="DIR", help="for what is wrong (default: BUNDLE/failures)")
    once = commands.add_parser(
        "once", help="run one problem a few times, for a profiler: ncu python -m attn_mlir.bench once ..."
    )
    once.add_argument("bundle", type=Path, metavar="BUNDLE")
    once.add_argument("--filter", default="", metavar="TEXT", help="the first timed problem whose name contains TEXT")
    once.add_argument("--peer", choices=[p for p in PEER_NAMES if p != "jax-mosaic"], default="attn-mlir")
    once.add_argument("--calls", type=int, default=3)
    once.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    silicon = commands.add_parser("silicon", help="hold the simulator's results and counters to the GPU's")
    silicon.add_argument("bundle", type=Path, metavar="BUNDLE")
    silicon.add_argument("--filter", default="", metavar="TEXT", help="only cases whose name contains TEXT")
    silicon.add_argument("--device", choices=["cuda", "sim"], default="cuda")
    silicon.add_argument("--no-counters", action="store_true", help="the bits alone, without ncu and the C++ program")
    fit = commands.add_parser("fit", help="fit the rates of the time model to the schedules that were tuned over")
    fit.add_argument("results", type=Path, nargs="+", help="results.json of runs on one kind of GPU")
    fit.add_argument("-o", "--output", type=Path, metavar="FILE", help="a target file for attn-opt --target-file")
    compile_times = commands.add_parser("compile", help="how long compiling takes, beside Triton where it is installed")
    compile_times.add_argument("--rounds", type=int, default=10, help="of which the least counts (default: 10)")
    published = commands.add_parser("published", help="hold the time model to what others have published")
    published.add_argument("file", type=Path, metavar="FILE", help="docs/benchmarks/published.json")
    published.add_argument("--fit", action="store_true", help="fit the Hopper targets' assumed numbers to half of it first: minutes")
    published.add_argument("-o", "--output", type=Path, metavar="FILE", help="with --fit: a target file for attn-opt --target-file")
    report = commands.add_parser("report", help="print the tables of a results.json again")
    report.add_argument("results", type=Path)
    return parser.parse_args(argv)


def names(known):
    """A parser of "a,b"."""

    def parse(text):
        chosen = text.split(",")
        for name in chosen:
            if name not in known:
                raise argparse.ArgumentTypeError(f"expected some of {','.join(known)}, got '{name}'")
        return chosen

    return parse


def sizes(text):
    """ "B=1,M=64" as a dict."""
    known, given = ("B", "Hq", "Hkv", "M", "N"), {}
    for field in text.split(","):
        name, _, value = field.partition("=")
        if name not in known or not value.isdigit():
            raise argparse.ArgumentTypeError(f"expected NAME=SIZE of {', '.join(known)}, got '{field}'")
        given[name] = int(value)
    return given


def prove(arguments) -> int:
    """The problems of one kernel, in this process."""
    from . import numerics
    from .configurations import Problem
    from .worker import Worker

    arguments.arrays = arguments.arrays or ("plain" if arguments.device == "sim" else "torch")
    worker = Worker(arguments)
    index = worker.bundle.index
    entries = [e for part in ("smoke", "numerics") for e in index[part] if arguments.kernel in (e["kernel"], e["proves"])]
    if not entries:
        raise AttnError(f"expected the key of a kernel that the bundle proves, got '{arguments.kernel}'")
    problems = [Problem.from_json(entry["problem"]) for entry in entries]
    if arguments.sizes:
        problems = [dataclasses.replace(problems[0], **arguments.sizes)]
    folder, failed = arguments.output or arguments.bundle / "failures", 0
    for problem in problems:
        result = worker.do_numerics(arguments.kernel, problem.to_json(), arguments.seed, str(folder))
        failed += result["status"] != "passed"
        print(f"{result['status']}: {problem.name}: {numerics.describe(result)}")
        print(numerics.describe_failure(result), end="")
    return 1 if failed else 0


def once(arguments) -> int:
    """A problem's launches in this process, without a graph, where a profiler finds them."""
    from .bundle import Bundle
    from .configurations import Problem
    from .peers import OURS, Unavailable

    bundle = Bundle(arguments.bundle)
    timed = [entry for part in TIMED_PARTS for entry in bundle.index[part]]
    entry = next((e for e in timed if arguments.filter in e["name"]), None)
    if entry is None:
        raise AttnError(f"expected a timed problem whose name contains '{arguments.filter}', got none")
    try:
        from .session import Session
    except ImportError as error:
        raise AttnError(f"expected PyTorch, got {error}") from None
    session = Session(Problem.from_json(entry["problem"]), arguments.device, 0.0, seed=1)
    key = entry["kernels"].get(OURS.get(arguments.peer, ""))
    session.program = bundle.program(key) if key else None
    if session.program:
        print("kernels:", ", ".join(kernel.entry for kernel in session.program.manifest.kernels))
    try:
        session.run(arguments.peer, arguments.calls)
    except Unavailable as error:
        raise AttnError(f"{arguments.peer} not available: {error}") from None
    print(f"{entry['name']}: {arguments.calls} calls of {arguments.peer}")
    return 0


def silicon(arguments) -> int:
    """The bits of cases in this process; where counters are wanted, as the part of a run."""
    from .silicon import CaseFiles, compare, describe
    from .worker import Worker

    if not arguments.no_counters:
        return main(["run", str(arguments.bundle), "--parts", "silicon", "--device", arguments.device,
                     "--arrays", "plain", "--filter", arguments.filter])  # fmt: skip
    arguments.arrays = "plain"
    worker, failed = Worker(arguments), 0
    compiled = [e for e in worker.bundle.index["silicon"] if "failed" not in e]
    named = [e for e in compiled if e["name"] == arguments.filter]
    entries = named or [e for e in compiled if arguments.filter in e["name"]]
    if not entries:
        raise AttnError(f"expected a case whose name contains '{arguments.filter}', got none")
    for entry in entries:
        result = compare(CaseFiles(worker.bundle.archive, entry["kernel"]), worker.open(), entry["is_exact"])
        failed += result["status"] != "passed"
        print(f"{result['status']}: {entry['name']}: {describe(result)}")
    return 1 if failed else 0


def main(argv=None) -> int:
    arguments = parse_arguments(argv)
    try:
        if arguments.command == "bundle":
            from .bundle import make_bundle

            make_bundle(arguments.output, arguments.suite, int(arguments.max_mib * 2**20), arguments.also, not arguments.no_cubins)
            return 0
        if arguments.command == "once":
            return once(arguments)
        if arguments.command == "prove":
            return prove(arguments)
        if arguments.command == "silicon":
            return silicon(arguments)
        if arguments.command == "fit":
            from .fit import fit

            return fit(arguments.results, arguments.output)
        if arguments.command == "compile":
            from .compile_time import print_times

            print_times(arguments.rounds)
            return 0
        if arguments.command == "published":
            from .published import published

            return published(arguments.file, arguments.fit, arguments.output)
        if arguments.command == "report":
            from .report import load_results, report_text

            print(report_text(load_results(arguments.results)))
            return 0
        from .run import run

        if not arguments.jobs:
            arguments.jobs = 4 if arguments.device == "cuda" else 1

        return run(arguments)
    except AttnError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
