"""kith.ase.neighbor_list in the place of ASE's."""

import numpy
import pytest
from ase import Atoms
from ase.build import bulk, fcc111, molecule
from ase.neighborlist import neighbor_list
from refusals import refused

import kith.ase

CRYSTALS = {
    "fcc": lambda: bulk("Cu", "fcc", a=3.6),
    "hcp": lambda: bulk("Mg", "hcp", a=3.2, c=5.2) * (1, 1, 3),
    "slab": lambda: fcc111("Al", (3, 4, 3), vacuum=8),
    "rock salt": lambda: bulk("NaCl", "rocksalt", a=5.64),
    "molecule": lambda: molecule("CH3CH2OH"),
    "in a triclinic cell": lambda: Atoms(molecule("CH3CH2OH"), cell=[[6, 0, 0], [2, 5, 0], [-1, 2, 7]],
                                         pbc=[True, False, True]),
}


def in_order(i, j, d, D, S):
    order = numpy.lexsort((S[:, 2], S[:, 1], S[:, 0], j, i))
    return i[order], j[order], d[order], D[order], S[order]


@pytest.fixture(params=CRYSTALS)
def atoms(request, numbers):
    made = CRYSTALS[request.param]()
    made.rattle(0.01, rng=numbers)
    made.positions += 40 * numbers.normal(size=(1, 3))  # atoms may be outside of the cell
    return made


def compare(atoms, cutoff, **options):
    found = kith.ase.neighbor_list("ijdDS", atoms, cutoff, **options)
    expected = in_order(*neighbor_list("ijdDS", atoms, cutoff, **options))
    for ours, theirs in zip(in_order(*found), expected):
        assert ours.dtype == theirs.dtype
        assert ours.shape == theirs.shape
        assert numpy.allclose(ours, theirs, atol=1e-9)
    return len(found[0])


@pytest.mark.parametrize("self_interaction", [False, True])
@pytest.mark.parametrize("cutoff", [1.6, 3.9, 8.0])
def test_one_cutoff(atoms, cutoff, self_interaction):
    compare(atoms, cutoff, self_interaction=self_interaction)


@pytest.mark.parametrize("self_interaction", [False, True])
def test_a_radius_an_atom(atoms, numbers, self_interaction):
    radii = numbers.uniform(0.3, 2.5, size=len(atoms))
    assert compare(atoms, radii, self_interaction=self_interaction) > 0
    compare(atoms, radii.tolist())


@pytest.mark.parametrize("self_interaction", [False, True])
@pytest.mark.parametrize("cutoffs", [
    {("Na", "Cl"): 3.0, (11, 11): 4.5}, {("C", "H"): 1.3, (8, 1): 1.2, ("C", "O"): 1.6}, {("Cu", "Cu"): 3.1},
    {("U", "U"): 9.0},
])
def test_cutoffs_of_elements(atoms, cutoffs, self_interaction):
    compare(atoms, cutoffs, self_interaction=self_interaction)


def test_one_quantity_is_no_tuple(atoms):
    i = kith.ase.neighbor_list("i", atoms, 2.7)
    assert isinstance(i, numpy.ndarray)
    assert numpy.array_equal(numpy.bincount(i, minlength=len(atoms)),
                             numpy.bincount(neighbor_list("i", atoms, 2.7), minlength=len(atoms)))
    S, j = kith.ase.neighbor_list("Sj", atoms, 2.7, False, 1e6)
    assert S.shape == (len(j), 3)


def test_no_atoms_and_no_reach():
    for cutoff in (2.0, 0.0, {("H", "H"): 1.0}):
        assert [len(column) for column in kith.ase.neighbor_list("ijdDS", Atoms(), cutoff)] == [0] * 5
    compare(molecule("H2O"), 0.0, self_interaction=True)


@pytest.mark.parametrize("quantities, cutoff, fields", [
    ("ijx", 1.0, "quantity 'x'"), ("ij", [1.0], "cutoff (1,)"),
])
def test_errors(quantities, cutoff, fields):
    with refused(ValueError, fields):
        kith.ase.neighbor_list(quantities, molecule("H2O"), cutoff)
