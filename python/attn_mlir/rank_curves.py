# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Predicted time, bytes and balance of plans for several GPUs, of the masks of long-context training."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any, Callable, Iterator, NamedTuple

#: Most blocks of tokens in a row of a mask that is a picture.
MOST_BLOCKS = 1024
#: Keys that a row of a window sees, itself among them.
WINDOW = 4096


class Curve(NamedTuple):
    """Of a mask and a kind of plan: seconds, bytes that a rank sends at most, and most work of a rank / mean, at each x."""

    mask: str
    kind: str
    xs: list[int]
    seconds: list[float]
    sent_bytes: list[int]
    balance: list[float]


def document_lengths(tokens: int) -> list[int]:
    """Drawn with a fixed seed: half of the documents have less than 3000 tokens, and few have most of all tokens."""
    draw, lengths = random.Random(1), []
    while tokens:
        lengths.append(min(tokens, max(16, int(draw.lognormvariate(8, 1.6)))))
        tokens -= lengths[-1]
    return lengths


def picture(blocks: int, sees: Callable[[int, int], str]) -> str:
    """As `attn-schedule --blocks` takes it."""
    return "\n".join("".join(sees(row, key) for key in range(blocks)) for row in range(blocks))


def block_causal(blocks: int) -> str:
    """Blocks of 1/64 of the tokens see their own and those before."""
    size = max(1, blocks // 64)
    return picture(blocks, lambda row, key: "#" if key // size <= row // size else ".")


def shared_prefix(blocks: int) -> str:
    """Eight parts, of which the first is seen by all and each other one by itself alone, causal."""
    part = max(1, blocks // 8)

    def sees(row: int, key: int) -> str:
        if key > row or key // part not in (0, row // part):
            return "."
        return "+" if key == row else "#"

    return picture(blocks, sees)


#: By name: the mask of the problem, and a picture of blocks in its place.
MASKS: dict[str, tuple[str, Any]] = {
    "full": ("full", None),
    "causal": ("causal", None),
    "window": (f"window:{WINDOW}", None),
    "documents": ("causal", None),
    "block-causal": ("full", block_causal),
    "shared-prefix": ("full", shared_prefix),
}


def numbers_of(text: str, name: str) -> list[int]:
    """A number, or FIRST:LAST as powers of two."""
    first, _, last = text.partition(":")
    if not first.isdecimal() or (last and not last.isdecimal()) or int(first) < 1 or int(last or first) < int(first):
        raise ValueError(f"--{name}: expected a number or FIRST:LAST, got {text!r}")
    numbers = [int(first)]
    while numbers[-1] * 2 <= int(last or first):
        numbers.append(numbers[-1] * 2)
    return numbers


def options_of(mask: str, tokens: int, ranks: int, folder: Path) -> list[str]:
    """What attn-schedule is told of a mask beside the problem."""
    draw = MASKS[mask][1]
    if mask == "documents":
        return [f"--documents={','.join(map(str, document_lengths(tokens)))}"]
    if draw is None:
        return []
    chunk = -(-tokens // min(MOST_BLOCKS, max(64, 4 * ranks)))
    file = folder / "blocks"
    file.write_text(draw(-(-tokens // chunk)))
    return [f"--blocks={file}", f"--chunk={chunk}"]


def kinds_of(report: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The best plan, and the best of the others' schemes."""
    ranked = report["ranked"]
    yield "plan", ranked[0]
    for kind, scheme in (("ring", "ring"), ("Ulysses", "all-to-all")):
        found = [row for row in ranked if row["scheme"] == scheme]
        if found:
            yield kind, found[0]


def make_curves(plan: Callable[..., dict[str, Any]], arguments: Any) -> list[Curve]:
    """`plan` runs attn-schedule on a problem with options. Prints what it finds."""
    tokens, ranks = numbers_of(arguments.tokens, "tokens"), numbers_of(arguments.ranks, "ranks")
    if len(tokens) > 1 and len(ranks) > 1:
        raise ValueError("expected one number in --tokens or in --ranks, got two ranges")
    curves: dict[tuple[str, str], Curve] = {}
    more = [f"--link={arguments.link}"] if arguments.link else []
    with tempfile.TemporaryDirectory(prefix="attn-") as folder:
        for mask in arguments.masks.split(","):
            if mask not in MASKS:
                raise ValueError(f"--masks: expected some of {', '.join(MASKS)}, got {mask!r}")
            for n, p in [(n, p) for n in tokens for p in ranks]:
                problem = f"{arguments.problem} M={n} N={n} mask={MASKS[mask][0]}"
                report = plan(problem, f"--ranks={p}", "--top=1000", *more, *options_of(mask, n, p, Path(folder)))
                for kind, row in kinds_of(report):
                    curve = curves.setdefault((mask, kind), Curve(mask, kind, [], [], [], []))
                    curve.xs.append(n if len(tokens) > 1 else p)
                    curve.seconds.append(row["seconds"])
                    curve.sent_bytes.append(row["sent_bytes"])
                    curve.balance.append(row["balance"])
                    print(
                        f"{mask}, {n} tokens, {p} ranks, {kind}: {row['seconds'] * 1e3:.4g} ms, {row['sent_bytes'] / 2**20:.4g} MiB, "
                        f"balance {row['balance']:.2f} ({row['scheme']}, {row['placement']})"
                    )
    return list(curves.values())


def draw_curves(pyplot: Any, curves: list[Curve], axis: str, output: str):
    """A column for each mask; time, bytes and balance one below the other, against the axis."""
    masks = list(dict.fromkeys(curve.mask for curve in curves))
    figure, grid = pyplot.subplots(3, len(masks), figsize=(3 * len(masks) + 1, 8), squeeze=False)
    styles = {"plan": "o-", "ring": "s--", "Ulysses": "^:"}
    rows = (
        ("ms", lambda c: [1e3 * s for s in c.seconds]), ("MiB sent by a rank", lambda c: [b / 2**20 for b in c.sent_bytes]),
        ("most work / mean", lambda c: c.balance),
    )  # fmt: skip
    for row, (name, values) in enumerate(rows):
        for column, mask in enumerate(masks):
            axes = grid[row][column]
            for curve in curves:
                if curve.mask == mask:
                    axes.plot(curve.xs, values(curve), styles[curve.kind], label=curve.kind)
            axes.set_xscale("log", base=2)
            if row < 2:
                axes.set_yscale("log")
            axes.set(title=mask if row == 0 else "", xlabel=axis if row == 2 else "", ylabel=name if column == 0 else "")
    grid[0][0].legend(frameon=False)
    figure.tight_layout()
    figure.savefig(output, metadata={"Date": None} if output.endswith(".svg") else None)
    pyplot.close(figure)
