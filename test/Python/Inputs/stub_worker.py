"""A worker that dies, hangs, or answers once."""

import json
import os
import sys
import time

for number, line in enumerate(sys.stdin):
    if sys.argv[1] == "hang":
        time.sleep(600)
    if sys.argv[1] == "die" or number > 0:
        print("CUDA error: an illegal memory access", file=sys.stderr, flush=True)
        os._exit(3)
    print(json.dumps({"ok": True, "asked": json.loads(line)["do"]}), flush=True)
