"""Beads on a lattice: which of them share a site, and which are neighbors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy
from numpy.typing import ArrayLike

from kith import _kith
from kith._arguments import chosen, optional, text
from kith._arrays import check_memory, needed, result, take, whole
from kith._context import Bound, Call, Context, Device, Work

_METHODS = {name: number for number, (name, _) in enumerate(_kith.collisions_methods)}
methods: Mapping[str, str] = MappingProxyType(dict(_kith.collisions_methods))


class Promise(Bound):
    """A count in progress; `collisions.launch` returns one.

    Examples
    --------
    >>> import kith
    >>> promises = [kith.collisions.launch([[0, 0], [k, 0]]) for k in range(3)]
    >>> [promise.fetch() for promise in promises]
    [1, 0, 0]
    """

    _instead = "pickle the count that its fetch() returns"

    def __init__(self, *_):
        raise TypeError("a kith.Promise is made by kith.collisions.launch")

    @classmethod
    def _of(cls, handle):
        made = cls.__new__(cls)
        made._handle = handle
        return made

    def fetch(self) -> int:
        """Waits for this count and returns it.

        Returns
        -------
        int
            Collisions; the same number at each call.

        Examples
        --------
        >>> import kith
        >>> kith.collisions.launch([[0, 0], [0, 0]]).fetch()
        1
        """
        return self._handle.fetch()


class Groups(NamedTuple):
    """The beads that share a site, as `collisions.groups` returns them.

    Attributes
    ----------
    begin : array of int64, shape (groups + 1,)
        Group g, a site with two or more beads, has the beads ``member[begin[g]:begin[g + 1]]``. Groups
        are in the order of their first beads.
    member : array of int64
        Numbers of beads, ascending in each group.
    beads : int
        All beads.
    collisions : int
        Unordered pairs of beads at one site.
    sites : int
        Sites with at least one bead.
    max_at_site : int
        The maximum number of beads at one site.

    Examples
    --------
    >>> import kith
    >>> groups = kith.collisions.groups([[0, 0], [1, 0], [0, 0]])
    >>> groups.begin.tolist(), groups.sites, groups.max_at_site
    ([0, 2], 2, 2)
    """

    begin: Any
    member: Any
    beads: int
    collisions: int
    sites: int
    max_at_site: int


class Batch(NamedTuple):
    """Collisions and contacts of each conformation, as `collisions.batch` returns them.

    Attributes
    ----------
    collisions : array of int64, shape (B,)
        None if they were not wanted.
    contacts : array of int64, shape (B,)
        None if they were not wanted.

    Examples
    --------
    >>> import kith
    >>> batch = kith.collisions.batch([[[0, 0], [0, 0]], [[0, 0], [1, 0]]], want="collisions")
    >>> batch.collisions.tolist(), batch.contacts
    ([1, 0], None)
    """

    collisions: Any
    contacts: Any


def _taken(beads, device, threads, context, method="auto"):
    taken = whole(needed("beads", beads, (2,)))
    # Most methods are a GPU's: the first computes them.
    return taken, Call((taken,), context, device, threads, _work(taken) if method == "auto" else None)


def _work(taken) -> Work:
    beads = math.prod(taken.shape[:-1])
    return Work("collisions", beads, beads)


def collisions(beads: ArrayLike, *, method: str = "auto", device: str | Device = "auto",
               threads: int = 0, context: Context | None = None) -> int:
    """Counts the collisions: unordered pairs of beads at one site.

    Parameters
    ----------
    beads : array_like of int, shape (n, 2) or (n, 3)
        With any strides; counted on their device.
    method : str
        A key of ``kith.collisions.methods``, whose values describe the methods, or ``auto``.
    device : str or Device
        See `kith.forces`.
    threads : int
        See `kith.forces`.
    context : Context, optional
        See `kith.forces`.

    Returns
    -------
    int
        Collisions.

    Raises
    ------
    TypeError
        The beads are not integers.

    Examples
    --------
    >>> import kith
    >>> kith.collisions([[0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0]])
    3
    >>> "sort" in kith.collisions.methods
    True
    """
    taken, call = _taken(beads, device, threads, context, method)
    return _kith.collisions(call.handle, call.show(taken), chosen("method", method, _METHODS))


def choose(beads: ArrayLike, *, device: str | Device = "auto", threads: int = 0,
           context: Context | None = None) -> str:
    """The method that ``auto`` chooses for these beads.

    Parameters
    ----------
    beads : array_like of int, shape (n, 2) or (n, 3)
        See `kith.collisions`.
    device : str or Device
        See `kith.forces`.
    threads : int
        See `kith.forces`.
    context : Context, optional
        See `kith.forces`.

    Returns
    -------
    str
        A key of ``kith.collisions.methods``.

    Examples
    --------
    >>> import kith
    >>> kith.collisions.choose([[0, 0], [1, 0]]) in kith.collisions.methods
    True
    """
    taken, call = _taken(beads, device, threads, context)
    number = _kith.collisions_choose(call.handle, call.show(taken), 0)
    return _kith.collisions_methods[number][0]


def launch(beads: ArrayLike, *, method: str = "auto", device: str | Device = "auto",
           threads: int = 0, context: Context | None = None) -> Promise:
    """Starts to count and returns immediately; any number of counts may be in progress.

    Parameters
    ----------
    beads : array_like of int, shape (n, 2) or (n, 3)
        See `kith.collisions`. In host memory they may be changed as soon as the call returns, on a GPU
        after the fetch.
    method : str
        See `kith.collisions`.
    device : str or Device
        See `kith.forces`.
    threads : int
        See `kith.forces`.
    context : Context, optional
        See `kith.forces`.

    Returns
    -------
    Promise
        Its ``fetch()`` returns the count.

    Examples
    --------
    >>> import kith
    >>> kith.collisions.launch([[0, 0], [0, 0]]).fetch()
    1
    """
    taken, call = _taken(beads, device, threads, context, method)
    number = chosen("method", method, _METHODS)
    return Promise._of(_kith.collisions_launch(call.handle, call.show(taken), number))


def groups(beads: ArrayLike, *, threads: int = 0, context: Context | None = None) -> Groups:
    """Finds the sites with two or more beads, on the CPU.

    Parameters
    ----------
    beads : array_like of int, shape (n, 2) or (n, 3)
        In host memory.
    threads : int
        See `kith.forces`.
    context : Context, optional
        See `kith.forces`.

    Returns
    -------
    Groups
        The beads of each such site.

    Examples
    --------
    >>> import kith
    >>> kith.collisions.groups([[0, 0], [1, 0], [0, 0]]).member.tolist()
    [0, 2]
    """
    taken, call = _taken(beads, "cpu", threads, context)
    found = _kith.collisions_group(call.handle, call.show(taken))
    return Groups(numpy.asarray(found.begin), numpy.asarray(found.member), found.beads, found.collisions,
                  found.sites, found.max_at_site)


def pairs(beads: ArrayLike, *, threads: int = 0, context: Context | None = None) -> Any:
    """Lists the colliding pairs, i < j, sorted.

    Parameters
    ----------
    beads : array_like of int, shape (n, 2) or (n, 3)
        In host memory.
    threads : int
        See `kith.forces`.
    context : Context, optional
        See `kith.forces`.

    Returns
    -------
    numpy.ndarray of int64, shape (collisions, 2)
        i and j of each pair.

    Examples
    --------
    >>> import kith
    >>> kith.collisions.pairs([[0, 0], [1, 0], [0, 0]]).tolist()
    [[0, 2]]
    """
    taken, call = _taken(beads, "cpu", threads, context)
    found = _kith.collisions_group(call.handle, call.show(taken))
    check_memory("pairs", (found.collisions, 2), "int64")
    listed = numpy.empty((found.collisions, 2), dtype=numpy.int64)
    if found.collisions:
        found.pairs(listed)
    return listed


def contacts(beads: ArrayLike, *, sequence: str | None = None, threads: int = 0,
             context: Context | None = None) -> int:
    """Counts the contacts: beads at lattice distance 1 that are not neighbors along the chain.

    Parameters
    ----------
    beads : array_like of int, shape (n, 2) or (n, 3)
        In host memory, in the order of the chain.
    sequence : str, optional
        A letter H or P for each bead: only pairs of two H are counted, each of which has the energy -1
        in the HP model.
    threads : int
        See `kith.forces`.
    context : Context, optional
        See `kith.forces`.

    Returns
    -------
    int
        Contacts.

    Examples
    --------
    >>> import kith
    >>> kith.collisions.contacts([[0, 0], [1, 0], [1, 1], [0, 1]])
    1
    >>> kith.collisions.contacts([[0, 0], [1, 0], [1, 1], [0, 1]], sequence="HHHP")
    0
    """
    taken, call = _taken(beads, "cpu", threads, context)
    return _kith.contacts(call.handle, call.show(taken), optional(text, "sequence", sequence))


def batch(beads: ArrayLike, *, offsets: ArrayLike | None = None, sequence: str | None = None,
          want: str = "both", device: str | Device = "auto", threads: int = 0,
          context: Context | None = None) -> Batch:
    """Collisions and contacts of many conformations in one call.

    Parameters
    ----------
    beads : array_like of int, shape (B, L, 2) or (B, L, 3)
        Or, with offsets, (m, 2) or (m, 3): one conformation after another.
    offsets : array_like of int, shape (B + 1,), optional
        Conformation b has the beads ``offsets[b]`` to ``offsets[b + 1] - 1``.
    sequence : str, optional
        L letters H and P: only contacts of two H are counted.
    want : {'both', 'collisions', 'contacts'}
        What to count.
    device : str or Device
        See `kith.forces`.
    threads : int
        See `kith.forces`.
    context : Context, optional
        See `kith.forces`.

    Returns
    -------
    Batch
        Arrays of the library of the beads, on their device.

    Examples
    --------
    >>> import kith
    >>> kith.collisions.batch([[[0, 0], [0, 0]], [[0, 0], [1, 0]]]).collisions.tolist()
    [1, 0]
    """
    wanted = chosen("want", want, {"both": (True, True), "collisions": (True, False), "contacts": (False, True)})
    letters = optional(text, "sequence", sequence)
    taken = _dense(whole(needed("beads", beads, (2,) if offsets is not None else (3,))))
    starts = None if offsets is None else _dense(whole(take("offsets", offsets, (1,))).astype("int64"))
    call = Call((taken, starts), context, device, threads, _work(taken))
    count = taken.shape[0] if starts is None else starts.shape[0] - 1
    made = [result(name, None, taken, (max(count, 0),), "int64") if wants else None
            for name, wants in zip(("collisions", "contacts"), wanted)]
    _kith.collisions_batch(call.handle, call.show(taken), call.show(starts), letters, *map(call.show, made))
    call.done()
    return Batch(*(None if counts is None else counts.array for counts in made))


def _dense(taken):
    """Row-major: what batches take."""
    if isinstance(taken.array, numpy.ndarray):
        taken.array = numpy.ascontiguousarray(taken.array)
    elif hasattr(taken.array, "contiguous"):
        taken.array = taken.array.contiguous()
    return taken
