"""What the tests of gradients have in common: central differences in f64, and the module of --attn-grad without its forward."""

import re
import subprocess
import sys

STEP = 1e-5


def differences(loss, x, name):
    """Of loss(), a number, by each of the numbers x[name], which it reads."""
    found = []
    for i, given in enumerate(x[name]):
        sides = []
        for step in (STEP, -STEP):
            x[name][i] = given + step
            sides.append(loss())
        x[name][i] = given
        found.append((sides[0] - sides[1]) / (2 * STEP))
    return found


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def check(what, found, expected, bound=1e-7):
    """Ends the program where numbers differ by more than `bound`, relative to the largest one above 1."""
    error = max(abs(a - b) for a, b in zip(found, expected, strict=True))
    if not error <= bound * max(1, *map(abs, expected)):
        sys.exit(f"{what}: off by {error}")


def backward_of(text, option="--attn-grad"):
    made = subprocess.run(["attn-opt", option], input=text, capture_output=True, text=True, check=True).stdout
    return re.sub(r"  func\.func @f\(.*?\n  }\n", "", made, flags=re.DOTALL)
