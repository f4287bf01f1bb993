"""Times other programs' neighbour lists for kith bench pairs --peers; see conversation.py.

What to work on is

    system PATH                 a file of int64 n, dimensions, periodic, nearest, lengths;
                                float64 cutoff, edge, position[n][dimensions]

A system with nearest > 0 wants that many neighbours of each point, one with lengths vectors, shifts
and distances besides i and j. Lists are full lists, unless a peer has half lists only.
"""

import numpy
from conversation import Peer, converse


class System:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.n, self.dimensions, periodic, self.nearest, lengths = (
                int(k) for k in numpy.fromfile(file, numpy.int64, 5))
            self.cutoff, self.edge = numpy.fromfile(file, numpy.float64, 2)
            points = numpy.fromfile(file, numpy.float64, self.n * self.dimensions)
        self.points = points.reshape(self.n, self.dimensions)
        self.in_space = numpy.zeros((self.n, 3))
        self.in_space[:, : self.dimensions] = self.points
        self.periodic, self.lengths = bool(periodic), bool(lengths)


class Vesin(Peer):
    """vesin.NeighborList, full."""

    def __init__(self):
        import vesin

        self.module = vesin

    def call(self, threads):
        system = self.given
        neighbors = self.module.NeighborList(cutoff=system.cutoff, full_list=True,
                                             n_threads=threads)
        box = numpy.eye(3) * system.edge if system.periodic else numpy.zeros((3, 3))
        neighbors.compute(system.in_space, box, system.periodic,
                          "ijSDd" if system.lengths else "ij", copy=False)


class Scipy(Peer):
    """cKDTree: the tree and query_pairs, a half list; or its k nearest."""

    def __init__(self):
        import scipy.spatial

        self.module = scipy.spatial

    def call(self, threads):
        system = self.given
        tree = self.module.cKDTree(system.points, boxsize=system.edge if system.periodic else None)
        if system.nearest:
            tree.query(system.points, k=system.nearest + 1, workers=threads)  # and itself
        else:
            tree.query_pairs(system.cutoff, output_type="ndarray")


class Matscipy(Peer):
    """neighbour_list, full."""

    def __init__(self):
        import matscipy.neighbours

        self.module = matscipy.neighbours

    def call(self, threads):
        system = self.given
        extent = system.edge if system.periodic else system.edge + 2 * system.cutoff
        self.module.neighbour_list("ijSDd" if system.lengths else "ij", cutoff=float(system.cutoff),
                                   positions=system.in_space, cell=numpy.eye(3) * extent,
                                   pbc=[system.periodic] * 3)


class Freud(Peer):
    """AABBQuery, full."""

    def __init__(self):
        import freud

        self.module = freud

    def call(self, threads):
        system = self.given
        self.module.parallel.set_num_threads(threads)
        points = (system.in_space - system.edge / 2).astype(numpy.float32)
        query = self.module.AABBQuery(self.module.box.Box.cube(system.edge), points)
        query.query(points, {"r_max": system.cutoff, "exclude_ii": True}).toNeighborList()


converse({"vesin": Vesin, "scipy": Scipy, "matscipy": Matscipy, "freud-analysis": Freud},
         "system", System)
