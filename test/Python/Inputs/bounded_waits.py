"""Runs a kernel with and without bounded waits, then without one of its arrivals."""

import dataclasses
import random
import sys

from attn_mlir.errors import DeviceError
from attn_mlir.runtime.devices import CudaDevice, Program
from attn_mlir.runtime.host_array import HostArray, round_to

KEYS = 1500  # more tiles than stages


def inputs(program):
    generator, tensors = random.Random(1), []
    for operand in program.manifest.operands:
        if operand.role == "input":
            shape = (1, 2, KEYS, 64)
            count = shape[0] * shape[1] * shape[2] * shape[3]
            tensors.append(HostArray.of(operand.dtype, shape, (round_to(generator.gauss(0, 1), operand.dtype) for _ in range(count))))
    return tensors


def without_arrival(program, number):
    """The program with one arrival of a consumer left out."""
    lines = program.ptx.split("\n")
    arrivals = [i for i, line in enumerate(lines) if "mbarrier.arrive.shared.b64 _" in line]
    lines[arrivals[number]] = ""
    return dataclasses.replace(program, ptx="\n".join(lines)), len(arrivals)


def main():
    plain, bounded = map(Program.load, sys.argv[1:])
    tensors, device = inputs(plain), CudaDevice()
    expected = device.run(plain, tensors)
    assert [t.data for t in device.run(bounded, tensors)] == [t.data for t in expected]
    assert device.context.lost_wait() == ""
    reports, (_, count) = [], without_arrival(bounded, 0)
    for number in range(count):
        device = CudaDevice()
        try:
            device.run(without_arrival(bounded, number)[0], tensors)
        except DeviceError as error:
            reports.append(str(error))
    assert reports
    for report in reports:
        print(report)


main()
