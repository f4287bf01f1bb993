"""Times other programs' sparse matrix-vector product for kith bench sparse --peers.

kith starts this script and asks; each request is a line, each answer too:

    peer NAME                   version V | missing | error WHY
    matrix PATH                 ok; of a Matrix Market file, or of one of int64 rows,
                                columns, nonzeros, row_start[], int32 column[], float64 value[]
    time NAME THREADS CALLS     seconds S: what CALLS products took | error WHY
"""

import ctypes
import glob
import importlib.metadata
import os
import sys
import time

import numpy


class Scipy:
    """y = A @ x of a csr_array."""

    def __init__(self):
        import scipy.sparse

        self.module = scipy.sparse

    def use(self, matrix):
        shape, row_start, column, value = matrix
        self.matrix = self.module.csr_array((value, column, row_start), shape=shape)
        self.x = numpy.arange(shape[1]) % 7 * 0.1

    def multiply(self, calls):
        for _ in range(calls):
            self.matrix @ self.x


class Mkl:
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

    def multiply(self, calls):
        x, y = (ctypes.c_void_p(a.ctypes.data) for a in (self.x, self.y))
        one, zero = ctypes.c_double(1), ctypes.c_double(0)
        for _ in range(calls):
            self.library.mkl_sparse_d_mv(10, one, self.handle, self.description, x, zero, y)


class Conversation:
    kinds = {"scipy": Scipy, "mkl": Mkl}

    def __init__(self):
        self.peers = {}
        self.matrix_data = None
        self.users = set()  # the peers that have the matrix already

    def peer(self, name):
        try:
            if name not in self.peers:
                self.peers[name] = self.kinds[name]()
            return f"version {importlib.metadata.version(name)}"
        except (ModuleNotFoundError, importlib.metadata.PackageNotFoundError):
            return "missing"

    def matrix(self, path):
        if path.endswith((".mtx", ".mtx.gz")):
            import scipy.io

            read = scipy.io.mmread(path).tocsr()
            arrays = read.indptr.astype(numpy.int32), read.indices.astype(numpy.int32)
            self.matrix_data = read.shape, *arrays, read.data.astype(numpy.float64)
            self.users = set()
            return "ok"
        with open(path, "rb") as file:
            rows, columns, nonzeros = (int(n) for n in numpy.fromfile(file, numpy.int64, 3))
            row_start = numpy.fromfile(file, numpy.int64, rows + 1).astype(numpy.int32)
            column = numpy.fromfile(file, numpy.int32, nonzeros)
            value = numpy.fromfile(file, numpy.float64, nonzeros)
        self.matrix_data = (rows, columns), row_start, column, value
        self.users = set()
        return "ok"

    def time(self, name, threads, calls):
        peer = self.peers[name]
        if name not in self.users:
            peer.use(self.matrix_data)
            peer.multiply(1)
            self.users.add(name)
        start = time.perf_counter()
        peer.multiply(int(calls))
        return f"seconds {time.perf_counter() - start!r}"

    def answer(self, line):
        request, *words = line.rstrip("\n").split(" ")
        return {"peer": self.peer, "matrix": self.matrix, "time": self.time}[request](*words)


def main():
    # What the peers print must not get among the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    conversation = Conversation()
    for line in iter(sys.stdin.readline, ""):
        try:
            answer = conversation.answer(line)
        except Exception as error:
            answer = "error " + " ".join(f"{type(error).__name__}: {error}".split())
        print(answer, file=answers, flush=True)


os.environ["MKL_NUM_THREADS"] = "1"  # before the library is loaded
main()
