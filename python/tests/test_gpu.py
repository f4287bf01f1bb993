"""Arrays in a GPU's memory: computed on where they are, on the caller's stream, and given back there."""

import importlib
import pickle

import numpy
import pytest
from refusals import refused

import kith
from kith import _kith
from kith._arrays import take

pytestmark = pytest.mark.skipif(all(found.kind != "cuda" for found in kith.devices()),
                                reason="kith finds no GPU")


class Library:
    """Moves arrays between NumPy and a library's arrays on the first GPU."""

    def __init__(self, name):
        self.name = name
        self.module = pytest.importorskip("jax.numpy" if name == "jax" else name)
        if name == "torch" and not self.module.cuda.is_available():
            pytest.skip("this PyTorch has no CUDA")
        if name == "jax":
            jax = importlib.import_module("jax")
            if jax.default_backend() not in ("gpu", "cuda"):
                pytest.skip("this JAX has no CUDA")
            jax.config.update("jax_enable_x64", True)

    def bring(self, values):
        values = numpy.ascontiguousarray(values)
        return self.module.asarray(values, device="cuda") if self.name == "torch" else self.module.asarray(values)

    def fetch(self, values):
        assert self.owns(values), type(values)
        if self.name == "torch":
            return values.cpu().numpy()
        return values.get() if self.name == "cupy" else numpy.asarray(values)

    def owns(self, values):
        if self.name == "torch":
            return isinstance(values, self.module.Tensor) and values.is_cuda
        return isinstance(values, self.module.ndarray) and int(values.__dlpack_device__()[0]) == 2


@pytest.fixture(params=["cupy", "torch", "jax"])
def library(request):
    return Library(request.param)


@pytest.fixture
def on_gpu(library, cloud):
    return [library.bring(part) for part in cloud]


def test_columns_are_updated_where_they_are(library, cloud):
    x, m = numpy.array(cloud[0]), numpy.array(cloud[1])
    there = {"x": library.bring(x[:, 0]), "y": library.bring(x[:, 1]), "m": library.bring(m)}
    updates = {"x": "x_i + dt * y_i", "y": "m_i"}
    if library.name == "jax":
        with refused(TypeError, "columns['x'] JAX CuPy PyTorch"):
            kith.update(there, updates, parameters={"dt": 0.5})
        return
    kith.update(there, updates, parameters={"dt": 0.5})
    numpy.testing.assert_allclose(library.fetch(there["x"]), x[:, 0] + 0.5 * x[:, 1], rtol=1e-15)
    assert numpy.array_equal(library.fetch(there["y"]), m)
    rows = library.bring(x)
    kith.update({"x": rows[:, 0], "y": rows[:, 1]}, {"x": "y_i", "y": "x_i"})
    assert numpy.array_equal(library.fetch(rows)[:, :2], x[:, 1::-1])
    on_host = x.copy()
    kith.update({"x": on_host[:, 0], "y": on_host[:, 1]}, {"x": "y_i", "y": "x_i"}, device="cuda")
    assert numpy.array_equal(on_host[:, :2], x[:, 1::-1])


def test_forces_agree_with_the_cpu(library, cloud, on_gpu):
    found, expected = kith.forces(*on_gpu, softening=0.1), kith.forces(*cloud, softening=0.1, device="cpu")
    for ours, theirs in zip(found, expected):
        assert numpy.allclose(library.fetch(ours), theirs, rtol=1e-12, atol=1e-12)
    single = kith.forces(*[library.bring(part.astype("float32")) for part in cloud], softening=0.1)
    assert str(single.acceleration.dtype).endswith("float32")
    assert numpy.allclose(library.fetch(single.potential), expected.potential, rtol=1e-5)


def test_arrays_of_the_host_are_computed_on_the_gpu(cloud):
    found, expected = kith.forces(*cloud, device="cuda"), kith.forces(*cloud, device="cpu")
    assert isinstance(found.acceleration, numpy.ndarray)
    assert numpy.allclose(found.acceleration, expected.acceleration, rtol=1e-11)


def test_nothing_is_copied(library, on_gpu):
    positions = on_gpu[0]
    pointer = {"cupy": lambda x: x.data.ptr, "torch": lambda x: x.data_ptr(),
               "jax": lambda x: x.unsafe_buffer_pointer()}[library.name]
    assert _kith.address_of(take("positions", positions).shown(1)) == pointer(positions)


@pytest.mark.parametrize("name", ["cupy", "torch"])
def test_strided_arrays_and_results_are_used_in_place(name, cloud):
    library = Library(name)
    positions = library.bring(numpy.repeat(cloud[0], 2, axis=0))[::2]
    out = library.bring(numpy.zeros((203, 6)))
    found = kith.forces(positions, library.bring(cloud[1]), want="acceleration", out=(out[:, ::2], None))
    assert numpy.allclose(library.fetch(found.acceleration), kith.forces(*cloud).acceleration, rtol=1e-11)
    assert numpy.array_equal(library.fetch(out)[:, ::2], library.fetch(found.acceleration))
    assert not library.fetch(out)[:, 1::2].any()


@pytest.mark.parametrize("name", ["cupy", "torch"])
def test_the_callers_stream_orders_what_is_computed(name, numbers):
    library = Library(name)
    host = numbers.normal(size=(20_000, 3))
    expected = kith.forces(host, softening=0.1, device="cpu").potential
    if name == "cupy":
        stream = library.module.cuda.Stream(non_blocking=True)
        wait = library.module.ones(1 << 26)
    else:
        stream = library.module.cuda.Stream()
        wait = library.module.ones(1 << 26, device="cuda")
    positions = library.bring(numpy.zeros_like(host))
    values = library.bring(host)
    if name == "torch":
        library.module.cuda.synchronize()
    else:
        library.module.cuda.Device().synchronize()
    with stream if name == "cupy" else library.module.cuda.stream(stream):
        for _ in range(40):  # some milliseconds, during which nothing may be computed from the zeros
            wait *= 1.0
        positions[:] = values
        potential = kith.forces(positions, softening=0.1, want="potential").potential
        values *= 0.0  # after the forces, on the same stream
        positions *= 0.0
        potential = library.fetch(potential)
    assert numpy.allclose(potential, expected, rtol=1e-11)


def test_arrays_in_two_places_are_a_value_error(cloud, on_gpu):
    with refused(ValueError, "masses"):
        kith.forces(on_gpu[0], cloud[1])
    with refused(ValueError, "device"):
        kith.forces(on_gpu[0], device="cpu")


@pytest.mark.parametrize("name", ["cupy", "torch"])
def test_pairs_of_a_pickle_are_on_the_gpu(name, cloud):
    library = Library(name)
    pairs = kith.pairs(library.bring(cloud[0]), 0.8, quantities="ijd")
    again = pickle.loads(pickle.dumps(pairs))
    assert len(again) == len(pairs) > 0
    for got, expected in zip((again.offsets, *again), (pairs.offsets, *pairs)):
        assert numpy.array_equal(library.fetch(got), library.fetch(expected))


def test_lists_follow_the_arrays(library, cloud, on_gpu):
    found = kith.forces(on_gpu[0], cloud[1].tolist(), want="potential").potential
    assert numpy.allclose(library.fetch(found), kith.forces(*cloud).potential, rtol=1e-12)


def test_bad_numbers_are_told_when_the_stream_is_waited_for(library, cloud):
    bad = cloud[0].copy()
    bad[17, 1] = numpy.nan
    context = kith.Context("cuda")
    positions = library.bring(bad)
    with refused(ValueError, "17"):
        kith.forces(positions, context=context)
        context.synchronize()
    good = kith.forces(library.bring(cloud[0]), context=context, want="potential").potential
    context.synchronize()
    assert numpy.isfinite(library.fetch(good)).all()


def test_laws_and_matrices(library, cloud, on_gpu):
    for law in ("yukawa:2", "expr: exp(-r2)*m_i*m_j"):
        found = kith.forces(*on_gpu, law=law).acceleration
        assert numpy.allclose(library.fetch(found), kith.forces(*cloud, law=law).acceleration, rtol=1e-10, atol=1e-12)
    assert numpy.allclose(library.fetch(kith.matrix(on_gpu[0], law="distance")),
                          kith.matrix(cloud[0], law="distance"), rtol=1e-13)
    b = numpy.arange(203.0)
    product = kith.matrix.multiply(library.bring(b), on_gpu[0], law="gaussian:1")
    assert numpy.allclose(library.fetch(product), kith.matrix.multiply(b, cloud[0], law="gaussian:1"), rtol=1e-12)
    nearest = kith.matrix.reduce("argmin", on_gpu[0], law="distance")
    assert numpy.array_equal(library.fetch(nearest), kith.matrix.reduce("argmin", cloud[0], law="distance"))


def test_pairs(library, cloud, on_gpu):
    cell = numpy.diag([6.0, 7.0, 8.0])
    found = kith.pairs(on_gpu[0], 1.0, cell=cell, quantities="ijSd")
    expected = kith.pairs(cloud[0], 1.0, cell=cell, quantities="ijSd")
    for name in ("i", "j", "shifts", "offsets"):
        assert numpy.array_equal(library.fetch(getattr(found, name)), getattr(expected, name)), name
    assert numpy.allclose(library.fetch(found.distances), expected.distances, rtol=1e-14)
    nearest, told = kith.nearest(on_gpu[0], 4), kith.nearest(cloud[0], 4)
    assert numpy.array_equal(library.fetch(nearest.j), told.j)


def test_collisions(library, numbers):
    beads = numbers.integers(0, 12, size=(5001, 3)).astype("int32")
    expected = kith.collisions(beads)
    assert kith.collisions(library.bring(beads)) == expected
    assert kith.collisions(beads, device="cuda") == expected
    promises = [kith.collisions.launch(library.bring(beads[:n])) for n in (5001, 0, 7, 5001)]
    assert [promise.fetch() for promise in reversed(promises)][0::3] == [expected, expected]


def test_sparse_products(library, numbers):
    scipy_sparse = pytest.importorskip("scipy.sparse")
    A = scipy_sparse.random_array((300, 200), density=0.05, rng=numbers, format="csr")
    x, y = numbers.normal(size=200), numbers.normal(size=300)
    matrix = kith.SparseMatrix(A, device="cuda")
    assert numpy.allclose(library.fetch(matrix @ library.bring(x)), A @ x)
    assert numpy.allclose(library.fetch(matrix.T @ library.bring(y)), A.T @ y)


def test_a_simulation(library, cloud, on_gpu):
    velocities = 0.1 * cloud[0][:, ::-1]
    settings = {"dt": 0.01, "softening": 0.1}
    host = kith.Simulation(cloud[0], velocities, cloud[1], device="cpu", **settings)
    gpu = kith.Simulation(cloud[0], velocities, cloud[1], device="cuda", **settings)
    host.step(20)
    gpu.step(20)
    positions = gpu.bodies().positions
    assert numpy.allclose(positions, host.bodies().positions, rtol=1e-9, atol=1e-10)
    assert abs(gpu.energies.total_energy / host.energies.total_energy - 1) < 1e-10


def test_mesh_ewald_agrees_with_the_sum_of_all_images(library):
    ions = kith.make("nacl", 216, density=1.0, temperature=0.02, seed=3)
    positions = ions.positions + numpy.random.default_rng(5).uniform(-0.2, 0.2, ions.positions.shape)
    settings = {"law": "coulomb", "cell": ions.cell, "totals": True}
    expected = kith.forces(positions, charges=ions.charges, solver="ewald", device="cpu", **settings)
    found = kith.forces(library.bring(positions), charges=library.bring(ions.charges), solver="pme", error=1e-6,
                        **settings)
    difference = library.fetch(found.acceleration) - expected.acceleration
    assert numpy.linalg.norm(difference) <= 1e-6 * numpy.linalg.norm(expected.acceleration)
    assert found.totals.energy == pytest.approx(expected.totals.energy, rel=1e-6)
    assert numpy.allclose(found.totals.virial, expected.totals.virial, atol=1e-5 * abs(expected.totals.energy))


def test_a_simulation_of_ions_by_mesh_ewald():
    ions = kith.make("nacl", 216, density=1.0, temperature=0.02, seed=3)
    simulation = kith.Simulation(ions, dt=0.005, law="coulomb", solver="pme", error=1e-6, device="cuda")
    before = simulation.energies.total_energy
    simulation.step(100)
    assert simulation.energies.total_energy == pytest.approx(before, rel=1e-5)


def test_sums_of_formulas(library, cloud, on_gpu):
    cell = numpy.diag([6.0, 7.0, 8.0])
    for options in ({}, {"cutoff": 1.5}, {"cutoff": 1.5, "cell": cell}, {"reduce": "min"}):
        outputs = {"pull": "h_j * dx / (r2 + 0.01)", "push": "exp(-r2)"}
        expected = kith.sum(cloud[0], outputs, columns={"h": cloud[1]}, device="cpu", **options)
        found = kith.sum(on_gpu[0], outputs, columns={"h": on_gpu[1]}, **options)
        for name in outputs:
            assert numpy.allclose(library.fetch(found[name]), expected[name], rtol=1e-11, atol=1e-11), (name, options)


def test_systems_side_by_side(library, numbers):
    positions, masses = numbers.normal(size=(65, 7, 3)), numbers.uniform(0.5, 2, size=(65, 7))
    expected = kith.forces(positions, masses, softening=0.1, device="cpu")
    found = kith.forces(library.bring(positions), library.bring(masses), softening=0.1)
    for ours, theirs in zip(found, expected):
        assert numpy.allclose(library.fetch(ours), theirs, rtol=1e-11)
    shape = (65 * 7, 3)
    ensembles = [kith.Simulation(positions.reshape(shape), numpy.zeros(shape), masses.ravel(), dt=1e-3, softening=0.1,
                                 systems=65, device=device) for device in ("cuda", "cpu")]
    for ensemble in ensembles:
        ensemble.step(20)
    assert numpy.allclose(*[ensemble.bodies().positions for ensemble in ensembles], rtol=1e-10, atol=1e-11)


def test_a_liquid_with_a_thermostat():
    atoms = kith.make("fcc", n=500, density=0.8, temperature=1.2, seed=4)
    liquids = [kith.Simulation(atoms, dt=0.002, law="lennard-jones", cutoff=2.5, shift="force",
                               thermostat="bussi:0.7,0.1,3", device=device) for device in ("cuda", "cpu")]
    for liquid in liquids:
        liquid.step(50)
    assert numpy.allclose(*[liquid.bodies().positions for liquid in liquids], rtol=1e-8, atol=1e-8)


def test_gradients_on_the_gpu(cloud):
    library = Library("torch")
    torch = library.module
    import kith.torch

    positions = library.bring(cloud[0][:9]).requires_grad_()
    masses = library.bring(cloud[1][:9]).requires_grad_()
    assert torch.autograd.gradcheck(lambda x, m: kith.torch.energy(x, m, softening=0.2), (positions, masses))
    assert torch.autograd.gradcheck(lambda x: kith.torch.forces(x, masses.detach(), softening=0.2), (positions,))


@pytest.mark.parametrize("softening", [0.0, 0.2])
@pytest.mark.parametrize("law", ["gravity", "coulomb", "lennard-jones:1,0.5", "expr: exp(-r)*m_i*m_j"])
def test_second_derivatives_on_the_gpu(law, softening, cloud, numbers):
    library = Library("torch")
    torch = library.module
    import kith.torch

    weight = {"gravity": "masses", "coulomb": "charges"}.get(law)
    given = [cloud[0][:9], numbers.uniform(0.5, 2, size=9)][: 1 if weight is None else 2]

    def hessian(place):
        inputs = tuple(torch.asarray(array, device=place) for array in given)
        return torch.autograd.functional.hessian(
            lambda x, *w: kith.torch.energy(x, **({weight: w[0]} if w else {}), law=law, softening=softening), inputs)

    for found, expected in zip(hessian("cuda"), hessian("cpu")):
        for ours, theirs in zip(found, expected):
            assert ours.is_cuda and theirs.abs().max() > 1e-3
            assert torch.allclose(ours.cpu(), theirs, rtol=1e-10, atol=1e-11 * float(theirs.abs().max()))


def test_derivatives_of_forces_agree_with_the_cpu(library, cloud, on_gpu, numbers):
    directions = numbers.normal(size=cloud[0].shape)
    for options in ({"softening": 0.1, "g": 0.7}, {"law": "yukawa:2"}, {"law": "expr: exp(-r2)*m_i*m_j"}):
        expected = kith.forces_derivative(cloud[0], directions, cloud[1], device="cpu", **options)
        found = kith.forces_derivative(on_gpu[0], library.bring(directions), on_gpu[1], **options)
        for ours, theirs in zip(found, expected):
            assert numpy.allclose(library.fetch(ours), theirs, rtol=1e-10, atol=1e-10 * abs(theirs).max())
    single = kith.forces_derivative(*[library.bring(part.astype("float32")) for part in
                                      (1e11 * cloud[0], directions, 1e30 * cloud[1])], softening=1e10, g=6.674e-11)
    expected = kith.forces_derivative(1e11 * cloud[0], directions, 1e30 * cloud[1], softening=1e10, g=6.674e-11,
                                      device="cpu")
    assert numpy.allclose(library.fetch(single.acceleration), expected.acceleration, rtol=1e-4,
                          atol=1e-5 * abs(expected.acceleration).max())


def test_several_gpus_have_the_bits_of_one():
    random = numpy.random.default_rng(27)
    positions, masses = random.uniform(-1, 1, (65537, 3)), random.uniform(0.5, 1, 65537)
    one = kith.forces(positions, masses, softening=0.1, device="cuda")
    context = kith.Context("cuda:0,0")  # as a second GPU would
    assert context.device == "cuda:0,0"
    assert pickle.loads(pickle.dumps(context)).device == "cuda:0,0"
    for where in ({"context": context}, {"device": "cuda:all"}):
        shared = kith.forces(positions, masses, softening=0.1, **where)
        assert numpy.array_equal(shared.acceleration, one.acceleration)
        assert numpy.array_equal(shared.potential, one.potential)


def test_gpus_that_do_not_exist_are_refused():
    with refused(RuntimeError, "cuda:99"):
        kith.Context("cuda:0,99")
