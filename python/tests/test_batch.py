"""Several systems in one call: what a loop over them gives, bit for bit."""

import numpy
import pytest
from refusals import refused

import kith


@pytest.fixture
def systems(numbers):
    return numbers.normal(size=(5, 17, 3)), numbers.uniform(1, 2, size=(5, 17))


def test_forces_are_those_of_a_loop(systems):
    x, m = systems
    found = kith.forces(x, m, softening=0.1)
    for k in range(5):
        each = kith.forces(x[k], m[k], softening=0.1)
        assert numpy.array_equal(found.acceleration[k], each.acceleration)
        assert numpy.array_equal(found.potential[k], each.potential)
    assert found.acceleration.shape == (5, 17, 3) and found.potential.shape == (5, 17)


def test_what_has_no_axis_of_systems_serves_all(systems, numbers):
    x, m = systems
    lengths, at = numbers.uniform(0.1, 0.2, size=17), numbers.normal(size=(4, 3))
    shared = kith.forces(x, m[0], softening=lengths, targets=at, target_softening=numpy.ones(4), want="acceleration")
    own = kith.forces(x, m, softening=numpy.tile(lengths, (5, 1)), want="potential")
    assert shared.potential is None and own.acceleration is None and shared.acceleration.shape == (5, 4, 3)
    for k in range(5):
        each = kith.forces(x[k], m[0], softening=lengths, targets=at, target_softening=numpy.ones(4))
        assert numpy.array_equal(shared.acceleration[k], each.acceleration)
        each = kith.forces(x[k], m[k], softening=lengths)
        assert numpy.array_equal(own.potential[k], each.potential)


@pytest.mark.parametrize("dimensions", [1, 2, 3, 6])
def test_matrices_are_those_of_a_loop(numbers, dimensions):
    x, y = numbers.normal(size=(4, 9, dimensions)), numbers.normal(size=(4, 7, dimensions))
    between = kith.matrix(x, columns=y, law="gaussian:0.5", column_charges=numpy.ones(7))
    for k in range(4):
        assert numpy.array_equal(between[k], kith.matrix(x[k], columns=y[k], law="gaussian:0.5"))
    assert numpy.array_equal(kith.matrix(x, law="distance")[2], kith.matrix(x[2], law="distance"))


def test_sums_are_those_of_a_loop(systems):
    x, m = systems
    formulas = {"n": "1", "pull": "h_j * dx"}
    found = kith.sum(x, formulas, cutoff=1.5, columns={"h": m})
    for k in range(5):
        each = kith.sum(x[k], formulas, cutoff=1.5, columns={"h": m[k]})
        assert all(numpy.array_equal(found[name][k], each[name]) for name in formulas)
    assert numpy.array_equal(kith.sum(x, "h_j * r", columns={"h": m[0]})[3],
                             kith.sum(x[3], "h_j * r", columns={"h": m[0]}))


def test_results_go_where_they_are_wanted(systems):
    x, m = systems
    a, phi = numpy.empty((5, 17, 3)), numpy.empty((5, 17))
    found = kith.forces(x, m, out=(a, phi))
    assert found.acceleration is a and found.potential is phi
    assert numpy.array_equal(a, kith.forces(x, m).acceleration)
    V = numpy.empty((5, 17, 17))
    assert kith.matrix(x, out=V) is V and numpy.array_equal(V, kith.matrix(x))
    sums = numpy.empty((5, 17, 1))
    assert numpy.array_equal(kith.sum(x, "r", out=sums), sums[:, :, 0])


def test_single_precision_and_no_systems():
    x = numpy.zeros((0, 4, 3), dtype="float32")
    found = kith.forces(x)
    assert found.acceleration.shape == (0, 4, 3) and found.potential.shape == (0, 4)
    assert found.acceleration.dtype == numpy.float32 == kith.matrix(x).dtype and kith.matrix(x).shape == (0, 4, 4)
    assert kith.sum(x, "r").shape == (0, 4)
    pulled = kith.forces([[[0.0, 0], [2.0, 0]]], want="potential").potential
    assert pulled.shape == (1, 2) and pulled == pytest.approx(numpy.full((1, 2), -0.5), rel=1e-15)


def test_systems_that_do_not_fit_are_an_error(systems):
    x, m = systems
    with refused(ValueError, "masses 4 positions 5"):
        kith.forces(x, m[:4])
    with refused(ValueError, "out 3 positions 5"):
        kith.matrix(x, out=numpy.empty((3, 17, 17)))
    with refused(ValueError, "positions 4"):
        kith.forces(x[None])
