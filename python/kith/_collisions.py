"""Beads on a lattice: which of them share a site, and which are neighbours."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from kith import _kith
from kith._arrays import result, take, whole
from kith._choice import chosen
from kith._context import Call

_METHODS = {name: number for number, (name, _) in enumerate(_kith.collisions_methods)}


class Promise:
    """A count under way; `collisions.launch` makes one."""

    def __init__(self, handle):
        self._handle = handle

    def fetch(self) -> int:
        """Waits for this promise and gives its count, the same each time."""
        return self._handle.fetch()


class Groups(NamedTuple):
    """Which beads are at one site.

    Attributes
    ----------
    begin, member : array of int64
        Group g, a site with two beads or more, has the beads ``member[begin[g]:begin[g + 1]]``,
        ascending. Groups are in the order of their first beads.
    beads, collisions : int
    sites : int
        That have a bead.
    max_at_site : int
        Beads at one site, at most.
    """

    begin: Any
    member: Any
    beads: int
    collisions: int
    sites: int
    max_at_site: int


class Batch(NamedTuple):
    """Collisions and contacts of each conformation; None where not wanted."""

    collisions: Any
    contacts: Any


def _taken(beads, device, threads, context):
    taken = whole(take("beads", beads, (2,)))
    return taken, Call((taken,), context, device, threads)


class _Collisions:
    """Collisions of beads on a lattice; call it to count them."""

    def __call__(self, beads, *, method="auto", device="auto", threads=0, context=None) -> int:
        """Counts the collisions: unordered pairs of beads at one site.

        Parameters
        ----------
        beads : array_like of whole numbers, shape (n, 2) or (n, 3)
            Any strides; on a GPU counted there.
        method : str
            A name of ``kith.collisions.methods``.
        device, threads, context
            As of `kith.forces`.

        Returns
        -------
        int

        Raises
        ------
        TypeError
            The beads are no whole numbers.

        Examples
        --------
        >>> import kith
        >>> kith.collisions([[0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0]])
        3
        """
        taken, call = _taken(beads, device, threads, context)
        return _kith.collisions(call.handle, call.show(taken), chosen("method", method, _METHODS))

    @property
    def methods(self) -> dict[str, str]:
        """The methods, and what they do."""
        return dict(_kith.collisions_methods)

    def choose(self, beads, *, device="auto", threads=0, context=None) -> str:
        """The method that ``auto`` stands for with these beads."""
        taken, call = _taken(beads, device, threads, context)
        number = _kith.collisions_choose(call.handle, call.show(taken), 0)
        return _kith.collisions_methods[number][0]

    def launch(self, beads, *, method="auto", device="auto", threads=0, context=None) -> Promise:
        """Starts to count and returns at once; any number of promises may be under way.

        Beads in host memory may be changed at once, those on a GPU after the fetch.

        Examples
        --------
        >>> import kith
        >>> kith.collisions.launch([[0, 0], [0, 0]]).fetch()
        1
        """
        taken, call = _taken(beads, device, threads, context)
        number = chosen("method", method, _METHODS)
        return Promise(_kith.collisions_launch(call.handle, call.show(taken), number))

    def groups(self, beads, *, threads=0, context=None) -> Groups:
        """Finds the sites with two beads or more, in host memory.

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

    def pairs(self, beads, *, threads=0, context=None):
        """Lists the colliding pairs, i < j, sorted.

        Returns
        -------
        numpy.ndarray of int64, shape (collisions, 2)

        Examples
        --------
        >>> import kith
        >>> kith.collisions.pairs([[0, 0], [1, 0], [0, 0]]).tolist()
        [[0, 2]]
        """
        taken, call = _taken(beads, "cpu", threads, context)
        found = _kith.collisions_group(call.handle, call.show(taken))
        listed = numpy.empty((found.collisions, 2), dtype=numpy.int64)
        if found.collisions:
            found.pairs(listed)
        return listed

    def contacts(self, beads, *, sequence=None, threads=0, context=None) -> int:
        """Counts the contacts: beads at lattice distance 1 that are not neighbours along the chain.

        Parameters
        ----------
        sequence : str, optional
            A letter H or P a bead: only pairs of two H are counted, of which each has the energy -1
            in the HP model.

        Examples
        --------
        >>> import kith
        >>> kith.collisions.contacts([[0, 0], [1, 0], [1, 1], [0, 1]])
        1
        """
        taken, call = _taken(beads, "cpu", threads, context)
        return _kith.contacts(call.handle, call.show(taken), sequence)

    def batch(self, beads, *, offsets=None, sequence=None, want="both", device="auto", threads=0,
              context=None) -> Batch:
        """Collisions and contacts of many conformations at once.

        Parameters
        ----------
        beads : array_like of whole numbers, shape (B, L, 2 or 3)
            Or, with offsets, (m, 2 or 3): one conformation after another.
        offsets : array_like of int, shape (B + 1,), optional
            Conformation b has the beads ``offsets[b]`` to ``offsets[b + 1] - 1``.
        sequence : str, optional
            L letters H and P: contacts are those of two H.
        want : {'both', 'collisions', 'contacts'}

        Returns
        -------
        Batch
            Arrays of B int64 of the beads' library, in their place.

        Examples
        --------
        >>> import kith
        >>> kith.collisions.batch([[[0, 0], [0, 0]], [[0, 0], [1, 0]]]).collisions.tolist()
        [1, 0]
        """
        wanted = chosen("want", want, {"both": (True, True), "collisions": (True, False), "contacts": (False, True)})
        taken = _dense(whole(take("beads", beads, (2,) if offsets is not None else (3,))))
        starts = None if offsets is None else _dense(whole(take("offsets", offsets, (1,))).astype("int64"))
        call = Call((taken, starts), context, device, threads)
        count = taken.shape[0] if starts is None else starts.shape[0] - 1
        made = [result(name, None, taken, (max(count, 0),), "int64") if wants else None
                for name, wants in zip(("collisions", "contacts"), wanted)]
        _kith.collisions_batch(call.handle, call.show(taken), call.show(starts), sequence, *map(call.show, made))
        call.done()
        return Batch(*(None if counts is None else counts.array for counts in made))


def _dense(taken):
    """Row-major: what batches take."""
    if isinstance(taken.array, numpy.ndarray):
        taken.array = numpy.ascontiguousarray(taken.array)
    elif hasattr(taken.array, "contiguous"):
        taken.array = taken.array.contiguous()
    return taken


collisions = _Collisions()
