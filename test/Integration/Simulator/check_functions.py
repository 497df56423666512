"""score_mods of every function that is computed on a GPU, and their derivatives, in the simulator against float64.

usage: check_functions.py DEVICE. Each score_mod sums up several functions f(x) of a score, of 0.1 the size; the forward and the
backward of each are verified by attn-run. Standard library only.
"""

import os
import subprocess
import sys
import tempfile

# Of %x in (-1, 1) and %p in (1.5, 2.5); {n} makes names unique, %y{n} is the value.
FUNCTIONS = {
    **{name: f"%y{{n}} = math.{name} %x : f32"
       for name in ("absf asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp2 expm1 floor round roundeven sin sinh tan tanh "
                    "trunc").split()},
    **{name: f"%y{{n}} = math.{name} %p : f32" for name in "acosh log log10 log1p log2 rsqrt sqrt".split()},
    "acos": "%y{n} = math.acos %x : f32",
    "atan2": "%y{n} = math.atan2 %x, %p : f32",
    "clampf": "%y{n} = math.clampf %x to [%low, %high] : f32",
    "copysign": "%y{n} = math.copysign %p, %x : f32",
    "fma": "%y{n} = math.fma %x, %p, %x : f32",
    "fpowi": "%y{n} = math.fpowi %x, %three : f32, i32",
    "powf": "%y{n} = math.powf %p, %x : f32",
    "isnan": "%c{n} = math.isnan %x : f32\n %y{n} = arith.select %c{n}, %low, %x : f32",
    "isfinite": "%c{n} = math.isfinite %x : f32\n %y{n} = arith.select %c{n}, %x, %low : f32",
    "absi": "%c{n} = math.absi %d : i32\n %y{n} = arith.sitofp %c{n} : i32 to f32",
}  # fmt: skip

MODULE = """
!q = tensor<1x2x40x32xf16>
func.func @f(%q: !q, %k: !q, %v: !q) -> !q {{
  %tenth = arith.constant 0.1 : f32
  %half = arith.constant 0.5 : f32
  %two = arith.constant 2.0 : f32
  %low = arith.constant -0.4 : f32
  %high = arith.constant 0.3 : f32
  %three = arith.constant 3 : i32
  %o, %lse = attn.attention %q, %k, %v score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {{
    %ij = arith.subi %i, %j : index
    %d = arith.index_cast %ij : index to i32
    %t = math.tanh %s : f32
    %small = arith.mulf %t, %half : f32
    %x = arith.addf %small, %tenth : f32
    %p = arith.addf %x, %two : f32
    {lines}
    attn.yield %sum : f32
  }} : !q, !q, !q -> !q, tensor<1x2x40xf32>
  return %o : !q
}}
"""
AT_ONCE = 6


def make_module(names):
    lines, total = [], "%s"
    for n, name in enumerate(names):
        last = n + 1 == len(names)
        lines.append(FUNCTIONS[name].format(n=n))
        lines.append(f"%z{n} = arith.mulf %y{n}, %tenth : f32")
        lines.append(f"{'%sum' if last else f'%s{n}'} = arith.addf {total}, %z{n} : f32")
        total = f"%s{n}"
    return MODULE.format(lines="\n    ".join(lines))


def main():
    names, failed = list(FUNCTIONS), 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "grad.mlir")
        for first in range(0, len(names), AT_ONCE):
            some = names[first : first + AT_ONCE]
            text = make_module(some)
            subprocess.run(["attn-opt", "--attn-grad=recompute=true", "-", "-o", path], input=text, text=True, check=True)
            command = ["attn-run", path, "--function=f_grad", f"--device={sys.argv[1]}", "--random=1", "--verify"]
            process = subprocess.run(command, capture_output=True, text=True)
            if process.returncode:
                print(*some, ": FAIL", process.stdout, process.stderr)
            failed += process.returncode != 0
    print(f"{len(names)} functions, {failed} failures")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
