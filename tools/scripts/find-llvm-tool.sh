#!/usr/bin/env bash
# Prints the path of a tool of LLVM 22: find-llvm-tool.sh lit
set -eu
for candidate in "/usr/lib/llvm-22/bin/$1" "$(command -v "$1-22" || true)" \
  "$(command -v "$1" || true)"; do
  if [ -x "$candidate" ]; then
    echo "$candidate"
    exit
  fi
done
echo "error: expected $1 of LLVM 22, found none" >&2
exit 1
