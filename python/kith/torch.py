"""Energies and forces that PyTorch differentiates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy
import torch
from torch import Tensor

from kith._arguments import chosen
from kith._context import Context, Device
from kith._derivative import forces_derivative as _derivative
from kith._forces import forces as _forces
from kith._law import Law
from kith._law import law as _law
from kith._torch_sum import sum as sum

# Built-in laws whose energy is bilinear in a weight of the bodies: the derivatives by it are sums
# over pairs too.
_WEIGHT = {"gravity": "masses", "coulomb": "charges", "yukawa": "charges"}
_USES_MASSES = ("gravity", "sum", "product")


class _Sums:
    """Sums over the pairs of bodies by a law, and how they change along directions.

    With weights w (of gravity the masses, of coulomb and yukawa the charges), per unit of the
    target's weight: ``phi_i = sum_j w_j u(s)``, ``A_i = sum_j w_j f(s) d``. Without weights, and of
    all other laws: phi_i = sum_j V(i, j), and A_i the force.
    """

    def __init__(self, law, masses, charges, options):
        self._law, self._options = law, {**options, "law": law}
        self.weight = None if law is None else _WEIGHT.get(_name_of(law))
        self.weight = "masses" if law is None else self.weight
        self.weights = {"masses": masses, "charges": charges}.get(self.weight)
        self._masses = masses if self.weight is None else None
        self._charges = charges if self.weight is None else None
        if self.weights is None:
            self.weight = None

    def _columns(self, weights):
        if weights is None:
            return {"masses": self._masses, "charges": self._charges}
        if self.weight == "masses":
            return {"masses": weights}
        return {"charges": weights, "target_charges": torch.ones_like(weights)}

    def _force(self, acceleration):
        return acceleration if self._masses is None else acceleration * self._masses[:, None]

    def found(self, positions, weights):
        """A and phi, and the virial where totals are among the options."""
        found = _forces(positions, **self._columns(weights), **self._options)
        return self._force(found.acceleration), found.potential, found.totals and found.totals.virial

    def rates(self, positions, weights, of_targets, of_sources):
        """Their derivatives while the targets and the sources move in these directions."""
        options = {**self._options, "method": "reference" if self._options["method"] == "reference" else "auto"}
        found = _derivative(positions, of_sources, target_directions=of_targets, **self._columns(weights), **options)
        return self._force(found.acceleration), found.potential


class _Images(_Sums):
    """Sums over all periodic images, of which the second derivatives by positions are not known."""

    def __init__(self, law, masses, charges, options):
        super().__init__(law, masses, charges, options)
        if self.weight == "charges":  # a source has one charge: phi and A are those of gravity
            self._options = {**self._options, "law": None, "g": -law["k"]}

    def _columns(self, weights):
        return super()._columns(weights) if weights is None else {"masses": weights}

    def rates(self, positions, weights, of_targets, of_sources):
        raise NotImplementedError(f"solver {self._options['solver']!r} has second derivatives by masses and charges "
                                  "alone; this requires one by positions")

    def by_cell(self, positions, gradient, virial):
        """dE/dh of the cell's vectors, the rows of h.

        A strain of positions and cell together changes E by minus the virial; what the positions' part of it
        leaves is the cell's. The third vector of a slab has no part in E.
        """
        cell = self._options["cell"].detach().to("cpu", torch.float64)
        vectors = torch.diag(cell) if cell.ndim == 1 else cell.clone()
        is_slab = self._options["periodic"] is not None and not numpy.all(self._options["periodic"])
        if is_slab:
            vectors[2] = torch.linalg.cross(vectors[0], vectors[1])
        x, slope = (each.detach().to("cpu", torch.float64) for each in (positions, gradient))
        by_vectors = torch.linalg.solve(vectors.T, -(torch.from_numpy(virial) + slope.T @ x).T)
        if is_slab:
            by_vectors[2] = 0
        return (torch.diagonal(by_vectors) if cell.ndim == 1 else by_vectors).to(self._options["cell"])


def _name_of(law):
    return law.text.partition(":")[0].strip()


class _Last(torch.autograd.Function):
    """What was found from the inputs, which is not differentiated again: that raises."""

    @staticmethod
    def forward(context, found, *inputs):
        return found.view_as(found)

    @staticmethod
    def backward(context, *gradients):
        raise NotImplementedError("kith.torch has the first two derivatives of energies, the first by a cell, and the "
                                  "first of forces; this requires one more")


def _last(found, *inputs):
    return None if found is None else _Last.apply(found, *inputs)


def _times(weights, vectors):
    return vectors if weights is None else weights[:, None] * vectors


class _Energy(torch.autograd.Function):
    """E = 1/2 sum_i w_i phi_i, and its gradient, which the same evaluation gives."""

    @staticmethod
    def forward(context, positions, weights, cell, sums):
        *context.found, context.virial = sums.found(positions, weights)
        context.sums = sums
        context.save_for_backward(positions, weights, cell)
        potential = context.found[1]
        return 0.5 * (potential if weights is None else weights * potential).sum()

    @staticmethod
    def backward(context, gradient):
        positions, weights, cell = context.saved_tensors
        by_position, by_weight = _Gradient.apply(positions, weights, context.sums, *context.found)
        by_cell = None
        if context.needs_input_grad[2]:
            made = context.sums.by_cell(positions, by_position, context.virial)
            by_cell = gradient * _last(made, positions, weights, cell)
        return gradient * by_position, None if by_weight is None else gradient * by_weight, by_cell, None


class _Gradient(torch.autograd.Function):
    """dE/dx_i = -w_i A_i and dE/dw_i = phi_i."""

    @staticmethod
    def forward(context, positions, weights, sums, field, potential):
        context.set_materialize_grads(False)
        context.sums, context.field = sums, field
        context.save_for_backward(positions, weights)
        return -_times(weights, field), None if weights is None else potential.view_as(potential)

    @staticmethod
    def backward(context, along, by):
        positions, weights = map(_last, context.saved_tensors)
        return *_Hessian.apply(positions, weights, along, by, context.sums, context.field), None, None, None


class _Hessian(torch.autograd.Function):
    """The second derivatives of E times a direction: v of the positions, q of the weights.

    ``-(w DA + q A[w] + w A[q])`` and ``Dphi + phi[q]``, D the derivative along v.
    """

    @staticmethod
    def forward(context, positions, weights, along, by, sums, field):
        context.set_materialize_grads(False)
        context.sums, context.field = sums, field
        context.save_for_backward(positions, weights)
        of_field, of_potential = torch.zeros_like(field), torch.zeros_like(field[:, 0])
        if along is not None:
            found = sums.rates(positions, weights, along, along)
            of_field, of_potential = _times(weights, found[0]), found[1]
        if by is not None:
            of_weights = sums.found(positions, by)
            of_field = of_field + by[:, None] * field + _times(weights, of_weights[0])
            of_potential = of_potential + of_weights[1]
        return 0.0 - of_field, None if weights is None else of_potential

    @staticmethod
    def backward(context, along, by):
        positions, weights = context.saved_tensors
        product = _Hessian.apply(_last(positions), _last(weights), along, by, context.sums, context.field)
        ignored = [torch.zeros_like(each) if needed else None
                   for each, needed in zip((positions, weights), context.needs_input_grad)]
        return *ignored, *product, None, None


class _Field(torch.autograd.Function):
    """A, of weights."""

    @staticmethod
    def forward(context, positions, weights, sums):
        context.sums = sums
        context.save_for_backward(positions, weights)
        return sums.found(positions, weights)[0]

    @staticmethod
    def backward(context, gradient):
        return *_FieldBackward.apply(*map(_last, context.saved_tensors), gradient, context.sums), None


class _FieldBackward(torch.autograd.Function):
    """What g asks of A: the derivatives of sum_i g_i A_i by positions and weights.

    d and the tidal tensor of a pair change their sign and stay the same where i and j are exchanged, so
    that these are the derivatives of A and phi while only the sources, or only the targets, move.
    """

    @staticmethod
    def forward(context, positions, weights, gradient, sums):
        context.sums = sums
        context.save_for_backward(positions, weights)
        still = torch.zeros_like(gradient)
        of_field, of_potential = sums.rates(positions, torch.ones_like(weights), still, gradient)
        return _times(weights, of_field) + sums.rates(positions, weights, gradient, still)[0], -of_potential

    @staticmethod
    def backward(context, along, by):
        positions, weights = context.saved_tensors
        with torch.no_grad():
            found = (context.sums.rates(positions, weights, along, along)[0] +
                     context.sums.found(positions, by)[0])
        ignored = [torch.zeros_like(each) if needed else None
                   for each, needed in zip((positions, weights), context.needs_input_grad)]
        return *ignored, _last(found, positions, weights, along, by), None


def _needs_gradient(value) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad and torch.is_grad_enabled()


def _tensors(positions, *columns):
    if not isinstance(positions, torch.Tensor):
        raise TypeError(f"positions is {type(positions).__name__}; it must be a torch.Tensor")
    return [column if column is None or isinstance(column, torch.Tensor)
            else torch.as_tensor(column, dtype=positions.dtype, device=positions.device) for column in columns]


def _check_derivative(name, value, law, why):
    if _needs_gradient(value):
        raise NotImplementedError(f"{name} requires grad, and {why} law {law.text!r}; detach the {name}")


# Two particles that differ in all: x_j - x_i, masses, charges.
_UNLIKE = (((0.3, -0.7, 0.0), (1.5, 0.4), (0.8, -1.3)), ((-1.9, 0.6, 0.0), (0.7, 2.1), (-0.6, 1.1)))


def _check_symmetric(law):
    """Only of V(i, j) = V(j, i) are the forces the gradient of the energy."""
    for d, masses, charges in _UNLIKE:
        value, _ = law.evaluate(d, masses=masses, charges=charges)
        turned, _ = law.evaluate([-c for c in d], masses=masses[::-1], charges=charges[::-1])
        if abs(value - turned) > 1e-12 * (abs(value) + abs(turned)):
            raise ValueError(f"law {law.text!r} is not symmetric: V(i, j) is {value:g} and V(j, i) {turned:g}; "
                             "kith.torch differentiates symmetric laws, as (V(i, j) + V(j, i))/2 is")


def _prepared(positions, masses, charges, options, divides):
    """The law, masses and charges; what is asked of them and cannot be had is an error."""
    masses, charges = _tensors(positions, masses, charges)
    for name, value in options.items():
        if _needs_gradient(value):
            raise ValueError(f"{name} requires grad, and kith.torch has no derivative by it; pass {name}.detach()")
    law = options.pop("law")
    if law is None:
        return None, masses, charges
    law = _law(law)
    name = _name_of(law)
    is_formula = name == "expr"
    uses_masses = name in _USES_MASSES or (is_formula and re.search(r"\bm_[ij]\b", law.text))
    if name != "gravity" and (uses_masses or not divides):
        _check_derivative("masses", masses, law,
                          "kith knows no derivative by it of" if uses_masses else "it has no part in the energy of")
    if name not in ("coulomb", "yukawa"):
        uses_charges = is_formula and re.search(r"\bq_[ij]\b", law.text)
        _check_derivative("charges", charges, law,
                          "kith knows no derivative by it of" if uses_charges else "it has no part in")
    if is_formula and _needs_gradient(positions):
        _check_symmetric(law)
    return law, masses, charges


_SOLVERS = {"auto": False, "direct": False, "ewald": True, "pme": True}


def _sums_of(law, masses, charges, cell, options):
    """The sums by the solver, and the cell if it is to be differentiated by."""
    images = {name: options.pop(name) for name in ("periodic", "error", "absolute_error", "cutoff", "alpha", "grid",
                                                   "order", "boundary", "exclude")}
    solver = options.pop("solver")
    if not chosen("solver", solver, _SOLVERS):
        given = {"cell": cell, **images, "boundary": None if images["boundary"] == "tin-foil" else images["boundary"]}
        for name, value in given.items():
            if value is not None:
                raise ValueError(f"{name} is given, and solver {solver!r} sums no periodic images; give "
                                 "solver='pme' or 'ewald'")
        return _Sums(law, masses, charges, options), None
    needs = _needs_gradient(cell)
    if needs and cell.shape not in ((3,), (3, 3)):
        raise ValueError(f"cell has shape {tuple(cell.shape)}; give 3 lengths, or a vector a row")
    constant = cell.detach() if isinstance(cell, torch.Tensor) else cell
    return _Images(law, masses, charges, {**options, **images, "solver": solver, "cell": constant,
                                         "totals": needs}), cell if needs else None


def energy(positions: Tensor, masses: Tensor | None = None, *, charges: Tensor | None = None, softening: float = 0.0,
           g: float | None = None, law: str | Law | None = None, solver: str = "auto", cell: Any = None,
           periodic: bool | Sequence[bool] | None = None, error: float | None = None,
           absolute_error: float | None = None, cutoff: float | None = None, alpha: float | None = None,
           grid: Sequence[int] | None = None, order: int | None = None, boundary: str = "tin-foil",
           exclude: Any = None, method: str = "auto", device: str | Device = "auto", threads: int = 0,
           context: Context | None = None) -> Tensor:
    """The potential energy of all pairs, as a tensor with first and second derivatives.

    ``E = 1/2 sum_i m_i phi_i`` of gravity, half the sum of V(i, j) of another law; by the solvers ``ewald``
    and ``pme`` of all periodic images.

    Parameters
    ----------
    positions : torch.Tensor, shape (n, 2) or (n, 3)
        On the CPU or a GPU, where the energy is computed.
    masses : torch.Tensor, shape (n,), optional
        1 by default. Under gravity E can be differentiated by them.
    charges : torch.Tensor, shape (n,), optional
        For laws that have charges; 1 by default. Under coulomb and yukawa E can be differentiated
        by them.
    softening : float or torch.Tensor, shape (n,)
        A length, or one for each body; a constant.
    g : float, optional
        The gravitational constant, 1 by default; a constant, as all that follow.
    law : str or Law, optional
        A law other than gravity: see `kith.law`.
    solver : {'auto', 'direct', 'ewald', 'pme'}
        ``direct``, the default, sums all pairs in open space. ``ewald`` and ``pme`` sum all images of a cell, on the
        CPU, under gravity, ``coulomb`` and ``power:1``; they have second derivatives by masses and charges only.
    cell : array_like or torch.Tensor, shape (3, 3) or (3,), optional
        Of ``ewald`` and ``pme``: one vector per row, or the lengths of a box. E can be differentiated once by a
        tensor, at constant positions.
    periodic : bool or sequence of bool, optional
        Along which vectors: all by default, or the first two.
    error : float, optional
        Of ``ewald`` and ``pme``, relative to the rms force; by default 1e-12 and 1e-4.
    absolute_error : float, optional
        Instead of ``error``: of the rms force, in its unit.
    cutoff : float, optional
        Of ``ewald`` and ``pme``: the pairs that are summed one by one. With cutoff, alpha, grid and order E is one
        smooth function; otherwise they are chosen for each call, and E changes within the error where they change.
    alpha : float, optional
        Of ``ewald`` and ``pme``: of erfc(alpha r)/r.
    grid : sequence of three int, optional
        Of ``pme``: points along each cell vector.
    order : int, optional
        Of ``pme``: of the splines, 4 to 8.
    boundary : {'tin-foil', 'vacuum'}
        What is around the images.
    exclude : array_like of int, shape (p, 2), optional
        Pairs that do not interact at their nearest images.
    method : str
        See `kith.forces`; derivatives take ``reference`` or the fastest.
    device : str or Device
        Where to compute with tensors in host memory.
    threads : int
        Threads of the CPU; 0 for as many as there are cores.
    context : Context, optional
        Replaces device and threads.

    Returns
    -------
    torch.Tensor
        A number.

    Raises
    ------
    NotImplementedError
        A tensor requires grad by which the law has no derivative; a third derivative, or a second one that the
        solver does not have.
    ValueError
        Another option requires grad; the formula of the law is not symmetric in i and j.

    Notes
    -----
    The forward pass takes one evaluation of all forces, the backward pass one product. With ``create_graph=True``
    the gradient can be differentiated again, as force matching and ``torch.autograd.functional.hvp``
    do: a product of the Hessian with a vector is one evaluation of `kith.forces_derivative`, and one
    more of the forces with respect to masses or charges.

    Examples
    --------
    >>> import pytest; torch = pytest.importorskip("torch")
    >>> import kith.torch
    >>> x = torch.tensor([[0.0, 0.0], [2.0, 0.0]], dtype=torch.float64, requires_grad=True)
    >>> E = kith.torch.energy(x)
    >>> E.backward()
    >>> E.item(), x.grad.tolist()
    (-0.5, [[-0.25, -0.0], [0.25, -0.0]])
    >>> torch.autograd.functional.hessian(kith.torch.energy, x)[0, 0, 0].tolist()
    [-0.25, 0.0]

    Cesium chloride, and the pressure that would hold its cell together:

    >>> a = torch.tensor([1.0, 1.0, 1.0], dtype=torch.float64, requires_grad=True)
    >>> ions = torch.tensor([[0.0, 0, 0], [0.5, 0.5, 0.5]], dtype=torch.float64)
    >>> q = torch.tensor([1.0, -1.0], dtype=torch.float64)
    >>> E = kith.torch.energy(ions * a, charges=q, law="coulomb", solver="ewald", cell=a)
    >>> E.backward()
    >>> round(E.item(), 9), [round(slope, 9) for slope in a.grad.tolist()]
    (-2.035361509, [0.67845384, 0.67845384, 0.67845384])
    """
    options = {"softening": softening, "g": g, "law": law, "method": method, "device": device, "threads": threads,
               "context": context, "solver": solver, "periodic": periodic, "error": error,
               "absolute_error": absolute_error, "cutoff": cutoff, "alpha": alpha, "grid": grid, "order": order,
               "boundary": boundary, "exclude": exclude}
    law, masses, charges = _prepared(positions, masses, charges, options, divides=False)
    sums, variable_cell = _sums_of(law, masses, charges, cell, options)
    return _Energy.apply(positions, sums.weights, variable_cell, sums)


def forces(positions: Tensor, masses: Tensor | None = None, *, charges: Tensor | None = None, softening: float = 0.0,
           g: float | None = None, law: str | Law | None = None, method: str = "auto", device: str | Device = "auto",
           threads: int = 0, context: Context | None = None) -> Tensor:
    """The accelerations of all bodies, as a tensor with first derivatives.

    Parameters
    ----------
    positions : torch.Tensor, shape (n, 2) or (n, 3)
        The accelerations under every law can be differentiated by them.
    masses : torch.Tensor, shape (n,), optional
        1 by default. The accelerations can be differentiated by them, unless they are used in a formula.
    charges : torch.Tensor, shape (n,), optional
        For laws that have charges; 1 by default. Under coulomb and yukawa the accelerations can be
        differentiated by them.
    softening : float or torch.Tensor, shape (n,)
        A length, or one for each body; a constant.
    g : float, optional
        The gravitational constant, 1 by default; a constant, as all that follow.
    law : str or Law, optional
        A law other than gravity: see `kith.law`.
    method : str
        See `kith.forces`; derivatives take ``reference`` or the fastest.
    device : str or Device
        Where to compute with tensors in host memory.
    threads : int
        Threads of the CPU; 0 for as many as there are cores.
    context : Context, optional
        Replaces device and threads.

    Returns
    -------
    torch.Tensor, shape (n, 2) or (n, 3)
        Those of `kith.forces`.

    Raises
    ------
    NotImplementedError
        A tensor requires grad, but the law has no derivative with respect to it; a second derivative.
    ValueError
        Another option requires grad; the formula of the law is not symmetric in i and j.

    Notes
    -----
    The backward pass takes one evaluation of `kith.forces_derivative`, two with weights.

    Examples
    --------
    >>> import pytest; torch = pytest.importorskip("torch")
    >>> import kith.torch
    >>> kith.torch.forces(torch.tensor([[0.0, 0.0], [2.0, 0.0]])).tolist()
    [[0.25, 0.0], [-0.25, 0.0]]
    """
    options = {"softening": softening, "g": g, "law": law, "method": method, "device": device, "threads": threads,
               "context": context}
    law, masses, charges = _prepared(positions, masses, charges, options, divides=True)
    if not any(map(_needs_gradient, (positions, masses, charges))):
        return _forces(positions, masses, charges=charges, law=law, want="acceleration", **options).acceleration
    sums = _Sums(law, masses, charges, options)
    if sums.weight is None:
        force = -_Gradient.apply(positions, None, sums, *_without_gradient(sums, positions))[0]
    else:
        field = _Field.apply(positions, sums.weights, sums)
        if sums.weight == "masses":
            return field
        force = sums.weights[:, None] * field
    return force if masses is None else force / masses[:, None]


def _without_gradient(sums, positions):
    with torch.no_grad():
        return sums.found(positions, None)[:2]
