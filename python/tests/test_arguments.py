"""Arguments of a wrong type: the error names the argument, and the function where that is public."""

import inspect
import os
import re

import numpy
import pytest
import scipy.sparse
from refusals import refused

import kith
import kith.ase

POINTS = numpy.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0]])
BEADS = numpy.array([[0, 0, 0], [1, 0, 0], [0, 0, 0]])
LAW = kith.law("yukawa:2.5")
PAIRS = kith.pairs(POINTS, 3.0)
A = kith.SparseMatrix(numpy.eye(3))
BODIES = kith.Bodies(POINTS)
ATOMS = type("Atoms", (), {"positions": POINTS, "numbers": numpy.ones(3, int), "cell": numpy.zeros((3, 3)),
                           "pbc": numpy.zeros(3, bool), "__len__": lambda self: 3})()
LIST = kith.NeighborList(2.0, True)


def simulation():
    return kith.Simulation(POINTS, dt=0.01)


class Thing:
    """An object of nobody's."""


WRONG = {
    "array": [None, "text", b"text", Thing(), [Thing()], ["a", "b"], 1j, [[1.0], [1.0, 2.0]]],
    "optional array": ["text", b"text", Thing(), [Thing()], ["a", "b"], 1j],
    "number": [None, "1", b"1", Thing(), [1.0], 1j, numpy.ones(1), 10**400],
    "optional number": ["1", b"1", Thing(), [1.0], 1j, numpy.ones(1)],
    "number or array": [None, "1", Thing(), ["a"], 1j],
    "optional number or array": ["1", Thing(), ["a"], 1j],
    "whole number": [None, "1", Thing(), [1], 1.5, numpy.float64(2), 1 << 70],
    "optional whole number": ["1", Thing(), [1], 1.5, 1 << 70],
    "flag": [None, "no", Thing(), [True], 2, 0.5],
    "flags": ["no", Thing(), 0.5],
    "word": [None, 3, b"auto", Thing(), ["auto"], "nothing of the kind"],
    "index type": [None, 3, b"int32", Thing(), ["int32"], "int16", float],
    "optional word": [3, b"auto", Thing(), ["auto"], "nothing of the kind"],
    "word or number": [None, b"keep", Thing(), [1.0], 1j, "nothing of the kind"],
    "text": [None, 3, b"text", Thing(), ["text"], "a\0b", "\udc80"],
    "optional text": [3, b"text", Thing(), ["text"], "a\0b"],
    "path": [None, 3, Thing(), ["text"], "a\0b"],
    "optional path": [3, Thing(), ["text"], "a\0b"],
    "law": [3, b"gravity", Thing(), ["gravity"], "gravity\0"],
    "device": [None, 3, Thing(), ["cpu"], "tpu", "cuda:x", "cuda:99999999999", "cuda:0,", "cuda:,1", "cpu:0,1"],
    "context": ["cpu", 3, Thing(), kith.Context],
    "communicator": [3, "world", Thing()],
    "stream": ["1", Thing(), 1.5, -1],
    "exclusions": [3, Thing(), [[0.5]], [["a"]]],
    "sequence of names": [3, "abc", Thing(), [1, 2, 3], ["a", "b"]],
    "two numbers": [None, 3, "ab", Thing(), ["a", "b"], [1.0], [None, 1.0]],
    "two arrays": [3, "ab", numpy.ones(2), (None,), ("a", "b")],
    "optional three whole numbers": [3, "abc", Thing(), [3, 3], [3.0, 3.0, 3.5], ["3", "3", "3"], [3, 3, 1 << 40]],
    "two whole numbers": [None, 3, "ab", Thing(), [3], [3.0, 3.0], [3, 3, 3], ["3", "3"]],
    "atoms": [None, 3, "H2O", Thing()],
    "cutoff of atoms": [None, "1", Thing(), ["a"], {("H",): 1.0}, {("Xx", "H"): 1.0}, {("H", "H"): "1"}],
    "pairs": [None, 3, "ij", Thing(), POINTS],
    "optional pairs": [3, "ij", Thing(), POINTS],
    "shown": [None, 3, Thing(), POINTS],
    "matrix of SciPy": [None, 3, Thing(), POINTS],
    "formulas": [None, 3, Thing(), ["r"], {"a": 3}, {3: "r"}],
    "optional formulas": [3, "r", Thing(), ["r"], {"a": 3}, {3: "r"}],
    "optional numbers": [3, "r", Thing(), ["r"], {"a": "r"}, {3: 1.0}],
    "arrays": [None, 3, "r", Thing(), ["r"], {"a": "r"}, {"a": Thing()}, {"a": [1j]}, {3: [1.0]}],
    "optional arrays": [3, "r", Thing(), ["r"], {"a": "r"}, {"a": Thing()}, {3: [1.0]}],
    "output array": [3, "out", Thing(), [0.0]],
}

KINDS = {
    "positions": "array", "points": "array", "beads": "array", "b": "array", "x": "array", "d": "two numbers",
    "masses": "optional array", "charges": "optional array", "velocities": "optional array",
    "targets": "optional array", "target_softening": "optional array", "target_charges": "optional array",
    "target_masses": "optional array", "columns": "optional array", "column_masses": "optional array",
    "column_charges": "optional array", "queries": "optional array", "radii": "optional array",
    "epsilon": "optional array", "sigma": "optional array",
    "query_radii": "optional array", "systems": "optional array", "query_systems": "optional array",
    "directions": "array", "target_directions": "optional array", "offsets": "optional array", "ids": "optional array",
    "values": "optional array", "elements": "optional array", "star": "optional number",
    "cell": "optional array", "box": "array", "row": "array", "column": "array", "row_start": "array",
    "periodic": "flags", "softening": "number", "g": "optional number", "cutoff": "number", "skin": "number",
    "time": "number", "dt": "number", "until": "number", "h": "number", "low": "number", "high": "number",
    "alpha": "number", "beta": "number", "eccentricity": "number", "mass_ratio": "number",
    "checkpoint_seconds": "number", "every_time": "number", "absolute_error": "optional number",
    "eta": "number", "temperature": "number", "restitution": "number", "encounter": "number", "escape": "number",
    "corrector": "whole number", "substeps": "whole number", "shift": "word", "tail": "flag", "totals": "flag",
    "collisions": "word", "boundary": "word", "exclude": "exclusions", "grid": "optional three whole numbers",
    "port": "whole number", "title": "optional text", "steps_per_second": "number", "axes": "text",
    "block": "whole number", "unroll": "whole number", "threads": "whole number",
    "n_threads": "whole number", "k": "whole number", "n": "whole number", "seed": "whole number",
    "dimensions": "whole number", "frame": "whole number", "system": "optional whole number", "bins": "whole number",
    "memory": "whole number", "memory_limit": "whole number", "every": "whole number", "index_base": "whole number",
    "pressure_every": "whole number",
    "half": "flag", "sorted": "flag", "full_list": "flag", "copy": "flag", "symmetric": "flag",
    "tune": "flag", "single": "flag", "laplacian": "flag", "resume": "flag", "wrap": "flag", "self_interaction": "flag",
    "diagonal": "word or number",
    "index_dtype": "index type", "want": "word",
    "method": "word", "format": "word", "kernel": "word", "reduction": "word", "algorithm": "word",
    "coordinates": "word",
    "error": "optional number", "theta": "optional number", "order": "optional whole number",
    "integrator": "text", "solver": "text", "precision": "word", "quantities": "text", "kind": "text",
    "sequence": "optional text",
    "path": "path", "law": "law", "device": "device", "context": "context", "exclusions": "exclusions",
    "names": "sequence of names", "units": "sequence of names", "shape": "two whole numbers", "pairs": "pairs",
    "out": "output array",
}

# The function, the arguments of a call that is right, and kinds of arguments that are its own.
CALLS = {
    "forces": (kith.forces, {"positions": POINTS},
               {"softening": "number or array", "out": "two arrays", "cutoff": "optional number",
                "alpha": "optional number"}),
    "forces_derivative": (kith.forces_derivative, {"positions": POINTS, "directions": POINTS},
                          {"softening": "number or array", "out": "two arrays"}),
    "law": (kith.law, {"text": "gravity"}, {"text": "law"}),
    "Law": (kith.Law, {"text": "gravity"}, {"text": "law"}),
    "Law.evaluate": (LAW.evaluate, {"d": [1.0, 0]}, {"masses": "two numbers", "charges": "two numbers"}),
    "matrix": (kith.matrix, {"positions": POINTS}, {}),
    "matrix.write": (kith.matrix.write, {"path": "m.npy", "positions": POINTS}, {}),
    "matrix.reduce": (kith.matrix.reduce, {"reduction": "sum", "positions": POINTS}, {}),
    "matrix.histogram": (kith.matrix.histogram, {"positions": POINTS, "bins": 2, "low": 0, "high": 1}, {}),
    "matrix.multiply": (kith.matrix.multiply, {"b": numpy.ones(3), "positions": POINTS}, {}),
    "scipy_linear_operator": (kith.scipy_linear_operator, {"law": "distance", "positions": POINTS}, {}),
    "pairs": (kith.pairs, {"positions": POINTS, "cutoff": 1.5}, {}),
    "nearest": (kith.nearest, {"positions": POINTS, "k": 1}, {}),
    "NeighborList": (kith.NeighborList, {"cutoff": 1.5, "full_list": True}, {}),
    "NeighborList.compute": (LIST.compute, {"points": POINTS, "box": 9 * numpy.eye(3), "periodic": False}, {}),
    "SparseMatrix": (kith.SparseMatrix, {"matrix": numpy.eye(3)}, {"matrix": "array"}),
    "SparseMatrix.from_scipy": (kith.SparseMatrix.from_scipy, {"matrix": scipy.sparse.eye_array(3)},
                                {"matrix": "matrix of SciPy"}),
    "SparseMatrix.from_coo": (kith.SparseMatrix.from_coo, {"row": [0], "column": [0], "shape": (1, 1)}, {}),
    "SparseMatrix.from_csr": (kith.SparseMatrix.from_csr, {"row_start": [0, 1], "column": [0], "shape": (1, 1)}, {}),
    "SparseMatrix.from_pairs": (kith.SparseMatrix.from_pairs, {"pairs": PAIRS}, {"columns": "whole number"}),
    "SparseMatrix.read": (kith.SparseMatrix.read, {"path": "m.mtx"}, {}),
    "SparseMatrix.write": (A.write, {"path": "m.mtx"}, {}),
    "SparseMatrix.multiply": (A.multiply, {"x": numpy.ones(3)}, {}),
    "SparseMatrix.matvec": (A.matvec, {"x": numpy.ones(3)}, {}),
    "SparseMatrix.rmatvec": (A.rmatvec, {"x": numpy.ones(3)}, {}),
    "collisions": (kith.collisions, {"beads": BEADS}, {}),
    "collisions.choose": (kith.collisions.choose, {"beads": BEADS}, {}),
    "collisions.launch": (kith.collisions.launch, {"beads": BEADS}, {}),
    "collisions.groups": (kith.collisions.groups, {"beads": BEADS}, {}),
    "collisions.pairs": (kith.collisions.pairs, {"beads": BEADS}, {}),
    "collisions.contacts": (kith.collisions.contacts, {"beads": BEADS}, {}),
    "collisions.batch": (kith.collisions.batch, {"beads": BEADS, "offsets": [0, 3]}, {}),
    "Bodies": (kith.Bodies, {"positions": POINTS, "cell": numpy.eye(3)}, {"softening": "optional array"}),
    "Bodies.add": (kith.Bodies(POINTS).add, {"m": 1e-3, "a": 1.0},
                   dict.fromkeys(["m", "a", "e", "i", "Omega", "omega", "M", "radius"], "number")),
    "Bodies.write": (BODIES.write, {"path": "b.csv"}, {"format": "optional text"}),
    "make": (kith.make, {"kind": "plummer", "n": 10}, {"n": "optional whole number", "density": "optional number"}),
    "sum": (kith.sum, {"positions": POINTS, "outputs": "r"},
            {"outputs": "formulas", "cutoff": "optional number", "reduce": "word", "lets": "optional formulas",
             "parameters": "optional numbers", "columns": "optional arrays", "target_columns": "optional arrays",
             "include_self": "flag", "pairs": "optional pairs"}),
    "update": (kith.update, {"columns": {"x": numpy.ones(3)}, "updates": {"x": "x_i + 1"}},
               {"columns": "arrays", "updates": "formulas", "lets": "optional formulas",
                "parameters": "optional numbers"}),
    "orbits": (kith.orbits, {"positions": POINTS}, {}),
    "megno": (kith.megno, {"positions": POINTS, "until": 1.0}, {"samples": "whole number"}),
    "plot": (kith.plot, {"what": BODIES}, {"what": "shown", "kind": "optional word"}),
    "view": (kith.view, {"what": simulation()}, {"what": "shown"}),
    "read": (kith.read, {"path": "b.csv"}, {"format": "optional text"}),
    "open": (kith.open, {"path": "r.h5"}, {}),
    "Simulation": (kith.Simulation, {"positions": POINTS, "dt": 0.1},
                   {"softening": "optional number or array", "time": "optional number",
                    "systems": "optional whole number", "coordinates": "optional word", "kernel": "optional word",
                    "thermostat": "optional text", "cutoff": "optional number", "alpha": "optional number"}),
    "Simulation.step": (simulation().step, {}, {}),
    "Simulation.step_by": (simulation().step_by, {"h": 0.1}, {}),
    "Simulation.run": (simulation().run, {"until": 0.1, "output": "r.h5"}, {"output": "optional path"}),
    "Simulation.frames": (simulation().frames, {"until": 0.1}, {}),
    "Simulation.orbits": (simulation().orbits, {}, {}),
    "Simulation.add": (simulation().add, {"m": 0.1, "a": 1.0},
                       dict.fromkeys(["m", "a", "e", "i", "Omega", "omega", "M", "radius"], "number")),
    "Simulation.set": (simulation().set, {}, {"positions": "optional array", "time": "optional number"}),
    "Context": (kith.Context, {}, {"stream": "stream", "communicator": "communicator"}),
    "ase.neighbor_list": (kith.ase.neighbor_list, {"quantities": "ij", "a": ATOMS, "cutoff": 1.0},
                          {"a": "atoms", "cutoff": "cutoff of atoms"}),
}
# max_nbins is ASE's and is ignored, ax is matplotlib's.
OTHER = {"max_nbins", "ax"}


def arguments_of(name):
    function, _, own = CALLS[name]
    parameters = [parameter.name for parameter in inspect.signature(function).parameters.values()
                  if parameter.kind is not parameter.VAR_KEYWORD]
    return {argument: own.get(argument) or KINDS[argument]
            for argument in parameters if argument not in OTHER}


@pytest.fixture(scope="module", autouse=True)
def in_a_folder_of_its_own(tmp_path_factory):
    before = os.getcwd()
    os.chdir(tmp_path_factory.mktemp("files"))
    yield
    os.chdir(before)


CASES = [pytest.param(name, argument, value, id=f"{name}-{argument}-{kind}-{k}")
         for name in CALLS for argument, kind in arguments_of(name).items() for k, value in enumerate(WRONG[kind])]


@pytest.mark.parametrize("name, argument, value", CASES)
def test_a_wrong_argument_is_named(name, argument, value):
    with pytest.raises((TypeError, ValueError)) as caught:
        CALLS[name][0](**{**CALLS[name][1], argument: value})
    said = str(caught.value)
    named = {"text": "law", "quantities": "quantit(y|ies)", "names": "names"}.get(argument, argument)
    assert re.search(rf"\b{named}\b", said), said
    assert "incompatible function arguments" not in said and "\n" not in said and not said.endswith("."), said
    if value is None or isinstance(value, Thing):
        assert caught.type is TypeError, said


@pytest.mark.parametrize("name", CALLS)
def test_an_unknown_keyword_is_refused_in_the_name_of_the_function(name):
    if name in ("law", "Law"):
        with refused(ValueError, "colour"):
            kith.law("gravity", colour=1.0)
        return
    with pytest.raises(TypeError) as caught:
        CALLS[name][0](**CALLS[name][1], colour=1)
    assert re.search(rf"(^|\.){name.rpartition('.')[2]}(\.__init__)?\(\)", str(caught.value)), caught.value
    assert "colour" in str(caught.value)


def test_every_public_function_is_in_the_table():
    tested = {CALLS[name][0] for name in CALLS}
    without_arguments = {"devices", "laws", "formats", "integrators"}
    for name in kith.__all__:
        if inspect.isfunction(getattr(kith, name)) and name not in without_arguments:
            assert getattr(kith, name) in tested, name


def test_numbers_out_of_range_are_named_as_arguments():
    for call, argument in ((lambda: kith.forces(POINTS, threads=-1), "threads is -1"),
                           (lambda: kith.forces(POINTS, g=float("nan")), "g is nan"),
                           (lambda: kith.sum(POINTS, {}), "outputs is empty"),
                           (lambda: kith.nearest(POINTS, 0), "k is 0; it must be at least 1")):
        with pytest.raises(ValueError) as caught:
            call()
        assert str(caught.value).startswith(argument), caught.value


def test_text_is_not_an_array():
    with refused(TypeError, "matrix 'A.mtx' array"):
        kith.SparseMatrix("A.mtx")


def test_a_misspelled_keyword_is_refused():
    with refused(TypeError, "matrix.reduce() 'sofening'"):
        kith.matrix.reduce("sum", POINTS, sofening=1.0)


@pytest.mark.parametrize("made", [kith.Pairs, kith.Promise])
def test_what_functions_make_is_not_made_directly(made):
    with refused(TypeError, f"kith.{made.__name__}"):
        made(1)


def test_numbers_of_numpy_and_paths_of_bytes_are_taken(tmp_path):
    found = kith.nearest(POINTS, numpy.int32(1), cutoff=numpy.float32(5), threads=numpy.array(1),
                         index_dtype=numpy.int32)
    assert found.j.dtype == numpy.int32
    path = tmp_path / "bodies.csv"
    kith.Bodies(POINTS).write(str(path).encode())
    assert len(kith.read(path, frame=numpy.int64(0))) == 3


def test_ids_and_exclusions_are_whole_numbers():
    with refused(TypeError, "ids float64"):
        kith.Bodies(POINTS, ids=[0.5, 1.5, 2.5])
    with refused(TypeError, "exclusions float64"):
        kith.pairs(POINTS, 3.0, exclusions=[[1.5], [], []])
    assert kith.pairs(POINTS, 3.0, exclusions=[[1], [0], []]).count == 4
    assert kith.pairs(POINTS, 3.0, exclusions=[[], [], []]).count == 6


def test_messages_have_the_names_of_the_call():
    with refused(ValueError, "n -1 plummer 1"):
        kith.make("plummer", -1)
    with refused(ValueError, "n 5 two-body 2"):
        kith.make("two-body", 5)
    with refused(ValueError, "mass_ratio -2"):
        kith.make("galaxies", 10, mass_ratio=-2)


def test_an_error_out_of_reach_is_a_wrong_value():
    for solver in ("auto", "tree", "fmm"):
        with refused(ValueError, "error 1e-20"):
            kith.forces(POINTS, solver=solver, error=1e-20)
