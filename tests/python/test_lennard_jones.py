"""Lennard-Jones forces and runs of kith against ASE's calculator, and against published points of the fluid."""

import json
import os
import random
import subprocess
import tempfile
import unittest
import warnings

import h5py
import numpy
from ase import Atoms
from ase.calculators.lj import LennardJones
from ase.io import read, write

KITH = os.environ["KITH_PROGRAM"]


class LennardJonesFluid(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")
        self.directory = tempfile.TemporaryDirectory()
        self.seed = int(os.environ.get("KITH_TEST_SEED", random.randrange(1 << 30)))
        self.numbers = numpy.random.default_rng(self.seed)

    def tearDown(self):
        self.directory.cleanup()

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def kith(self, *arguments):
        return subprocess.run([KITH, *map(str, arguments)], check=True, capture_output=True, text=True).stdout

    def test_energy_forces_and_stress_are_those_of_ase(self):
        """Triclinic cells, periodic along some vectors, some of them smaller than the cutoff."""
        for turn in range(20):
            cell = numpy.diag(self.numbers.uniform(1.5, 7, 3)) + self.numbers.uniform(-0.5, 0.5, (3, 3))
            edges = numpy.maximum((numpy.linalg.norm(cell, axis=1) / 1.2).astype(int), 1)
            grid = numpy.stack(numpy.meshgrid(*map(numpy.arange, edges), indexing="ij"), -1).reshape(-1, 3)
            places = (grid + self.numbers.uniform(-0.1, 0.1, grid.shape)) / edges
            pbc = [True, True, True] if turn % 2 else self.numbers.random(3) < 0.6
            write(self.path("atoms.xyz"), Atoms("Ar" * len(places), places @ cell, cell=cell, pbc=pbc), format="extxyz")
            atoms = read(self.path("atoms.xyz"))  # with the file's eight decimals
            cutoff = float(self.numbers.uniform(1.5, 4))
            atoms.calc = LennardJones(sigma=1, epsilon=1, rc=cutoff, smooth=False)
            totals = json.loads(self.kith("forces", self.path("atoms.xyz"), "--law", "lennard-jones", "--cutoff",
                                          cutoff, "--shift", "energy", "--json", "-o", self.path("a.npy")))
            forces = numpy.load(self.path("a.npy"))[:, :3]
            scale = numpy.abs(atoms.get_forces()).max() + 1
            with self.subTest(turn=turn, seed=self.seed):
                self.assertLess(numpy.abs(forces - atoms.get_forces()).max(), 1e-9 * scale)
                self.assertLess(abs(totals["energy"] - atoms.get_potential_energy()), 1e-9 * scale * len(atoms))
                if all(atoms.pbc):
                    stress = -numpy.reshape(totals["virial"], (3, 3)) / atoms.get_volume()
                    expected = atoms.get_stress(voigt=False)
                    self.assertLess(numpy.abs(stress - expected).max(), 1e-9 * (1 + numpy.abs(expected).max()))

    def test_energy_and_pressure_of_the_liquid_are_those_published(self):
        """NIST Standard Reference Simulation Website, Monte Carlo of the Lennard-Jones fluid: 500 particles, cutoff 3
        with tail, T 0.85, density 0.776. The bounds are more than seven standard deviations of these means."""
        self.kith("make", "fcc", "-n", 500, "--density", 0.776, "--temperature", 1.7, "-o", self.path("fcc.xyz"))
        self.kith("run", self.path("fcc.xyz"), "--law", "lennard-jones", "--cutoff", 3, "--tail", "--dt", 0.005,
                  "--until", 25, "--every", 20, "--thermostat", f"langevin:0.85,0.5,{self.seed}", "-o",
                  self.path("run.h5"))
        with h5py.File(self.path("run.h5")) as run:
            seen = {name: run[f"observables/{name}/value"][50:].mean()  # without the melting
                    for name in ("potential_energy", "pressure", "temperature")}
        with self.subTest(seed=self.seed):
            self.assertLess(abs(seen["temperature"] / 0.85 - 1), 0.03)
            self.assertLess(abs(seen["potential_energy"] / 500 + 5.5121), 0.03)
            self.assertLess(abs(seen["pressure"] - 0.0068), 0.12)

    def radial_distribution(self, path, edges):
        """g(r) over the frames after the melting, of wrapped positions."""
        with h5py.File(path) as run:
            particles = run["particles/trajectory"]
            edge, frames = particles["box/edges/value"][0, 0, 0], particles["position/value"][20:]
        pairs = numpy.triu_indices(frames.shape[1], 1)
        counts = numpy.zeros(len(edges) - 1)
        for x in frames:
            d = x[:, None] - x[None]
            d -= edge * numpy.round(d / edge)
            counts += numpy.histogram(numpy.sqrt((d**2).sum(-1))[pairs], edges)[0]
        shells = 4 / 3 * numpy.pi * numpy.diff(edges**3)
        return counts * edge**3 / (len(frames) * len(pairs[0]) * shells)

    def test_the_radial_distribution_is_that_of_liquid_argon(self):
        """Near the triple point: Verlet 1968, Phys. Rev. 165, 201 (T 0.722, density 0.844); argon itself at 85 K,
        Yarnell et al. 1973, Phys. Rev. A 7, 2130: a first peak of about 3 at about 3.7 angstrom, 1.08 sigma. The bounds
        of the minimum, the second peak and the 13 neighbors are around this liquid's as kith has it."""
        self.kith("make", "fcc", "-n", 864, "--density", 0.8442, "--temperature", 1.444, "-o", self.path("fcc.xyz"))
        self.kith("run", self.path("fcc.xyz"), "--law", "lennard-jones", "--cutoff", 2.5, "--dt", 0.005, "--until", 15,
                  "--every", 50, "--thermostat", f"langevin:0.722,0.5,{self.seed}", "--wrap", "-o", self.path("run.h5"))
        edges = numpy.arange(0.8, 3.5, 0.02)
        g, r = self.radial_distribution(self.path("run.h5"), edges), edges[:-1] + 0.01
        near = slice(g.argmax() - 2, g.argmax() + 3)
        a, b, c = numpy.polyfit(r[near], g[near], 2)
        valley, second = (r > 1.3) & (r < 1.8), (r > 1.8) & (r < 2.4)
        with self.subTest(seed=self.seed):
            self.assertLess(abs(-b / (2 * a) - 1.085), 0.02)
            self.assertLess(abs(c - b**2 / (4 * a) - 3), 0.15)
            self.assertLess(abs(g[valley].min() - 0.56), 0.05)
            self.assertLess(abs(r[valley][g[valley].argmin()] - 1.55), 0.1)
            self.assertLess(abs(g[second].max() - 1.3), 0.08)
            self.assertLess(abs(r[second][g[second].argmax()] - 2.07), 0.1)
            self.assertLess(abs((g * numpy.diff(edges**3))[r < 1.56].sum() * 4 / 3 * numpy.pi * 0.8442 - 12.8), 0.6)


if __name__ == "__main__":
    unittest.main()
