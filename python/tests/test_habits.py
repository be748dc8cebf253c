"""What users of numpy, scikit-learn and notebooks expect, and logs with a list in a row."""

import json
import os
import pickle
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

from click_bandits import Live, Policy, evaluate, fit, judgments, models

ROWS = {"query": ["q"] * 40, "item": [["a", "b"], ["b", "a"]] * 20, "click": [[0, 1], [1, 0]] * 20}
LONG = {
    "query": ["q"] * 80,
    "session": np.arange(40).repeat(2),
    "item": ["a", "b", "b", "a"] * 20,
    "position": [1, 2] * 40,
    "click": [0, 1, 1, 0] * 20,
}


def tables():
    yield ROWS
    for name in ("pandas", "polars", "pyarrow"):
        module = pytest.importorskip(name)
        yield (module.table if name == "pyarrow" else module.DataFrame)(ROWS)


def test_a_list_in_a_row_is_the_same_log():
    expected = fit(LONG, model="pbm").counts
    for table in tables():
        assert fit(table, model="pbm").counts == expected
    numbers = {**ROWS, "item": [[1, 2], [2, 1]] * 20}
    assert fit(numbers, model="pbm").counts["item"].tolist() == [1, 1, 2, 2]
    with pytest.raises(ValueError, match="1 element, expected 2, one for each item, found `1`"):
        fit({"item": [["a", "b"]], "click": [[1]]})
    with pytest.raises(ValueError, match="column `item` holds lists"):
        fit({"item": [["a"]], "position": [1], "click": [1]})
    with pytest.raises(ValueError, match="row 0, column `item`: .*expected a list"):
        fit({"item": ["a"], "click": [1]})


def test_one_name_is_a_list_of_one(tmp_path):
    log = {**LONG, "age": [20, 20, 60, 60] * 20}
    fits = [fit(log, model=model, features=features, query="q") for model, features in (("pbm", "age"), (["pbm"], ["age"]))]
    assert fits[0].to_json() == fits[1].to_json()
    for wrong in ({"model": 3}, {"model": [3]}, {"features": 3}, {"features": [3]}):
        with pytest.raises(TypeError, match="expected a text or a list of texts, got <class '(int|list)'>"):
            fit(log, **wrong)
    with pytest.raises(ValueError, match=r"the table has no column with a text as its name: columns=\{\"item\": \.\.\} names"):
        fit({})
    path = tmp_path / "log.csv"
    path.write_text("item,position,click\n" + "a,1,1\nb,2,0\n" * 50)
    columns = {name: name for name in ("item", "position", "click")}
    assert fit(path, format="csv", columns=columns).counts == fit(path, format="delimited", columns=columns).counts


def test_seeds_are_those_of_numpy():
    def choices(**seed):
        policy = Policy("pbm-ts", items=9, examination=[1.0, 0.5], **seed)
        return [policy.select().action for _ in range(3)]

    assert choices(seed=7) == choices(rng=7)
    assert choices(rng=np.random.SeedSequence(5)) == choices(seed=np.random.default_rng(5))
    assert choices(rng=np.random.PCG64(5)) == choices(seed=np.random.default_rng(5))
    users = [models.PositionBased([0.5, 0.4], [1.0, 0.5], **seed) for seed in ({"rng": 7}, {"seed": 7})]
    assert users[0].respond([0, 1], n=99).tolist() == users[1].respond([0, 1], n=99).tolist()
    lives = [Live("pbm-ts", items=[*"abcde"], examination=[1.0, 0.5], **seed) for seed in ({"rng": 7}, {"seed": 7})]
    assert [lives[0].decide(id) for id in range(9)] == [lives[1].decide(id) for id in range(9)]
    log = {"item": ["a", "b"] * 50, "position": [1, 2] * 50, "click": [1, 0] * 50}
    begun = [Policy.from_fit(fit(log, model="pbm"), **seed) for seed in ({"rng": 7}, {"seed": 7})]
    assert [begun[0].select() for _ in range(9)] == [begun[1].select() for _ in range(9)]
    for takes in (choices, lambda **seed: models.Cascade([0.5], 1, **seed), lambda **seed: Live("pbm-ts", examination=[1.0], **seed)):
        with pytest.raises(TypeError, match="rng: means the same as seed"):
            takes(rng=1, seed=1)


def test_users_show_their_parameters():
    for users in (
        models.Cascade([0.5, 0.4], 2, weights=[1.0, 0.5]),
        models.ClickChain([0.4, 0.3], [0.9, 0.3, 0.6], 2),
        models.DependentClick([0.4, 0.3], [0.5, 0.2], reward="clicks"),
        models.DynamicBayesian([0.4, 0.3], [0.5, 0.5], 0.9, 2),
        models.RandomSemiBandit([0.5, 0.4], [1.0, 0.5]),
        models.UserBrowsing([0.5, 0.4], [[1.0], [0.5, 0.4]]),
        models.Dueling([[0.5, 0.9], [0.1, 0.5]]),
        models.RankOne([0.5, 0.2], [0.8, 0.3]),
    ):
        again = eval(f"models.{users}")
        assert repr(again) == repr(users) and json.loads(again.to_json())["model"] == json.loads(users.to_json())["model"]
    assert repr(models.PositionBased(np.linspace(0, 1, 1000), [1.0])).endswith(".., examination=[1.0])")


def test_get_params_builds_the_same_policy():
    policy = Policy("cascade-ts", "cascade", items=["a", "b", "c"], positions=2, prior=(1, 2), seed=3)
    assert repr(policy) == "Policy('cascade-ts', model='cascade', sizes=(3, 2), prior=(1, 2), seed=3)"
    again = Policy(**policy.get_params())
    assert again.get_params() == policy.get_params() and again.save() == policy.save()


def test_a_series_is_a_sequence_of_numbers():
    for name in ("pandas", "polars"):
        series = pytest.importorskip(name).Series([1.0, 0.5])
        assert Policy("pbm-ts", items=3, examination=series, seed=1).sizes == (3, 2)


def test_pictures_of_a_fit():
    fitted = fit({**LONG, "item": ["a" * 40, "b", "b", "a" * 40] * 20}, model="pbm")
    assert f">{'a' * 27}…<" in fitted._repr_html_()
    assert "<svg" in fitted._repr_html_() and fitted._repr_html_().count("<circle") == 2
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = fitted.plot()
    assert len(axes.get_yticks()) == 2
    # Long labels are inside the figure.
    axes.figure.draw_without_rendering()
    assert axes.figure.bbox.x0 <= min(label.get_window_extent().x0 for label in axes.get_yticklabels())


def test_a_copy_of_a_table_below_it_warns():
    random, n = np.random.default_rng(3), 120
    log = {"session": np.arange(n).repeat(2), "item": random.permuted(np.tile([0, 1, 2], (n, 1)), axis=1)[:, :2].ravel()}
    log = {**log, "position": np.tile([1, 2], n), "click": random.random(2 * n) < 0.3}
    twice = {name: np.tile(values, 2) for name, values in log.items()}
    tables = [twice]
    for name in ("pandas", "polars"):
        module = pytest.importorskip(name)
        tables += [module.DataFrame(twice), module.concat([module.DataFrame(log)] * 2)]
    for table in tables:
        with pytest.warns(UserWarning, match="^log: the second half of the rows is a copy of the first"):
            fit(table, model="pbm", held_out=0)
    less = {name: values[:-1] for name, values in twice.items()}
    other = {**twice, "click": np.append(twice["click"][:-1], ~twice["click"][-1])}
    # The rows of an example repeat a few, again and again.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for table in (log, less, other, LONG, {name: np.tile(values, 3) for name, values in LONG.items() if name != "session"}):
            fit(table, model="pbm", held_out=0)


def test_results_tell_the_choice_and_pickle():
    fitted = fit(LONG, model=["pbm", "cascade"], held_out=2)
    choice = fitted.choice
    assert choice["model"] == fitted.report["users"] == choice["alike"][0] and choice["best"] in choice["alike"]
    assert fit(LONG, model="pbm", held_out=0).choice is None
    result = evaluate(LONG, {"query": ["q"] * 2, "position": [1, 2], "item": ["b", "a"]}, model="pbm")
    again = pickle.loads(pickle.dumps(result))
    assert repr(again) == repr(result) and again.to_json() == result.to_json() and again.warnings == result.warnings
    assert again.levels == result.levels and again.models == result.models
    differences = fitted.counts["clicks"] - fitted.counts["impressions"]
    assert (differences <= 0).all() and (differences < 0).any()


def test_weights_for_lightgbm_are_clicks_over_examination():
    fitted = fit(LONG, model="pbm")
    head, *rows = judgments(fitted, "lightgbm").splitlines()
    assert head == "query,item,group,label,position,weight,examination"
    for row in rows:
        _, _, group, label, _, weight, examination = row.split(",")
        assert group == "0" and float(weight) * (float(examination) if label == "1" else 1) == pytest.approx(20)


CODE = """
import numpy as np
from click_bandits import fit
random, n = np.random.default_rng(1), 1_000_000
log = {"query": random.integers(0, 20, n).repeat(5), "session": np.arange(n).repeat(5),
       "item": random.integers(0, 60, n * 5), "position": np.tile(np.arange(1, 6), n), "click": random.random(n * 5) < 0.2}
"""
# Endless work: a machine may be quick, and the signal still finds it. One call takes longer than the
# bound below.
CALLS = [
    '{}\nwhile True: fit(log, model=["ubm", "dbn", "ccm"])',
    'fitted = fit(log, model="pbm", held_out=0)\n{}\nwhile True: fitted.answer(threads=1)',
]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_ends_a_fit_and_an_answer_at_once(call):
    code = CODE + call.format('print("begins", flush=True)')
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None and process.stdout.readline() == "begins\n"
            time.sleep(1.5)
            os.kill(process.pid, signal.SIGINT)
            start = time.monotonic()
            _, errors = process.communicate(timeout=60)
            took = time.monotonic() - start
        finally:
            process.kill()
    # With the end of the process, on a machine that may be busy.
    assert "KeyboardInterrupt" in errors and took < 3.0
