"""Keys, each larger than the one before: the maxima of the rows rise in every step.

usage: rising-keys.py KEYS.npy FACTOR

KEYS.npy (f16) is changed in place: key 0 is as it was, the last one FACTOR times as large.
"""

import sys

import numpy as np

keys = np.load(sys.argv[1])
ramp = np.linspace(1, float(sys.argv[2]), keys.shape[-2])
np.save(sys.argv[1], (keys * ramp[:, None]).astype(keys.dtype))
