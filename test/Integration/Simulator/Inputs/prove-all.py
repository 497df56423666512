"""Runs the passes for sm_90a with barriers proven; gradients, the only ones to differ, with deterministic kernels, too.

usage: prove-all.py FILE...: fails where a kernel is not proven; prints how many kernels have roles, which begin with setmaxregister.
"""

import subprocess
import sys

count = 0
for path in sys.argv[1:]:
    for options in [""] + [" deterministic=true"] * ("attention_backward" in open(path).read()):
        pipeline = f"--attn-pipeline=target=sm_90a prove-barriers=true{options}"
        result = subprocess.run(["attn-opt", path, pipeline], capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f"{path}{options}: {result.stderr}")
        count += sum("setmaxregister" in function for function in result.stdout.split("llvm.func")[1:])
print(f"{count} kernels with roles, all proven")
