"""What ptxas made of a kernel: the wgmma loops of a sm_90a cubin, without a disassembler.

An instruction of sm_90 has 16 bytes, the low 12 bits are its opcode. A loop is a backward branch; the main loops are the
innermost ones with as many products as one step has. Standard library only.
"""

import struct

# Opcodes by what the budget tests ask for; the third hex digit tells operand forms apart.
OPCODES = {
    "HGMMA": {0x9F0, 0xDF0},
    "QGMMA": {0x9F3, 0xDF3},
    "HMMA": {0x23C},
    "QMMA": {0x27A},
    "PRMT": {0x416, 0x816, 0x216, 0xC16},
    "SHFL": {0x389, 0x589, 0x989, 0xF89},
    "MUFU": {0x308},
    "FMNMX": {0x209, 0x809},
    "FFMA": {0x223, 0x823, 0xC23, 0xA23, 0x423},
    "FMUL": {0x220, 0x820, 0xC20, 0xA20},
    "FADD": {0x221, 0x421, 0x821, 0xC21},
    "F2FP": {0x23E},
    "R2UR": {0x2CA},
    # ptxas also moves by IMAD with 0 and 1.
    "MOV": {0x202, 0x802, 0xA02, 0xC02, 0x224, 0x424, 0x824, 0xA24, 0xC24, 0xE24},
    "UMOV": {0x882, 0xC82},
    "LDL": {0x983},
    "STL": {0x387},
    "BAR": {0xB1D, 0x51D},
    "BRA": {0x947, 0x547},
}
WARPGROUP = 0x9C5  # WARPGROUP.ARRIVE and WARPGROUP.DEPBAR


class Instruction:
    def __init__(self, low, high):
        self.low, self.high = low, high
        self.opcode = low & 0xFFF

    def name(self):
        if self.opcode == WARPGROUP:
            return f"WAIT{self.high >> 8 & 0xFF}" if self.low >> 40 else "FENCE"
        return next((name for name, codes in OPCODES.items() if self.opcode in codes), "")

    def branch_target(self, position):
        """Index of the instruction that a branch goes to."""
        offset = self.low >> 34 & 0x3FFFFFFF | (self.high & 0x3FFFF) << 30
        if offset >> 47:
            offset -= 1 << 48
        return position + 1 + (offset * 256 + (self.low >> 16 & 0xFF)) * 4 // 16


def read_kernel(path, name=""):
    """The instructions of the kernel called `name`, or of the first one, in the cubin (ELF64, little endian)."""
    data = open(path, "rb").read()
    (table,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * size) for i in range(count)]
    strings = sections[names][4]
    for section in sections:
        start = strings + section[0]
        title = data[start : data.index(b"\0", start)].decode()
        if title == f".text.{name}" or (not name and title.startswith(".text.")):
            text = data[section[4] : section[4] + section[5]]
            return [Instruction(*struct.unpack_from("<QQ", text, i)) for i in range(0, len(text), 16)]
    raise ValueError(f"{path} has no kernel")


def main_loops(code, products, name="HGMMA"):
    """The innermost loops with `products` instructions called `name`, in the order of the code."""
    ranges = []
    for end, instruction in enumerate(code):
        if instruction.name() == "BRA":
            start = instruction.branch_target(end)
            if 0 <= start <= end and sum(i.name() == name for i in code[start : end + 1]) == products:
                ranges.append((start, end + 1))
    ranges.sort(key=lambda r: r[1] - r[0])
    chosen = []
    for start, end in ranges:
        if all(end <= s or start >= e for s, e in chosen):
            chosen.append((start, end))
    return [code[start:end] for start, end in sorted(chosen)]


def without_skipped(loop):
    """The loop without what its branches go over, as of tiles that are cut."""
    kept, end = [], 0
    for place, instruction in enumerate(loop):
        if place >= end:
            kept.append(instruction)
        if instruction.name() == "BRA" and place < (target := instruction.branch_target(place)) < len(loop):
            end = max(end, target)
    return kept


def counts(loop):
    return {name: sum(i.opcode in codes for i in loop) for name, codes in OPCODES.items()}


def order(loop):
    """The names of what orders the products and the exponentials, runs of one name merged: FENCE HGMMA WAIT1 MUFU ..."""
    names = []
    for instruction in loop:
        name = instruction.name()
        if name in ("FENCE", "HGMMA", "MUFU", "FMUL") or name.startswith("WAIT"):
            if not names or names[-1] != name:
                names.append(name)
    return names
