"""Compiles modules for sm_90a with --prove-barriers, with and without --deterministic.

usage: prove-all.py FILE...: fails where a kernel is not proven; prints how many kernels have roles, which begin with setmaxnreg.
"""

import re
import subprocess
import sys
import tempfile

count = 0
with tempfile.TemporaryDirectory() as folder:
    for path in sys.argv[1:]:
        for options in ([], ["--deterministic"]):
            command = ["attn-opt", path, "--target=sm_90a", "--prove-barriers", "--emit=ptx", "-o", f"{folder}/k", *options]
            result = subprocess.run(command, capture_output=True, text=True)
            if result.returncode != 0:
                sys.exit(f"{path} {' '.join(options)}: {result.stderr}")
            entries = re.split(r"^\.visible \.entry", open(f"{folder}/k.ptx").read(), flags=re.MULTILINE)
            count += sum("setmaxnreg" in entry for entry in entries[1:])
print(f"{count} kernels with roles, all proven")
