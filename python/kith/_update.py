"""Updates of columns by formulas."""

from __future__ import annotations

from collections.abc import Mapping

from numpy.typing import ArrayLike

from kith import _kith
from kith._arrays import Given, needed, reals
from kith._context import Call, Context, Device
from kith._sum import formulas, items, numbers


def update(columns: Mapping[str, ArrayLike], updates: Mapping[str, str], *, lets: Mapping[str, str] | None = None,
           parameters: Mapping[str, float] | None = None, device: str | Device = "auto", threads: int = 0,
           context: Context | None = None) -> None:
    """Updates columns by formulas, in place.

    ``columns[k][i] = f_k(i)`` for each particle i and each of the updates. A formula is in ``NAME_i`` of the columns,
    pi, parameters and lets, as in `sum`. All are evaluated before any column changes. With a sum of the forces an
    update is a time step.

    Parameters
    ----------
    columns : dict of array_like, shape (n,)
        The columns of the particles, with any names, all float64 or all float32; coordinates are columns too, as
        ``x[:, 0]``. Those that updates name are overwritten: arrays of NumPy, CuPy or PyTorch.
    updates : dict of str
        Formulas by the names of their columns.
    lets : dict of str, optional
        Named formulas, which later ones and the updates can use.
    parameters : dict of float, optional
        Numbers by name.
    device : str or Device
        Where to compute with arrays in host memory: the CPU by default.
    threads : int
        Threads of the CPU; 0 for as many as there are cores.
    context : Context, optional
        Replaces device and threads.

    Raises
    ------
    ValueError
        Shapes or number types do not fit, columns overlap, a formula is invalid or has a variable of pairs.
    TypeError
        An argument has a wrong type, or a column that is updated cannot be written.

    Notes
    -----
    O(n) work; columns are read and written once. The result has the same bits on every run and for every number of
    threads. NaN and infinity are no errors.

    Examples
    --------
    >>> import kith, numpy
    >>> x, v = numpy.array([0.0, 1.0]), numpy.array([1.0, -2.0])
    >>> kith.update({"x": x, "v": v}, {"x": "x_i + dt * w", "v": "w"}, lets={"w": "v_i - dt * x_i"},
    ...             parameters={"dt": 0.5})
    >>> x.tolist(), v.tolist()
    ([0.5, -0.25], [1.0, -2.5])
    """
    wanted = formulas("updates", updates, True)
    given = [(name, values, needed(f"columns[{name!r}]", values, (1,)))
             for name, values in items("columns", columns, True)]
    for argument, entries in ("columns", given), ("updates", wanted):
        if not entries:
            raise ValueError(f"{argument} is empty; give at least one")
    taken = reals(*(values for _, _, values in given))
    call = Call(taken, context, device, threads, "cpu")
    targets, others = [], []
    for (name, original, _), values in zip(given, taken):
        if any(name == updated for updated, _ in wanted):
            target = Given(f"columns[{name!r}]", original, taken[0], taken[0].shape, taken[0].dtype,
                           "give one of NumPy, CuPy or PyTorch")
            targets.append((name, call.show(target)))
        else:
            others.append((name, call.show(values)))
    call.run(_kith.update, targets, others, wanted, formulas("lets", lets), numbers("parameters", parameters))
