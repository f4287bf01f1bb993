"""Trajectories as arrays."""

import numpy
import pytest
from refusals import refused

import kith


@pytest.fixture
def path(tmp_path):
    simulation = kith.Simulation(kith.make("six"), dt=1e-3, softening=0.05, device="cpu")
    simulation.run(0.1, tmp_path / "run.h5", every=20)
    return tmp_path / "run.h5"


def test_frames_are_those_of_read(path):
    trajectory = kith.open(path)
    assert len(trajectory) == 6 and repr(trajectory) == "<kith.Trajectory: 6 frames>"
    for k, bodies in enumerate(trajectory):
        expected = kith.read(path, frame=k + 1)
        assert numpy.array_equal(bodies.positions, expected.positions)
        assert numpy.array_equal(trajectory.positions[k], expected.positions)
        assert numpy.array_equal(trajectory.velocities[k], expected.velocities)
        assert trajectory.times[k] == expected.time
    assert trajectory[-1].time == trajectory.times[5] == 0.1


def test_observables_are_those_of_the_frames(path):
    trajectory = kith.open(path)
    energies = [kith.Simulation(bodies, dt=1.0, softening=0.05).energies for bodies in trajectory]
    found = trajectory.observable("total_energy")
    assert found.shape == (6,) and numpy.allclose(found, [each.total_energy for each in energies], rtol=1e-12)
    assert trajectory.observable("angular_momentum").shape == (6, 3)
    with refused((ValueError, OSError), "nothing"):
        trajectory.observable("nothing")


def test_flat_runs_are_flat(tmp_path):
    kith.Simulation([[0.0, 0], [1.0, 0]], dt=0.1).run(0.2, tmp_path / "flat.h5", every=1)
    assert kith.open(tmp_path / "flat.h5").positions.shape == (3, 2, 2)


def test_ensembles_have_an_axis_of_systems(tmp_path):
    pairs = [[0.0, 0], [2.0, 0], [0.0, 0], [1.0, 0]]
    kith.Simulation(pairs, dt=0.01, systems=2).run(0.02, tmp_path / "two.h5", every=1)
    both, second = kith.open(tmp_path / "two.h5"), kith.open(tmp_path / "two.h5", system=1)
    assert both.positions.shape == (3, 2, 2, 2) and second.positions.shape == (3, 2, 2)
    assert numpy.array_equal(both.positions[:, 1], second.positions)
    assert both.observable("potential_energy").shape == (3, 2)
    assert second.observable("potential_energy")[0] == -1.0
    assert both.observable("momentum").shape == (3, 2, 3)


def test_what_is_not_there_is_an_error(path, tmp_path):
    with refused(IndexError, "frame 6"):
        kith.open(path)[6]
    with refused(FileNotFoundError, "none.h5"):
        kith.open(tmp_path / "none.h5")
    with refused(ValueError, "system 3"):
        kith.open(path, system=3)
    with refused(TypeError, "kith.open"):
        kith.Trajectory()
