"""Confidence bounds and bounds of instances: the library's golden vectors, shapes and refusals."""

import json
import math
import pathlib

import numpy as np
import pytest
from click_bandits import bounds, confidence, models

CRATES = pathlib.Path(__file__).parents[2] / "crates"


def golden(crate, name):
    """Vectors of 60 digits, which the library's own tests also read. Tolerances are those of these
    tests."""
    path = CRATES / crate / "tests" / "data" / f"{name}.json"
    if not path.exists():
        pytest.skip("the golden vectors are in the repository only")
    return json.loads(path.read_text())


def close(found, expected):
    return np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("name", ["kl_ucb_upper", "kl_ucb_lower"])
def test_kl_ucb_golden_vectors(name):
    rows = [row for row in golden("confidence", name)]
    index = getattr(confidence, name)
    mean, n, level = (np.array([row["inputs"][key] for row in rows], float) for key in ("p", "n", "delta"))
    found = index(mean, n, level)
    np.testing.assert_allclose(found, [float(row["output"]) for row in rows], rtol=0, atol=1e-14)
    # One by one, and at a common level, where eight are computed together.
    assert [index(*arguments) for arguments in zip(mean.tolist(), n.tolist(), level.tolist())] == found.tolist()
    same = index(mean, n, 2.5)
    assert same.tolist() == index(mean, n, np.full(len(rows), 2.5)).tolist()


def test_bernoulli_kl_golden_vectors():
    rows = golden("confidence", "bernoulli_kl")
    p, q = (np.array([row["inputs"][key] for row in rows]) for key in ("p", "q"))
    expected = [float(row["output"]) for row in rows]
    np.testing.assert_allclose(confidence.bernoulli_kl(p, q), expected, rtol=4e-15, atol=1e-290)


def test_multi_position_golden_vectors():
    for row in golden("confidence", "multi_position_kl_index"):
        inputs, output = row["inputs"], row["output"]
        arguments = (inputs["S"], inputs["N"], inputs["kappa"], inputs["delta"])
        assert abs(confidence.multi_position_upper(*arguments) - output["U"]) <= 1e-8
        assert abs(confidence.multi_position_lower(*arguments) - output["lower"]) <= 1e-8


def test_radii_golden_vectors():
    rows = golden("confidence", "hoeffding_radius")
    n, level = (np.array([row["inputs"][key] for row in rows], float) for key in ("n", "delta"))
    expected = [float(row["output"]) for row in rows]
    np.testing.assert_allclose(confidence.hoeffding_radius(n, level), expected, rtol=1e-15)
    rows = golden("confidence", "lil_radius")
    n, rho = [row["inputs"]["T"] for row in rows], [row["output"]["rho"] for row in rows]
    expected = [float(row["output"]["radius"]) for row in rows]
    np.testing.assert_allclose(confidence.lil_radius(n, rho), expected, rtol=2e-15)


def test_radii():
    assert confidence.hoeffding_radius(2, 1) == 0.5
    assert confidence.hoeffding_radius(0, 1) == math.inf
    assert confidence.ucb1_radius(2, 1) == 1.0
    assert confidence.rsf_ucb_radius(6, 9) == 1.0
    assert confidence.bernstein_radius(2, 0.25, 1) == 2.0
    close(confidence.scaled_radius(51, 4, 0.51), 0.2)
    close(confidence.sample_bernstein_radius(2, 0.25, 1), 0.5 + 7 / 3)
    close(confidence.pbm_ucb_radius(2, 1, 1), 1.0)
    close(confidence.lil_radius(1, math.exp(-1)), 4.0)
    assert confidence.lil_radius_scaled(7, 0.1, 4) == 2 * confidence.lil_radius_scaled(7, 0.1, 2)


def test_shapes_broadcast_and_strides_do_not_matter():
    mean, n = np.linspace(0, 1, 12).reshape(3, 4), np.arange(4)
    found = confidence.kl_ucb_upper(mean, n, 1.5)
    assert found.shape == (3, 4) and found.dtype == np.float64
    assert all(found[i, j] == confidence.kl_ucb_upper(mean[i, j], n[j], 1.5) for i in range(3) for j in range(4))
    assert (confidence.kl_ucb_upper(mean.T, n[:, None], 1.5) == found.T).all()
    assert (confidence.kl_ucb_upper(np.repeat(mean, 2, 1)[:, ::2], n[::-1][::-1], np.float32(1.5)) == found).all()
    unaligned = np.frombuffer(b"x" + mean.tobytes(), np.float64, offset=1).reshape(3, 4)
    assert not unaligned.flags.aligned and (confidence.kl_ucb_upper(unaligned, n, 1.5) == found).all()
    assert confidence.kl_ucb_upper([], [], 1.0).shape == (0,)
    assert confidence.kl_ucb_upper(np.zeros((0, 3)), 1, 1.0).shape == (0, 3)
    assert isinstance(confidence.kl_ucb_upper(0.5, 10, 1.0), float)
    assert confidence.kl_ucb_upper(0.5, 10, [1.0]).shape == (1,)
    assert confidence.multi_position_upper([[1, 0], [3, 2]], [[2, 1], [9, 4]], [0.9, 0.5], 1.0).shape == (2,)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        (([0.5, math.nan], 1, 1), ValueError, r"mean\[1\] is NaN: expected a number from 0 to 1"),
        (([[0.5], [1.5]], 1, 1), ValueError, r"mean\[1, 0\] is 1.5: expected a number from 0 to 1"),
        ((0.5, -1, 1), ValueError, "n is -1: expected a number that is at least 0"),
        ((0.5, 1, math.nan), ValueError, "level is NaN"),
        ((np.zeros(3), np.zeros(2), 1), ValueError, r"shapes do not broadcast: mean \(3,\), n \(2,\), level \(\)"),
        (("0.5", 1, 1), TypeError, "mean: expected numbers"),
        ((np.array([0.5 + 0j]), 1, 1), TypeError, "mean: expected numbers, got an array of complex128"),
        ((np.array([True]), 1, 1), TypeError, "mean: expected numbers, got an array of bool"),
        ((None, 1, 1), TypeError, "mean: expected numbers, got an array of object"),
    ],
)
def test_wrong_numbers(arguments, error, words):
    with pytest.raises(error, match=words):
        confidence.kl_ucb_upper(*arguments)


def test_wrong_counts():
    with pytest.raises(ValueError, match="n is 1.5: expected a whole number"):
        confidence.lil_radius(1.5, 0.1)
    with pytest.raises(ValueError, match=r"clicks\[0\] is 2: more clicks than shows \(1\)"):
        confidence.multi_position_upper([2], [1], [0.5], 1.0)
    with pytest.raises(ValueError, match="expected one shape"):
        confidence.multi_position_upper([1, 0], [1, 0], [0.5], 1.0)
    with pytest.raises(ValueError, match=r"clicks\[0\] is -1: expected counts"):
        confidence.multi_position_upper([-1], [1], [0.5], 1.0)
    with pytest.raises(TypeError, match="clicks: expected an array of bool or of integers"):
        confidence.multi_position_upper([0.5], [1], [0.5], 1.0)


def test_bounds():
    for row in golden("click-models", "rsf_lower_bound"):
        found = bounds.semi_bandit_lower_bound(row["inputs"]["theta_sorted"], row["inputs"]["L"])
        np.testing.assert_allclose(found, row["output"], rtol=1e-12)
    for row in golden("click-models", "pbm_lower_bound"):
        theta, kappa = row["inputs"]["theta_sorted"], row["inputs"]["kappa"]
        np.testing.assert_allclose(bounds.pbm_lower_bound(theta, kappa), row["output"]["theorem6"], rtol=1e-12)
    close(bounds.rank_one_upper_bound([0.75, 0.25], np.array([0.75, 0.25]), 100), 23_971.710116142)
    assert bounds.cascade_bai_lower_bound([0.9, 0.5, 0.1], 2, 0.1) > 0
    assert bounds.dueling_lower_bound([[0.5, 0.7], [0.3, 0.5]]) > 0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: bounds.pbm_lower_bound([0.5, 1.5], [0.5]), r"theta\[1\] is 1.5, not a probability"),
        (lambda: bounds.pbm_lower_bound([0.5], [0.5, 0.4]), "at least as many items as positions"),
        (lambda: bounds.semi_bandit_lower_bound([0.5], -1), "n_positions is -1"),
        (lambda: bounds.cascade_bai_lower_bound([0.5, 0.4], 1, 1.5), "delta is 1.5: expected a number above 0 and below 1"),
        (lambda: bounds.rank_one_upper_bound([0.5, 0.5], [0.2, 0.4], 10), "different rows"),
        (lambda: bounds.dueling_lower_bound([[0.5, 0.5], [0.5, 0.5]]), "beats all others"),
        (lambda: bounds.dueling_lower_bound([[0.5, 0.7], [0.7, 0.5]]), "1"),
    ],
)
def test_bounds_that_are_not_defined(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_models_against_golden_rewards():
    makers = {
        "pbm": lambda i: models.PositionBased(i["theta"], i["kappa"]),
        "cascade": lambda i: models.Cascade(i["theta"], i["L"]),
    }
    tested = set()
    for row in golden("click-models", "expected_reward"):
        inputs = row["inputs"]
        if inputs["model"] in makers:
            users = makers[inputs["model"]](inputs)
            np.testing.assert_allclose(users.expected_reward(inputs["actions_0based"]), row["output"]["rewards"], atol=1e-12)
            tested.add(inputs["model"])
    assert tested == set(makers)


def test_lower_bounds_of_models():
    theta, kappa = [0.45, 0.35, 0.25, 0.15, 0.05], [0.9, 0.6, 0.3]
    assert models.PositionBased(theta, kappa).lower_bound() == bounds.pbm_lower_bound(theta, kappa)
    assert models.RandomSemiBandit(theta, kappa).lower_bound() == bounds.semi_bandit_lower_bound(theta, 3)
    assert models.Cascade(theta, 3).lower_bound() == bounds.cascade_lower_bound(theta, 3)
    assert models.DependentClick(theta, kappa).lower_bound() == bounds.dcm_lower_bound(theta, kappa)
