"""Peers of the benchmark kit on the CPU compute the problem that they are timed on, and a wrong result is seen."""

import unittest

import torch
from attn_mlir.bench.configurations import Attention, Problem
from attn_mlir.bench.peers import PEERS, Unavailable
from attn_mlir.bench.session import Session
from attn_mlir.bench.suites import tiny_suite
from attn_mlir.bench.torch_arrays import TorchArrays

GROUPED = dict(B=2, Hq=4, Hkv=2, M=64, N=64, layout="bnhd")
TIMED = tiny_suite().timed


def fault(problem, peer, change=0.0):
    """What is wrong with a peer's first call, after `change` is added to its first result."""
    session = Session(problem, "cpu", 0.0, seed=1)
    results = PEERS[peer](session)(0)
    named = dict(zip(problem.results, results if isinstance(results, tuple) else (results,)))
    named = {name: tensor.detach() for name, tensor in named.items()}
    named[problem.results[0]] = named[problem.results[0]] + change
    return TorchArrays("cpu").spot_check(problem, session.sets[0], named, count=16)


class Peers(unittest.TestCase):
    def test_masks(self):
        for problem in TIMED["masks"] + (Problem(Attention(D=64, Dv=64, mask="sliding_window(15, 3)"), **GROUPED),):
            self.assertIsNone(fault(problem, "flex"), problem.name)
        self.assertIn("its output is wrong", fault(TIMED["masks"][0], "flex", change=1.0))

    def test_backward(self):
        causal = Problem(Attention(D=64, Dv=64, mask="causal(top_left)", gradient=True), **GROUPED)
        for peer in ("flash2", "flash2-deterministic"):
            self.assertIsNone(fault(causal, peer))
            self.assertFalse(torch.are_deterministic_algorithms_enabled())
        self.assertIn("its d_query is wrong", fault(causal, "flash2", change=1.0))

    def test_what_peers_lack(self):
        for peer, message in (("cudnn", "has no mask documents"), ("flash2", "varlen_attn|_flash_attention_forward"), ("triton", "")):
            with self.assertRaisesRegex(Unavailable, message):
                fault(TIMED["backward"][1], peer)


unittest.main()
