"""Energies and forces that PyTorch differentiates."""

from __future__ import annotations

import torch

from kith._forces import forces as _forces
from kith._law import law as _law
from kith._matrix import matrix as _matrix


def _is_gravity(law) -> bool:
    return law is None or _law(law).text == "gravity"


class _Energy(torch.autograd.Function):
    """E and its gradient, which one evaluation of the forces gives: dE/dx_i = -m_i a_i."""

    @staticmethod
    def forward(context, positions, masses, options):
        found = _forces(positions, masses, **options)
        gravity = _is_gravity(options.get("law"))
        weights = 1 if masses is None else masses[:, None]
        context.by_position = -weights * found.acceleration
        # Gravity's E is bilinear in the masses, so that dE/dm_i = phi_i; of other laws it is not known.
        context.by_mass = found.potential if gravity else None
        each = found.potential if masses is None or not gravity else masses * found.potential
        return 0.5 * each.sum()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context, gradient):
        by_mass = None
        if context.needs_input_grad[1]:
            if context.by_mass is None:
                raise NotImplementedError("the derivative of this law by the masses is not known to kith; "
                                          "detach the masses")
            by_mass = gradient * context.by_mass
        return gradient * context.by_position, by_mass, None


def energy(positions, masses=None, **options):
    """The potential energy of all pairs, as a tensor that knows its gradient.

    ``E = 1/2 sum_i m_i phi_i`` of gravity, half the sum of V(i, j) of another law. Its gradient by
    the positions is minus the force; by the masses of gravity it is the potential.

    Parameters
    ----------
    positions : torch.Tensor, shape (n, 2) or (n, 3)
        On the CPU or a GPU; computed on there.
    masses : torch.Tensor, shape (n,), optional
        1 where there are none.
    **options
        softening, g, law, charges, method, device, threads, context: as of `kith.forces`.

    Returns
    -------
    torch.Tensor
        A number.

    Notes
    -----
    Forwards one evaluation of all forces; backwards nothing but a product. It can be differentiated
    once: `forces` gives gradients of forces.

    Examples
    --------
    >>> import pytest; torch = pytest.importorskip("torch")
    >>> import kith.torch
    >>> x = torch.tensor([[0.0, 0.0], [2.0, 0.0]], dtype=torch.float64, requires_grad=True)
    >>> E = kith.torch.energy(x)
    >>> E.backward()
    >>> E.item(), x.grad.tolist()
    (-0.5, [[-0.25, -0.0], [0.25, -0.0]])
    """
    return _Energy.apply(positions, masses, options)


class _Accelerations(torch.autograd.Function):
    """Gravity's accelerations; backwards by the tidal tensor T = (I - 3 d d^T / s^2) / s^3.

    a_i = G sum_j m_j d / s^3 with d = x_j - x_i changes by G sum_j m_j T (dx_j - dx_i), and T is
    symmetric in i and j.
    """

    @staticmethod
    def forward(context, positions, masses, options):
        found = _forces(positions, masses, want="acceleration", **options).acceleration
        context.save_for_backward(positions, masses)
        context.options = options
        return found

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context, gradient):
        positions, masses = context.saved_tensors
        options = context.options
        g, softening = options.get("g") or 1.0, options.get("softening", 0.0)
        weights = torch.ones_like(positions[:, 0]) if masses is None else masses
        by_position = by_mass = None
        if context.needs_input_grad[0]:
            tide = _Tide(positions, softening, options)
            sent = tide.of(gradient)  # sum_j T_ij gradient_j
            felt = tide.of_each(weights, gradient)  # sum_j m_j T_ij gradient_i
            by_position = g * (weights[:, None] * sent - felt)
        if context.needs_input_grad[1]:
            by_mass = -g * _pulled(positions, gradient, softening, options)
        return by_position, by_mass, None


# A component of the tidal tensor, and of the pull: u and v are unit vectors, w is 1 on the diagonal.
# Two formulas for all, as each is compiled once.
_TIDE = "expr: w/(r2*r) - 3*(ux*dx + uy*dy + uz*dz)*(vx*dx + vy*dy + vz*dz)/(r2*r2*r)"
_PULL = "expr: (ux*dx + uy*dy + uz*dz)/(r2*r)"


def _along(name, axis):
    return {name + letter: float(k == axis) for k, letter in enumerate("xyz")}


class _Tide:
    """Sums over j of the tidal tensor T_ij with vectors, a component of T at a time."""

    def __init__(self, positions, softening, options):
        self._positions, self._softening = positions, softening
        self._places = {name: options[name] for name in ("device", "threads", "context") if name in options}
        self._dimensions = positions.shape[1]

    def _component(self, a, b, vectors):
        """sum_j T_ij[a][b] vectors_j; the law has s for r, the softened distance."""
        law = _law(_TIDE, w=float(a == b), **_along("u", a), **_along("v", b))
        return _matrix.multiply(vectors, self._positions, law=law, softening=self._softening, **self._places)

    def _apply(self, vectors, contract):
        total = None
        for a in range(self._dimensions):
            for b in range(a, self._dimensions):
                total = contract(total, a, b, self._component(a, b, vectors))
        return total

    def of(self, vectors):
        """sum_j T_ij vectors_j."""
        result = torch.zeros_like(vectors)

        def add(_, a, b, found):
            result[:, a] += found[:, b]
            if a != b:
                result[:, b] += found[:, a]

        self._apply(vectors.contiguous(), add)
        return result

    def of_each(self, weights, vectors):
        """sum_j w_j T_ij vectors_i."""
        result = torch.zeros_like(vectors)

        def add(_, a, b, found):
            result[:, a] += found * vectors[:, b]
            if a != b:
                result[:, b] += found * vectors[:, a]

        self._apply(weights, add)
        return result


def _pulled(positions, gradient, softening, options):
    """sum_i gradient_i (x_i - x_j) / s^3 for each j: how far a mass at j changes what is asked for."""
    places = {name: options[name] for name in ("device", "threads", "context") if name in options}
    total = torch.zeros_like(positions[:, 0])
    for a in range(positions.shape[1]):
        law = _law(_PULL, **_along("u", a))
        total += _matrix.multiply(gradient[:, a].contiguous(), positions, law=law, softening=softening, **places)
    return total


def forces(positions, masses=None, **options):
    """The accelerations of all bodies, as a tensor that knows its gradient.

    Parameters
    ----------
    positions : torch.Tensor, shape (n, 2) or (n, 3)
    masses : torch.Tensor, shape (n,), optional
    **options
        softening (one of all bodies), g, law, charges, device, threads, context: as of `kith.forces`.

    Returns
    -------
    torch.Tensor, shape (n, 2) or (n, 3)
        Of gravity it can be differentiated once, by positions and masses. Of other laws it has no
        gradient: differentiate `energy` by the positions instead, which gives minus the forces.

    Notes
    -----
    Backwards takes about ten times the work of the forces, and a C compiler (or NVRTC) at the first
    time, as laws of formulas do.

    Examples
    --------
    >>> import pytest; torch = pytest.importorskip("torch")
    >>> import kith.torch
    >>> kith.torch.forces(torch.tensor([[0.0, 0.0], [2.0, 0.0]])).tolist()
    [[0.25, 0.0], [-0.25, 0.0]]
    """
    if _is_gravity(options.get("law")):
        return _Accelerations.apply(positions, masses, options)
    return _forces(positions, masses, want="acceleration", **options).acceleration
