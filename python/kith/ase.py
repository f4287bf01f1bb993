"""For ASE: neighbor lists in place of ``ase.neighborlist.neighbor_list``, and a calculator."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any

import numpy

from kith._arguments import described, flag, number, text
from kith._arrays import host_array
from kith._pairs import pairs

if TYPE_CHECKING:
    from kith._ase_calculator import Calculator as Calculator

_NAMES = {"i": "i", "j": "j", "d": "distances", "D": "vectors", "S": "shifts"}


def neighbor_list(quantities: str, a: Any, cutoff: Any, self_interaction: bool = False,
                  max_nbins: int | None = None) -> Any:
    """The neighbor list of a configuration of atoms, with the arguments and conventions of ASE.

    Parameters
    ----------
    quantities : str
        In the order in which they are returned: ``i`` and ``j`` (indices), ``d`` (distances), ``D``
        (vectors ``positions[j] - positions[i] + S @ cell``), ``S`` (shifts, integers).
    a : ase.Atoms
        The configuration.
    cutoff : float or dict or array_like of shape (n,)
        A number: the cutoff of all pairs. A dict: that of pairs of elements, by chemical symbols or
        atomic numbers, ``{('H', 'C'): 1.1, (6, 6): 1.8}``; other pairs are not listed. A sequence: a
        radius for each atom; atoms closer than the sum of their radii are neighbors.
    self_interaction : bool
        List each atom as a neighbor of itself, at distance 0, if the cutoff of such a pair is greater
        than 0.
    max_nbins : int, optional
        Ignored; it is there for compatibility with ASE.

    Returns
    -------
    tuple of numpy.ndarray, or one if one quantity is requested
        Sorted by i, then j, then S.

    Examples
    --------
    >>> import pytest; ase = pytest.importorskip("ase.build")
    >>> import kith.ase
    >>> i, d = kith.ase.neighbor_list("id", ase.molecule("H2O"), 1.2)
    >>> i.tolist(), d.round(2).tolist()
    ([0, 0, 1, 2], [0.97, 0.97, 0.97, 0.97])
    """
    wrong = [letter for letter in text("quantities", quantities) if letter not in _NAMES]
    if wrong:
        raise ValueError(f"quantity is {wrong[0]!r}; give some of i, j, d, D and S")
    if not hasattr(a, "positions") or not hasattr(a, "numbers"):
        raise TypeError(f"a is {described(a)}; it must be an ase.Atoms")
    table = _cutoffs_of_elements(cutoff, a.numbers) if isinstance(cutoff, dict) else None
    with_themselves = flag("self_interaction", self_interaction)
    needed = dict.fromkeys(quantities + "ij" + "d" * (table is not None) + "S" * with_themselves)
    found = _search(a, cutoff if table is None else table.max(initial=0.0), "".join(needed))
    columns = {letter: getattr(found, _NAMES[letter]) for letter in needed} if found is not None else _nothing(needed)
    if table is not None:
        near = columns["d"] < table[a.numbers[columns["i"]], a.numbers[columns["j"]]]
        columns = {letter: column[near] for letter, column in columns.items()}
    if with_themselves:
        columns = _with_themselves(columns, _reach(a, cutoff, table) > 0)
    columns = tuple(columns[letter].astype(int) if letter in "ijS" else columns[letter] for letter in quantities)
    return columns if len(columns) != 1 else columns[0]


def _search(atoms, cutoff, quantities):
    """The pairs; None if no distance is less than the cutoff."""
    radii = None
    if numpy.ndim(cutoff) > 0:
        radii, cutoff = host_array("cutoff", cutoff).astype(float), 0.0
        if radii.shape != (len(atoms),):
            raise ValueError(f"cutoff has shape {radii.shape}; give a number, a dict or a radius for each of "
                             f"{len(atoms)} atoms")
    elif not number("cutoff", cutoff) > 0:
        return None
    return pairs(atoms.positions, cutoff, radii=radii, cell=numpy.asarray(atoms.cell), periodic=atoms.pbc,
                 quantities=quantities)


def _nothing(letters):
    empty = {"i": numpy.zeros(0, int), "j": numpy.zeros(0, int), "d": numpy.zeros(0), "D": numpy.zeros((0, 3)),
             "S": numpy.zeros((0, 3), int)}
    return {letter: empty[letter] for letter in letters}


def _cutoffs_of_elements(cutoffs, numbers):
    """A table by atomic number; 0 for pairs that are not listed."""
    size = int(max(numbers, default=0)) + 1
    table = numpy.zeros((size, size))
    for pair, cutoff in cutoffs.items():
        try:
            first, second = map(_number_of, pair)
        except (KeyError, TypeError, ValueError):
            raise ValueError(f"cutoff has the key {reprlib.repr(pair)}; it must be two chemical symbols or atomic "
                             "numbers") from None
        cutoff = number("cutoff", cutoff)
        if first < size and second < size:
            table[first, second] = table[second, first] = cutoff
    return table


def _number_of(element) -> int:
    if isinstance(element, str):
        from ase.data import atomic_numbers

        return atomic_numbers[element]
    return int(element)


def _reach(atoms, cutoff, table):
    """The cutoff of each atom with one like it."""
    if table is not None:
        return table[atoms.numbers, atoms.numbers]
    return numpy.broadcast_to(numpy.asarray(cutoff, dtype=float), (len(atoms),))


def _with_themselves(columns, wanted):
    which = numpy.flatnonzero(wanted)
    n = len(which)
    alone = {"i": which, "j": which, "d": numpy.zeros(n), "D": numpy.zeros((n, 3)), "S": numpy.zeros((n, 3), int)}
    joined = {letter: numpy.concatenate([column, alone[letter]]) for letter, column in columns.items()}
    shifts = joined["S"]
    order = numpy.lexsort((shifts[:, 2], shifts[:, 1], shifts[:, 0], joined["j"], joined["i"]))
    return {letter: column[order] for letter, column in joined.items()}


def __getattr__(name: str) -> Any:
    """`Calculator` needs ASE, which neighbor lists do without."""
    if name == "Calculator":
        from kith._ase_calculator import Calculator

        return Calculator
    raise AttributeError(f"module 'kith.ase' has no attribute {name!r}")
