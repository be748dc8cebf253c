"""Experiments: results as arrays, files as of the command, interrupts, policies written in
Python."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import click_bandits
from click_bandits import Policy, merge, simulate, spec_files
from every_model import THETA, USERS

SPEC = {
    "name": "small",
    "task": "regret",
    "horizon": 400,
    "runs": 6,
    "seed": 1,
    "checkpoints": [100, 400],
    "instances": [{"model": "pbm", "theta": np.array(THETA), "kappa": (0.9, np.float64(0.6), 0.3)}],
    "policies": [{"policy": "pbm-ts"}, {"policy": "pbm-ucb", "label": "UCB"}],
}


def on(model, policy="uniform"):
    instances = [{"model": model, **USERS[model].parameters}]
    return {**SPEC, "instances": instances, "policies": [{"policy": policy}]}


def files(folder):
    return {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir() if path.is_file()}


def comparable(folder):
    """The files whose bytes do not depend on where and when they were made."""
    different = {"manifest.json", "timing.json"}
    return {name: content for name, content in files(folder).items() if name not in different}


def test_results_are_arrays():
    result = simulate(SPEC)
    assert result.policies == ["pbm-ts", "UCB"]
    assert result.checkpoints.tolist() == [100, 400]
    regret, clicks = result.regret("UCB"), result.clicks("UCB")
    assert regret.shape == clicks.shape == (6, 2) and regret.dtype == np.float64
    read = json.loads(result.to_json())
    means = {row["label"]: row["regret"]["mean"] for row in read["policies"]}
    np.testing.assert_allclose(regret.mean(axis=0), means["UCB"])
    assert (np.diff(clicks, axis=1) > 0).all() and result.instances.tolist() == [0] * 6
    assert set(result.figures) == {"regret.svg", "click-through-rate.svg"}
    assert all(svg.startswith("<svg") for svg in result.figures.values())
    with pytest.raises(ValueError, match="did you mean `UCB`"):
        result.regret("ucb")
    with pytest.raises(ValueError, match="see regret"):
        result.answers("UCB")
    with pytest.raises(ValueError, match="no such values"):
        result.accuracy("UCB")


def test_answers_are_arrays():
    spec = {**on("cascade", "cascade-bai"), "task": "identify", "max_steps": 100_000}
    for key in ("horizon", "checkpoints"):
        del spec[key]
    spec["instances"] = [{"model": "cascade", "attraction": [0.9, 0.1, 0.1], "positions": 1}]
    result = simulate(spec)
    answers = result.answers("cascade-bai")
    assert answers["correct"].all() and answers["answered"].all()
    assert (answers["observations"] >= answers["steps"]).all() and answers["steps"].shape == (6,)
    assert answers["steps"].dtype == answers["observations"].dtype == np.int64
    assert result.checkpoints is None
    with pytest.raises(ValueError, match="see answers"):
        result.regret("cascade-bai")


def test_a_dict_a_text_and_a_file_are_the_same(tmp_path):
    packed = spec_files(SPEC)
    path = tmp_path / "spec.toml"
    path.write_bytes(packed["spec.toml"])
    expected = simulate(SPEC).to_json()
    for spec in (path, str(path), packed["spec.toml"].decode()):
        assert simulate(spec, threads=1).to_json() == expected
    assert simulate(SPEC, seed=2).to_json() != expected
    assert simulate(SPEC, runs=np.int64(3)).regret("UCB").shape == (3, 2)
    np.testing.assert_array_equal(simulate(SPEC, runs=3).regret("UCB"), simulate(SPEC).regret("UCB")[:3])


def test_a_dict_takes_names_of_policies_and_one_of_each():
    one = {**SPEC, "instances": SPEC["instances"][:1], "policies": [{"policy": "pbm-ts"}]}
    expected = simulate(one).to_json()
    for change in ({"policies": ["pbm-ts"]}, {"policies": "pbm-ts"}, {"policies": {"policy": "pbm-ts"}}, {"instances": one["instances"][0]}):
        assert simulate({**one, **change}).to_json() == expected
    for policies in (["pbm-ts"], "pbm-ts"):
        with pytest.raises(TypeError, match=r'policies: expected .* a dict, \{"mine": Mine\}, got .*\{"policies": \["pbm-ts"\]\}'):
            simulate(one, policies=policies)
    with pytest.raises(TypeError, match=r'policies\["x"\]: expected a function .*\{"policies": \["pbm-ts"\]\}'):
        simulate(one, policies={"x": "pbm-ts"})
    text = 'name = "x"\ntask = "regret"\nhorizon = 9\nruns = 1\nseed = 1\npolicies = ["pbm-ts"]\n[[instances]]\nmodel = "pbm"\ntheta = [1]\nkappa = [1]'
    with pytest.raises(ValueError, match=r'6:13: policies\[0\]: "pbm-ts" found: expected a table, such as \{ policy = "pbm-ts" \}'):
        simulate(text)


def test_a_directory_is_resumed_extended_and_merged(tmp_path):
    at_once = simulate(SPEC, runs=9, out=tmp_path / "once")
    assert at_once.new_runs == 18 and at_once.out == tmp_path / "once"
    simulate(SPEC, out=tmp_path / "grown")
    assert simulate(SPEC, runs=9, out=tmp_path / "grown").new_runs == 6
    assert simulate(SPEC, runs=9, out=tmp_path / "grown").new_runs == 0
    parts = [tmp_path / f"part-{number}" for number in (1, 2, 3)]
    for number, part in enumerate(parts, 1):
        assert simulate(SPEC, runs=9, shard=(number, 3), out=part) is None
    merged = merge(parts, tmp_path / "merged")
    assert merged.to_json() == at_once.to_json()
    assert comparable(tmp_path / "once") == comparable(tmp_path / "grown") == comparable(tmp_path / "merged")
    with pytest.raises(ValueError, match="runs 4 to 6 .* are in none of the parts"):
        merge([parts[0], parts[2]], tmp_path / "gap")
    with pytest.raises(ValueError, match="both have run 1"):
        merge([*parts, parts[0]], tmp_path / "double")
    with pytest.raises(ValueError, match="`fresh`"):
        simulate(SPEC, runs=3, out=tmp_path / "grown")
    assert simulate(SPEC, runs=3, out=tmp_path / "grown", fresh=True).runs == 3


@pytest.mark.skipif("CLICK_BANDITS" not in os.environ, reason="CLICK_BANDITS names no command to compare with")
def test_the_command_writes_the_same_files(tmp_path):
    path = tmp_path / "spec.toml"
    path.write_bytes(spec_files(SPEC)["spec.toml"])
    command = [os.environ["CLICK_BANDITS"], "simulate", str(path), "--quiet", "--keep-runs"]
    subprocess.run([*command, "--out", str(tmp_path / "command")], check=True)
    simulate(path, out=tmp_path / "python", keep_runs=True)
    assert comparable(tmp_path / "command") == comparable(tmp_path / "python")
    # Each continues where the other one ended.
    subprocess.run([*command, "--runs", "9", "--out", str(tmp_path / "python")], check=True)
    assert simulate(path, runs=9, out=tmp_path / "command", keep_runs=True).new_runs == 6
    assert comparable(tmp_path / "command") == comparable(tmp_path / "python")


class Uniform:
    """Shows random items; the reference for policies written in Python."""

    def __init__(self, seed, **known):
        self.known = known
        self.generator = np.random.default_rng(seed)
        self.seen = []

    def select(self):
        if self.known["model"] == "rank-one":
            sizes = (self.known["rows"], self.known["columns"])
            return [int(self.generator.integers(size)) for size in sizes]
        width = 2 if self.known["model"] == "dueling" else self.known["positions"]
        return self.generator.permutation(self.known["items"])[:width].tolist()

    def update(self, decision, clicks, observed=None):
        self.seen.append((decision, clicks, observed))


@pytest.mark.parametrize("model", USERS)
def test_policies_in_python_play_every_model(model):
    built = []

    def build(**known):
        built.append(Uniform(**known))
        return built[-1]

    plain = simulate(on(model))
    compiled = USERS[model].policy
    result = simulate(on(model), policies={"mine": build, "compiled": lambda **known: Policy(compiled, **known)})
    np.testing.assert_array_equal(result.regret("uniform"), plain.regret("uniform"))
    # Six runs of 400 rounds of two policies that do the same.
    mine, uniform = result.regret("mine")[:, -1], result.regret("uniform")[:, -1]
    deviation = np.hypot(mine.std(ddof=1), uniform.std(ddof=1)) / np.sqrt(6)
    assert abs(mine.mean() - uniform.mean()) < 5 * deviation + 1e-9
    assert len(built) == 6 and all(len(policy.seen) == 400 for policy in built)
    decision, clicks, observed = built[0].seen[0]
    assert (observed is not None) == (model == "semi-bandit")
    if model == "dueling":
        assert clicks in decision
    elif model == "rank-one":
        assert isinstance(clicks, bool)
    else:
        assert len(clicks) == 3 and all(isinstance(click, bool) for click in clicks)


def test_a_compiled_policy_in_python_learns_as_without_python():
    spec = {**SPEC, "runs": 40, "horizon": 2000, "checkpoints": [2000]}
    result = simulate(spec, policies={"wrapped": lambda **known: Policy("pbm-ts", **known)})
    wrapped, plain = result.regret("wrapped")[:, -1], result.regret("pbm-ts")[:, -1]
    deviation = np.hypot(wrapped.std(ddof=1), plain.std(ddof=1)) / np.sqrt(40)
    assert abs(wrapped.mean() - plain.mean()) < 4 * deviation


def test_own_policies_alone():
    own = {"wrapped": lambda **known: Policy("pbm-ts", **known)}
    without = {key: value for key, value in SPEC.items() if key != "policies"}
    assert simulate({**without, "policies": []}, policies=own).to_json() == simulate(without, policies=own).to_json()
    with pytest.raises(ValueError, match=r"^policies: none given"):
        simulate({**without, "policies": []})


class Raises(Uniform):
    def update(self, decision, clicks, observed=None):
        if len(self.seen) == 50:
            raise KeyError("mine")
        super().update(decision, clicks, observed)


@pytest.mark.parametrize(
    ("factory", "exception", "message"),
    [
        (Raises, KeyError, "mine"),
        (lambda **known: 1 / 0, ZeroDivisionError, "division"),
        (lambda **known: object(), AttributeError, "select"),
        (lambda other: None, TypeError, "missing 1 required"),
        (3, TypeError, "expected a function"),
        (type("Short", (Uniform,), {"select": lambda self: [0]}), ValueError, "is no action"),
        (type("Twice", (Uniform,), {"select": lambda self: [0, 0, 1]}), ValueError, "is no action"),
        (type("Far", (Uniform,), {"select": lambda self: [0, 1, 5]}), ValueError, "is no action"),
        (type("Text", (Uniform,), {"select": lambda self: "abc"}), TypeError, "expected a decision"),
        (type("Minus", (Uniform,), {"select": lambda self: [-1, 0, 1]}), TypeError, "expected a decision"),
    ],
)
def test_exceptions_of_policies_end_the_experiment(tmp_path, factory, exception, message):
    with pytest.raises(exception, match=message):
        simulate(SPEC, policies={"mine": factory}, out=tmp_path / "out")
    assert "result.json" not in files(tmp_path / "out") if (tmp_path / "out").exists() else True
    # The runs of the compiled policies are kept.
    result = simulate(SPEC, out=tmp_path / "out")
    assert result.to_json() == simulate(SPEC).to_json()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"horizon": -1}, "^horizon: -1 is negative"),
        ({"horizons": 5}, "horizons"),
        ({"policies": [{"policy": "pbm-tz"}]}, r"^policies\[0\]\.policy: unknown policy .*did you mean `pbm-ts`"),
        ({"instances": [{"model": "pbm", "theta": [0.5, 1.5], "kappa": [0.5]}]}, r"^instances\[0\]\.theta\[1\]"),
        ({"instances": [{"model": "pbm", "theta": [0.5, float("nan")], "kappa": [0.5]}]}, "theta"),
        ({"seed": 2**63}, r"^spec\[.seed.\] is 9223372036854775808"),
        ({"name": "../x"}, "name"),
        ({"policies": [{"policy": "pbm-ts"}] * 2}, r'^policies\[1\]\.policy: label "pbm-ts" is already used in policies\[0\]\.policy: tell'),
        ({"instances": [*SPEC["instances"], *on("cascade")["instances"]]}, r'^instances\[.\]\.model: .* differs from "pbm" in instances\[0\]\.model:'),
    ],
)
def test_messages_name_the_place_in_a_dict(change, message):
    with pytest.raises(ValueError, match=message):
        simulate({**SPEC, **change})


def test_other_refusals(tmp_path):
    recursive = {}
    recursive["instances"] = recursive
    with pytest.raises(ValueError, match="nested"):
        simulate(recursive)
    for spec in (3, None, b"x", [SPEC]):
        with pytest.raises(TypeError, match="expected a path"):
            simulate(spec)
    for change in ({"x": None}, {"x": object()}, {1: 2}):
        with pytest.raises(TypeError):
            simulate({**SPEC, **change})
    with pytest.raises(FileNotFoundError, match="spec: no such file or directory: .*none.toml"):
        simulate(tmp_path / "none.toml")
    for arguments in ({"runs": 0}, {"runs": -1}, {"threads": 0}, {"threads": 2000}, {"max_steps": 5}, {"shard": "1/2"}):
        with pytest.raises(ValueError):
            simulate(SPEC, **arguments)
    for shard in ("3/2", (0, 2), (1, 2, 3), 5, "x"):
        with pytest.raises(ValueError, match="shard"):
            simulate(SPEC, shard=shard, out=tmp_path / "part")
    for arguments in ({"runs": 1.5}, {"runs": "3"}, {"progress": 3}, {"policies": {3: Uniform}}, {"policies": 3}):
        with pytest.raises(TypeError):
            simulate(SPEC, **arguments)
    with pytest.raises(ValueError, match="at least one"):
        merge([], tmp_path / "merged")
    (tmp_path / "file").write_text("")
    with pytest.raises((ValueError, OSError), match="file"):
        simulate(SPEC, out=tmp_path / "file")


def test_progress_is_told_and_may_stop_the_runs(tmp_path):
    told = []
    simulate({**SPEC, "horizon": 40_000, "checkpoints": [40_000]}, progress=lambda *runs: told.append(runs))
    assert told[-1] == (12, 12) and told == sorted(told)

    def stops(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        simulate(SPEC, horizon=10**9, progress=stops)


def test_a_slow_policy_in_python_is_stopped_between_two_calls():
    class Slow(Uniform):
        def select(self):
            time.sleep(0.02)
            return super().select()

    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    begun = time.monotonic()
    timer.start()
    # One run of this policy takes 20 seconds.
    with pytest.raises(KeyboardInterrupt):
        simulate(SPEC, horizon=1000, threads=1, policies={"slow": Slow})
    assert time.monotonic() - begun < 10


def test_ctrl_c_leaves_a_directory_that_goes_on(tmp_path):
    code = textwrap.dedent(
        """
        import sys
        from click_bandits import simulate
        try:
            simulate(sys.argv[1], out=sys.argv[2], progress=lambda done, total: done and print(done, flush=True))
        except KeyboardInterrupt:
            print("interrupted")
        """
    )
    spec = {**SPEC, "horizon": 50_000, "runs": 200, "checkpoints": [50_000]}
    path, out = tmp_path / "spec.toml", tmp_path / "out"
    path.write_bytes(spec_files(spec)["spec.toml"])
    process = subprocess.Popen([sys.executable, "-c", code, str(path), str(out)], stdout=subprocess.PIPE)
    # Its first report of ended runs: most of the work is ahead, however quick the machine.
    assert process.stdout is not None and process.stdout.readline()
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[0].endswith(b"interrupted\n")
    # A second for the runs, and the time that a busy machine takes to end a process.
    assert time.monotonic() - begun < 5
    assert not (out / "result.json").exists()
    small = simulate(path, out=out)
    assert 0 < small.new_runs < 400
    assert small.to_json() == simulate(path).to_json()


def test_other_threads_run_meanwhile():
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    before = counted[0]
    simulate({**SPEC, "horizon": 20_000, "checkpoints": [20_000]})
    during = counted[0] - before
    done.set()
    thread.join()
    assert during > 1000


def test_the_module_names_everything():
    assert {"simulate", "merge", "spec_files", "Simulation", "distributed"} <= set(click_bandits.__all__)


LIVE = {
    "name": "churn",
    "task": "regret",
    "horizon": 600,
    "runs": 4,
    "seed": 1,
    "live": {"availability": 0.7, "churn": {"rate": 1e-3, "prior": [1, 9]}, "delay": {"click": 2, "skip": 30}},
    "instances": [{"model": "cascade", "attraction": [0.3, 0.2, 0.1, 0.1, 0.05], "positions": 2}],
    "policies": [{"policy": "cascade-ts"}, {"policy": "cascade-ts", "label": "windowed", "live": {"window": 100}}],
}


def test_a_spec_of_live_use(tmp_path):
    result = simulate(LIVE, out=tmp_path / "whole")
    assert result.policies == ["cascade-ts", "windowed"] and result.regret("cascade-ts").shape[0] == 4
    assert (result.regret("cascade-ts") != result.regret("windowed")).any()
    # The same numbers on any number of threads, in parts, and when it is continued.
    assert simulate(LIVE, threads=1).to_json() == result.to_json()
    assert simulate(LIVE, out=tmp_path / "whole").new_runs == 0
    for number in (1, 2):
        simulate(LIVE, shard=(number, 2), out=tmp_path / f"part-{number}")
    assert merge([tmp_path / "part-1", tmp_path / "part-2"], tmp_path / "merged").to_json() == result.to_json()
    with pytest.raises(ValueError, match="availability"):
        simulate({**LIVE, "live": {"availability": 0}})
    with pytest.raises(ValueError, match="churn"):
        simulate({**LIVE, "live": {"churns": 1}})
