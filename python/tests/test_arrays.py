"""Arrays go in and out where they are; what cannot is converted if that is harmless, or refused."""

import array
import resource

import numpy
import pytest
from refusals import refused

import kith
from kith import _kith
from kith._arrays import take


def address(values):
    return values.__array_interface__["data"][0]


def of_one_dtype(cloud, dtype):
    positions, masses = cloud
    return positions.astype(dtype), masses.astype(dtype)


@pytest.mark.parametrize("change", [
    lambda x: x,
    lambda x: numpy.asfortranarray(x),
    lambda x: numpy.repeat(x, 2, axis=0)[::2],
    lambda x: x[::-1],
    lambda x: numpy.hstack([x, x])[:, :3],
    lambda x: numpy.hstack([x, x])[:, 1::2],
], ids=["dense", "by columns", "every second row", "backwards", "part of the rows", "every second column"])
@pytest.mark.parametrize("writeable", [True, False])
def test_no_array_of_reals_is_copied_whatever_its_strides(cloud, change, writeable):
    positions = change(cloud[0])
    positions.flags.writeable = writeable
    shown = take("positions", positions).shown()
    assert shown is positions
    assert _kith.address_of(shown) == address(positions)
    dense = kith.forces(numpy.ascontiguousarray(positions), cloud[1])
    strided = kith.forces(positions, cloud[1])
    assert numpy.array_equal(strided.acceleration, dense.acceleration)
    assert numpy.array_equal(strided.potential, dense.potential)


def test_results_are_written_where_the_caller_says(cloud):
    acceleration, potential = numpy.empty((203, 3)), numpy.zeros(406)[::2]
    found = kith.forces(*cloud, out=(acceleration, potential))
    assert found.acceleration is acceleration and found.potential is potential
    expected = kith.forces(*cloud)
    assert numpy.array_equal(acceleration, expected.acceleration)
    assert numpy.array_equal(potential, expected.potential)


def test_pairs_are_views_of_the_lists_memory(cloud):
    pairs = kith.pairs(cloud[0], 1.0, quantities="ijSDd")
    for name in ("i", "j", "shifts", "vectors", "distances", "offsets"):
        column = getattr(pairs, name)
        assert address(column) == _kith.address_of(getattr(pairs._handle, name))
        assert not column.flags.owndata
    i = pairs.i
    kept = i.copy()
    del pairs  # the array keeps the list
    kith.pairs(cloud[0][::-1], 1.1)
    assert numpy.array_equal(i, kept)


def test_memory_does_not_grow_with_the_arguments():
    positions = numpy.zeros((4_000_000, 3))
    positions[:, 0] = numpy.arange(4_000_000)
    out = (None, numpy.empty(1))
    kith.forces(positions[:1000], targets=positions[:1], want="potential", out=out)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(3):
        kith.forces(positions[::4000], targets=positions[:1], want="potential", out=out)
        take("positions", positions).shown()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 20_000  # KiB, of 96 000 that a copy takes


def test_single_precision_stays_single_and_double_wins(cloud):
    positions, masses = cloud
    single = kith.forces(*of_one_dtype(cloud, numpy.float32))
    assert single.acceleration.dtype == numpy.float32
    assert kith.forces(positions.astype(numpy.float32), masses).acceleration.dtype == numpy.float64
    assert kith.forces(positions.astype(numpy.float32), masses.tolist()).acceleration.dtype == numpy.float32
    assert kith.forces(positions.astype(numpy.float32), numpy.ones(203, int)).acceleration.dtype == numpy.float32


@pytest.mark.parametrize("dtype, same", [("float16", "float32"), (">f4", "float32"), (">f8", "float64"),
                                         ("int8", "float64"), ("uint64", "float64"), ("bool", "float64")])
def test_harmless_conversions(numbers, dtype, same):
    whole = numbers.permutation(64)[:40].reshape(20, 2)
    given = (whole % 2).astype(dtype) if dtype == "bool" else whole.astype(dtype)
    found = kith.forces(given, softening=0.5)
    expected = kith.forces(given.astype(same), softening=0.5)
    assert found.acceleration.dtype == same
    assert numpy.array_equal(found.acceleration, expected.acceleration)


@pytest.mark.parametrize("values, fields", [
    ([[1j, 0]], "positions complex128"), ([["a", "b"]], "positions <U1"), ([[None, 0]], "positions object"),
    (numpy.ones((2, 2), numpy.longdouble), "positions"),
    (numpy.ma.masked_less([[0.0, 1], [2, 3]], 1), "positions masked"),
])
def test_what_holds_no_real_numbers_is_a_type_error(values, fields):
    with refused(TypeError, fields):
        kith.forces(values)


def test_bodies_are_not_an_array():
    bodies = kith.make("six")
    with refused(TypeError, "positions Bodies"):
        kith.forces(bodies)
    with refused(TypeError, "positions Bodies"):
        kith.pairs(bodies, 0.1)


def test_buffers_and_lists_are_arrays_too():
    lists = kith.forces([[0.0, 0], [3, 4]], want="potential").potential
    buffer = memoryview(array.array("d", [0, 0, 3, 4])).cast("B").cast("d", [2, 2])
    assert numpy.array_equal(kith.forces(buffer, want="potential").potential, lists)


def test_an_array_inside_records_is_taken(numbers):
    records = numpy.zeros(50, dtype=[("x", "f8", 3), ("kind", "i1")])
    records["x"] = numbers.normal(size=(50, 3))
    found = kith.forces(records["x"])
    assert numpy.array_equal(found.potential, kith.forces(records["x"].copy()).potential)


class OnDevice:
    """An array of another library, on a GPU."""

    dtype = numpy.dtype("float64")

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, **_):
        raise AssertionError("nobody may read it")


def test_an_array_on_a_device_that_no_library_of_ours_knows_is_a_type_error(cloud):
    with refused(TypeError, "OnDevice"):
        kith.forces(OnDevice())


class Exporter:
    """An array that speaks DLPack and nothing else."""

    def __init__(self, values):
        self.values, self.shape, self.dtype = values, values.shape, values.dtype

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


def test_dlpack_alone_is_enough(cloud):
    assert take("positions", Exporter(cloud[0])).array.__array_interface__["data"][0] == address(cloud[0])
    found = kith.forces(Exporter(cloud[0]), Exporter(cloud[1]))
    assert numpy.array_equal(found.potential, kith.forces(*cloud).potential)


@pytest.mark.parametrize("out, fields", [
    (numpy.empty((202, 3)), "out[0] (202, 3) (203, 3)"),
    (numpy.empty((203, 3), numpy.float32), "out[0] float32 float64"),
    (numpy.broadcast_to(0.0, (203, 3)), "out[0] read-only"),
])
def test_results_go_into_no_array_that_does_not_fit(cloud, out, fields):
    with refused(ValueError, fields):
        kith.forces(*cloud, out=(out, None))
