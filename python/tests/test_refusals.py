"""Wrong arguments are errors that say what was expected, and leave the policy as it was."""

import inspect
import json
import pickle
import re
from pathlib import Path

import click_bandits
import numpy as np
import pytest
from click_bandits import (
    Batch,
    ContextFit,
    Decision,
    Fitted,
    Live,
    Policy,
    Simulation,
    _names,
    ab_test,
    evaluate,
    fit,
    interleaving_test,
    judgments,
    merge,
    models,
    policies,
    simulate,
    spec_files,
)
from click_bandits._native import _options

PBM = {"items": 6, "examination": [0.9, 0.6, 0.3]}


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (("pbm-tss",), ValueError, "unknown policy `pbm-tss`.*did you mean `pbm-ts`"),
        (("oracle",), ValueError, "simulations only"),
        (("logged",), ValueError, "simulations only"),
        (("pbm-ts", "pmb", PBM), ValueError, "unknown model `pmb`.*did you mean `pbm`"),
        (("pbm-ts", "cascade", {"items": 6, "positions": 3}), ValueError, "`pbm-ts`.*does not play \"cascade\".*pbm"),
        (("cascade-ts", {"items": 6, "positions": 3}), ValueError, "give model=, one of \"semi-bandit\", \"cascade\", \"dcm\""),
        (("pbm-ts", {"items": 6}), ValueError, "missing examination"),
        (("pbm-ts", {**PBM, "positions": 4}), ValueError, "examination: 3 given, expected one for each of the 4 positions"),
        (("pbm-gibbs", PBM), ValueError, "unexpected argument examination"),
        (("pbm-gibbs", {"items": 6}), ValueError, "missing positions"),
        (("pbm-gibbs", {"items": 2, "positions": 3}), ValueError, "3 positions but only 2 items"),
        (("pbm-gibbs", {"items": 6, "positions": 3, "order": [0, 1]}), ValueError, "order: the places of a list of 3 are not its positions"),
        (("pbm-ts", {**PBM, "itmes": 6}), ValueError, "unknown parameter `itmes`.*did you mean `items`"),
        (("pbm-ts", {**PBM, "rows": 6}), ValueError, "unexpected argument rows"),
        (("pbm-ucb", {**PBM, "epsilon": -1}), ValueError, "epsilon = -1: expected a number at least 0"),
        (("pbm-ucb", {**PBM, "epsilon": float("nan")}), ValueError, "epsilon = NaN: expected a number at least 0"),
        (("pbm-ucb", {**PBM, "epsilon": [1]}), TypeError, "epsilon: expected a number or a string"),
        (("pbm-ucb", {**PBM, "epsilon": True}), TypeError, "epsilon: expected a number or a string"),
        (("pbm-ucb", {**PBM, "epsilom": 1}), ValueError, "did you mean `epsilon`"),
        (("pbm-pie", {**PBM, "level": "log-horizn"}), ValueError, "did you mean `log-horizon`"),
        (("pbm-pie", {**PBM, "level": "log-horizon"}), ValueError, "needs a horizon"),
        (("pbm-ts", {"items": 6, "examination": [0.9, 1.5]}), ValueError, r"examination\[1\] is 1.5"),
        (("pbm-ts", {"items": 6, "examination": [0.9, float("nan")]}), ValueError, r"examination\[1\] is NaN"),
        (("pbm-ts", {"items": 6, "examination": "high"}), TypeError, "examination: expected a sequence of numbers, got <class 'str'>"),
        (("pbm-ts", {"items": 6, "examination": []}), ValueError, "no positions"),
        (("pbm-ts", {"items": 2, "examination": [0.9, 0.8, 0.7]}), ValueError, "3 positions but only 2 items"),
        (("pbm-ts", {"items": -1, "examination": [0.9]}), ValueError, "items is -1"),
        (("pbm-ts", {"items": 6.0, "examination": [0.9]}), TypeError, "items: expected an integer"),
        (("pbm-ts", {"items": True, "examination": [0.9]}), TypeError, "items: expected an integer"),
        (("pbm-ts", {"items": 2**70, "examination": [0.9]}), ValueError, "items is 1180591620717411303424: expected an integer from 0"),
        (("rsf-ts", "dcm", {"items": 2**32 - 1, "positions": 60}), ValueError, "items times positions: at most 268435456 are"),
        (("rsf-ts", "dcm", {"items": 70, "positions": 65}), ValueError, "65 positions: at most 64 are supported"),
        (("rsf-ts", "dcm", {"items": 5, "positions": 2, "order": [0, 0]}), ValueError, "order: the places of a list of 2"),
        (("rsf-ts", "dcm", {"items": 5, "positions": 2, "order": [0, -1]}), ValueError, "order: the places of a list of 2"),
        (("rsf-ts", "dcm", {"items": 5, "positions": 2, "order": "known"}), TypeError, "order: expected a sequence"),
        (("top-rank", "dcm", {"items": 5, "positions": 2, "order": [0, 1], "horizon": 9}), ValueError, "unexpected argument order"),
        (("cascade-bai", {"items": 5, "positions": 2, "order": "mean-as"}), ValueError, "did you mean `mean-asc`"),
        (("top-rank", "pbm", PBM), ValueError, "needs a horizon"),
        (("top-rank", "clicks-only", {"items": 5000, "positions": 2, "horizon": 9}), ValueError, "at most 4096"),
        (("uts", {"items": 5}), ValueError, "unexpected argument items"),
        (("uts", {"rows": 0, "columns": 3}), ValueError, "at least one of each"),
        (("rucb", {"items": 1}), ValueError, "at least 2"),
        (("pbm-ts", {**PBM, "seed": -1}), ValueError, "seed is -1"),
        (("pbm-ts", {**PBM, "seed": 0.5}), TypeError, "seed: expected an integer"),
    ],
)
def test_policies_that_cannot_be(arguments, error, words):
    *positional, keywords = arguments if isinstance(arguments[-1], dict) else (*arguments, {})
    with pytest.raises(error, match=words):
        Policy(*positional, **keywords)


LIST = {"name": "pbm-ts", **PBM, "seed": 1}


@pytest.mark.parametrize(
    ("clicks", "observed", "error", "words"),
    [
        ([1, 0], None, ValueError, r"expected shape \(3,\), got \(2,\)"),
        (np.zeros(4, bool), None, ValueError, r"expected shape \(3,\), got \(4,\)"),
        (np.zeros((1, 3), bool), None, ValueError, r"expected shape \(3,\), got \(1, 3\)"),
        ([1, 0, 2], None, ValueError, "a click is 2: expected a bool, 0 or 1"),
        ([1, 0, -1], None, ValueError, "a click is -1"),
        ([1, 0, 2**80], None, ValueError, "expected a bool, 0 or 1"),
        ([1.0, 0.5, 0.0], None, ValueError, "a click is 0.5: expected a bool, 0 or 1"),
        (np.full(3, 1e-9), None, ValueError, "expected a bool, 0 or 1"),
        (np.array([0, np.nan, 0]), None, ValueError, "a click is NaN"),
        (["a", "b", "c"], None, TypeError, "a click: expected an integer"),
        (None, None, ValueError, "expected shape"),
        (5, None, ValueError, "expected shape"),
        ([1, 0, 0], 2, ValueError, "observed is for the models semi-bandit, cascade and dcm"),
    ],
)
def test_wrong_clicks_leave_the_policy_as_it_was(clicks, observed, error, words):
    policy = Policy(**LIST)
    decision = policy.select()
    before = policy.save()
    with pytest.raises(error, match=words):
        policy.update(decision, clicks, observed)
    assert policy.save() == before


@pytest.mark.parametrize(
    ("clicks", "error", "words"),
    [
        (np.zeros((4, 2), bool), ValueError, r"expected shape \(4, 3\), got \(4, 2\)"),
        (np.zeros((3, 3), bool), ValueError, r"expected shape \(4, 3\), got \(3, 3\)"),
        (np.full((4, 3), 0.5), ValueError, r"clicks\[0, 0\] is 0.5: expected 0 or 1"),
        (np.full((4, 3), 2), ValueError, r"clicks\[0, 0\] is 2"),
        (np.full((4, 3), 2**64 - 1, np.uint64), ValueError, r"clicks\[0, 0\] is -1"),
        (np.full((4, 3), "x"), TypeError, "array of bool or of integers"),
        (np.full((4, 3), None), TypeError, "array of bool or of integers"),
        (np.zeros((0, 3), bool), ValueError, "expected shape"),
    ],
)
def test_wrong_batches_of_clicks_leave_the_policy_as_it_was(clicks, error, words):
    policy = Policy(**LIST)
    batch = policy.select_batch(4)
    before = policy.save()
    with pytest.raises(error, match=words):
        policy.update_batch(batch, clicks)
    assert policy.save() == before


def test_wrong_rows_of_a_batch_count_nothing():
    policy = Policy("cascade-ts", "cascade", items=5, positions=3, seed=1)
    batch = policy.select_batch(3)
    before = policy.save()
    with pytest.raises(ValueError, match="clicks of row 2: 2 clicks, but cascade users leave at the first"):
        policy.update_batch(batch, [[1, 0, 0], [0, 0, 0], [1, 1, 0]])
    with pytest.raises(ValueError, match=r"clicks of row 1: a click at position 2 \(from 0\), but only 2 positions"):
        policy.update_batch(batch, [[1, 0, 0], [0, 0, 1], [0, 0, 0]], observed=[3, 2, 1])
    with pytest.raises(ValueError, match="observed of row 0 is 4: expected from 0 to 3"):
        policy.update_batch(batch, np.zeros((3, 3), int), observed=[4, 2, 1])
    with pytest.raises(TypeError, match="observed: expected an array of bool or of integers"):
        policy.update_batch(batch, np.zeros((3, 3), int), observed=[0.5, 2, 1])
    assert policy.save() == before


def test_pairs_and_cells():
    duel = Policy("rucb", items=4, seed=1)
    decision = duel.select()
    other = next(item for item in range(4) if item not in decision.action)
    with pytest.raises(ValueError, match=f"the winner is {other}: expected"):
        duel.update(decision, other)
    with pytest.raises(TypeError, match="the winner: expected an integer"):
        duel.update(decision, [decision.action[0]])
    with pytest.raises(ValueError, match="observed is for"):
        duel.update(decision, decision.action[0], 1)
    batch = duel.select_batch(2)
    with pytest.raises(ValueError, match="the winner of row 0 is -1"):
        duel.update_batch(batch, [-1, batch[1].action[0]])
    cell = Policy("uts", rows=3, columns=4, seed=1)
    with pytest.raises(ValueError, match="a click is 3"):
        cell.update(cell.select(), 3)
    with pytest.raises(ValueError, match=r"expected shape \(2,\)"):
        cell.update_batch(cell.select_batch(2), [[1], [0]])


def test_decisions_of_other_policies():
    policy = Policy(**LIST)
    others = [
        Policy("pbm-ucb", **PBM),
        Policy("pbm-ts", items=7, examination=[0.9, 0.6, 0.3]),
        Policy("cascade-ts", "dcm", items=6, positions=3),
    ]
    for other in others:
        with pytest.raises(ValueError, match="a decision of `.*: expected one of `pbm-ts`"):
            policy.update(other.select(), [0, 0, 0])
        with pytest.raises(ValueError, match="a decision of `.*: expected one of `pbm-ts`"):
            policy.update_batch(other.select_batch(1), [[0, 0, 0]])
    with pytest.raises(ValueError, match="epsilon=0.5"):
        Policy("pbm-ucb", **PBM).update(Policy("pbm-ucb", epsilon=0.5, **PBM).select(), [0, 0, 0])
    # Other users of the same sizes: answers of one service may teach another one.
    policy.update(Policy("pbm-ts", items=6, examination=[0.5, 0.5, 0.5]).select(), [0, 0, 0])
    for wrong in (None, 3, [0, 1, 2], policy.select_batch(1)):
        with pytest.raises(TypeError, match="decision: expected what `select` returned, got "):
            policy.update(wrong, [0, 0, 0])


def test_saved_policies_that_are_none():
    saved = Policy(**LIST).save()
    for wrong in (b"", b"{}", b"[]", saved[:-9], saved.replace(b"pbm-ts", b"pbm-tss"), saved.replace(b'"format":1', b'"format":2', 1)):
        with pytest.raises(ValueError, match="no saved policy"):
            Policy.load(wrong)
    data = json.loads(saved)
    data["policy"]["told"]["sizes"] = [2**40, 3]
    with pytest.raises(ValueError, match="told the sizes"):
        Policy.load(json.dumps(data).encode())
    with pytest.raises(TypeError, match="data: expected the bytes of `save`"):
        Policy.load("text")


def test_what_was_saved_otherwise_names_its_reader(tmp_path):
    policy = Policy(**LIST)
    log = {"session": [row // 2 for row in range(100)], "item": ["a", "b"] * 50, "position": [1, 2] * 50, "click": [1, 0] * 50}
    fits = [fit(log, model="pbm"), fit({**log, "place": ["x", "x", "y", "y"] * 25}, model="cascade", segment="place")]
    saved = {
        "Policy.load": policy.save(),
        "Live.load": Live("pbm-ts", examination=[1.0], items=["a"]).save(),
        "from_json": policy.select().to_json().encode(),
        "Fitted.load": fits[0].to_json(),
        "ContextFit.load": fits[1].to_json(),
        "from_json` of their class": models.Cascade([0.5], 1).to_json().encode(),
        "pickle.loads": pickle.dumps(policy),
    }
    path = tmp_path / "saved"
    readers = {
        "Policy.load": lambda: Policy.load(path.read_bytes()),
        "Live.load": lambda: Live.load(path.read_bytes()),
        "from_json": lambda: Decision.from_json(path.read_text("latin-1")),
        "Fitted.load": lambda: Fitted.load(path),
        "ContextFit.load": lambda: ContextFit.load(path),
        "from_json` of their class": lambda: models.PositionBased.from_json(path.read_text("latin-1")),
    }
    for reader, read in readers.items():
        for other, content in saved.items():
            path.write_bytes(content)
            if other not in (reader, "pickle.loads"):
                with pytest.raises(ValueError, match=f"expected .*, found .*{other}` .*reads|expected .*, found .*{other}.* reads"):
                    read()
    with pytest.raises(ValueError, match="found a pickle of Python, which `pickle.loads` reads"):
        Policy.load(saved["pickle.loads"])
    for read in (Policy.load, Live.load):
        with pytest.raises(TypeError, match="data: expected the bytes of `save`.*got <class 'str'>"):
            read("policy.json")
    for fitted in fits:
        with pytest.raises(FileNotFoundError, match="no.such.fit.json: "):
            fitted.save(tmp_path / "no" / "such" / "fit.json")


def test_policies_that_cannot_be_used_live_name_others():
    for name, others in (("pbm-pie", "`pbm-ucb`, .*`pbm-ts`, .*can"), ("cascade-lin-ts", "`hybrid-ts` can")):
        with pytest.raises(ValueError, match=f"`{name}` cannot be used live .*; {others}$"):
            Live(name, positions=2)


LOG = {
    "session": [row // 2 for row in range(100)], "item": ["a", "b"] * 50, "position": [1, 2] * 50, "click": [1, 0, 0, 1] * 25
}
PLACED = {"items": ["a", "b"], "examination": [1.0, 0.5]}


@pytest.mark.parametrize("make", [Live, Policy, lambda name, **given: Policy.from_fit(fit(LOG, model="pbm"), policy=name, **given)])
def test_every_misspelt_argument_has_its_neighbour(make):
    of = Policy.from_fit if make not in (Live, Policy) else make
    for name in set(inspect.signature(of).parameters) - {"fitted", "name", "parameters"}:
        # The value does not matter.
        for word, value in [(name[:-1] + name[-1] * 2, 1), (name[1] + name[0] + name[2:], [True])]:
            with pytest.raises(ValueError, match=f"unknown parameter `{word}`: it has none; did you mean `{name}`"):
                make("pbm-ts", **{**PLACED, word: value} if of is make else {word: value})


def test_every_function_names_its_misspelt_and_mistyped_arguments():
    fitted, clicks = fit(LOG, model="pbm"), {"user": [1], "team": ["a"]}
    calls = {
        "ab_test": lambda **given: ab_test({"user": [1], "arm": ["a"], "clicks": [1]}, **given),
        "interleaving_test": lambda **given: interleaving_test(clicks, **given),
        "test_plan": lambda **given: click_bandits.test_plan("ab", **given),
        "judgments": lambda **given: judgments(fitted, **given),
        "simulate": lambda **given: simulate({}, **given),
        "spec_files": lambda **given: spec_files({}, **given),
        "fit": lambda **given: fit(LOG, **given),
        "evaluate": lambda **given: evaluate(LOG, "learned", **given),
        "score": lambda **given: fitted.score(LOG, **given),
    }
    for function, call in calls.items():
        of = Fitted.score if function == "score" else getattr(click_bandits, function)
        parameters = inspect.signature(of).parameters.values()
        names = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
        assert names
        for name in names:
            with pytest.raises(TypeError, match=rf"^{function}\(\) got an unexpected keyword argument '{name}x'; did you mean `{name}`\?$"):
                call(**{name + "x": 1})
    for words, error, call in [
        ("mean: must be real number, not str", TypeError, lambda: calls["test_plan"](mean="x")),
        ("depth is -1: expected an integer from 0", ValueError, lambda: calls["interleaving_test"](depth=-1)),
        ("planned: expected an integer, got str", TypeError, lambda: calls["ab_test"](planned="x")),
        ("fresh: 'str' object is not an instance of 'bool'", TypeError, lambda: calls["simulate"](fresh="no")),
        ("segment: 'int' object is not an instance of 'str'", TypeError, lambda: fit(LOG, segment=3)),
        ("explore: must be real number, not str", TypeError, lambda: Live("pbm-ts", explore="x", **PLACED)),
        ("seed: expected an integer, got str", TypeError, lambda: fitted.answer(seed="x")),
        ("values: expected a sequence of numbers", TypeError, lambda: calls["evaluate"](values="x")),
    ]:
        with pytest.raises(error, match=words):
            call()


def test_misspelt_words_name_those_that_there_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="values is `answer`: expected answers or a dict from items to numbers; did you mean `answers`"):
        Live("pbm-ts", values="answer", **PLACED)
    with pytest.raises(TypeError, match=r"values\[\"a\"\]: must be real number, not str"):
        Live("pbm-ts", values={"a": "dear"}, **PLACED)
    for make in (Live, Policy):
        with pytest.raises(FileNotFoundError, match=r"prior: .*: estimate: expected \(a, b\), .*\"estimated\"; did you mean `estimated`\?$"):
            make("pbm-ts", prior="estimate", **PLACED)
        with pytest.raises(FileNotFoundError, match=r"prior: .*: fits/context.json: expected \(a, b\), .*\"estimated\"$"):
            make("pbm-ts", prior="fits/context.json", **PLACED)
    with pytest.raises(FileNotFoundError, match="ranking: .*: learnd: expected a path, .*; did you mean `learned`"):
        evaluate(LOG, "learnd")
    with pytest.raises(FileNotFoundError, match="spec: .*: spec.toml: expected a path, a TOML text"):
        simulate("spec.toml")
    with pytest.raises(FileNotFoundError, match="dir: .*: nothing: expected the directory of a result"):
        Simulation.open("nothing")
    with pytest.raises(FileNotFoundError, match="parts: .*: nothing: expected directories that"):
        merge(["nothing"], "out")
    with pytest.raises(ValueError, match="format \"cvs\" is unknown: .*; did you mean `csv`"):
        fit("log.csv", format="cvs")


def test_options_of_a_log_say_what_they_mean():
    with pytest.raises(ValueError, match=r"^held_out: 0.1 is not an integer: .* \(held_out: Hold out one session in N "):
        fit(LOG, held_out=0.1)
    with pytest.raises(ValueError, match=r"^intervals: \"no\" found: expected True or False \(intervals: Estimates have "):
        fit(LOG, intervals="no")


def test_items_and_queries_that_are_not_there_name_those_that_are():
    live, fitted = Live("pbm-ts", examination=[1.0], items=["shoe", "hat"], values={}, seed=1), fit(LOG, model="pbm")
    calls = {
        "item": lambda: live.retire("sho"),
        "values": lambda: live.decide(1, values={"sho": 2}),
        "pins": lambda: live.decide(1, pins={0: "sho"}),
        "items": lambda: live.show(1, ["hat", "sho"]),
    }
    for argument, call in calls.items():
        with pytest.raises(KeyError) as error:
            call()
        assert error.value.args == (f'{argument}: "sho" is no item: expected hat or shoe; did you mean `shoe`?',)
    with pytest.raises(KeyError, match="item: 7 is no item: there is none"):
        Live("pbm-ts", examination=[1.0]).forget(7)
    many = Live("pbm-ts", examination=[1.0], items=range(30))
    with pytest.raises(KeyError, match=r"item: 77 is no item: expected one of 0, 1, .*, 19, \.\."):
        many.forget(77)
    for call in (lambda queries: fitted.instances(queries=queries), lambda queries: Policy.from_fit(fitted, queries[0]), lambda queries: live.begin_with(fitted, queries[0])):
        with pytest.raises(ValueError, match='query "al" was not fitted: expected all; did you mean `all`'):
            call(["al"])


def test_remedies_are_arguments_of_python():
    with pytest.warns(UserWarning, match=r'`columns=\{"session": \.\.\}` makes lists of them'):
        assert fit({key: LOG[key] for key in ("item", "position", "click")}, model="pbm").answer() is None
    with pytest.warns(UserWarning, match="not fitted: cascade, .*: they need whole sessions, and `positions` cuts them short"):
        cut = fit(LOG, positions=1)
    with pytest.warns(UserWarning, match="no answer: lists are cut short, .*: leave out `positions`"):
        assert cut.models == ["pbm"] and cut.answer() is None
    with pytest.raises(FileNotFoundError, match="log: no such file or directory: nolog.csv"):
        fit("nolog.csv")
    with pytest.raises(ValueError, match="draws: only with propensities=True"):
        Policy(**LIST).select(draws=5)
    with pytest.raises(TypeError, match="queries: "):
        cut.instances(queries=3)
    with pytest.raises(TypeError, match="ax: expected axes of matplotlib, got a text: model=.. names a model"):
        cut.plot("pbm")
    with pytest.warns(UserWarning, match=r'no times, .*`columns=\{"time": \.\.\}`'):
        assert fit(LOG, model="pbm", today=2).answer() is None
    with pytest.raises(ValueError, match="first_position: 2 is too large.* in logs with columns and in counts"):
        fit(LOG, first_position=2)
    # Options in the words of users are theirs.
    with pytest.raises(ValueError, match='model "--today .1 --fresh" is unknown'):
        fit(LOG, model="--today .1 --fresh")


def test_every_remedy_of_the_library_is_spelt_as_in_python():
    crates = Path(__file__).parents[2] / "crates"
    # Descriptions of formats are printed by the command alone.
    of_formats = "columns named with --columns"
    texts = [option["description"] for schema in json.loads(_options()).values() for option in schema["properties"].values()]
    for crate in ("answer", "click-logs", "documents", "evaluation", "experiment", "live", "log-reader"):
        for path in (crates / crate / "src").rglob("*.rs"):
            if "tests" not in path.stem:
                code = re.sub(r"^ *//.*$|'\"'", "", path.read_text(), flags=re.MULTILINE)
                texts += re.findall(r'"((?:[^"\\]|\\.)*)"', re.sub(r"\\\n *", "", code), re.DOTALL)
    texts += (crates / "documents" / "CODES.md").read_text().splitlines()
    remedies = [text for text in texts if re.search("--[a-z]|=COLUMN", text) and of_formats not in text]
    assert len(remedies) >= 15
    for text in remedies:
        assert not re.search("--[a-z]|=COLUMN", _names.spelt(text)), text


def test_saved_decisions_that_are_none():
    policy = Policy(**LIST)
    saved = json.loads(policy.select().to_json())
    for key, value in [
        ("format", 2),
        ("policy", "pbm-tss"),
        ("model", "cascade"),
        ("sizes", [2, 3]),
        ("actions", [[0, 0, 1]]),
        ("actions", [[0, 1, 2, 3]]),
        ("actions", [[]]),
        ("actions", [[0, 1, 6]]),
        ("actions", []),
        ("notes", []),
        ("notes", [{"number": -1}]),
    ]:
        with pytest.raises(ValueError, match="no saved decision"):
            Decision.from_json(json.dumps({**saved, key: value}))
    with pytest.raises(ValueError, match="expected one, got a batch"):
        Decision.from_json(policy.select_batch(2).to_json())
    with pytest.raises(ValueError, match="no saved decision.* missing field"):
        Batch.from_json("{}")


def test_batches_of_odd_sizes():
    policy = Policy(**LIST)
    empty = policy.select_batch(0)
    assert empty.actions.shape == (0, 3)
    policy.update_batch(empty, np.zeros((0, 3), bool))
    policy.update_batch(empty, np.zeros((0, 3)))
    with pytest.raises(ValueError, match="n is -1"):
        policy.select_batch(-1)
    with pytest.raises(TypeError, match="n: expected an integer, got float"):
        policy.select_batch(1.5)
    with pytest.raises(MemoryError, match="no memory for"):
        policy.select_batch(2**62)
    batch = policy.select_batch(3)
    with pytest.raises(IndexError, match="decision 3 of a batch of 3"):
        batch[3]
    assert batch[-1] == batch[2] and list(batch.take([2, -3])) == [batch[2], batch[0]] and list(batch) == [batch[i] for i in range(3)]
    with pytest.raises(ValueError, match="read-only"):
        batch.actions[0, 0] = 1


def test_users_that_cannot_be():
    with pytest.raises(ValueError, match=r"attraction\[1\] is 2, not a probability"):
        models.PositionBased([0.5, 2.0], [0.5])
    with pytest.raises(ValueError, match="did you mean `clicks`"):
        models.DependentClick([0.5, 0.2], [0.5], reward="click")
    with pytest.raises(TypeError, match="attraction: expected a sequence of numbers"):
        models.Cascade(0.5, 1)
    users = models.PositionBased([0.5, 0.2, 0.1], [0.5, 0.2])
    faults = {
        "item 0 is there twice": [0, 0],
        "3 is no item: expected from 0 to 2": [0, 3],
        r"actions\[1\] is -1": [0, -1],
        r"actions: expected shape \(2,\) or \(n, 2\), got \[1\]": [0],
        "item 1 is there twice": [[0, 1], [1, 1]],
    }
    for words, wrong in faults.items():
        for call in (users.respond, users.expected_reward):
            with pytest.raises(ValueError, match=words):
                call(wrong)
    with pytest.raises(TypeError, match="actions: expected an array of bool or of integers, got float64"):
        users.respond([0.5, 1.0])
    with pytest.raises(ValueError, match="n: expected none"):
        users.respond([[0, 1]], n=3)
    with pytest.raises(ValueError, match="is no action of these users"):
        users.respond(Policy(**LIST).select())
    with pytest.raises(MemoryError, match="no memory for"):
        users.respond([0, 1], n=2**62)


def test_the_catalogue():
    rows = {row["name"]: row for row in policies()}
    assert len(rows) == len(policies()) > 30
    assert rows["pbm-pie"]["plays"] == ["pbm"]
    level = rows["pbm-pie"]["parameters"][1]
    assert (level["name"], level["default"], level["choices"]) == ("level", "log-t", ["log-t", "log-horizon"])
    assert rows["top-rank"]["needs_horizon"] and not rows["pbm-ts"]["needs_horizon"]
    assert rows["cascade-bai"]["task"] == "stopping"
    assert "oracle" not in rows and "logged" not in rows


def test_one_model_fits():
    assert Policy("pbm-ts", **PBM).model == "pbm"
    # Nobody has to know examination. An order of positions that is given is known.
    assert Policy("pbm-gibbs", items=6, positions=3).parameters == {"order": "unknown"}
    assert Policy("pbm-gibbs", items=6, positions=3, order=[2, 0, 1]).parameters == {"order": "known"}
    assert Policy("pbm-gibbs", items=6, positions=3, order="known").parameters == {"order": "known"}
    assert Policy("top-rank", horizon=9, **PBM).model == "pbm"
    assert Policy("uniform", rows=2, columns=3).model == "rank-one"
    assert Policy("uniform", items=3).model == "dueling"
    assert Policy("kl-ucb", rows=2, columns=3).model == "rank-one"
    assert Policy("epsilon-greedy", "dbn", items=5, positions=2).model == "clicks-only"
    bai = Policy("cascade-bai", items=5, positions=2, order="mean-asc", delta=0.05)
    assert (bai.model, bai.parameters["order"], bai.parameters["delta"]) == ("cascade", "mean-asc", 0.05)
    assert Policy("pie", "dcm", items=5, positions=2, position=np.int64(1)).parameters["position"] == 1
