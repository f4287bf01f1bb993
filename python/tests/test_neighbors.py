"""kith.NeighborList in the place of vesin's."""

import numpy
import pytest
import vesin
from refusals import refused

import kith


def in_order(P, S, D, d):
    P = P.astype(int)
    order = numpy.lexsort((S[:, 2], S[:, 1], S[:, 0], P[:, 1], P[:, 0]))
    return P[order], S[order], D[order], d[order]


def one_of_each(P, S, D, d):
    """A half list with i < j, or i = j and the first component of S that is not 0 positive."""
    P = P.astype(int)
    swap = P[:, 0] > P[:, 1]
    alone = P[:, 0] == P[:, 1]
    first = numpy.array([next((s for s in row if s), 0) for row in S.tolist()])
    turn = swap | (alone & (first < 0))
    P[swap] = P[swap][:, ::-1]
    sign = numpy.where(turn, -1, 1)[:, None]
    return in_order(P, S * sign, D * sign, d)


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("cutoff", [0.7, 1.9, 4.5])
@pytest.mark.parametrize("periodic", [True, False, [True, False, True]], ids=str)
def test_the_pairs_are_vesins(numbers, full, cutoff, periodic):
    points = numbers.uniform(-4, 4, size=(60, 3))
    box = 3.5 * numpy.eye(3) + numbers.uniform(-0.5, 0.5, size=(3, 3))
    along = [periodic] * 3 if isinstance(periodic, bool) else periodic
    theirs = vesin.NeighborList(cutoff=cutoff, full_list=full).compute(points, box, along, "PSDd")
    ours = kith.NeighborList(cutoff, full).compute(points, box, periodic, "PSDd")
    arrange = in_order if full else one_of_each
    for found, expected in zip(in_order(*ours), arrange(*theirs)):
        assert found.shape == expected.shape and numpy.allclose(found, expected, atol=1e-12)


def test_the_arguments_are_vesins():
    arguments = dict(cutoff=1.0, full_list=True, sorted=True, algorithm="cell_list", skin=0.1, n_threads=1)
    vesin.NeighborList(**arguments)
    neighbors = kith.NeighborList(*arguments.values())
    assert neighbors.algorithm == "cell_list" and neighbors.skin == 0.1
    with refused(ValueError, "algorithm 'magic'"):
        neighbors.algorithm = "magic"


def test_quantities_come_in_their_order_and_in_the_points_precision(numbers):
    points = numbers.uniform(size=(30, 3)).astype(numpy.float32)
    neighbors = kith.NeighborList(0.4, full_list=True, sorted=True)
    d, i, D, j, S, P = neighbors.compute(points, numpy.eye(3, dtype=numpy.float32), True, "diDjSP")
    assert d.dtype == D.dtype == numpy.float32 and i.dtype == P.dtype == numpy.int64 and S.dtype == numpy.int32
    assert numpy.array_equal(P, numpy.stack([i, j], axis=1)) and (numpy.diff(i) >= 0).all()
    assert neighbors.compute(points, numpy.eye(3), [False] * 3)[0].shape == neighbors.compute(
        points, numpy.eye(3), False, "j")[0].shape


def test_copies_stay_and_views_do_not(numbers):
    points = numbers.uniform(size=(30, 3))
    neighbors = kith.NeighborList(0.4, full_list=True)
    (copied,) = neighbors.compute(points, numpy.eye(3), True, "d")
    kept = copied.copy()
    (seen,) = neighbors.compute(points, numpy.eye(3), True, "d", copy=False)
    assert copied.flags.owndata and not seen.flags.owndata
    neighbors.compute(points + numbers.normal(scale=0.05, size=(30, 3)), numpy.eye(3), True, "d")
    assert numpy.array_equal(copied, kept)


def test_a_skin_keeps_the_list(numbers):
    points = numbers.uniform(0, 5, size=(200, 3))
    neighbors = kith.NeighborList(1.0, full_list=True, skin=0.4, device="cpu")
    rebuilt = []
    for _ in range(12):
        i, j, d = neighbors.compute(points, 5 * numpy.eye(3), True, "ijd")
        rebuilt.append(neighbors.rebuilt)
        near = kith.NeighborList(1.0, full_list=True).compute(points, 5 * numpy.eye(3), True, "i")[0]
        assert (d < 1.0).sum() == len(near)
        points += numbers.normal(scale=0.02, size=points.shape)
    assert rebuilt[0] and not all(rebuilt[1:])


@pytest.mark.parametrize("box, periodic, quantities, fields", [
    (numpy.eye(2), True, "ij", "box"), (numpy.eye(3), True, "iq", "quantity 'q'"),
    (numpy.eye(3), [True] * 2, "ij", "periodic"),
])
def test_errors(box, periodic, quantities, fields):
    with refused(ValueError, fields):
        kith.NeighborList(1.0, True).compute(numpy.zeros((2, 3)), box, periodic, quantities)
