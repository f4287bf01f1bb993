"""Plots by matplotlib: axes in, axes out."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy

from kith._arguments import chosen, path_of, text
from kith._bodies import Bodies
from kith._simulation import Simulation
from kith._trajectory import Trajectory, open

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OF_A_RUN = ("orbits", "energy", "positions", "density")
_OF_A_STATE = ("positions", "density")


def _new_axes() -> Axes:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("kith.plot needs matplotlib; pip install matplotlib") from None
    return pyplot.subplots()[1]


def _plane_of(axes: str) -> tuple[int, int]:
    plane = text("axes", axes)
    if len(plane) != 2 or not set(plane) <= set("xyz") or plane[0] == plane[1]:
        raise ValueError(f"axes is {plane!r}; give two of x, y and z, as 'xy'")
    return "xyz".index(plane[0]), "xyz".index(plane[1])


def _coordinates(positions: numpy.ndarray, plane: tuple[int, int]) -> tuple[numpy.ndarray, numpy.ndarray]:
    columns = positions.shape[-1]
    if max(plane) >= columns:
        raise ValueError("axes has z, and the bodies are in the plane; give 'xy'")
    return positions[..., plane[0]], positions[..., plane[1]]


def _label_plane(ax: Axes, plane: tuple[int, int], adjustable: str = "datalim") -> None:
    ax.set_xlabel("xyz"[plane[0]])
    ax.set_ylabel("xyz"[plane[1]])
    ax.set_aspect("equal", adjustable=adjustable)


def _orbits(ax: Axes, run: Trajectory, plane: tuple[int, int]) -> None:
    positions = run.positions.reshape(len(run), -1, run.positions.shape[-1])
    x, y = _coordinates(positions, plane)
    for line in ax.plot(x, y, linewidth=1):
        ax.plot(*(values[-1:] for values in line.get_data()), "o", color=line.get_color(), markersize=4)
    _label_plane(ax, plane)


def _energy(ax: Axes, run: Trajectory) -> None:
    energy = run.observable("total_energy")
    error = numpy.abs((energy - energy[:1]) / energy[:1])
    ax.semilogy(run.times, numpy.where(error > 0, error, numpy.nan), linewidth=1)
    ax.set_xlabel("time")
    ax.set_ylabel("relative energy error")


def _positions(ax: Axes, bodies: Bodies, plane: tuple[int, int]) -> None:
    x, y = _coordinates(bodies.positions, plane)
    ax.plot(x, y, "o", markersize=float(numpy.clip(60 / max(len(x), 1) ** 0.5, 0.5, 6)), markeredgewidth=0)
    _label_plane(ax, plane)


def _density(ax: Axes, bodies: Bodies, plane: tuple[int, int]) -> None:
    x, y = _coordinates(bodies.positions, plane)
    span = [numpy.percentile(values, [0.5, 99.5]) for values in (x, y)]
    half = max(float(numpy.ptp(values)) for values in span) / 2 or 1.0
    window = [[float(values.mean()) - half, float(values.mean()) + half] for values in span]
    masses = numpy.ones(len(x)) if bodies.masses is None else bodies.masses
    cells = int(numpy.clip(len(x) ** 0.5, 32, 512))
    surface = numpy.histogram2d(x, y, bins=cells, range=window, weights=masses)[0].T / (2 * half / cells) ** 2
    positive = surface[surface > 0]
    floor = numpy.percentile(positive, 5) if len(positive) else 1.0
    image = ax.imshow(numpy.arcsinh(surface / floor), origin="lower", extent=(*window[0], *window[1]), cmap="inferno",
                      interpolation="bilinear")
    ax.figure.colorbar(image, ax=ax, label=f"arcsinh(surface density / {floor:.3g})")
    _label_plane(ax, plane, "box")


def plot(what: Trajectory | Simulation | Bodies | str | os.PathLike[str], kind: str | None = None, *,
         axes: str = "xy", ax: Axes | None = None) -> Axes:
    """Draws a run, a simulation or bodies into axes of matplotlib.

    ``kith plot`` draws more kinds, without Python.

    Parameters
    ----------
    what : Trajectory, Simulation, Bodies, str or os.PathLike
        A run's H5MD file, or a state.
    kind : {'orbits', 'energy', 'positions', 'density'}, optional
        The paths of all bodies, the relative error of the total energy against time, the bodies (of a run those
        of its last frame), or their surface density. Of a run ``orbits`` by default, otherwise ``positions``;
        only a run has ``orbits`` and ``energy``.
    axes : str
        The two axes of the plane to draw, as ``xy`` or ``xz``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn into.

    Raises
    ------
    ImportError
        matplotlib is not installed, and no ``ax`` is given.
    ValueError
        The kind or the axes do not exist, or a state has no such plot.

    Examples
    --------
    >>> import kith, matplotlib
    >>> matplotlib.use("Agg")
    >>> ax = kith.plot(kith.make("plummer", n=100, seed=1), axes="xz")
    >>> ax.get_ylabel()
    'z'
    """
    plane = _plane_of(axes)
    source = what if isinstance(what, (Trajectory, Simulation, Bodies)) else open(path_of("what", what))
    is_run = isinstance(source, Trajectory)
    names = _OF_A_RUN if is_run else _OF_A_STATE
    name = chosen("kind", names[0] if kind is None else kind, {each: each for each in names})
    target = _new_axes() if ax is None else ax
    if is_run and name == "orbits":
        _orbits(target, source, plane)
        return target
    if is_run and name == "energy":
        _energy(target, source)
        return target
    bodies = source[-1] if isinstance(source, Trajectory) else source
    state = bodies.bodies() if isinstance(bodies, Simulation) else bodies
    (_positions if name == "positions" else _density)(target, state, plane)
    return target
