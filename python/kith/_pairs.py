"""Pairs of points nearer to each other than a cutoff."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
from numpy.typing import ArrayLike, DTypeLike

from kith import _kith
from kith._arguments import chosen, described, flag, integer, number, text
from kith._arrays import Taken, from_view, host_array, needed, on_one_device, reals, take, whole
from kith._context import Call, Context, Device, Work

_ALL = "ijSDd"


class Pairs:
    """A list of pairs, as `pairs` and `nearest` return it.

    The arrays are the memory of the list, in the library and on the device of the positions: nothing is
    copied. Unpacked, a list gives the quantities that were requested, in their order:
    ``i, j, d = kith.pairs(positions, 3.0, quantities="ijd")``. Its length is the number of pairs. A list
    can be pickled and copied.

    Examples
    --------
    >>> import kith
    >>> pairs = kith.pairs([[0.0, 0], [1.0, 0], [5.0, 0]], 2.0)
    >>> len(pairs), pairs
    (2, <kith.Pairs: 2 pairs of 3 points, 'ij'>)
    """

    def __init__(self, *_):
        raise TypeError("a kith.Pairs is made by kith.pairs or kith.nearest")

    @classmethod
    def _of(cls, handle, like: Taken, quantities: str) -> Pairs:
        made = cls.__new__(cls)
        made._handle, made._like, made._quantities = handle, like, quantities
        return made

    def _column(self, name):
        view = getattr(self._handle, name)
        if view is not None:
            return from_view(view, self._like)
        if name == "offsets":
            raise ValueError("the list has not been computed")
        wanted = self._quantities + _LETTER[name]
        raise AttributeError(f"the list has no {name}; request them with quantities={wanted!r}")

    @property
    def count(self) -> int:
        """The number of pairs.

        Returns
        -------
        int
            As ``len(pairs)``.

        Examples
        --------
        >>> import kith
        >>> kith.pairs([[0.0, 0], [1.0, 0]], 2.0).count
        2
        """
        return self._handle.count

    @property
    def offsets(self):
        """The first pair of each point, and the number of pairs.

        Returns
        -------
        array of int64, shape (n + 1,)
            The pairs of point i are those from ``offsets[i]`` to ``offsets[i + 1] - 1``.

        Examples
        --------
        >>> import kith
        >>> kith.pairs([[0.0, 0], [1.0, 0], [5.0, 0]], 2.0).offsets.tolist()
        [0, 1, 2, 2]
        """
        return self._column("offsets")

    @property
    def i(self):
        """The first point of each pair.

        Returns
        -------
        array of int64, shape (count,)
            From 0; int32 if the list was made with ``index_dtype="int32"``.

        Examples
        --------
        >>> import kith
        >>> kith.pairs([[0.0, 0], [1.0, 0]], 2.0).i.tolist()
        [0, 1]
        """
        return self._column("i")

    @property
    def j(self):
        """The second point of each pair.

        Returns
        -------
        array of int64, shape (count,)
            From 0; int32 if the list was made with ``index_dtype="int32"``.

        Examples
        --------
        >>> import kith
        >>> kith.pairs([[0.0, 0], [1.0, 0]], 2.0).j.tolist()
        [1, 0]
        """
        return self._column("j")

    @property
    def shifts(self):
        """The shifts S: how many cell vectors to add.

        Returns
        -------
        array of int32, shape (count, D)
            An integer for each cell vector.

        Examples
        --------
        >>> import kith
        >>> kith.pairs([[0.0, 0], [5.0, 0]], 2.0, cell=[6.0, 6.0], quantities="S").shifts.tolist()
        [[-1, 0], [1, 0]]
        """
        return self._column("shifts")

    @property
    def vectors(self):
        """The vectors x_j - x_i + S cell.

        Returns
        -------
        array, shape (count, D)
            In the precision of the positions.

        Examples
        --------
        >>> import kith
        >>> kith.pairs([[0.0, 0], [1.0, 0]], 2.0, quantities="D").vectors.tolist()
        [[1.0, 0.0], [-1.0, 0.0]]
        """
        return self._column("vectors")

    @property
    def distances(self):
        """The lengths of the vectors.

        Returns
        -------
        array, shape (count,)
            In the precision of the positions.

        Examples
        --------
        >>> import kith
        >>> kith.pairs([[0.0, 0], [1.0, 0]], 2.0, quantities="d").distances.tolist()
        [1.0, 1.0]
        """
        return self._column("distances")

    def __len__(self) -> int:
        return self.count

    def __reduce__(self):
        columns = {name: self._column(name) for name in _COLUMNS if getattr(self._handle, name) is not None}
        return _remade, (self._quantities, self.count, columns)

    def __iter__(self):
        return (self._column(_NAME[letter]) for letter in self._quantities)

    def __repr__(self) -> str:
        return f"<kith.Pairs: {self.count} pairs of {self._handle.row_count} points, {self._quantities!r}>"


_NAME = {"i": "i", "j": "j", "S": "shifts", "D": "vectors", "d": "distances"}
_LETTER = {name: letter for letter, name in _NAME.items()}
_COLUMNS = ("offsets", *_LETTER)


def _remade(quantities, count, columns) -> Pairs:
    """A list of arrays that were a list's, of a pickle."""
    taken = {name: take(name, column) for name, column in columns.items()}
    call = Call(taken.values())
    shown = [call.show(taken.get(name)) for name in _COLUMNS]
    return Pairs._of(_kith.pairs_of_arrays(count, *shown), taken["offsets"], quantities)


def quantity_flags(quantities: str) -> int:
    """The extension module's flags of letters."""
    flags = 0
    for letter in text("quantities", quantities):
        flags |= chosen("quantity", letter, _kith.pairs_quantities)
    return flags or _kith.pairs_counts


def _is_narrow(index_dtype) -> bool:
    """Whether indices are int32; of NumPy's types, of their names and of those of other libraries."""
    name = getattr(index_dtype, "name", None) or getattr(index_dtype, "__name__", None) or str(index_dtype)
    name = name.rpartition(".")[2]
    if name in ("int32", "int64"):
        return name == "int32"
    wrong = ValueError if isinstance(index_dtype, (str, type, numpy.dtype)) else TypeError
    raise wrong(f"index_dtype is {described(index_dtype)}; it must be 'int64' or 'int32'")


def cells_of(cell, periodic, dimensions: int, systems: int):
    """Cells as the extension module takes them: systems x 3 x 3 and systems x 3.

    A vector of lengths is a box. Without ``periodic`` all axes of a cell are, and none of open space.
    """
    if cell is None:
        if periodic is not None and numpy.any(periodic_of(periodic, dimensions)):
            raise ValueError("periodic is given without a cell; give the cell that repeats itself")
        return None, None
    if dimensions not in (2, 3):
        raise ValueError(f"cell is given for points of {dimensions} dimensions; cells have 2 or 3")
    given = host_array("cell", cell).astype(numpy.float64)
    if given.shape[-1:] != (dimensions,) and given.shape[-1:] != (3,):
        raise ValueError(f"cell has shape {given.shape}; give {dimensions} lengths, or a vector a row")
    if given.ndim == 1 or (given.ndim == 2 and systems > 1 and given.shape[0] == systems != given.shape[1]):
        given = given[..., None, :] * numpy.eye(given.shape[-1])
    size = given.shape[-1]
    if given.shape[-2:] != (size, size) or given.ndim > 3:
        raise ValueError(f"cell has shape {numpy.shape(cell)}; give {dimensions} lengths, or a vector a row")
    cells = numpy.zeros((systems, 3, 3))
    cells[:, :size, :size] = given
    along = numpy.zeros((systems, 3), dtype=numpy.int32)
    along[:, :dimensions] = periodic_of(periodic, dimensions)
    return cells, along


def periodic_of(periodic, dimensions):
    """Flags that broadcast to one for each axis; all are periodic if None."""
    if periodic is None:
        return True
    wanted = f"it must be True or False, or one for each of {dimensions} axes"
    if isinstance(periodic, (str, bytes)):
        raise TypeError(f"periodic is {described(periodic)}; {wanted}")
    flags = host_array("periodic", periodic)
    if flags.dtype.kind not in "bi":
        raise TypeError(f"periodic has dtype {flags.dtype}; {wanted}")
    if flags.shape[-1:] not in ((), (dimensions,), (3,)):
        raise ValueError(f"periodic has shape {flags.shape}; {wanted}")
    return flags if flags.ndim == 0 else flags[..., :dimensions]


class Search:
    """What the functions of pairs have in common: positions, cells and options brought into shape."""

    def __init__(self, positions, cutoff, *, cell=None, periodic=None, quantities="ij", half=False, sorted=True,
                 index_dtype="int64", skin=0.0, queries=None, radii=None, query_radii=None, exclusions=None,
                 systems=None, query_systems=None, method="auto", memory_limit=0, device="auto", threads=0,
                 context=None):
        real = reals(needed("positions", positions, (2,)), take("queries", queries, (2,)), take("radii", radii, (1,)),
                     take("query_radii", query_radii, (1,)))
        left_out = _exclusions_of(exclusions, real[0], (real[0] if real[1] is None else real[1]).shape[0])
        self.positions, self.quantities = real[0], quantities
        offsets = [None if taken is None else taken.astype("int64") for taken in
                   (whole(take("systems", systems, (1,))), whole(take("query_systems", query_systems, (1,))))]
        count = 1 if offsets[0] is None else max(offsets[0].shape[0] - 1, 0)
        cells, along = cells_of(cell, periodic, self.positions.shape[1], count)
        points = (real[0] if real[1] is None else real[1]).shape[0]
        on_any = self.positions.shape[1] in (2, 3)  # GPUs have the plane and space alone
        work = Work("pairs", points, points, real[0].dtype == "float32") if on_any else "cpu"
        self.call = Call(real, context, device, threads, work)
        self.request = _kith.request_pairs(
            number("cutoff", cutoff), number("skin", skin), quantity_flags(quantities), flag("half", half),
            not flag("sorted", sorted), _is_narrow(index_dtype), chosen("method", method, _kith.pairs_methods),
            integer("memory_limit", memory_limit), cells, along)
        named = zip(("queries", "radii", "query_radii", "exclusion_offsets", "exclusions", "system_offsets",
                     "query_system_offsets"), (*real[1:], *left_out, *offsets))
        for name, taken in named:
            if taken is not None:
                self.request.add(name, self.call.show(taken))

    def list(self):
        return _kith.create_pairs(self.call.handle)

    def shown(self):
        return self.call.show(self.positions)


def _exclusions_of(exclusions, positions, count):
    """Offsets and points, of a pair of arrays or of a list of lists."""
    if exclusions is None:
        return None, None
    try:
        if len(exclusions) == 2 and all(hasattr(part, "dtype") for part in exclusions):
            starts, points = exclusions
        elif len(exclusions) != count:
            raise ValueError(f"exclusions has {len(exclusions)} lists; it must have {count}")
        else:
            starts = numpy.cumsum([0, *map(len, exclusions)])
            points = [point for row in exclusions for point in row] or numpy.zeros(0, dtype=numpy.int64)
    except TypeError:
        raise TypeError(f"exclusions is {described(exclusions)}; it must be a list of lists, or a pair of "
                        "arrays") from None
    starts, points = (whole(needed("exclusions", part, (1,))).astype("int64") for part in (starts, points))
    return on_one_device((positions, starts, points))[1:]


def pairs(positions: ArrayLike, cutoff: float, *, cell: ArrayLike | None = None,
          periodic: bool | Sequence[bool] | None = None, quantities: str = "ij", half: bool = False,
          sorted: bool = True, index_dtype: DTypeLike = "int64", queries: ArrayLike | None = None,
          radii: ArrayLike | None = None, query_radii: ArrayLike | None = None, exclusions: Any = None,
          systems: ArrayLike | None = None, query_systems: ArrayLike | None = None, method: str = "auto",
          memory_limit: int = 0, device: str | Device = "auto", threads: int = 0,
          context: Context | None = None) -> Pairs:
    """Pairs of points closer to each other than a cutoff.

    Lists every i, j and S with ``|x_j - x_i + S cell| < cutoff``, strictly; i = j only with S other
    than 0. Positions may lie anywhere; S is that of the positions as they are given.

    Parameters
    ----------
    positions : array_like, shape (n, D)
        In any unit of length, of 1 to 16 dimensions; other than 2 or 3 in open space on the CPU.
        float32 gives single precision, everything else double.
    cutoff : float
        In the same unit.
    cell : array_like, shape (D, D) or (D,), optional
        One cell vector per row, or the lengths of a box; open space by default. With systems, one for
        each may be given.
    periodic : bool or sequence of bool, optional
        Along which cell vectors space is periodic: all by default.
    quantities : str
        Of the letters i, j, S (shifts), D (vectors) and d (distances).
    half : bool
        Each pair once: with i < j, or i = j and the first component of S that is not 0 positive.
    sorted : bool
        By i, then j, then S; otherwise by i alone.
    index_dtype : {'int64', 'int32'} or dtype
        The type of i and j; int32 takes half the memory.
    queries : array_like, shape (m, D), optional
        i is one of these, j one of the positions.
    radii : array_like, shape (n,), optional
        A pair is closer than cutoff + radius_i + radius_j.
    query_radii : array_like, shape (m,), optional
        The radii of the queries.
    exclusions : list of lists, or pair of arrays (offsets, points), optional
        The points that are not listed as partners of point i.
    systems : array_like of int, shape (s + 1,), optional
        System k has the rows ``systems[k]`` to ``systems[k + 1] - 1``; no pair crosses systems.
    query_systems : array_like of int, shape (s + 1,), optional
        The same for the queries.
    method : {'auto', 'cells', 'brute-force', 'reference'}
        For comparisons.
    memory_limit : int
        The maximum number of bytes of the list; 0: the memory that is available.
    device : str or Device
        See `kith.forces`.
    threads : int
        See `kith.forces`.
    context : Context, optional
        See `kith.forces`.

    Returns
    -------
    Pairs
        Unpacked, the quantities in their order.

    Raises
    ------
    ValueError
        The cutoff is not positive, the cell degenerate, or a number not finite.
    MemoryError
        The message says how much memory the list needs.

    Examples
    --------
    >>> import kith
    >>> i, j, d = kith.pairs([[0.0, 0], [1.0, 0], [5.0, 0]], 2.0, quantities="ijd")
    >>> i.tolist(), j.tolist(), d.tolist()
    ([0, 1], [1, 0], [1.0, 1.0])
    >>> kith.pairs([[0.0, 0], [1.0, 0], [5.0, 0]], 2.0, cell=[6.0, 6.0], half=True).count
    2
    >>> str(kith.pairs([[0.0, 0], [1.0, 0]], 2.0, index_dtype="int32").j.dtype)
    'int32'
    """
    search = Search(positions, cutoff, cell=cell, periodic=periodic, quantities=quantities, half=half, sorted=sorted,
                    index_dtype=index_dtype, queries=queries, radii=radii, query_radii=query_radii,
                    exclusions=exclusions, systems=systems, query_systems=query_systems, method=method,
                    memory_limit=memory_limit, device=device, threads=threads, context=context)
    handle = search.list()
    handle.compute(search.request, search.shown())
    search.call.done()
    return Pairs._of(handle, search.positions, quantities)


def nearest(positions: ArrayLike, k: int, *, cutoff: float = 0.0, cell: ArrayLike | None = None,
            periodic: bool | Sequence[bool] | None = None, quantities: str = "ij", index_dtype: DTypeLike = "int64",
            queries: ArrayLike | None = None, systems: ArrayLike | None = None, query_systems: ArrayLike | None = None,
            method: str = "auto", memory_limit: int = 0, device: str | Device = "auto", threads: int = 0,
            context: Context | None = None) -> Pairs:
    """The k nearest points of every point, by distance, then j, then S.

    Parameters
    ----------
    positions : array_like, shape (n, D)
        In any unit of length, of 1 to 16 dimensions; other than 2 or 3 in open space on the CPU.
        float32 gives single precision, everything else double.
    k : int
        At least 1; fewer are listed if there are fewer.
    cutoff : float
        Points at this distance and beyond are not listed; 0: no limit.
    cell : array_like, shape (D, D) or (D,), optional
        See `pairs`. In a periodic cell images count as points of their own.
    periodic : bool or sequence of bool, optional
        See `pairs`.
    quantities : str
        See `pairs`.
    index_dtype : {'int64', 'int32'} or dtype
        The type of i and j; int32 takes half the memory.
    queries : array_like, shape (m, D), optional
        i is one of these, j one of the positions.
    systems, query_systems : array_like of int, shape (s + 1,), optional
        See `pairs`.
    method : {'auto', 'cells', 'brute-force', 'reference'}
        For comparisons.
    memory_limit : int
        The maximum number of bytes of the list; 0: the memory that is available.
    device : str or Device
        See `kith.forces`.
    threads : int
        See `kith.forces`.
    context : Context, optional
        See `kith.forces`.

    Returns
    -------
    Pairs
        Unpacked, the quantities in their order.

    Examples
    --------
    >>> import kith
    >>> kith.nearest([[0.0, 0], [1.0, 0], [5.0, 0]], 1).j.tolist()
    [1, 0, 1]
    """
    search = Search(positions, cutoff, cell=cell, periodic=periodic, quantities=quantities, index_dtype=index_dtype,
                    queries=queries, systems=systems, query_systems=query_systems, method=method,
                    memory_limit=memory_limit, device=device, threads=threads, context=context)
    handle = search.list()
    handle.nearest(search.request, search.shown(), integer("k", k, 1))
    search.call.done()
    return Pairs._of(handle, search.positions, quantities)
