"""Sets of bodies: made, read and written."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy
from numpy.typing import ArrayLike

from kith import _kith
from kith._arrays import take


class Bodies:
    """Bodies in double precision in host memory.

    Parameters
    ----------
    positions : array_like, shape (n, 2) or (n, 3)
    velocities : array_like, shape (n, D), optional
    masses, charges, softening : array_like, shape (n,), optional
        Where they are left out, velocities are 0, masses and charges 1.
    ids : array_like of int, shape (n,), optional
    names : sequence of str, optional
        Of at most 31 bytes: names or chemical symbols.
    time : float
    cell : array_like, shape (D, D), optional
        A cell vector a row.
    periodic : bool or sequence of bool
        Along which cell vectors.

    Attributes
    ----------
    positions, velocities, masses, charges, softening, ids : numpy.ndarray or None
        The columns where they are: what is written to them is the bodies'.

    Examples
    --------
    >>> import kith
    >>> bodies = kith.Bodies([[0.0, 0], [1.0, 0]], masses=[1.0, 2.0])
    >>> bodies.masses.tolist()
    [1.0, 2.0]
    """

    def __init__(self, positions: ArrayLike, velocities: ArrayLike | None = None, masses: ArrayLike | None = None, *,
                 charges: ArrayLike | None = None, softening: ArrayLike | None = None, ids: ArrayLike | None = None,
                 names: Sequence[str] | None = None, time: float = 0.0, cell: ArrayLike | None = None,
                 periodic: bool | Sequence[bool] = True):
        points = _host("positions", positions, (2,))
        given = {"velocities": velocities, "masses": masses, "charges": charges, "softening": softening, "ids": ids,
                 "names": names}
        columns = sum(_kith.bodies_columns[name] for name, column in given.items() if column is not None)
        self._handle = _kith.create_bodies(*points.shape, columns)
        self.positions[...] = points
        for name, column in given.items():
            if column is None:
                continue
            if name == "names":
                self._set_names(column)
            else:
                self._fill(name, _host(name, column, (2,) if name == "velocities" else (1,)))
        self.time = time
        if cell is not None:
            self._set_cell(cell, periodic)

    @classmethod
    def _of(cls, handle):
        made = cls.__new__(cls)
        made._handle = handle
        return made

    def _fill(self, name, numbers):
        column = getattr(self, name)
        if numbers.shape != column.shape:
            raise ValueError(f"{name} has shape {numbers.shape}; give {column.shape}")
        column[...] = numbers

    def _set_names(self, names):
        if len(names) != len(self):
            raise ValueError(f"there are {len(names)} names and {len(self)} bodies; give a name a body")
        long = next((name for name in names if len(str(name).encode()) > 31), None)
        if long is not None:
            raise ValueError(f"name {long!r} is longer than 31 bytes")
        self._handle.names = [str(name) for name in names]

    def _set_cell(self, cell, periodic):
        rows, size = numpy.asarray(cell, dtype=float), self.positions.shape[1]
        if rows.ndim == 1:
            rows = numpy.diag(rows)
        if rows.shape not in ((size, size), (3, 3)):
            raise ValueError(f"cell has shape {rows.shape}; give {size} x {size}, a cell vector a row")
        whole = numpy.eye(3)
        whole[: len(rows), : len(rows)] = rows
        along = numpy.zeros(3, dtype=bool)
        along[: len(rows)] = numpy.broadcast_to(periodic, (len(rows),))
        self._handle.set_cell(whole.ravel().tolist(), along.tolist())

    def _column(self, name):
        view = getattr(self._handle, name)
        return None if view is None else numpy.asarray(view)

    positions = property(lambda self: self._column("positions"))
    velocities = property(lambda self: self._column("velocities"))
    masses = property(lambda self: self._column("masses"))
    charges = property(lambda self: self._column("charges"))
    softening = property(lambda self: self._column("softening"))
    ids = property(lambda self: self._column("ids"))

    @property
    def names(self) -> list[str] | None:
        return self._handle.names

    @property
    def time(self) -> float:
        return self._handle.time

    @time.setter
    def time(self, time: float) -> None:
        self._handle.time = float(time)

    @property
    def cell(self) -> numpy.ndarray | None:
        """A cell vector a row; None in open space."""
        numbers = self._handle.cell
        return None if numbers is None else numpy.reshape(numbers, (3, 3))

    @property
    def periodic(self) -> tuple[bool, ...]:
        """Along which cell vectors space repeats itself."""
        return tuple(self._handle.periodic)

    def write(self, path: str | os.PathLike, format: str | None = None) -> None:
        """Writes the bodies to a file: whole or not at all.

        Parameters
        ----------
        path : str or os.PathLike
        format : str, optional
            By the extension if left out; `kith.formats` lists them.
        """
        self._handle.write(os.fspath(path), format)

    def __len__(self) -> int:
        return self._handle.count

    def __repr__(self) -> str:
        return f"<kith.Bodies: {len(self)} in {self._handle.dimensions} dimensions, time {self.time:g}>"


def _host(name, values, dimensions):
    taken = take(name, values, dimensions)
    if not taken.is_on_host:
        raise ValueError(f"{name} is on a device; bodies are in host memory: copy it there")
    return numpy.asarray(taken.array)


def make(kind: str, n: int | None = None, *, seed: int = 0, dimensions: int = 0, eccentricity: float = 0.0,
         mass_ratio: float = 0.0) -> Bodies:
    """Makes initial conditions: the same bits on every machine for the same arguments.

    Parameters
    ----------
    kind : str
        As of ``kith make``: ``two-body``, ``plummer``, ``disk``, ``galaxies``, ``lattice`` …
    n : int, optional
        Bodies; the kind's default if left out.
    seed : int
        Of the random numbers.
    dimensions : {0, 2, 3}
        2 for the kinds that can be flat.
    eccentricity, mass_ratio : float
        Of the kinds that have them.

    Examples
    --------
    >>> import kith
    >>> len(kith.make("plummer", 100, seed=1))
    100
    """
    return Bodies._of(_kith.make_bodies(str(kind), None if n is None else int(n), int(seed), int(dimensions),
                                        float(eccentricity), float(mass_ratio)))


def read(path: str | os.PathLike, *, format: str | None = None, frame: int = 0, system: int | None = None) -> Bodies:
    """Reads bodies from a file of any format that kith knows.

    Parameters
    ----------
    path : str or os.PathLike
    format : str, optional
        By the extension if left out.
    frame : int
        Of a file with several: 0 the last, k > 0 the k-th from 1, -k from the end.
    system : int, optional
        Of an ensemble, from 0.

    Raises
    ------
    FormatError
        The message names the line and what is wrong.
    OSError
        The file cannot be read.
    """
    return Bodies._of(_kith.read_bodies(os.fspath(path), format, int(frame), system))


def formats() -> dict[str, str]:
    """The file formats, and what they are."""
    return {name: description for name, description, _, _ in _kith.formats()}
