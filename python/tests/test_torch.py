"""Tensors of PyTorch, and their gradients; left out where PyTorch is not installed."""

import numpy
import pytest
from refusals import refused

import kith

torch = pytest.importorskip("torch")


@pytest.fixture
def tensors(numbers):
    positions = torch.from_numpy(numbers.normal(size=(7, 3))).requires_grad_()
    masses = torch.from_numpy(numbers.uniform(0.5, 2, size=7)).requires_grad_()
    return positions, masses


def test_tensors_come_back_as_tensors(cloud):
    positions, masses = map(torch.from_numpy, cloud)
    found = kith.forces(positions, masses)
    assert isinstance(found.acceleration, torch.Tensor)
    assert numpy.array_equal(found.acceleration.numpy(), kith.forces(*cloud).acceleration)
    assert kith.forces(positions.half(), masses.half()).potential.dtype == torch.float32
    pairs = kith.pairs(positions, 0.8, quantities="ijd")
    assert isinstance(pairs.distances, torch.Tensor) and pairs.i.dtype == torch.int64
    assert numpy.array_equal(pairs.j.numpy(), kith.pairs(cloud[0], 0.8).j)
    assert isinstance(kith.matrix(positions, law="distance"), torch.Tensor)


def test_results_go_into_tensors(cloud):
    positions = torch.from_numpy(cloud[0])
    out = torch.zeros(203, 6, dtype=torch.float64)[:, ::2]
    found = kith.forces(positions, out=(out, None))
    assert found.acceleration is out
    assert numpy.array_equal(out.numpy(), kith.forces(cloud[0]).acceleration)


SYMMETRIC = "expr: q_i*q_j*exp(-r/2)/(r + 0.3) + m_i*m_j*r2/9"
LAWS = {
    "gravity": lambda s2, m, q: -1.5 * m[:, None] * m / s2.sqrt(),
    "coulomb": lambda s2, m, q: q[:, None] * q / s2.sqrt(),
    "yukawa:2": lambda s2, m, q: q[:, None] * q * (-s2.sqrt() / 2).exp() / s2.sqrt(),
    "lennard-jones:1.5,0.8": lambda s2, m, q: 6 * (0.64 / s2) ** 6 - 6 * (0.64 / s2) ** 3,
    "morse:1,2,0.5": lambda s2, m, q: (1 - 2 * s2.sqrt()).exp() ** 2 - 2 * (1 - 2 * s2.sqrt()).exp(),
    "gaussian:1.2": lambda s2, m, q: (-s2 / 2.88).exp(),
    SYMMETRIC: lambda s2, m, q: (q[:, None] * q * (-s2.sqrt() / 2).exp() / (s2.sqrt() + 0.3) +
                                 m[:, None] * m * s2 / 9),
}
WEIGHT = {"gravity": "masses", "coulomb": "charges", "yukawa:2": "charges"}


def options_of(law, softening):
    return {"softening": softening, "law": None, "g": 1.5} if law == "gravity" else {"softening": softening, "law": law}


def by_torch(law, positions, masses, charges, softening):
    """The energy as PyTorch's own operations make it, pair by pair."""
    n = len(positions)
    apart = ~torch.eye(n, dtype=torch.bool, device=positions.device)
    d = (positions[None] - positions[:, None])[apart].view(n, n - 1, -1)
    s2 = torch.ones(n, n, dtype=positions.dtype, device=positions.device)
    s2 = s2.masked_scatter(apart, (d * d).sum(-1) + softening**2)
    return 0.5 * (LAWS[law](s2, masses, charges) * apart).sum()


@pytest.fixture(params=[2, 3])
def bodies(request, numbers):
    """Positions, none close to another, masses and charges that require grad."""
    corners = numpy.array([[0, 0, 0], [1, 0, 1], [2, 0, 0], [0, 1, 1], [1, 1, 0], [2, 1, 1]])[:, : request.param]
    corners = corners + numbers.uniform(-0.2, 0.2, size=corners.shape)
    made = corners, numbers.uniform(0.5, 2, size=6), numbers.normal(size=6)
    return [torch.from_numpy(array).requires_grad_() for array in made]


def weighted(law, bodies):
    """What the law can be differentiated by; the rest of the bodies, detached."""
    positions, masses, charges = bodies
    weight = WEIGHT.get(law)
    inputs = (positions,) if weight is None else (positions, masses if weight == "masses" else charges)

    def columns(*weights):
        given = {"masses": masses.detach(), "charges": charges.detach()}
        return {**given, **({weight: weights[0]} if weights else {})}

    return inputs, columns


def energy_by(law, columns, softening):
    import kith.torch

    return lambda x, *w: kith.torch.energy(x, **columns(*w), **options_of(law, softening))


def alike(found, expected):
    return all(torch.allclose(a, b, rtol=1e-9, atol=1e-10 * float(b.abs().max())) for a, b in zip(found, expected))


@pytest.mark.parametrize("softening", [0.0, 0.3])
@pytest.mark.parametrize("law", LAWS)
def test_the_derivatives_of_energies_are_those_of_their_differences(law, bodies, softening):
    inputs, columns = weighted(law, bodies)
    energy = energy_by(law, columns, softening)
    assert torch.autograd.gradcheck(energy, inputs, atol=1e-5, rtol=1e-4)
    assert torch.autograd.gradgradcheck(energy, inputs, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("softening", [0.0, 0.3])
@pytest.mark.parametrize("law", LAWS)
def test_the_hessian_is_that_of_pytorchs_own_operations(law, bodies, softening):
    from torch.autograd.functional import hessian

    inputs, columns = weighted(law, bodies)
    found = hessian(energy_by(law, columns, softening), inputs)
    expected = hessian(lambda x, *w: by_torch(law, x, **columns(*w), softening=softening), inputs)
    for ours, theirs in zip(found, expected):
        assert alike(ours, theirs)
    assert any(block.abs().max() > 1e-3 for row in found for block in row)


@pytest.mark.parametrize("law", LAWS)
def test_products_with_the_hessian(law, bodies, numbers):
    from torch.autograd.functional import hvp, vhp

    inputs, columns = weighted(law, bodies)
    directions = tuple(torch.from_numpy(numbers.normal(size=tuple(each.shape))) for each in inputs)
    expected = hvp(lambda x, *w: by_torch(law, x, **columns(*w), softening=0.1), inputs, directions)[1]
    for product in (hvp, vhp):
        assert alike(product(energy_by(law, columns, 0.1), inputs, directions)[1], expected)


@pytest.mark.parametrize("law", LAWS)
def test_force_matching(law, bodies, numbers):
    """The slope of what forces are off by, by which positions and weights are fitted."""
    inputs, columns = weighted(law, bodies)
    wanted = torch.from_numpy(numbers.normal(size=tuple(inputs[0].shape)))

    def slopes(energy):
        gradient = torch.autograd.grad(energy(*inputs), inputs[0], create_graph=True)[0]
        return torch.autograd.grad(((gradient + wanted) ** 2).sum(), inputs)

    expected = slopes(lambda x, *w: by_torch(law, x, **columns(*w), softening=0.2))
    assert alike(slopes(energy_by(law, columns, 0.2)), expected)


def test_lengths_of_softening_for_each_body(bodies, numbers):
    import kith.torch

    lengths = torch.from_numpy(numbers.uniform(0.1, 0.5, size=6))
    energy = lambda x, m: kith.torch.energy(x, m, softening=lengths)  # noqa: E731
    assert torch.autograd.gradcheck(energy, bodies[:2])
    assert torch.autograd.gradgradcheck(energy, bodies[:2])


@pytest.mark.parametrize("law", LAWS)
def test_the_derivatives_of_accelerations(law, bodies):
    import kith.torch

    positions, masses, charges = bodies
    if law == SYMMETRIC:
        inputs = (positions,)
        by = lambda x: kith.torch.forces(x, masses.detach(), charges=charges.detach(), law=law)  # noqa: E731
    elif law in ("coulomb", "yukawa:2"):
        inputs = (positions, masses, charges)
        by = lambda x, m, q: kith.torch.forces(x, m, charges=q, law=law, softening=0.1)  # noqa: E731
    else:
        inputs = (positions, masses)
        by = lambda x, m: kith.torch.forces(x, m, **options_of(law, 0.1))  # noqa: E731
    assert torch.autograd.gradcheck(by, inputs, atol=1e-4, rtol=1e-4)
    with torch.no_grad():
        plain = kith.forces(positions, masses, charges=charges, **options_of(law, 0.0 if law == SYMMETRIC else 0.1))
    assert torch.allclose(by(*inputs), plain.acceleration, rtol=1e-13)


def test_the_gradient_of_gravitys_energy_is_minus_the_force(tensors):
    import kith.torch

    kith.torch.energy(*tensors, softening=0.3, g=1.5).backward()
    positions, masses = (tensor.detach() for tensor in tensors)
    found = kith.forces(positions, masses, softening=0.3, g=1.5)
    assert torch.allclose(tensors[0].grad, -masses[:, None] * found.acceleration)
    assert torch.allclose(tensors[1].grad, found.potential)


def test_bodies_without_mass_have_second_derivatives(tensors):
    import kith.torch

    positions, masses = tensors[0], tensors[1].detach().clone()
    masses[2] = 0
    masses.requires_grad_()
    energy = lambda x, m: kith.torch.energy(x, m, softening=0.2)  # noqa: E731
    assert torch.autograd.gradgradcheck(energy, (positions, masses))
    assert torch.autograd.gradcheck(lambda x, m: kith.torch.forces(x, m, softening=0.2), (positions, masses))


def test_derivatives_that_are_not_there_are_errors(tensors):
    import kith.torch

    positions, masses = tensors
    detached = positions.detach(), masses.detach()
    for law in ("yukawa:2", "product", "expr: m_i*m_j*r2"):
        with refused(NotImplementedError, "masses"):
            kith.torch.energy(positions, masses, law=law)
    with refused(NotImplementedError, "charges"):
        kith.torch.energy(positions, charges=masses, law="expr: q_i*q_j*r2")
    with refused(ValueError, "softening grad"):
        kith.torch.energy(detached[0], detached[1], softening=masses)
    with refused(ValueError, "law"):
        kith.torch.energy(positions, detached[1], law="expr: m_i*r2")
    third = torch.autograd.grad(kith.torch.energy(positions).square(), positions, create_graph=True)[0]
    fourth = torch.autograd.grad(third.sum(), positions, create_graph=True)[0]
    with refused(NotImplementedError, "derivatives"):
        fourth.sum().backward()
    pulls = kith.torch.forces(positions, masses)
    slope = torch.autograd.grad(pulls.square().sum(), positions, create_graph=True)[0]
    with refused(NotImplementedError, "derivatives"):
        slope.sum().backward()


def test_functions_without_derivatives_refuse_tensors_that_require_grad(tensors):
    positions, masses = tensors
    plain = positions.detach()
    calls = {
        "positions": [lambda: kith.forces(positions), lambda: kith.matrix(positions),
                      lambda: kith.matrix.reduce("sum", positions), lambda: kith.pairs(positions, 1.0),
                      lambda: kith.nearest(positions, 1), lambda: kith.forces_derivative(positions, plain),
                      lambda: kith.matrix.histogram(positions, law="distance", bins=3, low=0, high=1)],
        "masses": [lambda: kith.forces(plain, masses), lambda: kith.matrix(plain, masses)],
        "charges": [lambda: kith.forces(plain, charges=masses, law="coulomb")],
        "b": [lambda: kith.matrix.multiply(masses, plain)],
        "softening": [lambda: kith.forces(plain, softening=masses)],
    }
    for name, of_name in calls.items():
        for call in of_name:
            with refused(ValueError, f"{name} grad {name}.detach()"):
                call()
            with torch.no_grad():
                call()


def test_scalars_that_require_grad_are_refused(tensors):
    positions = tensors[0].detach()
    scalar = torch.tensor(0.5, requires_grad=True)
    for name, call in {
        "softening": lambda: kith.forces(positions, softening=scalar),
        "g": lambda: kith.forces(positions, g=scalar),
        "cutoff": lambda: kith.pairs(positions, scalar),
        "a": lambda: kith.law("expr: a*r", a=scalar),
    }.items():
        with refused(ValueError, f"{name} grad"):
            call()
