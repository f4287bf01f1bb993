"""The book of kith: `./dev docs` builds it into build/docs/html."""

import os
import re
import sys
from pathlib import Path

from sphinx.errors import ExtensionError

docs = Path(__file__).parent
sys.path.insert(0, str(docs / "_ext"))

project = "kith"
copyright = "the authors of kith, MIT license"
cmake = (docs.parent / "CMakeLists.txt").read_text(encoding="utf-8")
version = release = re.search(r"project\(kith VERSION ([\d.]+)", cmake)[1]
homepage = re.search(r'set\(KITH_HOMEPAGE_URL "([^"]*)"', cmake)[1]
if homepage:
    copyright += f"; home page and reports of errors: {homepage}"

extensions = ["myst_parser", "breathe", "callables", "headers", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_ext"]
myst_heading_anchors = 3

# The docstrings are read without the extension module.
sys.path.insert(0, str(docs.parent / "python"))
autodoc_mock_imports = ["kith._kith", "array_api_compat", "numpy", "scipy", "ase", "torch"]
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_ivar = True
nitpick_ignore_regex = [("py:class", ".*")]  # docstrings name types in words
default_role = "py:obj"

# What Doxygen read out of the headers; tools/docs.sh runs it.
breathe_projects = {"kith": os.environ.get("KITH_DOXYGEN_XML", str(docs.parent / "build/docs/xml"))}
breathe_default_project = "kith"
breathe_domain_by_extension = {"h": "c"}
c_id_attributes = ["KITH_API"]

# Names that are no declarations of kith.
nitpick_ignore = [
    ("c:identifier", name)
    for name in (
        "FILE",
        "bool",
        "char",
        "double",
        "int32_t",
        "int64_t",
        "uint64_t",
        "unsigned",
        "void",
        "kith_pairs_memory",
        "kith_most_bodies_of_system",
        "KITH_ISA",
        "KITH_MAX_COLUMNS",
        "KITH_TUNING",
    )
]

# Formulas are in blocks without a language.
highlight_language = "none"

html_theme = "furo"
html_title = f"kith {release}"  # on each page, as pages of several versions are kept
html_static_path = ["_static"]
html_css_files = ["kith.css"]
html_copy_source = False
html_show_sphinx = False


def setup(_app):
    """Every header, and every name of the Python package, has its place in the reference."""
    reference = "".join(page.read_text(encoding="utf-8") for page in (docs / "reference").iterdir())
    headers = {header.name for header in (docs.parent / "include/kith").glob("*.h")} - {"kith.h"}
    package = (docs.parent / "python/kith/__init__.py").read_text(encoding="utf-8")
    names = re.findall(r'"(\w+)"', package.split("__all__ =", 1)[1])
    missing = [name for name in headers if f"header:: {name}\n" not in reference]
    missing += [name for name in names if not re.search(rf":: {name}\b", reference)]
    if missing:
        raise ExtensionError(f"docs/reference does not have {', '.join(sorted(missing))}")
