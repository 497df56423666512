"""lit configuration: the tools under test, FileCheck, and optional features."""

import os
import shutil
import subprocess

import lit.formats
import lit.util

config.name = "attn-mlir"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Examples", "Inputs", "Models", "Unit"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.attn_binary_dir, "test")

# Where tools/check.sh installs the packages that tests use, or a Python that has more of them.
test_python = os.path.join(config.attn_binary_dir, "python", "bin", "python")
if os.path.exists(test_python):
    config.python = test_python
config.python = os.environ.get("ATTN_TEST_PYTHON", config.python)

config.environment["PATH"] = os.path.pathsep.join(
    [
        os.path.join(config.attn_binary_dir, "bin"),
        config.llvm_tools_dir,
        os.environ.get("PATH", ""),
    ]
)
# XLA optimises for minutes what JAX's tests compute once.
config.environment["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "1"
# Threads that wait for small products burn time.
config.environment["OPENBLAS_NUM_THREADS"] = config.environment["OMP_NUM_THREADS"] = "1"
# Thousands of short processes touch their memory once: in pages of 2 MiB, where the
# kernel gives such to who asks (glibc 2.35), a fortieth of their time less. What is
# freed is kept at hand for who asks next, by its size: a tenth of a compilation less.
config.environment["GLIBC_TUNABLES"] = "glibc.malloc.hugetlb=1:glibc.malloc.tcache_count=65535"
config.environment["PYTHONPATH"] = os.path.pathsep.join(
    [os.path.join(config.attn_source_dir, "python"), os.path.join(config.test_source_root, "Inputs")]
)
# Sweeps take all their cases: test/Inputs/sweep.py, and `%if long`.
if os.environ.get("ATTN_TEST_LONG"):
    config.environment["ATTN_TEST_LONG"] = "1"
    config.available_features.add("long")
# Not the user's: what tests compile, and find compiled by others and by earlier runs.
config.environment["ATTN_CACHE_DIR"] = os.path.join(config.test_exec_root, "cache")
config.substitutions.append(("%python", config.python))
config.substitutions.append(("%cxx", config.cxx))
config.substitutions.append(("%cc", config.cc))
config.substitutions.append(("%llvm_include_dir", config.llvm_include_dir))
config.substitutions.append(("%source_dir", config.attn_source_dir))
config.substitutions.append(("%binary_dir", config.attn_binary_dir))
config.substitutions.append(("%models", os.path.join(config.test_source_root, "Models")))
config.substitutions.append(("%plugin", os.path.join(config.attn_binary_dir, "lib", "libattn-plugin.so")))

# Four ranks on few cores, and by root in containers: Open MPI's settings, which
# another MPI does not read.
config.environment.update(
    OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1"
)

# Tests that build projects of their own compile the same files each time.
if shutil.which("ccache"):
    config.environment["CMAKE_CXX_COMPILER_LAUNCHER"] = "ccache"
    folder = subprocess.run(["ccache", "--get-config", "cache_dir"], capture_output=True, text=True)
    config.environment["CCACHE_DIR"] = folder.stdout.strip()
if shutil.which("mold"):
    config.environment["LDFLAGS"] = "-fuse-ld=mold"


def add_program(feature, path):
    """Makes `%feature` and the lit feature available where the program is."""
    if path and os.path.exists(path):
        config.available_features.add(feature)
        config.substitutions.append(("%" + feature, path))
    else:
        lit_config.note(f"{feature} not found: tests that need it are unsupported")


def add_python_packages(*names):
    """Makes lit features of the packages that Python has."""
    found = f"import importlib.util as i; print(*(n for n in {names} if i.find_spec(n)))"
    output = subprocess.run([config.python, "-c", found], capture_output=True, text=True).stdout
    config.available_features.update(output.split())


add_python_packages("jax", "ml_dtypes", "mypy", "numpy", "onnx", "torch", "wheel")
add_program("ptxas", config.ptxas)
add_program("nvcc", config.nvcc)
config.substitutions.append(("%cuda_include", os.path.join(os.path.dirname(config.nvcc), "..", "include")))
add_program("clangxx", shutil.which("clang++") or "clang++")
add_program("mpi", shutil.which("mpirun") if shutil.which("mpicxx") else None)
add_program("sim_cudart", os.path.join(config.attn_binary_dir, "lib", "libattn_sim_cudart.so"))
