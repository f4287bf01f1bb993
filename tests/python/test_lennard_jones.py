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


if __name__ == "__main__":
    unittest.main()
