# Sourced by tools/check.sh and tools/demo.sh: packages, configuration, build.
# Everything is done only where it is still to do.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${ATTN_BUILD_DIR:-$root/build}
jobs=${ATTN_JOBS:-$(nproc)}

say() { printf '\n== %s\n' "$*"; }

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

needed_packages() { sed -e 's/#.*//' "$root/tools/scripts/packages-debian.txt" | xargs; }

# Prints the packages of the list that are not installed.
missing_packages() {
  local package
  for package in $(needed_packages); do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' ||
      echo "$package"
  done
}

install_packages() {
  say "packages"
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    local tool
    for tool in cmake ninja c++ python3; do
      command -v "$tool" >/dev/null ||
        die "expected a Debian system or an installed '$tool', got neither; README.md lists what to install"
    done
    echo "not a Debian system: using what is installed"
    return
  fi
  local missing as_root=()
  missing=$(missing_packages | xargs)
  if [ -z "$missing" ]; then
    echo "all installed"
    return
  fi
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null && sudo -n true 2>/dev/null ||
      die "expected root or sudo to install packages, got neither; run as root: apt-get install $missing"
    as_root=(sudo -n)
  fi
  echo "installing: $missing"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q update ||
    die "apt-get update failed; are the package sources reachable?"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq install -y --no-install-recommends $missing ||
    die "apt-get could not install: $missing (LLVM 22 comes from Debian 12's security updates)"
}

# Installs the packages that tests use in a virtual environment, which test/lit.cfg.py
# prefers to the Python of the build. Without them their tests are unsupported.
install_python_packages() {
  say "Python packages"
  local list=$root/tools/scripts/packages-python.txt folder=$build/python
  local wanted="$(sed -e 's/#.*//' "$list" | xargs) ${ATTN_TEST_TORCH:+torch}"
  if [ "$(cat "$folder/installed" 2>/dev/null)" = "$wanted" ]; then
    echo "all installed"
    return
  fi
  if python3 -m venv "$folder" && "$folder/bin/pip" install -q --disable-pip-version-check $wanted; then
    echo "$wanted" >"$folder/installed"
    echo "installed: $wanted"
  else
    echo "not installed: $wanted; tests that need them are unsupported"
    rm -rf "$folder"
  fi
}

# The compiler of a new build folder: that of CC and CXX, else clang of LLVM 22, which needs
# two thirds of g++'s time for this project, else the system's.
choose_compiler() {
  if [ -e "$build/CMakeCache.txt" ] || [ -n "${CC:-}${CXX:-}" ]; then return; fi
  if command -v clang-22 >/dev/null && command -v clang++-22 >/dev/null; then
    echo -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22
  fi
}

# build_targets TARGET...: configures on first use, then builds.
build_targets() {
  say "build in $build ($jobs jobs)"
  cmake -G Ninja -S "$root" -B "$build" $(choose_compiler) >"$build.configure.log" 2>&1 || {
    cat "$build.configure.log"
    die "cmake failed"
  }
  rm -f "$build.configure.log"
  ninja -C "$build" -j "$jobs" "$@" || die "the build failed"
}
