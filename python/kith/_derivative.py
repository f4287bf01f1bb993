"""Derivatives of all-pairs forces along displacements of the bodies."""

from __future__ import annotations

from numpy.typing import ArrayLike

from kith import _kith
from kith._arguments import chosen
from kith._arrays import needed
from kith._context import Context, Device
from kith._forces import OF_BODIES, Forces, PairSums, constant_of_gravity
from kith._law import Law, handle_of


def forces_derivative(positions: ArrayLike, directions: ArrayLike, masses: ArrayLike | None = None, *,
                      targets: ArrayLike | None = None, target_directions: ArrayLike | None = None,
                      softening: float | ArrayLike = 0.0, target_softening: ArrayLike | None = None,
                      g: float | None = None, law: str | Law | None = None, charges: ArrayLike | None = None,
                      target_charges: ArrayLike | None = None, target_masses: ArrayLike | None = None,
                      want: str = "both", out: tuple | None = None, method: str = "auto",
                      device: str | Device = "auto", threads: int = 0, context: Context | None = None) -> Forces:
    """Derivatives of the results of `forces` along displacements of the bodies.

    ``Da_i = G sum_j m_j (u - 3 (d.u) d / s^2) / s^3`` and ``Dphi_i = G sum_j m_j d.u / s^3``, with
    ``d = x_j - x_i``, ``s^2 = |d|^2 + eps^2`` and u the direction of j minus that of i; with a law the
    derivatives of its forces over the masses, and of its values. ``-m_i Da_i`` is the product of the
    Hessian of the energy with the directions.

    Parameters
    ----------
    positions : array_like, shape (m, 2) or (m, 3)
        Positions of the sources.
    directions : array_like, shape (m, 2) or (m, 3)
        The displacement of each source.
    masses : array_like, shape (m,), optional
        1 by default.
    targets : array_like, shape (n, 2) or (n, 3), optional
        Where the forces are evaluated; at the sources by default.
    target_directions : array_like, shape (n, 2) or (n, 3), optional
        The displacement of each target; that of the sources by default, 0 for separate targets.
    softening : float or array_like, shape (m,)
        A length, in the unit of the positions, or one for each source.
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
    want : {'both', 'acceleration', 'potential', 'value'}
        What to differentiate.
    out : tuple of two arrays, optional
        Where to write the two derivatives; None in it means a new array.
    method : {'auto', 'direct', 'reference'}
        For comparisons.
    device : str or Device
        Where to compute with arrays in host memory: see `Context`.
    threads : int
        Threads of the CPU; 0 for as many as there are cores.
    context : Context, optional
        Replaces device and threads.

    Returns
    -------
    Forces
        The derivatives of acceleration and potential, arrays of the library of the positions, on
        their device.

    Raises
    ------
    ValueError
        Shapes or devices do not fit, or a number is not finite: the message names the row.
    TypeError
        An argument has a wrong type, or an array holds no real numbers.

    Notes
    -----
    n m pairs, each about twice the work of a force.

    Examples
    --------
    >>> import kith
    >>> change = kith.forces_derivative([[0.0, 0], [2.0, 0]], [[0.0, 0], [1.0, 0]])
    >>> change.acceleration.tolist(), change.potential.tolist()
    ([[-0.25, 0.0], [0.25, 0.0]], [0.25, 0.25])
    """
    sums = PairSums(want, out, softening, context, device, threads, positions=positions,
                    directions=needed("directions", directions, (2,)), masses=masses, targets=targets,
                    target_directions=target_directions, target_softening=target_softening, charges=charges,
                    target_charges=target_charges, target_masses=target_masses)
    _kith.forces_derivative(sums.call.handle, *sums.show("targets", "positions", "masses", "target_directions",
                                                         "directions"),
                            *sums.results(), handle_of(law), constant_of_gravity(g), sums.length,
                            *sums.show(*OF_BODIES), chosen("method", method, _kith.forces_methods), want == "value")
    return sums.done()
