"""What each schedule choice of a sm_90a kernel does to its main loop, as far as that can be known without a GPU.

usage: static_effects.py PTXAS [HEAD_DIM...] [CHOICE...]: the table of docs/benchmarks/static-sm_90a.md, one row for each choice,
or for those that are named. Fails if ptxas spills or serialises wgmma.

The clocks are those that a resource of an SM needs for one key tile of all warpgroups of a CTA if nothing else limits it; the
rates are data-sheet numbers: 4096 bf16 flops, 128 bytes of shared memory, 16 exponentials and 4 warp instructions a clock.
"""

import sys
import tempfile

import cubin
import hopper

MODULE = """func.func @attention(%q: {t}, %k: {t}, %v: {t}) -> ({t}, {lse}) {{
  %o, %lse = attn.attention %q, %k, %v {{schedule = #attn.schedule<{schedule}>}} : {t}, {t}, {t} -> {t}, {lse}
  return %o, %lse : {t}, {lse}
}}
"""

# For each head dim the tile of the other rows, and what they change.
CHOICES = {
    64: [
        ("", dict(tile_m=128, tile_n=128)),
        ("a CTA for each tile", dict(tile_m=128, tile_n=128, persistent_ctas=0)),
        ("no output tile", dict(tile_m=128, tile_n=128, output_tile="false")),
        ("rescale always", dict(tile_m=128, tile_n=128, rescale_threshold=0)),
        ("turns at softmax", dict(tile_m=128, tile_n=128, turns='"softmax"')),
        ("no turns", dict(tile_m=128, tile_n=128, turns='"none"')),
        ("2 of 16 exp2 on FMA", dict(tile_m=128, tile_n=128, exp2_on_fma=2)),
        ("3 of 16 exp2 on FMA", dict(tile_m=128, tile_n=128, exp2_on_fma=3)),
        ("4 of 16 exp2 on FMA", dict(tile_m=128, tile_n=128, exp2_on_fma=4)),
        ("cluster of 2", dict(tile_m=128, tile_n=128, cluster_m=2)),
        ("176 keys", dict(tile_m=128, tile_n=176)),
        ("3 warpgroups", dict(tile_m=192, tile_n=128)),
        ("3 warpgroups, 3 of 16 exp2 on FMA", dict(tile_m=192, tile_n=128, exp2_on_fma=3)),
    ],
    128: [
        ("", dict(tile_m=128, tile_n=128)),
        ("a CTA for each tile", dict(tile_m=128, tile_n=128, persistent_ctas=0)),
        ("rescale always", dict(tile_m=128, tile_n=128, rescale_threshold=0)),
        ("turns at softmax", dict(tile_m=128, tile_n=128, turns='"softmax"')),
        ("cluster of 2", dict(tile_m=128, tile_n=128, cluster_m=2)),
        ("176 keys", dict(tile_m=128, tile_n=176)),
        ("176 keys, cluster of 2", dict(tile_m=128, tile_n=176, cluster_m=2)),
    ],
    256: [
        ("", dict(tile_m=128, tile_n=80)),
        ("64 keys", dict(tile_m=128, tile_n=64)),
        ("cluster of 2", dict(tile_m=128, tile_n=80, cluster_m=2)),
    ],
}


def get_schedule(head_dim, choice):
    fields = dict(exp2_on_fma=0, stages=2, persistent_ctas=132, rescale_threshold=8, cluster_m=1)
    fields["turns"] = '"products"' if head_dim <= 128 else '"none"'
    fields["output_tile"] = "true" if head_dim <= 128 and choice["tile_n"] <= 128 else "false"
    fields.update(choice, warps=choice["tile_m"] // 16)
    return fields


def get_clocks(d, m, n, counts):
    """Of one key tile of all warpgroups: products, shared memory, exponentials, instructions."""
    warpgroups = m // 64
    products = [(d // 16, n, 2048), (n // 16, d, 0)]  # of Q and K, whose A is in shared memory too, and of P and V
    mma = sum(count * columns / 2 for count, columns, _ in products)
    shared = sum(count * (a + columns * 32) / 128 for count, columns, a in products)
    filled = 2 * n * d * 2 / 128
    return {
        "MMA": warpgroups * mma,
        "shared": warpgroups * shared + filled,
        "MUFU": warpgroups * 8 * counts["MUFU"],
        "issue": warpgroups * counts["all"],
    }


def measure(ptxas, folder, d, label, choice):
    fields = get_schedule(d, choice)
    schedule = ", ".join(f"{name} = {value}" for name, value in fields.items())
    tensor, m, n = f"tensor<?x?x?x{d}xbf16>", fields["tile_m"], fields["tile_n"]
    text = MODULE.format(t=tensor, lse="tensor<?x?x?xf32>", schedule=schedule)
    code = cubin.read_kernel(hopper.assemble(ptxas, folder, f"{d}: {label}", text))
    loops = cubin.main_loops(code, d // 16 + n // 16)
    # A sum of its own for each score is branched over unless scores are large (masks of -1e9, say).
    counts = dict(cubin.counts(loops[0]), all=len(loops[0]) - n // 2)
    clocks = get_clocks(d, m, n, counts)
    limiter = max(clocks, key=clocks.get)
    # Of each K and V tile a CTA of a cluster reads its part.
    read = 2 * n * d * 2 // fields["cluster_m"] // 1024
    skipped = d // 2 if fields["rescale_threshold"] else 0
    cells = [d, f"{m} x {n}", label or "-", counts["all"], skipped, counts["MUFU"], f"{read} KiB"]
    cells += [f"{clocks[name]:.0f}" for name in ("MMA", "shared", "MUFU", "issue")]
    return cells + [limiter, f"{clocks['MMA'] / clocks[limiter]:.2f}"]


def main():
    head_dims = [int(d) for d in sys.argv[2:] if d.isdigit()] or list(CHOICES)
    labels = [label for label in sys.argv[2:] if not label.isdigit()]
    print("| D | tile | choice | instructions | of them skipped | MUFU | L2 reads | MMA | shared memory | MUFU | issue | limiter | MMA / limiter |")
    print("|---:|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for d in head_dims:
            for label, choice in CHOICES[d]:
                if label in labels or not labels:
                    print("|", " | ".join(map(str, measure(sys.argv[1], folder, d, label, choice))), "|", flush=True)


if __name__ == "__main__":
    main()
