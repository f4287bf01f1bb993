"""Laws: what the value of a pair is."""

from __future__ import annotations

from typing import NamedTuple

from kith import _kith


class LawInfo(NamedTuple):
    """A row of the table of laws."""

    name: str
    arguments: str
    formula: str
    force: str
    parameters: str
    at_zero: str
    units: str


class Law:
    """A law; `kith.law` makes one.

    Parameters are read and set by their names: ``law["a"] = 2``.

    Attributes
    ----------
    parameters : tuple of str
        The names of those that `kith.law` was given.
    """

    def __init__(self, handle, parameters=()):
        self._handle = handle
        self.parameters = tuple(parameters)

    @property
    def text(self) -> str:
        """The text that the law was made of, as ``yukawa:2.5``."""
        return self._handle.text

    def __getitem__(self, name: str) -> float:
        return self._handle.get(name)

    def __setitem__(self, name: str, value: float) -> None:
        self._handle.set(name, float(value))

    def evaluate(self, d, *, softening=0.0, masses=(1.0, 1.0), charges=(1.0, 1.0)):
        """The value of one pair and the force on its first particle, in double precision.

        Parameters
        ----------
        d : sequence of float
            x_j - x_i, two or three numbers.
        softening : float
            A length.
        masses, charges : pair of float
            Of i and of j.

        Returns
        -------
        value : float
        force : tuple of three floats
            Minus the gradient of the value by x_i.

        Examples
        --------
        >>> import kith
        >>> value, force = kith.law("gravity").evaluate([2, 0, 0], masses=(1, 4))
        >>> value, force[0]
        (-2.0, 1.0)
        """
        components = [float(number) for number in d]
        if len(components) not in (2, 3):
            raise ValueError(f"d has {len(components)} numbers; give 2 or 3")
        components += [0.0] * (3 - len(components))
        return self._handle.evaluate(*components, float(softening), *map(float, masses), *map(float, charges))

    def __repr__(self) -> str:
        return f"kith.law({self.text!r})"


def law(text: str | Law, **parameters: float) -> Law:
    """Makes a law of a text.

    Parameters
    ----------
    text : str
        A name of the table with its arguments (``yukawa:2.5``, ``lennard-jones:1,3.4``), or
        ``expr:`` and a formula of C in r, r2, dx, dy, dz, m_i, m_j, q_i, q_j and the parameters.
    **parameters : float
        By their names.

    Returns
    -------
    Law

    Raises
    ------
    ValueError
        An unknown law, a mistake in a formula, parameters missing or out of range.

    Examples
    --------
    >>> import kith
    >>> spring = kith.law("expr: k*(r - a)*(r - a)/2", k=2.0, a=1.0)
    >>> spring.evaluate([3, 0, 0])[0]
    4.0
    """
    if isinstance(text, Law):
        if parameters:
            raise ValueError("the law is made already; set its parameters as law['name'] = value")
        return text
    values = [float(value) for value in parameters.values()]
    return Law(_kith.parse_law(str(text), list(parameters), values), parameters)


def laws() -> list[LawInfo]:
    """The table of built-in laws.

    Examples
    --------
    >>> import kith
    >>> [row.formula for row in kith.laws() if row.name == "yukawa"]
    ['k q_i q_j e^(-s/L) / s']
    """
    return [LawInfo(**row) for row in _kith.laws()]


def handle_of(given):
    """The extension module's law of a text or a Law; None stays None."""
    return None if given is None else law(given)._handle
