"""Checks that people read the field's words: check_words.py

The left side of each line is never meant otherwise in comments, messages and documents of this
project; the right side is what to write."""

import pathlib
import re
import subprocess
import sys

INSTEAD = {
    r"(?:is|are) told|tells? (?:it|of|the)": "is reported; reports",
    r"(?:is|are|was) noted": "is reported",
    r"looked at|ha(?:ve|s) a look|a look at|looks? at": "inspected; inspects",
    r"what is wrong": "errors, the error",
    r"numbers? that (?:is|are) none": "NaN or infinity",
    r"several vectors|eight vectors at once|vectors at once": "multiple right-hand sides",
    r"mostly filling|filled up": "padding, padded",
    r"folded grids?": "hashed cell list",
    r"parting": "partitioning",
    r"asks? ahead|asked for(?: ahead)?": "prefetched; requested",
    r"so (?:many|few) (?:\w+ )?(?:a|of|as|at|on|bytes|bodies|pairs|points|rows|steps|vectors)": "the number itself, or at most n",
    r"behind (?:the last|the end|end|count|an? array)": "past the end",
    r"beside (?:REBOUND|memset|a|an|the|it|another|its)": "compared with; next to; in addition to",
    r"goes with": "freed with, closed with",
    r"sees? to": "allocates, ensures",
    r"anew": "again; rebuilt",
    r"worth waking": "how many threads to wake",
    r"(?:on|under) (?:its|their|way) ?(?:way)? at once|under way": "in flight; in progress",
    r"the greatest": "the largest, the maximum",
    r"neighbour\w*|colour\w*|\w*centre[ds]?|optimis\w+|normalis\w+|metres": "American spelling",
}
# Quotations, names of other projects, and the words themselves.
EXCEPT = re.compile(r"matscipy\.neighbours|neighbour_list|'colour'|\"colour\"|colour=1")

WORD = {old: re.compile(rf"(?<![\w-])(?:{old.replace(' ', chr(92) + 's+')})(?![\w-])", re.IGNORECASE) for old in INSTEAD}
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
LEAD = re.compile(r"\n[ \t]*(?:\*(?!/)|//|#)?[ \t]*")


def spans(path, text):
    """(offset, words) of what people read in a file."""
    suffix = pathlib.Path(path).suffix
    if suffix in {".c", ".h", ".cpp", ".cu", ".cuh", ".inc"}:
        for found in COMMENT.finditer(text):
            yield found.start(), found.group()
    elif suffix in {".py", ".md", ".rst", ".txt", ".sh", ".cmake", ".js"} or path == "dev":
        yield 0, text


def faults(files):
    for path in files:
        if path == "tools/check_words.py":
            continue
        try:
            text = pathlib.Path(path).read_text(encoding="utf-8")
        except (UnicodeDecodeError, IsADirectoryError):
            continue
        for start, words in spans(path, text):
            # Lines of a comment read as one, of the same length so that places stay.
            joined = LEAD.sub(lambda found: " " * len(found.group()), words)
            for old, pattern in WORD.items():
                for found in pattern.finditer(joined):
                    at = start + found.start()
                    line = text[text.rfind("\n", 0, at) + 1 : (text + "\n").find("\n", at)]
                    if not EXCEPT.search(line):
                        number = text.count("\n", 0, at) + 1
                        yield f"{path}:{number}: '{found.group()}'; write: {INSTEAD[old]}"


def main():
    listed = subprocess.run(["git", "ls-files"], check=True, capture_output=True, text=True)
    found = list(faults([path for path in listed.stdout.split("\n") if path]))
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
