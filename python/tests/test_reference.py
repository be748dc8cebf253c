"""The page of all classes and functions has every public name, with its docstring in Markdown."""

import importlib.util
import pathlib

import click_bandits

PACKAGE = pathlib.Path(__file__).parents[1]


def test_the_reference_has_every_name():
    spec = importlib.util.spec_from_file_location("reference", PACKAGE / "reference.py")
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    page = reference.page()
    for module in (click_bandits.models, click_bandits.confidence, click_bandits.bounds):
        for name in module.__all__:
            assert f"\n### `{name}`\n" in page
    names = [name for name in click_bandits.__all__ if name not in ("models", "confidence", "bounds", "distributed", "__version__")]
    for name in names:
        assert f"\n### `{name}`\n" in page
        for member in reference.public(getattr(click_bandits, name)) if isinstance(getattr(click_bandits, name), type) else []:
            assert f"\n#### `{name}.{member}`\n" in page
    # No section is left as a docstring has it, and every block of code ends.
    assert not any(line in reference.SECTIONS for line in page.splitlines())
    assert page.count("```") % 2 == 0
