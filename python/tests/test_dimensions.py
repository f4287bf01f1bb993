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
    lambda x: kith.matrix(x, law="expr:dx + r"), lambda x: kith.sum(x, "dz"), lambda x: kith.sum(x, "r", cutoff=1.0),
    lambda x: kith.matrix(numpy.zeros((3, 17))), lambda x: kith.forces(x),
])
def test_what_is_of_space_is_refused(call):
    with refused(ValueError, "columns"):
        call(numpy.zeros((3, 5)))
