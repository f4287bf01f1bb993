"""Tensors of PyTorch as arguments; left out where PyTorch is not installed."""

import pickle

import pytest
from refusals import refused

import kith

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("change, fields", [
    (lambda x: x.to(torch.complex128), "positions complex128"),
    (lambda x: x.to_sparse(), "positions sparse"), (lambda x: x.to("meta"), "positions device"),
])
def test_tensors_that_kith_cannot_read_are_named(change, fields):
    positions = change(torch.eye(3, dtype=torch.float64))
    for call in (lambda: kith.forces(positions), lambda: kith.Bodies(positions), lambda: kith.matrix(positions)):
        with refused(TypeError, fields):
            call()


def test_a_cell_is_real():
    with refused(TypeError, "cell complex64"):
        kith.pairs(torch.eye(3), 0.5, cell=1j * torch.eye(3))


def test_pairs_of_tensors_are_pickled():
    pairs = kith.pairs(torch.eye(3), 2.0, quantities="ijSDd")
    again = pickle.loads(pickle.dumps(pairs))
    assert len(again) == len(pairs) == 6
    assert all(torch.equal(got, expected) for got, expected in zip(again, pairs))
