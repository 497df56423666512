# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures of one plan for several GPUs, of what `attn-schedule --ranks --json` prints."""

# Of more, the legend would hide the figure.
MOST_RANKS_OF_LEGEND = 16


def count_tokens(ranges):
    return sum(end - begin for begin, end in ranges)


def describe_rank(number, rank, pairs):
    """Its share of the work, and the tokens that it receives."""
    received = sum(count_tokens(t.get("keys") or t["rows"]) for stage in rank["stages"] for t in stage["receive"])
    return f"rank {number}: {rank['pairs'] / max(pairs, 1):.1%} of the work, {received} tokens received"


def draw_ranks(pyplot, report, output):
    plan, best = report["plan"], report["ranked"][0]
    figure, axes = pyplot.subplots(figsize=(6, 7))
    shades = pyplot.get_cmap("tab10")
    pairs = sum(rank["pairs"] for rank in plan["ranks"])
    handles = []
    for number, rank in enumerate(plan["ranks"]):
        color = shades(number % 10)
        for k, stage in enumerate(rank["stages"]):
            # What is computed later is paler.
            alpha = 1 - 0.7 * k / len(rank["stages"])
            for call in stage["calls"]:
                for top, bottom in call["rows"]:
                    for left, right in call["keys"]:
                        axes.add_patch(
                            pyplot.Rectangle(
                                (left, top), right - left, bottom - top, color=color, alpha=alpha, linewidth=0, label=""
                            )
                        )
        if number < MOST_RANKS_OF_LEGEND:
            text = describe_rank(number, rank, pairs)
            handles.append(pyplot.Rectangle((0, 0), 1, 1, color=color, label=text))
    figure.legend(handles=handles, loc="lower center", frameon=False, fontsize="small")
    axes.set(
        xlim=(0, plan["tokens"]),
        ylim=(plan["tokens"], 0),
        xlabel="keys that a rank has at hand, paler where they come later",
        ylabel="row",
        title=f"{best['scheme']}, {best['placement']}: {best['seconds'] * 1e3:.3g} ms predicted,\n"
        f"most work of a rank / mean {best['balance']:.2f}, {best['sent_bytes'] / 2**20:.1f} MiB sent",
    )
    figure.tight_layout(rect=(0, 0.03 + 0.022 * len(handles), 1, 1))
    metadata = {"Date": None} if output.endswith(".svg") else None
    figure.savefig(output, metadata=metadata)
    pyplot.close(figure)


def draw_stages(pyplot, report, output):
    """A line for each rank, against time: what it computes in each stage, with the bytes that it sends for it, and where it waits."""
    best, times = report["ranked"][0], report["times"]
    figure, axes = pyplot.subplots(figsize=(8, 1.5 + 0.35 * min(len(times), 40)))
    shades = pyplot.get_cmap("tab10")
    total = max(time["end"] for time in times)

    def bar(rank, begin, end, **style):
        axes.add_patch(pyplot.Rectangle((begin * 1e3, rank - 0.4), (end - begin) * 1e3, 0.8, **style))

    for rank, time in enumerate(times):
        done = 0.0
        for number, stage in enumerate(time["stages"]):
            if stage["begin"] > done:
                bar(rank, done, stage["begin"], color="0.85", label=f"rank {rank} waits")
            if stage["end"] > stage["begin"]:
                bar(rank, stage["begin"], stage["end"], color=shades(number % 10), label=f"rank {rank}, stage {number}")
            if stage["sent_bytes"] and len(times) <= MOST_RANKS_OF_LEGEND:
                axes.text(stage["begin"] * 1e3, rank, f" {stage['sent_bytes'] / 2**20:.1f} MiB", va="center", fontsize="x-small")
            done = stage["end"]
        if total > done:
            bar(rank, done, total, color="0.93", label=f"rank {rank} is idle")
    idle = 1 - sum(time["busy"] for time in times) / (total * len(times)) if total else 0.0
    axes.set(
        xlim=(0, total * 1e3),
        ylim=(len(times) - 0.5, -0.5),
        xlabel="ms; numbers: what a rank sends before a stage",
        ylabel="rank",
        title=f"{best['scheme']}, {best['placement']}: {total * 1e3:.3g} ms predicted, {idle:.0%} idle",
    )
    shown = range(min(10, max((len(time["stages"]) for time in times), default=0)))
    handles = [pyplot.Rectangle((0, 0), 1, 1, color=shades(k), label=f"stage {k}") for k in shown]
    handles += [pyplot.Rectangle((0, 0), 1, 1, color="0.85", label="waits"), pyplot.Rectangle((0, 0), 1, 1, color="0.93", label="idle")]
    figure.legend(handles=handles, loc="lower center", frameon=False, fontsize="small", ncols=6)
    figure.tight_layout(rect=(0, 0.1, 1, 1))
    figure.savefig(output, metadata={"Date": None} if output.endswith(".svg") else None)
    pyplot.close(figure)
