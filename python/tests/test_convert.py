"""Bodies and trajectories as atoms of ASE and tables of pandas, and back."""

import copy
import pickle
import re
from pathlib import Path

import numpy
import pytest
from refusals import refused

import kith


def columns(numbers, n, dimensions):
    return {"masses": numbers.uniform(1, 2, n), "charges": numbers.normal(size=n), "radii": numbers.uniform(0, 1, n),
            "softening": numbers.uniform(0, 1, n), "epsilon": numbers.uniform(0, 1, n),
            "sigma": numbers.uniform(0, 1, n), "ids": numbers.permutation(n), "time": 2.5,
            "velocities": numbers.normal(size=(n, dimensions))}


def test_atoms_and_back(numbers):
    ase = pytest.importorskip("ase")
    cell = [[5.0, 0, 0], [1, 6, 0], [0, 1, 7]]
    bodies = kith.Bodies(numbers.normal(size=(4, 3)), names=["Na", "Cl", "H", "X"], cell=cell,
                         periodic=[True, False, True], **columns(numbers, 4, 3))
    atoms = bodies.to_ase()
    assert isinstance(atoms, ase.Atoms) and atoms.get_chemical_symbols() == bodies.names
    again = kith.Bodies.from_ase(atoms)
    assert again.names == bodies.names and again.periodic == bodies.periodic and again.time == 2.5
    for name in ("positions", "masses", "charges", "radii", "softening", "epsilon", "sigma", "ids", "cell"):
        assert numpy.array_equal(getattr(again, name), getattr(bodies, name)), name
    # ASE keeps momenta.
    assert numpy.allclose(again.velocities, bodies.velocities, rtol=1e-15, atol=0)


def test_atoms_of_bodies_share_no_memory(numbers):
    pytest.importorskip("ase")
    bodies = kith.Bodies(numbers.normal(size=(3, 3)), ids=[1, 2, 3])
    atoms = bodies.to_ase()
    atoms.positions[:] = 0
    atoms.arrays["ids"][:] = 0
    assert bodies.positions.all() and bodies.ids.tolist() == [1, 2, 3]
    assert atoms.get_masses().tolist() == [1, 1, 1] and not atoms.pbc.any() and not atoms.has("momenta")


def test_flat_bodies_lie_in_space(numbers):
    pytest.importorskip("ase")
    bodies = kith.Bodies(numbers.normal(size=(3, 2)), numbers.normal(size=(3, 2)), names=["sun", "H", "Earth"])
    atoms = bodies.to_ase()
    assert numpy.array_equal(atoms.positions[:, :2], bodies.positions) and not atoms.positions[:, 2].any()
    assert atoms.get_chemical_symbols() == ["X", "H", "X"]
    assert kith.Bodies.from_ase(atoms).positions.shape == (3, 3)


def test_atoms_of_ase_have_their_cell():
    build = pytest.importorskip("ase.build")
    salt, water = build.bulk("NaCl", "rocksalt", a=5.6), build.molecule("H2O")
    assert numpy.array_equal(kith.Bodies.from_ase(salt).cell, salt.cell.array)
    assert kith.Bodies.from_ase(salt).periodic == (True, True, True)
    alone = kith.Bodies.from_ase(water)
    assert alone.cell is None and alone.velocities is None and alone.charges is None
    slab = build.fcc111("Al", (2, 2, 1))  # its third cell vector is zero
    assert kith.Bodies.from_ase(slab).periodic == (True, True, False)


def test_a_cell_without_periodicity_is_kept():
    ase = pytest.importorskip("ase")
    wire = ase.Atoms("H", cell=[0, 2.0, 0])
    bodies = kith.Bodies.from_ase(wire)
    assert bodies.cell[1].tolist() == [0, 2, 0] and bodies.periodic == (False, False, False)
    assert numpy.array_equal(bodies.to_ase().cell[1], wire.cell[1]) and not bodies.to_ase().pbc.any()


def test_a_periodic_direction_has_a_cell_vector():
    ase = pytest.importorskip("ase")
    for pbc in (True, [True, False, True]):
        with refused(ValueError, "atoms pbc cell c" if pbc is not True else "atoms pbc cell a"):
            kith.Bodies.from_ase(ase.Atoms("H", cell=None if pbc is True else [1.0, 1.0, 0.0], pbc=pbc))


def test_a_run_is_that_of_ase(numbers):
    """Argon in a skew cell by velocity Verlet: the same path, energy and pressure, in the units of ASE."""
    pytest.importorskip("ase")
    from ase import units
    from ase.build import bulk
    from ase.calculators.lj import LennardJones
    from ase.md.verlet import VelocityVerlet

    atoms = bulk("Ar", "fcc", a=5.3) * (5, 5, 5)
    atoms.calc = LennardJones(sigma=3.4, epsilon=0.0104, rc=8.0, smooth=False)
    atoms.set_momenta(numbers.normal(scale=numpy.sqrt(39.948 * units.kB * 90), size=(len(atoms), 3)))
    simulation = kith.Simulation(kith.Bodies.from_ase(atoms), dt=4 * units.fs, integrator="leapfrog",
                                 law="lennard-jones:0.0104,3.4", cutoff=8.0, shift="energy")
    VelocityVerlet(atoms, timestep=4 * units.fs).run(25)
    simulation.step(25)
    last = simulation.bodies().to_ase()
    assert last.info["time"] == pytest.approx(100 * units.fs, rel=1e-12)
    assert abs(last.positions - atoms.positions).max() < 1e-9
    assert last.get_kinetic_energy() == pytest.approx(atoms.get_kinetic_energy(), rel=1e-9)
    assert simulation.energies.total_energy == pytest.approx(atoms.get_total_energy(), rel=1e-9)
    stress = -simulation.energies.pressure  # with the kinetic part, as include_ideal_gas
    assert stress == pytest.approx(atoms.get_stress(voigt=False, include_ideal_gas=True).trace() / 3, rel=1e-6)
    assert numpy.array_equal(last.cell.array, atoms.cell.array) and last.pbc.all()


PAGE = Path(__file__).parents[2] / "docs" / "python.md"
LINES = re.findall(r"<!-- not run: it needs ASE.*? -->\n```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)


@pytest.mark.parametrize("lines", LINES, ids=["atoms", "potentials"])
def test_the_lines_of_the_page_run(lines, tmp_path, monkeypatch):
    for module in ("ase", "pandas"):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    exec(compile(lines, str(PAGE), "exec"), {})


def test_the_page_has_lines_for_ase():
    assert len(LINES) == 2


@pytest.mark.parametrize("wrong", [None, 3, "H2O", numpy.zeros((2, 3))])
def test_what_are_no_atoms_is_refused(wrong):
    with refused(TypeError, "atoms ase.Atoms"):
        kith.Bodies.from_ase(wrong)


def test_tables_have_the_columns_of_files(numbers):
    pytest.importorskip("pandas")
    flat = kith.Bodies(numbers.normal(size=(3, 2)), numbers.normal(size=(3, 2)), [1.0, 2.0, 3.0], names=["a", "b", "c"])
    table = flat.to_pandas()
    assert list(table.columns) == ["x", "y", "vx", "vy", "m", "name"]
    assert numpy.array_equal(table[["x", "y"]], flat.positions) and table["name"].tolist() == ["a", "b", "c"]
    full = kith.Bodies(numbers.normal(size=(5, 3)), **columns(numbers, 5, 3)).to_pandas()
    assert list(full.columns) == ["x", "y", "z", "vx", "vy", "vz", "m", "q", "softening", "radius", "epsilon", "sigma",
                                  "id"]
    table.loc[:, "x"] = 7.0
    assert not (flat.positions[:, 0] == 7).any()


@pytest.fixture
def trajectory(tmp_path):
    kith.Simulation(kith.make("six"), dt=1e-3, softening=0.05, device="cpu").run(0.1, tmp_path / "run.h5", every=20)
    return kith.open(tmp_path / "run.h5")


def test_frames_as_atoms_and_as_a_table(trajectory):
    pytest.importorskip("ase")
    frames = trajectory.to_ase()
    assert [atoms.info["time"] for atoms in frames] == trajectory.times.tolist()
    assert numpy.array_equal([atoms.positions for atoms in frames], trajectory.positions)
    pytest.importorskip("pandas")
    table = trajectory.to_pandas()
    assert table.shape[0] == 6 * 6 and table.index.names == ["frame", "body"]
    assert numpy.array_equal(table[["x", "y", "z"]].to_numpy().reshape(6, 6, 3), trajectory.positions)
    assert table.loc[3, "time"].unique().tolist() == [trajectory.times[3]]


def test_trajectories_are_copied_and_pickled(trajectory):
    for again in (pickle.loads(pickle.dumps(trajectory)), copy.copy(trajectory), copy.deepcopy(trajectory)):
        assert numpy.array_equal(again.positions, trajectory.positions) and len(again) == len(trajectory)
