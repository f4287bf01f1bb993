"""Orbital elements of bodies about a star."""

from __future__ import annotations

import numpy
from numpy.typing import ArrayLike

from kith import _kith
from kith._arguments import chosen
from kith._bodies import Bodies
from kith._forces import constant_of_gravity

_NAMES = ("a", "e", "i", "Omega", "omega", "M", "q", "true_anomaly", "mean_motion", "period")
ORBIT = numpy.dtype([(name, numpy.float64) for name in _NAMES])


def orbits(positions: Bodies | ArrayLike, velocities: ArrayLike | None = None, masses: ArrayLike | None = None, *,
           g: float | None = None, coordinates: str = "heliocentric") -> numpy.ndarray:
    """Computes the orbital elements of all bodies but the first, the star.

    Angles are in radians. Where an angle is undefined it is 0: ``Omega`` for an inclination of 0 or pi, ``omega``
    for a circle.

    Parameters
    ----------
    positions : Bodies, or array_like of shape (n, 2) or (n, 3)
        The first body is the star. Bodies have velocities, masses and g. NaN: the body has been removed, and its
        orbit is NaN.
    velocities : array_like, shape (n, D), optional
        0 by default.
    masses : array_like, shape (n,), optional
        1 by default.
    g : float, optional
        The gravitational constant; that of the bodies by default, otherwise 1.
    coordinates : {'heliocentric', 'jacobi', 'barycentric'}
        The center of the orbits: the star, the center of mass of all bodies before this one, or that of all bodies.

    Returns
    -------
    numpy.ndarray, shape (n - 1,)
        A structured array, row k - 1 of body k, with the fields ``a`` (negative for a hyperbola, infinite for a
        parabola), ``e``, ``i``, ``Omega``, ``omega``, ``M``, ``q`` (the pericenter distance), ``true_anomaly``,
        ``mean_motion`` and ``period``.

    Raises
    ------
    ValueError
        The star has no mass, or a body is at the center of its coordinates.

    Examples
    --------
    >>> import kith
    >>> orbits = kith.orbits(kith.make("outer-solar-system"), coordinates="jacobi")
    >>> orbits["a"].round(1).tolist()
    [5.2, 9.5, 19.2, 30.1, 39.5]
    """
    given = {"velocities": velocities, "masses": masses}
    if isinstance(positions, Bodies):
        changed = {name: column for name, column in given.items() if column is not None}
        bodies = Bodies(**positions._arguments() | changed) if changed else positions
    else:
        bodies = Bodies(positions, **given)
    made = numpy.empty(max(len(bodies) - 1, 0), dtype=ORBIT)
    numbers = made.view(numpy.float64).reshape(len(made), len(_NAMES))
    _kith.compute_orbits(bodies._handle, constant_of_gravity(g),
                         chosen("coordinates", coordinates, _kith.orbit_coordinates), numbers)
    return made
