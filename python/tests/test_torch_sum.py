"""kith.torch.sum: its gradients by differences, and by PyTorch's own operations."""

import itertools

import numpy
import pytest
from refusals import refused

torch = pytest.importorskip("torch")

WEIGHT = {"W": "pow(1 - r2, 3)"}  # goes to 0 at the cutoff of 1, with its derivatives


def spread(numbers, count, dimensions):
    """Points of which some are nearer than 1, and no pair is nearly at 1 or at 0."""
    while True:
        x = numbers.uniform(0, 1.6, size=(count, dimensions))
        d = numpy.linalg.norm(x[:, None] - x, axis=2)[numpy.triu_indices(count, 1)]
        if numpy.all(numpy.abs(d - 1) > 0.01) and numpy.all(d > 0.05) and numpy.any(d < 1):
            return torch.from_numpy(x).requires_grad_()


def column(numbers, count):
    return torch.from_numpy(numbers.uniform(0.5, 2, size=count)).requires_grad_()


def check(function, inputs):
    assert torch.autograd.gradcheck(function, inputs, atol=1e-5, rtol=1e-4)
    assert torch.autograd.gradgradcheck(function, inputs, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("include_self", [False, True])
def test_derivatives_by_positions_and_columns(numbers, dimensions, include_self):
    import kith.torch

    x, m = spread(numbers, 5, dimensions), column(numbers, 5)
    outputs = {"a": "m_j * m_j * W", "b": "(m_i - 2 * m_j) * dx * W"}

    def sums(x, m):
        found = kith.torch.sum(x, outputs, lets=WEIGHT, cutoff=1.0, columns={"m": m}, include_self=include_self)
        return found["a"], found["b"]

    check(sums, (x, m))


def test_derivatives_of_targets_that_are_not_the_sources(numbers):
    import kith.torch

    x, m = spread(numbers, 4, 3), column(numbers, 4)
    at, g = torch.from_numpy(numbers.uniform(0, 1.6, size=(3, 3))).requires_grad_(), column(numbers, 3)

    def sums(x, m, at, g):
        return kith.torch.sum(x, "exp(-r2) * m_j * g_i + dy", columns={"m": m}, targets=at, target_columns={"g": g})

    check(sums, (x, m, at, g))


def test_derivatives_of_logsumexp(numbers):
    import kith.torch

    x, m = spread(numbers, 4, 2), column(numbers, 4)
    check(lambda x, m: kith.torch.sum(x, "m_j * r2", columns={"m": m}, reduce="logsumexp"), (x, m))


def test_gradients_in_a_periodic_cell_are_those_of_pytorchs_own_operations(numbers):
    import kith.torch

    box = 2.5
    x = torch.from_numpy(numbers.uniform(-3, 3, size=(20, 3))).requires_grad_()
    m = column(numbers, 20)
    shifts = torch.tensor(list(itertools.product((-1, 0, 1), repeat=3)), dtype=torch.float64) * box

    def by_torch(x, m):
        wrapped = x - torch.floor(x.detach() / box) * box
        d = wrapped[None, :, None] - wrapped[:, None, None] + shifts
        r2 = (d * d).sum(-1)
        counts = (r2 < 1) & ((r2 > 0) | (shifts != 0).any(-1))
        return (torch.where(counts, (1 - r2) ** 3 * d[..., 0] * m[None, :, None], 0.0)).sum((1, 2))

    def by_kith(x, m):
        return kith.torch.sum(x, "W * dx * m_j", lets=WEIGHT, cutoff=1.0, cell=[box] * 3, columns={"m": m})

    along = torch.from_numpy(numbers.normal(size=20))
    found, expected = by_kith(x, m), by_torch(x, m)
    assert torch.allclose(found, expected, rtol=1e-10, atol=1e-12)
    first = [torch.autograd.grad((f * along).sum(), (x, m), create_graph=True) for f in (found, expected)]
    second = [torch.autograd.grad(sum((each**2).sum() for each in pair), (x, m)) for pair in first]
    for ours, theirs in (*zip(*first), *zip(*second)):
        assert torch.allclose(ours, theirs, rtol=1e-9, atol=1e-9 * theirs.detach().abs().max().item())


def test_forces_are_the_gradient_of_an_energy(numbers):
    import kith.torch

    x = torch.from_numpy(numbers.normal(size=(30, 3))).requires_grad_()
    energy = kith.torch.sum(x, "exp(-r2) / 2").sum()
    energy.backward()
    force = torch.from_numpy(kith.forces(x.detach().numpy(), law="expr: exp(-r2)").acceleration)
    assert torch.allclose(x.grad, -force, rtol=1e-11, atol=1e-12)


def test_what_needs_no_gradient_is_kith_sum(numbers):
    import kith.torch

    x = torch.from_numpy(numbers.normal(size=(9, 2)))
    assert torch.equal(kith.torch.sum(x, "r", reduce="min"), kith.sum(x, "r", reduce="min"))
    x.requires_grad_()
    with refused(ValueError, "reduce 'min'"):
        kith.torch.sum(x, "r", reduce="min")
    with refused(ValueError, "target_columns targets"):
        kith.torch.sum(x, "g_i", target_columns={"g": x[:, 0]})
    with refused(TypeError, "positions list"):
        kith.torch.sum([[0.0, 0.0]], "r")
    with refused(ValueError, "kith.torch.sum"):
        kith.sum(x, "r")
