"""All-pairs forces."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy
from numpy.typing import ArrayLike

from kith import _kith
from kith._arguments import chosen, described, flag, integer32, number, optional, several, text
from kith._arrays import Taken, host_array, needed, reals, result, take
from kith._batch import is_batch, joined, part_of, systems_of
from kith._context import PAIRS_OF_SOLVER, Call, Context, Device, Work
from kith._law import Law, handle_of
from kith._pairs import cells_of


class Totals(NamedTuple):
    """Sums over all pairs within a cutoff or of all periodic images, each pair once: ``Forces.totals``.

    Attributes
    ----------
    energy : float
        The sum of V(i, j).
    virial : array, shape (3, 3)
        The sum of the outer products of ``x_i - x_j`` and F_ij, the force on i: repulsion is positive.
    volume : float
        Of a cell that is periodic along all axes, of the area in two dimensions; otherwise 0.
    dimensions : int
        2 or 3.

    Examples
    --------
    >>> import kith
    >>> totals = kith.forces([[0.0, 0, 0], [2.0, 0, 0]], law="power:1", cutoff=3.0, totals=True).totals
    >>> totals.energy, totals.virial[0, 0].item()
    (0.5, 0.5)
    """

    energy: float
    virial: numpy.ndarray
    volume: float
    dimensions: int

    def pressure(self, kinetic_energy: float = 0.0) -> float:
        """The pressure: twice the kinetic energy plus the trace of the virial, over dimensions times volume.

        Parameters
        ----------
        kinetic_energy : float
            The sum of m v^2 / 2.

        Returns
        -------
        float
            NaN without a volume.

        Examples
        --------
        >>> import kith
        >>> forces = kith.forces([[0.0, 0, 0]], law="power:1", cutoff=1.0, cell=[2.0, 2.0, 2.0], totals=True)
        >>> forces.totals.pressure(kinetic_energy=12.0)
        1.0
        """
        if self.volume == 0:
            return float("nan")
        return (2 * number("kinetic_energy", kinetic_energy) + float(numpy.trace(self.virial))) / (
            self.dimensions * self.volume)


class _Both(NamedTuple):
    acceleration: Any
    potential: Any


class Forces(_Both):
    """Accelerations and potentials, as `forces` returns them: a tuple of two.

    ``totals`` is a `Totals` if they were wanted, otherwise None.

    Attributes
    ----------
    acceleration : array, shape (n, 2) or (n, 3)
        None if it was not requested.
    potential : array, shape (n,)
        Gravity: per unit of mass. Any other law: the energy of a body. None if it was not requested.

    Examples
    --------
    >>> import kith
    >>> kith.forces([[0.0, 0], [2.0, 0]], want="potential").potential.tolist()
    [-0.5, -0.5]
    """

    totals: Totals | None = None


def constant_of_gravity(g) -> float:
    """G as the extension module takes it, where 0 means 1."""
    constant = optional(number, "g", g)
    if constant == 0:
        raise ValueError("g is 0, which leaves no force; give another, or masses of 0")
    return 0.0 if constant is None else constant


_WANTED = {"both": (True, True), "acceleration": (True, False), "potential": (False, True), "value": (False, True)}


def softening_of(softening) -> tuple:
    """One length for all and None, or 0 and an array of lengths."""
    if not isinstance(softening, Taken) and numpy.ndim(softening) == 0:
        return number("softening", softening), None
    return 0.0, softening


SHIFTS = {"none": 0, "energy": 1, "force": 2}
OF_BODIES = ("softening", "target_softening", "charges", "target_charges", "target_masses")
_ROWS = ("positions", "targets", "directions", "target_directions")


def accuracy_of(error, theta, order) -> tuple[float, float, int]:
    """error, theta and order as the extension module takes them, where 0 means not given."""
    given = {"error": optional(number, "error", error), "theta": optional(number, "theta", theta),
             "order": optional(integer32, "order", order)}
    for name, value in given.items():
        if value == 0:
            raise ValueError(f"{name} is 0; it must be greater than 0")
    return given["error"] or 0.0, given["theta"] or 0.0, given["order"] or 0


class PairSums:
    """The arrays that `forces` and `forces_derivative` take, on one device, and their results."""

    def __init__(self, want, out, softening, context, device, threads, runs_on=None, most_pairs=math.inf,
                 kind="forces", **arrays):
        accelerates, has_potential = chosen("want", want, _WANTED)
        self.length, arrays["softening"] = softening_of(softening)
        required = needed("positions", arrays.pop("positions"), (2,))
        taken = reals(required, *(take(name, value, (2,) if name in _ROWS else (1,))
                                  for name, value in arrays.items()))
        self._arrays = dict(zip(("positions", *arrays), taken))
        sources, targets = taken[0].shape[0], self._arrays.get("targets")
        evaluated = sources if targets is None else targets.shape[0]
        units = evaluated * min(sources, most_pairs) if kind == "forces" else evaluated
        work = runs_on or Work(kind, units,
                               sources if targets is None else sources + evaluated, taken[0].dtype == "float32")
        self.call = Call(taken, context, device, threads, work)
        acceleration, potential = _both(out)
        sources = self._arrays["positions"]
        self.dimensions = sources.shape[1]
        shape = (self._arrays["targets"] or sources).shape
        self._results = (result("out[0]", acceleration, sources, shape, sources.dtype) if accelerates else None,
                         result("out[1]", potential, sources, shape[:1], sources.dtype) if has_potential else None)

    def show(self, *names):
        return [self.call.show(self._arrays[name]) for name in names]

    def results(self):
        return map(self.call.show, self._results)

    def done(self) -> Forces:
        self.call.done()
        return Forces(*(None if made is None else made.array for made in self._results))


def _both(out) -> tuple:
    if out is None:
        return None, None
    if not isinstance(out, (tuple, list)) or len(out) != 2:
        raise TypeError(f"out is {described(out)}; it must be a tuple of two arrays, of which one may be None")
    return tuple(out)


def forces(positions: ArrayLike, masses: ArrayLike | None = None, *, targets: ArrayLike | None = None,
           softening: float | ArrayLike = 0.0, target_softening: ArrayLike | None = None, g: float | None = None,
           law: str | Law | None = None, charges: ArrayLike | None = None, target_charges: ArrayLike | None = None,
           target_masses: ArrayLike | None = None, epsilon: ArrayLike | None = None, sigma: ArrayLike | None = None,
           want: str = "both", out: tuple[Any, Any] | None = None, solver: str = "auto", error: float | None = None,
           theta: float | None = None, order: int | None = None, cell: ArrayLike | None = None,
           periodic: bool | Sequence[bool] | None = None, cutoff: float | None = None, shift: str = "none",
           tail: bool = False, alpha: float | None = None, absolute_error: float | None = None,
           boundary: str = "tin-foil", grid: Sequence[int] | None = None, exclude: ArrayLike | None = None,
           totals: bool = False, method: str = "auto", block: int = 0, unroll: int = 0,
           device: str | Device = "auto", threads: int = 0, context: Context | None = None) -> Forces:
    """Gravitational accelerations and potentials of all bodies, or sums of any other law.

    ``a_i = G sum_j m_j (x_j - x_i) / (r^2 + eps^2)^(3/2)`` and
    ``phi_i = -G sum_j m_j / (r^2 + eps^2)^(1/2)``; j = i is left out unless there are targets. With a
    law, ``a_i = sum_j F_ij / m_i`` and ``phi_i = sum_j V(i, j)``.

    Parameters
    ----------
    positions : array_like, shape (m, 2) or (m, 3), or (systems, m, D)
        Positions of the sources. An array of NumPy, CuPy, PyTorch or JAX, of any strides; the computation is on its
        device. float32 gives single precision, everything else double. Several systems are computed separately:
        the results have that axis, and the other arrays may.
    masses : array_like, shape (m,), optional
        1 by default.
    targets : array_like, shape (n, 2) or (n, 3), optional
        Where the forces are evaluated; at the sources by default.
    softening : float or array_like, shape (m,)
        A length, in the unit of the positions; with one for each source, those of the targets are
        ``target_softening``. Lengths of bodies are supported by ``direct``, ``cutoff``, ``reference``, and
        ``tree`` on the CPU.
    target_softening : array_like, shape (n,), optional
        A length for each target.
    g : float, optional
        The gravitational constant, 1 by default.
    law : str or Law, optional
        A law other than gravity: see `kith.law`.
    charges : array_like, shape (m,), optional
        For laws with charges; 1 by default.
    target_charges : array_like, shape (n,), optional
        The charges of the targets; those of the sources by default, 1 for separate targets.
    target_masses : array_like, shape (n,), optional
        Those of the targets; 1 by default.
    epsilon, sigma : array_like, shape (m,), optional
        Of the law ``lennard-jones``, for each particle: pairs have ``sqrt(epsilon_i epsilon_j)`` and
        ``(sigma_i + sigma_j) / 2``. Without targets of their own.
    want : {'both', 'acceleration', 'potential', 'value'}
        What to compute; ``value`` is the sum of the values of the law, an energy for gravity too.
    out : tuple of two arrays, optional
        Where to write acceleration and potential; None in it means a new array.
    solver : {'auto', 'direct', 'cutoff', 'reference', 'tree', 'fmm', 'ewald', 'pme'}
        The algorithm; by default ``direct``, with a cutoff ``cutoff``, with an accuracy the faster of
        ``direct`` and ``fmm``.
    error : float, optional
        Accuracy of ``tree``, ``fmm``, ``ewald``, ``pme``: at most this rms over the targets of the error of the
        acceleration, relative to itself, or where contributions cancel to a tenth of the sum of their
        magnitudes; 1e-4 by default. Of ``ewald`` and ``pme`` relative to the rms force; by default 1e-12 and
        1e-4.
    theta : float, optional
        Instead of an error: the opening angle, less than 1.
    order : int, optional
        The order of the expansions, 1 to 20, or of the splines of ``pme``, 4 to 8; the best by default.
    cell : array_like, shape (3, 3) or (3,), optional
        With a cutoff, or of ``ewald`` and ``pme``, which sum all periodic images (``pme`` also of the law
        ``lennard-jones``): one cell vector per row, or the lengths of a box.
    periodic : bool or sequence of bool, optional
        Along which cell vectors space is periodic: all by default, or the first two.
    cutoff : float, optional
        Sum the pairs at distances less than the cutoff only, at every periodic image.
        Of ``ewald``: the pairs that are summed one by one; the cheapest by default.
    shift : {'none', 'energy', 'force'}
        With a cutoff: change the energy of a pair by a constant, so that it is 0 there, or so that the force is, too.
    tail : bool
        With a cutoff: add what lies beyond it at uniform density to the totals.
    alpha : float, optional
        For ``ewald`` and ``pme``: alpha of erfc(alpha r)/r; the cheapest by default.
    absolute_error : float, optional
        Instead of ``error``, of ``ewald`` and ``pme``: of the rms force, in its unit.
    boundary : {'tin-foil', 'vacuum'}
        For ``ewald`` and ``pme``: the boundary condition at infinity.
    grid : sequence of three int, optional
        For ``pme``: points along each cell vector; the cheapest by default.
    exclude : array_like of int, shape (p, 2), optional
        Pairs that do not interact at their nearest images; with a cutoff, or of ``ewald`` and ``pme``.
    totals : bool
        With a cutoff, or of ``ewald`` and ``pme``, and without targets: also compute ``Forces.totals``.
    method : {'auto', 'direct', 'reference', 'split', 'symmetric', 'tensor', 'tile-p', 'tile-p2'}
        Of the solver ``direct``, for comparisons.
    block, unroll : int
        Of the methods ``tile-p`` and ``tile-p2``.
    device : str or Device
        Where to compute with arrays in host memory: see `Context`.
    threads : int
        Threads of the CPU; 0 for as many as there are cores.
    context : Context, optional
        Replaces device and threads.

    Returns
    -------
    Forces
        Arrays of the library of the positions, on their device.

    Raises
    ------
    ValueError
        Shapes or devices do not fit, or a number is not finite: the message names the row.
    TypeError
        An argument has a wrong type, or an array holds no real numbers.

    Notes
    -----
    O(n m) work, by ``ewald`` O(n^1.5). The result has the same bits on every run and for every number of
    threads. On a GPU the call returns when the work is on the stream: numbers that are not finite are then
    reported by `Context.synchronize`.

    Examples
    --------
    >>> import kith
    >>> acceleration, potential = kith.forces([[0.0, 0, 0], [2.0, 0, 0]], [1.0, 4.0])
    >>> acceleration[0].tolist(), potential.tolist()
    ([1.0, 0.0, 0.0], [-2.0, -0.5])

    Two systems in one call:

    >>> kith.forces([[[0.0, 0], [2.0, 0]], [[0.0, 0], [1.0, 0]]], want="potential").potential.tolist()
    [[-0.5, -0.5], [-1.0, -1.0]]

    The potential of an ion in cesium chloride:

    >>> crystal = kith.forces([[0.0, 0, 0], [0.5, 0.5, 0.5]], charges=[1.0, -1.0], law="coulomb",
    ...                       solver="ewald", cell=[1.0, 1.0, 1.0])
    >>> [round(value, 9) for value in crystal.potential.tolist()]
    [-2.035361509, -2.035361509]
    """
    arrays = {"masses": masses, "targets": targets, "target_softening": target_softening, "charges": charges,
              "target_charges": target_charges, "target_masses": target_masses, "epsilon": epsilon,
              "sigma": sigma}
    if targets is not None and (epsilon is not None or sigma is not None):
        raise ValueError("epsilon and sigma are given, and targets: these columns are of sources that are the targets; "
                         "leave targets out")
    sources = needed("positions", positions, (2, 3))
    if is_batch(sources):
        if flag("totals", totals):
            raise ValueError("totals is True and positions has three axes; give one system")
        return _each(sources, arrays, out, softening, want=want, g=g, law=law, solver=solver, error=error,
                     theta=theta, order=order, cell=cell, periodic=periodic, cutoff=cutoff, shift=shift, tail=tail,
                     alpha=alpha, absolute_error=absolute_error, boundary=boundary, grid=grid, exclude=exclude,
                     method=method, block=block, unroll=unroll, device=device, threads=threads, context=context)
    is_exact = solver == "direct" or (solver == "auto" and error is None and theta is None)
    # A GPU is taken for these where one is named.
    kind = "images" if solver == "pme" else "forces" if cutoff is None else "near"
    runs_on = "cpu" if epsilon is not None or (cell is not None and kind == "forces") or solver == "ewald" else None
    if method in ("tensor", "tile-p", "tile-p2"):
        runs_on = "auto"  # the first GPU
    sums = PairSums(want, out, softening, context, device, threads, runs_on, math.inf if is_exact else PAIRS_OF_SOLVER,
                    kind, positions=sources, **arrays)
    found = sums.call.run(_kith.forces, *sums.show("targets", "positions", "masses"), *sums.results(),
                         handle_of(law), constant_of_gravity(g), sums.length,
                         *sums.show(*OF_BODIES, "epsilon", "sigma"), text("solver", solver),
                         *accuracy_of(error, theta, order),
                         chosen("method", method, _kith.forces_methods), integer32("block", block),
                         integer32("unroll", unroll), want == "value", optional(number, "cutoff", cutoff) or 0.0,
                         chosen("shift", shift, SHIFTS), flag("tail", tail),
                         *cells_of(cell, periodic, 3, 1), *images_of(alpha, absolute_error, boundary, grid),
                         pairs_of(exclude), flag("totals", totals))
    done = sums.done()
    if found is not None:
        energy, virial, volume = found
        done.totals = Totals(energy, numpy.array(virial).reshape(3, 3), volume, sums.dimensions)
    return done


def _each(positions, arrays, out, softening, **options) -> Forces:
    """Forces of each system of a batch."""
    if numpy.ndim(softening) == 0:
        options["softening"] = softening
    else:
        arrays = arrays | {"softening": softening}
    count, (accelerations, potentials) = positions.shape[0], _both(out)
    rows = {name: (value, 2 if name in _ROWS else 1) for name, value in arrays.items()}
    made = [forces(**system, out=(part_of(accelerations, k, count), part_of(potentials, k, count)), **options)
            for k, system in enumerate(systems_of(positions, rows))]
    (like,) = reals(positions)
    wanted = chosen("want", options["want"], _WANTED)
    targets = positions if arrays["targets"] is None else needed("targets", arrays["targets"])
    shapes = (targets.shape[-2:], targets.shape[-2:-1])
    return Forces(*(joined([each[k] for each in made], given, like, shapes[k], like.dtype) if wanted[k] else None
                    for k, given in enumerate((accelerations, potentials))))


def images_of(alpha, absolute_error, boundary, grid) -> tuple[float, float, int, list[int]]:
    """alpha, absolute_error, boundary and grid as the extension module takes them."""
    return (optional(number, "alpha", alpha) or 0.0, optional(number, "absolute_error", absolute_error) or 0.0,
            chosen("boundary", boundary, _kith.forces_boundaries),
            [] if grid is None else several(integer32, "grid", grid, (3,)))


def pairs_of(exclude):
    """The rows of excluded pairs; None stays None."""
    if exclude is None:
        return None
    pairs = host_array("exclude", exclude, (2,))
    if pairs.dtype.kind not in "iu" or pairs.shape[1] != 2:
        raise ValueError(f"exclude has shape {pairs.shape} and dtype {pairs.dtype}; give rows of two whole numbers")
    return numpy.ascontiguousarray(pairs, dtype=numpy.int64)
