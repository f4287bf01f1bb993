"""Simulations: bodies under their forces, advanced by a fixed step."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy
from numpy.typing import ArrayLike

from kith import _kith
from kith._bodies import Bodies
from kith._context import Call, Context, Device
from kith._forces import constant_of_gravity
from kith._law import Law
from kith._law import law as law_of


class Integrator(NamedTuple):
    """A row of the table of integrators."""

    name: str
    description: str
    order: int
    evaluations: int
    symplectic: bool


def integrators() -> list[Integrator]:
    """The table of integrators.

    Examples
    --------
    >>> import kith
    >>> kith.integrators()[0].name
    'leapfrog'
    """
    return [Integrator(**row) for row in _kith.integrators()]


class Energies(NamedTuple):
    """Sums over all bodies, in double precision.

    ``kinetic_energy`` is the sum of m v^2 / 2, ``potential_energy`` half the sum of m phi,
    ``virial_ratio`` -2 T / W, which is 1 in equilibrium; momenta and the centre of mass have three
    components.
    """

    kinetic_energy: float
    potential_energy: float
    total_energy: float
    momentum: tuple[float, float, float]
    angular_momentum: tuple[float, float, float]
    center_of_mass: tuple[float, float, float]
    virial_ratio: float


class Summary(NamedTuple):
    """What `Simulation.to_h5md` has done; the words are those of ``kith run --json``."""

    bodies: int
    steps: int
    dt: float
    time: float
    energy_initial: float
    energy_final: float
    relative_energy_error: float
    max_relative_energy_error: float
    momentum_error: float
    interactions_per_second: float
    gflops: float
    seconds: float
    integrator: str


class Simulation:
    """Bodies under their mutual gravity or another law, advanced by a fixed step.

    Parameters
    ----------
    positions : Bodies, or array_like of shape (n, 2) or (n, 3)
        Bodies come with all of the next three.
    velocities : array_like, shape (n, D), optional
        0 where there are none.
    masses, charges : array_like, shape (n,), optional
        1 where there are none.
    dt : float
        The step.
    integrator : str
        A name of `integrators`.
    softening : float or array_like, shape (n,)
        A length, or one a body. Of `Bodies` with lengths of their own those count, unless it is given.
    g : float, optional
        The constant of gravity, 1 if left out.
    law : str or Law, optional
        Another law than gravity.
    precision : {'double', 'single'}
    time : float, optional
        Of the start.
    systems : int, optional
        An ensemble: the bodies are those of so many systems, one system after the other, that know
        nothing of each other.
    device, threads, context
        As of `kith.forces`.

    Raises
    ------
    ValueError
        What the library refuses: the message names the argument, its value and the remedy.

    Notes
    -----
    Ctrl-C stops a run between two steps; the simulation can then go on. Results are the same, bit
    for bit, on every run, for every number of threads and however the steps are split.

    Examples
    --------
    >>> import kith
    >>> simulation = kith.Simulation(kith.make("two-body"), dt=0.001)
    >>> start = simulation.energies.total_energy
    >>> simulation.run(1.0)
    >>> simulation.time, abs(simulation.energies.total_energy - start) < 1e-6
    (1.0, True)
    """

    def __init__(self, positions: Bodies | ArrayLike, velocities: ArrayLike | None = None,
                 masses: ArrayLike | None = None, *, dt: float, charges: ArrayLike | None = None,
                 integrator: str = "leapfrog", softening: float | ArrayLike | None = None, g: float | None = None,
                 law: str | Law | None = None, precision: str = "double", time: float | None = None,
                 systems: int | None = None, device: str | Device = "auto", threads: int = 0,
                 context: Context | None = None):
        lengths = None if softening is None or numpy.ndim(softening) == 0 else softening
        bodies = _bodies_of(positions, velocities, masses, charges, lengths)
        if time is not None:
            bodies.time = time
        if precision not in ("double", "single"):
            raise ValueError(f"precision is {precision!r}; give 'double' or 'single'")
        self._call = Call((), context, device, threads)
        self._law = None if law is None else law_of(law)
        self._steps_in_files = 0
        self._bodies = bodies  # masses and charges, which views and files need
        self._has_lengths = bodies.softening is not None and (softening is None or lengths is not None)
        self._handle = _kith.create_simulation(
            self._call.handle, bodies._handle, float(dt), str(integrator), constant_of_gravity(g),
            0.0 if self._has_lengths or softening is None else float(softening), self._has_lengths,
            precision == "single", self._law and self._law._handle, systems)

    @property
    def time(self) -> float:
        """The start's time plus the number of steps times dt: no error piles up."""
        return self._handle.time

    @property
    def steps(self) -> int:
        """Steps done."""
        return self._handle.steps + self._steps_in_files

    @property
    def context(self) -> Context:
        """Where it computes."""
        return self._call.context

    def step(self, n: int = 1) -> None:
        """Advances by n steps of dt."""
        self._handle.step(int(n))

    def step_by(self, h: float) -> None:
        """One step of length h instead of dt; negative goes backwards."""
        self._handle.step_by(float(h))

    def run(self, until: float) -> None:
        """Steps until the time is exactly ``until``; the last step is shorter if dt does not divide the rest."""
        self._handle.run(float(until))

    def frames(self, until: float, every: int = 1) -> Iterator[Simulation]:
        """Advances to ``until`` and yields the simulation itself at the start, each ``every`` steps, and the end.

        Its arrays show the state of that moment: copy those that are to be kept.

        Examples
        --------
        >>> import kith
        >>> simulation = kith.Simulation(kith.make("two-body"), dt=0.01)
        >>> [round(frame.time, 2) for frame in simulation.frames(until=0.25, every=10)]
        [0.0, 0.1, 0.2, 0.25]
        """
        if every < 1:
            raise ValueError(f"every is {every}; give a number of steps of at least 1")
        until = float(until)
        start, first = self.time, self.steps
        while True:
            yield self
            if self.time >= until:
                return
            ahead = start + (self.steps - first + every) * self._handle.dt
            # A frame is never nearer to the end than rounding.
            if ahead < until - 1e-9 * self._handle.dt:
                self._handle.step(every)
            else:
                self._handle.run(until)

    def _column(self, number):
        view = self._handle.column(number)
        if view is None:
            return None
        device = self._call.context.device
        if device == "cpu":
            array = numpy.asarray(view)
            array.flags.writeable = False
            return array
        self._call.context.synchronize()
        return view

    @property
    def positions(self):
        """Positions as they are after the last step: a live view without a copy, shape (n, D).

        Read-only: `set` changes them. Of an ensemble (systems, n, D). On a GPU an object with
        ``__dlpack__``, for ``cupy.from_dlpack`` and ``torch.from_dlpack``. Where lengths are so large
        or small that the simulation keeps them in other units, a copy.
        """
        array = self._column(_kith.column_position)
        return self.bodies().positions if array is None else array

    @property
    def velocities(self):
        """Velocities, as `positions`."""
        array = self._column(_kith.column_velocity)
        return self.bodies().velocities if array is None else array

    @property
    def masses(self):
        """Masses, shape (n,), as `positions`."""
        array = self._column(_kith.column_mass)
        if array is not None:
            return array
        return numpy.ones(len(self._bodies)) if self._bodies.masses is None else self._bodies.masses.copy()

    def bodies(self) -> Bodies:
        """A copy of all bodies as they are now, in double precision, with their masses and names."""
        of = self._bodies
        copied = Bodies(of.positions, of.velocities, of.masses, charges=of.charges, softening=of.softening, ids=of.ids,
                        names=of.names, cell=of.cell, periodic=of.periodic)
        self._handle.get_bodies(copied._handle)
        return copied

    def set(self, positions: ArrayLike | None = None, velocities: ArrayLike | None = None,
            masses: ArrayLike | None = None, *, charges: ArrayLike | None = None, time: float | None = None) -> None:
        """Changes the state between two steps; what is left out stays.

        Takes one evaluation of all forces.

        Examples
        --------
        >>> import kith
        >>> simulation = kith.Simulation([[0.0, 0], [1.0, 0]], dt=0.01)
        >>> simulation.set(velocities=[[0.0, 1.0], [0.0, -1.0]])
        >>> simulation.velocities.tolist()
        [[0.0, 1.0], [0.0, -1.0]]
        """
        now = self.bodies()
        given = {"positions": positions, "velocities": velocities, "masses": masses, "charges": charges}
        columns = {name: getattr(now, name) if column is None else column for name, column in given.items()}
        changed = Bodies(**columns, softening=now.softening, ids=now.ids, names=now.names, cell=now.cell,
                         periodic=now.periodic, time=now.time if time is None else time)
        self._handle.set_bodies(changed._handle)
        self._bodies = changed

    @property
    def energies(self) -> Energies:
        """Energies and momenta now; of an ensemble those of all systems together."""
        return Energies(**self._handle.diagnose())

    @property
    def energies_of_systems(self) -> list[Energies]:
        """Energies and momenta of each system of an ensemble."""
        return [Energies(**sums) for sums in self._handle.diagnose_systems()]

    def to_h5md(self, path: str | os.PathLike, until: float, *, every: int = 0, units: Sequence[str] | None = None,
                checkpoint_seconds: float = 0.0, resume: bool = False) -> Summary:
        """Advances to ``until`` and writes the run into an H5MD file, as ``kith run`` does.

        The file has frames, energies and momenta, and a checkpoint from which ``kith run --resume``
        and ``resume`` go on, also after Ctrl-C.

        Parameters
        ----------
        path : str or os.PathLike
            Whole at all times, and replaced.
        until : float
        every : int
            A frame every so many steps; 0: about 1000 frames in all.
        units : sequence of three str, optional
            Names of the units of length, time and mass, recorded in the file.
        checkpoint_seconds : float
            Of wall time between checkpoints; 0: 10.
        resume : bool
            Go on from the file's checkpoint, whatever the simulation's state is; ``steps`` are then
            those since the start of the file.

        Returns
        -------
        Summary

        Raises
        ------
        NotImplementedError
            This build has no HDF5.
        """
        start, last, before = self.bodies(), self.bodies(), self.steps
        try:
            summary = self._handle.run_to_file(None if resume else start._handle, last._handle, os.fspath(path),
                                               float(until), int(every), float(checkpoint_seconds),
                                               [str(unit) for unit in units or ()], bool(resume))
            before += 0 if resume else summary["steps"]
        except BaseException:
            before += round((last.time - start.time) / self._handle.dt)
            raise
        finally:
            self._handle.set_bodies(last._handle)
            self._steps_in_files = before - self._handle.steps
        if resume:
            self._steps_in_files = summary["steps"] - self._handle.steps
        return Summary(**summary)

    def __repr__(self) -> str:
        return f"<kith.Simulation: {len(self._bodies)} bodies, time {self.time:g}, {self.steps} steps>"


def _bodies_of(positions, velocities, masses, charges, softening):
    """Bodies that belong to the simulation."""
    if not isinstance(positions, Bodies):
        return Bodies(positions, velocities, masses, charges=charges, softening=softening)
    of = positions
    return Bodies(of.positions, of.velocities if velocities is None else velocities,
                  of.masses if masses is None else masses, charges=of.charges if charges is None else charges,
                  softening=of.softening if softening is None else softening, ids=of.ids, names=of.names, time=of.time,
                  cell=of.cell, periodic=of.periodic)
