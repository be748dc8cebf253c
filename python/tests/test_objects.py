"""Results as objects that notebooks, pickle and data frames know."""

import copy
import doctest
import importlib
import inspect
import pathlib
import pickle
import re

import click_bandits
import numpy as np
import pytest
from click_bandits import Fitted, Policy, Simulation, Table, fit, simulate

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
    fitted = joblib.Parallel(2)(joblib.delayed(fit)(SESSIONS, model=model) for model in ("pbm", "dcm"))
    assert [one.models for one in fitted] == [["pbm"], ["dcm"]] and fitted[0].parameters == fit(SESSIONS, model="pbm").parameters


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


SESSIONS = {
    "query": [f"q{row // 4 % 2}" for row in range(400)],
    "session": [row // 2 for row in range(400)],
    "item": ["a", "b", "c", "a", "b", "c"] * 66 + ["a", "b", "c", "a"],
    "position": [1, 2] * 200,
    "click": [1, 0, 0, 1, 0, 0, 1, 1, 0, 0] * 40,
}


@pytest.mark.parametrize("model", ["all", "pbm", ["dcm", "ubm", "ccm"]], ids=str)
@pytest.mark.parametrize("held_out", [10, "last", 0])
def test_fits_pickle(model, held_out):
    log = {**SESSIONS, "click": [*SESSIONS["click"][:-1], 7]}
    fitted = fit(log, model=model, held_out=held_out, max_skipped=0.1)
    for other in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        assert type(other) is Fitted and repr(other) == repr(fitted) and other.to_json() == fitted.to_json()
        for name in ("models", "parameters", "comparison", "transfer", "checks", "warnings", "counts", "report"):
            assert getattr(other, name) == getattr(fitted, name), name
        assert other.score(SESSIONS) == fitted.score(SESSIONS) and other.instances() == fitted.instances()
    assert pickle.loads(pickle.dumps(fitted)).answer(queries=1, seed=3) == fitted.answer(queries=1, seed=3)


def test_fits_from_files(tmp_path):
    fitted = fit(SESSIONS, model="all")
    fitted.save(tmp_path)
    # A path that is no directory is that of the file.
    fitted.save(tmp_path / "new")
    whole = fitted.score(SESSIONS)
    for path in (tmp_path, str(tmp_path / "new")):
        loaded = Fitted.load(path)
        assert loaded.models == fitted.models and loaded.to_json() == fitted.to_json()
        assert pickle.loads(pickle.dumps(loaded)).to_json() == loaded.to_json() and "from parameters.json" in repr(loaded)
        score = loaded.score(SESSIONS)
        assert list(score["impressions"]) == list(whole["impressions"])
        np.testing.assert_allclose(score["log_likelihood"], whole["log_likelihood"], rtol=1e-7)
        difference = loaded.compare(fitted)["difference"]
        assert len(difference) == len(fitted.parameters) and np.nanmax(np.abs(difference)) < 1e-7
        for name in ("estimate", "se", "lower", "upper"):
            np.testing.assert_array_equal(loaded.parameters[name], fitted.parameters[name])
        for model in fitted.models:
            for one, other in zip(loaded.instances(model), fitted.instances(model)):
                assert one["log"] == other["log"] and one.keys() == other.keys()
        for name in ("comparison", "transfer", "checks", "warnings", "counts", "report"):
            with pytest.raises(ValueError, match="parameters.json does not have it"):
                getattr(loaded, name)
        with pytest.raises(ValueError, match="^answer: parameters.json does not have it"):
            loaded.answer()
        with pytest.raises(ValueError, match="^Policy.from_fit: parameters.json does not have it"):
            Policy.from_fit(loaded, query="q0", model="pbm")
        with pytest.raises(ValueError, match="give one of pbm, .*names no choice"):
            loaded.instances()
    assert Policy("pbm-ts", items=3, positions=2, examination=[1, 0.5], prior=Fitted.load(tmp_path), seed=1).select()


def test_what_is_no_fit(tmp_path):
    with pytest.raises(FileNotFoundError, match="parameters.json"):
        Fitted.load(tmp_path)
    with pytest.raises(ValueError, match="data: schema: 3, expected 1: the file is of another version"):
        Fitted.from_json(b'{"schema": 3}')
    with pytest.raises(ValueError, match="data"):
        Fitted.from_json(fit(SESSIONS, model="pbm").to_json()[:-9])
    restored, (state,) = fit(SESSIONS, model="all").__reduce__()
    for place in range(0, len(state), 97):
        with pytest.raises(ValueError, match="no pickled Fitted of this version"):
            restored(state[:place] + bytes([state[place] ^ 4]) + state[place + 1 :])
        with pytest.raises(ValueError, match="no pickled Fitted of this version: it is damaged"):
            restored(state[:place])
    with pytest.raises(ValueError, match="its format is 127, expected 5; fit the log again"):
        restored(b"\x7f" + state[1:])


def test_a_fit_that_was_pickled_before():
    """If this fails, a type of fits has changed: count FORMAT of src/fit/state.rs up, and write the file anew."""
    state = (pathlib.Path(__file__).parent / "data/fitted-5.state").read_bytes()
    assert Fitted._restored(state).__reduce__()[1] == (state,)


def test_in_notebooks():
    result = simulate(REGRET)
    assert result._repr_svg_() == next(iter(result.figures.values()))
    assert "5 runs of cascade-ts, uniform" in result._repr_html_() and "<svg" in result._repr_html_()
    assert result.sentences[0].startswith("Best on average: cascade-ts, regret") and result.sentences[0] in result._repr_html_()
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


def public():
    """Every public function and class, with its methods: (name, object, {method: object})."""
    for module in (click_bandits, *map(importlib.import_module, MODULES)):
        for name in module.__all__:
            of = getattr(module, name)
            if callable(of):
                methods = {key: getattr(of, key) for key in vars(of) if not key.startswith("_")} if inspect.isclass(of) else {}
                yield pytest.param(module, of, methods, id=f"{module.__name__}.{name}")


MODULES = ("click_bandits.models", "click_bandits.confidence", "click_bandits.bounds", "click_bandits.distributed")


@pytest.mark.parametrize(("module", "of", "methods"), list(public()))
def test_everything_public_has_an_example(module, of, methods):
    """A function has one in its docstring; a method is called in one of its class."""
    names, parser = {**vars(click_bandits), **vars(module)}, doctest.DocTestParser()
    runner, calls = doctest.DocTestRunner(), ""
    for label, documented in {of.__name__: of, **methods}.items():
        test = parser.get_doctest(inspect.getdoc(documented) or "", dict(names), label, None, 0)
        runner.run(test)
        calls += "".join(example.source for example in test.examples)
    assert runner.failures == 0
    wanted = [f".{name}(" for name, method in methods.items() if callable(method)] or [f"{of.__name__}("]
    assert [call for call in wanted if call not in calls] == []


def test_a_table_has_no_hash():
    with pytest.raises(TypeError):
        hash(simulate(REGRET).summary())
    assert isinstance(simulate(REGRET).summary(), Table)
