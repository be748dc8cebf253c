"""Users written in Python, and objects of `models`, as instances of an experiment."""

import pickle

import numpy as np
import pytest
from click_bandits import Simulation, distributed, models, simulate

ATTRACTION = [0.5, 0.4, 0.25, 0.1]
OF_PROTOCOLS = {
    "pbm": (lambda: models.PositionBased(ATTRACTION, [0.9, 0.4]), ["pbm-ts", "pbm-kl-ucb", "uniform"]),
    "semi-bandit": (lambda: models.RandomSemiBandit(ATTRACTION, [1.0, 0.6]), ["rsf-ts", "rsf-ucb"]),
    "cascade": (lambda: models.Cascade(ATTRACTION, 2), ["cascade-ts", "cascade-kl-ucb"]),
    "dcm": (lambda: models.DependentClick(ATTRACTION, [0.8, 0.5], reward="clicks"), ["dcm-ts"]),
    "clicks-only": (lambda: models.UserBrowsing(ATTRACTION, [[0.9], [0.7, 0.3]]), ["top-rank"]),
}


class Like:
    """Users with the distribution of a model, written in Python."""

    def __init__(self, protocol):
        self.protocol = protocol
        self.inner = OF_PROTOCOLS[protocol][0]()
        self.users = None

    def known(self):
        return {key: value for key, value in self.inner.known().items() if key != "order"}

    def respond(self, shown):
        if self.users is None:
            # A model whose seed comes from the generator of the run.
            saved = self.inner.to_json()
            self.users = type(self.inner).from_json(saved)
            state = np.random.PCG64(self.random.integers(2**63))
            self.draws = np.random.Generator(state)
            self.users = reseeded(self.inner, int(self.draws.integers(1, 2**63)))
        return self.users.respond(list(shown))

    def expected(self, shown):
        return self.inner.expected_reward(list(shown))

    def best_list(self):
        return self.inner.best_list()


def reseeded(users, seed):
    import json

    saved = json.loads(users.to_json())
    saved["generator"] = json.loads(type(users)(*ARGUMENTS[type(users)], seed=seed).to_json())["generator"]
    return type(users).from_json(json.dumps(saved))


ARGUMENTS = {
    models.PositionBased: (ATTRACTION, [0.9, 0.4]),
    models.RandomSemiBandit: (ATTRACTION, [1.0, 0.6]),
    models.Cascade: (ATTRACTION, 2),
    models.DependentClick: (ATTRACTION, [0.8, 0.5]),
    models.UserBrowsing: (ATTRACTION, [[0.9], [0.7, 0.3]]),
}


def spec(users, policies, **more):
    base = {"name": "own", "task": "regret", "horizon": 200, "runs": 24, "seed": 1}
    return {**base, "instances": [users], "policies": [{"policy": name} for name in policies], **more}


@pytest.mark.parametrize("protocol", OF_PROTOCOLS)
def test_regret_is_that_of_the_compiled_model(protocol):
    build, policies = OF_PROTOCOLS[protocol]
    policies = [*policies, "oracle"]
    own, compiled = simulate(spec(Like(protocol), policies)), simulate(spec(build(), policies))
    for policy in policies:
        values = [result.regret(policy)[:, -1] for result in (own, compiled)]
        error = np.sqrt(sum(of.var(ddof=1) / len(of) for of in values))
        assert abs(values[0].mean() - values[1].mean()) <= 4 * error, policy
    clicks = [result.clicks("oracle")[:, -1] for result in (own, compiled)]
    assert abs(clicks[0].mean() - clicks[1].mean()) < 4 * np.sqrt(sum(of.var(ddof=1) / len(of) for of in clicks))
    assert own.figures.keys() == compiled.figures.keys()
    # Threads do not matter, and all policies meet the same users.
    assert simulate(spec(Like(protocol), policies), threads=1).to_json() == own.to_json()
    alone = simulate(spec(Like(protocol), policies[1:]))
    assert (alone.regret(policies[1]) == own.regret(policies[1])).all()


def test_objects_of_models_stand_for_their_parameters():
    users = models.PositionBased(ATTRACTION, [0.9, 0.4])
    written = {"model": "pbm", "theta": ATTRACTION, "kappa": [0.9, 0.4]}
    expected = simulate(spec(written, ["pbm-ts"], horizon=50))
    assert simulate(spec(users, ["pbm-ts"], horizon=50)).to_json() == expected.to_json()
    named = spec({"name": "mobile", "users": users}, ["pbm-ts"], horizon=50)
    assert simulate(named).to_json() == simulate(spec({"name": "mobile", **written}, ["pbm-ts"], horizon=50)).to_json()
    duels = models.Dueling([[0.5, 0.7], [0.3, 0.5]])
    assert simulate(spec(duels, ["rucb"], horizon=50)).runs == 24


def test_a_directory_and_its_shards(tmp_path):
    pytest.importorskip("multiprocessing")
    own = spec(Like("cascade"), ["cascade-ts", "rsf-ucb"], runs=6)
    whole = simulate(own, out=tmp_path / "whole")
    assert Simulation.open(tmp_path / "whole").to_json() == whole.to_json()
    # They are played anew, since nothing identifies their code.
    assert simulate(own, out=tmp_path / "whole").new_runs == 12
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(2) as pool:
        merged = distributed.simulate(own, 3, pool, out=tmp_path / "merged")
    assert merged.to_json() == whole.to_json()
    assert (tmp_path / "merged" / "curves.csv").read_bytes() == (tmp_path / "whole" / "curves.csv").read_bytes()


class Fails(Like):
    def __init__(self, method):
        super().__init__("cascade")
        self.method = method

    def respond(self, shown):
        if self.method == "respond":
            raise KeyError("mine")
        return [True, True] if self.method == "clicks" else [False, False]

    def expected(self, shown):
        if self.method == "expected" and list(shown) != self.best_list():
            raise KeyError("mine")
        return 2.0 if self.method == "more" and list(shown) != self.best_list() else 0.5

    def known(self):
        known = super().known()
        if self.method == "known":
            del known["items"]
        return known


@pytest.mark.parametrize(
    ("method", "error", "words"),
    [
        ("respond", KeyError, "mine"),
        ("expected", KeyError, "mine"),
        ("clicks", ValueError, "2 clicks, but cascade users leave at the first"),
        ("more", ValueError, r"expected\(.*\) is 2: that of the best list is 0.5"),
        ("known", TypeError, r'it needs "model", "items" and "positions" in known\(\)'),
    ],
)
def test_exceptions_and_wrong_answers_end_the_experiment(method, error, words, tmp_path):
    with pytest.raises(error, match=words):
        simulate(spec(Fails(method), ["cascade-ts"]), out=tmp_path / "out")
    assert not (tmp_path / "out" / "result.json").exists()


def test_what_is_no_user_is_refused():
    class Half:
        def respond(self, shown):
            return [0, 0]

    for users, words in [(Half(), r"it needs expected\(list\)"), (7, r"it needs respond\(list\)")]:
        with pytest.raises(TypeError, match=r'spec\["instances"\]\[0\].*' + words):
            simulate(spec(users, ["cascade-ts"]))
    for name, value in [("best_list", None), ("best_list", [0, -1]), ("expected", lambda shown: "much")]:
        users = Like("cascade")
        setattr(users, name, value)
        with pytest.raises(ValueError, match=rf'^spec\["instances"\]\[0\]: {name}(\(best_list\))?: '):
            simulate(spec(users, ["cascade-ts"]))
    mixed = spec(Like("cascade"), ["cascade-ts"])
    mixed["instances"].append(models.Cascade(ATTRACTION, 2))
    with pytest.raises(ValueError, match="all instances of an experiment have the same model"):
        simulate(mixed)


class Fixed:
    """Takes what it needs, and no `**known`."""

    def __init__(self, items):
        self.items = items

    def select(self):
        return [self.items - 1, self.items - 2]

    def update(self, decision, clicks):
        assert len(clicks) == 2


def test_own_policies_need_neither_compiled_ones_nor_all_arguments():
    own = spec(Like("cascade"), [])
    del own["policies"]
    result = simulate(own, policies={"fixed": Fixed})
    model = OF_PROTOCOLS["cascade"][0]()
    assert result.regret("fixed")[:, -1] == pytest.approx(200 * model.regret([3, 2]))
    assert pickle.loads(pickle.dumps(result)).to_json() == result.to_json()
    with pytest.raises(ValueError, match="policies"):
        simulate(own)


class OfBest:
    """Tells the reward of the best list, but not the list."""

    def __init__(self):
        self.like = Like("cascade")
        self.best = self.like.inner.best_reward
        self.known, self.expected = self.like.known, self.like.expected

    def respond(self, shown):
        self.like.random = self.random
        return self.like.respond(shown)


def test_the_oracle_needs_the_best_list():
    assert simulate(spec(Like("cascade"), ["oracle"])).regret("oracle")[:, -1] == pytest.approx(0.0)
    assert (simulate(spec(OfBest(), ["cascade-ts"])).regret("cascade-ts")[:, -1] > 0).all()
    with pytest.raises(ValueError, match="`oracle` plays the best list, and the users of instance 0 tell only its reward"):
        simulate(spec(OfBest(), ["cascade-ts", "oracle"]))
