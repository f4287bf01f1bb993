"""Forces against the formula, written in NumPy."""

import numpy
import pytest
from refusals import refused

import kith


def by_formula(positions, masses, softening, g=1.0):
    d = positions[None] - positions[:, None]
    s2 = (d**2).sum(axis=2) + softening**2
    numpy.fill_diagonal(s2, numpy.inf)
    acceleration = g * numpy.einsum("ijk,ij->ik", d, masses / s2**1.5)
    return acceleration, -g * (masses / numpy.sqrt(s2)).sum(axis=1)


@pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-13), ("float32", 1e-5)])
@pytest.mark.parametrize("dimensions", [2, 3])
def test_forces_are_those_of_the_formula(cloud, dtype, tolerance, dimensions):
    positions, masses = cloud[0][:, :dimensions].astype(dtype), cloud[1].astype(dtype)
    acceleration, potential = kith.forces(positions, masses, softening=0.1, g=2.5)
    expected = by_formula(positions.astype(float), masses.astype(float), 0.1, 2.5)
    assert numpy.allclose(acceleration, expected[0], rtol=tolerance, atol=100 * tolerance)
    assert numpy.allclose(potential, expected[1], rtol=tolerance)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few_bodies(n):
    found = kith.forces(numpy.zeros((n, 3)) + numpy.arange(n)[:, None])
    assert found.acceleration.shape == (n, 3) and found.potential.shape == (n,)


def test_the_same_bits_for_every_number_of_threads(cloud):
    one, three = (kith.forces(*cloud, threads=threads, device="cpu") for threads in (1, 3))
    assert numpy.array_equal(one.acceleration, three.acceleration)


def test_targets_of_their_own(cloud):
    positions, masses = cloud
    found = kith.forces(positions, masses, targets=positions[:7] + 10.0)
    d = positions[None] - (positions[:7] + 10.0)[:, None]
    assert numpy.allclose(found.potential, -(masses / numpy.linalg.norm(d, axis=2)).sum(axis=1))


def test_a_law_instead_of_gravity(cloud):
    positions, masses = cloud
    found = kith.forces(positions, masses, law=kith.law("expr: k*r2/2", k=3.0))
    d = positions[None] - positions[:, None]
    assert numpy.allclose(found.acceleration, 3.0 * d.sum(axis=1) / masses[:, None])
    assert numpy.allclose(found.potential, 1.5 * (d**2).sum(axis=(1, 2)))
    value = kith.forces(positions, masses, law="gravity", want="value")
    assert value.acceleration is None
    assert numpy.allclose(value.potential, masses * by_formula(positions, masses, 0)[1])


def test_softening_a_body(cloud):
    positions, masses = cloud
    each = kith.forces(positions, masses, softening=numpy.full(203, 0.3))
    all_alike = kith.forces(positions, masses, softening=0.3)
    assert numpy.allclose(each.acceleration, all_alike.acceleration, rtol=1e-12)


@pytest.mark.parametrize("arguments, fields", [
    (dict(positions=numpy.zeros((3, 4))), "positions 4"),
    (dict(positions=numpy.zeros(3)), "positions 1"),
    (dict(positions=[[0.0, 0], [1, numpy.nan]]), "1 positions nan"),
    (dict(positions=[[0.0, 0]], softening=-1), "softening -1"),
    (dict(positions=[[0.0, 0]], method="fast"), "method 'fast' 'auto' 'direct'"),
    (dict(positions=[[0.0, 0]], method="symetric"), "method 'symetric' 'symmetric'"),
    (dict(positions=[[0.0, 0]], want="all"), "want 'all'"),
    (dict(positions=[[0.0, 0]], g=0), "g 0"),
    (dict(positions=[[0.0, 0]], law="newton"), "newton"),
    (dict(positions=[[0.0, 0]], device="gpu"), "device 'gpu'"),
    (dict(positions=[[0.0, 0]], masses=[1.0, 2.0]), "masses 2 1"),
    (dict(positions=[[0.0, 0]], masses=[numpy.nan]), "0 masses nan"),
    (dict(positions=[[0.0, 0]], targets=[[numpy.inf, 0]]), "0 targets inf"),
    (dict(positions=[[0.0, 0]], threads=-1), "threads -1"),
])
def test_errors_name_the_argument(arguments, fields):
    with refused(ValueError, fields):
        kith.forces(**arguments)


def test_a_device_that_is_not_there():
    with pytest.raises((RuntimeError, ValueError)):
        kith.forces([[0.0, 0]], device="cuda:77")


def test_other_threads_run_meanwhile():
    """The interpreter's lock is released: another thread counts while forces are computed."""
    import threading

    positions = numpy.random.default_rng(1).normal(size=(30_000, 3))
    turns, done = [0], threading.Event()

    def count():
        while not done.is_set():
            turns[0] += 1
            done.wait(1e-4)

    thread = threading.Thread(target=count)
    thread.start()
    before = turns[0]
    kith.forces(positions, device="cpu", threads=1)
    counted = turns[0] - before
    done.set()
    thread.join()
    assert counted > 2


def test_one_context_serves_many_threads(cloud):
    """Calls of one context wait for each other."""
    from concurrent.futures import ThreadPoolExecutor

    context = kith.Context("cpu", threads=1)
    expected = kith.forces(*cloud, context=context).potential
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: kith.forces(*cloud, context=context).potential, range(40)))
    assert all(numpy.array_equal(one, expected) for one in found)


@pytest.mark.parametrize("options", [{"solver": "fmm", "error": 1e-4}, {"solver": "tree", "error": 1e-4},
                                     {"solver": "fmm", "theta": 0.4, "order": 8}])
def test_an_accuracy_is_kept(options):
    bodies = kith.make("plummer", 20000, seed=3)
    exact = kith.forces(bodies.positions, bodies.masses, softening=0.01, solver="direct").acceleration
    found = kith.forces(bodies.positions, bodies.masses, softening=0.01, device="cpu", **options).acceleration
    errors = numpy.linalg.norm(found - exact, axis=1) / numpy.linalg.norm(exact, axis=1)
    assert 0 < numpy.sqrt((errors**2).mean()) < 1e-3


@pytest.mark.parametrize("options, fields", [({"error": 0}, "error 0"), ({"theta": 1.5}, "theta 1.5"),
                                              ({"order": 21}, "order 21"), ({"error": -1.0}, "error -1"),
                                              ({"error": 1e-3, "theta": 0.5}, "error theta")])
def test_an_accuracy_that_cannot_be_is_refused(options, fields):
    with refused(ValueError, fields):
        kith.forces([[0.0, 0], [1.0, 0]], solver="fmm", **options)
    with refused(ValueError, fields):
        kith.Simulation([[0.0, 0], [1.0, 0]], dt=0.1, solver="fmm", **options)


def test_periodic_images_are_summed():
    crystal = {"positions": [[0.0, 0, 0], [0.5, 0.5, 0.5]], "charges": [1.0, -1.0], "law": "coulomb", "solver": "ewald"}
    madelung = -1.762674773070988 * 2 / 3**0.5
    found = kith.forces(**crystal, cell=[1.0, 1.0, 1.0])
    assert numpy.allclose(found.potential, madelung, rtol=0, atol=1e-11)
    assert numpy.abs(found.acceleration).max() < 1e-11
    apart = kith.forces(**crystal, cell=numpy.eye(3), exclude=[[0, 1]], want="potential").potential
    assert numpy.allclose(apart, madelung + 2 / 3**0.5, rtol=0, atol=1e-11)
    slab = kith.forces(**crystal, cell=[1.0, 1.0, 1.0], periodic=[True, True, False], alpha=3.0, cutoff=2.0)
    assert slab.potential[0] < 0
    with refused(NotImplementedError, "cell"):
        kith.forces(**crystal)
    with refused(ValueError, "boundary 'water'"):
        kith.forces(**crystal, cell=[1.0, 1.0, 1.0], boundary="water")
    with refused(ValueError, "exclude"):
        kith.forces(**crystal, cell=[1.0, 1.0, 1.0], exclude=[[0, 1, 2]])


def test_pairs_within_a_cutoff_are_excluded():
    chain = {"positions": [[0.0, 0, 0], [0.25, 0, 0], [1.0, 0, 0]], "law": "distance2", "cutoff": 0.9}
    assert kith.forces(**chain, exclude=[[0, 1]], want="potential").potential.tolist() == [0.0, 0.5625, 0.5625]
    assert kith.forces(**chain, exclude=[[2, 1], [1, 0]], want="potential").potential.tolist() == [0.0, 0.0, 0.0]
    resting = kith.Simulation(chain["positions"], dt=0.1, law="distance2", cutoff=0.9, exclude=[[0, 1], [1, 2]])
    resting.step(3)
    assert numpy.array_equal(resting.positions, chain["positions"])
    with refused(ValueError, "row 0 3"):
        kith.forces(**chain, exclude=[[0, 3]])


def test_totals_are_sums_over_pairs_and_shifts_change_them():
    atoms = kith.make("fcc", 108, density=0.8)
    options = {"law": "lennard-jones", "cutoff": 2.5, "cell": atoms.cell, "totals": True}
    plain = kith.forces(atoms.positions, **options)
    acceleration, potential = plain
    assert plain.totals.energy == pytest.approx(potential.sum() / 2, rel=1e-13)
    assert plain.totals.volume == pytest.approx(135, rel=1e-13) and plain.totals.virial.shape == (3, 3)
    assert plain.totals.pressure(1.5) == pytest.approx((3 + numpy.trace(plain.totals.virial)) / 405)
    assert kith.forces(atoms.positions, **options | {"totals": False}).totals is None
    at_cutoff = 4 * (2.5**-12 - 2.5**-6)
    count = len(kith.pairs(atoms.positions, cutoff=2.5, cell=atoms.cell)) / 2
    shifted = kith.forces(atoms.positions, shift="energy", **options).totals
    assert shifted.energy == pytest.approx(plain.totals.energy - count * at_cutoff, rel=1e-12)
    tail = kith.forces(atoms.positions, tail=True, **options).totals.energy - plain.totals.energy
    assert tail == pytest.approx(8 * numpy.pi / 3 * 108 * 0.8 * (2.5**-9 / 3 - 2.5**-3), rel=1e-9)
    with refused(ValueError, "totals targets"):
        kith.forces(atoms.positions, targets=[[0.0, 0, 0]], **options)


def test_lennard_jones_mixtures_have_mean_lengths_and_geometric_depths():
    rng = numpy.random.default_rng()
    x = numpy.argwhere(numpy.ones((3, 3, 3))) * 1.2 + rng.uniform(-0.2, 0.2, (27, 3))
    masses, epsilon, sigma = rng.uniform(1, 2, 27), rng.uniform(0.5, 2, 27), rng.uniform(0.7, 1.1, 27)
    d = x[None] - x[:, None]
    r = numpy.sqrt((d**2).sum(2)) + numpy.eye(27) * 1e9
    depth, s6 = numpy.sqrt(numpy.outer(epsilon, epsilon)), ((sigma[:, None] + sigma) / 2 / r) ** 6
    a = ((-4 * depth * (12 * s6**2 - 6 * s6) / r**2)[..., None] * d).sum(1) / masses[:, None]
    law = {"law": "lennard-jones", "epsilon": epsilon, "sigma": sigma}
    found = kith.forces(x, masses, **law)
    numpy.testing.assert_allclose(found.acceleration, a, rtol=1e-10, atol=1e-12 * abs(a).max())
    numpy.testing.assert_allclose(found.potential, (4 * depth * (s6**2 - s6)).sum(1), rtol=1e-9)
    single = kith.forces(x.astype("float32"), masses, **law)
    assert abs(single.acceleration - a).max() < 1e-4 * abs(a).max()

    bodies = kith.Bodies(x, masses=masses, epsilon=epsilon, sigma=sigma)
    simulation = kith.Simulation(bodies, dt=1e-4, law="lennard-jones")
    before = simulation.energies
    assert abs(before.potential_energy - found.potential.sum() / 2) < 1e-10 * abs(before.potential_energy)
    simulation.run(0.05)
    assert abs(simulation.energies.total_energy - before.total_energy) < 1e-5 * (4 * depth * (s6**2 + s6)).sum()

    with refused(ValueError, "epsilon sigma"):
        kith.forces(x, law="lennard-jones", epsilon=epsilon)
    with refused(ValueError, "epsilon sigma targets"):
        kith.forces(x, targets=x + 1, **law)
    with refused(ValueError, "lennard-jones"):
        kith.forces(x, law="lennard-jones:2,1", epsilon=epsilon, sigma=sigma)
