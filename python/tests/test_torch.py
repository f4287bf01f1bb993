"""Tensors of PyTorch, and their gradients; left out where PyTorch is not installed."""

import numpy
import pytest

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


@pytest.mark.parametrize("softening", [0.0, 0.3])
def test_the_gradient_of_gravitys_energy(tensors, softening):
    import kith.torch

    def energy(positions, masses):
        return kith.torch.energy(positions, masses, softening=softening, g=1.5)

    assert torch.autograd.gradcheck(energy, tensors)
    energy(*tensors).backward()
    force = tensors[1][:, None] * kith.forces(*tensors, softening=softening, g=1.5).acceleration
    assert torch.allclose(tensors[0].grad, -force)


@pytest.mark.parametrize("law", ["yukawa:2", "expr: exp(-r)*m_i*m_j"])
def test_the_gradient_of_another_laws_energy(tensors, law):
    import kith.torch

    positions, masses = tensors[0], tensors[1].detach()
    assert torch.autograd.gradcheck(lambda x: kith.torch.energy(x, masses, law=law), (positions,))
    assert torch.autograd.gradcheck(lambda x: kith.torch.energy(x, law=law), (positions,))
    with pytest.raises(NotImplementedError, match="detach the masses"):
        kith.torch.energy(positions, tensors[1], law=law).backward()


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("softening", [0.0, 0.3])
def test_the_gradient_of_accelerations(tensors, dimensions, softening):
    import kith.torch

    positions, masses = tensors[0].detach()[:, :dimensions].clone().requires_grad_(), tensors[1]
    options = {"softening": softening, "g": 0.7}
    assert torch.autograd.gradcheck(lambda x, m: kith.torch.forces(x, m, **options), (positions, masses))
    assert torch.autograd.gradcheck(lambda x: kith.torch.forces(x, softening=softening), (positions,))
