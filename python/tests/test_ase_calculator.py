"""kith.ase.Calculator against ASE's own potentials, and against differences."""

import numpy
import pytest
from ase import Atoms, units
from ase.build import bulk
from ase.calculators.fd import calculate_numerical_forces, calculate_numerical_stress
from ase.calculators.lj import LennardJones
from ase.md.velocitydistribution import MaxwellBoltzmannDistribution
from ase.md.verlet import VelocityVerlet
from ase.optimize import BFGS
from ase.stress import voigt_6_to_full_3x3_stress
from refusals import refused

import kith.ase

BUCKINGHAM = "A * exp(-r / rho) - C / pow(r, 6)"
NUMBERS = {"A": 900.0, "rho": 0.35, "C": 60.0}


def crystal(numbers, pbc=True):
    """Rattled argon in a sheared cell, some atoms outside of it."""
    atoms = bulk("Ar", "fcc", a=5.2, cubic=True) * (2, 1, 1)
    atoms.set_cell(atoms.cell @ (numpy.eye(3) + numbers.uniform(-0.05, 0.05, (3, 3))), scale_atoms=True)
    atoms.rattle(0.1, rng=numbers)
    atoms.positions += numbers.integers(-2, 3, (len(atoms), 3)) @ atoms.cell
    atoms.pbc = pbc
    return atoms


@pytest.mark.parametrize("pbc", [True, False, (True, False, True)])
def test_lennard_jones_is_that_of_ase(numbers, pbc):
    atoms = crystal(numbers, pbc)
    if pbc is not True:
        atoms.wrap(pbc=True)
    theirs = LennardJones(epsilon=0.0104, sigma=3.4, rc=8.1)
    ours = kith.ase.Calculator("lennard-jones:0.0104,3.4", 8.1, shift="energy")
    for name in ("energy", "energies", "forces", "stress", "stresses"):
        found, expected = ours.get_property(name, atoms), theirs.get_property(name, atoms)
        numpy.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12 * numpy.abs(expected).max() + 1e-14)


@pytest.mark.parametrize("arguments", [
    {"law": "morse:0.3,1.5,3.7", "shift": "force"},
    {"law": BUCKINGHAM, "parameters": NUMBERS, "shift": "force"},
    {"law": "(1 - r2 / 49) * (1 - r2 / 49) * (1 - r2 / 49) * (q_i * q_j + w_i * dx * dx)",
     "columns": {"w": numpy.linspace(0.5, 2, 8)}},
], ids=["morse", "buckingham", "any formula"])
def test_forces_and_stresses_are_derivatives_of_the_energy(numbers, arguments):
    atoms = crystal(numbers)
    atoms.set_initial_charges(numbers.uniform(-1, 1, len(atoms)))
    atoms.calc = kith.ase.Calculator(cutoff=7.0, **arguments)
    forces, scale = atoms.get_forces(), numpy.abs(atoms.get_forces()).max()
    numpy.testing.assert_allclose(forces, calculate_numerical_forces(atoms, eps=1e-4), atol=1e-5 * scale)
    found = voigt_6_to_full_3x3_stress(atoms.get_stress())
    cell, place, step = atoms.cell.array.copy(), atoms.positions.copy(), 1e-5
    for a in range(3):
        for b in range(a, 3):
            energies = []
            for sign in (1, -1):
                strain = numpy.eye(3)
                strain[a, b] += sign * step / 2
                strain[b, a] += sign * step / 2
                atoms.set_cell(cell @ strain)
                atoms.positions = place @ strain
                energies.append(atoms.get_potential_energy())
            atoms.set_cell(cell)
            atoms.positions = place
            slope = (energies[0] - energies[1]) / (2 * step) / atoms.get_volume()
            assert abs(slope - found[a, b]) < 1e-5 * numpy.abs(found).max()


def test_optimizers_and_dynamics_take_it(numbers):
    atoms = crystal(numbers)
    atoms.calc = kith.ase.Calculator("lennard-jones:0.0104,3.4", 9.0, shift="force")
    BFGS(atoms, logfile=None).run(fmax=1e-3, steps=200)
    assert numpy.abs(atoms.get_forces()).max() < 2e-3
    MaxwellBoltzmannDistribution(atoms, temperature_K=20, rng=numbers)
    before = atoms.get_total_energy()
    VelocityVerlet(atoms, 2 * units.fs).run(50)
    assert abs(atoms.get_total_energy() - before) < 1e-4 * abs(before)


def test_columns_by_symbol_and_by_the_name_of_an_array():
    atoms = Atoms("ArNe", [[0, 0, 0], [0, 0, 2.0]])
    atoms.set_array("w", numpy.array([3.0, 5.0]))
    calc = kith.ase.Calculator("a_i * a_j * w_i * w_j / r", 3.0, columns={"a": {"Ar": 2, "Ne": 7}, "w": "w"})
    assert calc.get_property("energy", atoms) == pytest.approx(2 * 7 * 3 * 5 / 2)
    with pytest.raises(NotImplementedError):
        calc.get_property("stress", atoms)


def test_mistakes_are_told():
    make = kith.ase.Calculator
    for error, fields, call in (
            (ValueError, "cutoff -1", lambda: make("lennard-jones", -1)),
            (ValueError, "shift 'pot'", lambda: make("lennard-jones", 1, shift="pot")),
            (ValueError, "law shift", lambda: make("q_i*q_j/r", 1, shift="energy")),
            (ValueError, "columns['w'] 'Ar'",
             lambda: make("w_i", 1, columns={"w": {"Ne": 1}}).get_property("energy", Atoms("Ar"))),
            (ValueError, "columns['w'] (2,)",
             lambda: make("w_i", 1, columns={"w": [1.0, 2]}).get_property("energy", Atoms("Ar"))),
            (ValueError, "columns['w'] 'weights'",
             lambda: make("w_i", 1, columns={"w": "weights"}).get_property("energy", Atoms("Ar")))):
        with refused(error, fields):
            call()
    with refused(AttributeError, "'Calc'"):
        kith.ase.Calc


COULOMB = kith.law("coulomb", k=14.399645)


def ions(numbers):
    """Rattled rock salt in a sheared cell."""
    atoms = bulk("NaCl", "rocksalt", a=5.64, cubic=True)
    atoms.set_cell(atoms.cell @ (numpy.eye(3) + numbers.uniform(-0.05, 0.05, (3, 3))), scale_atoms=True)
    atoms.rattle(0.1, rng=numbers)
    atoms.set_initial_charges([1 if symbol == "Na" else -1 for symbol in atoms.symbols])
    return atoms


@pytest.mark.parametrize("solver, error", [("ewald", None), ("pme", 1e-8)])
@pytest.mark.parametrize("law", [[COULOMB], [COULOMB, "lennard-jones:0.01,2.5"]])
def test_forces_and_stresses_of_ions_are_derivatives_of_the_energy(numbers, solver, error, law):
    atoms = ions(numbers)
    atoms.calc = kith.ase.Calculator(law, 7.0, solver=solver, error=error, shift="force")
    try:
        forces = atoms.get_forces()
    except NotImplementedError as missing:
        assert solver == "pme" and "FFTW" in str(missing)
        pytest.skip("this build has no FFTW")
    scale = numpy.abs(forces).max()
    numpy.testing.assert_allclose(forces, calculate_numerical_forces(atoms, eps=1e-4), atol=1e-5 * scale)
    stress = atoms.get_stress()
    expected = calculate_numerical_stress(atoms, eps=1e-5)
    numpy.testing.assert_allclose(stress, expected, atol=1e-5 * numpy.abs(stress).max())
    numpy.testing.assert_allclose(atoms.get_potential_energies().sum(), atoms.get_potential_energy(), rtol=1e-12)


def test_rock_salt_has_the_constant_of_madelung():
    atoms = bulk("NaCl", "rocksalt", a=5.64)
    atoms.set_initial_charges([1, -1])
    atoms.calc = kith.ase.Calculator(COULOMB, solver="ewald")
    assert atoms.get_potential_energy() == pytest.approx(-1.747564594633182 * 14.399645 / 2.82, rel=1e-11)


def test_laws_of_a_list_add_up(numbers):
    atoms = crystal(numbers)
    laws = ["lennard-jones:0.0104,3.4", "morse:0.3,1.5,3.7", "expr:0.01 / r2"]
    together = kith.ase.Calculator(laws, 7.0)
    apart = [kith.ase.Calculator(law, 7.0) for law in laws]
    for name in ("energy", "energies", "forces", "stress", "stresses"):
        expected = sum(each.get_property(name, atoms) for each in apart)
        numpy.testing.assert_allclose(together.get_property(name, atoms), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("arguments, fields", [
    ({"law": []}, "law"), ({"law": ["morse:1,1,1"], "solver": "pme"}, "law coulomb 0"),
    ({"law": [COULOMB, "coulomb"], "solver": "ewald"}, "law coulomb 2"),
    ({"law": COULOMB, "error": 1e-3}, "error 0.001"), ({"law": COULOMB}, "cutoff None"),
    ({"law": [COULOMB, "morse:1,1,1"], "solver": "pme"}, "cutoff None"),
])
def test_laws_fit_the_solver(arguments, fields):
    with refused((TypeError, ValueError), fields):
        kith.ase.Calculator(**arguments)
