"""A directive for what is called like a function and has functions of its own:

.. callable:: matrix           kith.matrix(…), kith.matrix.write(…), …, with their docstrings
"""

import importlib
import inspect
import textwrap

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx.ext.autodoc.mock import mock
from sphinx.ext.napoleon import NumpyDocstring


def functions_of(kind):
    """Name, signature and docstring of what the class has, the call itself first."""
    for name, function in vars(kind).items():
        if inspect.isfunction(function) and (name == "__call__" or not name.startswith("_")):
            signature = inspect.signature(function)
            parameters = [p.replace(annotation=p.empty) for p in list(signature.parameters.values())[1:]]
            yield name, signature.replace(parameters=parameters, return_annotation=signature.empty), function


class Callable(Directive):
    required_arguments = 1

    def run(self):
        environment = self.state.document.settings.env
        with mock(environment.config.autodoc_mock_imports):
            kind = type(getattr(importlib.import_module("kith"), self.arguments[0]))
        lines = StringList()
        for name, signature, function in functions_of(kind):
            whole = self.arguments[0] + ("" if name == "__call__" else f".{name}")
            text = str(NumpyDocstring(inspect.getdoc(function), environment.config, what="function"))
            for line in [f".. py:function:: {whole}{signature}", "", *textwrap.indent(text, "   ").split("\n"), ""]:
                lines.append(line, inspect.getsourcefile(function))
        node = nodes.section()
        self.state.nested_parse(lines, 0, node)
        return node.children


def setup(app):
    app.add_directive("callable", Callable)
    return {"parallel_read_safe": True}
