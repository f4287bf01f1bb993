"""The interaction matrix as an operator for the solvers of SciPy."""

from __future__ import annotations

import re
from typing import Any

from numpy.typing import ArrayLike

from kith._arrays import needed, reals, take
from kith._context import Context, Device
from kith._law import Law
from kith._law import law as law_of
from kith._matrix import _Question, multiply

_MIRRORED = {"dx": "(-dx)", "dy": "(-dy)", "dz": "(-dz)", "m_i": "m_j", "m_j": "m_i", "q_i": "q_j", "q_j": "q_i"}


def _transposed(law: Law) -> Law:
    """The law whose V(j, i) is V(i, j) of this one: those of the table are symmetric."""
    if not law.text.startswith("expr:"):
        return law
    text = re.sub(r"\b(d[xyz]|[mq]_[ij])\b", lambda found: _MIRRORED[found[0]], law.text)
    return law_of(text, **{name: law[name] for name in law.parameters})


def scipy_linear_operator(law: str | Law, positions: ArrayLike, masses: ArrayLike | None = None,
                          charges: ArrayLike | None = None, *, columns: ArrayLike | None = None,
                          column_masses: ArrayLike | None = None, column_charges: ArrayLike | None = None,
                          softening: float = 0.0, diagonal: str | float = "zero", symmetric: bool = False,
                          method: str = "auto",
                          block: int = 0, device: str | Device = "auto", threads: int = 0,
                          context: Context | None = None) -> Any:
    """The interaction matrix V of a law as a SciPy LinearOperator, never stored.

    Parameters
    ----------
    law : str or Law
        See `kith.law`.
    positions : array_like, shape (n, 2) or (n, 3)
        Positions of the particles of the rows.
    masses, charges : array_like, shape (n,), optional
        1 by default.
    columns, column_masses, column_charges, softening : optional
        See `kith.matrix`.
    diagonal : {'zero', 'keep'} or float
        V[i][i]: 0 by default, the value of the law with 'keep' (for a kernel matrix), or a number.
    symmetric, method, block, device, threads, context : optional
        See `kith.matrix`.

    Returns
    -------
    scipy.sparse.linalg.LinearOperator, shape (n, m)
        Each product takes O(n m) work and O(n + m) memory.

    Examples
    --------
    >>> import kith
    >>> V = kith.scipy_linear_operator("distance", [[0.0, 0], [3.0, 4.0]])
    >>> (V @ [1.0, 2.0]).tolist()
    [10.0, 5.0]
    """
    from scipy.sparse.linalg import LinearOperator

    options: dict[str, Any] = {"softening": softening, "diagonal": diagonal, "symmetric": symmetric, "method": method,
                               "block": block, "device": device, "threads": threads, "context": context}
    (points, weights, charged, others, other_weights, other_charges) = reals(
        needed("positions", positions, (2,)), take("masses", masses, (1,)), take("charges", charges, (1,)),
        take("columns", columns, (2,)), take("column_masses", column_masses, (1,)),
        take("column_charges", column_charges, (1,)))
    value = law_of(law)
    mirrored = _transposed(value)
    _Question(points, weights, charged, law=value, columns=others, column_masses=other_weights,
              column_charges=other_charges, **options)  # an error is raised here, not by the first product

    def forwards(b):
        return multiply(b, points, weights, charged, law=value, columns=others, column_masses=other_weights,
                        column_charges=other_charges, **options)

    def backwards(b):
        rows, across = (others or points), (None if others is None else points)
        return multiply(b, rows, other_weights if others else weights, other_charges if others else charged,
                        law=mirrored, columns=across, column_masses=weights if others else None,
                        column_charges=charged if others else None, **options)

    shape = (points.shape[0], (others or points).shape[0])
    return LinearOperator(shape, matvec=forwards, matmat=forwards, rmatvec=backwards, rmatmat=backwards,
                          dtype=points.dtype)
