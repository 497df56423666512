"""Which cases of a sweep a run takes: few, or all of them where ATTN_TEST_LONG is set, as tools/check.sh --long does."""

import itertools
import os

LONG = bool(os.environ.get("ATTN_TEST_LONG"))


def few(cases, ways=1, key=tuple):
    """Of cases, tuples of parameters, a part in their order in which each value of each parameter occurs that occurs
    in all of them; each pair of values of two parameters for ways = 2 (all-pairs testing), and so on. All of them in a
    long run. `key` makes the tuple of a case that is none."""
    cases = list(cases)
    if LONG:
        return cases
    found = [set(itertools.combinations(((n, repr(v)) for n, v in enumerate(key(case))), ways)) for case in cases]
    left, taken = set().union(*found), set()
    while left:
        best = max(range(len(cases)), key=lambda n: len(found[n] & left))
        taken.add(best)
        left -= found[best]
    return [cases[n] for n in sorted(taken)]
