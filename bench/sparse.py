"""Sparse products of kith, SciPy and MKL, with one vector and with eight, on kinds of matrices on which formats differ."""

import ctypes
import glob
import importlib.metadata
import os
import sys
from dataclasses import dataclass

import kith
import numpy
import scipy.sparse
from turns import Contestant, made

os.environ.setdefault("MKL_NUM_THREADS", "1")  # before the library is loaded
SIZES, QUICK = (1000000,), (20000,)


@dataclass
class Product:
    """A matrix as csr_array, and how many vectors it is multiplied by."""

    matrix: scipy.sparse.csr_array
    vectors: int

    @property
    def x(self):
        count = self.matrix.shape[1] * self.vectors
        return (numpy.arange(count) % 7 * 0.1).reshape((-1,) if self.vectors == 1 else (-1, self.vectors))


def csr(row, column, shape, value=None):
    value = numpy.ones(len(row)) if value is None else value
    matrix = scipy.sparse.csr_array(scipy.sparse.coo_array((value, (row, column)), shape=shape))
    matrix.sum_duplicates()
    return matrix


def scattered(draw, rows, columns, each):
    return csr(numpy.repeat(numpy.arange(rows), each), draw.integers(0, columns, rows * each), (rows, columns),
               draw.random(rows * each) - 0.5)


def poisson(n):
    """The 7-point Laplacian on about n points of a cube."""
    side = round(n ** (1 / 3))
    one = scipy.sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(side, side))
    unit = scipy.sparse.eye_array(side)
    kron = scipy.sparse.kron
    return csr_of(kron(kron(one, unit), unit) + kron(kron(unit, one), unit) + kron(kron(unit, unit), one))


def csr_of(matrix):
    return scipy.sparse.csr_array(matrix)


def rmat(draw, scale, edge_factor):
    """Graph 500's recursive graph (Chakrabarti, Zhan and Faloutsos 2004)."""
    row = column = numpy.zeros(edge_factor << scale, numpy.int64)
    for _ in range(scale):
        u = draw.random(len(row))
        row = 2 * row + (u >= 0.76)
        column = 2 * column + (((u >= 0.57) & (u < 0.76)) | (u >= 0.95))
    return csr(row, column, (1 << scale, 1 << scale))


def blocks(draw, n, each):
    """Blocks of 3 x 3, most of them near the diagonal as in a finite-element mesh."""
    i = numpy.repeat(numpy.arange(n), each)
    j = numpy.where(numpy.arange(len(i)) % each == 0, i, numpy.clip(i + draw.integers(-1000, 1001, len(i)), 0, n - 1))
    graph = scipy.sparse.coo_array((draw.random(len(i)) - 0.5, (i, j)), shape=(n, n))
    return csr_of(scipy.sparse.kron(graph, numpy.ones((3, 3)), format="csr"))


def matrices(n, seed):
    """(name, csr_array) of each kind with about n rows; the row lengths are those of kith's tables."""
    draw = numpy.random.default_rng(seed)
    every = numpy.arange(n)
    yield "poisson", poisson(4 * n)
    yield "random", scattered(draw, n, n, 16)
    yield "rmat", rmat(draw, max(4, int(numpy.log2(n))), 16)
    yield "blocks", blocks(draw, 3 * n // 10, 8)
    yield "arrow", csr(numpy.concatenate([0 * every, every, every]), numpy.concatenate([every, 0 * every, every]),
                       (n, n))
    yield "band", csr_of(scipy.sparse.diags_array(list(draw.random((25, n)) - 0.5), offsets=range(-12, 13),
                                                  shape=(n, n)))
    few = scattered(draw, n, n, 4).tocoo()
    yield "dense-row", csr(numpy.concatenate([few.row, 0 * every + n // 2]), numpy.concatenate([few.col, every]),
                           (n, n))
    some = scattered(draw, n // 10, n, 32).tocoo()
    yield "empty-rows", csr(10 * some.row, some.col, (n, n), some.data)
    yield "tall", scattered(draw, 2 * n, max(1, n // 500), 8)
    yield "wide", scattered(draw, max(1, n // 500), 2 * n, 8000 if n >= 1000000 else 80)


class Kith(Contestant):
    name, version = "kith", kith.__version__

    def __init__(self, threads):
        self.context = kith.Context(device="cpu", threads=threads)

    def prepare(self, work):
        self.matrix, self.x = kith.SparseMatrix(work.matrix, context=self.context), work.x
        self.y = numpy.zeros((work.matrix.shape[0], *self.x.shape[1:]))

    def call(self):
        self.matrix.multiply(self.x, out=self.y)


class Scipy(Contestant):
    """A @ x of a csr_array."""

    name, version = "scipy", importlib.metadata.version("scipy")

    def prepare(self, work):
        self.matrix, self.x = work.matrix, work.x

    def call(self):
        self.matrix @ self.x


class Mkl(Contestant):
    """mkl_sparse_d_mv or _mm after mkl_sparse_optimize with a hint of many products."""

    name = "mkl"

    class Description(ctypes.Structure):
        _fields_ = [(name, ctypes.c_int) for name in ("type", "mode", "diag")]

    def __init__(self):
        found = sorted(glob.glob(os.path.join(sys.prefix, "lib", "libmkl_rt.so*")))
        if not found:
            raise ImportError("there is no libmkl_rt in the environment")
        self.library, self.version = ctypes.CDLL(found[0]), importlib.metadata.version("mkl")
        self.handle, self.one, self.zero = None, ctypes.c_double(1), ctypes.c_double(0)

    def check(self, status):
        if status != 0:
            raise RuntimeError(f"MKL returns status {status}")

    def prepare(self, work):
        if self.handle:
            self.library.mkl_sparse_destroy(self.handle)
        matrix = work.matrix
        rows, columns = matrix.indptr.astype(numpy.int32), matrix.indices.astype(numpy.int32)
        self.kept, self.vectors, self.x = (rows, columns, matrix.data), work.vectors, work.x
        self.y = numpy.zeros((matrix.shape[0], *self.x.shape[1:]))
        self.handle, self.description = ctypes.c_void_p(), self.Description(20, 0, 0)
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in (rows, rows[1:], columns, matrix.data)]
        self.check(self.library.mkl_sparse_d_create_csr(ctypes.byref(self.handle), 0,
                                                        *map(ctypes.c_int, matrix.shape), *pointers))
        if self.vectors == 1:
            self.library.mkl_sparse_set_mv_hint(self.handle, 10, self.description, 100000)
        else:
            self.library.mkl_sparse_set_mm_hint(self.handle, 10, self.description, 101, self.vectors, 100000)
        self.check(self.library.mkl_sparse_optimize(self.handle))
        self.pointers = [ctypes.c_void_p(a.ctypes.data) for a in (self.x, self.y)]

    def call(self):
        (x, y), count = self.pointers, self.vectors
        if count == 1:
            status = self.library.mkl_sparse_d_mv(10, self.one, self.handle, self.description, x, self.zero, y)
        else:
            status = self.library.mkl_sparse_d_mm(10, self.one, self.handle, self.description, 101, x, count, count,
                                                  self.zero, y, count)
        self.check(status)


def contestants(threads):
    def complain(text):
        print(f"bench: {text}", file=sys.stderr)

    return [Kith(threads), Scipy(), *made([Mkl], complain)]


def works(sizes, seed):
    for n in sizes:
        for name, matrix in matrices(n, seed):
            for vectors in (1, 8):
                yield ({"matrix": name, "rows": matrix.shape[0], "nonzeros": int(matrix.nnz), "vectors": vectors},
                       Product(matrix, vectors), None)
