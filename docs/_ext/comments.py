"""Turns the comments of a public header into what Doxygen and Breathe read.

    comments.py HEADER

Prints the header with each comment marked as documentation, its text as reStructuredText: what is
set off by four spaces is a formula, lines `  name  text` are arguments, `Errors: …` and its like are
fields of their own. Comments stay plain prose in the header itself. Doxygen's INPUT_FILTER.
"""

import re
import sys

FIELDS = ("Errors", "Cost", "Bits", "Error", "Source", "Units")
IDENTIFIER = re.compile(r"\b(kith_\w+|KITH_[A-Z0-9_]+)\b(\(\))?")


def in_rest(text):
    """Prose with nothing that reStructuredText would take for markup, and names as links."""
    quoted = re.split(r"(`[^`]*`)", text)
    out = []
    for part in quoted:
        if part.startswith("`"):
            out.append(f"`{part}`")
            continue
        part = re.sub(r"([\\*`|])", r"\\\1", part)
        part = re.sub(r"_(?!\w)", r"\\_", part)
        out.append(IDENTIFIER.sub(lambda m: rf"\ :c:expr:`{m[1]}`\ ", part))
    return "".join(out)


def text_of(comment):
    """The lines of a comment, without its frame."""
    inner = comment[2:-2]
    lines = [re.sub(r"^\s*\* ?", "", line) if k else line.strip() for k, line in enumerate(inner.split("\n"))]
    return [line.rstrip() for line in lines]


def indent_of(line):
    return len(line) - len(line.lstrip())


def take_fields(lines, starts):
    """Lines that belong together: each that starts one, with those that go on with it."""
    groups = []
    for line in lines:
        if starts(line):
            groups.append([line.strip()])
        else:
            groups[-1].append(line.strip())
    return [" ".join(group) for group in groups]


def is_field(line):
    return line.split(":")[0] in FIELDS and ":" in line


def block_in_rest(lines):
    """One block of lines that no empty line divides."""
    if indent_of(lines[0]) >= 4:
        least = min(map(indent_of, lines))
        return ["::", ""] + ["    " + line[least:] for line in lines]
    if indent_of(lines[0]) >= 2:
        arguments = take_fields(lines, lambda line: indent_of(line) == indent_of(lines[0]))
        out = []
        for argument in arguments:
            name, _, what = re.sub(r"\s{2,}", "\0", argument, count=1).partition("\0")
            out.append(f":{name}: {in_rest(what)}")
        return out
    if is_field(lines[0]):
        return [
            ":{}: {}".format(field.split(":")[0], in_rest(field.split(":", 1)[1].strip()))
            for field in take_fields(lines, is_field)
        ]
    for k, line in enumerate(lines):
        if k > 0 and is_field(line):
            return block_in_rest(lines[:k]) + [""] + block_in_rest(lines[k:])
    return [in_rest(" ".join(line.strip() for line in lines))]


def in_blocks(lines):
    """Divides at empty lines, and where a formula ends."""
    blocks, block = [], []
    for line in lines:
        ends = not line or (block and indent_of(block[0]) >= 4 > indent_of(line))
        if ends and block:
            blocks.append(block)
            block = []
        if line:
            block.append(line)
    return blocks + ([block] if block else [])


def is_field_list(lines):
    return lines[0].startswith(":") and lines[0] != "::"


def documentation(comment, opening):
    """The comment with its text as reStructuredText; lists of fields that follow each other are one."""
    out = []
    for block in map(block_in_rest, in_blocks(text_of(comment))):
        if out and not (is_field_list(out[-1:]) and is_field_list(block)):
            out.append("")
        out += block
    body = "\n".join(out)
    return f"{opening}\n@verbatim embed:rst\n{body}\n@endverbatim\n*/"


def convert(header):
    out, at = [], 0
    for match in re.finditer(r"/\*.*?\*/", header, re.S):
        comment = match[0]
        before = header[header.rfind("\n", 0, match.start()) + 1 : match.start()]
        after = header[match.end() : match.end() + 2]
        out.append(header[at : match.start()])
        at = match.end()
        if before.strip():
            out.append(documentation(comment, "/**<"))
        elif after.startswith("\n\n"):
            out.append(documentation(comment, "/** @file"))
        else:
            out.append(documentation(comment, "/**"))
    return "".join(out) + header[at:]


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        sys.stdout.write(convert(file.read()))
