"""Stands in for matplotlib.pyplot: prints curves, writes an empty file."""


class Axes:
    has_picture = False

    def plot(self, xs, ys, *style, label, **options):
        print(f"{label}: {len(xs)} points, first {xs[0]:g} -> {ys[0]:g}")

    def axvline(self, x, label, **options):
        print(f"line at {x:g}: {label}")

    def imshow(self, states, extent=None, **options):
        self.has_picture = extent is not None
        if extent:
            print("picture:", extent)

    def set(self, xlim=None, ylim=None, **labels):
        print("title:", labels["title"])
        if self.has_picture:
            print("limits:", xlim, ylim)

    def add_patch(self, patch):
        print("patch", patch)

    def __getattr__(self, name):
        return lambda *arguments, **options: None


class Figure:
    def savefig(self, path, metadata):
        open(path, "w").close()
        print("saved")

    def legend(self, handles, **options):
        print("legend:", ", ".join(handles))

    def tight_layout(self, **options):
        pass


def subplots(rows=1, columns=1, *, figsize, squeeze=True):
    return Figure(), Axes() if squeeze else [[Axes() for _ in range(columns)] for _ in range(rows)]


def close(figure):
    pass


def get_cmap(name):
    return float


def Rectangle(corner, width, height, label, **options):
    return label or f"{corner} {width} x {height}"
