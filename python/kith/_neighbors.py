"""A neighbor list with the interface of vesin."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from kith._arguments import chosen, flag, integer32, number, text
from kith._arrays import from_view, host_array, needed
from kith._context import Context, Device, check_context, parse_devices
from kith._pairs import Search

_ALGORITHMS = {"auto": "auto", "brute_force": "brute-force", "cell_list": "cells"}
_COLUMNS = {"i": "i", "j": "j", "S": "shifts", "d": "distances", "D": "vectors"}


class NeighborList:
    """A neighbor list for repeated calls, with the interface of vesin's class of the same name.

    Parameters
    ----------
    cutoff : float
        Pairs at this distance and beyond are not listed.
    full_list : bool
        Each pair twice, as i, j and j, i; or only once.
    sorted : bool
        By i, then j, then S; otherwise in an order that is the same on every run.
    algorithm : {'auto', 'brute_force', 'cell_list'}
        For comparisons.
    skin : float
        Added to the cutoff: the list is then rebuilt only after a point has moved by skin / 2, and
        has pairs up to cutoff + skin.
    n_threads : int
        Threads of the CPU; 0: ``OMP_NUM_THREADS``, or as many as there are cores.
    device : str or Device
        See `kith.forces`.
    context : Context, optional
        See `kith.forces`.

    Attributes
    ----------
    rebuilt : bool
        Whether the last call rebuilt the list.

    Notes
    -----
    i and j are int64 (vesin's are uint64, which NumPy converts to float64 where it meets int64). Memory
    is reused from one call to the next.

    Examples
    --------
    >>> import kith, numpy
    >>> neighbors = kith.NeighborList(cutoff=2.0, full_list=True)
    >>> i, j, d = neighbors.compute([[0.0, 0, 0], [1.0, 0, 0]], box=3.5 * numpy.eye(3), periodic=False,
    ...                             quantities="ijd")
    >>> j.tolist(), d.tolist()
    ([1, 0], [1.0, 1.0])
    """

    def __init__(self, cutoff: float, full_list: bool, sorted: bool = False, algorithm: str = "auto",
                 skin: float = 0.0, n_threads: int = 0, *, device: str | Device = "auto",
                 context: Context | None = None):
        self.cutoff, self.skin = number("cutoff", cutoff), number("skin", skin)
        self.full_list, self.sorted = flag("full_list", full_list), flag("sorted", sorted)
        self.n_threads = integer32("n_threads", n_threads)
        parse_devices(device), check_context(context)
        self.algorithm, self.device, self.context = algorithm, device, context
        self._list = self._context = None
        self.rebuilt = True

    @property
    def algorithm(self) -> str:
        """The algorithm of the search.

        Returns
        -------
        str
            ``auto``, ``brute_force`` or ``cell_list``; it can be set.

        Examples
        --------
        >>> import kith
        >>> neighbors = kith.NeighborList(2.0, True)
        >>> neighbors.algorithm = "cell_list"
        >>> neighbors.algorithm
        'cell_list'
        """
        return self._algorithm

    @algorithm.setter
    def algorithm(self, word: str) -> None:
        lowered = word.lower() if isinstance(word, str) else word
        chosen("algorithm", lowered, _ALGORITHMS)
        self._algorithm = lowered

    def compute(self, points: ArrayLike, box: ArrayLike, periodic: bool | Sequence[bool], quantities: str = "ij",
                copy: bool = True) -> tuple:
        """Computes the pairs of these points.

        Parameters
        ----------
        points : array_like, shape (n, 3)
            In any unit of length.
        box : array_like, shape (3, 3)
            One cell vector per row.
        periodic : bool or sequence of three bool
            Along which cell vectors space is periodic.
        quantities : str
            Of i, j, P (both in one array, shape (count, 2)), S, d and D.
        copy : bool
            False returns the memory of the list, which is valid until the next call.

        Returns
        -------
        tuple of arrays
            In the library of the points, in the order of the quantities.

        Examples
        --------
        >>> import kith, numpy
        >>> neighbors = kith.NeighborList(cutoff=2.0, full_list=False)
        >>> P, S = neighbors.compute([[0.0, 0, 0], [3.0, 0, 0]], 4.0 * numpy.eye(3), True, "PS")
        >>> P.tolist(), S.tolist()
        ([[0, 1]], [[-1, 0, 0]])
        """
        cell = host_array("box", box)
        if cell.shape != (3, 3):
            raise ValueError(f"box has shape {cell.shape}; give 3 x 3, a cell vector a row")
        wanted, copy = _needed(text("quantities", quantities)), flag("copy", copy)
        search = Search(needed("points", points, (2,)), self.cutoff, cell=cell,
                        periodic=host_array("periodic", periodic), quantities=wanted, half=not self.full_list,
                        sorted=self.sorted, skin=self.skin, method=_ALGORITHMS[self._algorithm],
                        threads=self.n_threads, device=self.device, context=self.context)
        if self._context is not search.call.context:
            self._list, self._context = search.list(), search.call.context
        if self.skin > 0:
            self.rebuilt = self._list.update(search.request, search.shown())
        else:
            self._list.compute(search.request, search.shown())
        search.call.done()
        return tuple(self._quantity(letter, search.positions, copy) for letter in quantities)

    def __getstate__(self):
        return {**self.__dict__, "_list": None, "_context": None}

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

