"""The interaction matrix of a law, kept or reduced as it is computed."""

from __future__ import annotations

import os

from kith import _kith
from kith._arrays import as_dtype, in_one_place, reals, result, take
from kith._choice import chosen
from kith._context import Call
from kith._law import handle_of


class _Question:
    """The particles, the law and the options that every function of the matrix takes."""

    def __init__(self, positions, masses=None, charges=None, *, law="gravity", columns=None, column_masses=None,
                 column_charges=None, softening=0.0, diagonal="zero", symmetric=False, method="auto", block=0,
                 device="auto", threads=0, context=None):
        taken = reals(take("positions", positions, (2,)), take("masses", masses, (1,)),
                      take("charges", charges, (1,)), take("columns", columns, (2,)),
                      take("column_masses", column_masses, (1,)), take("column_charges", column_charges, (1,)))
        self.rows = taken[0]
        self.columns = taken[0] if columns is None else taken[3]
        self.call = Call(taken, context, device, threads)
        word, value = ("value", float(diagonal)) if isinstance(diagonal, (int, float)) else (diagonal, 0.0)
        self.handle = _kith.ask_matrix(
            self.call.handle, handle_of(law), float(softening),
            chosen("diagonal", word, _kith.matrix_diagonals), value,
            chosen("method", method, _kith.matrix_methods), int(block), bool(symmetric),
            *(self.call.show(array) for array in taken))

    def result(self, name, out, shape, dtype=None):
        return result(name, out, self.rows, shape, dtype or self.rows.dtype)


class _Matrix:
    """The interaction matrix; call it, or reduce it with its methods.

    See Also
    --------
    kith.scipy_linear_operator : the matrix as an operator, never stored.
    """

    def __call__(self, positions, masses=None, charges=None, *, law="gravity", out=None, **options):
        """The matrix ``V[i][j] = V(i, j)`` of a law, with d = x_j - x_i.

        Parameters
        ----------
        positions : array_like, shape (n, 2) or (n, 3)
            Of the particles in the rows. float32 gives single precision, everything else double.
        masses, charges : array_like, shape (n,), optional
            1 where there are none.
        law : str or Law
            See `kith.law`.
        out : array, shape (n, m), optional
            Where to write, of any strides.
        columns : array_like, shape (m, 2) or (m, 3), optional
            The particles in the columns; those of the rows if left out.
        column_masses, column_charges : array_like, shape (m,), optional
            Theirs.
        softening : float
            s^2 = r^2 + softening^2 stands for r^2 in the law.
        diagonal : {'zero', 'keep'} or float
            What stands where i = j, if the columns are the rows.
        symmetric : bool
            Compute each pair once: the law's V(i, j) is V(j, i).
        method : {'auto', 'reference', 'direct', 'tile-p', 'tile-p2'}
            For comparisons; ``block`` goes with the tiles.
        device, threads, context
            As of `kith.forces`.

        Returns
        -------
        array, shape (n, m)
            Of the positions' library, in their place.

        Examples
        --------
        >>> import kith
        >>> kith.matrix([[0.0, 0], [3.0, 4.0]], law="distance").tolist()
        [[0.0, 5.0], [5.0, 0.0]]
        """
        asked = _Question(positions, masses, charges, law=law, **options)
        made = asked.result("out", out, (asked.rows.shape[0], asked.columns.shape[0]))
        asked.handle.compute(asked.call.show(made))
        asked.call.done()
        return made.array

    def write(self, path, positions, masses=None, charges=None, *, law="gravity", memory=0, **options) -> float:
        """Writes the matrix into an NPY file, row by row: it need not fit in memory.

        Parameters
        ----------
        path : str or os.PathLike
            Written under a temporary name, then renamed.
        memory : int
            Bytes that the rows on their way may take; 0: 256 MiB.

        Returns
        -------
        float
            Seconds of computing, without the writing.
        """
        asked = _Question(positions, masses, charges, law=law, **options)
        return asked.handle.write(int(memory), os.fspath(path))

    def reduce(self, reduction, positions, masses=None, charges=None, *, law="gravity", out=None, **options):
        """A value a row, without the matrix: sum, min, max or argmin over j, j = i left out.

        Parameters
        ----------
        reduction : {'sum', 'min', 'max', 'argmin'}

        Returns
        -------
        array, shape (n,)
            int64 of ``argmin``: the smallest j with the least value, -1 where there is none.

        Examples
        --------
        >>> import kith
        >>> kith.matrix.reduce("argmin", [[0.0, 0], [1.0, 0], [5.0, 0]], law="distance").tolist()
        [1, 0, 1]
        """
        asked = _Question(positions, masses, charges, law=law, **options)
        number = chosen("reduction", reduction, _kith.matrix_reductions)
        made = asked.result("out", out, asked.rows.shape[:1], "int64" if reduction == "argmin" else None)
        asked.handle.reduce(number, asked.call.show(made))
        asked.call.done()
        return made.array

    def histogram(self, positions, masses=None, charges=None, *, bins, low, high, law="gravity", out=None, **options):
        """How many values lie in each of so many bins between low and high, as NumPy's histogram.

        Parameters
        ----------
        bins : int
        low, high : float
            The last bin has its end too. Of one set of particles a pair counts once.

        Returns
        -------
        array of int64, shape (bins,)

        Examples
        --------
        >>> import kith
        >>> kith.matrix.histogram([[0.0, 0], [1.0, 0], [5.0, 0]], law="distance", bins=3, low=0, high=6).tolist()
        [1, 0, 2]
        """
        asked = _Question(positions, masses, charges, law=law, **options)
        made = asked.result("out", out, (int(bins),), "int64")
        asked.handle.histogram(float(low), float(high), asked.call.show(made))
        asked.call.done()
        return made.array

    def multiply(self, b, positions, masses=None, charges=None, *, law="gravity", out=None, **options):
        """``V b`` without the matrix; j = i is left out.

        Parameters
        ----------
        b : array_like, shape (m,) or (m, k)

        Returns
        -------
        array, shape (n,) or (n, k)

        Examples
        --------
        >>> import kith
        >>> kith.matrix.multiply([1.0, 2.0], [[0.0, 0], [3.0, 4.0]], law="distance").tolist()
        [10.0, 5.0]
        """
        asked = _Question(positions, masses, charges, law=law, **options)
        taken = as_dtype(in_one_place((asked.rows, take("b", b, (1, 2))))[1], asked.rows.dtype)
        made = asked.result("out", out, asked.rows.shape[:1] + taken.shape[1:])
        asked.handle.multiply(asked.call.show(taken), asked.call.show(made))
        asked.call.done()
        return made.array


matrix = _Matrix()
