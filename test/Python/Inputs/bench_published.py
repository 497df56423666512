"""Numbers of `python -m attn_mlir.bench published`: the halves, the errors in them, and FlashAttention-3's tiles."""

import json
import sys

from attn_mlir.bench import published

data = json.loads(open(sys.argv[1]).read())
points = published.read_points(data)

# Both halves have each pass and each mask, no series is in both, and every series has a source.
for half in ("fit", "held out"):
    kinds = {(s["pass"], s["mask"]) for s in data["measurements"] if s["half"] == half}
    assert kinds == {(p, m) for p in ("forward", "backward") for m in ("full", "causal")}, kinds
assert all(s["source"] in data["sources"] and "attn-mlir" not in s["kernel"] for s in data["measurements"])
assert all(t["where"] for t in data["tiles"])
assert {p.half for p in points if p.target == "a100"} == {"held out"}

# 4 D flops for each pair: 648 TFLOP/s at 16k are 13.6 ms.
longest = next(p for p in points if p.series.startswith("flash-attention-3 h100 forward d128 full (fa3") and p.length == 16384)
assert abs(longest.seconds - 4 * 128 * 16384**2 * 16 / 648e12) < 1e-9, longest

errors = published.half_errors(points, published.log_errors(points, {}))
limits = {("held out", "forward"): 0.085, ("held out", "backward"): 0.19, ("held out", "all"): 0.11, ("fit", "forward"): 0.095}
for key, limit in limits.items():
    assert errors[key] < limit, (key, errors[key])

# What was assumed before the fit is worse, where it was not fitted to.
before = {name: value for fields in published.FIELDS.values() for name, value in fields.items()}
worse = published.half_errors(points, published.log_errors(points, before))
assert worse["held out", "all"] > 1.7 * errors["held out", "all"], worse

# FlashAttention-3's tile is the model's first, or within 2%; what is not is in docs/CostModel.md. On an H200 128 x 128 took 2.7% longer than 192 x 80.
rows = {(row[0], row[1]): row for row in published.tile_rows(data, {})[1:]}
assert len(rows) == 10
for key in [("64", "causal"), ("128", "full"), ("192", "full"), ("192", "causal"), ("256", "full"), ("256", "causal")]:
    assert float(rows[key][4]) <= published.AS_GOOD, rows[key]
assert 1.03 < float(rows["128", "causal"][4]) < 1.04, rows["128", "causal"]
for key in [("64", "full"), ("96", "full"), ("96", "causal")]:
    assert rows[key][4] == "-", rows[key]
