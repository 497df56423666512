"""Requests for attn-run --serve, right and wrong, and the memory that they are about: ones of f16."""

import json
import sys

import numpy

memory = f"{sys.argv[1]}/memory"
numpy.ones(1152, numpy.float16).tofile(memory)


def tensor(shape, offset=0, dtype="f16"):
    return {"dtype": dtype, "shape": shape, "offset": offset}


def request(arguments, results_at=1024, **others):
    print(json.dumps({"memory": memory, "arguments": arguments, "results_at": results_at, **others}))


LONG, SHORT = [1, 1, 5, 64], [1, 1, 3, 64]
request([tensor([1, 2, 5, 64], 0), tensor([1, 1, 3, 64], 0)], 1280)
request([tensor([1, 2, 3, 64], 0), tensor([1, 2, 5, 64], 0)], 4096)
request([tensor(LONG)])
request([tensor(LONG), tensor(LONG, dtype="f32")])
request([tensor(LONG), tensor([1, 1, 5, 8])])
request([tensor(LONG), tensor(SHORT)], memory=memory + "/missing")
request([tensor(LONG, -64), tensor(SHORT)])
request([tensor([1, 2, 8, 64]), tensor(SHORT)], 64)
request([tensor([1, 1, -5, 64]), tensor(SHORT)])
request([tensor([1, 1, 2**57, 64]), tensor(SHORT)])
request([tensor(LONG), tensor(SHORT)], 2**63 - 1)
print(json.dumps({"arguments": [], "results_at": 0}))
print("q.npy\tk.npy\to.npy")
