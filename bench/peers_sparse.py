"""Times other programs' sparse products with one vector or eight for kith bench sparse --peers; see conversation.py.

What to work on is

    matrix PATH                 a Matrix Market file, or one of int64 rows, columns, nonzeros,
                                row_start[], int32 column[], float64 value[]
"""

import ctypes
import glob
import os
import sys

import numpy
from conversation import Peer, converse


def vectors_for(rows, count):
    """One vector, or several side by side."""
    shape = (rows,) if count == 1 else (rows, count)
    return (numpy.arange(rows * count) % 7 * 0.1).reshape(shape)


class Scipy(Peer):
    """y = A @ x of a csr_array."""

    vectors = 1

    def __init__(self):
        import scipy.sparse

        self.module = scipy.sparse

    def use(self, matrix):
        shape, row_start, column, value = matrix
        self.matrix = self.module.csr_array((value, column, row_start), shape=shape)
        self.x = vectors_for(shape[1], self.vectors)
        self.call(1)  # what it prepares then is not timed

    def call(self, threads):
        self.matrix @ self.x


class ScipyEight(Scipy):
    vectors = 8


class Mkl(Peer):
    """mkl_sparse_d_mv or _mm after mkl_sparse_optimize with a hint of many products."""

    vectors = 1

    class Description(ctypes.Structure):
        _fields_ = [(name, ctypes.c_int) for name in ("type", "mode", "diag")]

    def __init__(self):
        prefix = os.path.join(sys.prefix, "lib", "libmkl_rt.so*")
        found = sorted(glob.glob(prefix))
        if not found:
            raise ModuleNotFoundError(prefix)
        self.library = ctypes.CDLL(found[0])
        self.handle = None
        self.one, self.zero = ctypes.c_double(1), ctypes.c_double(0)

    def check(self, status):
        if status != 0:
            raise RuntimeError(f"MKL gives status {status}")

    def use(self, matrix):
        shape, row_start, column, value = matrix
        if self.handle:
            self.library.mkl_sparse_destroy(self.handle)
        self.kept = row_start, column, value
        self.x = vectors_for(shape[1], self.vectors)
        self.y = numpy.zeros_like(vectors_for(shape[0], self.vectors))
        self.handle = ctypes.c_void_p()
        self.description = self.Description(20, 0, 0)
        pointer = [ctypes.c_void_p(a.ctypes.data) for a in (row_start, row_start[1:], column, value)]
        create = self.library.mkl_sparse_d_create_csr
        self.check(create(ctypes.byref(self.handle), 0, *map(ctypes.c_int, shape), *pointer))
        if self.vectors == 1:
            self.library.mkl_sparse_set_mv_hint(self.handle, 10, self.description, 100000)
        else:
            self.library.mkl_sparse_set_mm_hint(
                self.handle, 10, self.description, 101, self.vectors, 100000
            )
        self.check(self.library.mkl_sparse_optimize(self.handle))
        self.pointers = [ctypes.c_void_p(a.ctypes.data) for a in (self.x, self.y)]
        self.call(1)

    def call(self, threads):
        x, y = self.pointers
        self.library.mkl_sparse_d_mv(10, self.one, self.handle, self.description, x, self.zero, y)


class MklEight(Mkl):
    vectors = 8

    def call(self, threads):
        x, y = self.pointers
        one, zero, count = self.one, self.zero, self.vectors
        self.check(
            self.library.mkl_sparse_d_mm(
                10, one, self.handle, self.description, 101, x, count, count, zero, y, count
            )
        )


def read_matrix(path):
    if path.endswith((".mtx", ".mtx.gz")):
        import scipy.io

        read = scipy.io.mmread(path).tocsr()
        arrays = read.indptr.astype(numpy.int32), read.indices.astype(numpy.int32)
        return read.shape, *arrays, read.data.astype(numpy.float64)
    with open(path, "rb") as file:
        rows, columns, nonzeros = (int(n) for n in numpy.fromfile(file, numpy.int64, 3))
        row_start = numpy.fromfile(file, numpy.int64, rows + 1).astype(numpy.int32)
        column = numpy.fromfile(file, numpy.int32, nonzeros)
        value = numpy.fromfile(file, numpy.float64, nonzeros)
    return (rows, columns), row_start, column, value


os.environ["MKL_NUM_THREADS"] = "1"  # before the library is loaded
kinds = {"scipy": Scipy, "mkl": Mkl, "scipy:eight": ScipyEight, "mkl:eight": MklEight}
converse(kinds, "matrix", read_matrix)
