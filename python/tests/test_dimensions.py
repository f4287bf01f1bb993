"""Points of 1 to 16 dimensions in matrices and sums, against NumPy."""

import numpy
import pytest
from refusals import refused

import kith


@pytest.fixture(params=[1, 2, 3, 4, 7, 16])
def points(request, numbers):
    return numbers.uniform(size=(21, request.param)), numbers.uniform(size=(13, request.param))


def squares(x, y):
    return ((x[:, None] - y[None]) ** 2).sum(axis=2)


def test_matrices_products_and_reductions(points, numbers):
    x, y = points
    b = numbers.normal(size=13)
    K = numpy.exp(-squares(x, y) / (2 * 0.7**2))
    asked = {"columns": y, "law": "gaussian:0.7", "device": "auto"}
    assert numpy.allclose(kith.matrix(x, **asked), K, rtol=0, atol=1e-13)
    assert numpy.allclose(kith.matrix(x.astype("float32"), **asked | {"columns": y.astype("float32")}), K, atol=3e-5)
    assert numpy.allclose(kith.matrix.multiply(b, x, **asked), K @ b, rtol=0, atol=1e-12)
    assert numpy.allclose(kith.matrix.reduce("sum", x, **asked), K.sum(axis=1), rtol=1e-12)
    assert numpy.array_equal(kith.matrix.reduce("argmin", x, columns=y, law="distance2"), squares(x, y).argmin(axis=1))


def test_sums(points):
    x, y = points
    found = kith.sum(y, {"k": "exp(-a * r2)", "n": "1"}, targets=x, parameters={"a": 0.3})
    assert numpy.allclose(found["k"], numpy.exp(-0.3 * squares(x, y)).sum(axis=1), rtol=1e-12)
    assert found["n"].tolist() == [13.0] * 21


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_sums_within_a_cutoff(points, dtype):
    x, y = (side.astype(dtype) for side in points)
    r2 = squares(x.astype("float64"), y.astype("float64"))
    cutoff = numpy.sqrt(numpy.median(r2)) + 1e-5
    near = r2 < cutoff**2
    found = kith.sum(y, {"k": "exp(-r2)", "n": "1"}, targets=x, cutoff=cutoff)
    assert numpy.allclose(found["k"], (numpy.exp(-r2) * near).sum(axis=1), rtol=1e-5)
    assert found["n"].tolist() == near.sum(axis=1).tolist()
    pairs = kith.pairs(y, cutoff, queries=x)
    assert numpy.allclose(kith.sum(y, "exp(-r2)", targets=x, pairs=pairs), found["k"], rtol=1e-5)
    of_one_set = kith.sum(y, "1", cutoff=cutoff, include_self=True)
    assert numpy.array_equal(of_one_set, kith.sum(y, "1", cutoff=cutoff) + 1)
    assert numpy.array_equal(kith.sum(y[None], "1", cutoff=cutoff, include_self=True)[0], of_one_set)


def test_columns_of_arrays_are_taken_as_they_lie(numbers):
    x = numbers.uniform(size=(8, 12))
    wanted = kith.matrix(numpy.ascontiguousarray(x[:, ::2]), law="distance")
    assert numpy.array_equal(kith.matrix(x[:, ::2], law="distance"), wanted)
    assert numpy.array_equal(kith.matrix(numpy.asfortranarray(x[:, ::2]), law="distance"), wanted)
    assert numpy.array_equal(kith.sum(x[:, ::2], "r"), kith.sum(numpy.ascontiguousarray(x[:, ::2]), "r"))


def test_an_operator_of_many_dimensions(numbers):
    x, b = numbers.uniform(size=(9, 5)), numbers.normal(size=9)
    operator = kith.scipy_linear_operator("gaussian:1", x, diagonal="keep")
    assert numpy.allclose(operator @ b, numpy.exp(-squares(x, x) / 2) @ b)


@pytest.mark.parametrize("call", [
    lambda x: kith.matrix(x, law="expr:dx + r"), lambda x: kith.sum(x, "dz"), lambda x: kith.sum(x, "dx", cutoff=1.0),
    lambda x: kith.matrix(numpy.zeros((3, 17))), lambda x: kith.forces(x),
])
def test_what_is_of_space_is_refused(call):
    with refused(ValueError, "columns"):
        call(numpy.zeros((3, 5)))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("dimensions", [1, 2, 3, 4, 8, 16])
def test_pairs_and_nearest_points(numbers, dimensions, dtype):
    x = numbers.uniform(size=(150, dimensions)).astype(dtype)
    r = numpy.sqrt(squares(x.astype("float64"), x.astype("float64")))
    cutoff = numpy.quantile(r[r > 0], 0.1) + 1e-4
    i, j, d, D, S = kith.pairs(x, cutoff, quantities="ijdDS", device="auto")
    assert numpy.array_equal(numpy.stack([i, j]), numpy.nonzero((r < numpy.float32(cutoff)) & (r > 0)))
    assert numpy.allclose(d, r[i, j], rtol=1e-5) and numpy.array_equal(D, x[j] - x[i])
    assert D.shape == S.shape == (len(i), dimensions) and D.dtype == d.dtype == dtype and not S.any()
    half = kith.pairs(x, cutoff, half=True, index_dtype="int32")
    assert numpy.array_equal(half.i, i[i < j]) and numpy.array_equal(half.j, j[i < j])
    near = kith.nearest(x, 5, quantities="jd")
    assert numpy.allclose(near.distances.reshape(150, 5), numpy.sort(r)[:, 1:6], rtol=1e-5)
    of_queries = kith.nearest(x, 1, queries=x + numpy.asarray(1e-5, dtype))
    assert of_queries.j.tolist() == list(range(150))


@pytest.mark.parametrize("quantities", ["ijd", "ijD"])
def test_lists_of_many_dimensions_become_matrices(numbers, quantities):
    x = numbers.uniform(size=(40, 6))
    pairs = kith.pairs(x, 0.7, quantities=quantities)
    r = numpy.sqrt(squares(x, x))
    matrix = kith.SparseMatrix.from_pairs(pairs, law="gaussian:1")
    b = numbers.normal(size=40)
    assert numpy.allclose(matrix @ b, numpy.where((r < 0.7) & (r > 0), numpy.exp(-(r**2) / 2), 0) @ b)


@pytest.mark.parametrize("fields, call", [
    ("cell 5", lambda x: kith.pairs(x, 1.0, cell=[1.0] * 5)),
    ("cell 5", lambda x: kith.nearest(x, 1, cell=numpy.eye(3))),
    ("positions 17", lambda x: kith.pairs(numpy.zeros((3, 17)), 1.0)),
    ("law 5 dx", lambda x: kith.SparseMatrix.from_pairs(kith.pairs(x, 1.0, quantities="ijD"), law="expr:dx + r")),
])
def test_cells_and_more_dimensions_are_refused(fields, call):
    with refused(ValueError, fields):
        call(numpy.zeros((3, 5)))
