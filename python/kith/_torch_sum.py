"""Sums of formulas that PyTorch differentiates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from kith._arguments import described
from kith._context import Context, Device
from kith._sum import sum as _sum

_AXES = ("dx", "dy", "dz")
_DIFFERENTIABLE = ("sum", "logsumexp")


@dataclass(frozen=True)
class _Call:
    """Everything of a sum but its tensors."""

    outputs: tuple[str, ...]
    lets: Mapping[str, str]
    names: tuple[str, ...]  # of the columns of the sources
    target_names: tuple[str, ...] | None  # of the targets; None: the targets are the sources
    options: Mapping[str, Any]
    depth: int = 0  # how often it was differentiated

    @property
    def width(self) -> int:
        return len(self.names)

    def evaluate(self, positions, targets, columns):
        """Tensors of n x outputs."""
        found = _sum(positions, {f"o{k}": formula for k, formula in enumerate(self.outputs)}, lets=self.lets,
                     columns=dict(zip(self.names, columns)), targets=targets,
                     target_columns=dict(zip(self.target_names or (), columns[self.width:])), **self.options)
        return torch.stack(list(found.values()), 1)

    def energy(self, gradient, results):
        """The let E of a pair, whose sum over all pairs has the gradients requested, and its columns.

        E = sum_k g_k f_k; of log sum exp f_k it is g_k exp(f_k - the result).
        """
        mark = f"kith{self.depth}"
        terms, columns = [], {}
        for k, formula in enumerate(self.outputs):
            columns[f"{mark}_g{k}"] = gradient[:, k]
            if self.options["reduce"] == "logsumexp":
                columns[f"{mark}_o{k}"] = results[:, k]
                formula = f"exp(({formula}) - {mark}_o{k}_i)"
            terms.append(f"{mark}_g{k}_i * ({formula})")
        return f"{mark}_E", {f"{mark}_E": " + ".join(terms)}, columns

    def of_gradient(self, energy, lets, wanted, names, target_names):
        """The call for the derivatives of an energy by the place and the columns of its targets."""
        outputs = [f"-diff({energy}, {axis})" for axis in _AXES[: wanted[0]]]
        outputs += [f"diff({energy}, {name}_i)" for name in wanted[1]]
        return replace(self, outputs=tuple(outputs), lets={**self.lets, **lets}, names=names, target_names=target_names,
                       options={**self.options, "reduce": "sum"}, depth=self.depth + 1)


class _Sum(torch.autograd.Function):
    """Its gradients are sums of derivatives, in which targets and sources have changed places."""

    @staticmethod
    def forward(context, call, positions, targets, *columns):
        results = call.evaluate(positions, targets, columns)
        context.call = call
        context.save_for_backward(results, positions, targets, *columns)
        return results

    @staticmethod
    def backward(context, gradient):
        results, positions, targets, *columns = context.saved_tensors
        needs = context.needs_input_grad[1:]
        make = _of_one_set if targets is None else _of_two_sets
        return None, *make(context.call, needs, gradient, results, positions, targets, columns)


def _wanted(positions, needs_positions, names, needs_columns):
    """How many components of the gradient by positions, and the columns to differentiate by."""
    return (positions.shape[1] if needs_positions else 0,
            [name for name, needed in zip(names, needs_columns) if needed])


def _split(found, wanted, needs_columns):
    """The gradients by positions and by each column, None where not wanted."""
    rest = iter(found[:, wanted[0]:].unbind(1))
    return found[:, : wanted[0]] if wanted[0] else None, [next(rest) if needed else None for needed in needs_columns]


def _of_one_set(call, needs, gradient, results, positions, targets, columns):
    energy, lets, more = call.energy(gradient, results)
    wanted = _wanted(positions, needs[0], call.names, needs[2:])
    both = f"{energy}2"
    lets = {**lets, both: f"{energy} + swap({energy})"}
    next_call = call.of_gradient(both, lets, wanted, call.names + tuple(more), None)
    found = _Sum.apply(next_call, positions, None, *columns, *more.values())
    of_positions, of_columns = _split(found, wanted, needs[2:])
    return of_positions, None, *of_columns


def _of_two_sets(call, needs, gradient, results, positions, targets, columns):
    energy, lets, more = call.energy(gradient, results)
    at, of = columns[call.width:], columns[: call.width]
    at_needs, of_needs = needs[2 + call.width:], needs[2: 2 + call.width]
    of_positions, of_targets = None, None
    of_columns, at_columns = [None] * len(of), [None] * len(at)
    at_names = call.target_names + tuple(more)
    if needs[1] or any(at_needs):
        wanted = _wanted(positions, needs[1], call.target_names, at_needs)
        next_call = call.of_gradient(energy, lets, wanted, call.names, at_names)
        found = _Sum.apply(next_call, positions, targets, *of, *at, *more.values())
        of_targets, at_columns = _split(found, wanted, at_needs)
    if needs[0] or any(of_needs):
        wanted = _wanted(positions, needs[0], call.names, of_needs)
        other = f"{energy}2"
        next_call = call.of_gradient(other, {**lets, other: f"swap({energy})"}, wanted, at_names, call.names)
        found = _Sum.apply(next_call, targets, positions, *at, *more.values(), *of)
        of_positions, of_columns = _split(found, wanted, of_needs)
    return of_positions, of_targets, *of_columns, *at_columns


def _tensor(name, value, like):
    if value is None or isinstance(value, Tensor):
        return value
    return torch.as_tensor(value, dtype=like.dtype, device=like.device)


def _tensors(name, given, like):
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"{name} is {described(given)}; it must be a dict")
    return {key: _tensor(key, value, like) for key, value in (given or {}).items()}


def sum(positions: Tensor, outputs: str | Mapping[str, str], *, cutoff: float | None = None,
        cell: Any = None, periodic: bool | Sequence[bool] | None = None, reduce: str = "sum",
        lets: Mapping[str, str] | None = None, parameters: Mapping[str, float] | None = None,
        columns: Mapping[str, Tensor] | None = None, targets: Tensor | None = None,
        target_columns: Mapping[str, Tensor] | None = None, include_self: bool = False,
        device: str | Device = "auto", threads: int = 0, context: Context | None = None) -> Any:
    """`kith.sum` as tensors that can be differentiated any number of times.

    Derivatives are by the positions, the targets and the columns. They are those of the formulas: the
    jumps of a formula and at the cutoff have none, so that a formula should go to 0 at the cutoff.

    Parameters
    ----------
    positions : torch.Tensor, shape (m, 2) or (m, 3)
        Positions of the sources j.
    outputs : str or dict of str
        A formula, or formulas by name; all are computed in one pass.
    cutoff : float, optional
        In the unit of the positions; all pairs by default.
    cell : array_like, shape (D, D) or (D,), optional
        One cell vector per row, or the lengths of a box; a constant.
    periodic : bool or sequence of bool, optional
        Along which cell vectors space is periodic: all by default.
    reduce : {'sum', 'logsumexp', 'min', 'max', 'count'}
        The reduction of the values; the first two can be differentiated.
    lets : dict of str, optional
        Named formulas, which later ones and the outputs can use.
    parameters : dict of float, optional
        Numbers by name; constants.
    columns : dict of torch.Tensor, shape (m,), optional
        The columns of the sources.
    targets : torch.Tensor, shape (n, D), optional
        The particles i; the sources by default.
    target_columns : dict of torch.Tensor, shape (n,), optional
        The columns of targets that are not the sources.
    include_self : bool
        Include the pair of a particle with itself, at r = 0.
    device : str or Device
        Where to compute with arrays in host memory: see `kith.Context`; ``auto`` is the CPU.
    threads : int
        Threads of the CPU; 0 for as many as there are cores.
    context : Context, optional
        Replaces device and threads.

    Returns
    -------
    torch.Tensor, shape (n,), or dict of tensors
        One tensor for one formula, else tensors by the names of the outputs.

    Raises
    ------
    ValueError
        A tensor requires grad and the reduction has no derivative; as `kith.sum`.

    Notes
    -----
    A gradient is one sum over the pairs, of formulas that kith derives (``diff`` in formulas), or two
    if the targets are not the sources. Each set of formulas is compiled at its first use.

    Examples
    --------
    >>> import pytest; torch = pytest.importorskip("torch")
    >>> import kith.torch
    >>> x = torch.tensor([[0.0, 0.0], [2.0, 0.0]], dtype=torch.float64, requires_grad=True)
    >>> density = kith.torch.sum(x, "m_j * exp(-r2)", columns={"m": torch.tensor([1.0, 3.0]).double()})
    >>> density.sum().backward()
    >>> bool(torch.isclose(x.grad[0, 0], 16 * torch.tensor(-4.0).double().exp()))
    True
    """
    if not isinstance(positions, Tensor):
        raise TypeError(f"positions is {described(positions)}; it must be a torch.Tensor")
    of = _tensors("columns", columns, positions)
    targets = _tensor("targets", targets, positions)
    at = _tensors("target_columns", target_columns, positions)
    if targets is None and at:
        raise ValueError("target_columns is given without targets; pass targets, or the columns as columns")
    options = {"cutoff": cutoff, "cell": cell, "periodic": periodic, "reduce": reduce, "parameters": parameters,
               "include_self": include_self, "device": device, "threads": threads, "context": context}
    given = (positions, targets, *of.values(), *at.values())
    if not (torch.is_grad_enabled() and any(each is not None and each.requires_grad for each in given)):
        return _sum(positions, outputs, lets=lets, columns=of, targets=targets, target_columns=at, **options)
    if reduce not in _DIFFERENTIABLE:
        raise ValueError(f"reduce is {reduce!r}, which has no derivative; it must be 'sum' or 'logsumexp', or call "
                         "kith.torch.sum under torch.no_grad()")
    call = _Call((), dict(lets or {}), tuple(of), None if targets is None else tuple(at), options)
    if isinstance(outputs, str):
        return _Sum.apply(replace(call, outputs=(outputs,)), *given)[:, 0]
    if not include_self:
        found = _Sum.apply(replace(call, outputs=tuple(outputs.values())), *given)
        return {name: found[:, k] for k, name in enumerate(outputs)}
    # A pair at r = 0 counts for each formula that is finite there: their derivatives must not be one.
    return {name: _Sum.apply(replace(call, outputs=(formula,)), *given)[:, 0] for name, formula in outputs.items()}
