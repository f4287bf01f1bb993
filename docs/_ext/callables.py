"""A directive for a function that has functions of its own:

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


def functions_of(function):
    """The function itself and the functions among its attributes."""
    return [function, *filter(inspect.isfunction, vars(function).values())]


def signature_of(function):
    """Without annotations, which the docstring gives in words."""
    signature = inspect.signature(function)
    parameters = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return signature.replace(parameters=parameters, return_annotation=signature.empty)


class Callable(Directive):
    required_arguments = 1

    def run(self):
        environment = self.state.document.settings.env
        with mock(environment.config.autodoc_mock_imports):
            whole = getattr(importlib.import_module("kith"), self.arguments[0])
        lines = StringList()
        for function in functions_of(whole):
            text = str(NumpyDocstring(inspect.getdoc(function), environment.config, what="function"))
            for line in [f".. py:function:: {function.__qualname__}{signature_of(function)}", "", *textwrap.indent(text, "   ").split("\n"), ""]:
                lines.append(line, inspect.getsourcefile(function))
        node = nodes.section()
        self.state.nested_parse(lines, 0, node)
        return node.children


def setup(app):
    app.add_directive("callable", Callable)
    return {"parallel_read_safe": True}
