"""Laws and their matrix."""

import numpy
import pytest

import kith


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
    with pytest.raises(ValueError, match="zeta"):
        law["zeta"] = 1


@pytest.mark.parametrize("text, words", [
    ("expr: r +", "expr|formula|place|\\^"), ("yukawa", "L"), ("nothing", "nothing"),
])
def test_a_mistake_in_a_law_is_told(text, words):
    with pytest.raises(ValueError, match=words):
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
    with pytest.raises(ValueError, match="reduction is 'mean'"):
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
