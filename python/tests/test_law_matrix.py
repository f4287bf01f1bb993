"""Laws and their matrix."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy
import pytest
from refusals import refused

import kith
from kith._law import _law_of_text, handle_of


def distances(a, b):
    return numpy.linalg.norm(b[None] - a[:, None], axis=2)


def test_every_law_of_the_table_says_what_it_is():
    names = [row.name for row in kith.laws()]
    assert {"gravity", "coulomb", "lennard-jones", "yukawa"} <= set(names)


def test_parameters_are_read_and_set():
    law = kith.law("expr: a*r + b", a=2, b=1)
    assert law["a"] == 2 and law.parameters == ("a", "b")
    law["a"] = 5
    assert law.evaluate([1, 0])[0] == 6
    assert repr(law) == "kith.law('expr: a*r + b')"
    with refused(ValueError, "zeta"):
        law["zeta"] = 1


@pytest.mark.parametrize("text, fields", [
    ("expr: r +", "formula 5"), ("yukawa", "yukawa L"), ("nothing", "nothing"),
])
def test_a_mistake_in_a_law_is_told(text, fields):
    with refused(ValueError, fields):
        kith.law(text)


def test_the_matrix_is_that_of_the_formula(cloud):
    positions, masses = cloud
    r = distances(positions, positions)
    numpy.fill_diagonal(r, numpy.inf)
    expected = -masses[:, None] * masses / r
    assert numpy.allclose(kith.matrix(positions, masses), expected, rtol=1e-13)
    single = kith.matrix(positions.astype("f4"), masses.astype("f4"))
    assert single.dtype == numpy.float32 and numpy.allclose(single, expected, rtol=1e-5)


def test_the_matrix_between_two_sets_and_its_diagonal(cloud):
    positions = cloud[0]
    between = kith.matrix(positions[:5], law="distance", columns=positions[5:])
    assert numpy.allclose(between, distances(positions[:5], positions[5:]))
    assert numpy.diag(kith.matrix(positions[:4], law="sum", diagonal=7.5)).tolist() == [7.5] * 4
    assert numpy.diag(kith.matrix(positions[:4], law="sum", diagonal="keep")).tolist() == [2.0] * 4


@pytest.mark.parametrize("diagonal", ["zero", "keep", 7.5, -3, numpy.float32(0.5), 0])
def test_what_is_computed_of_a_matrix_counts_the_diagonal_that_is_asked_for(cloud, numbers, diagonal):
    positions, b = cloud[0], numbers.normal(size=(203, 2))
    options = {"law": "gaussian:1.5", "diagonal": diagonal}
    dense = kith.matrix(positions, **options)
    assert numpy.allclose(kith.matrix.multiply(b, positions, **options), dense @ b)
    V = kith.scipy_linear_operator("gaussian:1.5", positions, diagonal=diagonal)
    assert numpy.allclose(V @ b, dense @ b) and numpy.allclose(V.T @ b[:, 0], dense.T @ b[:, 0])
    assert numpy.allclose(kith.matrix.reduce("sum", positions, **options), dense.sum(axis=1))
    left_out = isinstance(diagonal, str) and diagonal == "zero"
    found = kith.matrix.histogram(positions, bins=20, low=-4, high=8, **options)
    upper = dense[numpy.triu_indices(203, 1 if left_out else 0)]
    assert numpy.array_equal(found, numpy.histogram(upper, bins=20, range=(-4, 8))[0])
    for reduction, empty in (("min", numpy.inf), ("max", -numpy.inf)):
        if left_out:
            numpy.fill_diagonal(dense, empty)
        assert numpy.array_equal(kith.matrix.reduce(reduction, positions, **options),
                                 getattr(dense, reduction)(axis=1))
    if left_out:
        numpy.fill_diagonal(dense, numpy.inf)
    assert numpy.array_equal(kith.matrix.reduce("argmin", positions, **options), dense.argmin(axis=1))


@pytest.mark.parametrize("diagonal", ["value", "none", None, [1.0]])
def test_a_diagonal_that_is_none_is_refused(cloud, diagonal):
    with refused((TypeError, ValueError), "diagonal"):
        kith.matrix(cloud[0], law="distance", diagonal=diagonal)


def test_a_double_vector_makes_a_product_of_single_positions_double(cloud):
    positions = cloud[0].astype("f4")
    y = kith.matrix.multiply(numpy.full(203, 1e300), positions, law="gaussian:1")
    assert y.dtype == numpy.float64 and numpy.isfinite(y).all()
    assert kith.matrix.multiply(numpy.ones(203, "f4"), positions, law="gaussian:1").dtype == numpy.float32
    assert kith.matrix.multiply([1] * 203, positions, law="gaussian:1").dtype == numpy.float32
    with refused(ValueError, "b float32"):
        kith.matrix.multiply([1e300] * 203, positions, law="gaussian:1")


def test_the_matrix_goes_into_the_callers_array(cloud):
    out = numpy.zeros((406, 203))[::2]
    assert kith.matrix(cloud[0], law="distance2", out=out) is out
    assert numpy.array_equal(out, kith.matrix(cloud[0], law="distance2"))


def test_reductions(cloud):
    positions = cloud[0]
    r = distances(positions, positions)
    assert numpy.allclose(kith.matrix.reduce("sum", positions, law="distance"), r.sum(axis=1))
    numpy.fill_diagonal(r, numpy.inf)
    nearest = kith.matrix.reduce("argmin", positions, law="distance")
    assert nearest.dtype == numpy.int64 and numpy.array_equal(nearest, r.argmin(axis=1))
    counts = kith.matrix.histogram(positions, law="distance", bins=9, low=0.0, high=3.0)
    pairs = r[numpy.triu_indices(len(r), 1)]
    assert numpy.array_equal(counts, numpy.histogram(pairs, bins=9, range=(0.0, 3.0))[0])
    with refused(ValueError, "reduction 'mean'"):
        kith.matrix.reduce("mean", positions)


def test_a_matrix_larger_than_memory_goes_into_a_file(cloud, tmp_path):
    path = tmp_path / "V.npy"
    assert kith.matrix.write(path, cloud[0], law="distance") >= 0
    assert numpy.array_equal(numpy.load(path), kith.matrix(cloud[0], law="distance"))


def test_products(cloud, numbers):
    positions, b = cloud[0], numbers.normal(size=(203, 3))
    dense = kith.matrix(positions, law="yukawa:2", charges=cloud[1])
    assert numpy.allclose(kith.matrix.multiply(b, positions, law="yukawa:2", charges=cloud[1]), dense @ b)
    assert numpy.allclose(kith.matrix.multiply(b[:, 0], positions, law="yukawa:2", charges=cloud[1]), dense @ b[:, 0])


@pytest.mark.parametrize("law", ["gaussian:1.5", "expr: m_i*q_j*exp(-r2) + a*dx"])
def test_the_linear_operator_and_its_adjoint(cloud, numbers, law):
    positions, masses = cloud
    charges = numbers.normal(size=203)
    law = kith.law(law, **({"a": 0.25} if law.startswith("expr") else {}))
    V = kith.scipy_linear_operator(law, positions[:120], masses[:120], charges[:120], columns=positions[120:],
                                   column_masses=masses[120:], column_charges=charges[120:])
    dense = kith.matrix(positions[:120], masses[:120], charges[:120], law=law, columns=positions[120:],
                        column_masses=masses[120:], column_charges=charges[120:])
    assert V.shape == (120, 83)
    x, y = numbers.normal(size=(83, 2)), numbers.normal(size=120)
    assert numpy.allclose(V @ x, dense @ x)
    assert numpy.allclose(V.T @ y, dense.T @ y)
    assert numpy.allclose(V.rmatvec(y), dense.T @ y)


def test_a_solver_takes_the_operator(numbers):
    from scipy.sparse.linalg import LinearOperator, cg

    points = numbers.normal(size=(150, 3))
    V = kith.scipy_linear_operator("gaussian:0.3", points)
    A = LinearOperator(V.shape, matvec=lambda x: 20 * x + V @ x, dtype=V.dtype)
    b = numbers.normal(size=150)
    x, info = cg(A, b, rtol=1e-10)
    assert info == 0 and numpy.allclose(A @ x, b, atol=1e-8)


def test_a_text_is_parsed_once():
    text = "expr: r*r + 0.5"
    assert handle_of(text) is handle_of(text)
    assert handle_of(None) is None
    assert _law_of_text.cache_info().maxsize < 1000
    for k in range(200):
        handle_of(f"yukawa:{k + 1}")
    assert _law_of_text.cache_info().currsize <= _law_of_text.cache_info().maxsize


def test_a_law_of_the_same_text_is_the_callers_own():
    points = [[0.0, 0], [2.0, 0]]
    assert kith.matrix(points, law="yukawa:2").tolist() == kith.matrix(points, law="yukawa:2").tolist()
    expected = kith.matrix(points, law="yukawa:2")
    law = kith.law("yukawa:2")
    law["k"] = 5.0
    assert numpy.array_equal(kith.matrix(points, law="yukawa:2"), expected)
    assert numpy.array_equal(kith.matrix(points, law=law), 5 * expected)


def test_threads_share_the_laws_of_texts(cloud):
    points = cloud[0]
    texts = [f"expr: r + {k}" for k in range(3)] * 4
    expected = {text: kith.matrix(points, law=kith.law(text), threads=1) for text in texts[:3]}
    _law_of_text.cache_clear()
    with ThreadPoolExecutor(6) as threads:
        found = list(threads.map(lambda text: kith.matrix(points, law=text, threads=1), texts))
    for text, matrix in zip(texts, found):
        assert numpy.array_equal(matrix, expected[text])


def test_a_law_by_its_text_leaves_nothing_to_report_at_the_end():
    code = "import kith; kith.matrix([[0.0, 0], [1, 0]], law='expr:r')"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
