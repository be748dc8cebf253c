"""The Python of the README and of the pages on live use and on users who differ runs."""

import pathlib
import re

import click_bandits
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


def test_the_numbers_of_the_comparison():
    row = next(line for line in (PACKAGE / "COMPARISON.md").read_text().splitlines() if line.startswith("| click-bandits |"))
    policies = click_bandits.policies()
    contextual = sum(policy["contexts"] != "no" for policy in policies)
    assert f"| {len(policies)}: " in row and f", {contextual} of them contextual" in row
    assert f"| {len(click_bandits.models.__all__)} to simulate" in row
