"""Counts the warp instructions of kernels for each tile of scores: those of weights that are ReLU of the scores are fewer
than those of softmax, and a factor of a row costs less than half a multiplication for each score.

usage: check_instructions.py TARGET...
"""

import json
import os
import subprocess
import sys
import tempfile

SOURCE = """
func.func @attention(%q: tensor<1x1x128x64xf16>, %k: tensor<1x1xNx64xf16>) -> tensor<1x1x128x64xf16> {
  %o = attn.attention %q, %k, %k CLAUSE : tensor<1x1x128x64xf16>, tensor<1x1xNx64xf16>, tensor<1x1xNx64xf16> -> tensor<1x1x128x64xf16>
  return %o : tensor<1x1x128x64xf16>
}
"""
RELU = """score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
  %c0 = arith.constant 0.0 : f32
  %r = arith.maximumf %s, %c0 : f32
  attn.yield %r : f32
}"""
FACTOR = """score_mod (%s: f32, %b: index, %h: index, %i: index, %j: index) {
  %c1 = arith.constant 1.0 : f32
  %n = arith.index_cast %i : index to i32
  %x = arith.sitofp %n : i32 to f32
  %small = arith.constant 0.001 : f32
  %y = arith.mulf %x, %small : f32
  %f = arith.addf %y, %c1 : f32
  %r = arith.mulf %s, %f : f32
  attn.yield %r : f32
}"""
MULTIPLICATIONS = 128 * 64 / 32  # of a tile's scores, by warps
SCHEDULES = {
    "sm_80": 'kind = "large_cache", tile_m = 128, tile_n = 64, warps = 8, stages = 2, mma = "mma_sync"',
    "sm_90a": 'kind = "large_cache", tile_m = 128, tile_n = 64, warps = 8, stages = 2, mma = "wgmma", turns = "none", exp2_on_fma = 0',
}
TILES = (4, 8)


def count(directory, target, clause, tiles):
    """Warp instructions of the kernel over `tiles` tiles of 64 keys."""
    source = os.path.join(directory, "in.mlir")
    report = os.path.join(directory, "report.json")
    clause += " {schedule = #attn.schedule<%s>}" % SCHEDULES[target]
    with open(source, "w") as file:
        file.write(SOURCE.replace("CLAUSE", clause).replace("N", str(64 * tiles)))
    subprocess.run(["attn-run", source, f"--device=sim:{target}", "--random", "1", "--verify", f"--report={report}"],
                   check=True, stdout=subprocess.DEVNULL)
    with open(report) as file:
        kernels = json.load(file)["kernels"]
    return sum(kernel["counters"]["warp_instructions"]["total"] for kernel in kernels)


def main(targets):
    fails = 0
    with tempfile.TemporaryDirectory() as directory:
        for target in targets:
            per_tile = {}
            for name, clause in (("softmax", ""), ("relu", "normalization(#attn.none) " + RELU), ("factor", FACTOR)):
                few, many = (count(directory, target, clause, tiles) for tiles in TILES)
                per_tile[name] = (many - few) / (TILES[1] - TILES[0])
            print(f"{target}: warp instructions a tile: " + ", ".join(f"{name} {number:.0f}" for name, number in per_tile.items()))
            fails += per_tile["relu"] >= per_tile["softmax"]
            fails += per_tile["factor"] >= per_tile["softmax"] + MULTIPLICATIONS / 2
    return 1 if fails else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
