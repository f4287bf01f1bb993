"""A neighbour list with the interface of vesin's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy
from numpy.typing import ArrayLike

from kith._arrays import from_view, take
from kith._context import Context, Device
from kith._pairs import Search

_ALGORITHMS = {"auto": "auto", "brute_force": "brute-force", "cell_list": "cells"}
_COLUMNS = {"i": "i", "j": "j", "S": "shifts", "d": "distances", "D": "vectors"}


class NeighborList:
    """A neighbour list that is computed again and again, as vesin's of the same name.

    Parameters
    ----------
    cutoff : float
        Pairs at this distance and beyond are not listed.
    full_list : bool
        Each pair twice, as i, j and j, i; or only once.
    sorted : bool
        By i, then j, then S; else in an order that is the same on every run.
    algorithm : {'auto', 'brute_force', 'cell_list'}
        For comparisons.
    skin : float
        Added to the cutoff: the list is then made anew only after a point has moved by skin / 2, and
        has pairs up to cutoff + skin.
    n_threads : int
        Of the CPU; 0: ``OMP_NUM_THREADS``, or as many as there are cores.
    device, context
        As of `kith.forces`.

    Notes
    -----
    i and j are int64 (vesin's are uint64, which NumPy turns into float64 where it meets int64).
    Memory is used again from one call to the next.

    Examples
    --------
    >>> import kith
    >>> neighbors = kith.NeighborList(cutoff=2.0, full_list=True)
    >>> i, j, d = neighbors.compute([[0.0, 0, 0], [1.0, 0, 0]], box=3.5 * numpy.eye(3), periodic=False,
    ...                             quantities="ijd")
    >>> j.tolist(), d.tolist()
    ([1, 0], [1.0, 1.0])
    """

    def __init__(self, cutoff: float, full_list: bool, sorted: bool = False, algorithm: str = "auto",
                 skin: float = 0.0, n_threads: int = 0, *, device: str | Device = "auto",
                 context: Context | None = None):
        self.cutoff, self.full_list, self.sorted = float(cutoff), bool(full_list), bool(sorted)
        self.skin, self.n_threads = float(skin), int(n_threads)
        self.algorithm, self.device, self.context = algorithm, device, context
        self._list = self._context = None
        self.rebuilt = True

    @property
    def algorithm(self) -> str:
        return self._algorithm

    @algorithm.setter
    def algorithm(self, word: str) -> None:
        if word.lower() not in _ALGORITHMS:
            raise ValueError(f"algorithm is {word!r}; give one of {', '.join(map(repr, _ALGORITHMS))}")
        self._algorithm = word.lower()

    def compute(self, points: ArrayLike, box: ArrayLike, periodic: bool | Sequence[bool], quantities: str = "ij",
                copy: bool = True) -> tuple:
        """The pairs of these points.

        Parameters
        ----------
        points : array_like, shape (n, 3)
        box : array_like, shape (3, 3)
            A cell vector a row.
        periodic : bool or three bools
            Along which cell vectors.
        quantities : str
            Of i, j, P (both in one array, shape (count, 2)), S, d and D.
        copy : bool
            False gives the list's own memory, good until the next call.

        Returns
        -------
        tuple of arrays
            Of the points' library, in the order of the quantities.
        """
        cell = numpy.asarray(_on_host(box), dtype=numpy.float64)
        if cell.shape != (3, 3):
            raise ValueError(f"box has shape {cell.shape}; give 3 x 3, a cell vector a row")
        wanted = _needed(quantities)
        search = Search(points, self.cutoff, cell=cell, periodic=_on_host(periodic), quantities=wanted,
                        half=not self.full_list, sorted=self.sorted, skin=self.skin,
                        method=_ALGORITHMS[self._algorithm], threads=self.n_threads, device=self.device,
                        context=self.context)
        if self._context is not search.call.context:
            self._list, self._context = search.list(), search.call.context
        if self.skin > 0:
            self.rebuilt = self._list.update(search.request, search.shown())
        else:
            self._list.compute(search.request, search.shown())
        search.call.done()
        return tuple(self._quantity(letter, search.positions, copy) for letter in quantities)

    def _quantity(self, letter, like, copy):
        if letter == "P":
            i, j = (from_view(getattr(self._list, name), like) for name in "ij")
            return like.library.stack([i, j], axis=1)
        array = from_view(getattr(self._list, _COLUMNS[letter]), like)
        return like.library.asarray(array, copy=True) if copy else array


def _needed(quantities: str) -> str:
    for letter in quantities:
        if letter not in "ijPSdD":
            raise ValueError(f"quantity is {letter!r}; give some of i, j, P, S, d and D")
    return "".join(dict.fromkeys(quantities.replace("P", "ij")))


def _on_host(value):
    """Small arrays that the library reads itself; copied off a GPU."""
    if isinstance(value, (numpy.ndarray, list, tuple, bool)):
        return value
    taken = take("box", value)
    if taken.is_on_host:
        return taken.array
    return taken.array.get() if hasattr(taken.array, "get") else numpy.asarray(taken.array.tolist())
