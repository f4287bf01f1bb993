"""Words that choose a row of a table."""

from __future__ import annotations

import difflib


def chosen(what: str, word, table):
    """The number of a word of a table; ValueError with the words that there are, else."""
    if word in table:
        return table[word]
    near = difflib.get_close_matches(str(word), table, 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"{what} is {word!r}; give one of {', '.join(map(repr, table))}{hint}")
