"""All-pairs forces."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy
from numpy.typing import ArrayLike

from kith import _kith
from kith._arrays import reals, result, take
from kith._choice import chosen
from kith._context import Call, Context, Device
from kith._law import Law, handle_of


class Forces(NamedTuple):
    """What `forces` gives.

    Attributes
    ----------
    acceleration : array, shape (n, 2) or (n, 3)
        None if it was not wanted.
    potential : array, shape (n,)
        Of gravity per unit of mass, of other laws the energy of a body; None if it was not wanted.
    """

    acceleration: Any
    potential: Any


def constant_of_gravity(g) -> float:
    """G as the extension module takes it, where 0 stands for 1."""
    if g is None:
        return 0.0
    if g == 0:
        raise ValueError("g is 0, which leaves no force; give another, or masses of 0")
    return float(g)


_WANTED = {"both": (True, True), "acceleration": (True, False), "potential": (False, True), "value": (False, True)}


def forces(positions: ArrayLike, masses: ArrayLike | None = None, *, targets: ArrayLike | None = None,
           softening: float | ArrayLike = 0.0, target_softening: ArrayLike | None = None, g: float | None = None,
           law: str | Law | None = None, charges: ArrayLike | None = None, target_charges: ArrayLike | None = None,
           target_masses: ArrayLike | None = None, want: str = "both", out: tuple | None = None, method: str = "auto",
           block: int = 0, unroll: int = 0, device: str | Device = "auto", threads: int = 0,
           context: Context | None = None) -> Forces:
    """Gravity of all bodies at all bodies, with Plummer softening, or the sums of another law.

    ``a_i = G sum_j m_j (x_j - x_i) / (r^2 + eps^2)^(3/2)`` and
    ``phi_i = -G sum_j m_j / (r^2 + eps^2)^(1/2)``; j = i is left out unless there are targets. With a
    law, ``a_i = sum_j F_ij / m_i`` and ``phi_i = sum_j V(i, j)``.

    Parameters
    ----------
    positions : array_like, shape (m, 2) or (m, 3)
        Of the sources. Any array of NumPy, CuPy, PyTorch or JAX, of any strides; computed on where it
        is. float32 gives single precision, everything else double.
    masses : array_like, shape (m,), optional
        1 where there are none.
    targets : array_like, shape (n, 2) or (n, 3), optional
        Where the forces are wanted; the sources themselves if left out.
    softening : float or array_like, shape (m,)
        A length, in the unit of the positions; with one a source, those of the targets are
        ``target_softening``.
    g : float, optional
        The constant of gravity, 1 if left out.
    law : str or Law, optional
        Another law than gravity: see `kith.law`.
    charges, target_charges, target_masses : array_like, optional
        For laws that have them; 1 where there are none.
    want : {'both', 'acceleration', 'potential', 'value'}
        What to compute; ``value`` is the sum of the law's values, of gravity an energy too.
    out : tuple of two arrays, optional
        Where to write acceleration and potential; None in it for a new array.
    method : {'auto', 'direct', 'reference', 'split', 'symmetric', 'tile-p', 'tile-p2'}
        For comparisons.
    block, unroll : int
        Of the methods ``tile-p`` and ``tile-p2``.
    device : str
        Where to compute on arrays of the host: see `Context`.
    threads : int
        Of the CPU; 0 for as many as there are cores.
    context : Context, optional
        Instead of the two.

    Returns
    -------
    Forces
        Arrays of the positions' library, in their place.

    Raises
    ------
    ValueError
        Shapes, places, numbers that are not finite: the message names the row.
    TypeError
        An array holds no real numbers.

    Notes
    -----
    n m pairs of work. The result is the same, bit for bit, on every run and for every number of
    threads. On a GPU the call returns when the work is on the stream: numbers that are not finite
    are then told by `Context.synchronize`.

    Examples
    --------
    >>> import kith
    >>> acceleration, potential = kith.forces([[0.0, 0, 0], [2.0, 0, 0]], [1.0, 4.0])
    >>> acceleration[0].tolist(), potential.tolist()
    ([1.0, 0.0, 0.0], [-2.0, -0.5])
    """
    accelerates, has_potential = chosen("want", want, _WANTED)
    each = None if numpy.ndim(softening) == 0 else softening
    taken = reals(take("positions", positions, (2,)), take("masses", masses, (1,)), take("targets", targets, (2,)),
                  take("softening", each, (1,)), take("target_softening", target_softening, (1,)),
                  take("charges", charges, (1,)), take("target_charges", target_charges, (1,)),
                  take("target_masses", target_masses, (1,)))
    sources, weights, at, source_softening, softening_there, source_charges, charges_there, masses_there = taken

    call = Call(taken, context, device, threads)
    where = sources if at is None else at
    acceleration, potential = out or (None, None)
    to = result("out[0]", acceleration, sources, where.shape, sources.dtype) if accelerates else None
    also_to = result("out[1]", potential, sources, where.shape[:1], sources.dtype) if has_potential else None
    _kith.forces(call.handle, call.show(at), call.show(sources), call.show(weights), call.show(to),
                 call.show(also_to), handle_of(law), constant_of_gravity(g),
                 float(softening) if each is None else 0.0, call.show(source_softening),
                 call.show(softening_there), call.show(source_charges), call.show(charges_there),
                 call.show(masses_there), chosen("method", method, _kith.forces_methods), int(block), int(unroll),
                 want == "value")
    call.done()
    return Forces(*(None if made is None else made.array for made in (to, also_to)))
