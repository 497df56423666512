"""Stands in for matplotlib in tests: prints what is drawn."""

rcParams = {}


def use(backend):
    print("backend", backend)
