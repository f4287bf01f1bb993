"""kith.plot: what is in the axes."""

import matplotlib
import numpy
import pytest
from refusals import refused

import kith

matplotlib.use("Agg")


@pytest.fixture
def ax():
    from matplotlib import pyplot
    figure, axes = pyplot.subplots()
    yield axes
    pyplot.close(figure)


@pytest.fixture
def run(tmp_path):
    kith.Simulation(kith.make("six"), dt=1e-3, softening=0.05, device="cpu").run(0.1, tmp_path / "run.h5", every=10)
    return tmp_path / "run.h5"


def test_orbits_are_the_positions_of_all_frames(run, ax):
    assert kith.plot(run, axes="yz", ax=ax) is ax
    trajectory = kith.open(run)
    paths = [line for line in ax.get_lines() if len(line.get_xdata()) > 1]
    assert len(paths) == 6 and (ax.get_xlabel(), ax.get_ylabel()) == ("y", "z")
    for k, line in enumerate(paths):
        assert numpy.array_equal(line.get_xdata(), trajectory.positions[:, k, 1])
        assert numpy.array_equal(line.get_ydata(), trajectory.positions[:, k, 2])


def test_energy_is_its_relative_error(run, ax):
    trajectory = kith.open(run)
    energy = trajectory.observable("total_energy")
    kith.plot(trajectory, "energy", ax=ax)
    line = ax.get_lines()[0]
    assert numpy.array_equal(line.get_xdata(), trajectory.times)
    error = numpy.abs((energy - energy[0]) / energy[0])
    assert numpy.array_equal(line.get_ydata()[error > 0], error[error > 0])
    assert numpy.isnan(line.get_ydata()[error == 0]).all()
    assert ax.get_yscale() == "log"


def test_states_are_drawn_as_points_and_density(ax):
    bodies = kith.make("plummer", n=1000, seed=5)
    kith.plot(bodies, ax=ax)
    assert numpy.array_equal(ax.get_lines()[0].get_xdata(), bodies.positions[:, 0])
    ax.clear()
    kith.plot(kith.Simulation(bodies, dt=0.01), "density", axes="zx", ax=ax)
    image = ax.get_images()[0].get_array()
    assert image.shape[0] == image.shape[1] and float(image.max()) > 0


def test_a_new_figure_is_made():
    from matplotlib import pyplot
    axes = kith.plot(kith.make("two-body"))
    pyplot.close(axes.figure)


def test_what_cannot_be_drawn_is_named(run, ax):
    with refused(ValueError, "kind 'energy'"):
        kith.plot(kith.make("six"), "energy", ax=ax)
    for axes in ("x", "xx", "xyz", "ab"):
        with refused(ValueError, "axes"):
            kith.plot(run, axes=axes, ax=ax)
    with refused(ValueError, "axes"):
        kith.plot(kith.Bodies([[0.0, 0.0], [1.0, 0.0]]), axes="xz", ax=ax)
    with pytest.raises(TypeError):
        kith.plot(3, ax=ax)
