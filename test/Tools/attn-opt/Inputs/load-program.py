"""Loads NAME.json and its PTX as Python does; prints what is wrong with them."""

import sys

from attn_mlir.errors import ManifestError
from attn_mlir.runtime.devices import Program

try:
    Program.load(sys.argv[1])
except ManifestError as error:
    sys.exit(str(error))
