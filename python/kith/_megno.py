"""Chaos of a trajectory: MEGNO and the Lyapunov time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy
from numpy.typing import ArrayLike

from kith import _kith
from kith._arguments import integer, number
from kith._bodies import Bodies
from kith._context import Call, Context
from kith._forces import constant_of_gravity

SAMPLE = numpy.dtype([(name, numpy.float64) for name in ("time", "megno", "mean_megno", "growth")])


@dataclass(frozen=True)
class Megno:
    """The chaos of a trajectory: what `kith.megno` returns.

    Attributes
    ----------
    megno : float
        MEGNO at the end.
    mean_megno : float
        Its mean over the time: 2 on a regular orbit, half the Lyapunov exponent times the time on a chaotic one.
    lyapunov_exponent : float
        The slope of the growth over the second half of the time.
    lyapunov_time : float
        Its inverse; infinite if the exponent is not greater than 0.
    steps : int
        Those of the integrator ``ias15``.
    samples : numpy.ndarray, shape (k,)
        A structured array with the fields ``time``, ``megno``, ``mean_megno`` and ``growth``, the logarithm of the
        displacement over that at the start.

    Examples
    --------
    >>> import kith
    >>> kith.megno(kith.make("two-body"), until=1000.0).lyapunov_time > 500
    True
    """

    megno: float
    mean_megno: float
    lyapunov_exponent: float
    lyapunov_time: float
    steps: int
    samples: numpy.ndarray


def megno(positions: Bodies | ArrayLike, velocities: ArrayLike | None = None, masses: ArrayLike | None = None, *,
          until: float, dt: float = 0.0, g: float | None = None, softening: float = 0.0, samples: int = 0,
          seed: int = 0, context: Context | None = None) -> Megno:
    """Computes MEGNO and the Lyapunov time of bodies under gravity, by variational equations.

    Parameters
    ----------
    positions : Bodies, or array_like of shape (n, 2) or (n, 3)
        Bodies have velocities, masses, time and g.
    velocities : array_like, shape (n, D), optional
        0 by default.
    masses : array_like, shape (n,), optional
        1 by default; bodies of mass 0 are test particles.
    until : float
        The time of the end.
    dt : float
        The first step; 0: a thousandth of the time.
    g : float, optional
        The gravitational constant; that of the bodies by default, otherwise 1.
    softening : float
        A length.
    samples : int
        The number of samples to return, at equal times.
    seed : int
        Seed of the direction of the initial displacement.
    context : Context, optional
        A context on the CPU; see `kith.forces`.

    Returns
    -------
    Megno
        With the values at the end, and the samples.

    Raises
    ------
    ValueError
        A value is out of range, or bodies collide.

    Examples
    --------
    >>> import kith
    >>> chaos = kith.megno(kith.make("two-body", eccentricity=0.3), until=2000.0, samples=10)
    >>> round(chaos.mean_megno), len(chaos.samples)
    (2, 10)
    """
    given = {"velocities": velocities, "masses": masses}
    if isinstance(positions, Bodies):
        changed = {name: column for name, column in given.items() if column is not None}
        bodies = Bodies(**positions._arguments() | changed) if changed else positions
    else:
        bodies = Bodies(positions, **given)
    if bodies.velocities is None:
        bodies = Bodies(**bodies._arguments() | {"velocities": numpy.zeros_like(bodies.positions)})
    call = Call((), context, "cpu" if context is None else "auto", 1 if context is None else 0)
    made = numpy.empty(integer("samples", samples, 0), dtype=SAMPLE)
    end = _kith.compute_megno(call.handle, bodies._handle, number("until", until), number("dt", dt),
                              constant_of_gravity(g), number("softening", softening), integer("seed", seed),
                              made.view(numpy.float64).reshape(len(made), len(SAMPLE.names)))
    return Megno(*end, samples=made)
