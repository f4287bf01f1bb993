"""Forces and energies of ions by kith's solvers ewald and pme against OpenMM's reference platform."""

import unittest

import numpy
from ions import Ions

try:
    import openmm
except ImportError:
    openmm = None

# kJ nm / (mol e²), of OpenMM's SimTKOpenMMRealType.h.
COULOMB = 138.93545764438198


@unittest.skipUnless(openmm, "OpenMM is not installed")
class OpenMM(Ions):
    def by_openmm(self, excluded=()):
        """Forces and energy of its particle-mesh Ewald on a fine grid, over Coulomb's constant."""
        system, force = openmm.System(), openmm.NonbondedForce()
        system.setDefaultPeriodicBoxVectors(*self.cell)
        for charge in self.q:
            system.addParticle(1)
            force.addParticle(charge, 1, 0)
        for i, j in excluded:
            force.addException(int(i), int(j), 0, 1, 0)
        force.setNonbondedMethod(openmm.NonbondedForce.PME)
        force.setCutoffDistance(2.5)
        force.setPMEParameters(1.8, 108, 108, 108)
        system.addForce(force)
        platform = openmm.Platform.getPlatformByName("Reference")
        context = openmm.Context(system, openmm.VerletIntegrator(1), platform)
        context.setPositions(self.x)
        state = context.getState(getForces=True, getEnergy=True)
        forces = state.getForces(asNumpy=True).value_in_unit(openmm.unit.kilojoule_per_mole / openmm.unit.nanometer)
        energy = state.getPotentialEnergy().value_in_unit(openmm.unit.kilojoule_per_mole)
        return forces / COULOMB, energy / COULOMB

    def test_forces_and_energy(self):
        expected, energy = self.by_openmm()
        for options in (("--solver", "ewald"), ("--solver", "pme", "--error", "1e-6")):
            found, seen = self.by_kith(*options)
            self.assert_same_forces(found, expected, 1e-5)
            self.assertLess(abs(seen["energy"] - energy), 1e-5 * abs(energy), f"seed {self.seed}")

    def test_excluded_pairs(self):
        pairs = numpy.arange(0, len(self.q) - 1, 2)[:, None] + [0, 1]
        numpy.savetxt(self.path("bonds.csv"), pairs, fmt="%d", delimiter=",", header="i,j", comments="")
        expected, energy = self.by_openmm(pairs)
        found, seen = self.by_kith("--solver", "pme", "--error", "1e-6", "--exclude", self.path("bonds.csv"))
        self.assert_same_forces(found, expected, 1e-5)
        self.assertLess(abs(seen["energy"] - energy), 1e-5 * abs(energy), f"seed {self.seed}")


del Ions  # has no tests of its own
