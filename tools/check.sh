#!/usr/bin/env bash
# Installs what is missing, builds, and runs every check and test.
# The last line counts them; the exit code is 0 only if all passed.
set -u -o pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scripts/setup.sh"
cd "$root"

passed=0 failed=0 skipped=0

# check NAME COMMAND...: runs the command as one test. Exit code 77: skipped.
check() {
  local name=$1 status=0
  shift
  say "$name"
  "$@" || status=$?
  case $status in
  0) passed=$((passed + 1)) ;;
  77) skipped=$((skipped + 1)) ;;
  *)
    failed=$((failed + 1))
    echo "FAILED: $name"
    ;;
  esac
}

# Runs lit over all suites and adds up its results.
run_tests() {
  say "lit and unit tests"
  local results=$build/test-results.json counts
  rm -f "$results"
  timeout 1800 "$(tools/scripts/find-llvm-tool.sh lit)" -sv -j "$jobs" -o "$results" \
    "$build/test" "$build/test/Unit"
  counts=$(python3 tools/scripts/count-tests.py "$results") || {
    echo "FAILED: lit wrote no results"
    failed=$((failed + 1))
    return
  }
  read -r lit_passed lit_failed lit_skipped <<<"$counts"
  passed=$((passed + lit_passed)) failed=$((failed + lit_failed)) skipped=$((skipped + lit_skipped))
}

install_packages
build_targets all
install_python_packages
run_tests
check "fuzz" python3 test/Fuzz/fuzz.py --attn-opt "$build/bin/attn-opt" --seconds 20
check "wheel" tools/make-wheel.sh --test
check "clang-format" tools/scripts/check-format.sh
check "style" python3 tools/scripts/check-style.py
check "clang-tidy" tools/scripts/run-clang-tidy.sh "$build"

say "summary"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
