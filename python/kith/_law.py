"""Laws: the value of a pair."""

from __future__ import annotations

import atexit
import functools
from collections.abc import Sequence
from typing import NamedTuple

from numpy.typing import ArrayLike

from kith import _kith
from kith._arguments import described, number, several
from kith._arguments import text as text_of


class LawInfo(NamedTuple):
    """A row of the table of laws; `laws` returns them.

    Attributes
    ----------
    name : str
        As ``yukawa``.
    arguments : str
        What is written after the colon of the text: ``L``, or ``[EPS,SIGMA]`` where it is optional.
    formula : str
        The value V(i, j) of a pair, as written after ``expr:``; r is the softened distance.
    parameters : str
        Names, default values and ranges of the parameters.
    at_zero : str
        Value and force at r = 0.
    units : str
        Units of the parameters and of the value.

    Examples
    --------
    >>> import kith
    >>> row = next(row for row in kith.laws() if row.name == "yukawa")
    >>> row.arguments, row.parameters
    ('L', 'L > 0, k = 1')
    """

    name: str
    arguments: str
    formula: str
    parameters: str
    at_zero: str
    units: str


class Law:
    """The value and the force of a pair of particles; `law` makes one.

    Parameters are read and set by their names: ``law["a"] = 2``. A law can be pickled and copied; the
    copy has parameters of its own.

    Parameters
    ----------
    text : str
        A name of the table with its arguments, or ``expr:`` and a formula: see `law`.
    **parameters : float
        The parameters, by their names.

    Attributes
    ----------
    parameters : tuple of str
        The names of the parameters that were given.

    Examples
    --------
    >>> import kith
    >>> law = kith.Law("expr: a*r", a=2.0)
    >>> law["a"] = 5.0
    >>> law["a"], law.parameters
    (5.0, ('a',))
    """

    def __init__(self, text: str, **parameters: float):
        if not isinstance(text, str):
            raise TypeError(f"law is {described(text)}; it must be a str or a kith.Law")
        names = [text_of("parameter", name) for name in parameters]
        values = [number(name, value) for name, value in parameters.items()]
        self._handle = _kith.parse_law(text_of("law", text), names, values)
        self.parameters = tuple(parameters)
        self._changed = set()

    @property
    def text(self) -> str:
        """The text from which the law was made.

        Returns
        -------
        str
            As ``yukawa:2.5``; parameters that were set later are not part of it.

        Examples
        --------
        >>> import kith
        >>> kith.law("yukawa:2.5").text
        'yukawa:2.5'
        """
        return self._handle.text

    def __getitem__(self, name: str) -> float:
        return self._handle.get(text_of("parameter", name))

    def __setitem__(self, name: str, value: float) -> None:
        self._handle.set(text_of("parameter", name), number(name, value))
        self._changed.add(name)

    def evaluate(self, d: Sequence[float] | ArrayLike, *, softening: float = 0.0, masses: Sequence[float] = (1.0, 1.0),
                 charges: Sequence[float] = (1.0, 1.0)) -> tuple[float, tuple[float, float, float]]:
        """The value of one pair and the force on its first particle, in double precision.

        Parameters
        ----------
        d : sequence of float
            x_j - x_i, two or three numbers.
        softening : float
            A length.
        masses, charges : sequence of two float
            Of i and of j.

        Returns
        -------
        value : float
            V(i, j).
        force : tuple of three float
            Minus the gradient of the value with respect to x_i.

        Examples
        --------
        >>> import kith
        >>> value, force = kith.law("gravity").evaluate([2, 0, 0], masses=(1, 4))
        >>> value, force[0]
        (-2.0, 1.0)
        """
        components = several(number, "d", d, (2, 3))
        components += [0.0] * (3 - len(components))
        return self._handle.evaluate(*components, number("softening", softening),
                                     *several(number, "masses", masses, (2,)),
                                     *several(number, "charges", charges, (2,)))

    def __reduce__(self):
        given = {name: self[name] for name in self.parameters}
        return _remade, (self.text, given, {name: self[name] for name in self._changed})

    def __repr__(self) -> str:
        return f"kith.law({self.text!r})"


def law(text: str | Law, **parameters: float) -> Law:
    """Makes a law from a text.

    Parameters
    ----------
    text : str or Law
        A name of the table with its arguments (``yukawa:2.5``, ``lennard-jones:1,3.4``), or ``expr:``
        and a formula of C in r, r2, dx, dy, dz, m_i, m_j, q_i, q_j and the parameters. A `Law` is
        returned as it is.
    **parameters : float
        The parameters, by their names.

    Returns
    -------
    Law
        A new law, unless ``text`` is one.

    Raises
    ------
    ValueError
        The law is unknown, the formula has a mistake, or parameters are missing or out of range.
    TypeError
        The text is not a str, or a parameter is not a number.

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
    return Law(text, **parameters)


def _remade(text, parameters, changed):
    """A law with the parameters that it had, of a pickle."""
    made = Law(text, **parameters)
    for name, value in changed.items():
        made[name] = value
    return made


def laws() -> list[LawInfo]:
    """Returns the table of built-in laws.

    Returns
    -------
    list of LawInfo
        One row for each law.

    Examples
    --------
    >>> import kith
    >>> [row.formula for row in kith.laws() if row.name == "yukawa"]
    ['k * q_i * q_j * exp(-r / L) / r']
    """
    return [LawInfo(**row) for row in _kith.laws()]


def handle_of(given):
    """The extension module's law of a text or a Law; None stays None."""
    if given is None:
        return None
    return (_law_of_text(given) if isinstance(given, str) else law(given))._handle


@functools.lru_cache(maxsize=64)
def _law_of_text(text) -> Law:
    """The law is not shared, so that its parameters do not change; it keeps the compiled code of its formula."""
    return Law(text)


atexit.register(_law_of_text.cache_clear)  # the extension module reports objects that outlive it
