"""The interaction matrix as an operator for the solvers of SciPy."""

from __future__ import annotations

import re

from kith._arguments import check_keywords
from kith._arrays import needed, reals, take
from kith._law import Law
from kith._law import law as law_of
from kith._matrix import _Question, matrix

_MIRRORED = {"dx": "(-dx)", "dy": "(-dy)", "dz": "(-dz)", "m_i": "m_j", "m_j": "m_i", "q_i": "q_j", "q_j": "q_i"}


def _transposed(law: Law) -> Law:
    """The law whose V(j, i) is V(i, j) of this one: those of the table are symmetric."""
    if not law.text.startswith("expr:"):
        return law
    text = re.sub(r"\b(d[xyz]|[mq]_[ij])\b", lambda found: _MIRRORED[found[0]], law.text)
    return law_of(text, **{name: law[name] for name in law.parameters})


def scipy_linear_operator(law, positions, masses=None, charges=None, **options):
    """The interaction matrix V of a law as a SciPy LinearOperator, never stored.

    Parameters
    ----------
    law : str or Law
        See `kith.law`.
    positions : array_like, shape (n, 2) or (n, 3)
        Of the particles of the rows.
    masses, charges : array_like, shape (n,), optional
        1 by default.
    **options
        columns, column_masses, column_charges, softening, symmetric, method, block, device, threads,
        context: as of `kith.matrix`. ``diagonal`` is V[i][i]: 0 by default, the value of the law with
        ``"keep"`` (for a kernel matrix), or a number.

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

    check_keywords("scipy_linear_operator", options, _Question)
    (points, weights, charged, others, other_weights, other_charges) = reals(
        needed("positions", positions, (2,)), take("masses", masses, (1,)), take("charges", charges, (1,)),
        *(take(name, options.pop(name, None), (1 + (name == "columns"),))
          for name in ("columns", "column_masses", "column_charges")))
    value = law_of(law)
    mirrored = _transposed(value)
    _Question(points, weights, charged, law=value, columns=others, column_masses=other_weights,
              column_charges=other_charges, **options)  # an error is raised here, not by the first product

    def forwards(b):
        return matrix.multiply(b, points, weights, charged, law=value, columns=others, column_masses=other_weights,
                               column_charges=other_charges, **options)

    def backwards(b):
        rows, columns = (others or points), (None if others is None else points)
        return matrix.multiply(b, rows, other_weights if others else weights, other_charges if others else charged,
                               law=mirrored, columns=columns, column_masses=weights if others else None,
                               column_charges=charged if others else None, **options)

    shape = (points.shape[0], (others or points).shape[0])
    return LinearOperator(shape, matvec=forwards, matmat=forwards, rmatvec=backwards, rmatmat=backwards,
                          dtype=points.dtype)
