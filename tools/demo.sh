#!/usr/bin/env bash
# The main job on a real model: installs what is missing, builds, compiles an
# exported attention block for a GPU, and proves the same file on the CPU.
#
#   tools/demo.sh [MODEL.mlir [TARGET]]     (default: a Llama block, sm_80)
set -u -o pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scripts/setup.sh"

model=${1:-$root/test/Models/llama-f16.mlir}
target=${2:-sm_80}
name=$(basename "$model" .mlir)
output=$build/demo
[ -r "$model" ] || die "expected a readable .mlir file, got '$model'"

install_packages
build_targets attn-opt attn-run
mkdir -p "$output"

say "compile $name for $target"
"$build/bin/attn-opt" "$model" --target="$target" --emit=ptx,manifest,report --time \
  -o "$output/$name" || die "the compilation failed"
ls -l "$output/$name".*

ptxas=$(command -v ptxas || ls /usr/local/cuda/bin/ptxas 2>/dev/null || true)
if [ -n "$ptxas" ] && [ "$target" != cpu ]; then
  say "assemble with ptxas"
  "$ptxas" -v -arch="$target" "$output/$name.ptx" -o "$output/$name.cubin" || die "ptxas rejected it"
fi

say "run $name on the CPU, against float64"
"$build/bin/attn-run" "$model" --device=cpu --random 1 --verify || die "the result is wrong"
