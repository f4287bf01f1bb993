"""What others build packages from: the recipe of conda-build and the container file, without running either.

    recipes.py SOURCE-FOLDER

The recipe is read as conda-build reads it, its templates by Jinja with stand-ins for conda-build's functions, for a
home page that is there and for none. The container file copies what the build makes, and its shell is a shell's.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import jinja2
import yaml

SOURCE = Path(sys.argv[1])
CMAKE = (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8")
VERSION = re.search(r"project\(kith VERSION ([\d.]+)", CMAKE)[1]

# https://docs.conda.io/projects/conda-build/en/stable/resources/define-metadata.html: --check refuses others
SECTIONS = {
    "package": {"name", "version"},
    "source": {"path"},
    "build": {"number", "skip", "script"},
    "requirements": {"build", "host", "run"},
    "test": {"imports", "commands"},
    "about": {"home", "license", "license_file", "summary", "description"},
}


def recipe(cmake):
    """The recipe as conda-build has it, for this text of CMakeLists.txt."""
    path = SOURCE / "packaging/conda/meta.yaml"

    def load_file_regex(load_file, regex_pattern, from_recipe_dir):
        assert from_recipe_dir and (path.parent / load_file).resolve() == (SOURCE / "CMakeLists.txt").resolve()
        return re.search(regex_pattern, cmake)

    lines = path.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not re.search(r"# \[not linux\]$", line)]  # a selector: not for this system
    template = jinja2.Environment(undefined=jinja2.StrictUndefined).from_string("\n".join(kept))
    # conda-build reads it first with all other names empty: what began with {{ PYTHON }} would change its indentation.
    names = {"load_file_regex": load_file_regex}
    return yaml.safe_load(template.render(compiler="{}_linux-64".format, stdlib="{}_stdlib".format, **names))


def check_recipe():
    found = recipe(CMAKE)
    assert set(found) == set(SECTIONS), set(found) ^ set(SECTIONS)
    for section, keys in SECTIONS.items():
        assert set(found[section]) <= keys, (section, set(found[section]) - keys)
    assert found["package"] == {"name": "kith", "version": VERSION}, found["package"]
    assert (SOURCE / found["about"]["license_file"]).is_file()
    options = re.findall(r"cmake\.define\.(\w+)=", found["build"]["script"][0])
    assert options and all(f"{option} " in CMAKE + read_cmake() for option in options), options
    page = re.search(r'set\(KITH_HOMEPAGE_URL "([^"]*)"', CMAKE)[1]
    assert found["about"].get("home", "") == page, found["about"]
    page = "https://example.org/kith"
    named = recipe(re.sub(r'(set\(KITH_HOMEPAGE_URL )"[^"]*"', rf'\1"{page}"', CMAKE))
    assert named["about"]["home"] == page, named["about"]

    project = (SOURCE / "pyproject.toml").read_text(encoding="utf-8")
    of = {line.split()[0] for line in found["requirements"]["host"] + found["requirements"]["run"]}
    for line in re.findall(r"^(?:requires|dependencies) = \[(.*)\]$", project, re.M):
        for name in re.findall(r'"([\w-]+)', line):
            assert name in of, f"the recipe has no {name}"
    print("recipe:", found["package"], len(of), "requirements")


def read_cmake():
    return "".join(path.read_text(encoding="utf-8") for path in (SOURCE / "cmake").glob("*.cmake"))


def check_container():
    text = (SOURCE / "packaging/Containerfile").read_text(encoding="utf-8")
    text = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    steps = re.sub(r"\\\n", " ", text).split("\n")
    words = [step.split(maxsplit=1) for step in steps if step.strip()]
    assert {word for word, _ in words} <= {"FROM", "COPY", "WORKDIR", "RUN", "ENTRYPOINT"}, words
    assert all("debian:" in rest for word, rest in words if word == "FROM")
    shell = "\n".join(rest for word, rest in words if word == "RUN")
    checker = ["shellcheck", "-s", "sh", "-"] if shutil.which("shellcheck") else ["sh", "-n"]
    subprocess.run(checker, input=shell, text=True, check=True)
    made = (SOURCE / "cmake/KithPackage.cmake").read_text(encoding="utf-8")
    assert "build/packages/*.deb" in text and "/packages)" in made
    print("container file:", len(words), "steps")


check_recipe()
check_container()
