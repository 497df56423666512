#!/usr/bin/env python3
"""Runs tests by lit and prints the CPU time of each, the longest first; other work on the machine changes it little.

    time-tests.py [--order=random] [--filter REGEX] build/test      (lit's arguments)
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

# The folder of lit's package is where its program says.
LIT = subprocess.run([Path(__file__).with_name("find-llvm-tool.sh"), "lit"], capture_output=True, text=True, check=True)
sys.path[:0] = [line.split('"')[1] for line in Path(LIT.stdout.strip()).read_text().splitlines() if "sys.path.insert" in line]
import lit.main  # noqa: E402
import lit.worker  # noqa: E402

LOG = tempfile.NamedTemporaryFile("a", suffix=".log")
execute = lit.worker._execute


def measured(test, config):
    """In a worker, which runs one test at a time."""
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = execute(test, config)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime
    with open(LOG.name, "a") as log:
        log.write(f"{seconds:.2f} {test.getFullName()}\n")
    return result


def print_times():
    times = sorted((float(line.split()[0]), line.split(maxsplit=1)[1]) for line in open(LOG.name))
    for seconds, name in reversed(times):
        print(f"{seconds:8.2f} s  {name}", end="")
    print(f"{sum(seconds for seconds, _ in times):8.2f} s  {len(times)} tests")


lit.worker._execute = measured
parent = os.getpid()
try:
    lit.main.main()
finally:
    if os.getpid() == parent:
        print_times()
