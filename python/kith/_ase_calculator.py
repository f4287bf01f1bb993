"""A calculator of ASE for potentials of pairs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy
from ase.calculators.calculator import Calculator as _Calculator
from ase.calculators.calculator import all_changes

from kith._arguments import chosen, number, several, text
from kith._arrays import host_array
from kith._context import Context
from kith._forces import forces as _forces
from kith._law import Law, law, laws
from kith._sum import sum as _sum

_AXES = ("dx", "dy", "dz")
_VOIGT = (("dx", "dx"), ("dy", "dy"), ("dz", "dz"), ("dy", "dz"), ("dx", "dz"), ("dx", "dy"))
_FORCES = {f"f{k}": f"diff(U, {axis})" for k, axis in enumerate(_AXES)}
_VIRIALS = {f"s{k}": f"0.25 * ({a} * diff(U, {b}) + {b} * diff(U, {a}))" for k, (a, b) in enumerate(_VOIGT)}
_SOLVERS = {"cutoff": False, "ewald": True, "pme": True}
_SHIFTS = {name: k for k, name in enumerate(("none", "energy", "force"))}


def _formula_of(given: str | Law) -> tuple[str, dict[str, float]]:
    """The formula of a law, and its parameters."""
    if not isinstance(given, Law):
        name = text("law", given).partition(":")[0].strip()
        if name not in {row.name for row in laws()}:
            return given.partition(":")[2] if name == "expr" else given, {}
        given = law(given)
    name, _, rest = given.text.partition(":")
    if name.strip() == "expr":
        return rest, {key: given[key] for key in given.parameters}
    row = next(row for row in laws() if row.name == name.strip())
    names = [each.split()[0] for each in row.parameters.split(",") if each.strip()]
    return row.formula, {key: given[key] for key in names}


def _sum_of(given: Sequence[str | Law]) -> tuple[str, dict[str, float]]:
    """The formula of a sum of laws. Parameters of named laws get names of their own."""
    if len(given) == 1:
        return _formula_of(given[0])
    formulas, numbers = [], {}
    for k, each in enumerate(given):
        formula, own = _formula_of(each)
        for name, value in own.items():
            formula = re.sub(rf"\b{name}\b", f"law{k}_{name}", formula)
            numbers[f"law{k}_{name}"] = value
        formulas.append(f"({formula})")
    return " + ".join(formulas), numbers


def _law_given(name: str, given) -> str | Law:
    return given if isinstance(given, Law) else text(name, given)


def _is_coulomb(given: str | Law) -> bool:
    return (given.text if isinstance(given, Law) else given).partition(":")[0].strip() == "coulomb"


class Calculator(_Calculator):
    """Energies, forces and stresses of atoms whose pairs have a potential.

    For ASE's optimizers, filters and dynamics. Cells of any shape, periodic along any of their
    vectors; images are included where the cutoff is longer than the cell.

    Parameters
    ----------
    law : str or Law, or a list of them
        Pairs have the sum of the potentials of a list. Each is a law, as ``lennard-jones:0.0104,3.4`` or
        ``morse:D,A,R0`` (see `kith.laws`), or a formula for the energy of a pair in r, r2, dx, dy, dz,
        parameters, and columns as NAME_i and NAME_j, as ``A * exp(-r / rho) - C / pow(r, 6)``. Energies are
        in the atoms' units: eV and Angstrom.
    cutoff : float, optional
        A length; needed by all laws but the ``coulomb`` of ``ewald`` and ``pme``.
    solver : {'cutoff', 'ewald', 'pme'}
        ``ewald`` and ``pme`` sum the law ``coulomb`` over all periodic images, with the initial charges and the
        error requested, and the other laws within the cutoff.
    error : float, optional
        For ``ewald`` and ``pme``, relative to the rms force: 1e-12 and 1e-4 by default.
    shift : {'none', 'energy', 'force'}
        Subtract the energy at the cutoff from that of each pair; ``force`` subtracts the force there
        too, so that energies and forces are continuous. The formula must depend on r alone.
    parameters : dict of float, optional
        The numbers of a formula, by name.
    columns : dict, optional
        What a formula has as NAME_i and NAME_j: an array of one number for each atom, a dict of
        numbers by chemical symbol, or the name of an array of the atoms. ``m`` is the masses and
        ``q`` the initial charges.
    context : Context, optional
        Where to compute.
    atoms : ase.Atoms, optional
        Atoms that get this calculator.

    Notes
    -----
    Implements ``energy``, ``energies``, ``free_energy``, ``forces``, and in a cell with three vectors
    ``stress`` and, by the solver ``cutoff``, ``stresses``. A set of formulas is compiled at its first use.
    The constant k of ``coulomb`` is 14.399645 eV Angstrom for charges in elementary charges; its energy of an atom is
    half the sum of its pairs'.

    Examples
    --------
    >>> import pytest; build = pytest.importorskip("ase.build")
    >>> import kith.ase
    >>> argon = build.bulk("Ar", "fcc", a=5.26)
    >>> argon.calc = kith.ase.Calculator("lennard-jones:0.0104,3.4", 10.0)
    >>> round(argon.get_potential_energy(), 4)
    -0.0864
    >>> salt = build.bulk("NaCl", "rocksalt", a=5.64)
    >>> salt.set_initial_charges([1, -1])
    >>> laws = [kith.law("coulomb", k=14.399645), "lennard-jones:0.01,2.5"]
    >>> salt.calc = kith.ase.Calculator(laws, 7.0, solver="ewald")
    >>> round(salt.get_potential_energy(), 3)
    -9.024
    """

    implemented_properties = ["energy", "energies", "free_energy", "forces", "stress", "stresses"]
    nolabel = True

    def __init__(self, law: str | Law | Sequence[str | Law], cutoff: float | None = None, *,
                 solver: str = "cutoff", error: float | None = None, shift: str = "none",
                 parameters: Mapping[str, float] | None = None, columns: Mapping[str, Any] | None = None,
                 context: Context | None = None, atoms: Any = None):
        super().__init__(atoms=atoms)
        near = [law] if isinstance(law, (str, Law)) else several(_law_given, "law", law)
        if not near:
            raise ValueError("law is empty; give at least one")
        self._far = {}
        if chosen("solver", solver, _SOLVERS):
            near = self._take_coulomb(near, solver, error)
        elif error is not None:
            raise ValueError(f"error is {error!r}, and solver 'cutoff' has no error to choose; give solver='pme'")
        self._formula, numbers = _sum_of(near)
        self._numbers = {**numbers, **{key: number(f"parameters[{key!r}]", value)
                                       for key, value in (parameters or {}).items()}}
        self._cutoff = 0.0 if cutoff is None and not near else number("cutoff", cutoff)
        self._columns = dict(columns or {})
        self._context = context
        if near and not self._cutoff > 0:
            raise ValueError(f"cutoff is {self._cutoff:g}; it must be greater than 0")
        self._potential = f"({self._formula})"
        if chosen("shift", shift, _SHIFTS) and near:
            self._shift(with_force=shift == "force")

    def _shift(self, with_force):
        """Subtracts the energy, and the slope, at the cutoff."""
        if re.search(r"\b(dx|dy|dz|\w+_[ij])\b", self._formula):
            raise ValueError(f"law has the formula {self._formula!r}, which has components or columns; a shift needs a "
                             "formula in r and parameters")
        ends = numpy.array([[0.0, 0, 0], [self._cutoff, 0, 0]])
        found = _sum(ends[1:], {"v": self._formula, "f": f"diff({self._formula}, dx)"}, targets=ends[:1],
                     parameters=self._numbers, method="reference")
        self._numbers = {**self._numbers, "kith_v": float(found["v"][0]),
                         "kith_f": float(found["f"][0]) if with_force else 0.0, "kith_r": self._cutoff}
        self._potential = f"(({self._formula}) - kith_v - kith_f * (r - kith_r))"

    def _take_coulomb(self, given, solver, error):
        """Keeps the law that the solver sums, and returns the others."""
        coulomb = [each for each in given if _is_coulomb(each)]
        if len(coulomb) != 1:
            raise ValueError(f"law has coulomb {len(coulomb)} times; solver {solver!r} sums one, and the other laws "
                             "within the cutoff")
        self._far = {"law": coulomb[0], "solver": solver, "error": error}
        self.implemented_properties = [name for name in self.implemented_properties if name != "stresses"]
        return [each for each in given if not _is_coulomb(each)]

    def _column(self, name, given, atoms):
        if isinstance(given, Mapping):
            missing = next((symbol for symbol in atoms.symbols if symbol not in given), None)
            if missing is not None:
                raise ValueError(f"columns[{name!r}] has no number for {missing!r}; give one")
            return numpy.array([float(given[symbol]) for symbol in atoms.symbols])
        if isinstance(given, str):
            if not atoms.has(given):
                raise ValueError(f"columns[{name!r}] is {given!r}, and the atoms have no such array; give one of "
                                 f"{', '.join(sorted(atoms.arrays))}")
            return numpy.asarray(atoms.get_array(given), dtype=float)
        values = host_array(f"columns[{name!r}]", given).astype(float)
        if values.shape != (len(atoms),):
            raise ValueError(f"columns[{name!r}] has shape {values.shape}; it must be ({len(atoms)},)")
        return values

    def _columns_of(self, atoms):
        made = {name: self._column(name, given, atoms) for name, given in self._columns.items()}
        return {"m": atoms.get_masses(), "q": atoms.get_initial_charges(), **made}

    def calculate(self, atoms=None, properties=("energy",), system_changes=all_changes):
        """Computes the properties that ASE requests."""
        super().calculate(atoms, properties, system_changes)
        atoms = self.atoms
        wants_stress = atoms.cell.rank == 3 and not {"stress", "stresses"}.isdisjoint(properties)
        near = self._near(atoms, wants_stress) if self._formula else {}
        far = self._all_images(atoms, wants_stress) if self._far else {}
        for name in {**near, **far}:
            self.results[name] = near.get(name, 0.0) + far.get(name, 0.0)
        self.results["energy"] = self.results["free_energy"] = float(self.results["energies"].sum())
        if wants_stress:
            self.results["stress"] = self.results["stress"] if self._far else self.results["stresses"].sum(0)

    def _all_images(self, atoms, wants_stress):
        found = _forces(atoms.positions, charges=atoms.get_initial_charges(), cell=numpy.asarray(atoms.cell),
                        periodic=atoms.pbc, totals=wants_stress, context=self._context, **self._far)
        results = {"energies": 0.5 * found.potential, "forces": found.acceleration}
        if wants_stress:
            virial = found.totals.virial
            results["stress"] = -numpy.array([virial["xyz".index(a[1]), "xyz".index(b[1])] for a, b in _VOIGT])
            results["stress"] /= atoms.get_volume()
        return results

    def _near(self, atoms, wants_stress):
        outputs = {"e": "0.5 * U", **_FORCES, **(_VIRIALS if wants_stress else {})}
        found = _sum(atoms.positions, outputs, cutoff=self._cutoff, cell=numpy.asarray(atoms.cell), periodic=atoms.pbc,
                     lets={"V": self._potential, "U": "0.5 * (V + swap(V))"}, parameters=self._numbers,
                     columns=self._columns_of(atoms), context=self._context)
        results = {"energies": found["e"], "forces": numpy.stack([found[key] for key in _FORCES], 1)}
        if wants_stress:
            stresses = numpy.stack([found[key] for key in _VIRIALS], 1) / atoms.get_volume()
            results["stress" if self._far else "stresses"] = stresses.sum(0) if self._far else stresses
        return results
