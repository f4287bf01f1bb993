"""Two directives of the reference: a public header, as Doxygen read it, and a command's --help.

.. header:: forces.h           every declaration of the header, in its order
```{command} run              what `kith run --help` prints; KITH_PROGRAM says which kith
"""

import os
import re
import subprocess
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx.errors import ExtensionError

include = Path(__file__).parents[2] / "include/kith"

# What a declaration begins with, and the directive of Breathe that shows it.
KINDS = [
    (r"^#define (KITH_\w+) \S", "doxygendefine"),
    (r"^typedef enum (kith_\w+) \{", "doxygenenum"),
    (r"^typedef struct (kith_\w+) \{", "doxygenstruct"),
    (r"^typedef struct (kith_\w+) kith_\w+;", "doxygentypedef"),
    (r"^typedef \w+ (kith_\w+)[\[(;]", "doxygentypedef"),
    (r"^(?!typedef)(?:KITH_API )?(?:static inline )?(?:const )?(?:\w+ )+\*?(kith_\w+)\(", "doxygenfunction"),
]


def declarations(text):
    """The directive and the name of each declaration, in order."""
    found = []
    for pattern, directive in KINDS:
        found += [(m.start(), directive, m[1]) for m in re.finditer(pattern, text, re.M)]
    return [(directive, name) for _, directive, name in sorted(found)]


class Header(Directive):
    required_arguments = 1

    def run(self):
        path = include / self.arguments[0]
        self.state.document.settings.env.note_dependency(str(path))
        text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), path.read_text(encoding="utf-8"), flags=re.S)
        lines = StringList()
        for directive, name in declarations(text):
            lines.append(f".. {directive}:: {name}", str(path))
            if directive == "doxygenstruct":
                lines.append("   :members:", str(path))
                lines.append("   :undoc-members:", str(path))
            lines.append("", str(path))
        node = nodes.section()
        self.state.nested_parse(lines, 0, node)
        return node.children


class Command(Directive):
    required_arguments = 1

    def run(self):
        program = os.environ["KITH_PROGRAM"]
        done = subprocess.run([program, self.arguments[0], "--help"], stdout=subprocess.PIPE, text=True)
        if done.returncode:
            raise ExtensionError(f"kith {self.arguments[0]} --help failed")
        return [nodes.literal_block(done.stdout, done.stdout, language="none")]


def setup(app):
    app.add_directive("header", Header)
    app.add_directive("command", Command)
    return {"parallel_read_safe": True}
