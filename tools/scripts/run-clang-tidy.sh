#!/usr/bin/env bash
# run-clang-tidy.sh BUILD [FILE...]: clang-tidy on the files, or on what changed
# last. A file that includes MLIR takes 20 s or more, so that at most
# ATTN_TIDY_FILES (8) are looked at, the newest changes first. Each is read by
# itself, without precompiled headers: it must include what it uses.
set -eu
cd "$(dirname "$0")/../.."
build=$1
shift
limit=${ATTN_TIDY_FILES:-8}
if ! command -v clang-tidy >/dev/null; then
  echo "skipped: no clang-tidy"
  exit 77
fi

commands=$build/tidy
cmake -G Ninja -S . -B "$commands" -DATTN_FAST_BUILD=OFF >"$build/tidy.log" 2>&1 &&
  ninja -C "$commands" attn-headers >"$build/tidy.log" 2>&1 || {
  cat "$build/tidy.log"
  exit 1
}

# The .cpp files of the repository, last changed first.
newest_first() {
  git log -n 200 --format= --name-only --diff-filter=d -- '*.cpp' | awk '!seen[$0]++'
}

if [ $# = 0 ]; then
  mapfile -t files < <(newest_first | while read -r file; do
    if [ -e "$file" ] && grep -qF "/$file\"" "$commands/compile_commands.json"; then echo "$file"; fi
  done | head -n "$limit")
  set -- "${files[@]}"
fi
echo "$# files"
# clang 14 knows _Float16 only of chips that compute with it.
printf '%s\n' "$@" | xargs -P "$(nproc)" -n 1 clang-tidy --quiet --extra-arg=-mavx512fp16 \
  --header-filter="^$PWD/include/" -p "$commands" 2>/dev/null
