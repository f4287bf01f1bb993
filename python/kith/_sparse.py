"""Sparse matrices, multiplied."""

from __future__ import annotations

import os

import numpy

from kith import _kith
from kith._arrays import as_dtype, in_one_place, reals, result, take, whole
from kith._choice import chosen
from kith._context import Call
from kith._law import handle_of


class SparseMatrix:
    """A sparse matrix that is kept in the format and multiplied by the kernel that suit it.

    Parameters
    ----------
    matrix : scipy.sparse matrix or array, or array_like of shape (rows, columns)
        Of a dense one, what is 0 is left out. Single precision if it is float32, else double.
    format : {'auto', 'coo', 'csr', 'ell', 'hybrid', 'sell', 'bsr', 'dia'}
        By the matrix' statistics if auto.
    kernel : {'auto', 'row-thread', 'row-vector', 'element', 'merge'}
    block : int
        Of bsr: 2, 3 or 4; 0: the one with the least fill.
    tune : bool
        Time the best few choices instead of trusting the prediction.
    device, threads, context
        As of `kith.forces`.

    Notes
    -----
    Entries in the same place are added up. A product is the same, bit for bit, on every run and for
    every number of threads. NaN and infinity count for the stored entries alone.

    Examples
    --------
    >>> import kith
    >>> A = kith.SparseMatrix([[2.0, 0.0], [1.0, 3.0]])
    >>> (A @ [1.0, 1.0]).tolist(), (A.T @ [1.0, 1.0]).tolist()
    ([2.0, 4.0], [3.0, 3.0])
    """

    def __init__(self, matrix, **options):
        made = self.from_scipy(matrix, **options) if hasattr(matrix, "tocsr") else self._from_dense(matrix, **options)
        self._handle, self._call, self._transposed = made._handle, made._call, False
        self._sizes = made._sizes

    @classmethod
    def _of(cls, handle, call, transposed=False):
        made = cls.__new__(cls)
        made._handle, made._call, made._transposed = handle, call, transposed
        found = handle.describe(False)
        made._sizes = (found["rows"], found["columns"], found["nonzeros"], found["dtype"])
        return made

    @classmethod
    def _from_dense(cls, matrix, **options):
        (taken,) = reals(take("matrix", matrix, (2,)))
        call, choice = _choices((taken,), **options)
        return cls._of(_kith.sparse_from_dense(call.handle, choice, call.show(taken)), call)

    @classmethod
    def from_scipy(cls, matrix, **options) -> SparseMatrix:
        """Takes a matrix of SciPy or CuPy of any format."""
        if matrix.format == "coo":
            return cls.from_coo(matrix.row, matrix.col, matrix.data, shape=matrix.shape, **options)
        rows = matrix.tocsr()
        return cls.from_csr(rows.indptr, rows.indices, rows.data, shape=rows.shape, **options)

    @classmethod
    def from_coo(cls, row, column, values=None, *, shape, index_base=0, **options) -> SparseMatrix:
        """Makes a matrix of its entries: ``values[k]`` stands in row ``row[k]`` and column ``column[k]``.

        Parameters
        ----------
        row, column : array_like of int, shape (nonzeros,)
        values : array_like, shape (nonzeros,), optional
            1 if left out.
        shape : tuple of int
            Rows and columns.
        index_base : {0, 1}
            What the first row and column are called.
        **options
            As of the class.
        """
        numbers, real = _indices(row, column), reals(take("values", values, (1,)))[0]
        call, choice = _choices((*numbers, real), index_base=index_base, single=_is_single(real), **options)
        handle = _kith.sparse_from_coo(call.handle, choice, *map(int, shape), *map(call.show, (*numbers, real)))
        return cls._of(handle, call)

    @classmethod
    def from_csr(cls, row_start, column, values=None, *, shape, index_base=0, **options) -> SparseMatrix:
        """Makes a matrix of compressed rows: row i has the entries ``row_start[i]`` to ``row_start[i + 1] - 1``."""
        numbers, real = _indices(row_start, column), reals(take("values", values, (1,)))[0]
        rows = int(shape[0])
        if numbers[0].shape != (rows + 1,):
            raise ValueError(f"row_start has {numbers[0].shape[0]} numbers and there are {rows} rows; give {rows + 1}")
        call, choice = _choices((*numbers, real), index_base=index_base, single=_is_single(real), **options)
        handle = _kith.sparse_from_csr(call.handle, choice, int(shape[1]), *map(call.show, (*numbers, real)))
        return cls._of(handle, call)

    @classmethod
    def from_pairs(cls, pairs, *, law=None, masses=None, charges=None, softening=0.0, half=False, laplacian=False,
                   columns=0, single=False, **options) -> SparseMatrix:
        """The weighted adjacency matrix of neighbour pairs, or the graph's Laplacian D - W.

        Parameters
        ----------
        pairs : Pairs
            With j, and with vectors or distances if there is a law; in host memory.
        law : str or Law, optional
            A pair weighs V(i, j); 1 if left out.
        masses, charges : array_like, shape (n,), optional
            Of the points, for the law.
        half : bool
            The list has each pair once: its mirror image is added.
        laplacian : bool
        columns : int
            Points j, if i are queries of their own; 0: as many as rows.
        single : bool
            In single precision.
        """
        weights = reals(take("masses", masses, (1,)), take("charges", charges, (1,)))
        call, choice = _choices(weights, single=single, **options)
        handle = _kith.sparse_from_pairs(call.handle, choice, pairs._handle, handle_of(law), *map(call.show, weights),
                                         float(softening), bool(half), bool(laplacian), int(columns))
        return cls._of(handle, call)

    @classmethod
    def read(cls, path, *, single=False, **options) -> SparseMatrix:
        """Reads a Matrix Market file, of ``.gz`` too.

        Raises
        ------
        FormatError
            The message names the line and what is wrong.
        """
        call, choice = _choices((), single=single, **options)
        return cls._of(_kith.sparse_from_file(call.handle, choice, os.fspath(path)), call)

    def write(self, path) -> None:
        """Writes the matrix as a Matrix Market file, with as many digits as give the same bits when read."""
        if self._transposed:
            raise ValueError("this is the transpose of a matrix; write the matrix itself, or kith.SparseMatrix of "
                             "its to_scipy()")
        self._handle.write(os.fspath(path))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self._sizes[:2]
        return (columns, rows) if self._transposed else (rows, columns)

    @property
    def nnz(self) -> int:
        """Stored entries."""
        return self._sizes[2]

    @property
    def dtype(self) -> numpy.dtype:
        return numpy.dtype(self._sizes[3])

    @property
    def info(self) -> dict:
        """How the matrix is stored for a product, and why: format, kernel, reason, bytes, convert_seconds."""
        return self._handle.describe(self._transposed)

    @property
    def T(self) -> SparseMatrix:
        """The transpose; nothing is copied until it is first multiplied."""
        return self._of(self._handle, self._call, not self._transposed)

    def multiply(self, x, *, alpha=1.0, beta=0.0, out=None):
        """``alpha A x + beta y``.

        Parameters
        ----------
        x : array_like, shape (columns,) or (columns, k)
            Of any strides; in host memory, or on the context's GPU.
        alpha, beta : float
        out : array, optional
            y: read if beta is not 0, and written.

        Returns
        -------
        array, shape (rows,) or (rows, k)
            Of x's library; ``out`` if given.
        """
        if beta != 0 and out is None:
            raise ValueError("beta is given without out; give the y that it is of")
        taken = as_dtype(take("x", x, (1, 2)), str(self.dtype))
        call = Call((taken,), self._call.context)
        made = result("out", out, taken, self.shape[:1] + taken.shape[1:], str(self.dtype))
        self._handle.multiply(self._transposed, float(alpha), call.show(taken), float(beta), call.show(made))
        call.done()
        return made.array

    def __matmul__(self, x):
        return self.multiply(x)

    def to_scipy(self):
        """The matrix as ``scipy.sparse.csr_array``, whose columns ascend in each row."""
        from scipy.sparse import csr_array

        rows, columns, nonzeros, dtype = self._sizes
        starts, column = numpy.empty(rows + 1, numpy.int64), numpy.empty(nonzeros, numpy.int32)
        values = numpy.empty(nonzeros, dtype)
        self._handle.copy_csr(starts, column, values)
        if nonzeros < 1 << 31:
            starts = starts.astype(numpy.int32)
        made = csr_array((values, column, starts), shape=(rows, columns))
        return made.T.tocsr() if self._transposed else made

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"<kith.SparseMatrix: {rows} x {columns}, {self.nnz} stored, {self.dtype}>"


def _indices(*arrays):
    taken = tuple(whole(take(name, array, (1,))) for name, array in zip(("row", "column"), arrays))
    return in_one_place(taken)


def _is_single(real) -> bool:
    return real is not None and real.dtype == "float32"


def _choices(arrays, *, format="auto", kernel="auto", block=0, tune=False, index_base=0, single=False, device="auto",
             threads=0, context=None):
    call = Call(in_one_place(arrays), context, device, threads)
    return call, _kith.sparse_options(chosen("format", format, _kith.sparse_formats),
                                      chosen("kernel", kernel, _kith.sparse_kernels), int(block), int(index_base),
                                      bool(tune), bool(single))
