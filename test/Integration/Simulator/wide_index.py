"""Runs masks whose index arithmetic leaves 32 bits against float64, each on one device, on all in a long run.

What people write for "no limit" (2147483647), windows of 2^32 keys, lengths in i32 and i64 tensors at the ends of their
types, alone and in sums with coordinates.
"""

import struct
import subprocess
import sys
import tempfile

from sweep import LONG

DEVICES = ("cpu", "sim:sm_80", "sim:sm_90a")
Q = "tensor<?x?x?x64xf16>"
ARGUMENTS = "(%b: index, %h: index, %i: index, %j: index)"


def module_text(mask, argument=""):
    return f"""func.func @attention(%q: {Q}, %k: {Q}, %v: {Q}{argument}) -> {Q} {{
  %o = attn.attention %q, %k, %v mask_mod {mask} : {Q}, {Q}, {Q} -> {Q}
  return %o : {Q}
}}
"""


def at_most(limit):
    return f"""{ARGUMENTS} {{
    %limit = arith.constant {limit} : index
    %visible = arith.cmpi sle, %j, %limit : index
    attn.yield %visible : i1 }}"""


def below_length(integer, plus_row):
    bound = "%end = arith.addi %length, %zero : index"
    if plus_row:
        bound = "%more = arith.addi %length, %five : index\n    %end = arith.addi %i, %more : index"
    return f"""{ARGUMENTS} {{
    %zero = arith.constant 0 : index
    %five = arith.constant 5 : index
    %entry = tensor.extract %lengths[%b] : tensor<?x{integer}>
    %length = arith.index_cast %entry : {integer} to index
    {bound}
    %visible = arith.cmpi slt, %j, %end : index
    attn.yield %visible : i1 }}"""


def cases():
    """Names, modules, and the integer type of the lengths with the values of each run."""
    for limit in (2**31 - 1, 2**31, 2**40):
        yield f"j <= {limit}", module_text(at_most(limit)), None
    for window in ("0, 2147483647", "3, 4294967296", "2147483647, 0", "9223372036854775807, 3"):
        yield f"sliding_window({window})", module_text(f"sliding_window({window})"), None
    ends = {"i32": [[2**31 - 1, 7], [-(2**31), 3]], "i64": [[2**31 - 1, 7], [2**32 + 5, 2**40], [-(2**63), 2**32]]}
    for integer, lengths in ends.items():
        for plus_row in (False, True):
            module = module_text(below_length(integer, plus_row), f", %lengths: tensor<?x{integer}>")
            yield f"{integer} {lengths}, {'in a sum' if plus_row else 'alone'}", module, (integer, lengths)


def write_npy(path, integer, values):
    code, size = ("q", 8) if integer == "i64" else ("i", 4)
    header = f"{{'descr': '<i{size}', 'fortran_order': False, 'shape': ({len(values)},), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(values)}{code}", *values))


def main():
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, module, lengths) in enumerate(cases()):
            with open(f"{folder}/attention.mlir", "w") as file:
                file.write(module)
            for device in DEVICES if LONG else [DEVICES[number % 3]]:
                command = ["attn-run", f"{folder}/attention.mlir", f"--device={device}", "--verify"]
                command += ["--shape=B=2,Hq=2,Hkv=1,M=70,N=150"]
                if lengths:
                    integer, runs = lengths
                    for number, values in enumerate(runs):
                        write_npy(f"{folder}/{number}.npy", integer, values)
                    command.append("--input=" + ";".join(f"arg3={folder}/{number}.npy" for number in range(len(runs))))
                result = subprocess.run(command, capture_output=True, text=True)
                if result.returncode:
                    sys.exit(f"FAIL {name} on {device}\n{result.stdout}{result.stderr}\n{module}")
                count += result.stdout.count("verify: PASS")
    print(f"{count} runs: all within their bounds")


if __name__ == "__main__":
    main()
