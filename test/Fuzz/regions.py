"""Random regions of score_mod, mask_mod and prob_mod: the last number of each op's name says which it is."""

from pathlib import Path

import numpy as np

CONSTANTS = [0, 1, 2, 3, 7, 15, 16, 17, 63, 64, 65, 100, -1, -2, -64, (1 << 31) - 1, 1 << 31, -(1 << 31), (1 << 32) + 3, 1 << 62]
LENGTHS = [0, 1, 5, 16, 33, 64, 100, (1 << 31) - 1, -1, -(1 << 31)]
LONG_LENGTHS = LENGTHS + [(1 << 32) + 5, 1 << 32, 1 << 40, 1 << 62, (1 << 63) - 6, (1 << 63) - 1, -(1 << 62), 2 - (1 << 63), -(1 << 63)]
PREDICATES = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]


class Region:
    """Ops of a region, each of which names the last by a number."""

    def __init__(self, rng, indent, gradients=False):
        self.rng, self.lines, self.indent, self.captures = rng, [], indent, {}
        # What all keys have in common has no gradient.
        self.added = [("B", "N")] if gradients else [("Hq",), ("B", "N"), ("B", "M")]
        # NaN and what is above all numbers make a row's output NaN; of its gradients no more is said.
        self.selected = ["-1.0e+9", "-3.40282347E+38", "-1.0e+4", "-65504.0", "1.5", "0xFF800000", "-0.0", "1.0e-45"]
        self.selected += [] if gradients else ["0x7FC00000", "0x7F800000"]

    def add(self, text):
        name = f"%{self.indent}{len(self.lines)}"
        self.lines.append(f"        {name} = {text}")
        return name

    def capture(self, shape, kind):
        """A tensor that the region reads: [B], [B, N], [Hq], ..., by its dimensions' names."""
        return self.captures.setdefault((shape, kind), f"%{'data_' + '_'.join(shape) + '_' + kind}")

    def index(self, depth=2):
        """An expression of type index."""
        draw = self.rng.random()
        if depth == 0 or draw < 0.35:
            return self.rng.choice(["%i", "%j", "%i", "%j", "%h", "%b"]) if self.rng.random() < 0.9 else self.rng.choice([self.length, self.size])()
        if draw < 0.5:
            return self.add(f"arith.constant {self.rng.choice(CONSTANTS)} : index")
        if draw < 0.65:
            return self.read(self.rng.choice([("B",), ("B", "N"), ("B", "M"), ("Hq",)]), self.rng.choice(["i32", "i32", "i64"]))
        if draw < 0.8:
            divisor = self.add(f"arith.constant {self.rng.choice([1, 2, 3, 8, 16, 64, 100])} : index")
            op = self.rng.choice(["floordivsi", "divui", "remui", "remsi", "ceildivsi"])
            return self.add(f"arith.{op} {self.index(depth - 1)}, {divisor} : index")
        if draw < 0.87:
            return self.wrapping()
        op = self.rng.choice(["addi", "subi", "muli", "minsi", "maxsi", "addi", "subi"])
        return self.add(f"arith.{op} {self.index(depth - 1)}, {self.index(depth - 1)} : index")

    def length(self):
        return self.add(f"attn.length {self.rng.choice(['key', 'query'])}")

    def size(self):
        """That of a tensor, of which nothing else may be read."""
        shape = self.rng.choice([("N",), ("M",), ("B", "N")])
        tensor, dim = self.capture(shape, "i32"), self.add(f"arith.constant {len(shape) - 1} : index")
        return self.add(f"tensor.dim {tensor}, {dim} : tensor<{'x'.join(f'SIZE_{name}' for name in shape)}xi32>")

    def wrapping(self):
        """A sum of i64 data and a position, or the negative of such data: from the ends of its range it wraps around."""
        data = self.read(self.rng.choice([("B",), ("B", "N"), ("B", "M"), ("Hq",)]), "i64")
        other = self.rng.choice(["%i", "%j", self.add("arith.constant 0 : index"), self.read(("Hq",), "i64")])
        op, (a, b) = self.rng.choice(["addi", "subi", "subi"]), self.rng.sample([data, other], 2)
        return self.add(f"arith.{op} {a}, {b} : index")

    def compare_narrow(self):
        """A comparison in i32, of a position and data or a constant, whose sum may wrap around there."""
        at, other = (self.add(f"arith.index_cast {position} : index to i32") for position in self.rng.sample(["%i", "%j"], 2))
        if self.rng.random() < 0.5:
            term = self.add(f"arith.constant {self.rng.choice([1, 7, -64, (1 << 31) - 1, (1 << 31) - 50, -(1 << 31)])} : i32")
        else:
            tensor = self.capture(("Hq",), "i32")
            term = self.add(f"tensor.extract {tensor}[%h] : tensor<SIZE_Hqxi32>")
        total = self.add(f"arith.{self.rng.choice(['addi', 'subi'])} {at}, {term} : i32")
        return self.add(f"arith.cmpi {self.rng.choice(PREDICATES)}, {total}, {other} : i32")

    def compare_documents(self):
        """Whether a row and a key are of one sequence of those that lie behind each other, or in which order theirs are; or by the ends of one's."""
        offsets = self.capture(("S1",), "i32")
        positions = self.rng.choice([("%i", "%j"), ("%i", "%j"), ("%j", "%i")])
        row, key = (self.add(f"attn.segment {offsets} at {position} : tensor<SIZE_S1xi32>") for position in positions)
        if self.rng.random() < 0.5:
            same = self.add(f"arith.cmpi {self.rng.choice(['eq', 'eq', 'sge', 'ne'])}, {row}, {key} : index")
            return self.both([same, *[self.add("arith.cmpi sle, %j, %i : index")] * (self.rng.random() < 0.5)])
        one = self.add("arith.constant 1 : index")
        entries = [row, self.add(f"arith.addi {row}, {one} : index")]
        entries = [self.add(f"tensor.extract {offsets}[{entry}] : tensor<SIZE_S1xi32>") for entry in entries]
        begin, end = (self.add(f"arith.index_cast {entry} : i32 to index") for entry in entries)
        terms = [
            self.add(f"arith.cmpi {self.rng.choice(['sle', 'sle', 'sle', 'slt'])}, {begin}, {positions[1]} : index"),
            self.add(f"arith.cmpi {self.rng.choice(['slt', 'slt', 'slt', 'sle'])}, {positions[1]}, {end} : index"),
            self.add(f"arith.cmpi sgt, {end}, {positions[0]} : index"),
            self.add("arith.cmpi sge, %i, %j : index"),
        ]
        return self.both(self.rng.sample(terms, self.rng.choice([2, 3, 3, 4])))

    def window(self, shown):
        """`shown`, if it is a condition, in a window around the row, its place among the keys, or where a block of keys begins, as a division without sign has it."""
        place, kind = "%i", self.rng.random()
        if kind < 0.6:
            keys, rows = (self.add(f"attn.length {sequence}") for sequence in ("key", "query"))
            place = self.add(f"arith.addi %i, {self.add(f'arith.subi {keys}, {rows} : index')} : index")
        elif kind < 0.7:
            block = self.add(f"arith.constant {self.rng.choice([4, 16])} : index")
            behind = self.add(f"arith.addi %i, {self.add('attn.length key')} : index")
            place = self.add(f"arith.muli {self.add(f'arith.divui {behind}, {block} : index')}, {block} : index")
        before = self.add(f"arith.constant {self.rng.choice([1, 2, 5, 17, 40, 64])} : index")
        first = self.add(f"arith.subi {place}, {before} : index")
        conditions = [self.add(f"arith.cmpi {self.rng.choice(['sgt', 'sge'])}, %j, {first} : index")]
        if self.rng.random() < 0.7:
            conditions.append(self.add(f"arith.cmpi sle, %j, {place} : index"))
        return self.both(conditions + [shown] * (shown is not None and self.rng.random() < 0.5))

    def both(self, conditions):
        result = conditions[0]
        for condition in conditions[1:]:
            result = self.add(f"arith.andi {result}, {condition} : i1")
        return result

    def read(self, shape, kind="i32"):
        at = {"B": "%b", "Hq": "%h", "M": "%i", "N": "%j"}
        tensor = self.capture(shape, kind)
        dims = "x".join("SIZE_" + dim for dim in shape)
        value = self.add(f"tensor.extract {tensor}[{', '.join(at[dim] for dim in shape)}] : tensor<{dims}x{kind}>")
        return value if kind == "f32" else self.add(f"arith.index_cast {value} : {kind} to index")

    def condition(self, depth=2):
        if self.rng.random() < 0.03:
            return self.add(f"arith.constant {self.rng.choice(['true', 'false'])}")
        if self.rng.random() < 0.08:
            return self.compare_narrow()
        if self.rng.random() < 0.1:
            return self.compare_documents()
        if depth == 0 or self.rng.random() < 0.4:
            return self.add(f"arith.cmpi {self.rng.choice(PREDICATES)}, {self.index()}, {self.index()} : index")
        op = self.rng.choice(["andi", "ori", "andi", "ori", "xori"])
        return self.add(f"arith.{op} {self.condition(depth - 1)}, {self.condition(depth - 1)} : i1")

    def score(self, score, depth=2):
        """A change of the score that keeps it of the size of scores."""
        kind = self.rng.choice(["slope", "read", "cap", "select", "scale", "distance"])
        if kind == "slope":
            slope = self.read(("Hq",), "f32")
            distance = self.add("arith.subi %j, %i : index")
            integer = self.add(f"arith.index_cast {distance} : index to i32")
            number = self.add(f"arith.sitofp {integer} : i32 to f32")
            term = self.add(f"arith.mulf {slope}, {number} : f32")
            small = self.add(f"math.tanh {term} : f32")
            score = self.add(f"arith.addf {score}, {small} : f32")
        elif kind == "read":
            term = self.read(self.rng.choice(self.added), "f32")
            score = self.add(f"arith.addf {score}, {term} : f32")
        elif kind == "cap":
            cap = self.add(f"arith.constant {self.rng.choice(['5.0', '30.0', '30.0', '1.0e-38', '1.0e-5', '1.0e+16'])} : f32")
            inside = self.add(f"arith.divf {score}, {cap} : f32")
            bent = self.add(f"math.tanh {inside} : f32")
            score = self.add(f"arith.mulf {bent}, {cap} : f32")
        elif kind == "select":
            value = self.add(f"arith.constant {self.rng.choice(self.selected)} : f32")
            score = self.add(f"arith.select {self.condition(1)}, {score}, {value} : f32")
        elif kind == "scale":
            factor = self.add(f"arith.constant {self.rng.choice(['0.5', '-1.25', '2.0', '0.0', '1.0e-45', '-1.0e-30'])} : f32")
            score = self.add(f"arith.mulf {score}, {factor} : f32")
        else:
            distance = self.add("arith.subi %i, %j : index")
            integer = self.add(f"arith.index_cast {distance} : index to i32")
            number = self.add(f"arith.sitofp {integer} : i32 to f32")
            term = self.add(f"math.absf {number} : f32")
            factor = self.add(f"arith.constant {self.rng.choice(['-0.03125', '-0.03125', '-1.0e+9', '-3.0e+38', '1.0e-42'])} : f32")
            product = self.add(f"arith.mulf {term}, {factor} : f32")
            score = self.add(f"arith.addf {score}, {product} : f32")
        return score if depth == 0 or self.rng.random() < 0.5 else self.score(score, depth - 1)

    def weight(self, score):
        """A weight without softmax, from 1/2 to 3/2 whatever the score."""
        bent = self.add(f"math.tanh {score} : f32")
        half, one = self.add("arith.constant 0.5 : f32"), self.add("arith.constant 1.0 : f32")
        small = self.add(f"arith.mulf {bent}, {half} : f32")
        return self.add(f"arith.addf {small}, {one} : f32")


def write_prob_mod(rng):
    """A change of the probability %p that is no factor: its square, a floor, a mix with the identity, a constant beside it."""
    constant = f"        %c = arith.constant {rng.choice(['0.25', '0.5', '0.0'])} : f32\n"
    lines, result = rng.choice([
        (["%r = arith.mulf %p, %p : f32"], "%r"),
        (["%x = arith.subf %p, %c : f32", "%z = arith.constant 0.0 : f32", "%r = arith.maximumf %x, %z : f32"], "%r"),
        (["%x = arith.mulf %p, %c : f32", "%y = arith.addf %x, %c : f32", "%e = arith.cmpi eq, %i, %j : index",
          "%r = arith.select %e, %y, %x : f32"], "%r"),
        (["%r = arith.addf %p, %c : f32"], "%r"),
    ])  # fmt: skip
    return constant + "".join(f"        {line}\n" for line in [*lines, f"attn.yield {result} : f32"])


def write_score_factor(rng, region):
    """%score times one number for each row, or for each row and block of keys, of any sign, and 0: kernels multiply no score by it."""
    factor = region.read(rng.choice([("Hq",), ("B", "M"), ("B",)]), "f32")
    if rng.random() < 0.5:
        keys = region.add(f"arith.constant {rng.choice([64, 128])} : index")
        block = region.add(f"arith.{rng.choice(['divui', 'floordivsi'])} %j, {keys} : index")
        number = region.add(f"arith.sitofp {region.add(f'arith.index_cast {block} : index to i32')} : i32 to f32")
        first = region.add("arith.constant 1.0 : f32")
        factor = region.add(f"arith.mulf {factor}, {region.add(f'arith.subf {first}, {number} : f32')} : f32")
    return region.add(f"arith.mulf {', '.join(rng.sample(['%score', factor], 2))} : f32")


def write_prob_factor(rng, region):
    """%p times what a tensor has for the key, the row, the head or the pair, under a condition or not."""
    factor = region.read(rng.choice(region.added), "f32")
    result = region.add(f"arith.{rng.choice(['mulf', 'mulf', 'divf'])} %p, {factor} : f32")
    if rng.random() < 0.3:
        shown, zero = region.condition(), region.add("arith.constant 0.0 : f32")
        result = region.add(f"arith.select {shown}, {result}, {rng.choice([zero, '%p'])} : f32")
    return "".join(f"{line}\n" for line in [*region.lines, f"        attn.yield {result} : f32"])


def write_data(rng, folder, sizes, shape, kind):
    """A captured tensor's .npy: lengths with extremes, ids, or small floats."""
    dims, random_data = [sizes[dim] for dim in shape], np.random.default_rng(rng.randrange(1 << 30))
    if shape == ("S1",):  # documents, of no rows too, that may leave the last ones out
        data = np.sort(random_data.integers(0, min(sizes["M"], sizes["N"]) + 1, dims)).astype(np.int32)
        data[0] = 0
    elif kind == "f32":
        data = random_data.uniform(-2, 2, dims).astype(np.float32)
    elif rng.random() < 0.5:
        lengths = LENGTHS if kind == "i32" else LONG_LENGTHS
        data = random_data.choice(np.array(lengths, np.int64), dims).astype(np.dtype(f"int{kind[1:]}"))
    else:
        data = random_data.integers(0, 4, dims).astype(np.dtype(f"int{kind[1:]}"))
    path = Path(folder, f"{'_'.join(shape)}_{kind}.npy")
    np.save(path, data)
    return path
