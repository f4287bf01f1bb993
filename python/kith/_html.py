"""HTML for notebooks."""

from __future__ import annotations

import html


def table(title: str, **rows: object) -> str:
    """A small table of names and values."""
    cells = "".join(f"<tr><th style='text-align: left'>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>"
                    for name, value in rows.items())
    return f"<table><caption>{html.escape(title)}</caption>{cells}</table>"


def frame(address: str) -> str:
    """A live view in its place."""
    return (f'<iframe src="{html.escape(address)}" title="kith" style="width: 100%; height: 480px; border: 0" '
            'allow="fullscreen"></iframe>')
