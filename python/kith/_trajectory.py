"""Trajectories: the frames of a run's file as arrays."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy

from kith import _kith
from kith._arguments import integer, optional, path_of, text
from kith._arrays import check_memory
from kith._bodies import Bodies
from kith._convert import atoms_of, table_of
from kith._html import table


class Trajectory:
    """The frames of an H5MD file; `open` makes one.

    ``len(trajectory)`` is the number of frames, and ``trajectory[k]`` the bodies of frame k, counted from 0 or,
    if k is negative, from the end. Arrays of all frames are read when they are first used. A pickle or a copy
    opens the file again.

    Examples
    --------
    >>> import kith, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "run.h5")
    ...     summary = kith.Simulation(kith.make("two-body"), dt=0.01).run(1.0, output=path, every=10)
    ...     trajectory = kith.open(path)
    ...     len(trajectory), trajectory[-1].time, trajectory.positions.shape
    (11, 1.0, (11, 2, 3))
    """

    def __init__(self, *_: object):
        raise TypeError("a Trajectory is made by kith.open")

    @classmethod
    def _of(cls, path: str, system: int | None) -> Trajectory:
        made = cls.__new__(cls)
        made._handle, made._path, made._system = _kith.open_trajectory(path, system), path, system
        made._times = made._positions = made._velocities = None
        return made

    def __reduce__(self):
        return Trajectory._of, (os.path.abspath(self._path), self._system)

    def __len__(self) -> int:
        return self._handle.frames

    def __getitem__(self, frame: int) -> Bodies:
        given, count = integer("frame", frame), len(self)
        if not -count <= given < count:
            raise IndexError(f"frame is {given}; it must be from {-count} to {count - 1}")
        return Bodies._of(self._handle.read(given % count))

    def __iter__(self) -> Iterator[Bodies]:
        return (self[k] for k in range(len(self)))

    def _shape(self, *of_a_frame) -> tuple:
        """With an axis of systems if there are several."""
        systems = self._handle.systems
        if systems > 1:
            of_a_frame = (systems, of_a_frame[0] // systems, *of_a_frame[1:])
        return (len(self), *of_a_frame)

    def _read(self) -> None:
        if self._times is not None:
            return
        first = self[0] if len(self) else None
        shape = (0, 0, 3) if first is None else self._shape(*first.positions.shape)
        has_velocities = first is not None and first.velocities is not None
        check_memory("positions", (1 + has_velocities, *shape), "float64")
        times, positions = numpy.empty(len(self)), numpy.empty(shape)
        velocities = numpy.empty(shape) if has_velocities else None
        self._handle.read_all(times, positions, velocities)
        self._times, self._positions, self._velocities = times, positions, velocities

    @property
    def times(self) -> numpy.ndarray:
        """The times of the frames.

        Returns
        -------
        numpy.ndarray, shape (frames,)
            In the unit of the file.

        Examples
        --------
        >>> import kith, os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "run.h5")
        ...     summary = kith.Simulation(kith.make("two-body"), dt=0.25).run(1.0, output=path, every=2)
        ...     kith.open(path).times.tolist()
        [0.0, 0.5, 1.0]
        """
        self._read()
        return self._times

    @property
    def positions(self) -> numpy.ndarray:
        """The positions of all frames.

        Returns
        -------
        numpy.ndarray, shape (frames, n, D)
            For an ensemble (frames, systems, n, D).

        Examples
        --------
        >>> import kith, os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "run.h5")
        ...     summary = kith.Simulation([[0.0, 0], [1.0, 0]], dt=0.25).run(0.5, output=path, every=1)
        ...     kith.open(path).positions[0].tolist()
        [[0.0, 0.0], [1.0, 0.0]]
        """
        self._read()
        return self._positions

    @property
    def velocities(self) -> numpy.ndarray | None:
        """The velocities of all frames, as `positions`; None if the file has none.

        Returns
        -------
        numpy.ndarray or None, shape (frames, n, D)
            For an ensemble (frames, systems, n, D).

        Examples
        --------
        >>> import kith, os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "run.h5")
        ...     summary = kith.Simulation([[0.0, 0], [1.0, 0]], dt=0.25).run(0.5, output=path, every=1)
        ...     kith.open(path).velocities[0].tolist()
        [[0.0, 0.0], [0.0, 0.0]]
        """
        self._read()
        return self._velocities

    def observable(self, name: str) -> numpy.ndarray:
        """A series of the file: a number, a vector or the nine numbers of a tensor for each frame.

        Parameters
        ----------
        name : str
            As ``total_energy``, ``kinetic_energy``, ``potential_energy``, ``momentum`` or ``angular_momentum``;
            of runs with a cutoff ``temperature``, ``pressure`` and ``virial``.

        Returns
        -------
        numpy.ndarray, shape (frames,), (frames, 3) or (frames, 9)
            For an ensemble (frames, systems) or (frames, systems, 3).

        Examples
        --------
        >>> import kith, os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "run.h5")
        ...     summary = kith.Simulation([[0.0, 0], [2.0, 0]], dt=0.25).run(0.5, output=path, every=1)
        ...     trajectory = kith.open(path)
        ...     trajectory.observable("potential_energy")[0], trajectory.observable("momentum").shape
        (np.float64(-0.5), (3, 3))
        """
        components, values = self._handle.observable(text("name", name))
        systems = self._handle.systems
        each = components // systems
        of_a_frame = ((systems,) if systems > 1 else ()) + ((each,) if each > 1 else ())
        return numpy.asarray(values).reshape(len(self), *of_a_frame)

    def to_ase(self) -> list[Any]:
        """Makes a configuration of ASE for each frame.

        Returns
        -------
        list of ase.Atoms
            As `Bodies.to_ase` makes them, with ``info["time"]``.

        Examples
        --------
        >>> import pytest; ase = pytest.importorskip("ase")
        >>> import kith, os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "run.h5")
        ...     summary = kith.Simulation(kith.make("two-body"), dt=0.25).run(1.0, output=path, every=2)
        ...     [atoms.info["time"] for atoms in kith.open(path).to_ase()]
        [0.0, 0.5, 1.0]
        """
        return [atoms_of(bodies) for bodies in self]

    def to_pandas(self) -> Any:
        """Makes a table with a row for each body of each frame.

        Returns
        -------
        pandas.DataFrame
            With an index of frame and body, the time, and the columns of `Bodies.to_pandas`.

        Examples
        --------
        >>> import pytest; pandas = pytest.importorskip("pandas")
        >>> import kith, os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "run.h5")
        ...     summary = kith.Simulation([[0.0, 0], [1.0, 0]], dt=0.25).run(0.5, output=path, every=1)
        ...     table = kith.open(path).to_pandas()
        >>> table.index.names, table["time"].unique().tolist(), float(table.loc[(0, 1), "x"])
        (FrozenList(['frame', 'body']), [0.0, 0.25, 0.5], 1.0)
        """
        return table_of(list(self))

    def __repr__(self) -> str:
        return f"<kith.Trajectory: {len(self)} frames>"

    def _repr_html_(self) -> str:
        ends = [f"{self[k].time:g}" for k in (0, -1)] if len(self) else []
        return table("kith.Trajectory", file=self._path, frames=len(self), time=" to ".join(ends))


def open(path: str | os.PathLike[str], *, system: int | None = None) -> Trajectory:
    """Opens a run's H5MD file, as `Simulation.run` and ``kith run`` write it.

    Parameters
    ----------
    path : str or os.PathLike
        The file. `read` reads one frame of any format.
    system : int, optional
        The system of an ensemble, counted from 0; all systems by default.

    Returns
    -------
    Trajectory
        Its frames and observables.

    Raises
    ------
    FormatError
        The file is not H5MD.
    OSError
        The file cannot be read; FileNotFoundError if it does not exist.
    NotImplementedError
        This build has no HDF5.

    Examples
    --------
    >>> import kith, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "run.h5")
    ...     summary = kith.Simulation(kith.make("two-body"), dt=0.25).run(1.0, output=path, every=2)
    ...     [bodies.time for bodies in kith.open(path)]
    [0.0, 0.5, 1.0]
    """
    return Trajectory._of(path_of("path", path), optional(integer, "system", system))
