"""Energies of all periodic images that PyTorch differentiates; left out where PyTorch is not installed."""

import numpy
import pytest
from refusals import refused

import kith

torch = pytest.importorskip("torch")

SKEW = [[1.0, 0.0, 0.0], [0.4, 1.2, 0.0], [-0.3, 0.2, 0.9]]
SLAB = [[1.0, 0.0, 0.1], [0.4, 1.2, 0.0], [0.0, 0.0, 1.0]]
# alpha, cutoff, grid and order are given, so that the energy is one smooth function.
MESH = {"solver": "pme", "alpha": 7.0, "cutoff": 0.8, "grid": (24, 24, 24), "order": 8, "error": 1e-8}
CASES = {
    "ewald": {"solver": "ewald", "cell": SKEW},
    "vacuum": {"solver": "ewald", "cell": SKEW, "boundary": "vacuum"},
    "excluded": {"solver": "ewald", "cell": SKEW, "exclude": [[0, 1]]},
    "slab": {"solver": "ewald", "cell": SLAB, "periodic": (True, True, False)},
    "pme": {**MESH, "cell": SKEW},
}


@pytest.fixture
def ions(numbers):
    """Positions, none close to another, and weights, not neutral."""
    corners = numpy.array([[0, 0, 0], [1, 0, 1], [0, 1, 1], [1, 1, 0]]) * 0.5
    made = corners + numbers.uniform(-0.1, 0.1, size=corners.shape), numbers.uniform(0.5, 2, size=4) * [1, -1, 1, 1]
    return [torch.from_numpy(array).requires_grad_() for array in made]


def images_there(options, **where):
    if options["solver"] == "pme":
        try:
            kith.forces(numpy.zeros((1, 3)), solver="pme", cell=[1.0, 1, 1], **where)
        except NotImplementedError:
            pytest.skip("this build has no FFTW")


@pytest.mark.parametrize("law", ["coulomb", "gravity"])
@pytest.mark.parametrize("case", CASES)
def test_energies_of_images_have_the_derivatives_of_their_differences(case, law, ions):
    import kith.torch

    options = dict(CASES[case])
    images_there(options)
    cell = torch.tensor(options.pop("cell"), dtype=torch.float64, requires_grad=True)

    def energy(x, w, h):
        if law == "gravity":
            return kith.torch.energy(x, w, g=1.5, cell=h, **options)
        return kith.torch.energy(x, charges=w, law=kith.law("coulomb", k=1.5), cell=h, **options)

    # Differences of pme are off by what the derivative of its virial is, of the mesh.
    tolerance = 1e-4 if case == "pme" else 1e-6
    assert torch.autograd.gradcheck(energy, (*ions, cell), eps=1e-5, atol=tolerance, rtol=tolerance)


def test_all_images_of_lennard_jones_have_derivatives(numbers):
    import kith.torch

    images_there(MESH, device="cpu")
    sites = numpy.stack(numpy.meshgrid(*[numpy.arange(3)] * 3, indexing="ij"), -1).reshape(-1, 3)
    x = torch.from_numpy(1.1 * (sites + numbers.uniform(0, 0.2, size=sites.shape))).requires_grad_()
    cell = (3.3 * torch.eye(3, dtype=torch.float64)).requires_grad_()
    options = {**MESH, "alpha": 1.0, "cutoff": 6.0, "grid": (40, 40, 40), "law": "lennard-jones:1.3,0.9"}
    energy = lambda x, h: kith.torch.energy(x, cell=h, **options)  # noqa: E731
    assert torch.autograd.gradcheck(energy, (x, cell), eps=1e-5, atol=1e-3, rtol=1e-4)


def test_boxes_are_differentiated_by_their_lengths(ions):
    import kith.torch

    box = torch.tensor([1.1, 0.9, 1.3], dtype=torch.float64, requires_grad=True)
    energy = lambda h: kith.torch.energy(ions[0].detach(), ions[1].detach(), solver="ewald", cell=h)  # noqa: E731
    assert torch.autograd.gradcheck(energy, (box,), eps=1e-5, atol=1e-6)


def test_the_energy_of_images_is_that_of_forces(ions):
    import kith.torch

    x, q = ions
    found = kith.torch.energy(x, charges=q, law="coulomb", solver="ewald", cell=SKEW)
    found.backward()
    with torch.no_grad():
        plain = kith.forces(x, charges=q, law="coulomb", solver="ewald", cell=SKEW, totals=True)
    assert found.detach().item() == pytest.approx(plain.totals.energy, rel=1e-12)
    assert torch.allclose(x.grad, -plain.acceleration, rtol=1e-12, atol=1e-12)
    assert torch.allclose(q.grad * q.detach(), plain.potential, rtol=1e-12, atol=1e-12)


def test_images_of_ones_and_a_law_without_weights(ions):
    import kith.torch

    x = ions[0]
    for options in ({"law": "power:1"}, {"law": "coulomb"}, {}):
        energy = lambda each: kith.torch.energy(each, solver="ewald", cell=SKEW, **options)  # noqa: B023, E731
        assert torch.autograd.gradcheck(energy, (x,), eps=1e-5, atol=1e-6)


def test_charges_have_second_derivatives_and_positions_have_none(ions, numbers):
    import kith.torch

    x, q = ions
    energy = lambda *w: kith.torch.energy(*w[:1], charges=w[1], law="coulomb", solver="ewald", cell=SKEW)  # noqa: E731
    hessian = torch.autograd.functional.hessian(lambda w: energy(x.detach(), w), q)
    assert torch.allclose(hessian, hessian.T, atol=1e-10)
    assert (0.5 * q @ hessian @ q).detach().item() == pytest.approx(energy(x, q).detach().item(), rel=1e-10)
    by_charge = torch.autograd.grad(energy(x, q), q, create_graph=True)[0]
    direction = torch.from_numpy(numbers.normal(size=4))
    mixed = torch.autograd.grad(by_charge @ direction, x)[0]
    step = 1e-5
    higher, lower = (torch.autograd.grad(energy(x, q + sign * step * direction), x)[0] for sign in (1, -1))
    assert torch.allclose(mixed, (higher - lower) / (2 * step), atol=1e-6)
    by_position = torch.autograd.grad(energy(x, q), x, create_graph=True)[0]
    with refused(NotImplementedError, "'ewald'"):
        by_position.sum().backward()
    cell = torch.tensor(SKEW, dtype=torch.float64, requires_grad=True)
    by_cell = torch.autograd.grad(kith.torch.energy(x, q, solver="ewald", cell=cell), cell, create_graph=True)[0]
    with refused(NotImplementedError, "derivatives"):
        by_cell.sum().backward()


def test_what_images_do_not_have_is_refused(ions):
    import kith.torch

    x, q = ions
    for name, value in {"cell": SKEW, "error": 1e-4, "cutoff": 1.0, "boundary": "vacuum"}.items():
        with refused(ValueError, f"{name} 'auto'"):
            kith.torch.energy(x, q, **{name: value})
    with refused(ValueError, "solver 'fmm'"):
        kith.torch.energy(x, q, solver="fmm")
    with refused(NotImplementedError, "ewald cell"):
        kith.torch.energy(x, q, solver="ewald")
    with refused(ValueError, "cell"):
        kith.torch.energy(x, q, solver="ewald", cell=torch.ones(2, requires_grad=True))
