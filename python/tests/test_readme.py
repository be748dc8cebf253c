"""The Python of the README and of the pages on live use and on users who differ runs."""

import pathlib
import re

import pytest

PACKAGE = pathlib.Path(__file__).parents[1]


@pytest.mark.parametrize("page", ["README.md", "../docs/live.md", "../docs/context.md"])
def test_the_examples_of_the_pages(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (PACKAGE / page).read_text(), re.S)
    assert blocks
    names: dict = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
