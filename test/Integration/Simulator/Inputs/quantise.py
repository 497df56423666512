"""Rows of every f16 and of the f32 at the edges of two 8-bit types, and what a pool is to hold of them.

    quantise.py make FOLDER       writes them, slots, descales and pools, as .npy
    quantise.py check FOLDER PREFIX [int8]   compares FOLDER/PREFIX.._k.npy and .._v.npy

int8: pools of i8, of which the nearest integers from -128 to 127 are expected, the even one of two, and 0 of NaN.

Rows are the quotient by the descale in f32; of its neighbours among all 256 numbers of a type the nearer one is taken, of two as near that
with the even byte, by float64 arithmetic alone.
"""

import sys
from pathlib import Path

import numpy as np

COLUMNS, DESCALE = 64, np.float32(0.37)


def decode(bias, fraction_bits, has_infinity):
    """The numbers of the bytes from 0 to the largest finite one."""
    numbers = []
    for byte in range(128):
        exponent, fraction = byte >> fraction_bits, byte & ((1 << fraction_bits) - 1)
        if byte == 127 or (has_infinity and exponent == 31):
            break
        number = fraction / 2**fraction_bits + (exponent > 0)
        numbers.append(number * 2.0 ** (max(exponent, 1) - bias))
    return np.array(numbers)


NUMBERS = {"k": decode(7, 3, False), "v": decode(15, 2, True)}


def round_to(numbers, values):
    """The bytes of the values, f32, NaN as 127."""
    magnitudes = np.minimum(np.abs(values.astype(np.float64)), numbers[-1])
    upper = np.clip(np.searchsorted(numbers, magnitudes), 1, len(numbers) - 1)
    below, above = magnitudes - numbers[upper - 1], numbers[upper] - magnitudes
    takes_upper = (above < below) | ((above == below) & (upper % 2 == 0))
    byte = np.where(takes_upper, upper, upper - 1)
    return np.where(np.isnan(values), 127, byte | np.signbit(values) << 7).astype(np.uint8)


def round_to_integer(values):
    return np.where(np.isnan(values), 0, np.rint(np.clip(values.astype(np.float64), -128, 127))).astype(np.int8).view(np.uint8)


def edges():
    """The f32 of the numbers of both types, between them, and what is next to each, and random bits, as rows."""
    numbers = np.concatenate([np.concatenate([n, (n[1:] + n[:-1]) / 2, [n[-1] * 1.03, n[-1] * 1.07, n[-1] * 4]]) for n in NUMBERS.values()])
    halves = np.arange(0, 130, 0.5)
    exact = np.concatenate([numbers, halves]).astype(np.float32)
    near = np.concatenate([exact, np.nextafter(exact, np.float32(np.inf)), np.nextafter(exact, np.float32(-np.inf)), exact * DESCALE])
    special = np.array([0, np.inf, np.nan, 3.4e38, 1e-45, 1e-38], np.float32)
    bits = np.random.default_rng(5).integers(0, 2**32, 16384, np.uint32)
    signed = np.concatenate([near, -near, special, -special, bits.view(np.float32)])
    return np.resize(signed, (signed.size // COLUMNS + 1, 1, COLUMNS))


def main():
    mode, folder = sys.argv[1], Path(sys.argv[2])
    k = np.arange(65536, dtype=np.uint16).view(np.float16).reshape(-1, 1, COLUMNS)
    v = np.resize(edges(), (len(k), 1, COLUMNS))
    if mode == "make":
        slots = np.random.default_rng(6).permutation(len(k)).astype(np.int32)
        pool = np.zeros((len(k), 1, 1, COLUMNS), np.uint8)
        arrays = {"k": k, "v": v, "slots": slots, "one": np.ones(1, np.float32), "descale": np.array([DESCALE]), "pool": pool, "integers": pool.view(np.int8), "small": np.linspace(0.02, 0.04, 6, dtype=np.float32).reshape(3, 2), "heads": np.linspace(0.5, 1.5, 6, dtype=np.float32).reshape(3, 2)}
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array)
        return
    slots, is_int8 = np.load(folder / "slots.npy"), "int8" in sys.argv
    with np.errstate(all="ignore"):
        for descale in ("one", "descale"):
            for name, rows in (("k", k), ("v", v)):
                quotients = rows.astype(np.float32) / np.load(folder / f"{descale}.npy")
                expected = np.zeros((len(k), 1, 1, COLUMNS), np.uint8)
                expected[slots, 0] = round_to_integer(quotients) if is_int8 else round_to(NUMBERS[name], quotients)
                got = np.frombuffer(np.load(folder / f"{sys.argv[3]}{descale}_{name}.npy").tobytes(), np.uint8).reshape(expected.shape)
                is_nan = ((expected & 127) == 127) & (not is_int8)
                assert np.all((got & 127)[is_nan] > len(NUMBERS[name]) - 1), f"{name} by {descale}: a NaN became a number"
                different = np.argwhere((got != expected) & ~is_nan)
                assert not len(different), f"{name} by {descale}: {len(different)} differ, {different[0]}: expected {expected[tuple(different[0])]}, got {got[tuple(different[0])]}"
    print("all bytes as expected")


if __name__ == "__main__":
    main()
