"""kith.update against NumPy."""

import re
from pathlib import Path

import numpy
import pytest
from refusals import refused

import kith

UPDATES = {"x": "x_i + dt * u", "v": "u", "s": "sqrt(1 + x_i * x_i)"}
OPTIONS = {"lets": {"u": "v_i - dt * x_i"}, "parameters": {"dt": 0.125}}


def columns(count=1001, dtype="float64", seed=3):
    numbers = numpy.random.default_rng(seed)
    return {name: numbers.normal(size=count).astype(dtype) for name in "xvsm"}


def expected(of):
    u = of["v"] - 0.125 * of["x"]
    return {"x": of["x"] + 0.125 * u, "v": u, "s": numpy.sqrt(1 + of["x"]**2), "m": of["m"]}


@pytest.mark.parametrize("count", [0, 1, 2, 1001])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_updates_are_those_of_numpy(count, dtype):
    found = columns(count, dtype)
    wanted = expected(columns(count, dtype))
    assert kith.update(found, UPDATES, **OPTIONS) is None
    for name, values in found.items():
        assert values.dtype == dtype
        numpy.testing.assert_allclose(values, wanted[name], rtol=1e-6 if dtype == "float32" else 1e-14)


def test_columns_may_be_those_of_a_matrix():
    rows = numpy.arange(12.0).reshape(4, 3)
    kith.update({"x": rows[:, 0], "y": rows[:, 1], "z": rows[:, 2]}, {"x": "y_i", "y": "x_i"})
    assert rows.tolist() == [[1, 0, 2], [4, 3, 5], [7, 6, 8], [10, 9, 11]]
    kith.update({"x": rows[::-1, 0], "z": [1.0, 2, 3, 4]}, {"x": "z_i"})
    assert rows[:, 0].tolist() == [4, 3, 2, 1]


def test_the_bits_do_not_depend_on_the_threads():
    one, three = columns(20011), columns(20011)
    kith.update(one, UPDATES, threads=1, **OPTIONS)
    kith.update(three, UPDATES, threads=3, **OPTIONS)
    assert all(numpy.array_equal(one[name], three[name]) for name in one)
    assert not numpy.array_equal(one["x"], columns(20011)["x"])


def test_steps_of_leapfrog_with_sums_of_forces():
    """Two bodies on half a circle, by kith.sum and kith.update."""
    x, v = numpy.array([[0.5, 0.0], [-0.5, 0.0]]), numpy.array([[0.0, 0.5], [0.0, -0.5]])
    a = numpy.empty((2, 2))
    bodies = {"x": x[:, 0], "y": x[:, 1], "vx": v[:, 0], "vy": v[:, 1], "ax": a[:, 0], "ay": a[:, 1]}
    pull = {"ax": "0.5 * dx / (r * r2)", "ay": "0.5 * dy / (r * r2)"}
    kick = {"vx": "vx_i + dt / 2 * ax_i", "vy": "vy_i + dt / 2 * ay_i"}
    dt = 2 * numpy.pi / 500
    kith.sum(x, pull, out=a)
    for _ in range(250):
        kith.update(bodies, kick, parameters={"dt": dt})
        kith.update(bodies, {"x": "x_i + dt * vx_i", "y": "y_i + dt * vy_i"}, parameters={"dt": dt})
        kith.sum(x, pull, out=a)
        kith.update(bodies, kick, parameters={"dt": dt})
    numpy.testing.assert_allclose(x, [[-0.5, 0], [0.5, 0]], atol=1e-3)


def test_the_step_of_the_page_on_fluids():
    page = Path(__file__).parents[2] / "docs" / "howto" / "fluid.md"
    if not page.is_file():
        pytest.skip("the pages are not here")
    made = {}
    exec(compile(re.search(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)[1], str(page), "exec"), made)
    x, v, depth = made["x"], made["v"], made["depth"]
    front = (x[:, 0] > 1.6) & (x[:, 0] < 2.4)
    assert numpy.abs(made["V"] @ v).max() < 1e-12
    assert v[front, 0].mean() > 0.5 and 0.4 < depth[front].mean() < 1


def test_tensors_are_updated_where_they_are():
    torch = pytest.importorskip("torch")
    found = {name: torch.from_numpy(values) for name, values in columns().items()}
    kith.update(found, UPDATES, **OPTIONS)
    for name, values in expected(columns()).items():
        numpy.testing.assert_allclose(found[name].numpy(), values, rtol=1e-14)
    with refused(ValueError, "columns['x'] requires grad detach()"):
        kith.update({"x": torch.ones(3, requires_grad=True)}, {"x": "1"})


def read_only(values):
    values.flags.writeable = False
    return values


def test_mistakes_are_told():
    x = numpy.ones(3)
    for error, fields, given, updates in (
            (ValueError, "z column", {"x": x}, {"z": "x_i"}),
            (ValueError, "'w_i'", {"x": x}, {"x": "w_i"}),
            (ValueError, "x formula 6", {"x": x}, {"x": "x_i +"}),
            (ValueError, "x_j x_i", {"x": x}, {"x": "x_j"}),
            (ValueError, "r dx", {"x": x}, {"x": "r + x_i"}),
            (ValueError, "updates empty", {"x": x}, {}),
            (ValueError, "columns empty", {}, {"x": "1"}),
            (ValueError, "column_count 33", {f"c{k}": x for k in range(33)}, {"c0": "1"}),
            (ValueError, "'a b' letters", {"x": x, "a b": x + 1}, {"x": "1"}),
            (ValueError, "y (4,) (3,)", {"x": x, "y": numpy.ones(4)}, {"x": "1", "y": "2"}),
            (ValueError, "h 4 3", {"x": x, "h": numpy.ones(4)}, {"x": "h_i"}),
            (ValueError, "x h overlaps", {"x": x, "h": x}, {"x": "h_i"}),
            (ValueError, "columns['x'] (3, 1) axes", {"x": x[:, None]}, {"x": "1"}),
            (ValueError, "columns['x'] float32 float64", {"x": x.astype("float32"), "h": x}, {"x": "h_i"}),
            (ValueError, "columns['x'] int64 float64", {"x": numpy.arange(3)}, {"x": "1"}),
            (ValueError, "columns['x'] read-only", {"x": read_only(numpy.ones(3))}, {"x": "1"}),
            (TypeError, "columns['x'] list written", {"x": [1.0, 2.0]}, {"x": "1"}),
            (TypeError, "columns list", [x], {"x": "1"}),
            (TypeError, "updates 'x' dict", {"x": x}, "x")):
        with refused(error, fields):
            kith.update(given, updates)
    assert x.tolist() == [1, 1, 1]
    with refused(ValueError, "dt nan"):
        kith.update({"x": x}, {"x": "dt"}, parameters={"dt": numpy.nan})
