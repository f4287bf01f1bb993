"""Pairs of kith pairs against ASE's neighbor list, on crystals, slabs and molecules in random cells."""

import os
import random
import subprocess
import tempfile
import unittest
import warnings

import numpy
from ase import Atoms
from ase.build import bulk, fcc111, molecule
from ase.io import read, write
from ase.neighborlist import neighbor_list

KITH = os.environ["KITH_PROGRAM"]


def pairs_of_ase(atoms, cutoff):
    i, j, d, vectors, shifts = neighbor_list("ijdDS", atoms, cutoff)
    order = numpy.lexsort((shifts[:, 2], shifts[:, 1], shifts[:, 0], j, i))
    return i[order], j[order], d[order], vectors[order], shifts[order]


class Pairs(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")
        self.directory = tempfile.TemporaryDirectory()
        self.seed = int(os.environ.get("KITH_TEST_SEED", random.randrange(1 << 30)))
        self.numbers = numpy.random.default_rng(self.seed)

    def tearDown(self):
        self.directory.cleanup()

    def compare(self, name, atoms, cutoff):
        source = os.path.join(self.directory.name, "atoms.xyz")
        target = os.path.join(self.directory.name, "pairs.npy")
        write(source, atoms, format="extxyz", columns=["symbols", "positions"], write_results=False)
        atoms = read(source)  # with the file's eight decimals
        subprocess.run([KITH, "pairs", source, "--cutoff", str(cutoff), "--vectors", "--device", "cpu", "-o", target],
                       check=True)
        found = numpy.load(target)
        i, j, d, vectors, shifts = pairs_of_ase(atoms, cutoff)
        with self.subTest(name=name, cutoff=cutoff, seed=self.seed):
            numpy.testing.assert_array_equal(found["i"], i)
            numpy.testing.assert_array_equal(found["j"], j)
            for k in range(3):
                numpy.testing.assert_array_equal(found["s" + "xyz"[k]], shifts[:, k])
                numpy.testing.assert_allclose(found["d" + "xyz"[k]], vectors[:, k], atol=1e-10)
            numpy.testing.assert_allclose(found["distance"], d, atol=1e-10)

    def test_crystals(self):
        crystals = {
            "fcc": bulk("Cu", "fcc", a=3.6),
            "fcc, cubic": bulk("Cu", "fcc", a=3.6, cubic=True) * (3, 3, 3),
            "hcp": bulk("Mg", "hcp", a=3.2, c=5.2),
            "hcp, elongated": bulk("Mg", "hcp", a=3.2, c=5.2) * (1, 1, 9),
            "slab": fcc111("Al", (3, 4, 3), vacuum=8),
            "rock salt": bulk("NaCl", "rocksalt", a=5.64),
        }
        for name, atoms in crystals.items():
            atoms.rattle(0.01, rng=self.numbers)
            for cutoff in (2.9, 4.7, 9.3):
                self.compare(name, atoms, cutoff)

    def test_molecules_in_triclinic_cells(self):
        for turn in range(12):
            atoms = Atoms(pbc=self.numbers.random(3) < 0.7)
            for _ in range(4):
                water = molecule("CH3CH2OH")
                water.rotate(self.numbers.random() * 360, self.numbers.normal(size=3))
                water.translate(self.numbers.uniform(-20, 20, 3))
                atoms += water
            while abs(numpy.linalg.det(atoms.cell)) < 200:
                atoms.set_cell(self.numbers.uniform(-12, 12, (3, 3)))
            self.compare(f"molecules {turn}", atoms, self.numbers.uniform(2, 7))


if __name__ == "__main__":
    unittest.main()
