"""Pairs against their definition, and against the searches that users know."""

import numpy
import pytest
from refusals import refused
from scipy.spatial import cKDTree

import kith


def by_definition(positions, cutoff, cell=None, periodic=(False,) * 3, reach=3):
    """Sorted rows (i, j, S) with |x_j - x_i + S cell| < cutoff."""
    n, dimensions = positions.shape
    cell = numpy.eye(dimensions) if cell is None else cell
    ranges = [range(-reach, reach + 1) if along else (0,) for along in periodic[:dimensions]]
    shifts = numpy.stack(numpy.meshgrid(*ranges, indexing="ij"), axis=-1).reshape(-1, dimensions)
    found = []
    for shift in shifts:
        r = numpy.linalg.norm(positions[None] - positions[:, None] + shift @ cell, axis=2)
        found += [(i, j, *shift) for i, j in numpy.argwhere(r < cutoff) if i != j or shift.any()]
    return sorted(found)


def rows_of(pairs):
    return [tuple(row) for row in numpy.column_stack([pairs.i, pairs.j, pairs.shifts]).tolist()]


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("method", ["auto", "cells", "brute-force", "reference"])
def test_pairs_are_those_of_the_definition(numbers, dimensions, method):
    positions = numbers.uniform(-1, 3, size=(25, dimensions))
    cell = numpy.eye(dimensions) * 2.5 + numbers.uniform(-0.4, 0.4, size=(dimensions, dimensions))
    periodic = [True, False, True][:dimensions]
    pairs = kith.pairs(positions, 1.3, cell=cell, periodic=periodic, quantities="ijSDd", method=method, device="cpu")
    assert rows_of(pairs) == by_definition(positions, 1.3, cell, periodic)
    vectors = positions[pairs.j] - positions[pairs.i] + pairs.shifts @ cell
    assert numpy.allclose(pairs.vectors, vectors)
    assert numpy.allclose(pairs.distances, numpy.linalg.norm(vectors, axis=1))
    assert pairs.offsets.tolist() == numpy.searchsorted(pairs.i, numpy.arange(26)).tolist()


def test_a_half_list_has_each_pair_once(cloud):
    half = kith.pairs(cloud[0], 0.8, half=True)
    assert set(zip(half.i.tolist(), half.j.tolist())) == cKDTree(cloud[0]).query_pairs(0.8)
    assert half.count == len(half.i) == kith.pairs(cloud[0], 0.8).count // 2


def test_unpacking_gives_the_quantities_in_their_order(cloud):
    d, j = kith.pairs(cloud[0], 0.8, quantities="dj", index_dtype="int32")
    assert d.dtype == numpy.float64 and j.dtype == numpy.int32
    single = kith.pairs(cloud[0].astype("f4"), 0.8, quantities="dD")
    assert single.distances.dtype == single.vectors.dtype == numpy.float32


def test_what_was_not_asked_for_is_not_there(cloud):
    pairs = kith.pairs(cloud[0], 0.8)
    with refused(AttributeError, "distances quantities='ijd'"):
        pairs.distances
    assert kith.pairs(cloud[0], 0.8, quantities="").count == pairs.count
    assert repr(pairs).startswith("<kith.Pairs: ")


def test_a_box_is_a_vector_of_lengths(numbers):
    positions = numbers.uniform(size=(40, 3))
    box = kith.pairs(positions, 0.4, cell=[1.0, 1.5, 2.0], quantities="ijS")
    cell = kith.pairs(positions, 0.4, cell=numpy.diag([1.0, 1.5, 2.0]), periodic=True, quantities="ijS")
    assert rows_of(box) == rows_of(cell)


def test_queries_radii_exclusions_and_systems(cloud):
    positions = cloud[0]
    found = kith.pairs(positions[50:], 0.8, queries=positions[:50])
    expected = cKDTree(positions[:50]).query_ball_tree(cKDTree(positions[50:]), 0.8)
    assert list(zip(found.i.tolist(), found.j.tolist())) == [(i, j) for i in range(50) for j in sorted(expected[i])]

    all_pairs = kith.pairs(positions, 0.8)
    wanted = [(i, j) for i, j in zip(all_pairs.i.tolist(), all_pairs.j.tolist()) if not (i == 3 or (i == 5 and j % 2))]
    exclusions = [[] for _ in positions]
    exclusions[3] = list(range(203))
    exclusions[5] = list(range(1, 203, 2))
    less = kith.pairs(positions, 0.8, exclusions=exclusions)
    assert list(zip(less.i.tolist(), less.j.tolist())) == wanted

    wide = kith.pairs(positions, 0.0, radii=numpy.full(203, 0.4))
    assert wide.count == all_pairs.count
    split = kith.pairs(positions, 0.8, systems=[0, 100, 203])
    parts = [kith.pairs(part, 0.8).count for part in (positions[:100], positions[100:])]
    assert split.count == sum(parts)
    boxes = kith.pairs(positions, 0.8, systems=[0, 100, 203], cell=[[5.0, 5, 5], [6.0, 6, 6]])
    assert boxes.count == sum(kith.pairs(part, 0.8, cell=[size] * 3).count
                              for part, size in ((positions[:100], 5.0), (positions[100:], 6.0)))


def test_nearest_are_those_of_a_tree(cloud):
    found = kith.nearest(cloud[0], 4, quantities="jd")
    distances, others = cKDTree(cloud[0]).query(cloud[0], 5)
    assert found.j.reshape(203, 4).tolist() == others[:, 1:].tolist()
    assert numpy.allclose(found.distances.reshape(203, 4), distances[:, 1:])


@pytest.mark.parametrize("k, error", [(0, ValueError), (-1, ValueError), (2.5, TypeError)])
def test_nearest_are_at_least_one(cloud, k, error):
    with refused(error, "k"):
        kith.nearest(cloud[0], k)


@pytest.mark.parametrize("n", [0, 1])
def test_few_points(n):
    pairs = kith.pairs(numpy.zeros((n, 3)), 1.0, quantities="ijSDd")
    assert pairs.count == 0 and pairs.offsets.tolist() == [0] * (n + 1)
    assert pairs.i.shape == (0,) and pairs.vectors.shape == (0, 3)


@pytest.mark.parametrize("arguments, fields", [
    (dict(cutoff=0), "cutoff 0"), (dict(cutoff=numpy.inf), "cutoff inf"),
    (dict(cutoff=1, quantities="ijx"), "quantity 'x'"),
    (dict(cutoff=1, cell=numpy.eye(2)), "cell"),
    (dict(cutoff=1, cell=numpy.zeros((3, 3))), "cell"),
    (dict(cutoff=1, periodic=True), "periodic cell"),
    (dict(cutoff=1, cell=numpy.eye(3), periodic=[True, False]), "periodic"),
    (dict(cutoff=1, exclusions=[[0], [1], [2]]), "exclusions 3 4"),
])
def test_errors(arguments, fields):
    with refused(ValueError, fields):
        kith.pairs(numpy.arange(12.0).reshape(4, 3), **arguments)


def test_a_list_that_is_too_long_is_a_memory_error(cloud):
    with refused(MemoryError, "memory_limit"):
        kith.pairs(cloud[0], 3.0, memory_limit=1000)


def test_a_list_has_the_length_of_its_pairs(cloud):
    pairs = kith.pairs(cloud[0], 0.8)
    assert len(pairs) == pairs.count == len(pairs.i) > 0 and pairs
    assert len(kith.nearest(cloud[0], 3)) == 3 * 203
    nothing = kith.pairs(cloud[0], 1e-9)
    assert len(nothing) == 0 and not nothing


def test_a_list_larger_than_the_memory_is_refused(numbers):
    n = min(1 + int((kith._kith.memory_available() * 3 / 60) ** 0.5), 200_000)
    with refused(MemoryError, str(n * (n - 1))):
        kith.pairs(numbers.random((n, 3)), 5.0, quantities="ijDSd")


def test_a_matrix_larger_than_the_memory_is_refused():
    n = int((kith._kith.memory_available() * 3 / 8) ** 0.5)
    with refused(MemoryError, "out"):
        kith.matrix(numpy.zeros((n, 3)), law="distance")
