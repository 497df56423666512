"""Runs lengths.mlir: results against float64, and in the simulator the bytes of K against the lengths.

usage: check_lengths.py FILE DEVICE
"""

import json
import os
import struct
import subprocess
import sys
import tempfile

LENGTHS = [0, 1, 63, 64, 65, 150]
HEADS, ROWS, KEYS, D, TILE = 2, 100, 150, 32, 64


def write_lengths(path):
    header = "{'descr': '<i4', 'fortran_order': False, 'shape': (%d,), }" % len(LENGTHS)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        f.write(struct.pack(f"<{len(LENGTHS)}i", *LENGTHS))


def count_key_bytes(visible):
    """Bytes of the key tiles that hold some of the keys `visible(first row, last row, length)`, for all row tiles."""
    keys = 0
    for length in LENGTHS:
        for row in range(0, ROWS, TILE):
            seen = visible(row, min(row + TILE, ROWS) - 1, length)
            tiles = {j // TILE for j in seen if 0 <= j < KEYS}
            keys += HEADS * sum(min(TILE, KEYS - n * TILE) for n in tiles)
    return keys * D * 2


def main():
    path, device = sys.argv[1:]
    expected = {
        "padding": count_key_bytes(lambda first, last, length: range(length)),
        "causal": count_key_bytes(lambda first, last, length: range(last + length - ROWS + 1)),
        # Of keys that do not exist no byte is read.
        "existing": HEADS * -(-ROWS // TILE) * sum(LENGTHS) * D * 2,
        "paged": HEADS * -(-ROWS // TILE) * sum(LENGTHS) * D * 2,
        "window": count_key_bytes(lambda first, last, length: range(first + LENGTHS[3] + 1, KEYS)),
    }
    with tempfile.TemporaryDirectory() as folder:
        lengths, report = os.path.join(folder, "lengths.npy"), os.path.join(folder, "report.json")
        write_lengths(lengths)
        for name, key_bytes in expected.items():
            command = ["attn-run", path, f"--function={name}", f"--device={device}", "--random=1", f"--input=arg{4 if name == 'paged' else 3}={lengths}"]
            if device != "cpu":
                command.append(f"--report={report}")
            run = subprocess.run([*command, "--verify"], capture_output=True, text=True)
            if run.returncode:
                sys.exit(f"FAIL @{name}: {run.stdout}{run.stderr}")
            if device != "cpu":
                with open(report) as f:
                    read = {operand["name"]: operand["read"] for operand in json.load(f)["operands"]}
                if read["key"] != key_bytes:
                    sys.exit(f"FAIL @{name}: expected {key_bytes} bytes of K, got {read['key']}")
            print(f"@{name} passes")


if __name__ == "__main__":
    main()
