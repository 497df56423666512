#!/usr/bin/env bash
# Makes the folder that a GPU machine needs to prove and time this compiler's
# kernels: docs/benchmarks/README.md. Fails over 40 MiB.
#   tools/bench-bundle.sh [-o DIR] [--suite full|tiny]
set -eu -o pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PYTHONPATH=$root/python PYTHONDONTWRITEBYTECODE=1
exec python3 -m attn_mlir.bench bundle "$@"
