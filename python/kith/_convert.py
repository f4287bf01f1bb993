"""Bodies as atoms of ASE and as tables of pandas."""

from __future__ import annotations

from typing import Any

import numpy

from kith._arguments import described

_KEPT = ("softening", "radii", "epsilon", "sigma", "ids")  # arrays of the atoms, by the names that Bodies has
_COMPONENTS = {"positions": ("x", "y", "z"), "velocities": ("vx", "vy", "vz")}
_NAMES = {"masses": "m", "charges": "q", "softening": "softening", "radii": "radius", "epsilon": "epsilon",
          "sigma": "sigma", "ids": "id", "names": "name"}


def in_space(rows: numpy.ndarray) -> numpy.ndarray:
    """Rows of three components, the third of two dimensions 0."""
    return numpy.pad(rows, ((0, 0), (0, 3 - rows.shape[1])))


def arguments_of_atoms(atoms: Any) -> dict[str, Any]:
    """What `Bodies` takes, of an ase.Atoms."""
    if not all(hasattr(atoms, name) for name in ("arrays", "numbers", "pbc", "get_masses")):
        raise TypeError(f"atoms is {described(atoms)}; it must be an ase.Atoms")
    given = {"positions": atoms.positions, "masses": atoms.get_masses(), "names": atoms.get_chemical_symbols(),
             "time": atoms.info.get("time", 0.0)}
    if atoms.has("momenta"):
        given["velocities"] = atoms.get_velocities()
    if atoms.has("initial_charges"):
        given["charges"] = atoms.get_initial_charges()
    given |= {name: atoms.arrays[name] for name in _KEPT if name in atoms.arrays}
    absent = atoms.pbc & ~atoms.cell.array.any(1)
    if absent.any():
        raise ValueError(f"atoms has pbc {atoms.pbc.tolist()} and its cell vector {'abc'[absent.argmax()]} is 0; set "
                         "the cell, or pbc to False there")
    if atoms.cell.rank > 0:
        given |= {"cell": atoms.cell.complete().array, "periodic": atoms.pbc}
    return given


def atoms_of(bodies: Any) -> Any:
    """An ase.Atoms of bodies."""
    from ase import Atoms
    from ase.data import atomic_numbers

    names = bodies.names or ["X"] * len(bodies)
    atoms = Atoms([name if name in atomic_numbers else "X" for name in names], in_space(bodies.positions),
                  masses=numpy.ones(len(bodies)) if bodies.masses is None else bodies.masses,
                  charges=bodies.charges, cell=bodies.cell, pbc=bodies.periodic, info={"time": bodies.time})
    if bodies.velocities is not None:
        atoms.set_velocities(in_space(bodies.velocities))
    for name in _KEPT:
        column = getattr(bodies, name)
        if column is not None:
            atoms.set_array(name, column.copy())
    return atoms


def columns_of(bodies: Any) -> dict[str, Any]:
    """The columns that bodies have, by the names of a CSV file."""
    columns = {name: rows[:, k].copy() for key, names in _COMPONENTS.items()
               for rows in [getattr(bodies, key)] if rows is not None for k, name in enumerate(names[:rows.shape[1]])}
    columns |= {name: numpy.array(getattr(bodies, key)) for key, name in _NAMES.items()
                if getattr(bodies, key) is not None}
    return columns


def table_of(frames: list[Any]) -> Any:
    """A pandas.DataFrame with a row for each body of each frame."""
    import pandas

    each = [pandas.DataFrame(columns_of(bodies)) for bodies in frames]
    index = pandas.MultiIndex.from_product([range(len(frames)), range(len(frames[0]) if frames else 0)],
                                           names=["frame", "body"])
    table = pandas.concat(each, ignore_index=True) if each else pandas.DataFrame()
    times = numpy.repeat([bodies.time for bodies in frames], len(frames[0]) if frames else 0)
    table.insert(0, "time", times)
    return table.set_index(index)
