"""Sums of kith sum against sums in NumPy over ASE's neighbor list, in random cells."""

import os
import random
import subprocess
import tempfile
import unittest
import warnings

import numpy
from ase import Atoms
from ase.build import bulk
from ase.calculators.lj import LennardJones
from ase.io import read, write
from ase.neighborlist import neighbor_list

KITH = os.environ["KITH_PROGRAM"]


def random_atoms(numbers):
    """Atoms in a triclinic cell, periodic along some of its vectors, some of them outside."""
    count = int(numbers.integers(1, 40))
    cell = numpy.diag(numbers.uniform(1.5, 6, 3)) + numbers.uniform(-1, 1, (3, 3))
    atoms = Atoms("Ar" * count, positions=numbers.uniform(-0.5, 1.5, (count, 3)) @ cell, cell=cell,
                  pbc=numbers.random(3) < 0.6)
    atoms.set_array("radius", numbers.uniform(0.5, 1.5, count))
    atoms.set_array("kind", numbers.integers(0, 3, count))
    return atoms


class Sums(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")
        self.directory = tempfile.TemporaryDirectory()
        self.seed = int(os.environ.get("KITH_TEST_SEED", random.randrange(1 << 30)))
        self.numbers = numpy.random.default_rng(self.seed)

    def tearDown(self):
        self.directory.cleanup()

    def written(self, atoms, columns):
        source = os.path.join(self.directory.name, "atoms.xyz")
        write(source, atoms, format="extxyz", columns=["symbols", "positions", *columns], write_results=False)
        return source, read(source)  # with the file's eight decimals

    def sums(self, source, *arguments):
        target = os.path.join(self.directory.name, "sums.npy")
        subprocess.run([KITH, "sum", source, *arguments, "-o", target], check=True)
        return numpy.load(target)

    def test_columns_and_vectors_in_random_cells(self):
        for turn in range(25):
            source, atoms = self.written(random_atoms(self.numbers), ["radius", "kind"])
            cutoff = float(self.numbers.uniform(0.8, 5))
            i, j, r, d = neighbor_list("ijdD", atoms, cutoff)
            radius, kind = atoms.get_array("radius"), atoms.get_array("kind")
            values = numpy.stack([radius[i] * radius[j] * numpy.exp(-r * r),
                                  d[:, 0] * d[:, 1] * kind[j],
                                  d[:, 2] / r**3 * (kind[i] == kind[j])])
            expected = numpy.stack([numpy.bincount(i, value, len(atoms)) for value in values], axis=1)
            scale = numpy.stack([numpy.bincount(i, abs(value), len(atoms)) for value in values], axis=1)
            found = self.sums(source, "--cutoff", repr(cutoff), "--let", "W=exp(-r2)", "--out",
                              "a=radius_i*radius_j*W", "--out", "b=dx*dy*kind_j", "--out",
                              "c=(kind_i==kind_j)*dz/pow(r,3)")
            with self.subTest(turn=turn, seed=self.seed):
                self.assertEqual(found.shape, expected.shape)
                self.assertTrue((abs(found - expected) <= 1e-9 * scale + 1e-12).all())

    def test_reductions_in_random_cells(self):
        for turn in range(10):
            source, atoms = self.written(random_atoms(self.numbers), [])
            cutoff = float(self.numbers.uniform(0.3, 3))
            i, r = neighbor_list("id", atoms, cutoff)
            of = [r[i == k] for k in range(len(atoms))]
            expected = {
                "min": [x.min(initial=numpy.inf) for x in of],
                "max": [x.max(initial=-numpy.inf) for x in of],
                "count": [len(x) for x in of],
                "logsumexp": [numpy.log(numpy.exp(x).sum()) for x in of],
            }
            for name, values in expected.items():
                found = self.sums(source, "--cutoff", repr(cutoff), "--reduce", name, "--out", "f=r")
                with self.subTest(turn=turn, name=name, seed=self.seed):
                    numpy.testing.assert_allclose(found[:, 0], values, rtol=1e-9)

    def test_lennard_jones_energies_are_those_of_ase(self):
        atoms = bulk("Ar", "fcc", a=1.55, cubic=True) * (2, 2, 2)
        atoms.rattle(0.05, rng=self.numbers)
        source, atoms = self.written(atoms, [])
        atoms.calc = LennardJones(sigma=1, epsilon=1, rc=2.5, ro=2.5, smooth=False)
        shift = 4 * (2.5**-12 - 2.5**-6)
        found = self.sums(source, "--cutoff", "2.5", "--param", f"shift={shift!r}", "--let", "y=pow(1/r,6)", "--out",
                          "energy=(4*(y*y-y)-shift)/2", "--out", "fx=-24*(2*y*y-y)/r2*dx")
        numpy.testing.assert_allclose(found[:, 0], atoms.get_potential_energies(), rtol=1e-7)
        numpy.testing.assert_allclose(found[:, 1], atoms.get_forces()[:, 0], atol=1e-6)


if __name__ == "__main__":
    unittest.main()
