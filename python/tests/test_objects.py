"""Results as objects that notebooks, pickle and data frames know."""

import copy
import doctest
import importlib
import inspect
import pickle
import re

import click_bandits
import numpy as np
import pytest
from click_bandits import Simulation, Table, fit, simulate

USERS = {"model": "cascade", "attraction": [0.4, 0.3, 0.1], "positions": 2}
SPEC = {"name": "small", "horizon": 200, "runs": 5, "seed": 1, "instances": [USERS]}
REGRET = {**SPEC, "task": "regret", "policies": [{"policy": "cascade-ts"}, {"policy": "uniform"}]}
IDENTIFY = {**SPEC, "task": "identify", "policies": [{"policy": "kl-lucb", "delta": 0.1}]}
del IDENTIFY["horizon"]
IDENTIFY["max_steps"] = 100_000


@pytest.mark.parametrize("spec", [REGRET, IDENTIFY], ids=["regret", "identify"])
@pytest.mark.parametrize("in_directory", [False, True])
def test_simulations_pickle_and_open(spec, in_directory, tmp_path):
    result = simulate(spec, out=tmp_path / "out" if in_directory else None)
    copies = [pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result)]
    if in_directory:
        copies.append(Simulation.open(tmp_path / "out"))
    for other in copies:
        assert other.to_json() == result.to_json() and other.out == result.out
        assert other.frame() == result.frame() and other.summary() == result.summary()
        assert other.figures == result.figures and repr(other) == repr(result)
        assert (other.instances == result.instances).all()
    assert len(result.frame()) == sum(len(result.table(policy)) for policy in result.policies)
    assert result.frame().columns == ["policy", *result.table(result.policies[0]).columns]


def test_what_is_no_directory_of_a_result(tmp_path):
    with pytest.raises(ValueError, match="has no result.json"):
        Simulation.open(tmp_path)
    restored, (files, own, records, out) = simulate(REGRET).__reduce__()
    with pytest.raises(ValueError, match="a run of policy 0 is missing"):
        restored(files, own, [records[0][:-1], records[1]], out)
    with pytest.raises(ValueError, match="of 1 policies: expected 2"):
        restored(files, own, records[:1], out)


def test_through_joblib():
    joblib = pytest.importorskip("joblib")
    specs = [{**REGRET, "seed": seed} for seed in (1, 2)]
    results = joblib.Parallel(2)(joblib.delayed(simulate)(spec, threads=1) for spec in specs)
    assert [result.to_json() for result in results] == [simulate(spec).to_json() for spec in specs]


def test_tables():
    fitted = fit({"item": ["a<b", "b"] * 20, "position": [1, 2] * 20, "click": [1, 0, 0, 1] * 10}, model="pbm")
    for table in (fitted.parameters, fitted.counts, simulate(IDENTIFY).table("kl-lucb"), simulate(REGRET).summary()):
        for other in (pickle.loads(pickle.dumps(table)), copy.deepcopy(table), table[:], table.head(10**9)):
            assert other == table and other.columns == table.columns
            assert [column.dtype for column in other.to_numpy().values()] == [
                column.dtype for column in table.to_numpy().values()
            ]
        assert list(table[1:3]) == list(table)[1:3] and list(table[-2:]) == list(table)[-2:]
        assert len(table.head(1)) == 1 and len(table[5:2]) == 0 and table.head(1) != table
    html = fitted.counts._repr_html_()
    assert "a&lt;b" in html and html.count("<tr>") == 1 + len(fitted.counts)
    with pytest.raises(ValueError, match="without a step"):
        fitted.parameters[::2]
    with pytest.raises(TypeError, match="expected the name of a column or a slice"):
        fitted.counts[1]
    for library, method in [("pandas", "to_pandas"), ("polars", "to_polars")]:
        pytest.importorskip(library)
        frame = getattr(fitted.counts, method)()
        assert list(frame["clicks"]) == list(fitted.counts["clicks"])


def test_in_notebooks():
    result = simulate(REGRET)
    assert result._repr_svg_() == next(iter(result.figures.values()))
    assert "5 runs of cascade-ts, uniform" in result._repr_html_() and "<svg" in result._repr_html_()
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", click_bandits.__version__)


def test_plots():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    result = simulate(REGRET)
    axes = result.plot()
    assert result.plot(ax=axes) is axes
    lines, bands = axes.get_lines(), axes.collections
    assert [line.get_label() for line in lines[:2]] == result.policies and len(bands) == 4
    assert np.array_equal(lines[1].get_ydata(), result.regret("uniform").mean(axis=0), equal_nan=True) or np.allclose(
        lines[1].get_ydata(), result.regret("uniform").mean(axis=0)
    )
    with pytest.raises(ValueError, match="runs end with an answer"):
        simulate(IDENTIFY).plot()


def test_matplotlib_is_not_imported_otherwise():
    code = "import sys, click_bandits; sys.exit(any(name in sys.modules for name in ('matplotlib', 'pandas', 'polars')))"
    import subprocess
    import sys

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_examples_of_docstrings():
    """Every example in a docstring of the package."""
    finder, runner = doctest.DocTestFinder(recurse=True), doctest.DocTestRunner()
    names = {name: getattr(click_bandits, name) for name in click_bandits.__all__}
    found = set()
    for module in ("click_bandits", "click_bandits.models", "click_bandits.confidence", "click_bandits.bounds", "click_bandits.distributed"):
        members = vars(importlib.import_module(module))
        for name, member in members.items():
            if name.startswith("_") or not (inspect.isclass(member) or callable(member)):
                continue
            methods = [(f"{name}.{key}", getattr(member, key)) for key in dir(member)] if inspect.isclass(member) else []
            for label, of in [(name, member), *methods]:
                if ">>>" in (getattr(of, "__doc__", None) or "") and label not in found:
                    found.add(label)
                    test = doctest.DocTestParser().get_doctest(of.__doc__, dict(names), label, None, 0)
                    runner.run(test)
    del finder
    assert runner.tries > 0 and runner.failures == 0
    assert {"Policy", "Policy.learn", "Policy.from_fit", "Policy.select", "Live", "Simulation.open", "fit", "simulate", "sweep"} <= found


def test_a_table_has_no_hash():
    with pytest.raises(TypeError):
        hash(simulate(REGRET).summary())
    assert isinstance(simulate(REGRET).summary(), Table)
