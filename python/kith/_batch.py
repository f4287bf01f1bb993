"""A leading axis of systems: a call for each, and the results joined."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kith._arrays import Made, Taken, take


def is_batch(positions: Taken) -> bool:
    return len(positions.shape) == 3


def systems_of(positions: Taken, arrays: dict[str, tuple[Any, int]]) -> Iterator[dict[str, Taken | None]]:
    """The arrays of each system.

    ``arrays`` has values by name, with their number of dimensions without the axis; those without it are
    of all systems.
    """
    count = positions.shape[0]
    taken = {"positions": positions} | {name: take(name, value, (ndim, ndim + 1))
                                        for name, (value, ndim) in arrays.items()}
    own = {"positions"} | {name for name, (_, ndim) in arrays.items()
                           if taken[name] is not None and len(taken[name].shape) > ndim}
    for name in own:
        if taken[name].shape[0] != count:
            raise ValueError(f"{name} has {taken[name].shape[0]} systems and positions {count}; give one of each")
    for k in range(count):
        yield {name: _system(array, k) if name in own else array for name, array in taken.items()}


def _system(taken: Taken, k: int) -> Taken:
    return Taken(taken.name, taken.array[k], taken.library, taken.device, taken.is_loose)


def part_of(out: Any, k: int, count: int) -> Any:
    """The part of a caller's array for system k."""
    if out is None:
        return None
    if len(out) != count:
        raise ValueError(f"out has {len(out)} systems and positions {count}; give one for each")
    return out[k]


def joined(results: list[Any], out: Any, like: Taken, shape: tuple[int, ...], dtype: str) -> Any:
    """The results of all systems in one array, or the caller's, which has them already."""
    if out is not None:
        return out
    return like.library.stack(results) if results else Made(like, (0, *shape), dtype).array
