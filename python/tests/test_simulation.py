"""Simulations: live arrays, energies, frames, files, and what Ctrl-C leaves."""

import numpy
import pytest
from refusals import refused

import kith


@pytest.fixture
def six():
    return kith.make("six")


def test_a_simulation_of_arrays_and_of_bodies_is_the_same(six):
    of_bodies = kith.Simulation(six, dt=1e-3, softening=0.05)
    of_arrays = kith.Simulation(six.positions, six.velocities, six.masses, dt=1e-3, softening=0.05)
    for simulation in (of_bodies, of_arrays):
        simulation.step(100)
    assert numpy.array_equal(of_bodies.positions, of_arrays.positions)
    assert of_bodies.time == 0.1 and of_bodies.steps == 100


def test_arrays_are_live_views(six):
    simulation = kith.Simulation(six, dt=1e-3, softening=0.05)
    positions, velocities = simulation.positions, simulation.velocities
    before, address = positions.copy(), positions.__array_interface__["data"][0]
    assert not positions.flags.writeable and not positions.flags.owndata
    simulation.step(10)
    assert not numpy.array_equal(positions, before)
    assert simulation.positions.__array_interface__["data"][0] == address
    assert numpy.array_equal(positions, simulation.bodies().positions)
    assert numpy.array_equal(velocities, simulation.bodies().velocities)
    with pytest.raises(ValueError):
        positions[0] = 0
    assert numpy.allclose(simulation.masses, six.masses)
    del simulation  # the view keeps it
    assert numpy.isfinite(positions).all()


def test_lengths_far_out_of_range_are_copied():
    bodies = kith.Bodies(numpy.eye(3) * 1e60, masses=numpy.full(3, 1e60))
    simulation = kith.Simulation(bodies, dt=1e20)
    assert numpy.array_equal(simulation.positions, bodies.positions)
    assert numpy.array_equal(simulation.masses, bodies.masses)


@pytest.mark.parametrize("precision, dtype", [("double", numpy.float64), ("single", numpy.float32)])
def test_energies_are_kept_and_momenta(six, precision, dtype):
    simulation = kith.Simulation(six, dt=1e-3, softening=0.05, precision=precision)
    start = simulation.energies
    simulation.run(1.0)
    end = simulation.energies
    assert simulation.positions.dtype == dtype and simulation.time == 1.0
    assert end.total_energy == pytest.approx(start.total_energy, rel=1e-2)
    assert numpy.allclose(end.momentum, start.momentum, atol=1e-11 if precision == "double" else 1e-3)
    assert end.total_energy == pytest.approx(end.kinetic_energy + end.potential_energy)


def test_run_ends_exactly_and_steps_may_be_split(six):
    whole, parts = (kith.Simulation(six, dt=1e-3, softening=0.05) for _ in range(2))
    whole.run(0.5004)
    parts.step(17)
    parts.run(0.2)
    parts.run(0.5004)
    assert whole.time == parts.time == 0.5004 and whole.steps == 501
    assert numpy.array_equal(whole.positions, parts.positions)
    whole.step_by(-0.0004)
    assert whole.time == pytest.approx(0.5)


def test_frames(six):
    simulation = kith.Simulation(six, dt=0.01, softening=0.05)
    times, positions = zip(*((frame.time, frame.positions.copy()) for frame in simulation.frames(1.0, every=30)))
    assert times == pytest.approx([0, 0.3, 0.6, 0.9, 1.0]) and times[-1] == 1.0
    other = kith.Simulation(six, dt=0.01, softening=0.05)
    other.run(1.0)
    assert numpy.array_equal(positions[-1], other.positions)
    assert [frame.time for frame in simulation.frames(1.0)] == [1.0]
    with refused(ValueError, "every 0"):
        next(simulation.frames(2.0, every=0))


def test_the_state_can_be_changed_between_steps(six):
    simulation = kith.Simulation(six, dt=1e-3, softening=0.05)
    simulation.step(5)
    kept = simulation.positions.copy()
    simulation.set(velocities=numpy.zeros_like(kept), masses=2 * six.masses)
    assert numpy.array_equal(simulation.positions, kept)
    assert simulation.energies.kinetic_energy == 0 and simulation.time == 0.005
    assert numpy.allclose(simulation.masses, 2 * six.masses)
    with refused(ValueError, "velocities"):
        simulation.set(velocities=[[0.0, 0, 0]])


def test_ensembles():
    starts = [kith.make("six", seed=seed) for seed in range(3)]
    joined = kith.Bodies(*(numpy.concatenate([getattr(start, name) for start in starts])
                           for name in ("positions", "velocities", "masses")))
    simulation = kith.Simulation(joined, dt=1e-3, softening=0.05, systems=3)
    simulation.step(50)
    assert simulation.positions.shape == (3, 6, 3)
    for k, start in enumerate(starts):
        alone = kith.Simulation(start, dt=1e-3, softening=0.05)
        alone.step(50)
        assert numpy.allclose(simulation.positions[k], alone.positions, rtol=1e-9)
        assert simulation.energies_of_systems[k].total_energy == pytest.approx(alone.energies.total_energy)


def test_a_law_and_softening_lengths(six):
    spring = kith.Simulation([[0.0, 0], [2.0, 0]], masses=[1.0, 1.0], dt=1e-3, law="expr: r2/2")
    spring.run(numpy.pi / numpy.sqrt(2))
    assert numpy.allclose(spring.positions, [[2.0, 0], [0.0, 0]], atol=1e-3)
    lengths = kith.Simulation(six, dt=1e-3, softening=numpy.full(6, 0.05))
    alike = kith.Simulation(six, dt=1e-3, softening=0.05)
    assert lengths.energies.total_energy == pytest.approx(alike.energies.total_energy, rel=1e-12)


def test_a_run_into_a_file(six, tmp_path):
    path = tmp_path / "run.h5"
    simulation = kith.Simulation(six, dt=1e-3, softening=0.05)
    summary = simulation.run(0.5, path, every=100)
    other = kith.Simulation(six, dt=1e-3, softening=0.05)
    other.run(0.5)
    assert numpy.array_equal(simulation.positions, other.positions)
    assert simulation.time == summary.time == 0.5 and simulation.steps == summary.steps == 500
    last, first = kith.read(path), kith.read(path, frame=1)
    assert numpy.array_equal(last.positions, simulation.positions)
    assert numpy.array_equal(first.positions, six.positions)
    simulation.run(0.75, path, resume=True, every=100)
    other.run(0.75)
    assert numpy.array_equal(simulation.positions, other.positions)
    assert simulation.steps == 750
    with refused(ValueError, "resume"):
        simulation.run(1.0, tmp_path / "nothing.h5", resume=True)


def test_ctrl_c_stops_between_two_steps(six, interrupted):
    simulation = kith.Simulation(six, dt=1e-3, softening=0.05)
    interrupted(lambda: simulation.run(1e6))
    done = simulation.steps
    assert 0 < done < 1e9 and simulation.time == pytest.approx(done * 1e-3)
    again = kith.Simulation(six, dt=1e-3, softening=0.05)
    again.step(done)
    assert numpy.array_equal(again.positions, simulation.positions)
    interrupted(lambda: again.step(1 << 40))


def test_ctrl_c_leaves_a_file_to_resume(six, tmp_path, interrupted):
    path = tmp_path / "run.h5"
    simulation = kith.Simulation(six, dt=1e-3, softening=0.05)
    interrupted(lambda: simulation.run(1e6, path, every=1 << 30))
    assert path.exists() and simulation.time > 0
    until = simulation.time + 1.0
    simulation.step(3)  # the context is not cancelled for ever
    other = kith.Simulation(six, dt=1e-3, softening=0.05)
    kith.Simulation(six, dt=1e-3, softening=0.05).run(until, path, every=1 << 30, resume=True)
    other.run(until)
    assert numpy.array_equal(kith.read(path).positions, other.positions)


@pytest.mark.parametrize("arguments, fields", [
    (dict(dt=0), "dt 0"), (dict(dt=1, integrator="euler"), "integrator 'euler'"),
    (dict(dt=1, precision="half"), "precision 'half'"),
    (dict(dt=1, masses=[1.0]), "masses"), (dict(dt=1, softening=-1), "softening -1"),
])
def test_errors(arguments, fields):
    with refused(ValueError, fields):
        kith.Simulation([[0.0, 0], [1, 0]], **arguments)


def test_bodies_there_and_back(tmp_path):
    bodies = kith.Bodies(numpy.arange(6.0).reshape(2, 3), numpy.ones((2, 3)), [1.0, 2.0], charges=[0.5, -0.5],
                         names=["Na", "Cl"], cell=[9.0, 9, 9], periodic=[True, True, False], time=3.0)
    bodies.write(tmp_path / "b.xyz")
    back = kith.read(tmp_path / "b.xyz")
    assert numpy.array_equal(back.positions, bodies.positions) and back.names == ["Na", "Cl"]
    assert numpy.array_equal(back.cell, numpy.diag([9.0, 9, 9])) and back.periodic == (True, True, False)
    bodies.masses[0] = 7
    assert bodies.masses.tolist() == [7.0, 2.0]
    assert "xyz" in kith.formats()
    with refused(ValueError, "names[0] 31"):
        kith.Bodies([[0.0, 0]], names=["x" * 40])
    with refused(kith.FormatError, "3"):
        (tmp_path / "bad.csv").write_text("x,y\n1,2\n3,z\n")
        kith.read(tmp_path / "bad.csv")
    (tmp_path / "plain.abc").write_text("x,y\n1,2\n")
    with refused(ValueError, "plain.abc .csv .txt .h5"):
        kith.read(tmp_path / "plain.abc")
    with refused(ValueError, "'gif' csv"):
        kith.read(tmp_path / "plain.abc", format="gif")
    with refused(ValueError, "b.abc .csv .txt .h5"):
        bodies.write(tmp_path / "b.abc")
    with refused(ValueError, "nonsense"):
        kith.make("nonsense")


@pytest.mark.parametrize("integrator", ["whfast", "hybrid"])
def test_a_cluster_has_no_star(integrator):
    with pytest.warns(RuntimeWarning, match=f"{integrator}.* 0.1 .* 0.9;"):
        kith.Simulation(kith.make("plummer", 10), dt=0.01, integrator=integrator)
    kith.Simulation(kith.make("outer-solar-system"), dt=1, integrator=integrator)
    kith.Simulation(kith.make("plummer", 10), dt=0.01)


def test_tables_of_numpy_are_bodies(tmp_path):
    table = numpy.array([[0, 0, 0.5, 1], [1, -2, 3, 4]])
    for name, separator in (("a.txt", " "), ("a.dat", "\t"), ("b.txt", ",")):
        numpy.savetxt(tmp_path / name, table, header=separator.join("xyzm"), delimiter=separator)
        read = kith.read(tmp_path / name)
        assert numpy.array_equal(numpy.column_stack([read.positions, read.masses]), table)


def test_bodies_bring_their_units_and_constant(tmp_path):
    sun = kith.make("solar-system")
    assert sun.g == 0.01720209895**2 and sun.units == ("AU", "day", "Msun")
    assert kith.make("plummer", 10).g == 1 and kith.make("plummer", 10).units is None
    for name in ("sun.csv", "sun.xyz", "sun.h5"):
        sun.write(tmp_path / name)
        read = kith.read(tmp_path / name)
        assert (read.g, read.units) == (sun.g, sun.units)

    simulation = kith.Simulation(sun, dt=1)
    with_g = kith.Simulation(sun, dt=1, g=sun.g)
    assert simulation.energies == with_g.energies
    assert kith.Simulation(sun, dt=1, g=1).energies.potential_energy < 1000 * simulation.energies.potential_energy
    assert simulation.bodies().g == sun.g
    simulation.set(time=5)
    assert simulation.bodies().units == sun.units
    assert simulation.run(400, tmp_path / "run.h5").max_relative_energy_error < 1e-3
    assert kith.read(tmp_path / "run.h5").units == sun.units
    with pytest.warns(RuntimeWarning, match="energy"):
        kith.Simulation(sun, dt=1, g=1).run(100, tmp_path / "wrong.h5")
    assert kith.read(tmp_path / "wrong.h5").g == 1

    own = kith.Bodies([[0.0, 0], [1.0, 0]], g=4.0, units=("m", "s", "kg"))
    assert kith.Simulation(own, dt=0.1).energies.potential_energy == pytest.approx(-4, rel=1e-15)
    with refused(ValueError, "units"):
        own.units = ("m", "s")
    with refused(ValueError, "g 0"):
        own.g = 0


def test_a_simulation_keeps_an_accuracy(tmp_path):
    bodies = kith.make("plummer", 3000, seed=5)
    simulation = kith.Simulation(bodies, dt=0.01, softening=0.05, solver="fmm", error=1e-4, device="cpu")
    summary = simulation.run(0.05, tmp_path / "run.h5")
    assert summary.solver == "fmm" and 0 < summary.max_relative_energy_error < 1e-3


def test_arguments_of_an_output_need_one():
    with refused(ValueError, "every output="):
        kith.Simulation([[0.0, 0], [1.0, 0]], dt=0.1).run(1.0, every=5)


def test_an_output_has_the_name_of_its_format(tmp_path):
    with refused(ValueError, "output run.csv .h5"):
        kith.Simulation([[0.0, 0], [1.0, 0]], dt=0.1).run(1.0, tmp_path / "run.csv")
    assert not (tmp_path / "run.csv").exists()


def test_an_adaptive_integrator_has_frames_at_equal_times_and_ends_exactly(tmp_path):
    comet = kith.make("two-body", eccentricity=0.9)
    simulation = kith.Simulation(comet, dt=0.01, integrator="ias15", device="cpu")
    before = simulation.energies.total_energy
    simulation.run(100.0)
    assert simulation.time == 100 and abs(simulation.energies.total_energy / before - 1) < 1e-13
    assert [frame.time for frame in simulation.frames(101.0, every=1 << 20)] == [100, 101]
    summary = simulation.run(103.0, tmp_path / "comet.h5", every_time=0.5)
    assert [kith.read(tmp_path / "comet.h5", frame=k).time for k in range(1, 6)] == [101, 101.5, 102, 102.5, 103]
    assert summary.dt_min < summary.dt_max and summary.body_steps == 2 * summary.steps
    rows = {row.name: row for row in kith.integrators()}
    assert rows["ias15"].adaptive and not rows["leapfrog"].adaptive


def test_whfast_has_coordinates_correctors_and_kernels():
    planets = kith.make("outer-solar-system")
    errors = {}
    for options in ({}, {"coordinates": "democratic-heliocentric"}, {"corrector": 17, "kernel": "lazy"}):
        simulation = kith.Simulation(planets, dt=100, integrator="whfast", device="cpu", **options)
        start = simulation.energies.total_energy
        simulation.step(1000)
        errors[len(options)] = abs(simulation.energies.total_energy / start - 1)
    assert 1e-9 < errors[0] < 1e-5 and errors[2] < 1e-11 and errors[1] > errors[2]
    with refused(ValueError, "corrector 4"):
        kith.Simulation(planets, dt=100, integrator="whfast", device="cpu", corrector=4)
    assert kith.integrators()[0].central is False and any(row.central for row in kith.integrators())


def test_thermostats_have_one_result_and_keep_the_momentum():
    atoms = kith.make("fcc", 108, density=0.8, temperature=1.0)
    for thermostat, keeps in (("bussi:0.7,0.1,3", True), ("langevin:0.7,0.1", False)):
        ends = []
        for threads in (1, 3):
            simulation = kith.Simulation(atoms.positions, atoms.velocities, dt=0.002, law="gaussian:0.3",
                                         thermostat=thermostat, threads=threads)
            simulation.step(20)
            ends.append(simulation.velocities)
        assert (numpy.asarray(ends[0]) == numpy.asarray(ends[1])).all()
        assert (abs(simulation.energies.momentum[0]) < 1e-10) == keeps
    with refused(ValueError, "thermostat"):
        kith.Simulation(atoms.positions, dt=0.002, thermostat="bussi:-1,1")


def test_a_crystal_runs_within_a_cutoff_in_its_cell(tmp_path):
    atoms = kith.make("fcc", 108, density=0.8, temperature=1.2)
    assert abs(108 / numpy.linalg.det(atoms.cell) - 0.8) < 1e-12
    options = {"dt": 0.002, "law": "lennard-jones", "cutoff": 2.5, "shift": "force"}
    of_bodies = kith.Simulation(atoms, **options)
    of_arrays = kith.Simulation(atoms.positions, atoms.velocities, cell=numpy.diag(atoms.cell), **options)
    energy = of_bodies.energies.total_energy
    for simulation in (of_bodies, of_arrays):
        simulation.step(100)
    assert numpy.array_equal(of_bodies.positions, of_arrays.positions)
    assert abs(of_bodies.energies.total_energy - energy) < 1e-3 * 108
    of_bodies.run(of_bodies.time + 0.01, output=tmp_path / "run.h5")
    found = of_bodies.energies
    totals = kith.forces(of_bodies.positions, law="lennard-jones", cutoff=2.5, shift="force", cell=atoms.cell,
                         totals=True).totals
    assert found.pressure == pytest.approx(totals.pressure(found.kinetic_energy), rel=1e-9)
    assert numpy.allclose(found.virial, totals.virial, rtol=1e-9, atol=1e-9)
    assert found.temperature == pytest.approx(2 * found.kinetic_energy / (3 * 107), rel=1e-9)
    assert kith.open(tmp_path / "run.h5").observable("virial").shape[1] == 9
    assert numpy.array_equal(kith.read(tmp_path / "run.h5").cell, atoms.cell)
    with refused(ValueError, "periodic cell"):
        kith.Simulation([[0.0, 0, 0]], dt=0.1, periodic=True)
    with refused(NotImplementedError, "cutoff"):
        kith.Simulation([[0.0, 0, 0]], dt=0.1, cell=[1.0, 1, 1])


@pytest.mark.parametrize("solver", ["ewald", "pme"])
def test_ions_run_with_all_their_images(tmp_path, solver):
    ions = kith.make("nacl", 64, density=1.0, temperature=0.02, seed=2)
    options = {"dt": 0.005, "law": "coulomb", "solver": solver, "error": 1e-6, "boundary": "vacuum",
               "exclude": [[0, 1], [5, 9]]}
    try:
        simulation = kith.Simulation(ions, **options)
    except NotImplementedError as error:
        assert "FFTW" in str(error)
        return
    totals = kith.forces(ions.positions, charges=ions.charges, law="coulomb", solver="ewald", boundary="vacuum",
                         exclude=[[0, 1], [5, 9]], cell=ions.cell, totals=True).totals
    energies = simulation.energies
    assert energies.potential_energy == pytest.approx(totals.energy, rel=1e-6)
    assert energies.pressure == pytest.approx(totals.pressure(energies.kinetic_energy), rel=1e-5)
    path = tmp_path / "ions.h5"
    summary = simulation.run(0.5, output=path, every=20)
    assert summary.solver == solver and summary.max_relative_energy_error < 1e-5
    resumed = simulation.run(0.6, output=path, resume=True)
    assert resumed.steps == 120
    with refused(ValueError, "grid 5"):
        kith.Simulation(ions, dt=0.1, law="coulomb", solver="pme", grid=range(5))
    with refused(ValueError, "exclude"):
        kith.Simulation(ions, dt=0.1, law="coulomb", solver="pme", exclude=[[0, 1, 2]])


def test_wrapped_frames_are_read_unwrapped(tmp_path):
    atoms = kith.make("fcc", n=32, density=0.8, temperature=4.0)
    settings = {"dt": 0.002, "law": "lennard-jones", "cutoff": 1.7}
    for name, wrap in (("plain.h5", False), ("wrapped.h5", True)):
        kith.Simulation(atoms, **settings).run(1.0, tmp_path / name, every=100, wrap=wrap)
    plain, wrapped = (kith.open(tmp_path / name) for name in ("plain.h5", "wrapped.h5"))
    assert abs(plain.positions).max() > atoms.cell[0, 0]
    numpy.testing.assert_allclose(wrapped.positions, plain.positions, rtol=0, atol=1e-13)
    with refused(ValueError, "wrap"):
        kith.Simulation(atoms, **settings).run(1.0, wrap=True)
    with refused(ValueError, "pressure_every"):
        kith.Simulation(atoms, **settings).run(1.0, pressure_every=3)
