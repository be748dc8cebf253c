"""Shards on engines: the bytes of one process, also if a worker dies."""

import functools
import json
import os
import pathlib
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from dies import DiesOnce, InTurn

from click_bandits import distributed, merge, simulate

SPEC = {
    "name": "shards",
    "task": "regret",
    "horizon": 2000,
    "runs": 11,
    "seed": 3,
    "instances": [{"model": "cascade", "attraction": [0.4, 0.2, 0.1], "positions": 2}],
    "policies": [{"policy": "cascade-ts"}, {"policy": "cascade-kl-ucb"}],
}


def bytes_of(folder):
    names = ("result.json", "curves.csv", "spec.toml", "regret.svg", "click-through-rate.svg")
    return {name: pathlib.Path(folder, name).read_bytes() for name in names}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("expected")
    simulate(SPEC, out=folder / "out")
    return bytes_of(folder / "out")


@pytest.fixture
def a_worker_dies(monkeypatch, tmp_path):
    """Lets the first worker die; the mark it leaves behind shows that it did."""
    mark = tmp_path / "died"
    monkeypatch.setattr(distributed, "_Shard", lambda *arguments: DiesOnce(arguments, str(mark)))
    # Workers import the module of `DiesOnce`.
    monkeypatch.setenv("PYTHONPATH", str(pathlib.Path(__file__).parent))
    return mark


def test_processes_play_the_bytes_of_one(tmp_path, expected):
    result = distributed.simulate(SPEC, shards=3, out=tmp_path / "out")
    assert bytes_of(tmp_path / "out") == expected and result.runs == 11
    assert not (tmp_path / "out.parts").exists()
    # Nothing is left to do.
    assert distributed.simulate(SPEC, shards=3, out=tmp_path / "out").new_runs == 0
    # More shards than runs.
    distributed.simulate(SPEC, shards=20, engine=ThreadPoolExecutor(2), out=tmp_path / "many")
    assert bytes_of(tmp_path / "many") == expected


def test_a_process_that_dies_is_replaced(tmp_path, expected, a_worker_dies):
    distributed.simulate(SPEC, shards=4, engine="concurrent", out=tmp_path / "out")
    assert a_worker_dies.exists() and bytes_of(tmp_path / "out") == expected


@pytest.mark.parametrize("spec", [SPEC, {key: SPEC[key] for key in SPEC if key != "policies"}], ids=["beside", "alone"])
def test_policies_in_python_play_in_shards(tmp_path, spec, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(pathlib.Path(__file__).parent), prepend=os.pathsep)
    policies = {"zz": InTurn, "aa": functools.partial(InTurn, positions=2)}
    one = simulate(spec, policies=policies, out=tmp_path / "one")
    # By processes, and by hand.
    result = distributed.simulate(spec, 3, policies=policies, out=tmp_path / "three")
    for number in (1, 2):
        simulate(spec, policies=policies, shard=(number, 2), out=tmp_path / f"part{number}")
    merged = merge([tmp_path / "part2", tmp_path / "part1"], tmp_path / "two", policies=list(policies))
    for other in (result, merged):
        assert bytes_of(other.out) == bytes_of(one.out) and other.frame() == one.frame()
    with pytest.raises(ValueError, match="the policies have another order|contradict each other"):
        merge([tmp_path / "part2", tmp_path / "part1"], tmp_path / "wrong", policies=["aa", "zz"])
    # What a notebook defines: by cloudpickle, if it is there.
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(TypeError, match="have to be pickled: .*define them in a module, or install cloudpickle"):
        distributed.simulate(spec, 2, policies={"local": lambda **known: InTurn(**known)}, out=tmp_path / "none")


def test_policies_of_a_notebook_are_pickled(tmp_path):
    pytest.importorskip("cloudpickle")
    policies = {"local": lambda seed, items, positions: InTurn(seed, items, positions)}
    one = simulate(SPEC, policies=policies)
    assert distributed.simulate(SPEC, 3, ThreadPoolExecutor(2), policies=policies, out=tmp_path / "out").frame() == one.frame()


def test_finished_shards_are_kept(tmp_path, expected):
    played = []

    class Fails(ThreadPoolExecutor):
        def submit(self, play, number):
            def one():
                if len(played) == 2:
                    raise RuntimeError("no machine")
                played.append(number)
                return play(number)

            return super().submit(one)

    with pytest.raises(RuntimeError, match="no machine"):
        distributed.simulate(SPEC, shards=5, engine=Fails(1), out=tmp_path / "out")
    assert not (tmp_path / "out").exists() and len(played) == 2
    with pytest.raises(ValueError, match="parts of another experiment"):
        distributed.simulate(SPEC, seed=4, shards=5, out=tmp_path / "out")

    class Counts(ThreadPoolExecutor):
        def submit(self, play, number):
            played.append(number)
            return super().submit(play, number)

    distributed.simulate(SPEC, shards=5, engine=Counts(1), out=tmp_path / "out")
    assert sorted(played) == [1, 2, 3, 4, 5] and bytes_of(tmp_path / "out") == expected


def test_other_folders_stay_as_they_are(tmp_path):
    thesis = tmp_path / "out.parts" / "thesis.tex"
    thesis.parent.mkdir()
    thesis.write_text("years")
    for fresh in (False, True):
        with pytest.raises(ValueError, match="is in the way"):
            distributed.simulate(SPEC, shards=2, out=tmp_path / "out", fresh=fresh)
    assert thesis.read_text() == "years"
    # A directory of another experiment is refused before anything is played.
    simulate(SPEC, out=tmp_path / "other")
    with pytest.raises(ValueError, match="belongs to another experiment"):
        distributed.simulate(SPEC, seed=4, shards=2, engine=ThreadPoolExecutor(1), out=tmp_path / "other")
    assert not (tmp_path / "other.parts").exists()


@pytest.mark.parametrize(
    "answer",
    [
        None,
        (1, {"part.json": b""}),
        (1, None, "here"),
        (1, {}, "here"),
        (1, {"a": b""}, "here"),
        (1, {"part.json": b"", "../../x": b""}, "here"),
        (9, {"part.json": b""}, "here"),
    ],
)
def test_parts_of_an_engine_are_checked(tmp_path, expected, answer):
    class Wrong(ThreadPoolExecutor):
        def submit(self, play, number):
            return super().submit(lambda: answer)

    with pytest.raises((TypeError, ValueError), match="the engine returned"):
        distributed.simulate(SPEC, shards=3, engine=Wrong(1), out=tmp_path / "out")
    distributed.simulate(SPEC, shards=3, engine=ThreadPoolExecutor(1), out=tmp_path / "out")
    assert bytes_of(tmp_path / "out") == expected


class OtherBuild(ThreadPoolExecutor):
    """Its first `n` answers are those of another build."""

    def __init__(self, n):
        super().__init__(1)
        self.left = n

    def submit(self, play, number):
        def one():
            task, part, machine = play(number)
            if self.left > 0:
                self.left -= 1
                made = {**json.loads(part["part.json"]), "program": "version 0 of sources old"}
                part = {**part, "part.json": json.dumps(made).encode()}
            return task, part, "node-7"

        return super().submit(one)


def test_parts_of_another_build_are_played_again(tmp_path, expected):
    with pytest.warns(RuntimeWarning, match="'out' was played by another build, version 0 of sources old, on node-7"):
        distributed.simulate(SPEC, shards=3, engine=OtherBuild(2), out=tmp_path / "out")
    assert bytes_of(tmp_path / "out") == expected
    with pytest.warns(RuntimeWarning), pytest.raises(RuntimeError, match="without shards 1 of 'none', 2 of 'none'"):
        distributed.simulate(SPEC, shards=2, engine=OtherBuild(100), out=tmp_path / "none")
    # None of them stays.
    distributed.simulate(SPEC, shards=2, engine=ThreadPoolExecutor(1), out=tmp_path / "none")
    assert bytes_of(tmp_path / "none") == expected


def test_a_sweep_is_its_experiments(tmp_path, expected, capsys):
    specs = {f"h{horizon}": {**SPEC, "horizon": horizon} for horizon in (500, 1000, 2000)}
    told = []
    results = distributed.sweep(specs, 2, ThreadPoolExecutor(2), out=tmp_path, progress=lambda *of: told.append(of))
    assert list(results) == list(specs) and told == [(n, 6) for n in range(1, 7)]
    assert bytes_of(tmp_path / "h2000") == expected
    assert [result.checkpoints[-1] for result in results.values()] == [500, 1000, 2000]
    # Only what is new is played.
    results = distributed.sweep({**specs, "more": {**SPEC, "horizon": 700}}, 2, ThreadPoolExecutor(2), out=tmp_path, progress=True)
    assert results["more"].checkpoints[-1] == 700 and bytes_of(tmp_path / "h2000") == expected
    assert capsys.readouterr().err == "\r7 of 8 shards\r8 of 8 shards\n"
    policies = {"turns": InTurn}
    own = distributed.sweep({"short": SPEC}, 3, ThreadPoolExecutor(2), out=tmp_path / "own", policies=policies)
    assert own["short"].frame() == simulate(SPEC, policies=policies).frame()
    with pytest.raises(ValueError, match=r"specs\['b'\]: .*horizon"):
        distributed.sweep({"a": SPEC, "b": {**SPEC, "horizon": -1}}, out=tmp_path)
    assert not (tmp_path / "a").exists()
    for name in ("", "..", "a/b", "a.parts", 7):
        with pytest.raises(ValueError, match="no name of a directory"):
            distributed.sweep({name: SPEC}, out=tmp_path)


def test_refusals(tmp_path):
    out = tmp_path / "out"
    for arguments in ({"shards": 0}, {"shards": 2, "engine": "slurm"}, {"shards": 2, "threads": 0}):
        with pytest.raises(ValueError):
            distributed.simulate(SPEC, out=out, **arguments)
    for arguments in ({"shards": 1.5}, {"shards": True}, {"shards": 2, "engine": 3}, {"shards": 2, "threads": "2"}):
        with pytest.raises(TypeError):
            distributed.simulate(SPEC, out=out, **arguments)
    with pytest.raises(ValueError, match="pbm-tz"):
        distributed.simulate({**SPEC, "policies": [{"policy": "pbm-tz"}]}, shards=2, out=out)
    assert not out.exists() and not (tmp_path / "out.parts").exists()


def test_ray_plays_the_bytes_of_one(tmp_path, expected, a_worker_dies):
    ray = pytest.importorskip("ray")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    try:
        distributed.simulate(SPEC, shards=7, engine="ray", out=tmp_path / "out")
    finally:
        ray.shutdown()
    assert a_worker_dies.exists() and bytes_of(tmp_path / "out") == expected


def test_spark_plays_the_bytes_of_one(tmp_path, expected, a_worker_dies, monkeypatch):
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    sql = pytest.importorskip("pyspark.sql")
    # In local mode a task that fails is not started again unless the number of failures is given.
    session = sql.SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        distributed.simulate(SPEC, shards=5, engine="spark", out=tmp_path / "out")
    finally:
        session.stop()
    assert a_worker_dies.exists() and bytes_of(tmp_path / "out") == expected
