"""How the package is used by code with types: `mypy --strict` reads this, nothing runs it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from click_bandits import (
    Batch,
    ContextFit,
    Decision,
    Fitted,
    Live,
    Policy,
    Simulation,
    Table,
    bounds,
    confidence,
    distributed,
    fit,
    models,
    policies,
    simulate,
)


def lists() -> list[int] | None:
    users = models.PositionBased([0.5, 0.2], np.array([1.0]), seed=1)
    policy = Policy("pbm-ts", items=2, examination=[1.0], seed=np.int64(1), epsilon=np.float64(0.1))
    decision: Decision = policy.select()
    policy.update(decision, users.respond(decision))
    policy.update(decision, [True, False], observed=1)
    batch: Batch = policy.select_batch(10)
    policy.update_batch(batch, users.respond(batch))
    first: tuple[int, ...] = next(iter(batch)).action
    actions: npt.NDArray[np.int64] = batch.actions
    restored = Policy.load(policy.save())
    return restored.answer or list(first) or actions.tolist() and None


def named(fitted: Fitted) -> dict[str, float]:
    policy = Policy("pbm-ts", items=["a", ("b", 1)], examination=[1.0], prior=fitted, seed=np.random.default_rng(1))
    policy.learn([["a"]], [[True]])
    policy.learn(np.array([[0]]), np.array([[1]]))
    frame: Table = policy.items_frame()[:1]
    assert len(frame) + len(policy.items) and frame == frame.head(1)
    known: dict[str, float] = Policy.from_fit(fitted, "shoes", policy="pbm-ucb", seed=1, epsilon=0.1).scores()
    return known


def contexts() -> npt.NDArray[np.float64]:
    policy = Policy("hybrid-ts", "cascade", items=2, positions=1, item_features=[[0.5], [1.0]], user_features=1, segments=2)
    policy.update(policy.select(features=[0.5], segment=1), [True])
    batch = policy.select_batch(2, features=np.ones((2, 1)), segments=np.array([0, 1]))
    policy.learn([[0], [1]], [[1], [0]], features=[[1.0], [2.0]], segments=[0, 1])
    assert len(batch) and policy.scores(features=[1], segment=0)["mean"].shape == (2,)
    return policy.posterior()["covariance"]


def log_with_contexts() -> ContextFit:
    log = {"session": [1, 1], "item": ["a", "b"], "position": [1, 2], "click": [1, 0], "age": [30, 30]}
    fitted = fit(log, model="cascade", segment="country", features=["age"], items={"item": ["a"]}, ablate=True)
    by_age: ContextFit = fit(log, model="pbm", features=["age"], query="shoes", max_skipped=0.1)
    by_item: ContextFit = fit("log.csv", format="delimited", columns="item=i", model="dcm", items="items.csv")
    by_item.save("context.json")
    names: tuple[str, ...] = by_age.segments + by_age.items + fitted.user_features
    policy = Policy("hybrid-ts", "cascade", items=names, positions=1, prior=ContextFit.load("context.json"))
    assert policy.items and Policy.from_fit(fitted, seed=1).sizes and fitted.report["gain"] and fitted.skipped
    return ContextFit.from_json(fitted.to_json())


def service() -> dict[int | str, list[tuple[int, int]]]:
    live = Live("cascade-ts", "cascade", positions=2, items=["a", 1], prior=(0.5, 9.5), window=1000, seed=1)
    users = Live("hybrid-ts", "cascade", positions=1, items={"a": [0.5], 1: [1.0]}, user_features=1, segments=2)
    assert users.decide(1, features=[0.5], segment=1) and users.add(2, features=np.array([0.1]))
    shown: list[int | str] = live.decide("visit", except_=[1])
    if live.click("visit", 0) == "counted" and live.close("visit", seen=1) and live.add(2):
        live.show(17, shown)
    logged: list[tuple[float, float]] | None = live.propensities("visit")
    bounds_of: list[tuple[float, float]] = live.intervals()[1]
    assert logged == [] and bounds_of
    return Live.load(live.save()).table()


def numbers() -> float:
    one: float = confidence.kl_ucb_upper(0.5, 10.0, 1.0)
    many: npt.NDArray[np.float64] = confidence.kl_ucb_upper([0.5, 0.2], 10, 1.0)
    return one + float(many.sum()) + bounds.pbm_lower_bound([0.5, 0.2], [1.0])


def names() -> list[str]:
    return [f"{row['name']}: {parameter['meaning']}" for row in policies() for parameter in row["parameters"]]


def experiment() -> float:
    result = simulate({"name": "x"}, runs=3, progress=lambda done, total: None)
    if result.checkpoints is None:
        return 0.0
    merged = distributed.simulate("spec.toml", shards=4, engine="concurrent", out="results")
    again: Simulation = Simulation.open("results")
    again.plot(ax=None)
    return float(result.regret("pbm-ts")[:, -1].mean()) + len(merged.figures) + len(again.frame())


def log() -> list[dict[str, object]]:
    fitted: Fitted = fit({"item": [1, 2], "position": np.array([1, 1]), "click": [True, False]}, model=["pbm"], prior=0)
    table: Table = fit("log.csv", format="counts", model="pbm").parameters
    fitted.save("parameters.json")
    estimates: npt.NDArray[np.float64] = table["estimate"]
    return fitted.instances(queries=["all"]) if estimates.size + len(fitted.to_json()) else list(table)
