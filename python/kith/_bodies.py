"""Sets of bodies: initial conditions, reading and writing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy
from numpy.typing import ArrayLike

from kith import _kith
from kith._arguments import chosen, described, integer, integer32, number, optional, path_of, several, text
from kith._arrays import host_array, needed, reals, whole
from kith._convert import arguments_of_atoms, atoms_of, columns_of
from kith._forces import constant_of_gravity
from kith._pairs import periodic_of


class Bodies:
    """Bodies in double precision in host memory.

    They can be pickled and copied; a copy has columns of its own.

    Parameters
    ----------
    positions : array_like, shape (n, 2) or (n, 3)
        In any unit of length.
    velocities : array_like, shape (n, D), optional
        0 by default.
    masses, charges : array_like, shape (n,), optional
        1 by default.
    softening : array_like, shape (n,), optional
        A length for each body.
    radii : array_like, shape (n,), optional
        A length of at least 0 for each body, at which it touches others; 0 by default.
    epsilon, sigma : array_like, shape (n,), optional
        The depth and the length of the law lennard-jones for each body, mixed by Lorentz and Berthelot.
    ids : array_like of int, shape (n,), optional
        Numbers of the bodies, for files.
    names : sequence of str, optional
        Names or chemical symbols, of at most 31 bytes each.
    time : float
        The time of these positions.
    cell : array_like, shape (D, D) or (D,), optional
        One cell vector per row, or the lengths of a box; open space by default.
    periodic : bool or sequence of bool
        Along which cell vectors space is periodic.
    g : float, optional
        The gravitational constant in the units of the bodies, 1 by default: used where no other is given.
    units : sequence of three str, optional
        Names of the units of length, time and mass, for readers and other programs.

    Examples
    --------
    >>> import kith
    >>> bodies = kith.Bodies([[0.0, 0], [1.0, 0]], masses=[1.0, 2.0])
    >>> bodies.masses.tolist()
    [1.0, 2.0]
    """

    def __init__(self, positions: ArrayLike, velocities: ArrayLike | None = None, masses: ArrayLike | None = None, *,
                 charges: ArrayLike | None = None, softening: ArrayLike | None = None, radii: ArrayLike | None = None,
                 epsilon: ArrayLike | None = None, sigma: ArrayLike | None = None, ids: ArrayLike | None = None,
                 names: Sequence[str] | None = None, time: float = 0.0, cell: ArrayLike | None = None,
                 periodic: bool | Sequence[bool] = True, g: float | None = None, units: Sequence[str] | None = None):
        points = _host("positions", positions, (2,))
        given = {"velocities": velocities, "masses": masses, "charges": charges, "softening": softening, "radii": radii,
                 "epsilon": epsilon, "sigma": sigma, "ids": ids, "names": names}
        columns = sum(_kith.bodies_columns[name] for name, column in given.items() if column is not None)
        self._handle = _kith.create_bodies(*points.shape, columns)
        self.positions[...] = points
        for name, column in given.items():
            if column is None:
                continue
            if name == "names":
                self._set_names(column)
            else:
                self._fill(name, _host(name, column, (2,) if name == "velocities" else (1,)))
        self.time = time
        if cell is not None:
            self._set_cell(cell, periodic)
        if g is not None:
            self.g = g
        if units is not None:
            self.units = units

    @classmethod
    def _of(cls, handle):
        made = cls.__new__(cls)
        made._handle = handle
        return made

    def _fill(self, name, numbers):
        column = getattr(self, name)
        if numbers.shape != column.shape:
            raise ValueError(f"{name} has shape {numbers.shape}; give {column.shape}")
        column[...] = numbers

    def _set_names(self, names):
        listed = several(text, "names", names, (len(self),))
        for k, name in enumerate(listed):
            if len(name.encode()) > 31:
                raise ValueError(f"names[{k}] is {described(name)}; it must have at most 31 bytes")
        self._handle.names = listed

    def _set_cell(self, cell, periodic):
        rows, size = host_array("cell", cell), self.positions.shape[1]
        if rows.ndim == 1:
            rows = numpy.diag(rows)
        if rows.shape not in ((size, size), (3, 3)):
            raise ValueError(f"cell has shape {rows.shape}; give {size} x {size}, a cell vector a row")
        whole = numpy.eye(3)
        whole[: len(rows), : len(rows)] = rows
        along = numpy.zeros(3, dtype=bool)
        along[: len(rows)] = periodic_of(periodic, len(rows))
        self._handle.set_cell(whole.ravel().tolist(), along.tolist())

    def _column(self, name):
        view = getattr(self._handle, name)
        return None if view is None else numpy.asarray(view)

    @property
    def positions(self) -> numpy.ndarray:
        """The positions: what is written to this array changes the bodies.

        Returns
        -------
        numpy.ndarray of float64, shape (n, D)
            A view.

        Examples
        --------
        >>> import kith
        >>> bodies = kith.Bodies([[0.0, 0], [1.0, 0]])
        >>> bodies.positions[0] = [5.0, 6.0]
        >>> bodies.positions.tolist()
        [[5.0, 6.0], [1.0, 0.0]]
        """
        return self._column("positions")

    @property
    def velocities(self) -> numpy.ndarray | None:
        """The velocities: what is written to this array changes the bodies.

        Returns
        -------
        numpy.ndarray of float64, shape (n, D), or None
            A view; None if the bodies have no velocities.

        Examples
        --------
        >>> import kith
        >>> kith.Bodies([[0.0, 0]], [[0.0, 1.0]]).velocities.tolist()
        [[0.0, 1.0]]
        """
        return self._column("velocities")

    @property
    def masses(self) -> numpy.ndarray | None:
        """The masses: what is written to this array changes the bodies.

        Returns
        -------
        numpy.ndarray of float64, shape (n,), or None
            A view; None if the bodies have no masses.

        Examples
        --------
        >>> import kith
        >>> kith.Bodies([[0.0, 0]], masses=[2.0]).masses.tolist()
        [2.0]
        """
        return self._column("masses")

    @property
    def charges(self) -> numpy.ndarray | None:
        """The charges: what is written to this array changes the bodies.

        Returns
        -------
        numpy.ndarray of float64, shape (n,), or None
            A view; None if the bodies have no charges.

        Examples
        --------
        >>> import kith
        >>> kith.Bodies([[0.0, 0]], charges=[-1.0]).charges.tolist()
        [-1.0]
        """
        return self._column("charges")

    @property
    def softening(self) -> numpy.ndarray | None:
        """The softening lengths: what is written to this array changes the bodies.

        Returns
        -------
        numpy.ndarray of float64, shape (n,), or None
            A view; None if the bodies have no lengths.

        Examples
        --------
        >>> import kith
        >>> kith.Bodies([[0.0, 0]], softening=[0.1]).softening.tolist()
        [0.1]
        """
        return self._column("softening")

    @property
    def radii(self) -> numpy.ndarray | None:
        """The radii: what is written to this array changes the bodies.

        Returns
        -------
        numpy.ndarray of float64, shape (n,), or None
            A view; None if the bodies have no radii.

        Examples
        --------
        >>> import kith
        >>> kith.Bodies([[0.0, 0]], radii=[0.1]).radii.tolist()
        [0.1]
        """
        return self._column("radii")

    @property
    def epsilon(self) -> numpy.ndarray | None:
        """The depths of the law lennard-jones: what is written to this array changes the bodies.

        Returns
        -------
        numpy.ndarray of float64, shape (n,), or None
            A view; None if the bodies have none.

        Examples
        --------
        >>> import kith
        >>> kith.Bodies([[0.0, 0]], epsilon=[1.5], sigma=[0.9]).epsilon.tolist()
        [1.5]
        """
        return self._column("epsilon")

    @property
    def sigma(self) -> numpy.ndarray | None:
        """The lengths of the law lennard-jones: what is written to this array changes the bodies.

        Returns
        -------
        numpy.ndarray of float64, shape (n,), or None
            A view; None if the bodies have none.

        Examples
        --------
        >>> import kith
        >>> kith.Bodies([[0.0, 0]], epsilon=[1.5], sigma=[0.9]).sigma.tolist()
        [0.9]
        """
        return self._column("sigma")

    @property
    def ids(self) -> numpy.ndarray | None:
        """The numbers of the bodies: what is written to this array changes the bodies.

        Returns
        -------
        numpy.ndarray of int64, shape (n,), or None
            A view; None if the bodies have no numbers.

        Examples
        --------
        >>> import kith
        >>> kith.Bodies([[0.0, 0]], ids=[7]).ids.tolist()
        [7]
        """
        return self._column("ids")

    @property
    def names(self) -> list[str] | None:
        """The names of the bodies.

        Returns
        -------
        list of str, or None
            A copy; None if the bodies have no names.

        Examples
        --------
        >>> import kith
        >>> kith.Bodies([[0.0, 0], [1.0, 0]], names=["Na", "Cl"]).names
        ['Na', 'Cl']
        """
        return self._handle.names

    @property
    def time(self) -> float:
        """The time of these positions.

        Returns
        -------
        float
            It can be set.

        Examples
        --------
        >>> import kith
        >>> bodies = kith.Bodies([[0.0, 0]], time=2.0)
        >>> bodies.time = 3.0
        >>> bodies.time
        3.0
        """
        return self._handle.time

    @time.setter
    def time(self, time: float) -> None:
        self._handle.time = number("time", time)

    @property
    def g(self) -> float:
        """The gravitational constant in the units of the bodies.

        Returns
        -------
        float
            1 if the bodies have none; it can be set.

        Examples
        --------
        >>> import kith
        >>> kith.make("solar-system").g
        0.00029591220828559115
        """
        return self._handle.g or 1.0

    @g.setter
    def g(self, g: float) -> None:
        self._handle.g = constant_of_gravity(g)

    @property
    def units(self) -> tuple[str, str, str] | None:
        """Names of the units of length, time and mass.

        Returns
        -------
        tuple of three str, or None
            None if the bodies have none; it can be set.

        Examples
        --------
        >>> import kith
        >>> kith.make("solar-system").units
        ('AU', 'day', 'Msun')
        """
        names = tuple(self._handle.units)
        return names if any(names) else None

    @units.setter
    def units(self, names: Sequence[str] | None) -> None:
        self._handle.units = ["", "", ""] if names is None else several(text, "units", names, (3,))

    @property
    def cell(self) -> numpy.ndarray | None:
        """The cell vectors, one per row.

        Returns
        -------
        numpy.ndarray of float64, shape (3, 3), or None
            A copy; None in open space. In the plane the third vector is (0, 0, 1).

        Examples
        --------
        >>> import kith
        >>> kith.Bodies([[0.0, 0, 0]], cell=[1.0, 2.0, 3.0]).cell.tolist()
        [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]]
        """
        numbers = self._handle.cell
        return None if numbers is None else numpy.reshape(numbers, (3, 3))

    @property
    def periodic(self) -> tuple[bool, ...]:
        """Along which cell vectors space is periodic.

        Returns
        -------
        tuple of three bool
            False in open space.

        Examples
        --------
        >>> import kith
        >>> kith.Bodies([[0.0, 0, 0]], cell=[1.0, 2.0, 3.0], periodic=[True, True, False]).periodic
        (True, True, False)
        """
        return tuple(self._handle.periodic)

    def add(self, m: float, a: float, e: float = 0.0, i: float = 0.0, Omega: float = 0.0, omega: float = 0.0,
            M: float = 0.0, *, coordinates: str = "heliocentric", radius: float = 0.0) -> None:
        """Adds a body on an orbit about the first body, or about the center of mass of those before it.

        The others stay where they are; arrays taken before are those of the bodies before. Columns that are not
        among the arguments have their default in the new row.

        Parameters
        ----------
        m, a, e : float
            The mass, the semi-major axis, negative for a hyperbola, and the eccentricity.
        i, Omega, omega, M : float
            The inclination, the longitude of the ascending node, the argument of pericenter and the mean anomaly, in
            radians. In two dimensions the inclination must be 0.
        coordinates : {'heliocentric', 'jacobi'}
            The center of the orbit: the first body, or the center of mass of all.
        radius : float
            The radius of the body.

        Raises
        ------
        ValueError
            The elements do not describe an orbit, or no body has mass.

        Examples
        --------
        >>> import kith
        >>> bodies = kith.Bodies([[0.0, 0, 0]], masses=[1.0])
        >>> bodies.add(1e-3, 5.2, e=0.05)
        >>> bodies.add(3e-4, 9.5, e=0.05, M=2.0, coordinates="jacobi")
        >>> kith.orbits(bodies, coordinates="jacobi")["a"].round(12).tolist()
        [5.2, 9.5]
        """
        numbers = {"m": m, "a": a, "e": e, "i": i, "Omega": Omega, "omega": omega, "M": M}
        row = [number(name, value) for name, value in numbers.items()]
        radius = number("radius", radius)
        is_jacobi = chosen("coordinates", coordinates, {"heliocentric": False, "jacobi": True})
        given, count, size = self._arguments(), len(self), self._handle.dimensions
        if count == 0:
            raise ValueError("the system has no bodies; the first one is the star")
        if size == 2 and row[3] != 0:
            raise ValueError(f"i is {row[3]:g}; it must be 0 in two dimensions")
        masses = numpy.ones(count) if given["masses"] is None else given["masses"]
        center = slice(None) if is_jacobi else slice(1)
        pair = make("planets", elements=[row], star=masses[center].sum(), g=self.g)
        for name in ("positions", "velocities"):
            before = numpy.zeros((count, size)) if given[name] is None else given[name]
            placed = getattr(pair, name)[1] - getattr(pair, name)[0]
            middle = numpy.average(before[center], axis=0, weights=masses[center])
            given[name] = numpy.vstack([before, middle + placed[:size]])
        given["masses"] = numpy.append(masses, row[0])
        if radius != 0 and given["radii"] is None:
            given["radii"] = numpy.zeros(count)
        ids = given["ids"]
        rest = {"charges": 1.0, "softening": 0.0, "radii": radius, "epsilon": 1.0, "sigma": 1.0,
                "ids": 0 if ids is None else ids.max() + 1}
        for name, value in rest.items():
            if given[name] is not None:
                given[name] = numpy.append(given[name], value)
        if given["names"] is not None:
            given["names"] = [*given["names"], ""]
        self._handle = _remade(given)._handle

    def write(self, path: str | os.PathLike, format: str | None = None) -> None:
        """Writes the bodies to a file: completely or not at all.

        Parameters
        ----------
        path : str or os.PathLike
            The file.
        format : str, optional
            By the extension of the path if not given; `kith.formats` lists them.

        Examples
        --------
        >>> import kith, os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "bodies.csv")
        ...     kith.Bodies([[0.0, 1.0]]).write(path)
        ...     kith.read(path)
        <kith.Bodies: 1 in 2 dimensions, time 0>
        """
        self._handle.write(path_of("path", path), optional(text, "format", format))

    @classmethod
    def from_ase(cls, atoms: Any) -> Bodies:
        """Makes bodies of a configuration of ASE.

        Numbers keep the units of ASE: lengths in Angstrom, masses in u, charges in e and energies in eV.
        So velocities are in sqrt(eV / u), and times in Angstrom sqrt(u / eV) = 10.18 fs: a step of 2 fs
        is ``dt=2 * ase.units.fs``. Laws have energies in eV; ``coulomb`` has k = 14.40 eV Angstrom.

        Names are the chemical symbols, and the time is ``atoms.info["time"]``, 0 by default. softening,
        radii, epsilon, sigma and ids are taken where the atoms have arrays of these names. A cell vector
        that is 0 becomes a unit vector perpendicular to the others.

        Parameters
        ----------
        atoms : ase.Atoms
            Copied.

        Returns
        -------
        Bodies
            With velocities and charges if the atoms have momenta and initial charges.

        Raises
        ------
        ValueError
            The atoms are periodic along a cell vector that is 0.

        Examples
        --------
        >>> import pytest; ase = pytest.importorskip("ase.build")
        >>> import kith
        >>> water = kith.Bodies.from_ase(ase.molecule("H2O"))
        >>> water.names, water.masses.tolist()
        (['O', 'H', 'H'], [15.999, 1.008, 1.008])
        """
        return cls(**arguments_of_atoms(atoms))

    def to_ase(self) -> Any:
        """Makes a configuration of ASE, from which `from_ase` makes the same bodies.

        Numbers are copied as they are; ASE takes them as Angstrom, u, e, and sqrt(eV / u) for velocities.
        Cell and periodicity are kept, and the time is ``atoms.info["time"]``. Names that are not chemical
        symbols become ``X``, bodies in the plane get z = 0, and masses that are absent are 1.

        Returns
        -------
        ase.Atoms
            A copy.

        Examples
        --------
        >>> import pytest; ase = pytest.importorskip("ase")
        >>> import kith
        >>> kith.Bodies([[0.0, 0, 0], [2.8, 0, 0]], names=["Na", "Cl"]).to_ase()
        Atoms(symbols='NaCl', pbc=False, masses=...)
        """
        return atoms_of(self)

    def to_pandas(self) -> Any:
        """Makes a table with a row for each body, its columns named as in a CSV file.

        Returns
        -------
        pandas.DataFrame
            Of x, y, z, vx, vy, vz, m, q, softening, radius, epsilon, sigma, id and name what the bodies
            have.

        Examples
        --------
        >>> import pytest; pandas = pytest.importorskip("pandas")
        >>> import kith
        >>> table = kith.Bodies([[0.0, 0], [3.0, 4.0]], masses=[1.0, 2.0]).to_pandas()
        >>> list(table.columns), float(table["m"].sum())
        (['x', 'y', 'm'], 3.0)
        """
        import pandas

        return pandas.DataFrame(columns_of(self))

    def _arguments(self) -> dict:
        """What makes the same bodies."""
        names = ("positions", "velocities", "masses", "charges", "softening", "radii", "epsilon", "sigma", "ids",
                 "names", "time", "cell", "periodic", "units")
        return {name: getattr(self, name) for name in names} | {"g": self._handle.g or None}

    def __reduce__(self):
        return _remade, (self._arguments(),)

    def __len__(self) -> int:
        return self._handle.count

    def __repr__(self) -> str:
        return f"<kith.Bodies: {len(self)} in {self._handle.dimensions} dimensions, time {self.time:g}>"


def _host(name, values, dimensions):
    taken = needed(name, values, dimensions)
    if not taken.is_on_host:
        raise ValueError(f"{name} is on a device; bodies are in host memory: copy it there")
    return numpy.asarray((whole(taken) if name == "ids" else reals(taken)[0]).array)


def _remade(arguments) -> Bodies:
    return Bodies(**arguments)


def make(kind: str, n: int | None = None, *, seed: int = 0, dimensions: int = 0, eccentricity: float = 0.0,
         mass_ratio: float = 0.0, elements: ArrayLike | None = None, star: float | None = None, g: float | None = None,
         coordinates: str = "heliocentric", density: float | None = None, temperature: float = 0.0) -> Bodies:
    """Makes initial conditions: the same bits on every machine for the same arguments, except for planets.

    The bodies have the units and the gravitational constant of their kind.

    Parameters
    ----------
    kind : str
        See ``kith make``: ``two-body``, ``plummer``, ``disk``, ``galaxies``, ``lattice`` …
    n : int, optional
        The number of bodies; the default of the kind if not given.
    seed : int
        Seed of the random numbers.
    dimensions : {0, 2, 3}
        2 for the kinds that can be flat; 0: the default of the kind.
    eccentricity, mass_ratio : float
        For the kinds that have them.
    elements : array_like, shape (k, 7), optional
        For ``planets``: mass, a, e, i, Omega, omega and M of each, angles in radians.
    star, g : float, optional
        For ``planets``: the mass of the star and the gravitational constant, 1 by default.
    coordinates : {'heliocentric', 'jacobi', 'barycentric'}
        For ``planets``: the center of the orbits, see `kith.orbits`.
    density : float, optional
        For crystals: particles per unit volume, 1 by default.
    temperature : float
        For crystals: the temperature of the velocities, an energy.

    Returns
    -------
    Bodies
        At time 0.

    Examples
    --------
    >>> import kith
    >>> len(kith.make("plummer", 100, seed=1))
    100
    >>> planets = kith.make("planets", elements=[[1e-3, 1, 0.05, 0, 0, 0, 0], [1e-4, 1.8, 0.1, 0, 0, 1, 2]])
    >>> kith.orbits(planets)["a"].round(12).tolist()
    [1.0, 1.8]
    """
    try:
        return Bodies._of(_kith.make_bodies(text("kind", kind), optional(integer, "n", n),
                                            integer("seed", seed, 0, (1 << 64) - 1),
                                            integer32("dimensions", dimensions), number("eccentricity", eccentricity),
                                            number("mass_ratio", mass_ratio), _planets(elements),
                                            _positive("star", star), _positive("g", g),
                                            chosen("coordinates", coordinates, _kith.orbit_coordinates),
                                            _positive("density", density), number("temperature", temperature)))
    except ValueError as error:  # the C library's names of arguments
        message = str(error)
        for of_c, name in (("count is ", "n is "), ("mass ratio is ", "mass_ratio is ")):
            if message.startswith(of_c):
                raise ValueError(name + message.removeprefix(of_c)) from None
        raise


def _planets(elements) -> list[float]:
    """Seven numbers for each planet, one after the other."""
    rows = numpy.empty((0, 7)) if elements is None else _host("elements", elements, (2,))
    if rows.shape[1] != 7:
        raise ValueError(f"elements has shape {rows.shape}; give k x 7: m, a, e, i, Omega, omega and M of each planet")
    return rows.ravel().tolist()


def _positive(name, value) -> float:
    """A number greater than 0, or 0 for the default."""
    if value is None:
        return 0.0
    given = number(name, value)
    if not given > 0:
        raise ValueError(f"{name} is {described(given)}; it must be greater than 0")
    return given


def read(path: str | os.PathLike, *, format: str | None = None, frame: int = 0, system: int | None = None) -> Bodies:
    r"""Reads bodies from a file of any format that kith supports.

    A file ``.csv``, ``.txt`` or ``.dat`` has columns separated by commas, or by spaces and tabs if its header
    has no comma. The header names them: ``x,y,z,vx,vy,vz,m``; it may be a comment, as ``numpy.savetxt`` writes it.

    Parameters
    ----------
    path : str or os.PathLike
        The file.
    format : str, optional
        By the extension of the path if not given; `kith.formats` lists them.
    frame : int
        The frame of a file with several: 0 the last, k > 0 the k-th from 1, -k from the end.
    system : int, optional
        The system of an ensemble, counted from 0.

    Returns
    -------
    Bodies
        With the columns of the file.

    Raises
    ------
    FormatError
        The file has an error; the message names the line.
    ValueError
        The extension or the format is unknown; the message lists the known ones.
    NotImplementedError
        This build has no HDF5.
    OSError
        The file cannot be read; FileNotFoundError if it does not exist.

    Examples
    --------
    >>> import kith, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "bodies.csv")
    ...     _ = path.write_text("x,y,m\n0,0,1\n3,4,2\n")
    ...     kith.read(path).masses.tolist()
    [1.0, 2.0]
    """
    return Bodies._of(_kith.read_bodies(path_of("path", path), optional(text, "format", format),
                                        integer("frame", frame), optional(integer, "system", system)))


def formats() -> dict[str, str]:
    """Returns the file formats of bodies.

    Returns
    -------
    dict of str
        Descriptions by the names of the formats.

    Examples
    --------
    >>> import kith
    >>> "csv" in kith.formats()
    True
    """
    return {name: description for name, description, _, _ in _kith.formats()}
