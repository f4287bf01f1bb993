"""Collisions of lattice beads by kith and by NumPy's unique."""

import kith
import numpy
from turns import Contestant

SIZES, QUICK = (100, 1000, 10000, 100000, 1000000), (100, 1000)


class Kith(Contestant):
    name, version, precision = "kith", kith.__version__, "integers"

    def __init__(self, threads):
        self.context = kith.Context(device="cpu", threads=threads)

    def call(self):
        return int(kith.collisions(self.work, context=self.context))


class Unique(Contestant):
    """sum k (k - 1) / 2 over the sites' numbers of beads. A site is packed into 64 bits first, as kith's sort does;
    unique along rows, without that, is several times slower."""

    name, version, precision = "numpy unique", numpy.__version__, "integers"

    def call(self):
        low, high = self.work.min(axis=0), self.work.max(axis=0)
        span = high.astype(numpy.int64) - low + 1
        x, y, z = (self.work - low).astype(numpy.int64).T
        numbers = numpy.unique((x * span[1] + y) * span[2] + z, return_counts=True)[1]
        return int((numbers * (numbers - 1) // 2).sum())


def contestants(threads):
    return [Kith(threads), Unique()]


def works(sizes, seed):
    draw = numpy.random.default_rng(seed)
    for n in sizes:
        steps = numpy.zeros((n, 3), numpy.int32)
        steps[numpy.arange(n), draw.integers(0, 3, n)] = draw.choice([-1, 1], n)
        yield {"kind": "walk", "beads": n}, numpy.cumsum(steps, axis=0, dtype=numpy.int32), None
        yield {"kind": "scattered", "beads": n}, draw.integers(0, int((4 * n) ** (1 / 3)) + 1, (n, 3),
                                                                dtype=numpy.int32), None
