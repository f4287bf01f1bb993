"""Signatures: what a type checker and the stub of the extension module state is what Python's inspect finds."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_documentation import PUBLIC, is_record

import kith
from kith import _kith

KINDS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def parts_of(text):
    """The text between commas outside brackets and quotes."""
    parts, depth, start, quoted = [], 0, 0, False
    for at, letter in enumerate(text):
        quoted ^= letter == "'"
        if not quoted:
            depth += (letter in "[(") - (letter in "])")
        if letter == "," and depth == 0 and not quoted:
            parts.append(text[start:at].strip())
            start = at + 1
    return [part for part in [*parts, text[start:].strip()] if part]


def checked(shown):
    """Name, kind and 'has a default' of each parameter in mypy's notation: def (x: int, *, y: int =) -> None."""
    first = shown.index("(") + 1
    end, depth = first, 1
    while depth:
        depth += (shown[end] == "(") - (shown[end] == ")")
        end += 1
    found, only_by_name = [], False
    for part in parts_of(shown[first : end - 1]):
        if part == "*":
            only_by_name = True
            continue
        stars, name = re.match(r"(\**)(\w+)", part).groups()
        found.append((name, stars or ("by name" if only_by_name else ""), part.endswith("=")))
        only_by_name |= stars == "*"
    return found


def inspected(name):
    found = []
    for parameter in inspect.signature(eval(name, {"kith": kith})).parameters.values():
        kind = KINDS.get(parameter.kind, "by name" if parameter.kind is parameter.KEYWORD_ONLY else "")
        found.append((parameter.name, kind, parameter.default is not parameter.empty))
    return found


def is_called(name, value):
    if name.startswith("kith.torch.") or isinstance(value, property):
        return False
    return not (inspect.isclass(value) and (issubclass(value, Exception) or is_record(value)))


CALLED = [name for name, value in PUBLIC.items() if is_called(name, value)]
FUNCTIONS_WITH_FUNCTIONS = ("kith.collisions", "kith.matrix")  # type checkers see objects that are called


@pytest.fixture(scope="module")
def revealed(tmp_path_factory):
    """The type of each public function and class as mypy sees it."""
    pytest.importorskip("mypy")
    folder = tmp_path_factory.mktemp("types")
    lines = ["import kith", "import kith.ase"]
    lines += [f"reveal_type({name}{'.__call__' if name in FUNCTIONS_WITH_FUNCTIONS else ''})" for name in CALLED]
    (folder / "program.py").write_text("\n".join(lines), encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "mypy", "--no-error-summary", "program.py"], cwd=folder,
                          capture_output=True, text=True)
    rows = re.findall(r'^program\.py:(\d+): note: Revealed type is "(.*)"$', done.stdout, re.M)
    assert len(rows) == len(CALLED), done.stdout + done.stderr
    return {CALLED[int(line) - 3]: shown for line, shown in rows}


@pytest.mark.parametrize("name", CALLED)
def test_a_type_checker_sees_the_signature(name, revealed):
    shown = revealed[name]
    if shown.startswith("Overload("):  # the last one has every parameter, some of them required
        shown = parts_of(shown[len("Overload(") : -1])[-1]
        assert [row[:2] for row in checked(shown)] == [row[:2] for row in inspected(name)]
        return
    assert shown.startswith("def "), shown
    assert checked(shown) == inspected(name)


def stub():
    """Names of the functions, and the methods, in _kith.pyi, each with its parameters; of other members None."""
    found = {}
    source = (Path(kith.__file__).parent / "_kith.pyi").read_text(encoding="utf-8")

    def visit(statements, prefix):
        for node in statements:
            if isinstance(node, ast.ClassDef):
                found[prefix + node.name] = None
                visit(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.FunctionDef):
                names = [argument.arg for argument in node.args.posonlyargs + node.args.args]
                is_method = prefix and not any(getattr(each, "id", "") == "property" for each in node.decorator_list)
                found[prefix + node.name] = names[1 if is_method else 0 :] if not prefix or is_method else None
            elif isinstance(node, ast.AnnAssign):
                found[prefix + node.target.id] = None

    visit(ast.parse(source).body, "")
    return found


def test_the_stub_of_the_extension_module_has_its_members():
    stated, found = stub(), {}
    for name, value in vars(_kith).items():
        if name.startswith("__"):
            continue
        found[name] = value
        if inspect.isclass(value) and value.__module__ == "kith._kith" and not issubclass(value, Exception):
            found.update({f"{name}.{key}": member for key, member in vars(value).items() if not key.startswith("_")})
    assert sorted(set(found) ^ {name for name in stated if "__" not in name}) == []
    for name, parameters in stated.items():
        signatures = getattr(found.get(name), "__nb_signature__", None)
        if parameters is not None and signatures:
            assert [each for each, *_ in checked(signatures[0][0]) if each != "self"] == parameters, name
