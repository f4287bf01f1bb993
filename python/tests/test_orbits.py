"""Orbital elements, and planets by theirs."""

import numpy
import pytest
from refusals import refused

import kith

PLANETS = [[1e-3, 1, 0.05, 0.1, 1, 2, 3], [0, -2, 1.5, 2, 3, 4, -5], [2e-3, 4, 0.3, 3, 5, 6, 1]]
NAMES = ("a", "e", "i", "Omega", "omega", "M")


@pytest.mark.parametrize("coordinates", ["heliocentric", "jacobi", "barycentric"])
def test_planets_have_the_elements_that_they_were_made_with(coordinates):
    bodies = kith.make("planets", elements=PLANETS, star=2, g=3, coordinates=coordinates)
    assert bodies.masses.tolist() == [2, 1e-3, 0, 2e-3]
    assert bodies.g == 3
    orbits = kith.orbits(bodies, coordinates=coordinates)
    for k, name in enumerate(NAMES):
        numpy.testing.assert_allclose(orbits[name], numpy.array(PLANETS)[:, k + 1], rtol=1e-12)


@pytest.mark.parametrize("coordinates", ["heliocentric", "jacobi"])
def test_added_planets_have_the_elements_that_they_were_given(coordinates):
    elements = [[1e-3, 5.2, 0.05, 0.02, 1.7, 4.8, 0.3], [3e-4, 9.5, 0.06, 0.04, 2.0, 5.9, 5.5],
                [0, -2, 1.5, 0.3, 1, 2, -1]]
    bodies = kith.Bodies([[1.0, 2, 3]], [[0.1, 0, 0]], [2.0], names=["star"], ids=[7], radii=[0.1], g=3.0)
    for row in elements:
        bodies.add(*row, coordinates=coordinates, radius=0.01)
    orbits = kith.orbits(bodies, coordinates=coordinates)
    for k, name in enumerate(["a", "e", "i", "Omega", "omega", "M"], 1):
        assert numpy.allclose(orbits[name], [row[k] for row in elements], rtol=1e-12, atol=1e-12)
    assert bodies.positions[0].tolist() == [1, 2, 3] and bodies.g == 3
    assert bodies.masses.tolist() == [2, 1e-3, 3e-4, 0] and bodies.radii.tolist() == [0.1, 0.01, 0.01, 0.01]
    assert bodies.ids.tolist() == [7, 8, 9, 10] and bodies.names == ["star", "", "", ""]


def test_planets_are_added_in_the_plane_and_without_columns():
    bodies = kith.Bodies([[0.0, 0]])
    bodies.add(0.1, 1.0, 0.2)
    assert numpy.allclose(bodies.positions, [[0, 0], [0.8, 0]]) and bodies.masses.tolist() == [1, 0.1]
    with refused(ValueError, "i 0.1"):
        bodies.add(0.1, 1.0, i=0.1)
    with refused(ValueError, "bodies"):
        kith.Bodies(numpy.empty((0, 3))).add(1, 1)
    assert len(bodies) == 2


INTEGRATORS = ["leapfrog", "ias15", "whfast", "hybrid", "hermite-block"]


def run_with_added(integrator, until):
    """A star and a planet to this time, then with another planet."""
    simulation = kith.Simulation([[0.0, 0, 0]], masses=[1.0], dt=0.05, integrator=integrator, time=1.0, device="cpu")
    simulation.add(1e-3, 1.0, 0.05)
    simulation.run(until)
    alone = simulation.bodies()
    simulation.add(3e-4, 1.6, 0.03, 0.1, 1, 2, 3, coordinates="jacobi", radius=1e-4)
    return simulation, alone


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_planets_are_added_before_the_first_step(integrator):
    simulation, _ = run_with_added(integrator, 1.0)
    bodies = kith.Bodies([[0.0, 0, 0]], masses=[1.0])
    bodies.add(1e-3, 1.0, 0.05)
    bodies.add(3e-4, 1.6, 0.03, 0.1, 1, 2, 3, coordinates="jacobi", radius=1e-4)
    together = kith.Simulation(bodies, dt=0.05, integrator=integrator, time=1.0, device="cpu")
    for each in (simulation, together):
        each.run(4.0)
    assert simulation.bodies().positions.tobytes() == together.bodies().positions.tobytes()
    assert simulation.steps == together.steps and simulation.bodies().radii.tolist() == [0, 0, 1e-4]


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_planets_are_added_between_steps(integrator):
    simulation, alone = run_with_added(integrator, 3.0)
    steps, added = simulation.steps, simulation.bodies()
    assert steps > 0 and simulation.time == 3.0
    for name in ("positions", "velocities", "masses"):
        assert getattr(added, name)[:2].tobytes() == getattr(alone, name).tobytes()
    assert numpy.allclose(simulation.orbits("jacobi")[1].item()[:6], [1.6, 0.03, 0.1, 1, 2, 3], rtol=1e-11)
    again = kith.Simulation(added, dt=0.05, integrator=integrator, device="cpu")
    for each in (simulation, again):
        each.run(6.0)
    assert simulation.bodies().positions.tobytes() == again.bodies().positions.tobytes()
    assert simulation.steps == steps + again.steps and simulation.time == 6.0


def test_events_heartbeats_and_files_go_on_when_a_planet_is_added(tmp_path):
    bodies = kith.Bodies([[0.0, 0], [1, 0]], [[0.0, 0], [0, 0.3]], masses=[1.0, 0])
    simulation, heard = kith.Simulation(bodies, dt=0.25, integrator="leapfrog", encounter=2.0, device="cpu"), []
    simulation.set_heartbeat(lambda now: heard.append(now.steps), every=4)
    simulation.step(6)
    before = simulation.events.copy()
    assert set(before["kind"].tolist()) == {"encounter"}
    simulation.add(1e-6, 20.0)
    simulation.step(3)
    assert simulation.events[:len(before)].tolist() == before.tolist()
    assert heard == [4, 8] and simulation.steps == 9
    assert simulation.run(4.0, output=tmp_path / "run.h5").steps == 7 and simulation.steps == 16
    assert kith.read(tmp_path / "run.h5").positions.shape == (3, 2)


def test_what_a_simulation_cannot_add_leaves_it_as_it_was():
    pair = kith.make("two-body")
    cases = [(kith.Simulation(numpy.tile(pair.positions, (2, 1)), dt=0.1, systems=2, device="cpu"), "ensemble"),
             (kith.Simulation(pair, dt=0.1, law="coulomb", device="cpu"), "coulomb"),
             (kith.Simulation(pair, dt=0.1, escape=1e-3, device="cpu"), "merged escaped"),
             (kith.Simulation(pair, dt=0.1, device="cpu"), "i 0.1" if pair.positions.shape[1] == 2 else "e -1")]
    for simulation, said in cases:
        simulation.step()
        state, steps = simulation.bodies(), simulation.steps
        with refused(ValueError, said):
            simulation.add(1e-3, 1.0, -1.0 if said == "e -1" else 0.0, 0.1 if said == "i 0.1" else 0.0)
        assert simulation.bodies().positions.tobytes() == state.positions.tobytes()
        assert simulation.steps == steps
        simulation.step()
    with kith.view(cases[-1][0]), refused(ValueError, "live view"):
        cases[-1][0].add(1e-3, 1.0)


def test_arrays_give_the_same_orbits_as_bodies():
    bodies = kith.make("outer-solar-system")
    expected = kith.orbits(bodies)
    orbits = kith.orbits(bodies.positions, bodies.velocities, bodies.masses, g=bodies.g)
    assert orbits.tobytes() == expected.tobytes()
    heavier = kith.orbits(bodies, masses=2 * bodies.masses, g=bodies.g / 2)
    numpy.testing.assert_allclose(heavier["a"], expected["a"], rtol=1e-14)
    assert orbits.dtype.names == (*NAMES, "q", "true_anomaly", "mean_motion", "period")
    numpy.testing.assert_allclose(orbits["q"], orbits["a"] * (1 - orbits["e"]), rtol=1e-14)
    numpy.testing.assert_allclose(orbits["period"], 2 * numpy.pi / orbits["mean_motion"])


def test_a_circle_and_a_parabola():
    circle = kith.orbits([[0.0, 0], [4, 0]], [[0.0, 0], [0, 0.5]], [1, 0])
    assert circle[["a", "e", "i", "Omega", "omega", "M"]].tolist() == [(4, 0, 0, 0, 0, 0)]
    parabola = kith.orbits([[0.0, 0], [2, 0]], [[0.0, 0], [0, 1]], [1, 0])[0]
    assert (parabola["a"], parabola["e"], parabola["period"]) == (numpy.inf, 1, numpy.inf)
    assert parabola["q"] == pytest.approx(2)


def test_removed_bodies_are_nan():
    bodies = kith.make("outer-solar-system")
    positions = bodies.positions.copy()
    positions[3] = numpy.nan
    orbits = kith.orbits(positions, bodies.velocities, bodies.masses, g=bodies.g)
    assert numpy.isnan(orbits["a"]).tolist() == [False, False, True, False, False]


def test_stars_alone_have_no_orbits():
    assert kith.orbits(numpy.empty((0, 3))).shape == (0,)
    assert kith.orbits([[0.0, 0, 0]]).shape == (0,)
    assert len(kith.make("planets", star=3)) == 1


def test_simulations_have_orbits():
    bodies = kith.make("planets", elements=[[1e-3, 1, 0.3, 0.2, 1, 2, 0]])
    simulation = kith.Simulation(bodies, dt=0.005, integrator="yoshida8")
    simulation.run(2)
    orbit = simulation.orbits()[0]
    numpy.testing.assert_allclose([orbit["a"], orbit["e"], orbit["i"]], [1, 0.3, 0.2], rtol=1e-9)
    assert orbit["M"] == pytest.approx(2 * numpy.sqrt(1.001), rel=1e-9)
    assert simulation.orbits("jacobi").tobytes() == simulation.orbits().tobytes()
    law = kith.law("gravity", G=4)
    assert kith.Simulation(bodies, dt=0.1, law=law).orbits()["a"][0] == kith.orbits(bodies, g=4)["a"][0]
    with refused(ValueError, "law 'coulomb'"):
        kith.Simulation(bodies, dt=0.1, law="coulomb").orbits()


def test_ensembles_have_the_orbits_of_their_systems():
    systems = [kith.make("two-body", eccentricity=e) for e in (0.1, 0.5)]
    together = [numpy.concatenate([getattr(one, name) for one in systems])
                for name in ("positions", "velocities", "masses")]
    orbits = kith.Simulation(*together, dt=0.1, systems=2).orbits()
    assert orbits.shape == (2, 1)
    numpy.testing.assert_allclose(orbits["e"][:, 0], [0.1, 0.5], rtol=1e-14)


@pytest.mark.parametrize("arguments, fields", [
    ({"elements": [[1, 2, 3]]}, "elements"),
    ({"elements": [[1, 1, -0.5, 0, 0, 0, 0]]}, "1 e -0.5"),
    ({"elements": [[1, -1, 0.5, 0, 0, 0, 0]]}, "a -1"),
    ({"elements": [[-1, 1, 0.5, 0, 0, 0, 0]]}, "mass 1 -1"),
    ({"star": 0}, "star 0"),
    ({"g": -1}, "g -1"),
    ({"coordinates": "jacobian"}, "coordinates 'jacobian' 'jacobi'"),
    ({"n": 5}, "count 5"),
])
def test_planets_that_cannot_be_are_refused(arguments, fields):
    with refused(ValueError, fields):
        kith.make("planets", **arguments)


def test_orbits_that_cannot_be_are_refused():
    bodies = kith.make("two-body")
    with refused(ValueError, "coordinates 'polar'"):
        kith.orbits(bodies, coordinates="polar")
    with refused(ValueError, "star 0"):
        kith.orbits(bodies, masses=[0, 1])
    with refused(ValueError, "position 0"):
        kith.orbits([[0.0, 0], [0, 0]])
    with refused(ValueError, "G -1"):
        kith.orbits(bodies, g=-1)
    with refused(ValueError, "plummer elements star"):
        kith.make("plummer", star=1)


def test_megno_tells_chaos_from_order():
    def planets(a):
        return kith.make("planets", elements=[[1e-4, 1, 0.05, 0, 0, 0, 2], [1e-4, a, 0.05, 0, 0, 0, 4]])

    regular, chaotic = (kith.megno(planets(a), until=1000.0, samples=20) for a in (1.6, 1.12))
    assert abs(regular.mean_megno - 2) < 0.2 < 3 < chaotic.mean_megno
    assert chaotic.lyapunov_time < 300 < regular.lyapunov_time
    assert chaotic.samples["time"].tolist() == [50.0 * k for k in range(1, 21)]
    assert chaotic.samples["megno"][-1] == chaotic.megno
    bodies = planets(1.6)
    again = kith.megno(bodies.positions, bodies.velocities, bodies.masses, until=1000.0)
    assert again.megno == kith.megno(bodies, until=1000.0).megno and len(again.samples) == 0


@pytest.mark.parametrize("arguments, fields", [
    ({"until": 0.0}, "until 0"),
    ({"until": 1.0, "dt": -1.0}, "dt -1"),
    ({"until": 1.0, "samples": -1}, "samples -1"),
    ({"until": 1.0, "softening": -1.0}, "softening -1"),
    ({"until": 1.0, "masses": [-1, 1]}, "mass 0"),
])
def test_trajectories_that_cannot_be_are_refused(arguments, fields):
    with refused(ValueError, fields):
        kith.megno(kith.make("two-body"), **arguments)
