"""Times other programs' sparse matrix-vector product for kith bench sparse --peers; see conversation.py.

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


class Scipy(Peer):
    """y = A @ x of a csr_array."""

    def __init__(self):
        import scipy.sparse

        self.module = scipy.sparse

    def use(self, matrix):
        shape, row_start, column, value = matrix
        self.matrix = self.module.csr_array((value, column, row_start), shape=shape)
        self.x = numpy.arange(shape[1]) % 7 * 0.1
        self.call(1)  # what it prepares then is not timed

    def call(self, threads):
        self.matrix @ self.x


class Mkl(Peer):
    """mkl_sparse_d_mv after mkl_sparse_optimize with a hint of many products."""

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
        self.x = numpy.arange(shape[1]) % 7 * 0.1
        self.y = numpy.zeros(shape[0])
        self.handle = ctypes.c_void_p()
        self.description = self.Description(20, 0, 0)
        pointer = [ctypes.c_void_p(a.ctypes.data) for a in (row_start, row_start[1:], column, value)]
        create = self.library.mkl_sparse_d_create_csr
        self.check(create(ctypes.byref(self.handle), 0, *map(ctypes.c_int, shape), *pointer))
        self.library.mkl_sparse_set_mv_hint(self.handle, 10, self.description, 100000)
        self.check(self.library.mkl_sparse_optimize(self.handle))
        self.vectors = [ctypes.c_void_p(a.ctypes.data) for a in (self.x, self.y)]
        self.call(1)

    def call(self, threads):
        x, y = self.vectors
        self.library.mkl_sparse_d_mv(10, self.one, self.handle, self.description, x, self.zero, y)


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
converse({"scipy": Scipy, "mkl": Mkl}, "matrix", read_matrix)
