"""Arguments that are not arrays: numbers, flags, text, paths and keywords.

Each function returns the argument as the extension module takes it. A wrong type is a TypeError, an invalid
value a ValueError; both name the argument.
"""

from __future__ import annotations

import difflib
import operator
import os
import reprlib

import numpy

_INT32, _INT64 = 1 << 31, 1 << 63


def described(value) -> str:
    """A value in a message, short and on one line."""
    if isinstance(value, int) and value.bit_length() > 128:
        return f"an integer of {value.bit_length()} bits"
    if value is None or isinstance(value, (str, bytes, int, float, complex)):
        return reprlib.repr(value)
    return f"of type {type(value).__name__}"


def check_constant(name: str, value) -> None:
    """Refuses a tensor of PyTorch whose operations are recorded: the result would have no gradient."""
    if getattr(value, "requires_grad", False):
        import torch

        if torch.is_grad_enabled():
            raise ValueError(f"{name} requires grad, and this function has no derivative by it; use kith.torch.energy, "
                             f"kith.torch.forces or kith.torch.sum, or pass {name}.detach()")


def number(name: str, value) -> float:
    """A real number: of Python, of NumPy, or an array without dimensions."""
    if type(value) is float:
        return value
    check_constant(name, value)
    given = value.item() if isinstance(value, (numpy.ndarray, numpy.generic)) and value.ndim == 0 else value
    if not isinstance(given, (str, bytes, bytearray)) and getattr(given, "ndim", 0) == 0:
        try:
            return float(given)
        except OverflowError:
            raise ValueError(f"{name} is {described(given)}; it must be a number of 64 bits") from None
        except (TypeError, ValueError, RuntimeError):
            pass
    raise TypeError(f"{name} is {described(value)}; it must be a number")


def integer(name: str, value, low: int = -_INT64, high: int = _INT64 - 1) -> int:
    """An integer in the range of the library's counts."""
    try:
        whole = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {described(value)}; it must be an integer") from None
    if not low <= whole <= high:
        rule = f"at least {low}" if high == _INT64 - 1 and whole < low else f"from {low} to {high}"
        raise ValueError(f"{name} is {described(whole)}; it must be {rule}")
    return whole


def integer32(name: str, value) -> int:
    """An integer of 32 bits."""
    return integer(name, value, -_INT32, _INT32 - 1)


def flag(name: str, value) -> bool:
    """True or False, or 1 or 0."""
    if isinstance(value, (bool, numpy.bool_)):
        return bool(value)
    try:
        whole = operator.index(value)
    except TypeError:
        whole = None
    if whole not in (0, 1):
        raise TypeError(f"{name} is {described(value)}; it must be True or False")
    return bool(whole)


def text(name: str, value) -> str:
    """A string without zero bytes, which would end it in the library."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is {described(value)}; it must be a str")
    try:
        encoded = value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} is {described(value)}; it must be valid UTF-8") from None
    if b"\0" in encoded:
        raise ValueError(f"{name} is {described(value)}; it must not have a zero byte")
    return value


def path_of(name: str, value) -> str:
    """A file's name, of a str, bytes or os.PathLike."""
    try:
        decoded = os.fsdecode(value)
    except TypeError:
        raise TypeError(f"{name} is {described(value)}; it must be a str or os.PathLike") from None
    return text(name, decoded)


def optional(convert, name: str, value):
    """The argument converted; None stays None."""
    return None if value is None else convert(name, value)


def several(convert, name: str, values, counts=None) -> list:
    """The elements of a sequence, each converted; of one of the counts, if these are given."""
    try:
        listed = None if isinstance(values, (str, bytes)) else list(values)
    except TypeError:
        listed = None
    if listed is None:
        raise TypeError(f"{name} is {described(values)}; it must be a sequence")
    if counts and len(listed) not in counts:
        raise ValueError(f"{name} has {len(listed)} elements; it must have {' or '.join(map(str, counts))}")
    return [convert(f"{name}[{k}]", value) for k, value in enumerate(listed)]


def chosen(name: str, word, table):
    """The row of a table that a word chooses."""
    if not isinstance(word, str):
        raise TypeError(f"{name} is {described(word)}; it must be one of {', '.join(map(repr, table))}")
    if word in table:
        return table[word]
    raise ValueError(f"{name} is {described(word)}; it must be one of {', '.join(map(repr, table))}"
                     f"{_hint(word, table)}")


def _hint(word, table) -> str:
    near = difflib.get_close_matches(word, table, 1)
    return f"; did you mean {near[0]!r}?" if near else ""
