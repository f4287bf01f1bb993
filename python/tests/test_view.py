"""Live views: what a page and a notebook get."""

import json
import time
import urllib.error
import urllib.request

import numpy
import pytest
from refusals import refused

import kith


def simulation_of(n=50):
    return kith.Simulation(kith.make("plummer", n=n, seed=3), dt=1e-3, softening=0.1, device="cpu")


def fetch(address, path="", method="GET"):
    with urllib.request.urlopen(urllib.request.Request(address + path, method=method), timeout=120) as answer:
        return answer.status, answer.headers, answer.read()


def frame_of(address):
    """The packet that the page gets, if there is one yet."""
    status, _, content = fetch(address, "frame")
    return status, content


def refusal(address, path="", method="GET"):
    """The status of what is refused."""
    with pytest.raises(urllib.error.HTTPError) as refused:
        fetch(address, path, method)
    with refused.value as answer:
        return answer.code


def test_a_page_shows_a_simulation_as_it_advances():
    simulation = simulation_of()
    with kith.view(simulation, title="a test") as view:
        status, headers, page = fetch(view.address)
        assert status == 200 and b"<canvas" in page
        assert "frame-ancestors http://127.0.0.1:* http://localhost:*" in headers["Content-Security-Policy"]
        assert json.loads(fetch(view.address, "about")[2])["title"] == "a test"
        assert frame_of(view.address)[0] == 204  # nothing was read yet
        packets, give_up = set(), time.monotonic() + 180
        while len(packets) < 3 and time.monotonic() < give_up:  # a busy machine is shown fewer
            simulation.step(5)
            status, content = frame_of(view.address)
            assert status in (200, 204)
            packets |= {content} - {b""}
        assert len(packets) == 3


def test_steps_are_the_same_with_a_view():
    plain, seen = simulation_of(), simulation_of()
    with kith.view(seen) as view:
        fetch(view.address)
        for each in (plain, seen):
            each.step(7)
            each.run(0.02)
        assert seen.steps == plain.steps
    seen.step(3)
    plain.step(3)
    assert numpy.array_equal(seen.positions, plain.positions) and seen.time == plain.time


def test_no_more_steps_a_second_than_asked_for():
    simulation = simulation_of()
    with kith.view(simulation, steps_per_second=100):
        begin = time.monotonic()
        simulation.step(20)
        assert time.monotonic() - begin >= 0.15


def test_a_closed_view_is_gone():
    simulation = simulation_of()
    view = kith.view(simulation)
    address = view.address
    view.close()
    view.close()
    simulation.step()
    with pytest.raises(urllib.error.URLError):
        fetch(address)
    with refused(ValueError, "closed"):
        view.address  # noqa: B018
    assert repr(view) == "<kith.View: closed>"


def test_another_address_is_refused():
    with kith.view(simulation_of()) as view:
        for wrong in (view.address[:-2] + "x/", view.address.rsplit("/", 2)[0] + "/"):
            assert refusal(wrong) == 403


def test_a_file_of_frames_is_shown(tmp_path):
    simulation_of().run(0.02, tmp_path / "run.h5", every=5)
    trajectory = kith.open(tmp_path / "run.h5")
    for what in (trajectory, tmp_path / "run.h5"):
        with kith.view(what) as view:
            assert fetch(view.address, "frame?after=1")[0] == 200
            assert refusal(view.address, "pause", "POST") == 409
    assert len(trajectory) == 5  # still open
    with refused(ValueError, "steps_per_second"):
        kith.view(trajectory, steps_per_second=10)


def test_a_run_into_a_file_is_shown(tmp_path):
    simulation = simulation_of()
    with kith.view(simulation) as view:
        fetch(view.address, "frame")
        simulation.run(0.1, tmp_path / "run.h5")
        assert frame_of(view.address)[0] == 200


def test_notebooks_get_html(tmp_path):
    simulation = simulation_of()
    assert "<iframe" not in simulation._repr_html_()
    with kith.view(simulation) as view:
        assert view.address in view._repr_html_() and view.address in simulation._repr_html_()
    simulation.run(0.01, tmp_path / "a<b>.h5")
    assert "a&lt;b&gt;.h5" in kith.open(tmp_path / "a<b>.h5")._repr_html_()


@pytest.mark.parametrize("arguments", [{"port": -1}, {"port": 65536}, {"port": "a"}, {"title": 3},
                                       {"steps_per_second": -1}, {"until": "x"}])
def test_bad_arguments_are_named(arguments):
    with refused((ValueError, TypeError), next(iter(arguments))):
        kith.view(simulation_of(2), **arguments)


def test_a_taken_port_is_told():
    with kith.view(simulation_of(2)) as view:
        port = int(view.address.split(":")[2].split("/")[0])
        with refused(OSError, str(port)):
            kith.view(simulation_of(2), port=port)
