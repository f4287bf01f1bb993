"""Copies: by pickle, by copy and by deepcopy; what holds a device says that it has none."""

import copy
import pickle

import numpy
import pytest
from refusals import refused

import kith

COPIES = {"pickle": lambda value: pickle.loads(pickle.dumps(value)), "copy": copy.copy, "deepcopy": copy.deepcopy}


@pytest.fixture(params=COPIES)
def copied(request):
    return COPIES[request.param]


@pytest.mark.parametrize("text, parameters", [
    ("gravity", {}), ("yukawa:2.5", {}), ("yukawa", {"L": 2.5}), ("yukawa:2.5", {"k": 3.0}),
    ("expr: a*r + b", {"a": 2.0, "b": 1.0}),
])
def test_a_law_keeps_its_parameters(copied, text, parameters):
    law = kith.law(text, **parameters)
    again = copied(law)
    assert again.text == text and again.parameters == tuple(parameters)
    assert again.evaluate([1.5, 0.5]) == law.evaluate([1.5, 0.5])


def test_a_law_keeps_what_was_set_later_and_stays_apart(copied):
    law = kith.law("yukawa:2.5")
    law["L"], law["k"] = 0.125, 3.0
    again = copied(law)
    assert (again["L"], again["k"]) == (0.125, 3.0)
    again["L"] = 7.0
    assert law["L"] == 0.125


def test_bodies_keep_every_column(copied, numbers):
    columns = {name: numbers.uniform(1, 2, size=5) for name in ("masses", "charges", "softening")}
    bodies = kith.Bodies(numbers.normal(size=(5, 2)), numbers.normal(size=(5, 2)), **columns, ids=[9, 8, 7, 1 << 62, 5],
                         names=["H", "O", "ü", "", "x" * 31], time=0.1, cell=[2.0, 3.0], periodic=[True, False],
                         g=0.25, units=["AU", "day", "Msun"])
    again = copied(bodies)
    for name in ("positions", "velocities", "masses", "charges", "softening", "ids", "cell"):
        assert numpy.array_equal(getattr(again, name), getattr(bodies, name)), name
    for name in ("names", "time", "periodic", "g", "units"):
        assert getattr(again, name) == getattr(bodies, name), name
    again.masses[0] = 100
    assert bodies.masses[0] < 100


def test_bodies_without_columns_have_none_afterwards(copied):
    again = copied(kith.Bodies([[0.0, 0, 0], [1.0, 0, 0]]))
    assert len(again) == 2
    assert again._handle.g == 0  # none, which is not the same as 1 in a file
    for name in ("velocities", "masses", "charges", "softening", "ids", "names", "cell", "units"):
        assert getattr(again, name) is None, name


@pytest.mark.parametrize("quantities, index_dtype", [("ijSDd", "int64"), ("ij", "int32"),
                                                     ("d", "int64"), ("", "int64")])
def test_pairs_are_pairs_afterwards(copied, cloud, quantities, index_dtype):
    pairs = kith.pairs(cloud[0], 0.8, quantities=quantities, index_dtype=index_dtype)
    again = copied(pairs)
    assert repr(again) == repr(pairs) and again.count == len(again) == len(pairs) > 0
    for got, expected in zip((again.offsets, *again), (pairs.offsets, *pairs)):
        assert got.dtype == expected.dtype and numpy.array_equal(got, expected)
    if "S" not in quantities:
        with refused(AttributeError, "shifts quantities"):
            again.shifts


def test_pairs_of_a_pickle_outlive_their_list_and_make_matrices(cloud):
    pairs = kith.pairs(cloud[0], 0.8, quantities="ijd")
    expected = kith.SparseMatrix.from_pairs(pairs, law="gaussian:0.5").to_scipy()
    stored = pickle.dumps(pairs)
    del pairs
    again = pickle.loads(stored)
    distances = again.distances
    assert (kith.SparseMatrix.from_pairs(again, law="gaussian:0.5").to_scipy() != expected).nnz == 0
    del again
    assert distances.min() > 0 and distances.max() < 0.8


def test_an_empty_list_is_copied(copied):
    again = copied(kith.pairs([[0.0, 0], [9.0, 0]], 1.0, quantities="ijSDd"))
    assert len(again) == 0 and not again and again.vectors.shape == (0, 2)


def test_a_neighbor_list_keeps_its_settings(copied, cloud):
    neighbors = kith.NeighborList(0.8, True, sorted=True)
    asked = (cloud[0], 9 * numpy.eye(3), False, "ij")
    expected = neighbors.compute(*asked)
    assert numpy.array_equal(copied(neighbors).compute(*asked), expected)


def test_a_context_is_another_of_the_same_threads(copied):
    context = kith.Context("cpu", threads=2)
    again = copied(context)
    assert again is not context and (again.device, again.threads) == ("cpu", 2)
    with refused(TypeError, "kith.Context stream"):
        context._owned = (1, None)
        copied(context)


@pytest.mark.parametrize("format", ["csr", "ell", "sell", "bsr", "dia", "coo", "hybrid", "auto"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_sparse_matrix_is_stored_as_it_was(copied, numbers, format, dtype):
    dense = numbers.normal(size=(23, 31)) * (numbers.uniform(size=(23, 31)) < 0.2)
    A = kith.SparseMatrix(dense.astype(dtype), format=format, device="cpu")
    again = copied(A)
    x, y = numbers.normal(size=31).astype(dtype), numbers.normal(size=23).astype(dtype)
    assert again.info["format"] == A.info["format"] and repr(again) == repr(A)
    assert numpy.array_equal(again @ x, A @ x)
    assert numpy.array_equal(copied(-2 * A.T) @ y, (-2 * A.T) @ y)


def test_an_empty_sparse_matrix_is_copied(copied):
    assert copied(kith.SparseMatrix(numpy.zeros((0, 3)))).shape == (0, 3)


@pytest.mark.parametrize("function", [kith.matrix, kith.matrix.reduce, kith.collisions, kith.collisions.batch])
def test_functions_are_themselves(copied, function):
    assert copied(function) is function


@pytest.mark.parametrize("make", [
    lambda: kith.Simulation([[0.0, 0], [1.0, 0]], dt=0.1),
    lambda: kith.collisions.launch([[0, 0]]),
], ids=["Simulation", "Promise"])
def test_what_holds_a_device_is_not_copied(copied, make):
    made = make()
    with refused(TypeError, f"kith.{type(made).__name__}"):
        copied(made)


def test_no_bodies_have_columns_and_copies(copied):
    none = kith.Bodies(numpy.empty((0, 2)), numpy.empty((0, 2)), [], ids=numpy.empty(0, int))
    for bodies in (none, copied(none)):
        assert bodies.positions.shape == bodies.velocities.shape == (0, 2)
        assert len(bodies) == len(bodies.masses) == len(bodies.ids) == 0
