"""Options that the library declares, beside the signatures of the stubs."""

import ast
import json
from pathlib import Path

import click_bandits
import pytest
from click_bandits import Fitted, evaluate, fit
from click_bandits._native import _options

LOG = {"item": ["a", "b"] * 50, "position": [1, 2] * 50, "click": [1, 0, 0, 0] * 25}
OPTIONS = {
    "fit": ("read", "ubi", "fit"),
    "evaluate": ("read", "ubi"),
    "score": ("read", "ubi"),
}


def functions():
    """The first signature of each function and method of the stubs, with its defaults."""
    tree = ast.parse(Path(click_bandits.__file__).with_name("_native.pyi").read_text())
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            defaults = [None if value is None else ast.literal_eval(value) for value in node.args.kw_defaults]
            found.setdefault(node.name, dict(zip((arg.arg for arg in node.args.kwonlyargs), defaults)))
    return found


@pytest.mark.parametrize("name", OPTIONS)
def test_stubs_have_the_options_and_defaults_of_the_library(name):
    schemas = json.loads(_options())
    options = {key: of for kind in OPTIONS[name] for key, of in schemas[kind]["properties"].items()}
    # `threads` and `intervals` are no part of a fit's settings.
    assert {"first_position", "threads", "exact_queries"} <= options.keys()
    signature = functions()[name]
    for option, schema in options.items():
        assert option in signature, option
        unwritten = {"intervals": True}
        assert signature[option] == schema.get("default", unwritten.get(option)), option


def test_other_options_are_refused_by_name():
    with pytest.raises(TypeError, match=r"fit\(\) got an unexpected keyword argument 'hold_out'; did you mean `held_out`"):
        fit(LOG, hold_out=3)
    with pytest.raises(TypeError, match=r"fit\(\) got an unexpected keyword argument 'models'; did you mean `model`"):
        fit({}, models="pbm")
    with pytest.raises(TypeError, match=r"fit\(\) got an unexpected keyword argument 'item': columns=\{\"item\": \.\.\} names a column"):
        fit({}, item="product")
    with pytest.raises(TypeError, match=r"evaluate\(\) got an unexpected keyword argument 'scope'"):
        evaluate(LOG, "learned", scope="site")
    assert isinstance(fit(LOG, model="pbm", threads=None, held_out=0), Fitted)
    with pytest.raises(ValueError, match="seed: \"one\" found: expected an integer of at least 0"):
        fit(LOG, model="pbm", seed="one")
