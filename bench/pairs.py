"""Neighbor lists of kith, vesin, SciPy, matscipy and freud. Lists are full, unless a program has half lists only."""

import importlib.metadata
import sys
from dataclasses import dataclass

import kith
import numpy
from turns import Contestant, made

SIZES, QUICK = (100, 1000, 10000, 100000, 1000000), (100, 1000, 10000)


@dataclass
class System:
    """Points with this number of neighbors each on average; `edge` is that of the periodic cube."""

    name: str
    points: numpy.ndarray
    cutoff: float
    periodic: bool = False
    nearest: int = 0
    lengths: bool = False
    edge: float = 1.0

    @property
    def in_space(self):
        space = numpy.zeros((len(self.points), 3))
        space[:, : self.points.shape[1]] = self.points
        return space


def plummer(draw, n):
    """Of scale 1 (Aarseth, Henon and Wielen 1974)."""
    radius = 1 / numpy.sqrt((1e-10 + (1 - 2e-10) * draw.random(n)) ** (-2 / 3) - 1)
    direction = draw.normal(size=(n, 3))
    return radius[:, None] * direction / numpy.linalg.norm(direction, axis=1)[:, None]


def systems(n, seed):
    """Those of kith bench pairs, whose Plummer sphere ends at 99.9 % of its mass; the integral of the squared density is
    45/1024 pi."""
    draw = numpy.random.default_rng(seed)
    cube, flat = draw.random((n, 3)), draw.random((n, 2))
    in_cube = (50 * 3 / (4 * numpy.pi * n)) ** (1 / 3)
    yield System("cube", cube, in_cube, periodic=True)
    yield System("square", flat, (20 / (numpy.pi * n)) ** 0.5)
    yield System("vectors", cube, in_cube, periodic=True, lengths=True)
    yield System("plummer", plummer(draw, n), in_cube * (1024 / 45) ** (1 / 3))
    yield System("nearest", cube, 0.0, periodic=True, nearest=16)


class Kith(Contestant):
    """kith.NeighborList, which uses its memory again, or kith.nearest."""

    name, version = "kith", kith.__version__

    def __init__(self, threads):
        self.context = kith.Context(device="cpu", threads=threads)

    def prepare(self, work):
        self.work = work
        self.list = kith.NeighborList(cutoff=max(work.cutoff, 1e-9), full_list=True, sorted=True, context=self.context)
        self.box = numpy.eye(3) * work.edge if work.periodic else numpy.zeros((3, 3))
        self.in_space = work.in_space

    def call(self):
        if self.work.nearest:
            kith.nearest(self.work.points, self.work.nearest, cell=self.box, periodic=True, context=self.context)
        else:
            self.list.compute(self.in_space, self.box, self.work.periodic, "ijSDd" if self.work.lengths else "ij",
                              copy=False)


class Vesin(Contestant):
    name = "vesin"
    takes = ("cube", "square", "vectors")

    def __init__(self, threads):
        import vesin

        self.module, self.version, self.threads = vesin, importlib.metadata.version("vesin"), threads

    def prepare(self, work):
        self.work, self.in_space = work, work.in_space
        self.box = numpy.eye(3) * work.edge if work.periodic else numpy.zeros((3, 3))

    def call(self):
        neighbors = self.module.NeighborList(cutoff=self.work.cutoff, full_list=True, n_threads=self.threads)
        neighbors.compute(self.in_space, self.box, self.work.periodic, "ijSDd" if self.work.lengths else "ij",
                          copy=False)


class Scipy(Contestant):
    """cKDTree: the tree and query_pairs, a half list; or its k nearest."""

    name = "scipy"
    takes = ("cube", "square", "plummer", "nearest")

    def __init__(self, threads):
        import scipy.spatial

        self.module, self.version, self.threads = scipy.spatial, importlib.metadata.version("scipy"), threads

    def call(self):
        work = self.work
        tree = self.module.cKDTree(work.points, boxsize=work.edge if work.periodic else None)
        if work.nearest:
            tree.query(work.points, k=work.nearest + 1, workers=self.threads)  # and itself
        else:
            tree.query_pairs(work.cutoff, output_type="ndarray")


class Matscipy(Contestant):
    name = "matscipy"
    takes = ("cube", "square", "vectors")

    def __init__(self, threads):
        import matscipy.neighbours

        self.module, self.version = matscipy.neighbours, importlib.metadata.version("matscipy")

    def prepare(self, work):
        self.work, self.in_space = work, work.in_space

    def call(self):
        work = self.work
        extent = work.edge if work.periodic else work.edge + 2 * work.cutoff
        self.module.neighbour_list("ijSDd" if work.lengths else "ij", cutoff=float(work.cutoff),
                                   positions=self.in_space, cell=numpy.eye(3) * extent, pbc=[work.periodic] * 3)


class Freud(Contestant):
    """AABBQuery, full."""

    name, precision = "freud-analysis", "single"
    takes = ("cube",)

    def __init__(self, threads):
        import freud

        self.module, self.version, self.threads = freud, importlib.metadata.version("freud-analysis"), threads

    def call(self):
        self.module.parallel.set_num_threads(self.threads)
        points = (self.work.in_space - self.work.edge / 2).astype(numpy.float32)
        query = self.module.AABBQuery(self.module.box.Box.cube(self.work.edge), points)
        query.query(points, {"r_max": self.work.cutoff, "exclude_ii": True}).toNeighborList()


def contestants(threads):
    def complain(text):
        print(f"bench: {text}", file=sys.stderr)

    return [Kith(threads), *made([lambda kind=kind: kind(threads) for kind in (Vesin, Scipy, Matscipy, Freud)],
                                 complain)]


def works(sizes, seed):
    for n in sizes:
        for system in systems(n, seed):
            yield {"system": system.name, "points": n}, system, system.name
