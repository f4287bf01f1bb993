"""Simulations: bodies under their forces, advanced step by step."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, overload

import numpy
from numpy.typing import ArrayLike

from kith import _kith
from kith._arguments import chosen, described, flag, integer, integer32, number, optional, path_of, several, text
from kith._bodies import Bodies
from kith._context import PAIRS_OF_SOLVER, Bound, Call, Context, Device, Work
from kith._forces import SHIFTS, accuracy_of, constant_of_gravity, images_of, pairs_of, softening_of
from kith._html import frame, table
from kith._law import Law
from kith._law import law as law_of
from kith._orbits import ORBIT
from kith._orbits import orbits as orbits_of
from kith._pairs import periodic_of

_COLLISIONS = {"pass": 0, "merge": 1, "bounce": 2, "stop": 3}

# Of hermite-block a step moves one body in 25 of a Plummer sphere of 1024; of ias15 it is 16 evaluations, which on a
# GPU take a hundred times as long as a small step in one kernel.
_PART_OF_STEP = {"hermite-block": 1 / 25, "ias15": 16 / 100}

_EVENT = [("kind", "U9"), ("step", "i8"), ("time", "f8"), ("body", "i8"), ("other", "i8"), ("distance", "f8"),
          ("speed", "f8"), ("mass", "f8"), ("radius", "f8")]


class Integrator(NamedTuple):
    """A row of the table of integrators; `integrators` returns them.

    Attributes
    ----------
    name : str
        As ``leapfrog``.
    description : str
        What it is, with its source.
    order : int
        The error of a run is proportional to this power of dt.
    evaluations : int
        Evaluations of all forces in a step; 0 if their number varies.
    symplectic : bool
        Whether the energy error stays bounded.
    adaptive : bool
        Whether it chooses the lengths of its steps, of which dt is the first.
    central : bool
        Whether body 0 is a star, about which the others move on orbits.

    Examples
    --------
    >>> import kith
    >>> kith.integrators()[0].order
    2
    """

    name: str
    description: str
    order: int
    evaluations: int
    symplectic: bool
    adaptive: bool
    central: bool


def integrators() -> list[Integrator]:
    """Returns the table of integrators.

    Returns
    -------
    list of Integrator
        One row for each integrator.

    Examples
    --------
    >>> import kith
    >>> kith.integrators()[0].name
    'leapfrog'
    """
    return [Integrator(**row) for row in _kith.integrators()]


class Energies(NamedTuple):
    """Energies and momenta, in double precision, as `Simulation.energies` returns them.

    Attributes
    ----------
    kinetic_energy : float
        T, the sum of m v^2 / 2.
    potential_energy : float
        W, half the sum of m phi.
    total_energy : float
        T + W.
    momentum : tuple of three float
        The sum of m v.
    angular_momentum : tuple of three float
        The sum of m x cross v.
    center_of_mass : tuple of three float
        The sum of m x, divided by the sum of m.
    virial_ratio : float
        -2 T / W, which is 1 in equilibrium.
    temperature : float
        The sum of m v^2 about the velocity of the center of mass, over D (N - 1).
    pressure : float
        With a cutoff or periodic images, in a periodic cell: the sum of m v^2 and the trace of the virial, over D
        times the volume; otherwise 0.
    virial : tuple of three tuples of three float
        With a cutoff or periodic images: the sum over pairs of the outer products of x_i - x_j and F_ij; otherwise 0.

    Examples
    --------
    >>> import kith
    >>> kith.Simulation([[0.0, 0], [2.0, 0]], dt=0.01).energies.potential_energy
    -0.5
    """

    kinetic_energy: float
    potential_energy: float
    total_energy: float
    momentum: tuple[float, float, float]
    angular_momentum: tuple[float, float, float]
    center_of_mass: tuple[float, float, float]
    virial_ratio: float
    temperature: float
    pressure: float
    virial: tuple[tuple[float, float, float], tuple[float, float, float], tuple[float, float, float]]


class Summary(NamedTuple):
    """The result of `Simulation.run` with an output, with the names of ``kith run --json``.

    Attributes
    ----------
    bodies : int
        The number of bodies.
    steps : int
        Steps since the start of the file.
    dt : float
        The step, or the first of an adaptive integrator.
    dt_min, dt_max : float
        dt, or the shortest and the longest step of an adaptive integrator, without those that end early at a
        frame or at the end.
    body_steps : int
        The sum over all steps of the bodies that took it.
    collisions : int
        Mergers, bounces and stops.
    bodies_final : int
        The bodies of which none has merged or escaped.
    time : float
        At the end.
    energy_initial, energy_final : float
        Total energies.
    relative_energy_error : float
        At the end of the run.
    max_relative_energy_error : float
        The maximum over all frames.
    momentum_error : float
        The change of the momentum.
    interactions_per_second : float
        Pairs of bodies per second, all of them, also where the solver evaluates fewer.
    gflops : float
        10^9 floating-point operations per second.
    seconds : float
        Elapsed time.
    integrator : str
        Its name.
    solver : str
        Its name.

    Examples
    --------
    >>> import kith, os, tempfile
    >>> simulation = kith.Simulation(kith.make("two-body"), dt=0.01)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     summary = simulation.run(0.5, output=os.path.join(folder, "run.h5"))
    >>> summary.bodies, summary.steps, summary.time
    (2, 50, 0.5)
    """

    bodies: int
    steps: int
    dt: float
    dt_min: float
    dt_max: float
    body_steps: int
    collisions: int
    bodies_final: int
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
    solver: str


class Simulation(Bound):
    """Bodies under their mutual gravity or any other law, advanced by a fixed or an adaptive step.

    A simulation cannot be pickled or copied; `bodies` returns what can.

    Parameters
    ----------
    positions : Bodies, or array_like of shape (n, 2) or (n, 3)
        Bodies have velocities, masses, charges and softening lengths.
    velocities : array_like, shape (n, D), optional
        0 by default.
    masses : array_like, shape (n,), optional
        1 by default.
    dt : float
        The step, or the first of an adaptive integrator.
    charges : array_like, shape (n,), optional
        1 by default.
    integrator : str
        A name of `integrators`. ``whfast`` and ``hybrid`` take the first body as the star.
    softening : float or array_like, shape (n,), optional
        A length, or one for each body; that of the bodies by default, otherwise 0.
    g : float, optional
        The gravitational constant; that of the bodies by default, otherwise 1.
    law : str or Law, optional
        A law other than gravity: see `kith.law`.
    solver : {'auto', 'direct', 'cutoff', 'reference', 'tree', 'fmm', 'ewald', 'pme'}
        See `kith.forces`. ``ewald`` and ``pme`` choose their setting for the bodies of the start; on a
        GPU ``pme`` alone.
    error, theta : float, optional
        The accuracy of the solver, see `kith.forces`.
    order : int, optional
        See `kith.forces`.
    precision : {'double', 'single'}
        Of the forces and the state.
    eta : float
        For ``hermite-block``: the square of a step over the square of the time in which a body's acceleration changes;
        0: 0.02.
    collisions : {'pass', 'merge', 'bounce', 'stop'}
        At a distance of the sum of their radii, two bodies pass through each other; the heavier takes the
        other's mass, momentum and volume; they bounce; or the steps end.
    restitution : float
        For bounces: the speed of separation over the speed of approach, from 0 to 1.
    encounter : float
        Record pericenters of two bodies below this distance; 0: none.
    escape : float
        Bodies farther than this from the center of mass are removed; 0: none. Coordinates of removed bodies are NaN
        in `bodies` and in files, and arrays as `positions` have the others, in the order of `rows`.
    radii : array_like, shape (n,), optional
        Those of the bodies by default.
    coordinates : {'jacobi', 'democratic-heliocentric'}, optional
        For the integrator ``whfast``: 'jacobi' by default.
    corrector : {0, 3, 5, 7, 11, 17}
        For ``whfast``: the order of its symplectic corrector; 0: none.
    kernel : {'default', 'lazy', 'modified-kick', 'composition'}, optional
        For ``whfast``.
    cell : array_like, shape (D, D) or (D,), optional
        One cell vector per row, or the lengths of a box; that of the bodies by default, otherwise open space.
    periodic : bool or sequence of bool, optional
        Along which vectors of ``cell`` space is periodic: all by default.
    cutoff : float, optional
        Sum the pairs at distances less than this only, at every periodic image; all pairs by default.
    shift : {'none', 'energy', 'force'}
        See `kith.forces`.
    tail : bool
        Add what lies beyond the cutoff to the energy, see `kith.forces`.
    alpha, absolute_error : float, optional
        See `kith.forces`.
    boundary : {'tin-foil', 'vacuum'}
        See `kith.forces`.
    grid : sequence of three int, optional
        See `kith.forces`.
    exclude : array_like of int, shape (p, 2), optional
        See `kith.forces`.
    thermostat : str, optional
        'langevin:T,TAU' or 'bussi:T,TAU', optionally with ',SEED', 0 by default: keeps the temperature at T, an energy,
        with the correlation time TAU (CPU, integrator leapfrog).
    substeps : int
        Of leapfrog with the solvers ewald and pme: a step evaluates the mesh once and the pairs within the cutoff this
        many times, in shorter steps (r-RESPA); 1 by default.
    time : float, optional
        At the start; that of the bodies by default, otherwise 0.
    systems : int, optional
        An ensemble: the bodies are those of this number of independent systems, one system after the
        other.
    device : str or Device
        See `kith.forces`.
    threads : int
        See `kith.forces`.
    context : Context, optional
        See `kith.forces`.

    Raises
    ------
    ValueError
        A value is out of range: the message names the argument, its value and the remedy.

    Notes
    -----
    Ctrl-C stops a run between two steps; the simulation can then continue. Results are the same, bit
    for bit, on every run, for every number of threads and for every split of the steps into calls.

    Examples
    --------
    >>> import kith
    >>> simulation = kith.Simulation(kith.make("two-body"), dt=0.001)
    >>> start = simulation.energies.total_energy
    >>> simulation.run(1.0)
    >>> simulation.time, abs(simulation.energies.total_energy - start) < 1e-6
    (1.0, True)
    """

    _instead = "pickle its bodies()"

    def __init__(self, positions: Bodies | ArrayLike, velocities: ArrayLike | None = None,
                 masses: ArrayLike | None = None, *, dt: float, charges: ArrayLike | None = None,
                 integrator: str = "leapfrog", softening: float | ArrayLike | None = None, g: float | None = None,
                 law: str | Law | None = None, solver: str = "auto", error: float | None = None,
                 theta: float | None = None, order: int | None = None, precision: str = "double",
                 eta: float = 0.0, collisions: str = "pass", restitution: float = 1.0, encounter: float = 0.0,
                 escape: float = 0.0, radii: ArrayLike | None = None, coordinates: str | None = None,
                 corrector: int = 0, kernel: str | None = None, cell: ArrayLike | None = None,
                 periodic: bool | Sequence[bool] | None = None, cutoff: float | None = None, shift: str = "none",
                 tail: bool = False, alpha: float | None = None, absolute_error: float | None = None,
                 boundary: str = "tin-foil", grid: Sequence[int] | None = None, exclude: ArrayLike | None = None,
                 thermostat: str | None = None, substeps: int = 1, time: float | None = None,
                 systems: int | None = None, device: str | Device = "auto", threads: int = 0,
                 context: Context | None = None):
        length, lengths = (0.0, None) if softening is None else softening_of(softening)
        bodies = _with(_bodies_of(positions, velocities, masses, charges, lengths), radii=radii)
        if cell is not None:
            bodies = _with(bodies, cell=cell, periodic=True if periodic is None else periodic)
        elif periodic is not None and numpy.any(periodic_of(periodic, bodies.positions.shape[1])):
            raise ValueError("periodic is given without a cell; give the cell that repeats itself")
        if time is not None:
            bodies.time = time
        if g is not None:
            bodies.g = g
        is_single = chosen("precision", precision, {"double": False, "single": True})
        is_exact = solver == "direct" or (solver == "auto" and error is None and theta is None)
        count = optional(integer, "systems", systems)
        each = len(bodies) // max(count or 1, 1)
        pairs = len(bodies) * min(each, math.inf if is_exact else PAIRS_OF_SOLVER)
        if count is None:
            pairs *= _PART_OF_STEP.get(text("integrator", integrator), 1)
        work = Work("steps", pairs, 0, is_single)
        if solver == "ewald":
            work = "cpu"
        elif solver == "pme":
            work = Work("images_steps", len(bodies), 0, is_single)
        elif cutoff is not None:
            work = Work("near_steps", len(bodies), 0, is_single)
        self._call = Call((), context, device, threads, work)
        self._law = None if law is None else law_of(law)
        self._steps_before, self._events_before = 0, []
        self._heartbeat, self._heartbeat_every = None, 1
        self._has_lengths = bodies.softening is not None and (softening is None or lengths is not None)
        self._settings = (
            number("dt", dt), text("integrator", integrator),
            constant_of_gravity(g), 0.0 if self._has_lengths else length, self._has_lengths, is_single,
            self._law and self._law._handle, text("solver", solver),
            *accuracy_of(error, theta, order), number("eta", eta), chosen("collisions", collisions, _COLLISIONS),
            number("restitution", restitution), number("encounter", encounter), number("escape", escape),
            count, optional(text, "coordinates", coordinates),
            integer32("corrector", corrector), optional(text, "kernel", kernel),
            optional(text, "thermostat", thermostat), integer32("substeps", substeps),
            optional(number, "cutoff", cutoff) or 0.0, chosen("shift", shift, SHIFTS), flag("tail", tail),
            *images_of(alpha, absolute_error, boundary, grid),
            [] if exclude is None else pairs_of(exclude).ravel().tolist())
        self._is_ensemble = count is not None
        self._begin(bodies)
        if integrator in ("whfast", "hybrid") and count is None:
            _warn_of_no_star(integrator, bodies)

    def _begin(self, bodies):
        self._handle = self._call.run(_kith.create_simulation, bodies._handle, *self._settings)
        self._bodies = bodies  # masses and charges, which views and files need

    @property
    def time(self) -> float:
        """The time: that of the start plus the number of steps times dt, without accumulated rounding.

        Returns
        -------
        float
            In the unit of dt.

        Examples
        --------
        >>> import kith
        >>> simulation = kith.Simulation(kith.make("two-body"), dt=0.25)
        >>> simulation.step(2)
        >>> simulation.time
        0.5
        """
        return self._handle.time

    @property
    def steps(self) -> int:
        """The number of steps done.

        Returns
        -------
        int
            Including those of runs with an output, and those before bodies were added.

        Examples
        --------
        >>> import kith
        >>> simulation = kith.Simulation(kith.make("two-body"), dt=0.25)
        >>> simulation.step(2)
        >>> simulation.steps
        2
        """
        return self._handle.steps + self._steps_before

    @property
    def context(self) -> Context:
        """The context of the simulation.

        Returns
        -------
        Context
            With its device and threads.

        Examples
        --------
        >>> import kith
        >>> kith.Simulation(kith.make("two-body"), dt=0.25, device="cpu").context.device
        'cpu'
        """
        return self._call.context

    def step(self, n: int = 1) -> None:
        """Advances by n steps of dt, or of the lengths that an adaptive integrator chooses.

        Parameters
        ----------
        n : int
            The number of steps.

        Examples
        --------
        >>> import kith
        >>> simulation = kith.Simulation(kith.make("two-body"), dt=0.25)
        >>> simulation.step(3)
        >>> simulation.time
        0.75
        """
        left = integer("n", n)
        if self._heartbeat is None or left <= 0:
            self._handle.step(left)
            return
        while left > 0:
            some = self._steps_to_heartbeat(left)
            self._handle.step(some)
            left -= some
            if self._handle.has_stopped or self._heartbeat_stops():
                return

    def step_by(self, h: float) -> None:
        """Advances by one step of length h instead of dt, or by as many as an adaptive integrator needs for h.

        Parameters
        ----------
        h : float
            Negative values go backwards.

        Examples
        --------
        >>> import kith
        >>> simulation = kith.Simulation(kith.make("two-body"), dt=0.25)
        >>> simulation.step_by(0.125)
        >>> simulation.time
        0.125
        """
        self._handle.step_by(number("h", h))

    @overload
    def run(self, until: float) -> None: ...

    @overload
    def run(self, until: float, output: str | os.PathLike[str], *, every: int = 0, every_time: float = 0.0,
            pressure_every: int = 0, units: Sequence[str] | None = None, checkpoint_seconds: float = 0.0,
            wrap: bool = False, resume: bool = False) -> Summary: ...

    def run(self, until: float, output: str | os.PathLike[str] | None = None, *, every: int = 0,
            every_time: float = 0.0, pressure_every: int = 0, units: Sequence[str] | None = None,
            checkpoint_seconds: float = 0.0, wrap: bool = False, resume: bool = False) -> Summary | None:
        """Advances to exactly ``until``, and writes the run to an H5MD file if there is an output.

        The last step is shorter if dt does not divide the rest. The file is as that of ``kith run``: it has
        frames, energies and momenta, and a checkpoint from which ``kith run --resume`` and ``resume`` continue,
        also after Ctrl-C; `kith.read` reads its frames.

        Parameters
        ----------
        until : float
            The time at the end.
        output : str or os.PathLike, optional
            Replaced, and complete at all times. The following arguments are for it.
        every : int
            Steps from frame to frame; 0: about 1000 frames in all.
        every_time : float
            Time from frame to frame instead of ``every``, which does not change the steps of an adaptive integrator
            (but those of ensembles); a fixed dt must divide it.
        pressure_every : int
            Steps between records of temperature, pressure and virial, in ``parameters/kith/pressure`` of the file;
            0: those of frames only. Needs a cutoff or periodic images, and steps of a fixed length.
        units : sequence of three str, optional
            Names of the units of length, time and mass, recorded in the file; those of the bodies by default.
        checkpoint_seconds : float
            Elapsed time between checkpoints; 0: 10.
        wrap : bool
            Write positions within the periodic cell, and, as ``particles/trajectory/image`` of H5MD, which
            image of the cell each body is in; `kith.read` and `kith.open` return them unwrapped.
        resume : bool
            Continue from the checkpoint of the file, whatever the state of the simulation is; ``steps`` are
            then those since the start of the file.

        Returns
        -------
        Summary
            Steps, energies and rates of a run with an output; otherwise None.

        Raises
        ------
        NotImplementedError
            This build has no HDF5.
        ValueError
            The output has the extension of another format than H5MD.

        Warns
        -----
        RuntimeWarning
            The relative energy error exceeded 1.

        Examples
        --------
        >>> import kith, os, tempfile
        >>> simulation = kith.Simulation(kith.make("two-body"), dt=0.3)
        >>> simulation.run(1.0)
        >>> simulation.time, simulation.steps
        (1.0, 4)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "run.h5")
        ...     summary = simulation.run(4.0, output=path, every=5)
        ...     kith.read(path, frame=1).time, kith.read(path).time
        (1.0, 4.0)
        """
        named = [] if units is None else several(text, "units", units, (0, 3))
        options = (number("until", until), integer("every", every), number("every_time", every_time),
                   integer("pressure_every", pressure_every),
                   number("checkpoint_seconds", checkpoint_seconds), named, flag("wrap", wrap),
                   flag("resume", resume))
        if output is not None:
            return self._run_to_file(_run_name("output", output), *options)
        if every or every_time or pressure_every or named or checkpoint_seconds or wrap or resume:
            raise ValueError("output is None, and every, every_time, pressure_every, units, checkpoint_seconds, wrap "
                             "and resume are for an output; give output=\"run.h5\"")
        if self._heartbeat is None:
            self._handle.run(options[0])
            return None
        while self.time != options[0]:
            self._handle.run(options[0], self._steps_to_heartbeat())
            if self._handle.has_stopped or self._heartbeat_stops():
                break
        return None

    def set_heartbeat(self, heartbeat: Callable[[Simulation], object] | None, every: int = 1) -> None:
        """Sets a function to be called after each ``every`` steps of `step` and of `run` without an output.

        Parameters
        ----------
        heartbeat : callable or None
            Called with the simulation. If it returns False, the steps end there. None: no function.
        every : int
            It is called when the number of steps done is a multiple of this.

        Examples
        --------
        >>> import kith
        >>> simulation, times = kith.Simulation(kith.make("two-body"), dt=0.25), []
        >>> simulation.set_heartbeat(lambda now: times.append(now.time), every=4)
        >>> simulation.run(2.5)
        >>> times
        [1.0, 2.0]
        """
        if heartbeat is not None and not callable(heartbeat):
            raise TypeError(f"heartbeat is {described(heartbeat)}; give a function of the simulation, or None")
        self._heartbeat, self._heartbeat_every = heartbeat, integer("every", every, 1)

    def _steps_to_heartbeat(self, most=None):
        steps = self._heartbeat_every - self.steps % self._heartbeat_every
        return steps if most is None else min(steps, most)

    def _heartbeat_stops(self):
        return self.steps % self._heartbeat_every == 0 and self._heartbeat(self) is False

    @property
    def events(self) -> numpy.ndarray:
        """Collisions, encounters and escapes of all steps so far.

        Returns
        -------
        numpy.ndarray
            A structured array: ``kind`` ('merge', 'bounce', 'stop', 'encounter' or 'escape'), ``step``, ``time``,
            ``body`` and ``other`` (rows; of a merger the one that stays first; -1: none), ``distance`` and ``speed``
            of one relative to the other, ``mass`` and ``radius`` of ``body`` afterwards.

        Examples
        --------
        >>> import kith
        >>> bodies = kith.Bodies([[0.0, 0], [1.0, 0]], [[0.0, 0], [-1.0, 0]], radii=[0.1, 0.1])
        >>> simulation = kith.Simulation(bodies, dt=0.01, g=1e-9, collisions="merge", device="cpu")
        >>> simulation.run(1.0)
        >>> event = simulation.events[0]
        >>> str(event["kind"]), round(float(event["time"]), 6), int(event["other"])
        ('merge', 0.8, 1)
        """
        return numpy.array(self._events_before + self._handle.events(), dtype=_EVENT)

    @property
    def rows(self) -> numpy.ndarray:
        """The original rows of the remaining bodies: those of `positions`, `velocities` and `masses`.

        Returns
        -------
        numpy.ndarray of int64
            All of them unless bodies have merged or escaped.

        Examples
        --------
        >>> import kith
        >>> bodies = kith.Bodies([[0.0, 0], [1.0, 0]], [[0.0, 0], [9.0, 0]], masses=[1.0, 0.0])
        >>> simulation = kith.Simulation(bodies, dt=0.01, g=1e-9, escape=5.0, device="cpu")
        >>> simulation.run(1.5)
        >>> simulation.rows.tolist()
        [0]
        """
        rows = self._handle.rows()
        return numpy.arange(len(self._bodies)) if rows is None else numpy.array(rows, dtype=numpy.int64)

    def frames(self, until: float, every: int = 1) -> Iterator[Simulation]:
        """Advances to ``until`` and yields the simulation at the start, each ``every`` steps, and the end.

        Parameters
        ----------
        until : float
            The time at the end.
        every : int
            Steps from frame to frame, at least 1.

        Yields
        ------
        Simulation
            The simulation itself: its arrays show the current state; copy them to keep them.

        Examples
        --------
        >>> import kith
        >>> simulation = kith.Simulation(kith.make("two-body"), dt=0.01)
        >>> [round(frame.time, 2) for frame in simulation.frames(until=0.25, every=10)]
        [0.0, 0.1, 0.2, 0.25]
        """
        return self._frames(number("until", until), integer("every", every, 1))

    def _frames(self, until, every):
        while True:
            yield self
            if self.time >= until:
                return
            self._handle.run(until, every)

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
        """The positions after the last step: a live view without a copy.

        Read-only: `set` changes them. On a GPU an object with ``__dlpack__``, for ``cupy.from_dlpack`` and
        ``torch.from_dlpack``. If lengths are so large or small that the simulation stores them in other units,
        it is a copy.

        Returns
        -------
        array, shape (n, D)
            For an ensemble (systems, n, D).

        Examples
        --------
        >>> import kith
        >>> kith.Simulation([[0.0, 0], [1.0, 0]], dt=0.01, device="cpu").positions.tolist()
        [[0.0, 0.0], [1.0, 0.0]]
        """
        array = self._column(_kith.column_position)
        return self.bodies().positions if array is None else array

    @property
    def velocities(self):
        """The velocities after the last step, as `positions`.

        Returns
        -------
        array, shape (n, D)
            For an ensemble (systems, n, D).

        Examples
        --------
        >>> import kith
        >>> kith.Simulation([[0.0, 0], [1.0, 0]], dt=0.01, device="cpu").velocities.tolist()
        [[0.0, 0.0], [0.0, 0.0]]
        """
        array = self._column(_kith.column_velocity)
        return self.bodies().velocities if array is None else array

    @property
    def masses(self):
        """The masses, as `positions`.

        Returns
        -------
        array, shape (n,)
            For an ensemble (systems, n).

        Examples
        --------
        >>> import kith
        >>> kith.Simulation([[0.0, 0], [1.0, 0]], masses=[1.0, 2.0], dt=0.01, device="cpu").masses.tolist()
        [1.0, 2.0]
        """
        array = self._column(_kith.column_mass)
        if array is not None:
            return array
        return numpy.ones(len(self._bodies)) if self._bodies.masses is None else self._bodies.masses.copy()

    def bodies(self) -> Bodies:
        """A copy of all bodies in their current state, in double precision.

        Returns
        -------
        Bodies
            With their masses, charges and names.

        Examples
        --------
        >>> import kith
        >>> simulation = kith.Simulation(kith.make("two-body"), dt=0.25)
        >>> simulation.step()
        >>> simulation.bodies().time
        0.25
        """
        copied = Bodies(**self._bodies._arguments())
        self._handle.get_bodies(copied._handle)
        return copied

    def set(self, positions: ArrayLike | None = None, velocities: ArrayLike | None = None,
            masses: ArrayLike | None = None, *, charges: ArrayLike | None = None, time: float | None = None) -> None:
        """Changes the state between two steps; what is not given stays.

        Takes one evaluation of all forces.

        Parameters
        ----------
        positions, velocities : array_like, shape (n, D), optional
            The new state.
        masses, charges : array_like, shape (n,), optional
            New masses and charges.
        time : float, optional
            The new time.

        Examples
        --------
        >>> import kith
        >>> simulation = kith.Simulation([[0.0, 0], [1.0, 0]], dt=0.01, device="cpu")
        >>> simulation.set(velocities=[[0.0, 1.0], [0.0, -1.0]])
        >>> simulation.velocities.tolist()
        [[0.0, 1.0], [0.0, -1.0]]
        """
        changed = _with(self.bodies(), positions=positions, velocities=velocities, masses=masses, charges=charges,
                        time=time)
        self._handle.set_bodies(changed._handle)
        self._bodies = changed

    def add(self, m: float, a: float, e: float = 0.0, i: float = 0.0, Omega: float = 0.0, omega: float = 0.0,
            M: float = 0.0, *, coordinates: str = "heliocentric", radius: float = 0.0) -> None:
        """Adds a body on an orbit in the current state, before the first step or between two steps.

        The other bodies, the time and the number of steps stay. The integrator starts again from this state, as that
        of a new simulation: an adaptive one with dt, a thermostat with its seed. Arrays taken before are those of the
        bodies before.

        Parameters
        ----------
        m, a, e : float
            See `Bodies.add`.
        i, Omega, omega, M : float
            See `Bodies.add`.
        coordinates : {'heliocentric', 'jacobi'}
            See `Bodies.add`.
        radius : float
            The radius of the body.

        Raises
        ------
        ValueError
            The elements do not describe an orbit, the simulation is an ensemble or has a live view, its law is not
            gravity, or bodies have merged or escaped. The simulation is then as before.

        Examples
        --------
        >>> import kith
        >>> simulation = kith.Simulation([[0.0, 0, 0]], masses=[1.0], dt=0.01, integrator="whfast", device="cpu")
        >>> simulation.add(1e-3, 1.0, e=0.05)
        >>> simulation.run(2.0)
        >>> simulation.add(3e-4, 1.6, M=2.0)
        >>> simulation.orbits()["a"].round(6).tolist(), simulation.time
        ([1.0, 1.6], 2.0)
        """
        if self._is_ensemble:
            raise ValueError("the simulation is an ensemble; add bodies to each system before it is created")
        if self._handle.view is not None:
            raise ValueError("the simulation has a live view of the bodies before; close it")
        if self._law is not None and self._law.text != "gravity":
            raise ValueError(f"the law is {described(self._law.text)}, and orbital elements are those of gravity")
        bodies, left, steps, events = self.bodies(), len(self.rows), self.steps, self._handle.events()
        if left < len(bodies):
            raise ValueError(f"{len(bodies) - left} of {len(bodies)} bodies have merged or escaped; create a "
                             "simulation of the remaining ones, with the new one")
        if self._law is not None:
            bodies.g = self._law["G"]
        bodies.add(m, a, e, i, Omega, omega, M, coordinates=coordinates, radius=radius)
        self._begin(bodies)
        self._steps_before, self._events_before = steps, self._events_before + events

    @property
    def energies(self) -> Energies:
        """Energies and momenta in the current state.

        Returns
        -------
        Energies
            For an ensemble the sums over all systems.

        Examples
        --------
        >>> import kith
        >>> kith.Simulation([[0.0, 0], [2.0, 0]], dt=0.01).energies.total_energy
        -0.5
        """
        return Energies(**self._handle.diagnose())

    @property
    def energies_of_systems(self) -> list[Energies]:
        """Energies and momenta of each system of an ensemble.

        Returns
        -------
        list of Energies
            One for each system.

        Examples
        --------
        >>> import kith
        >>> pair = [[0.0, 0], [2.0, 0], [0.0, 0], [1.0, 0]]
        >>> simulation = kith.Simulation(pair, dt=0.01, systems=2)
        >>> [energies.total_energy for energies in simulation.energies_of_systems]
        [-0.5, -1.0]
        """
        return [Energies(**sums) for sums in self._handle.diagnose_systems()]

    def orbits(self, coordinates: str = "heliocentric") -> numpy.ndarray:
        """Computes the orbital elements of all bodies but the first in the current state, as `kith.orbits`.

        Parameters
        ----------
        coordinates : {'heliocentric', 'jacobi', 'barycentric'}
            See `kith.orbits`.

        Returns
        -------
        numpy.ndarray, shape (n - 1,)
            A structured array; for an ensemble (systems, n - 1).

        Raises
        ------
        ValueError
            The law is not gravity.

        Examples
        --------
        >>> import kith
        >>> simulation = kith.Simulation(kith.make("two-body", eccentricity=0.5), dt=0.01, integrator="yoshida8")
        >>> simulation.run(1.0)
        >>> orbit = simulation.orbits()[0]
        >>> round(float(orbit["e"]), 6), round(float(orbit["M"]), 6)
        (0.5, 1.0)
        """
        if self._law is not None and self._law.text != "gravity":
            raise ValueError(f"the law is {described(self._law.text)}, and orbital elements are those of gravity")
        bodies, shape = self.bodies(), self.positions.shape
        g = bodies.g if self._law is None else self._law["G"]
        if len(shape) == 2:
            return orbits_of(bodies, g=g, coordinates=coordinates)
        masses = numpy.ones(shape[:2]) if bodies.masses is None else bodies.masses.reshape(shape[:2])
        systems = zip(bodies.positions.reshape(shape), bodies.velocities.reshape(shape), masses)
        rows = [orbits_of(*system, g=g, coordinates=coordinates) for system in systems]
        return numpy.array(rows, dtype=ORBIT).reshape(shape[0], max(shape[1] - 1, 0))

    def _run_to_file(self, *options) -> Summary:
        resume = options[-1]
        start, last, before = self.bodies(), self.bodies(), self.steps
        try:
            summary = self._handle.run_to_file(None if resume else start._handle, last._handle, *options)
            before += 0 if resume else summary["steps"]
        except BaseException:
            before += round((last.time - start.time) / self._handle.dt)
            raise
        finally:
            self._handle.set_bodies(last._handle)
            self._steps_before = before - self._handle.steps
        if resume:
            self._steps_before = summary["steps"] - self._handle.steps
        if summary["max_relative_energy_error"] > 1:
            warnings.warn(f"the relative energy error reached {summary['max_relative_energy_error']:.3g}: the result "
                          "is wrong; give a smaller dt, a softening, or the g of the bodies' units", RuntimeWarning,
                          stacklevel=3)
        return Summary(**summary)

    def __repr__(self) -> str:
        return f"<kith.Simulation: {len(self._bodies)} bodies, time {self.time:g}, {self.steps} steps>"

    def _repr_html_(self) -> str:
        shown = self._handle.view
        rows = table("kith.Simulation", bodies=len(self._bodies), time=f"{self.time:g}", steps=self.steps,
                     dt=f"{self._handle.dt:g}", device=self._call.context.device)
        return rows + (frame(shown.address) if shown else "")


def _warn_of_no_star(integrator, bodies):
    """The error of the integrator is proportional to the masses of the other bodies relative to the first."""
    masses = numpy.ones(len(bodies)) if bodies.masses is None else bodies.masses
    if len(masses) >= 4 and masses[1:].sum() >= 3 * masses[0]:
        warnings.warn(f"{integrator} is for planets about the first body, whose mass is {masses[0]:.3g} and that of "
                      f"the others {masses[1:].sum():.3g}; list a star first, or use leapfrog, hermite-block or ias15",
                      RuntimeWarning, stacklevel=3)


def _run_name(name: str, value) -> str:
    """The name of a run's file, whose format is H5MD."""
    path = path_of(name, value)
    if os.path.splitext(path)[1].lower() not in ("", ".h5", ".h5md", ".hdf5"):
        raise ValueError(f"{name} is {described(path)}; a run is written as H5MD: name it .h5 or .h5md")
    return path


def _bodies_of(positions, velocities, masses, charges, softening):
    """Bodies that belong to the simulation."""
    if not isinstance(positions, Bodies):
        return Bodies(positions, velocities, masses, charges=charges, softening=softening)
    return _with(positions, velocities=velocities, masses=masses, charges=charges, softening=softening)


def _with(bodies, **columns) -> Bodies:
    """A copy of bodies with other columns, where one is given."""
    return Bodies(**bodies._arguments() | {name: column for name, column in columns.items() if column is not None})
