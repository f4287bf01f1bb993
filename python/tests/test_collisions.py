"""Collisions against counting by sites."""

import collections

import numpy
import pytest
from refusals import refused

import kith


@pytest.fixture
def walk(numbers):
    steps = numpy.vstack([numpy.eye(3, dtype=int), -numpy.eye(3, dtype=int)])[numbers.integers(6, size=2000)]
    return steps.cumsum(axis=0)


def by_sites(beads):
    return sum(k * (k - 1) // 2 for k in collections.Counter(map(tuple, beads.tolist())).values())


@pytest.mark.parametrize("dtype", ["int64", "int32", "int16", "uint8", "uint32", ">i4"])
def test_collisions_are_pairs_at_one_site(walk, dtype):
    beads = (walk - walk.min()).astype(dtype)
    assert kith.collisions(beads) == by_sites(beads)
    assert kith.collisions(beads[::-1, ::2]) == by_sites(beads[::-1, ::2])


def test_every_method_counts_the_same(walk):
    assert len(kith.collisions.methods) > 5
    for method in kith.collisions.methods:
        assert kith.collisions(walk[:500], method=method, device="cpu") == by_sites(walk[:500])
    assert kith.collisions.choose(walk) in kith.collisions.methods


def test_promises_are_fetched_in_any_order(walk):
    pieces = [walk[k:k + 400].copy() for k in range(0, 2000, 400)]
    expected = [by_sites(piece) for piece in pieces]
    promises = [kith.collisions.launch(piece, device="cpu") for piece in pieces]
    for piece in pieces:
        piece[:] = 0  # copied before the return
    fetched = [promise.fetch() for promise in reversed(promises)][::-1]
    assert fetched == expected
    assert promises[0].fetch() == expected[0]


def test_groups_and_pairs(walk):
    groups = kith.collisions.groups(walk)
    assert groups.collisions == by_sites(walk)
    assert groups.sites == len(set(map(tuple, walk.tolist())))
    pairs = kith.collisions.pairs(walk)
    assert pairs.shape == (groups.collisions, 2) and (pairs[:, 0] < pairs[:, 1]).all()
    assert (walk[pairs[:, 0]] == walk[pairs[:, 1]]).all()
    assert kith.collisions.pairs([[0, 0], [1, 1]]).shape == (0, 2)


def test_contacts_and_batches(walk):
    chains = walk[:1200].reshape(6, 200, 3)
    found = kith.collisions.batch(chains)
    assert found.collisions.tolist() == [by_sites(chain) for chain in chains]
    assert found.contacts.tolist() == [kith.collisions.contacts(chain) for chain in chains]
    only = kith.collisions.batch(numpy.asfortranarray(chains), want="collisions")
    assert only.contacts is None and only.collisions.tolist() == found.collisions.tolist()
    parts = kith.collisions.batch(walk[:10], offsets=[0, 3, 3, 10])
    assert parts.collisions.tolist() == [by_sites(walk[:3]), 0, by_sites(walk[3:10])]
    assert kith.collisions.contacts([[0, 0], [1, 0], [1, 1], [0, 1]], sequence="HPPP") == 0


@pytest.mark.parametrize("call, error, fields", [
    (lambda: kith.collisions([[0.0, 0.0]]), TypeError, "beads float64 beads.astype('int64')"),
    (lambda: kith.collisions(numpy.array([[1 << 63, 0]], numpy.uint64)), ValueError, "beads 2^63"),
    (lambda: kith.collisions([0, 1]), ValueError, "beads 1"),
    (lambda: kith.collisions.contacts([[0, 0]], sequence="HH"), ValueError, "sequence"),
    (lambda: kith.collisions([[0, 0]], method="slow"), ValueError, "method 'slow'"),
])
def test_errors(call, error, fields):
    with refused(error, fields):
        call()
