"""Multiplies the f32 elements of a .npy file. usage: scale-npy.py FROM.npy FACTOR TO.npy"""

import array
import sys

with open(sys.argv[1], "rb") as source:
    data = source.read()
begin = 10 + int.from_bytes(data[8:10], "little")
numbers = array.array("f", [number * float(sys.argv[2]) for number in array.array("f", data[begin:])])
with open(sys.argv[3], "wb") as target:
    target.write(data[:begin] + numbers.tobytes())
