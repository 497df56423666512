"""Where kernels run in tests, and on which of these places a case does."""

import itertools

from sweep import LONG

DEVICES = ({"target": "cpu"}, {"target": "sm_80", "device": "sim"}, {"target": "sm_90a", "device": "sim"})


def in_turn(cases, places=DEVICES):
    """Pairs of a case and a place: each case in one place, in turn; in a long run everywhere."""
    cases = list(cases)
    count = max(len(cases), len(places))
    if LONG or not cases:
        return [(case, place) for case in cases for place in places]
    return [(cases[n % len(cases)], places[n % len(places)]) for n in range(count)]


_turns = itertools.count()


def some(places=DEVICES):
    """The first place, which is the CPU, and one of the others, at each call another one; in a long run all of them."""
    return places if LONG else (places[0], places[1 + next(_turns) % (len(places) - 1)])
