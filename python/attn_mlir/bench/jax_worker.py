# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX's Mosaic GPU attention, timed in a process of its own: the protocol of worker.py, for one peer.

A call of the compiled function runs every set of inputs; its time is the host's, from dispatch to the end.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from .configurations import Problem
from .peers import Unavailable, first_line, sets_needed
from .worker import serve, take_standard_output

#: Tiles of the keys to try, the first that fits is taken, as that module's own benchmark does.
BLOCK_KV = (256, 128, 64)
CACHE_BYTES = 64 << 20


class JaxWorker:
    def __init__(self):
        self.function: Any = None

    def do_environment(self):
        jax = import_jax()
        return {"jax": jax.__version__, "jax_devices": [str(d) for d in jax.devices()]}

    def do_open(self, problem, sample_seconds, seed):
        jax = import_jax()
        self.problem, self.sample_seconds = Problem.from_json(problem), sample_seconds
        if jax.default_backend() != "gpu":
            raise Unavailable(f"JAX has no GPU here, its backend is {jax.default_backend()}")
        a = self.problem.attention
        if a.D != a.Dv:
            raise Unavailable("attention_mgpu has one head dim for key and value")
        if a.gradient:
            raise Unavailable("timed forward only")
        if a.mask not in ("", "causal(top_left)") or a.score or a.bias:
            raise Unavailable(f"attention_mgpu has no {a.mask or a.score or 'bias'}")
        sets = sets_needed(self.problem, CACHE_BYTES)
        keys = jax.random.split(jax.random.key(seed), 3 * sets)
        self.inputs = [[self.random(jax, keys[3 * s + t], t) for t in range(3)] for s in range(sets)]
        return {"sets": sets}

    def random(self, jax, key, operand):
        """[B, S, H, D], the layout that attention_mgpu takes, and f16: its tiles in shared memory are of that type."""
        p = self.problem
        rows, heads = (p.M, p.Hq) if operand == 0 else (p.N, p.Hkv)
        return jax.random.normal(key, (p.B, rows, heads, p.attention.D), "float16")

    def do_prepare(self, name, peer, kernel=None):
        began = time.monotonic()
        reasons = []
        for block_kv in BLOCK_KV:
            try:
                self.compile(block_kv)
                break
            except Exception as error:  # a tile too large is a ValueError, a compilation that fails is anything
                reasons.append(f"block_kv {block_kv}: {first_line(error)}")
        else:
            raise Unavailable("; ".join(reasons))
        seconds = min(self.run(1) for _ in range(3))
        self.passes = max(1, round(self.sample_seconds / seconds))
        note = f"f16, host time, block_kv {block_kv}"
        calls = self.passes * len(self.inputs)
        return {"prepare_seconds": time.monotonic() - began, "calls": calls, "note": note}

    def compile(self, block_kv):
        import jax
        from jax.experimental.pallas.ops.gpu import attention_mgpu

        config = attention_mgpu.TuningConfig(
            block_q=64, block_kv=block_kv, max_concurrent_steps=2, causal=self.problem.attention.mask != ""
        )
        # attention_mgpu does not scale its scores; the product is the same work.
        function = jax.jit(lambda inputs: [attention_mgpu.attention(q, k, v, config) for q, k, v in inputs])
        jax.block_until_ready(function(self.inputs))
        self.function = function

    def run(self, passes) -> float:
        import jax

        began = time.perf_counter()
        for _ in range(passes):
            results = self.function(self.inputs)
        jax.block_until_ready(results)
        return time.perf_counter() - began

    def do_sample(self, name):
        return {"seconds": self.run(self.passes) / (self.passes * len(self.inputs))}

    def do_close(self):
        self.function, self.inputs = None, []
        return {}


def import_jax():
    try:
        import jax

        return jax
    except Exception as error:  # an import may fail in any way
        raise Unavailable(f"no JAX: {error}") from None


def main():
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    replies = take_standard_output()
    serve(JaxWorker(), sys.stdin, replies)


if __name__ == "__main__":
    main()
