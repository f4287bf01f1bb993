"""Times other programs' neighbour lists for kith bench pairs --peers.

kith starts this script and asks; each request is a line, each answer too:

    peer NAME                   version V | missing | error WHY
    system PATH                 ok; a file of int64 n, dimensions, periodic, nearest, lengths;
                                float64 cutoff, edge, position[n][dimensions]
    time NAME THREADS CALLS     seconds S: what CALLS lists took | error WHY

A system with nearest > 0 wants that many neighbours of each point, one with lengths vectors, shifts
and distances besides i and j. Lists are full lists, unless a peer has half lists only.
"""

import importlib.metadata
import os
import sys
import time

import numpy


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


class Vesin:
    """vesin.NeighborList, full."""

    def __init__(self):
        import vesin

        self.module = vesin

    def list(self, system, threads):
        neighbors = self.module.NeighborList(cutoff=system.cutoff, full_list=True,
                                             n_threads=threads)
        box = numpy.eye(3) * system.edge if system.periodic else numpy.zeros((3, 3))
        neighbors.compute(system.in_space, box, system.periodic,
                          "ijSDd" if system.lengths else "ij", copy=False)


class Scipy:
    """cKDTree: the tree and query_pairs, a half list; or its k nearest."""

    def __init__(self):
        import scipy.spatial

        self.module = scipy.spatial

    def list(self, system, threads):
        tree = self.module.cKDTree(system.points, boxsize=system.edge if system.periodic else None)
        if system.nearest:
            tree.query(system.points, k=system.nearest + 1, workers=threads)  # and itself
        else:
            tree.query_pairs(system.cutoff, output_type="ndarray")


class Matscipy:
    """neighbour_list, full."""

    def __init__(self):
        import matscipy.neighbours

        self.module = matscipy.neighbours

    def list(self, system, threads):
        extent = system.edge if system.periodic else system.edge + 2 * system.cutoff
        self.module.neighbour_list("ijSDd" if system.lengths else "ij", cutoff=float(system.cutoff),
                                   positions=system.in_space, cell=numpy.eye(3) * extent,
                                   pbc=[system.periodic] * 3)


class Freud:
    """AABBQuery, full."""

    def __init__(self):
        import freud

        self.module = freud

    def list(self, system, threads):
        self.module.parallel.set_num_threads(threads)
        points = (system.in_space - system.edge / 2).astype(numpy.float32)
        query = self.module.AABBQuery(self.module.box.Box.cube(system.edge), points)
        query.query(points, {"r_max": system.cutoff, "exclude_ii": True}).toNeighborList()


class Conversation:
    kinds = {"vesin": Vesin, "scipy": Scipy, "matscipy": Matscipy, "freud-analysis": Freud}

    def __init__(self):
        self.peers = {}

    def peer(self, name):
        try:
            if name not in self.peers:
                self.peers[name] = self.kinds[name]()
            return f"version {importlib.metadata.version(name)}"
        except (ModuleNotFoundError, importlib.metadata.PackageNotFoundError):
            return "missing"

    def system(self, path):
        self.points = System(path)
        return "ok"

    def time(self, name, threads, calls):
        peer = self.peers[name]
        start = time.perf_counter()
        for _ in range(int(calls)):
            peer.list(self.points, int(threads))
        return f"seconds {time.perf_counter() - start!r}"

    def answer(self, line):
        request, *words = line.rstrip("\n").split(" ")
        return {"peer": self.peer, "system": self.system, "time": self.time}[request](*words)


def main():
    # What the peers print must not get among the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    conversation = Conversation()
    for line in iter(sys.stdin.readline, ""):
        try:
            answer = conversation.answer(line)
        except Exception as error:
            answer = "error " + " ".join(f"{type(error).__name__}: {error}".split())
        print(answer, file=answers, flush=True)


main()
