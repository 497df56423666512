# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launching PTX from its manifest, on a GPU or in the simulator. Python's standard library only.

`manifest` has the file and `binding` checks tensors against it and evaluates launches, both by libattn-runtime-c (`library`);
`cuda` speaks to the driver, `devices` runs a kernel on either device.
"""
