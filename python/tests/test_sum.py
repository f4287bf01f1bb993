"""kith.sum against sums in NumPy."""

import numpy
import pytest
from refusals import refused

import kith


def particles(seed=5, count=60):
    numbers = numpy.random.default_rng(seed)
    return numbers.random((count, 3)), numbers.random(count) + 0.5


def expected(x, cutoff, value, cell=None):
    """Sums of value(i, j, d, r) over pairs; a box as long as two cutoffs at least."""
    d = x[None, :] - x[:, None]
    if cell is not None:
        d -= numpy.round(d / cell) * cell
    r = numpy.sqrt((d**2).sum(2))
    i, j = numpy.nonzero((r < cutoff) & ~numpy.eye(len(x), dtype=bool))
    return numpy.bincount(i, value(i, j, d[i, j], r[i, j]), len(x))


@pytest.mark.parametrize("cell", [None, [1.0, 1.0, 1.0]])
def test_sums_are_those_of_numpy(cell):
    x, h = particles()
    found = kith.sum(x, {"a": "h_i * h_j * W", "b": "dx * W"}, lets={"W": "exp(-r2 / s)"}, parameters={"s": 0.1},
                     cutoff=0.4, cell=cell, columns={"h": h})
    box = None if cell is None else numpy.array(cell)
    a = expected(x, 0.4, lambda i, j, d, r: h[i] * h[j] * numpy.exp(-r * r / 0.1), box)
    b = expected(x, 0.4, lambda i, j, d, r: d[:, 0] * numpy.exp(-r * r / 0.1), box)
    numpy.testing.assert_allclose(found["a"], a, rtol=1e-12)
    numpy.testing.assert_allclose(found["b"], b, rtol=1e-11, atol=1e-13)


def test_single_precision_stays_single():
    x, h = particles()
    found = kith.sum(x.astype("float32"), "h_j / r", cutoff=0.5, columns={"h": h.astype("float32")})
    assert found.dtype == numpy.float32
    numpy.testing.assert_allclose(found, kith.sum(x, "h_j / r", cutoff=0.5, columns={"h": h}), rtol=1e-4)


def test_targets_have_columns_of_their_own():
    x, h = particles()
    at = x[:7] + 0.01
    found = kith.sum(x, "g_i * h_j", targets=at, target_columns={"g": numpy.arange(7.0)},
                     columns={"h": h})
    numpy.testing.assert_allclose(found, numpy.arange(7.0) * h.sum(), rtol=1e-12)


def test_reductions():
    x, _ = particles(count=2)
    far = numpy.abs(x[0] - x[1]).sum() / 100
    for reduce, value in {"sum": 0, "min": numpy.inf, "max": -numpy.inf, "count": 0, "logsumexp": -numpy.inf}.items():
        assert kith.sum(x, "r", cutoff=far, reduce=reduce).tolist() == [value, value]
    assert kith.sum(numpy.zeros((0, 3)), "r", cutoff=1).shape == (0,)


def test_sums_over_a_list_that_is_kept():
    x, h = particles()
    near = kith.pairs(x, 0.4, cell=[1.0, 1.0, 1.0], quantities="ijS")
    options = {"cell": [1.0, 1.0, 1.0], "columns": {"h": h}}
    expected = kith.sum(x, "h_j * dx * r", cutoff=0.4, **options)
    numpy.testing.assert_allclose(kith.sum(x, "h_j * dx * r", pairs=near, **options), expected, rtol=1e-11, atol=1e-13)
    expected = kith.sum(x, "h_j * r2", cutoff=0.3, include_self=True, **options)
    found = kith.sum(x, "h_j * r2", cutoff=0.3, include_self=True, pairs=near, **options)
    numpy.testing.assert_allclose(found, expected, rtol=1e-11)
    at = x[:7] + 0.01
    near = kith.pairs(x, 0.4, queries=at)
    numpy.testing.assert_allclose(kith.sum(x, "h_j", targets=at, pairs=near, columns={"h": h}),
                                  kith.sum(x, "h_j", targets=at, cutoff=0.4, columns={"h": h}), rtol=1e-12)
    with refused(ValueError, "pairs.offsets 61"):
        kith.sum(x, "r", pairs=near)
    with refused(ValueError, "pairs shifts cell"):
        kith.sum(x, "r", pairs=kith.pairs(x, 0.4), cell=[1.0, 1.0, 1.0])
    with refused(TypeError, "pairs list"):
        kith.sum(x, "r", pairs=[1])


def test_mistakes_are_told():
    x, h = particles()
    holey = numpy.where(numpy.arange(60) == 3, numpy.nan, h)
    for error, fields, arguments in (
            (ValueError, "'w_j'", {"outputs": "w_j"}),
            (ValueError, "formula 4", {"outputs": "r +"}),
            (ValueError, "cutoff -1", {"outputs": "r", "cutoff": -1}),
            (ValueError, "cutoff 0", {"outputs": "r", "cutoff": 0}),
            (ValueError, "cell cutoff", {"outputs": "r", "cell": [1, 1, 1]}),
            (ValueError, "3 sources.h nan", {"outputs": "h_j", "columns": {"h": holey}}),
            (TypeError, "lets list", {"outputs": "r", "lets": ["W"]}),
            (TypeError, "outputs list", {"outputs": ["r"]}),
            (ValueError, "reduce 'mean'", {"outputs": "r", "reduce": "mean"})):
        with refused(error, fields):
            kith.sum(x, **arguments)
