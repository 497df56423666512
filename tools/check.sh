#!/usr/bin/env bash
# Installs what is missing, builds, and runs every check and test. The last line
# counts them, those before it name what failed; the exit code is 0 only if all
# passed. Each test has a time limit of its own, and there is none for all.
#
#   tools/check.sh [--long]
#
# --long: sweeps of tests take all their cases; the archive, and random searches of 10^5
# cases, with a seed of the day, by programs that sanitizers watch (built in
# build-sanitize): hours.
set -u -o pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scripts/setup.sh"
cd "$root"

long=
case ${1-} in
"") ;;
--long) long=1 && export ATTN_TEST_LONG=1 ;;
-h | --help) sed -n '2,10s/^# \{0,1\}//p' "$0" && exit ;;
*) die "unknown option '$1': expected --long" ;;
esac

passed=0 failed=0 skipped=0 failures=()
# Of one test, in seconds; a slow machine may ask for more.
limit=${ATTN_TEST_TIMEOUT:-1200}

fail() {
  failed=$((failed + 1))
  failures+=("$1")
  echo "FAILED: $1"
}

# check NAME COMMAND...: runs the command as one test. Exit code 77: skipped.
check() {
  local name=$1 status=0
  shift
  say "$name"
  "$@" || status=$?
  case $status in
  0) passed=$((passed + 1)) ;;
  77) skipped=$((skipped + 1)) ;;
  *) fail "$name" ;;
  esac
}

# Builds the programs with AddressSanitizer and UndefinedBehaviorSanitizer.
build_sanitized() {
  cmake -G Ninja -S "$root" -B "$build-sanitize" -DATTN_SANITIZE=ON -DATTN_BUILD_TESTS=OFF &&
    ninja -j "$jobs" -C "$build-sanitize" attn-opt attn-run attn-sim attn-schedule
}

# search NAME SCRIPT ARGUMENT...: a random search of test/Fuzz by those programs.
search() {
  # A sanitizer looks for libraries in its own place, not in the program's.
  check "$1" env PATH="$build-sanitize/bin:$PATH" ASAN_OPTIONS=allow_user_poisoning=0:detect_leaks=0 \
    LD_LIBRARY_PATH="$(dirname "$(tools/scripts/find-llvm-tool.sh FileCheck)")/../lib" \
    "$build/python/bin/python" "test/Fuzz/$2" --seed "$seed" "${@:3}"
}

# Runs lit over all suites and adds up its results: a line for each test that
# ends, and what a failing one printed.
run_tests() {
  say "lit and unit tests${long:+, all cases of sweeps}"
  [[ -n $long ]] || echo "sweeps take few of their cases; tools/check.sh --long takes all"
  local results=$build/test-results.json counts name
  rm -f "$results"
  "$(tools/scripts/find-llvm-tool.sh lit)" -v -j "$jobs" --timeout "$limit" -o "$results" \
    "$build/test" "$build/test/Unit"
  counts=$(python3 tools/scripts/count-tests.py "$results") || {
    fail "lit wrote no results"
    return
  }
  read -r lit_passed lit_failed lit_skipped < <(tail -n 1 <<<"$counts")
  passed=$((passed + lit_passed)) failed=$((failed + lit_failed)) skipped=$((skipped + lit_skipped))
  while read -r name; do failures+=("$name"); done < <(head -n -1 <<<"$counts")
}

install_packages
build_targets all
install_python_packages
run_tests
# So many on any machine, about 20 s: the same cases as long as the tests, their inputs, are the same.
check "fuzz" python3 test/Fuzz/fuzz.py --bin "$build/bin" --cases 1500
check "random command lines" python3 test/Fuzz/commands.py --bin "$build/bin" --cases 40
check "wheel" tools/make-wheel.sh --test
check "clang-format" tools/scripts/check-format.sh
check "style" python3 tools/scripts/check-style.py
check "clang-tidy" tools/scripts/run-clang-tidy.sh "$build"
if [ -n "$long" ]; then
  check "archive" tools/package.sh --test
  seed=$(date +%j)
  check "build with sanitizers" build_sanitized
  search "mutated modules, stage by stage" fuzz.py --bin "$build-sanitize/bin" --makers "$build/bin" --batch 20 --cases 3500
  search "mutated inputs of every program" fuzz.py --bin "$build-sanitize/bin" --makers "$build/bin" --cases 12000
  search "command lines" commands.py --bin "$build-sanitize/bin" --cases 4000
  search "schedules of any numbers" schedules.py --cases 20000
  search "random attention" differential.py --cases 1000
  search "random gradients" differential.py --gradients --cases 300
  # In Python's own process, which sanitizers do not watch.
  check "bits of random tokens and prompts" env PATH="$build/bin:$PATH" PYTHONPATH="$root/python" \
    "$build/python/bin/python" test/Python/Inputs/prefix_random.py "$seed" 500
  check "weakened synchronisation" env PATH="$build/bin:$PATH" python3 \
    test/Simulator/Inputs/sync-mutants.py
  check "masks of large scores" env PATH="$build/bin:$PATH" python3 \
    test/Integration/Simulator/large_masks.py --cases 300 --seed "$seed"
  if ptxas=$(command -v ptxas || ls /usr/local/cuda/bin/ptxas 2>/dev/null); then
    check "registers of random problems" env PATH="$build/bin:$PATH" python3 \
      test/Integration/Ptxas/spills.py "$ptxas" --cases 300 --seed "$seed"
  fi
fi

say "summary"
for name in "${failures[@]+"${failures[@]}"}"; do echo "FAILED: $name"; done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
