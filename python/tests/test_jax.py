"""Arrays of JAX; left out where JAX is not installed."""

import numpy
import pytest
from refusals import refused

import kith

jax = pytest.importorskip("jax")


@pytest.fixture(autouse=True)
def double_precision():
    jax.config.update("jax_enable_x64", True)


def test_arrays_come_back_as_arrays_of_jax(cloud):
    positions, masses = map(jax.numpy.asarray, cloud)
    found = kith.forces(positions, masses)
    assert isinstance(found.acceleration, jax.Array)
    assert numpy.array_equal(found.acceleration, kith.forces(*cloud).acceleration)
    one = kith.forces(positions, masses).potential  # no memory is shared between results
    two = kith.forces(2 * positions, masses).potential
    assert numpy.array_equal(one, kith.forces(*cloud).potential) and not numpy.array_equal(one, two)
    pairs = kith.pairs(positions, 0.8, quantities="ijd")
    assert isinstance(pairs.distances, jax.Array)
    assert numpy.array_equal(pairs.j, kith.pairs(cloud[0], 0.8).j)


def test_an_array_of_jax_cannot_be_written(cloud):
    with refused((TypeError, ValueError), "out"):
        kith.forces(*cloud, out=(jax.numpy.zeros((203, 3)), None))
