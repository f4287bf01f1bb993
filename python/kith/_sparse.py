"""Sparse matrices and their products."""

from __future__ import annotations

import os
from typing import Any

import numpy
from numpy.typing import ArrayLike

from kith import _kith
from kith._arguments import chosen, described, flag, integer, integer32, number, path_of, several
from kith._arrays import Taken, as_dtype, needed, on_one_device, reals, result, take, whole
from kith._context import Call, Context, Device
from kith._law import Law, handle_of
from kith._pairs import Pairs


class SparseMatrix:
    """A sparse matrix, stored in the format and multiplied by the kernel that suit it.

    Parameters
    ----------
    matrix : scipy.sparse matrix or array, or array_like of shape (rows, columns)
        The zeros of a dense matrix are left out. float32 gives single precision, everything else double.
    format : {'auto', 'coo', 'csr', 'ell', 'hybrid', 'sell', 'bsr', 'dia'}
        Chosen by the statistics of the matrix if auto.
    kernel : {'auto', 'row-thread', 'row-vector', 'element', 'merge'}
        Chosen by the statistics of the matrix if auto.
    block : int
        Of bsr: 2, 3 or 4; 0: the one with the minimum padding.
    tune : bool
        Time the best few choices instead of trusting the prediction.
    device : str or Device
        See `kith.forces`.
    threads : int
        See `kith.forces`.
    context : Context, optional
        See `kith.forces`.

    Notes
    -----
    Entries with the same row and column are added. ``A @ x``, ``x @ A``, ``2 * A``, ``-A`` and ``A.T`` work as
    for SciPy's arrays; the last three copy nothing. Solvers of ``scipy.sparse.linalg`` take a matrix where they
    take a LinearOperator. A product has the same bits on every run and for every number of threads. NaN and
    infinity propagate as for the stored entries alone. A pickle or a copy has the entries and the format.

    Examples
    --------
    >>> import kith
    >>> A = kith.SparseMatrix([[2.0, 0.0], [1.0, 3.0]])
    >>> (A @ [1.0, 1.0]).tolist(), ([1.0, 1.0] @ A).tolist(), (2 * A.T @ [1.0, 1.0]).tolist()
    ([2.0, 4.0], [3.0, 3.0], [6.0, 6.0])
    >>> from scipy.sparse.linalg import cg
    >>> x, info = cg(kith.SparseMatrix([[4.0, 1.0], [1.0, 3.0]]), [5.0, 4.0])
    >>> x.round(6).tolist(), info
    ([1.0, 1.0], 0)
    """

    __array_ufunc__ = None  # NumPy leaves x @ A and 2 * A to this class

    def __init__(self, matrix: Any, *, format: str = "auto", kernel: str = "auto", block: int = 0, tune: bool = False,
                 device: str | Device = "auto", threads: int = 0, context: Context | None = None):
        make = self.from_scipy if hasattr(matrix, "tocsr") else self._from_dense
        made = make(matrix, format=format, kernel=kernel, block=block, tune=tune, device=device, threads=threads,
                    context=context)
        self._handle, self._call, self._transposed, self._factor = made._handle, made._call, False, 1.0
        self._sizes, self._double = made._sizes, made._double

    @classmethod
    def _of(cls, handle, call, transposed=False, factor=1.0, double=None):
        made = cls.__new__(cls)
        made._handle, made._call, made._transposed, made._factor = handle, call, transposed, factor
        made._double = [] if double is None else double  # a copy in double, once one is needed; the transpose's too
        found = handle.describe(False)
        made._sizes = (found["rows"], found["columns"], found["nonzeros"], found["dtype"])
        return made

    @classmethod
    def _from_dense(cls, matrix, **options):
        (taken,) = reals(needed("matrix", matrix, (2,)))
        call, choice = _choices((taken,), **options)
        return cls._of(_kith.sparse_from_dense(call.handle, choice, call.show(taken)), call)

    @classmethod
    def from_scipy(cls, matrix: Any, *, format: str = "auto", kernel: str = "auto", block: int = 0, tune: bool = False,
                   device: str | Device = "auto", threads: int = 0, context: Context | None = None) -> SparseMatrix:
        """Makes a matrix from one of SciPy or CuPy, of any format.

        Parameters
        ----------
        matrix : matrix or array of scipy.sparse or cupyx.scipy.sparse
            Copied.
        format, kernel, block, tune, device, threads, context : optional
            See `kith.SparseMatrix`.

        Returns
        -------
        SparseMatrix
            In single precision if the matrix is of float32, otherwise in double.

        Examples
        --------
        >>> import kith, scipy.sparse
        >>> kith.SparseMatrix.from_scipy(scipy.sparse.eye_array(3))
        <kith.SparseMatrix: 3 x 3, 3 stored, float64>
        """
        if not hasattr(matrix, "tocsr"):
            raise TypeError(f"matrix is {described(matrix)}; it must be a matrix of scipy.sparse")
        if matrix.format == "coo":
            return cls.from_coo(matrix.row, matrix.col, matrix.data, shape=matrix.shape, format=format, kernel=kernel,
                                block=block, tune=tune, device=device, threads=threads, context=context)
        rows = matrix.tocsr()
        return cls.from_csr(rows.indptr, rows.indices, rows.data, shape=rows.shape, format=format, kernel=kernel,
                            block=block, tune=tune, device=device, threads=threads, context=context)

    @classmethod
    def from_coo(cls, row: ArrayLike, column: ArrayLike, values: ArrayLike | None = None, *, shape: tuple[int, int],
                 index_base: int = 0, format: str = "auto", kernel: str = "auto", block: int = 0, tune: bool = False,
                 device: str | Device = "auto", threads: int = 0, context: Context | None = None) -> SparseMatrix:
        """Makes a matrix from its entries: ``values[k]`` is in row ``row[k]`` and column ``column[k]``.

        Parameters
        ----------
        row, column : array_like of int, shape (nonzeros,)
            Entries with the same row and column are added.
        values : array_like, shape (nonzeros,), optional
            1 by default.
        shape : tuple of int
            Rows and columns.
        index_base : {0, 1}
            The index of the first row and column.
        format, kernel, block, tune, device, threads, context : optional
            See `kith.SparseMatrix`.

        Returns
        -------
        SparseMatrix
            In single precision if the values are float32, otherwise in double.

        Examples
        --------
        >>> import kith
        >>> A = kith.SparseMatrix.from_coo([0, 1, 1], [1, 0, 0], [2.0, 3.0, 4.0], shape=(2, 2))
        >>> A.to_scipy().toarray().tolist()
        [[0.0, 2.0], [7.0, 0.0]]
        """
        sizes = several(integer, "shape", shape, (2,))
        numbers, real = _indices(row=row, column=column), reals(take("values", values, (1,)))[0]
        call, choice = _choices((*numbers, real), index_base=index_base, single=_is_single(real), format=format,
                                kernel=kernel, block=block, tune=tune, device=device, threads=threads, context=context)
        handle = _kith.sparse_from_coo(call.handle, choice, *sizes, *map(call.show, (*numbers, real)))
        return cls._of(handle, call)

    @classmethod
    def from_csr(cls, row_start: ArrayLike, column: ArrayLike, values: ArrayLike | None = None, *,
                 shape: tuple[int, int], index_base: int = 0,
                 format: str = "auto", kernel: str = "auto", block: int = 0, tune: bool = False,
                 device: str | Device = "auto", threads: int = 0, context: Context | None = None) -> SparseMatrix:
        """Makes a matrix from compressed rows.

        Parameters
        ----------
        row_start : array_like of int, shape (rows + 1,)
            Row i has the entries ``row_start[i]`` to ``row_start[i + 1] - 1``.
        column : array_like of int, shape (nonzeros,)
            The column of each entry.
        values : array_like, shape (nonzeros,), optional
            1 by default.
        shape : tuple of int
            Rows and columns.
        index_base : {0, 1}
            The index of the first row and column.
        format, kernel, block, tune, device, threads, context : optional
            See `kith.SparseMatrix`.

        Returns
        -------
        SparseMatrix
            In single precision if the values are float32, otherwise in double.

        Examples
        --------
        >>> import kith
        >>> A = kith.SparseMatrix.from_csr([0, 1, 3], [1, 0, 1], [2.0, 3.0, 4.0], shape=(2, 2))
        >>> A.to_scipy().toarray().tolist()
        [[0.0, 2.0], [3.0, 4.0]]
        """
        rows, columns = several(integer, "shape", shape, (2,))
        numbers, real = _indices(row_start=row_start, column=column), reals(take("values", values, (1,)))[0]
        if numbers[0].shape != (rows + 1,):
            raise ValueError(f"row_start has {numbers[0].shape[0]} numbers and there are {rows} rows; give {rows + 1}")
        call, choice = _choices((*numbers, real), index_base=index_base, single=_is_single(real), format=format,
                                kernel=kernel, block=block, tune=tune, device=device, threads=threads, context=context)
        handle = _kith.sparse_from_csr(call.handle, choice, columns, *map(call.show, (*numbers, real)))
        return cls._of(handle, call)

    @classmethod
    def from_pairs(cls, pairs: Pairs, *, law: str | Law | None = None, masses: ArrayLike | None = None,
                   charges: ArrayLike | None = None, softening: float = 0.0, half: bool = False,
                   laplacian: bool = False, columns: int = 0, single: bool = False,
                   format: str = "auto", kernel: str = "auto", block: int = 0, tune: bool = False,
                   device: str | Device = "auto", threads: int = 0, context: Context | None = None) -> SparseMatrix:
        """The weighted adjacency matrix of neighbor pairs, or the graph Laplacian D - W.

        Parameters
        ----------
        pairs : Pairs
            With j, and with vectors or distances if there is a law; in host memory.
        law : str or Law, optional
            The weight of a pair is V(i, j); 1 by default.
        masses, charges : array_like, shape (n,), optional
            Masses and charges of the points, for the law.
        softening : float
            A length, for the law.
        half : bool
            The list has each pair once: its mirror image is added.
        laplacian : bool
            D - W instead of W, where D has the sums of the rows of W on its diagonal.
        columns : int
            The number of points j, if i are queries; 0: as many as rows.
        single : bool
            In single precision.
        format, kernel, block, tune, device, threads, context : optional
            See `kith.SparseMatrix`.

        Returns
        -------
        SparseMatrix
            One row for each point i.

        Examples
        --------
        >>> import kith
        >>> pairs = kith.pairs([[0.0, 0], [1.0, 0], [2.0, 0]], 1.5)
        >>> kith.SparseMatrix.from_pairs(pairs, laplacian=True).to_scipy().toarray().tolist()
        [[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]]
        """
        if not isinstance(pairs, Pairs):
            raise TypeError(f"pairs is {described(pairs)}; it must be a kith.Pairs")
        weights = reals(take("masses", masses, (1,)), take("charges", charges, (1,)))
        call, choice = _choices(weights, single=single, format=format, kernel=kernel, block=block, tune=tune,
                                device=device, threads=threads, context=context)
        handle = _kith.sparse_from_pairs(call.handle, choice, pairs._handle, handle_of(law), *map(call.show, weights),
                                         number("softening", softening), flag("half", half),
                                         flag("laplacian", laplacian), integer("columns", columns))
        return cls._of(handle, call)

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, single: bool = False,
             format: str = "auto", kernel: str = "auto", block: int = 0, tune: bool = False,
             device: str | Device = "auto", threads: int = 0, context: Context | None = None) -> SparseMatrix:
        """Reads a Matrix Market file, optionally compressed by gzip.

        Parameters
        ----------
        path : str or os.PathLike
            The file.
        single : bool
            In single precision.
        format, kernel, block, tune, device, threads, context : optional
            See `kith.SparseMatrix`.

        Returns
        -------
        SparseMatrix
            In double precision, unless ``single`` is given.

        Raises
        ------
        FormatError
            The file has an error; the message names the line.
        OSError
            The file cannot be read.

        Examples
        --------
        >>> import kith, os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "A.mtx")
        ...     kith.SparseMatrix([[1.0, 2.0], [0.0, 3.0]]).write(path)
        ...     kith.SparseMatrix.read(path)
        <kith.SparseMatrix: 2 x 2, 3 stored, float64>
        """
        call, choice = _choices((), single=single, format=format, kernel=kernel, block=block, tune=tune, device=device,
                                threads=threads, context=context)
        return cls._of(_kith.sparse_from_file(call.handle, choice, path_of("path", path)), call)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the matrix to a Matrix Market file, with all digits needed to read back the same bits.

        Parameters
        ----------
        path : str or os.PathLike
            Written under a temporary name, then renamed.

        Examples
        --------
        >>> import kith, pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "A.mtx")
        ...     kith.SparseMatrix([[0.0, 0.5]]).write(path)
        ...     path.read_text().splitlines()[-1]
        '1 2 0.5'
        """
        if self._transposed or self._factor != 1:
            raise ValueError("this is the transpose or a multiple of a matrix; write the matrix itself, or "
                             "kith.SparseMatrix of its to_scipy()")
        self._handle.write(path_of("path", path))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns.

        Returns
        -------
        tuple of int
            As of SciPy's arrays.

        Examples
        --------
        >>> import kith
        >>> kith.SparseMatrix([[1.0, 0.0, 2.0]]).shape
        (1, 3)
        """
        rows, columns = self._sizes[:2]
        return (columns, rows) if self._transposed else (rows, columns)

    @property
    def nnz(self) -> int:
        """The number of stored entries.

        Returns
        -------
        int
            As of SciPy's arrays.

        Examples
        --------
        >>> import kith
        >>> kith.SparseMatrix([[1.0, 0.0, 2.0]]).nnz
        2
        """
        return self._sizes[2]

    @property
    def dtype(self) -> numpy.dtype:
        """The precision of the stored entries.

        Returns
        -------
        numpy.dtype
            float64 or float32.

        Examples
        --------
        >>> import kith
        >>> kith.SparseMatrix([[1.0]]).dtype
        dtype('float64')
        """
        return numpy.dtype(self._sizes[3])

    @property
    def info(self) -> dict[str, Any]:
        """How the matrix is stored for a product, and why.

        Returns
        -------
        dict
            rows, columns, nonzeros, dtype, format, kernel, reason, bytes and convert_seconds.

        Examples
        --------
        >>> import kith
        >>> kith.SparseMatrix([[1.0, 2.0]], format="csr").info["format"]
        'csr'
        """
        return self._handle.describe(self._transposed)

    @property
    def T(self) -> SparseMatrix:
        """The transpose; nothing is copied until it is first multiplied.

        Returns
        -------
        SparseMatrix
            Of the same stored entries.

        Examples
        --------
        >>> import kith
        >>> A = kith.SparseMatrix([[1.0, 0.0, 2.0]])
        >>> A.T.shape, (A.T @ [1.0]).tolist()
        ((3, 1), [1.0, 0.0, 2.0])
        """
        return self._of(self._handle, self._call, not self._transposed, self._factor, self._double)

    def multiply(self, x: Any, *, alpha: float = 1.0, beta: float = 0.0, out: Any = None) -> Any:
        """``alpha A x + beta y``.

        Parameters
        ----------
        x : array_like, shape (columns,) or (columns, k)
            With any strides; in host memory, or on the GPU of the context. An array of float64 promotes a
            matrix in single precision, of which a copy in double is made once and kept; lists and integers
            follow the matrix.
        alpha, beta : float
            The factors.
        out : array, optional
            y: read if beta is not 0, and written.

        Returns
        -------
        array, shape (rows,) or (rows, k)
            In the library of x; ``out`` if given.

        Examples
        --------
        >>> import kith, numpy
        >>> y = numpy.array([1.0, 10.0])
        >>> A = kith.SparseMatrix([[2.0, 0.0], [1.0, 3.0]])
        >>> A.multiply([1.0, 1.0], alpha=10.0, beta=-1.0, out=y).tolist()
        [19.0, 30.0]
        """
        factor, beta = number("alpha", alpha) * self._factor, number("beta", beta)
        if beta != 0 and out is None:
            raise ValueError("beta is given without out; give the y that it is of")
        taken = needed("x", x, (1, 2))
        if self.dtype == "float32" and taken.dtype == "float64" and not taken.is_loose:
            return self._in_double().multiply(taken, alpha=alpha, beta=beta, out=out)
        taken = as_dtype(taken, str(self.dtype))
        call = Call((taken,), self._call.context)
        made = result("out", out, taken, self.shape[:1] + taken.shape[1:], str(self.dtype))
        self._handle.multiply(self._transposed, factor, call.show(taken), beta, call.show(made))
        call.done()
        return made.array

    def matvec(self, x: Any) -> Any:
        """``A x``, under the name that SciPy's solvers use.

        Parameters
        ----------
        x : array_like, shape (columns,) or (columns, k)
            See `multiply`.

        Returns
        -------
        array, shape (rows,) or (rows, k)
            In the library of x.

        Examples
        --------
        >>> import kith
        >>> kith.SparseMatrix([[1.0, 2.0], [3.0, 4.0]]).matvec([1.0, 1.0]).tolist()
        [3.0, 7.0]
        """
        return self.multiply(x)

    def rmatvec(self, x: Any) -> Any:
        """``A^T x``, under the name that SciPy's solvers use.

        Parameters
        ----------
        x : array_like, shape (rows,) or (rows, k)
            See `multiply`.

        Returns
        -------
        array, shape (columns,) or (columns, k)
            In the library of x.

        Examples
        --------
        >>> import kith
        >>> kith.SparseMatrix([[1.0, 2.0], [3.0, 4.0]]).rmatvec([1.0, 1.0]).tolist()
        [4.0, 6.0]
        """
        return self.T.multiply(x)

    matmat, rmatmat = matvec, rmatvec

    def __matmul__(self, x: Any) -> Any:
        return self.multiply(x)

    def __rmatmul__(self, x: Any) -> Any:
        taken = needed("x", x, (1, 2))
        if len(taken.shape) == 1:
            return self.T.multiply(taken)
        return self.T.multiply(Taken("x", taken.array.T, taken.library, taken.device, taken.is_loose)).T

    def __mul__(self, factor: float) -> SparseMatrix:
        try:
            return self._of(self._handle, self._call, self._transposed, self._factor * number("factor", factor),
                            self._double)
        except TypeError:
            return NotImplemented

    __rmul__ = __mul__

    def __neg__(self) -> SparseMatrix:
        return self * -1.0

    def _in_double(self) -> SparseMatrix:
        if not self._double:
            starts, column, values = self._csr()
            self._double.append(self.from_csr(starts, column, values.astype("float64"), shape=self._sizes[:2],
                                              context=self._call.context))
        return self._of(self._double[0]._handle, self._call, self._transposed, self._factor)

    def _csr(self):
        rows, _, nonzeros, dtype = self._sizes
        arrays = numpy.empty(rows + 1, "int64"), numpy.empty(nonzeros, "int32"), numpy.empty(nonzeros, dtype)
        self._handle.copy_csr(*arrays)
        return arrays

    def __reduce_ex__(self, protocol):
        # What differs for the transpose was chosen by kith, which will choose the same again.
        stored, mirrored = self._handle.describe(False), self._handle.describe(True)
        format, kernel = (stored[key] if stored[key] == mirrored[key] and stored[key] in names else "auto"
                          for key, names in (("format", _kith.sparse_formats), ("kernel", _kith.sparse_kernels)))
        context = self._call.context
        return _remade, (self._csr(), self._sizes[:2], format, kernel, context.device, context.threads,
                         self._transposed, self._factor)

    def to_scipy(self) -> Any:
        """The matrix as a csr_array of SciPy.

        Returns
        -------
        scipy.sparse.csr_array
            Its columns ascend in each row.

        Examples
        --------
        >>> import kith
        >>> kith.SparseMatrix([[0.0, 2.0]]).to_scipy().toarray().tolist()
        [[0.0, 2.0]]
        """
        from scipy.sparse import csr_array

        rows, columns, nonzeros, _ = self._sizes
        starts, column, values = self._csr()
        if nonzeros < 1 << 31:
            starts = starts.astype(numpy.int32)
        made = csr_array((values if self._factor == 1 else self._factor * values, column, starts),
                         shape=(rows, columns))
        return made.T.tocsr() if self._transposed else made

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"<kith.SparseMatrix: {rows} x {columns}, {self.nnz} stored, {self.dtype}>"


def _remade(arrays, shape, format, kernel, device, threads, is_transposed, factor) -> SparseMatrix:
    made = SparseMatrix.from_csr(*arrays, shape=shape, format=format, kernel=kernel, device=device, threads=threads)
    return SparseMatrix._of(made._handle, made._call, is_transposed, factor)


def _indices(**arrays):
    return on_one_device(tuple(whole(needed(name, array, (1,))) for name, array in arrays.items()))


def _is_single(real) -> bool:
    return real is not None and real.dtype == "float32"


def _choices(arrays, *, format="auto", kernel="auto", block=0, tune=False, index_base=0, single=False, device="auto",
             threads=0, context=None):
    call = Call(on_one_device(arrays), context, device, threads)
    return call, _kith.sparse_options(chosen("format", format, _kith.sparse_formats),
                                      chosen("kernel", kernel, _kith.sparse_kernels), integer32("block", block),
                                      integer32("index_base", index_base), flag("tune", tune),
                                      flag("single", single))
