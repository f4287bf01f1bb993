"""Types as users' checkers see them: mypy --strict on a program that uses what is public, and on lines of pages."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")
HERE = Path(__file__).parent


def errors_of(source, folder):
    path = folder / "program.py"
    path.write_text(source, encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-error-summary", path.name], cwd=folder,
                          capture_output=True, text=True)
    return done.stdout + done.stderr


def test_a_program_that_uses_what_is_public(tmp_path):
    assert errors_of((HERE / "typed_use.py").read_text(encoding="utf-8"), tmp_path) == ""


def test_the_program_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = {}
    exec((HERE / "typed_use.py").read_text(encoding="utf-8"), made)
    made["use"]()


@pytest.mark.parametrize("page", ["README.md", "docs/howto/cluster.md"])
def test_the_lines_of_a_page(page, tmp_path):
    text = (HERE.parents[1] / page).read_text(encoding="utf-8")
    assert errors_of(re.search(r"```python\n(.*?)```", text, re.S)[1], tmp_path) == ""


def test_a_wrong_keyword_is_an_error(tmp_path):
    assert "nope" in errors_of("import kith\n\nkith.matrix([[0.0, 0.0]], nope=1)\n", tmp_path)
