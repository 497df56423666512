"""positions.py FOLDER: rows.npy and keys.npy, the positions of a rank's rows and keys in a whole of 200."""

import sys
from pathlib import Path

from attn_mlir.runtime.host_array import HostArray, write_npy

for name, positions in (("rows", [*range(0, 40), *range(150, 190)]), ("keys", [*range(0, 100), *range(120, 200)])):
    write_npy(Path(sys.argv[1], f"{name}.npy"), HostArray.of("i32", (len(positions),), positions))
