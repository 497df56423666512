"""Compilations at once to one name: afterwards the files are one set, or the digest tells that they are not.

    compile-at-once.py IN.mlir BASE
"""

import re
import subprocess
import sys
from pathlib import Path

source, base = sys.argv[1:]
digests = {}
for stages in (1, 2, 3):
    subprocess.run(["attn-opt", source, "--target=sm_80", f"--schedule=stages={stages}", "--emit=ptx,manifest", "-o", base], check=True)
    digest = re.search('"ptx_digest": "(.*)"', Path(base + ".json").read_text())[1]
    digests[Path(base + ".ptx").read_text()] = digest
assert len(set(digests.values())) == 3, digests
for _ in range(4):
    jobs = [
        subprocess.Popen(["attn-opt", source, "--target=sm_80", f"--schedule=stages={stages}", "--emit=ptx,manifest", "-o", base])
        for stages in (1, 2, 3, 1, 2, 3)
    ]
    assert all(job.wait() == 0 for job in jobs)
    ptx, manifest = Path(base + ".ptx").read_text(), Path(base + ".json").read_text()
    is_one_set = f'"ptx_digest": "{digests[ptx]}"' in manifest
    result = subprocess.run(["attn-sim", base + ".ptx"], capture_output=True, text=True)
    assert ("expected the PTX that the manifest was written with" in result.stderr) != is_one_set, result.stderr
leftovers = [path.name for path in Path(base).parent.glob(Path(base).name + "*.tmp*")]
assert not leftovers, leftovers
