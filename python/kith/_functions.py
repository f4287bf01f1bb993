"""Functions with further functions as attributes: `kith.matrix` has `kith.matrix.reduce`."""

from __future__ import annotations

import inspect
from typing import TypeVar, cast

from kith import _collisions, _matrix

_Kind = TypeVar("_Kind")


def _function_of(kind: type[_Kind]) -> _Kind:
    """The plain function ``kind.__call__`` with the other members of the class as its attributes.

    Type checkers see an instance of the class, as annotations cannot describe attributes of functions.
    """
    members = {key: getattr(kind, key) for key in vars(kind) if key == "__call__" or not key.startswith("_")}
    function = members.pop("__call__")
    for key, member in members.items():
        setattr(function, key, member)
        if inspect.isfunction(member):
            member.__qualname__ = f"{function.__name__}.{key}"
    return cast(_Kind, function)


class _Matrix:
    __call__ = staticmethod(_matrix.matrix)
    write = staticmethod(_matrix.write)
    reduce = staticmethod(_matrix.reduce)
    histogram = staticmethod(_matrix.histogram)
    multiply = staticmethod(_matrix.multiply)


class _Collisions:
    __call__ = staticmethod(_collisions.collisions)
    methods = _collisions.methods
    choose = staticmethod(_collisions.choose)
    launch = staticmethod(_collisions.launch)
    groups = staticmethod(_collisions.groups)
    pairs = staticmethod(_collisions.pairs)
    contacts = staticmethod(_collisions.contacts)
    batch = staticmethod(_collisions.batch)


matrix = _function_of(_Matrix)
collisions = _function_of(_Collisions)
