"""Random ions in a skewed cell, written for kith, and what kith sums for them."""

import json
import os
import random
import subprocess
import tempfile
import unittest

import numpy

KITH = os.environ["KITH_PROGRAM"]


class Ions(unittest.TestCase):
    """Neutral: ions of an fcc-like lattice are pushed off their sites. The cell's vectors are a lower triangle, the
    angles of which are from 70 to 110 degrees."""

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.seed = int(os.environ.get("KITH_TEST_SEED", random.randrange(1 << 30)))
        self.numbers = numpy.random.default_rng(self.seed)
        print(f"KITH_TEST_SEED={self.seed}")
        side = 6
        self.cell = numpy.diag(self.numbers.uniform(5.6, 6.4, 3))
        for row in (1, 2):
            for column in range(row):
                self.cell[row, column] = self.numbers.uniform(-0.3, 0.3) * self.cell[column, column]
        sites = numpy.stack(numpy.meshgrid(*[numpy.arange(side)] * 3, indexing="ij"), -1).reshape(-1, 3)
        self.x = (sites + self.numbers.uniform(-0.25, 0.25, sites.shape)) / side @ self.cell
        self.q = numpy.where(sites.sum(axis=1) % 2, 1.0, -1.0) * self.numbers.uniform(0.5, 1.5, len(sites))
        self.q -= self.q.mean()

    def tearDown(self):
        self.directory.cleanup()

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def by_kith(self, *options, law="coulomb"):
        """Forces, and the other results by name."""
        numpy.savetxt(self.path("ions.csv"), numpy.column_stack([self.x, self.q]), fmt="%.17g", delimiter=",",
                      header="x,y,z,q", comments="")
        cell = ",".join(f"{number:.17g}" for number in self.cell.ravel())
        command = [KITH, "forces", self.path("ions.csv"), "--law", law, f"--cell={cell}", *map(str, options),
                   "--json", "-o", self.path("a.npy")]
        seen = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        return numpy.load(self.path("a.npy"))[:, :3], seen

    def assert_same_forces(self, found, expected, error):
        off = numpy.sqrt(numpy.mean((found - expected) ** 2) / numpy.mean(expected**2))
        self.assertLess(off, error, f"seed {self.seed}")
