"""The interaction matrix of a law, stored or reduced as it is computed."""

from __future__ import annotations

import os
from typing import Any

from numpy.typing import ArrayLike

from kith import _kith
from kith._arguments import chosen, flag, integer, integer32, number, path_of
from kith._arrays import needed, reals, result, take
from kith._batch import is_batch, joined, part_of, systems_of
from kith._context import Call, Context, Device, Work
from kith._law import Law, handle_of


class _Question:
    """The particles, the law and the options that every function of the matrix takes."""

    def __init__(self, positions, masses=None, charges=None, b=None, *, law="gravity", columns=None, column_masses=None,
                 column_charges=None, softening=0.0, diagonal="zero", symmetric=False, method="auto", block=0,
                 device="auto", threads=0, context=None, is_stored=False):
        taken = reals(needed("positions", positions, (2,)), take("masses", masses, (1,)),
                      take("charges", charges, (1,)), take("columns", columns, (2,)),
                      take("column_masses", column_masses, (1,)), take("column_charges", column_charges, (1,)),
                      take("b", b, (1, 2)))
        *taken, self.b = taken
        self.rows = taken[0]
        self.columns = taken[0] if columns is None else taken[3]
        self.call = Call(taken, context, device, threads, self._work(method, is_stored))
        is_word = isinstance(diagonal, str)
        self.handle = _kith.ask_matrix(
            self.call.handle, handle_of(law), number("softening", softening),
            chosen("diagonal", diagonal, _kith.matrix_diagonals) if is_word else _kith.matrix_diagonal_value,
            0.0 if is_word else number("diagonal", diagonal),
            chosen("method", method, _kith.matrix_methods), integer32("block", block),
            flag("symmetric", symmetric),
            *(self.call.show(array) for array in taken))

    def _work(self, method, is_stored) -> Work | str:
        """What chooses the device: GPUs have matrices of three dimensions, and the CPU has no tiles."""
        if self.rows.shape[1] > 3:
            return "cpu"
        if method in ("tile-p", "tile-p2"):
            return "auto"
        rows, columns = self.rows.shape[0], self.columns.shape[0]
        return Work("matrix" if is_stored else "product", rows * columns,
                    rows if self.columns is self.rows else rows + columns, self.rows.dtype == "float32")

    def result(self, name, out, shape, dtype=None):
        return result(name, out, self.rows, shape, dtype or self.rows.dtype)


def matrix(positions: ArrayLike, masses: ArrayLike | None = None, charges: ArrayLike | None = None, *,
           law: str | Law = "gravity", out: Any = None, columns: ArrayLike | None = None,
           column_masses: ArrayLike | None = None, column_charges: ArrayLike | None = None,
           softening: float = 0.0, diagonal: str | float = "zero", symmetric: bool = False, method: str = "auto",
           block: int = 0, device: str | Device = "auto", threads: int = 0,
           context: Context | None = None) -> Any:
    """The matrix ``V[i][j] = V(i, j)`` of a law, with d = x_j - x_i.

    Parameters
    ----------
    positions : array_like, shape (n, D)
        Positions of the particles of the rows, in D = 1 to 16 dimensions; beyond three a law must depend on r
        alone, and the matrix is computed on the CPU. float32 gives single precision, everything else
        double. With shape (systems, n, D) each system has a matrix of its own; the other arrays may
        have that axis too.
    masses, charges : array_like, shape (n,), optional
        1 by default.
    law : str or Law
        See `kith.law`.
    out : array, shape (n, m), optional
        Where to write, of any strides.
    columns : array_like, shape (m, D), optional
        The particles of the columns; those of the rows by default.
    column_masses, column_charges : array_like, shape (m,), optional
        Masses and charges of the columns; 1 by default.
    softening : float
        In the law, s^2 = r^2 + softening^2 replaces r^2.
    diagonal : {'zero', 'keep'} or float
        The entries with i = j, if the columns are the rows: 0, the value of the law for a particle with
        itself (at s = softening), or this number. `kith.matrix.reduce`, `kith.matrix.histogram` and
        `kith.matrix.multiply` leave j = i out with 'zero', the default, and include it with 'keep' or a
        number.
    symmetric : bool
        Compute each pair once: V(i, j) is V(j, i) for this law.
    method : {'auto', 'reference', 'direct', 'tile-p', 'tile-p2'}
        For comparisons.
    block : int
        Of the tiles.
    device : str or Device
        See `kith.forces`.
    threads : int
        See `kith.forces`.
    context : Context, optional
        See `kith.forces`.

    Returns
    -------
    array, shape (n, m), or (systems, n, m)
        In the library of the positions, on their device.

    See Also
    --------
    kith.scipy_linear_operator : The matrix as an operator, never stored.

    Examples
    --------
    >>> import kith
    >>> kith.matrix([[0.0, 0], [3.0, 4.0]], law="distance").tolist()
    [[0.0, 5.0], [5.0, 0.0]]
    >>> kith.matrix([[0.0] * 9, [1.0] * 9], law="distance").tolist()
    [[0.0, 3.0], [3.0, 0.0]]
    """
    rows = needed("positions", positions, (2, 3))
    arrays = {"masses": masses, "charges": charges, "columns": columns, "column_masses": column_masses,
              "column_charges": column_charges}
    options = {"law": law, "softening": softening, "diagonal": diagonal, "symmetric": symmetric, "method": method,
               "block": block, "device": device, "threads": threads, "context": context}
    if is_batch(rows):
        return _each(rows, arrays, out, options)
    asked = _Question(rows, **arrays, **options, is_stored=True)
    made = asked.result("out", out, (asked.rows.shape[0], asked.columns.shape[0]))
    asked.handle.compute(asked.call.show(made))
    asked.call.done()
    return made.array


def _each(rows, arrays, out, options):
    """The matrix of each system of a batch."""
    shapes = {name: (value, 2 if name == "columns" else 1) for name, value in arrays.items()}
    made = [matrix(**system, out=part_of(out, k, rows.shape[0]), **options)
            for k, system in enumerate(systems_of(rows, shapes))]
    (like,) = reals(rows)
    columns = rows if arrays["columns"] is None else needed("columns", arrays["columns"])
    return joined(made, out, like, (rows.shape[-2], columns.shape[-2]), like.dtype)


def write(path: str | os.PathLike[str], positions: ArrayLike, masses: ArrayLike | None = None,
          charges: ArrayLike | None = None, *, law: str | Law = "gravity", memory: int = 0,
          columns: ArrayLike | None = None,
          column_masses: ArrayLike | None = None, column_charges: ArrayLike | None = None,
          softening: float = 0.0, diagonal: str | float = "zero", symmetric: bool = False, method: str = "auto",
          block: int = 0, device: str | Device = "auto", threads: int = 0, context: Context | None = None) -> float:
    """Writes the matrix to an NPY file row by row: it need not fit in memory.

    Parameters
    ----------
    path : str or os.PathLike
        Written under a temporary name, then renamed.
    positions : array_like, shape (n, D)
        See `kith.matrix`.
    masses, charges : array_like, shape (n,), optional
        See `kith.matrix`.
    law : str or Law
        See `kith.law`.
    memory : int
        The maximum number of bytes of buffered rows; 0: 256 MiB.
    columns, column_masses, column_charges, softening, diagonal, symmetric, method, block : optional
        See `kith.matrix`.
    device, threads, context : optional
        See `kith.forces`.

    Returns
    -------
    float
        Seconds of computation, without the writing.

    Examples
    --------
    >>> import kith, numpy, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "V.npy")
    ...     seconds = kith.matrix.write(path, [[0.0, 0], [3.0, 4.0]], law="distance")
    ...     numpy.load(path).tolist()
    [[0.0, 5.0], [5.0, 0.0]]
    """
    asked = _Question(positions, masses, charges, law=law, columns=columns, column_masses=column_masses,
                      column_charges=column_charges, softening=softening, diagonal=diagonal,
                      symmetric=symmetric, method=method, block=block, device=device, threads=threads,
                      context=context, is_stored=True)
    return asked.handle.write(integer("memory", memory), path_of("path", path))


def reduce(reduction: str, positions: ArrayLike, masses: ArrayLike | None = None,
           charges: ArrayLike | None = None, *, law: str | Law = "gravity", out: Any = None,
           columns: ArrayLike | None = None,
           column_masses: ArrayLike | None = None, column_charges: ArrayLike | None = None,
           softening: float = 0.0, diagonal: str | float = "zero", symmetric: bool = False, method: str = "auto",
           block: int = 0, device: str | Device = "auto", threads: int = 0, context: Context | None = None) -> Any:
    """One value per row, without storing the matrix: sum, min, max or argmin over j.

    Parameters
    ----------
    reduction : {'sum', 'min', 'max', 'argmin'}
        What to compute of each row.
    positions : array_like, shape (n, D)
        See `kith.matrix`.
    masses, charges : array_like, shape (n,), optional
        See `kith.matrix`.
    law : str or Law
        See `kith.law`.
    out : array, shape (n,), optional
        Where to write.
    columns, column_masses, column_charges, softening : optional
        See `kith.matrix`.
    diagonal : {'zero', 'keep'} or float
        If the columns are the rows, j = i is left out unless this is 'keep' or a number.
    symmetric, method, block, device, threads, context : optional
        See `kith.matrix`.

    Returns
    -------
    array, shape (n,)
        ``argmin`` gives int64: the smallest j with the minimum value, -1 if the row is empty.

    Examples
    --------
    >>> import kith
    >>> kith.matrix.reduce("argmin", [[0.0, 0], [1.0, 0], [5.0, 0]], law="distance").tolist()
    [1, 0, 1]
    """
    asked = _Question(positions, masses, charges, law=law, columns=columns, column_masses=column_masses,
                      column_charges=column_charges, softening=softening, diagonal=diagonal,
                      symmetric=symmetric, method=method, block=block, device=device, threads=threads,
                      context=context)
    row = chosen("reduction", reduction, _kith.matrix_reductions)
    made = asked.result("out", out, asked.rows.shape[:1], "int64" if reduction == "argmin" else None)
    asked.handle.reduce(row, asked.call.show(made))
    asked.call.done()
    return made.array


def histogram(positions: ArrayLike, masses: ArrayLike | None = None, charges: ArrayLike | None = None, *,
              bins: int, low: float, high: float, law: str | Law = "gravity", out: Any = None,
              columns: ArrayLike | None = None,
              column_masses: ArrayLike | None = None, column_charges: ArrayLike | None = None,
              softening: float = 0.0, diagonal: str | float = "zero", symmetric: bool = False, method: str = "auto",
              block: int = 0, device: str | Device = "auto", threads: int = 0,
              context: Context | None = None) -> Any:
    """Counts the values in equal bins between low and high, as NumPy's histogram.

    Parameters
    ----------
    positions : array_like, shape (n, D)
        See `kith.matrix`.
    masses, charges : array_like, shape (n,), optional
        See `kith.matrix`.
    bins : int
        The number of bins.
    low, high : float
        The last bin includes its upper end. If the columns are the rows, a pair counts once.
    law : str or Law
        See `kith.law`.
    out : array of int64, shape (bins,), optional
        Where to write.
    columns, column_masses, column_charges, softening : optional
        See `kith.matrix`.
    diagonal : {'zero', 'keep'} or float
        If the columns are the rows, each V[i][i] counts once too if this is 'keep' or a number: NumPy's
        histogram of the upper triangle with its diagonal. Left out by default.
    symmetric, method, block, device, threads, context : optional
        See `kith.matrix`.

    Returns
    -------
    array of int64, shape (bins,)
        The counts.

    Examples
    --------
    >>> import kith
    >>> kith.matrix.histogram([[0.0, 0], [1.0, 0], [5.0, 0]], law="distance", bins=3, low=0, high=6).tolist()
    [1, 0, 2]
    """
    asked = _Question(positions, masses, charges, law=law, columns=columns, column_masses=column_masses,
                      column_charges=column_charges, softening=softening, diagonal=diagonal,
                      symmetric=symmetric, method=method, block=block, device=device, threads=threads,
                      context=context)
    made = asked.result("out", out, (integer("bins", bins, 0),), "int64")
    asked.handle.histogram(number("low", low), number("high", high), asked.call.show(made))
    asked.call.done()
    return made.array


def multiply(b: ArrayLike, positions: ArrayLike, masses: ArrayLike | None = None,
             charges: ArrayLike | None = None, *, law: str | Law = "gravity", out: Any = None,
             columns: ArrayLike | None = None,
             column_masses: ArrayLike | None = None, column_charges: ArrayLike | None = None,
             softening: float = 0.0, diagonal: str | float = "zero", symmetric: bool = False, method: str = "auto",
             block: int = 0, device: str | Device = "auto", threads: int = 0,
             context: Context | None = None) -> Any:
    """``V b`` without storing the matrix.

    Parameters
    ----------
    b : array_like, shape (m,) or (m, k)
        An array of float64 makes the product double.
    positions : array_like, shape (n, D)
        See `kith.matrix`.
    masses, charges : array_like, shape (n,), optional
        See `kith.matrix`.
    law : str or Law
        See `kith.law`.
    out : array, shape (n,) or (n, k), optional
        Where to write.
    columns, column_masses, column_charges, softening : optional
        See `kith.matrix`.
    diagonal : {'zero', 'keep'} or float
        If the columns are the rows, j = i is left out unless this is 'keep' (the V[i][i] of a kernel
        matrix) or a number.
    symmetric, method, block, device, threads, context : optional
        See `kith.matrix`.

    Returns
    -------
    array, shape (n,) or (n, k)
        In the library of the positions, on their device.

    Examples
    --------
    >>> import kith
    >>> kith.matrix.multiply([1.0, 2.0], [[0.0, 0], [3.0, 4.0]], law="distance").tolist()
    [10.0, 5.0]
    >>> kith.matrix.multiply([1.0, 2.0], [[0.0, 0], [3.0, 4.0]], law="distance", diagonal=1).tolist()
    [11.0, 7.0]
    """
    asked = _Question(positions, masses, charges, needed("b", b, (1, 2)), law=law, columns=columns,
                      column_masses=column_masses,
                      column_charges=column_charges, softening=softening, diagonal=diagonal,
                      symmetric=symmetric, method=method, block=block, device=device, threads=threads,
                      context=context)
    made = asked.result("out", out, asked.rows.shape[:1] + asked.b.shape[1:])
    asked.handle.multiply(asked.call.show(asked.b), asked.call.show(made))
    asked.call.done()
    return made.array
