"""Sparse matrices against SciPy's."""

import numpy
import pytest
import scipy.io
import scipy.sparse
from refusals import refused

import kith


@pytest.fixture
def A(numbers):
    return scipy.sparse.random_array((150, 90), density=0.05, rng=numbers, format="csr")


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr", "dia", "lil"])
def test_products_with_matrices_of_scipy(A, numbers, format):
    x, X, y = numbers.normal(size=90), numbers.normal(size=(90, 3)), numbers.normal(size=150)
    B = kith.SparseMatrix(A.asformat(format))
    assert B.shape == A.shape and B.nnz >= A.nnz and B.dtype == A.dtype
    assert numpy.allclose(B @ x, A @ x)
    assert numpy.allclose(B @ X, A @ X)
    assert numpy.allclose(B @ numpy.asfortranarray(X), A @ X)
    assert numpy.allclose(B.T @ y, A.T @ y)
    assert B.T.shape == (90, 150) and numpy.allclose(B.T.T @ x, A @ x)


def test_there_and_back(A):
    B = kith.SparseMatrix(A)
    assert (B.to_scipy() != A).nnz == 0
    assert (B.T.to_scipy() != A.T).nnz == 0
    assert B.to_scipy().has_sorted_indices


@pytest.mark.parametrize("format", ["coo", "csr", "ell", "hybrid", "sell"])
def test_every_format_multiplies(A, numbers, format):
    x = numbers.normal(size=90)
    B = kith.SparseMatrix(A, format=format, device="cpu")
    assert B.info["format"] == format and B.info["reason"]
    assert numpy.allclose(B @ x, A @ x)


def test_alpha_beta_and_the_callers_y(A, numbers):
    x, y = numbers.normal(size=90), numbers.normal(size=150)
    expected = 2 * (A @ x) - 3 * y
    B = kith.SparseMatrix(A)
    assert B.multiply(x, alpha=2, beta=-3, out=y) is y
    assert numpy.allclose(y, expected)
    with refused(ValueError, "beta out"):
        B.multiply(x, beta=1)


def test_a_product_of_a_single_matrix_and_a_double_vector_is_double(A, numbers):
    single = A.astype("f4")
    B, x, y = kith.SparseMatrix(single), numbers.normal(size=90), numbers.normal(size=(150, 2))
    for found, expected in ((B @ x, single @ x), (B.T @ y, single.T @ y), (B.T.T @ x, single @ x)):
        assert found.dtype == numpy.float64 and numpy.allclose(found, expected, rtol=1e-14, atol=1e-14)
    large = B @ numpy.full(90, 1e300)
    assert numpy.isfinite(large).all() and large.max() > 1e299
    out = numpy.empty(150)
    assert B.multiply(x, out=out) is out and numpy.array_equal(out, B @ x)
    with refused(ValueError, "out float32 float64"):
        B.multiply(x, out=numpy.empty(150, "f4"))
    with refused(ValueError, "x float32"):
        B.multiply([1e300] * 90)
    assert B.dtype == numpy.float32 and (B @ x.astype("f4")).dtype == numpy.float32


def test_single_precision_and_lists(A):
    single = kith.SparseMatrix(A.astype("f4"))
    assert single.dtype == numpy.float32 and (single @ numpy.ones(90, "f4")).dtype == numpy.float32
    assert (single @ ([1] * 90)).dtype == numpy.float32
    assert (kith.SparseMatrix([[1.0, 0], [0, 2]]) @ [3, 4]).tolist() == [3.0, 8.0]
    ones = kith.SparseMatrix.from_coo([0, 0, 1], [1, 1, 0], shape=(2, 3))
    assert ones.to_scipy().toarray().tolist() == [[0, 2, 0], [1, 0, 0]]
    based = kith.SparseMatrix.from_csr([1, 2, 3], [1, 2], [5.0, 6.0], shape=(2, 2), index_base=1)
    assert (based @ [1, 1]).tolist() == [5.0, 6.0]


def test_files(A, tmp_path):
    B = kith.SparseMatrix(A)
    B.write(tmp_path / "A.mtx")
    assert (kith.SparseMatrix.read(tmp_path / "A.mtx").to_scipy() != A).nnz == 0
    assert numpy.allclose(scipy.sparse.coo_array(scipy.io.mmread(tmp_path / "A.mtx")).toarray(), A.toarray())
    (tmp_path / "bad.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 x 3\n")
    with refused(kith.FormatError, "3"):
        kith.SparseMatrix.read(tmp_path / "bad.mtx")
    with refused(OSError, "nothing.mtx"):
        kith.SparseMatrix.read(tmp_path / "nothing.mtx")
    with refused(ValueError, "transpose"):
        B.T.write(tmp_path / "B.mtx")


def test_matrices_of_pairs(cloud):
    positions = cloud[0]
    pairs = kith.pairs(positions, 0.8, quantities="ijd")
    W = scipy.sparse.coo_array((numpy.exp(-pairs.distances**2 / 0.5), (pairs.i, pairs.j)), shape=(203, 203)).toarray()
    assert numpy.allclose(kith.SparseMatrix.from_pairs(pairs, law="gaussian:0.5").to_scipy().toarray(), W)
    L = kith.SparseMatrix.from_pairs(pairs, law="gaussian:0.5", laplacian=True)
    assert numpy.allclose(L @ numpy.ones(203), 0, atol=1e-13)
    half = kith.SparseMatrix.from_pairs(kith.pairs(positions, 0.8, half=True), half=True)
    assert numpy.array_equal(half.to_scipy().toarray(), (W > 0).astype(float))


@pytest.mark.parametrize("call, error, fields", [
    (lambda: kith.SparseMatrix.from_coo([0, 5], [0, 0], shape=(2, 2)), ValueError, "row 5"),
    (lambda: kith.SparseMatrix.from_csr([0, 1], [0], [1.0], shape=(2, 2)), ValueError, "row_start 3"),
    (lambda: kith.SparseMatrix([[1.0]], format="sells"), ValueError, "format 'sells' 'sell'"),
    (lambda: kith.SparseMatrix([[1.0, 2.0]]) @ [1.0], ValueError, "x"),
    (lambda: kith.SparseMatrix.from_coo([0.5], [0], shape=(1, 1)), TypeError, "row float64"),
])
def test_errors(call, error, fields):
    with refused(error, fields):
        call()


def test_solvers_of_scipy_take_it(cloud, numbers):
    from scipy.sparse.linalg import aslinearoperator, cg, lsqr, svds

    laplacian = kith.SparseMatrix.from_pairs(kith.pairs(cloud[0], 0.8, quantities="ijd"), law="gaussian:0.5",
                                             laplacian=True).to_scipy()
    L = kith.SparseMatrix(laplacian + scipy.sparse.eye_array(203))
    b = numbers.normal(size=203)
    x, info = cg(L, b, rtol=1e-12)
    assert info == 0 and numpy.allclose(L.to_scipy() @ x, b, atol=1e-9)

    wide = scipy.sparse.random_array((60, 90), density=0.2, rng=numbers, format="csr")
    B = kith.SparseMatrix(wide)
    assert numpy.allclose(lsqr(B, b[:60], atol=1e-12, btol=1e-12)[0], lsqr(wide, b[:60], atol=1e-12, btol=1e-12)[0])
    assert numpy.allclose(svds(B, 3, random_state=1)[1], svds(wide, 3, random_state=1)[1])
    operator, X, Y = aslinearoperator(B), numbers.normal(size=(90, 4)), numbers.normal(size=(60, 4))
    assert operator.shape == B.shape and operator.dtype == B.dtype
    assert numpy.allclose(operator @ X, wide @ X) and numpy.allclose(operator.H @ Y, wide.T @ Y)
    assert numpy.allclose(B.matvec(X[:, 0]), wide @ X[:, 0]) and numpy.allclose(B.rmatvec(Y[:, 0]), wide.T @ Y[:, 0])
    assert numpy.allclose(B.matmat(X), wide @ X) and numpy.allclose(B.rmatmat(Y), wide.T @ Y)


def test_vectors_from_the_left(A, numbers):
    B, y, Y = kith.SparseMatrix(A), numbers.normal(size=150), numbers.normal(size=(4, 150))
    assert numpy.allclose(y @ B, y @ A)
    assert (Y @ B).shape == (4, 90) and numpy.allclose(Y @ B, Y @ A)
    assert ([1.0, 2.0] @ kith.SparseMatrix([[1.0, 2], [3, 4]])).tolist() == [7.0, 10.0]
    with pytest.raises(ValueError):
        y[:9] @ B


@pytest.mark.parametrize("factor", [2, -0.5, numpy.float64(3), numpy.float32(0.25), numpy.array(4), 0])
def test_multiples(A, numbers, factor):
    B, x, y = kith.SparseMatrix(A), numbers.normal(size=90), numbers.normal(size=150)
    for C in (factor * B, B * factor):
        assert isinstance(C, kith.SparseMatrix) and C.shape == B.shape and C.dtype == B.dtype
        assert numpy.allclose(C @ x, factor * (A @ x)) and numpy.allclose(y @ C, factor * (y @ A))
        assert numpy.allclose(C.to_scipy().toarray(), factor * A.toarray())
        assert numpy.allclose(C.T.to_scipy().toarray(), factor * A.toarray().T)
    assert numpy.allclose((3 * (-B.T * factor).T) @ x, -3 * factor * (A @ x))
    assert numpy.allclose(B @ x, A @ x)


def test_a_multiple_keeps_the_precision_and_is_not_written(A, tmp_path):
    single = 2.0 * kith.SparseMatrix(A.astype("f4"))
    assert single.dtype == (single @ numpy.ones(90, "f4")).dtype == single.to_scipy().dtype == numpy.float32
    with refused(ValueError, "multiple"):
        single.write(tmp_path / "A.mtx")
    for wrong in ("2", 1j, [1.0], None):
        with pytest.raises(TypeError):
            kith.SparseMatrix(A) * wrong
