"""What tests ask of an error: its type and the fields of its message, not its prose."""

import contextlib
import re

import pytest


def has_field(message, field):
    """Whether the field is in the message and not inside of a longer word or number."""
    begin = r"(?<!\w)" if re.match(r"\w", field) else ""
    end = r"(?!\w)" if re.search(r"\w$", field) else ""
    return re.search(begin + re.escape(field) + end, message) is not None


@contextlib.contextmanager
def refused(kind, fields):
    """The block raises the error, whose message has all fields: they are separated by spaces.

    A field is the name of an argument, its value, a line, or the remedy's own word. Their order is
    free, and so are the words around them.
    """
    with pytest.raises(kind) as caught:
        yield caught
    message = str(caught.value)
    missing = [field for field in fields.split() if not has_field(message, field)]
    assert not missing, f"{message!r} has no {' and no '.join(missing)}"
