"""The lines of Python in the README do what they say."""

import re
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def test_the_readmes_lines_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.S)[1]
    made = {}
    exec(compile(lines, str(README), "exec"), made)
    assert made["acceleration"].shape == (1000, 3)
    assert len(made["i"]) > 0 and (made["d"] < 0.1).all()
    assert Path("plummer.h5").stat().st_size > 1000000
