"""Tensors of PyTorch as arguments; left out where PyTorch is not installed."""

import pickle

import pytest

import kith

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("change, words", [
    (lambda x: x.to(torch.complex128), "positions has dtype complex128"),
    (lambda x: x.to_sparse(), "positions is a sparse tensor"), (lambda x: x.to("meta"), "positions is on a device"),
])
def test_tensors_that_kith_cannot_read_are_named(change, words):
    positions = change(torch.eye(3, dtype=torch.float64))
    for call in (lambda: kith.forces(positions), lambda: kith.Bodies(positions), lambda: kith.matrix(positions)):
        pytest.raises(TypeError, call).match(words)


def test_a_cell_is_real():
    with pytest.raises(TypeError, match="cell has dtype complex64"):
        kith.pairs(torch.eye(3), 0.5, cell=1j * torch.eye(3))


def test_pairs_of_tensors_are_pickled():
    pairs = kith.pairs(torch.eye(3), 2.0, quantities="ijSDd")
    again = pickle.loads(pickle.dumps(pairs))
    assert len(again) == len(pairs) == 6
    assert all(torch.equal(got, expected) for got, expected in zip(again, pairs))
