"""Docstrings: all that is public has numpydoc's sections, and examples, which --doctest-modules runs."""

import dataclasses
import importlib
import importlib.util
import inspect
import re

import pytest

import kith
import kith.ase


def members_of(name, value):
    """The public methods and properties of a class, and the functions that a function has."""
    for key, member in vars(value).items():
        if key.startswith("_"):
            continue
        if isinstance(member, (staticmethod, classmethod)):
            member = member.__func__
        if inspect.isfunction(member) or isinstance(member, property):
            yield f"{name}.{key}", member


OPEN = {"parameters"}  # of laws


def public():
    for name in kith.__all__:
        value = getattr(kith, name)
        yield f"kith.{name}", value
        yield from members_of(f"kith.{name}", value)
    yield "kith.ase.neighbor_list", kith.ase.neighbor_list
    yield "kith.ase.Calculator", kith.ase.Calculator
    if importlib.util.find_spec("torch"):
        for key, value in vars(importlib.import_module("kith.torch")).items():
            if not key.startswith("_") and inspect.isfunction(value) and value.__module__ == "kith.torch":
                yield f"kith.torch.{key}", value


PUBLIC = dict(public())


def sections_of(name):
    """The text of each section by its title; what precedes them is the one named ''."""
    parts = re.split(r"^([A-Z][A-Za-z ]+)\n-{3,}\n", inspect.getdoc(PUBLIC[name]) or "", flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2]))}


def entries_of(section):
    """Names of a section's entries, with the type and description of each."""
    parts = re.split(r"^(\S.*)\n", section, flags=re.MULTILINE)
    for head, described in zip(parts[1::2], parts[2::2]):
        names, _, kind = head.partition(" : ")
        for name in names.split(", "):
            yield name, kind, described.strip()


def signature_of(name):
    value = PUBLIC[name]
    if isinstance(value, property) or (inspect.isclass(value) and issubclass(value, Exception)):
        return None
    return inspect.signature(value)


def parameters_of(name):
    signature = signature_of(name)
    if signature is None or is_record(PUBLIC[name]):
        return []
    stars = {inspect.Parameter.VAR_KEYWORD: "**", inspect.Parameter.VAR_POSITIONAL: "*"}
    return [stars.get(parameter.kind, "") + parameter.name for parameter in signature.parameters.values()
            if parameter.name not in ("self", "cls") and not parameter.name.startswith("_")]


@pytest.mark.parametrize("name", PUBLIC)
def test_every_parameter_is_named_and_has_a_type(name):
    signature = signature_of(name)
    if signature is None or is_record(PUBLIC[name]):
        return
    for parameter in signature.parameters.values():
        if parameter.name in ("self", "cls", "_"):
            continue
        assert parameter.annotation is not parameter.empty, parameter
        assert parameter.kind is not parameter.VAR_POSITIONAL, parameter
        assert parameter.kind is not parameter.VAR_KEYWORD or parameter.name in OPEN, parameter


def is_record(value):
    return dataclasses.is_dataclass(value) or (inspect.isclass(value) and issubclass(value, tuple))


@pytest.mark.parametrize("name", kith.__all__)
def test_what_is_public_is_a_function_or_a_class(name):
    assert inspect.isfunction(getattr(kith, name)) or inspect.isclass(getattr(kith, name))


@pytest.mark.parametrize("name", PUBLIC)
def test_a_summary_and_an_example(name):
    sections = sections_of(name)
    summary = sections[""].partition("\n\n")[0].strip()
    assert summary.endswith(".") and "\n" not in summary, summary
    assert ">>> " in sections.get("Examples", ""), list(sections)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_parameter_has_a_type_and_a_description(name):
    parameters = parameters_of(name)
    described = list(entries_of(sections_of(name).get("Parameters", "")))
    names = [each for each, _, _ in described]
    others = [each for each in names if each not in parameters]
    assert not others
    assert [each for each in names if each in parameters] == parameters
    assert [each for each, kind, text in described if not text or not (kind or each.startswith("**"))] == []


@pytest.mark.parametrize("name", PUBLIC)
def test_what_is_returned_has_a_section(name):
    value, signature = PUBLIC[name], signature_of(name)
    returns = not inspect.isclass(value) and (signature is None or signature.return_annotation != "None")
    sections = sections_of(name)
    assert returns == bool({"Returns", "Yields"} & set(sections)), list(sections)


@pytest.mark.parametrize("name", [name for name in PUBLIC if is_record(PUBLIC[name])])
def test_every_field_of_a_record_has_a_type_and_a_description(name):
    kind = PUBLIC[name]
    fields = kind._fields if hasattr(kind, "_fields") else [field.name for field in dataclasses.fields(kind)]
    described = list(entries_of(sections_of(name).get("Attributes", "")))
    assert [each for each, _, _ in described] == list(fields)
    assert all(text and kind for _, kind, text in described), described
