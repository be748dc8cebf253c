"""The README's Python runs."""

import pathlib
import re

README = pathlib.Path(__file__).parents[1] / "README.md"


def test_the_examples_of_the_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.S)
    assert blocks
    names: dict = {}
    for block in blocks:
        exec(compile(block, str(README), "exec"), names)
