#!/usr/bin/env bash
# Fails if clang-format would change a source file of the repository.
set -eu
cd "$(dirname "$0")/../.."
if ! command -v clang-format >/dev/null; then
  echo "skipped: no clang-format"
  exit 77
fi
git ls-files -z '*.cpp' '*.h' | xargs -0 clang-format --dry-run -Werror
