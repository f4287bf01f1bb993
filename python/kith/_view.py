"""Live views: a simulation, or the frames of a run, in a browser or a notebook."""

from __future__ import annotations

import os

from kith import _kith
from kith._arguments import integer, number, optional, path_of, text
from kith._html import frame
from kith._simulation import Simulation
from kith._trajectory import Trajectory

_NO_TITLE = ""


class View:
    """A page that shows a simulation or a run; `view` makes one.

    In a notebook it is shown where it is the value of a cell; elsewhere open its ``address`` in a browser.
    With ``with``, or `close`, the page ends.

    Examples
    --------
    >>> import kith
    >>> simulation = kith.Simulation(kith.make("six"), dt=0.001)
    >>> with kith.view(simulation) as view:
    ...     simulation.step(10)
    ...     view.address.startswith("http://127.0.0.1:")
    True
    """

    def __init__(self, *_: object):
        raise TypeError("a View is made by kith.view")

    @classmethod
    def _of(cls, handle, simulation: Simulation | None) -> View:
        made = cls.__new__(cls)
        made._handle, made._simulation = handle, simulation
        return made

    @property
    def address(self) -> str:
        """The page's address, on this machine, with its token.

        Returns
        -------
        str
            As ``http://127.0.0.1:40001/7f…/``.

        Examples
        --------
        >>> import kith
        >>> with kith.view(kith.Simulation(kith.make("six"), dt=0.001)) as view:
        ...     view.address.endswith("/")
        True
        """
        if self._handle is None:
            raise ValueError("the view is closed; kith.view opens another")
        return self._handle.address

    def close(self) -> None:
        """Ends the page; a second time does nothing.

        Examples
        --------
        >>> import kith
        >>> view = kith.view(kith.Simulation(kith.make("six"), dt=0.001))
        >>> view.close()
        >>> view
        <kith.View: closed>
        """
        if self._simulation is not None and self._simulation._handle.view is self._handle:
            self._simulation._handle.view = None
        self._handle = self._simulation = None

    def __enter__(self) -> View:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return "<kith.View: closed>" if self._handle is None else f"<kith.View: {self.address}>"

    def _repr_html_(self) -> str:
        if self._handle is None:
            return "<p>The view is closed.</p>"
        return frame(self.address)


def view(what: Simulation | Trajectory | str | os.PathLike[str], *, port: int = 0, title: str | None = None,
         until: float = 0.0, steps_per_second: float = 0.0) -> View:
    """Shows a simulation as it advances, or the frames of a run, on a page that this machine serves.

    The page draws the bodies by WebGL 2, with time, step and the error of the energy, and pauses, continues and
    single-steps a simulation. It listens on 127.0.0.1 alone, and its address has a random token.

    Parameters
    ----------
    what : Simulation, Trajectory, str or os.PathLike
        A simulation, which is shown between its steps until the view is closed or another is opened for
        it; or a run's H5MD file.
    port : int
        The port of the address; 0: any free port.
    title : str, optional
        The title of the page.
    until : float
        The time at which the simulation will end, for the page's clock; 0: not known.
    steps_per_second : float
        The maximum; 0: no limit. For a simulation.

    Returns
    -------
    View
        Its ``address`` is for a browser; a notebook shows it.

    Raises
    ------
    OSError
        The port is taken, or the file cannot be read.
    NotImplementedError
        This build has no libmicrohttpd.

    Examples
    --------
    >>> import kith
    >>> simulation = kith.Simulation(kith.make("six"), dt=0.001)
    >>> with kith.view(simulation, title="six bodies") as view:
    ...     simulation.run(0.1)
    >>> simulation.time
    0.1
    """
    name = _NO_TITLE if title is None else text("title", title)
    place, pace = integer("port", port, 0, 65535), number("steps_per_second", steps_per_second)
    if isinstance(what, Simulation):
        handle = _kith.view_simulation(what.bodies()._handle, place, name, number("until", until), pace)
        what._handle.view = handle
        return View._of(handle, what)
    if pace or until:
        raise ValueError("until and steps_per_second are for a simulation, and what is a run's file; leave them out")
    path, system = (what._path, what._system) if isinstance(what, Trajectory) else (path_of("what", what), None)
    return View._of(_kith.view_file(path, optional(integer, "system", system), place, name), None)
