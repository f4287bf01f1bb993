"""Pairs of points nearer to each other than a cutoff."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
from numpy.typing import ArrayLike

from kith import _kith
from kith._arrays import Taken, from_view, in_one_place, reals, take, whole
from kith._choice import chosen
from kith._context import Call, Context, Device

_ALL = "ijSDd"


class Pairs:
    """A list of pairs; `pairs` and `nearest` make one.

    The arrays are the list's own memory, in the library and the place of the positions: nothing is
    copied. Unpacked, a list gives the quantities that were asked for, in their order:
    ``i, j, d = kith.pairs(positions, 3.0, quantities="ijd")``.

    Attributes
    ----------
    count : int
        Pairs.
    offsets : array of int64, shape (n + 1,)
        The pairs of point i are those from ``offsets[i]`` to ``offsets[i + 1] - 1``.
    i, j : array of int64, shape (count,)
        The points, from 0.
    shifts : array of int32, shape (count, D)
        S, a whole number for each cell vector.
    vectors : array, shape (count, D)
        x_j - x_i + S cell.
    distances : array, shape (count,)
        Their lengths.
    """

    def __init__(self, handle, like: Taken, quantities: str):
        self._handle, self._like, self._quantities = handle, like, quantities

    def _column(self, name):
        view = getattr(self._handle, name)
        if view is not None:
            return from_view(view, self._like)
        if name == "offsets":
            raise ValueError("the list has not been computed")
        wanted = self._quantities + _LETTER[name]
        raise AttributeError(f"the list has no {name}; ask for them with quantities={wanted!r}")

    count = property(lambda self: self._handle.count)
    offsets = property(lambda self: self._column("offsets"))
    i = property(lambda self: self._column("i"))
    j = property(lambda self: self._column("j"))
    shifts = property(lambda self: self._column("shifts"))
    vectors = property(lambda self: self._column("vectors"))
    distances = property(lambda self: self._column("distances"))

    def __iter__(self):
        return (self._column(_NAME[letter]) for letter in self._quantities)

    def __repr__(self) -> str:
        return f"<kith.Pairs: {self.count} pairs of {self._handle.row_count} points, {self._quantities!r}>"


_NAME = {"i": "i", "j": "j", "S": "shifts", "D": "vectors", "d": "distances"}
_LETTER = {name: letter for letter, name in _NAME.items()}


def quantity_flags(quantities: str) -> int:
    """The extension module's flags of letters."""
    flags = 0
    for letter in quantities:
        flags |= chosen("quantity", letter, _kith.pairs_quantities)
    return flags or _kith.pairs_counts


def cells_of(cell, periodic, dimensions: int, systems: int):
    """Cells as the extension module takes them: systems x 3 x 3 and systems x 3.

    A vector of lengths is a box. Without ``periodic`` all axes of a cell are, and none of open space.
    """
    if cell is None:
        if periodic is not None and numpy.any(numpy.asarray(periodic)):
            raise ValueError("periodic is given without a cell; give the cell that repeats itself")
        return None, None
    given = numpy.asarray(cell, dtype=numpy.float64)
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
    along[:, :dimensions] = _periodic_of(periodic, dimensions)
    return cells, along


def _periodic_of(periodic, dimensions):
    if periodic is None:
        return True
    flags = numpy.asarray(periodic)
    if flags.dtype.kind not in "bi" or flags.shape[-1:] not in ((), (dimensions,), (3,)):
        raise ValueError(f"periodic is {periodic!r}; give True or False, or one for each of {dimensions} axes")
    return flags if flags.ndim == 0 else flags[..., :dimensions]


class Search:
    """What the functions of pairs have in common: positions, cells and options brought into shape."""

    def __init__(self, positions, cutoff, *, cell=None, periodic=None, quantities="ij", half=False, sorted=True,
                 narrow=False, skin=0.0, queries=None, radii=None, query_radii=None, exclusions=None, systems=None,
                 query_systems=None, method="auto", memory_limit=0, device="auto", threads=0, context=None):
        real = reals(take("positions", positions, (2,)), take("queries", queries, (2,)), take("radii", radii, (1,)),
                     take("query_radii", query_radii, (1,)))
        left_out = _exclusions_of(exclusions, real[0])
        self.positions, self.quantities = real[0], quantities
        offsets = [None if taken is None else taken.astype("int64") for taken in
                   (whole(take("systems", systems, (1,))), whole(take("query_systems", query_systems, (1,))))]
        count = 1 if offsets[0] is None else max(offsets[0].shape[0] - 1, 0)
        cells, along = cells_of(cell, periodic, self.positions.shape[1], count)
        self.call = Call(real, context, device, threads)
        self.request = _kith.request_pairs(
            float(cutoff), float(skin), quantity_flags(quantities), bool(half), not sorted, bool(narrow),
            chosen("method", method, _kith.pairs_methods), int(memory_limit), cells, along)
        named = zip(("queries", "radii", "query_radii", "exclusion_offsets", "exclusions", "system_offsets",
                     "query_system_offsets"), (*real[1:], *left_out, *offsets))
        for name, taken in named:
            if taken is not None:
                self.request.add(name, self.call.show(taken))

    def list(self):
        return _kith.create_pairs(self.call.handle)

    def shown(self):
        return self.call.show(self.positions)


def _exclusions_of(exclusions, positions):
    """Offsets and points, of a pair of arrays or of a list of lists."""
    if exclusions is None:
        return None, None
    if len(exclusions) == 2 and all(hasattr(part, "dtype") for part in exclusions):
        starts, points = exclusions
    else:
        starts = numpy.cumsum([0, *map(len, exclusions)])
        points = [point for row in exclusions for point in row]
    starts, points = (whole(take("exclusions", numpy.asarray(part, dtype=numpy.int64) if isinstance(part, list)
                                 else part, (1,))).astype("int64") for part in (starts, points))
    return in_one_place((positions, starts, points))[1:]


def pairs(positions: ArrayLike, cutoff: float, *, cell: ArrayLike | None = None,
          periodic: bool | Sequence[bool] | None = None, quantities: str = "ij", half: bool = False,
          sorted: bool = True, narrow: bool = False, queries: ArrayLike | None = None, radii: ArrayLike | None = None,
          query_radii: ArrayLike | None = None, exclusions: Any = None, systems: ArrayLike | None = None,
          query_systems: ArrayLike | None = None, method: str = "auto", memory_limit: int = 0,
          device: str | Device = "auto", threads: int = 0, context: Context | None = None) -> Pairs:
    """Pairs of points nearer to each other than a cutoff.

    Lists every i, j and S with ``|x_j - x_i + S cell| < cutoff``, strictly; i = j only with S other
    than 0. Positions may lie anywhere; S is that of the positions as they are given.

    Parameters
    ----------
    positions : array_like, shape (n, 2) or (n, 3)
        In any unit of length. float32 gives single precision, everything else double.
    cutoff : float
        In the same unit.
    cell : array_like, shape (D, D) or (D,), optional
        A vector a row, or the lengths of a box; open space if left out. With systems, one for each
        may be given.
    periodic : bool or sequence of bool, optional
        Along which vectors the cell repeats itself: along all if left out.
    quantities : str
        Of the letters i, j, S (shifts), D (vectors) and d (distances).
    half : bool
        Each pair once: with i < j, or i = j and the first component of S that is not 0 positive.
    sorted : bool
        By i, then j, then S; else by i alone.
    narrow : bool
        i and j as int32.
    queries : array_like, shape (m, D), optional
        i is one of these, j one of the positions.
    radii, query_radii : array_like, shape (n,) and (m,), optional
        A pair is nearer than cutoff + radius_i + radius_j.
    exclusions : list of lists, or pair of arrays (offsets, points), optional
        The points that are no partners of point i.
    systems, query_systems : array_like, shape (s + 1,), optional
        System k has the rows ``systems[k]`` to ``systems[k + 1] - 1``; no pair crosses systems.
    method : {'auto', 'cells', 'brute-force', 'reference'}
        For comparisons.
    memory_limit : int
        Bytes that the list may take; 0: no limit.
    device, threads, context
        As of `kith.forces`.

    Returns
    -------
    Pairs
        Unpacked, the quantities in their order.

    Raises
    ------
    ValueError
        A cutoff that is not positive, a degenerate cell, a number that is not finite.
    MemoryError
        The message says how much the list needs.

    Examples
    --------
    >>> import kith
    >>> i, j, d = kith.pairs([[0.0, 0], [1.0, 0], [5.0, 0]], 2.0, quantities="ijd")
    >>> i.tolist(), j.tolist(), d.tolist()
    ([0, 1], [1, 0], [1.0, 1.0])
    >>> kith.pairs([[0.0, 0], [1.0, 0], [5.0, 0]], 2.0, cell=[6.0, 6.0], half=True).count
    2
    """
    search = Search(positions, cutoff, cell=cell, periodic=periodic, quantities=quantities, half=half, sorted=sorted,
                    narrow=narrow, queries=queries, radii=radii, query_radii=query_radii, exclusions=exclusions,
                    systems=systems, query_systems=query_systems, method=method, memory_limit=memory_limit,
                    device=device, threads=threads, context=context)
    handle = search.list()
    handle.compute(search.request, search.shown())
    search.call.done()
    return Pairs(handle, search.positions, quantities)


def nearest(positions: ArrayLike, k: int, *, cutoff: float = 0.0, cell: ArrayLike | None = None,
            periodic: bool | Sequence[bool] | None = None, quantities: str = "ij", **options: Any) -> Pairs:
    """The k nearest points of every point, by distance, then j, then S.

    Parameters
    ----------
    positions : array_like, shape (n, 2) or (n, 3)
    k : int
        Fewer are listed where there are no more.
    cutoff : float
        Points farther away do not count; 0: none is too far.
    cell, periodic, quantities
        As of `pairs`.
    **options
        queries, systems, query_systems, narrow, method, memory_limit, device, threads, context: as
        of `pairs`. In a periodic cell images count as points of their own.

    Returns
    -------
    Pairs

    Examples
    --------
    >>> import kith
    >>> kith.nearest([[0.0, 0], [1.0, 0], [5.0, 0]], 1).j.tolist()
    [1, 0, 1]
    """
    search = Search(positions, cutoff, cell=cell, periodic=periodic, quantities=quantities, **options)
    handle = search.list()
    handle.nearest(search.request, search.shown(), int(k))
    search.call.done()
    return Pairs(handle, search.positions, quantities)
