"""Sums of formulas over pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from kith import _kith
from kith._arguments import chosen, described, flag, number, text
from kith._arrays import needed, reals, result, take
from kith._batch import is_batch, joined, part_of, systems_of
from kith._context import Call, Context, Device, Work
from kith._pairs import Pairs, cells_of


def items(name: str, given, is_needed: bool = False) -> list:
    """The items of a dict with names as keys; None has none."""
    if given is None and not is_needed:
        return []
    if not isinstance(given, Mapping):
        raise TypeError(f"{name} is {described(given)}; it must be a dict")
    return [(text(f"a name of {name}", key), value) for key, value in given.items()]


def formulas(name: str, given, is_needed: bool = False) -> list:
    """Formulas by their names."""
    return [(key, text(f"{name}[{key!r}]", formula)) for key, formula in items(name, given, is_needed)]


def _arrays(name: str, given) -> list:
    return [(key, needed(f"{name}[{key!r}]", values, (1,))) for key, values in items(name, given)]


def _columns(name: str, given) -> dict:
    """Columns of a batch: with the axis of systems, or for all."""
    return {key: needed(f"{name}[{key!r}]", values, (1, 2)) for key, values in items(name, given)}


def numbers(name: str, given) -> list:
    """Numbers by their names."""
    return [(key, number(f"{name}[{key!r}]", value)) for key, value in items(name, given)]


def sum(positions: ArrayLike, outputs: str | Mapping[str, str], *, cutoff: float | None = None,
        cell: ArrayLike | None = None, periodic: bool | Sequence[bool] | None = None, reduce: str = "sum",
        lets: Mapping[str, str] | None = None, parameters: Mapping[str, float] | None = None,
        columns: Mapping[str, ArrayLike] | None = None, targets: ArrayLike | None = None,
        target_columns: Mapping[str, ArrayLike] | None = None, include_self: bool = False, pairs: Pairs | None = None,
        out: Any = None, method: str = "auto", device: str | Device = "auto", threads: int = 0,
        context: Context | None = None) -> Any:
    """Sums of formulas over the pairs of each particle, within a cutoff or over all.

    ``results[i, k] = sum_j f_k(i, j)`` over the j at a distance less than the cutoff, at every periodic
    image; i = j only at an image, or with ``include_self``. A formula is in r, r2, dx, dy, dz
    (x_j - x_i), ``NAME_i`` and ``NAME_j`` of the columns, pi, parameters and lets.

    Parameters
    ----------
    positions : array_like, shape (m, D)
        Positions of the sources j, in 1 to 16 dimensions; in 2 or 3 with a cell, and on a GPU with a cutoff or pairs.
        Formulas of more than three have r and r2, but not dx, dy and dz. With shape (systems, m, D) each system is
        summed separately; targets, columns and the results have that axis too, or apply to all. float32 gives single
        precision, everything else double.
    outputs : str or dict of str
        A formula, or formulas by name; all are computed in one pass.
    cutoff : float, optional
        In the unit of the positions; all pairs by default.
    cell : array_like, shape (D, D) or (D,), optional
        One cell vector per row, or the lengths of a box; open space by default.
    periodic : bool or sequence of bool, optional
        Along which cell vectors space is periodic: all by default.
    reduce : {'sum', 'min', 'max', 'count', 'logsumexp'}
        The reduction of the values. Without neighbors min is infinite, max and logsumexp are minus
        infinity, the others 0.
    lets : dict of str, optional
        Named formulas, which later ones and the outputs can use.
    parameters : dict of float, optional
        Numbers by name.
    columns : dict of array_like, shape (m,), optional
        The columns of the sources, with any names; m and q are 1 by default.
    targets : array_like, shape (n, D), optional
        The particles i; the sources by default.
    target_columns : dict of array_like, shape (n,), optional
        The columns of targets that are not the sources.
    include_self : bool
        Include the pair of a particle with itself, at r = 0.
    pairs : Pairs, optional
        A full list of `kith.pairs` for these targets and sources, instead of a search: its pairs, at their
        current positions and, with a cutoff, only those within it. In a periodic cell it needs its shifts
        (``quantities="ijS"``).
    out : array, shape (n, outputs), optional
        Where to write the results.
    method : {'auto', 'reference'}
        ``reference`` needs no compiler: every pair in double precision, one thread.
    device : str or Device
        Where to compute with arrays in host memory: see `Context`.
    threads : int
        Threads of the CPU; 0 for as many as there are cores.
    context : Context, optional
        Replaces device and threads.

    Returns
    -------
    array, shape (n,), or dict of arrays
        One array for one formula, else arrays by the names of the outputs.

    Raises
    ------
    ValueError
        Shapes do not fit, a number is not finite, or a formula is invalid: the message shows where.
    TypeError
        An argument has a wrong type, or an array holds no real numbers.

    Notes
    -----
    O(n + m + pairs) work with a cutoff. The result has the same bits on every run and for every number of threads.

    Examples
    --------
    >>> import kith
    >>> x = [[0.0, 0, 0], [1.0, 0, 0], [3.0, 0, 0]]
    >>> kith.sum(x, "h_j / r", cutoff=1.5, columns={"h": [1.0, 2.0, 4.0]}).tolist()
    [2.0, 1.0, 0.0]
    >>> near = kith.sum(x, {"n": "1", "pull": "w * dx"}, lets={"w": "1 / r2"}, cutoff=1.5, cell=[3.5, 9, 9])
    >>> near["n"].tolist(), near["pull"].tolist()
    ([2.0, 1.0, 1.0], [-1.0, -1.0, 2.0])
    >>> kith.sum([[0.0] * 9, [1.0] * 9], "r", cutoff=3.5).tolist()
    [3.0, 3.0]
    """
    sources = needed("positions", positions, (2, 3))
    if is_batch(sources):
        return _each(sources, outputs, targets, columns, target_columns, out, cutoff=cutoff, cell=cell,
                     periodic=periodic, reduce=reduce, lets=lets, parameters=parameters, include_self=include_self,
                     pairs=pairs, method=method, device=device, threads=threads, context=context)
    wanted = [("value", text("outputs", outputs))] if isinstance(outputs, str) else formulas("outputs", outputs, True)
    of, at = _arrays("columns", columns), _arrays("target_columns", target_columns)
    taken = reals(sources, take("targets", targets, (2,)), *(values for _, values in of + at))
    sources, goals = taken[0], taken[1]
    names = [name for name, _ in of + at]
    call = Call(taken, context, device, threads, _work(method, pairs, cutoff, sources, goals))
    shown = [(name, call.show(values)) for name, values in zip(names, taken[2:])]
    made = result("out", out, sources, ((goals or sources).shape[0], len(wanted)), sources.dtype)
    cells, along = cells_of(cell, periodic, sources.shape[1], 1)
    call.run(_kith.sums, call.show(goals), shown[len(of):], call.show(sources), shown[:len(of)], wanted,
               call.show(made), _cutoff_of(cutoff), cells, along,
               chosen("reduce", reduce, _kith.sums_reductions), flag("include_self", include_self),
               formulas("lets", lets), numbers("parameters", parameters),
               chosen("method", method, _kith.sums_methods), *(call.show(array) for array in _list_of(pairs)))
    call.done()
    if isinstance(outputs, str):
        return made.array[:, 0]
    return {name: made.array[:, k] for k, (name, _) in enumerate(wanted)}


def _work(method: str, pairs, cutoff, sources, targets) -> Work | str:
    """What chooses the device: GPUs have no reference, and a list in host memory stays there."""
    rows, count = sources.shape[0], (targets or sources).shape[0]
    if method == "reference" or pairs is not None:
        return "cpu"
    return Work("sums" if cutoff is None else "near", count * rows if cutoff is None else count,
                rows if targets is None else rows + count, sources.dtype == "float32")


def _each(positions, outputs, targets, columns, target_columns, out, **options):
    """The sums of each system of a batch."""
    count = positions.shape[0]
    given = {"columns": _columns("columns", columns), "target_columns": _columns("target_columns", target_columns)}
    rows = {"targets": (targets, 2)} | {f"{side}[{key!r}]": (values, 1)
                                        for side, named in given.items() for key, values in named.items()}
    made = []
    for k, system in enumerate(systems_of(positions, rows)):
        own = {side: {key: system[f"{side}[{key!r}]"] for key in named} for side, named in given.items()}
        made.append(sum(system["positions"], outputs, targets=system["targets"], **own, out=part_of(out, k, count),
                        **options))
    (like,) = reals(positions)
    shape = (positions if targets is None else needed("targets", targets)).shape[-2:-1]
    if isinstance(outputs, str):
        return joined(made, None if out is None else out[:, :, 0], like, shape, like.dtype)
    return {name: joined([each[name] for each in made], None if out is None else out[:, :, k], like, shape, like.dtype)
            for k, (name, _) in enumerate(formulas("outputs", outputs))}


def _list_of(pairs) -> tuple:
    """Offsets, j and shifts."""
    if pairs is None:
        return None, None, None
    if not isinstance(pairs, Pairs):
        raise TypeError(f"pairs is {described(pairs)}; it must be a kith.Pairs")
    shifts = pairs.shifts if pairs._handle.shifts is not None else None
    return (take("pairs.offsets", pairs.offsets, (1,)), take("pairs.j", pairs.j, (1,)),
            take("pairs.shifts", shifts, (2,)))


def _cutoff_of(cutoff) -> float:
    if cutoff is None:
        return 0.0
    length = number("cutoff", cutoff)
    if length == 0:
        raise ValueError("cutoff is 0; it must be greater than 0, or None for all pairs")
    return length
