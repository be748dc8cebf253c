"""Odd input of every function over arrays, and objects that lie, raise or change while they are
read."""

import inspect
import json
import math
import re
import subprocess
import sys

import numpy as np
import pytest
from click_bandits import Batch, Decision, Policy, bounds, confidence, models
from every_policy import rounds_of

# Functions whose arguments all broadcast: a value of each argument that is allowed everywhere.
GOOD = {
    "p": 0.5, "q": 0.25, "mean": 0.5, "n": 4.0, "level": 2.0, "variance": 0.25, "factor": 1.5, "weighted_shows": 2.0, "rho": 0.5,
    "scale": 2.0, "t": 9.0, "n_positions": 2.0, "n_arms": 3.0, "n_items": 4.0, "alpha": 2.0, "delta": 0.5, "ones": 3.0, "zeros": 5.0,
    "miss": 0.5, "x": 0.5, "epsilon": 0.5, "gap": 0.25, "best": 0.5, "worst": 0.25,
}  # fmt: skip
OF_ARRAYS = {"multi_position_", "_sequence", "betting_rejections", "lil_scale"}


def arguments(function):
    return [name for name in inspect.signature(function).parameters if name in GOOD]


def elementwise():
    for module in (confidence, bounds):
        for name in module.__all__:
            function = getattr(module, name)
            every = [p for p in inspect.signature(function).parameters.values() if p.name not in ("constants", "rate")]
            is_coverage = name.endswith("coverage_bound")
            if all(p.name in GOOD for p in every) and (is_coverage or not any(word in name for word in OF_ARRAYS)):
                yield pytest.param(function, id=name)


@pytest.fixture(params=elementwise())
def function(request):
    return request.param


def call(function, **changed):
    """The result for good values, some of them changed; `exploration_level` has a keyword."""
    values = {name: changed.get(name, GOOD[name]) for name in arguments(function)}
    result = function(**values)
    return result if isinstance(result, tuple) else (result,)


def test_there_are_many(function):
    assert sum(1 for _ in elementwise()) >= 40


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_layouts_types_and_shapes_do_not_matter(function):
    alone = call(function)
    assert all(type(number) is float for number in alone)
    for name in arguments(function):
        good = GOOD[name]
        plain = np.full((2, 3), good)
        read_only = plain.copy()
        read_only.flags.writeable = False
        unaligned = np.frombuffer(b"x" + plain.tobytes(), np.float64, offset=1).reshape(2, 3)
        layouts = [
            plain, read_only, unaligned, plain.T.copy().T, np.repeat(plain, 2, 1)[:, ::2], plain[::-1, ::-1], plain.tolist(),
            np.broadcast_to(good, (2, 3)), plain.astype(">f8"), plain.astype(np.float32), plain.astype(np.float16), np.matrix(plain),
        ]  # fmt: skip
        if good == int(good):
            layouts += [plain.astype(kind) for kind in (">i4", np.uint8, np.int64)]
        for layout in layouts:
            for number, array in zip(alone, call(function, **{name: layout})):
                assert type(array) is np.ndarray and array.dtype == np.float64 and array.shape == (2, 3)
                assert (array == number).all()
        for empty in ([], np.zeros((0, 3)), np.zeros((3, 0))):
            assert all(array.shape == np.shape(empty) for array in call(function, **{name: empty}))
        assert call(function, **{name: np.array(good)}) == alone == call(function, **{name: np.float64(good)})
        assert all(array.shape == (1,) for array in call(function, **{name: [good]}))


def test_wrong_numbers_are_named(function):
    for name in arguments(function):
        numbers = [math.nan, -1.0] if name not in ("mean", "p", "q") or "gaussian" not in function.__name__ else [math.nan, math.inf]
        for wrong in numbers:
            with pytest.raises(ValueError, match=rf"^{name} is "):
                call(function, **{name: wrong})
            with pytest.raises(ValueError, match=rf"^{name}\[1, 2\] is "):
                call(function, **{name: [[GOOD[name]] * 3, [GOOD[name], GOOD[name], wrong]]})


def test_wrong_types_are_named(function):
    class Raises:
        def __array__(self, *_, **__):
            raise KeyboardInterrupt

    for name in arguments(function):
        good = GOOD[name]
        masked = np.ma.array([good, good], mask=[True, False])
        for wrong in ("x", b"x", 1j, {}, object(), [True], np.zeros(2, "m8[s]"), np.zeros(2, [("a", "f8")]), [None], masked):
            with pytest.raises(TypeError, match=rf"^{name}: expected"):
                call(function, **{name: wrong})
        with pytest.raises(ValueError, match=rf"^{name}: expected an array of numbers"):
            call(function, **{name: [[good], [good, good]]})
        with pytest.raises(KeyboardInterrupt):
            call(function, **{name: Raises()})


def test_huge_and_infinite_numbers_end(function):
    """Whatever the domain, a result or a `ValueError`."""
    for name in arguments(function):
        for number in (5e-324, 1e-300, 2.0**20, 2.0**53, 1e18, 1e300, math.inf, 2**64 - 1, np.longdouble(1)):
            try:
                results = call(function, **{name: number})
            except ValueError as error:
                assert str(error).startswith(name) or ": expected " in str(error)
            else:
                assert all(type(result) is float for result in results)


def test_too_much_for_memory():
    wide = np.broadcast_to(0.5, (2**42,))
    tall = np.broadcast_to(0.5, (2**42, 1))
    for mean, n in ((wide, 1.0), (wide, tall), (np.zeros((2**12, 1)), wide)):
        with pytest.raises(MemoryError):
            confidence.kl_ucb_upper(mean, n, 1.0)
    with pytest.raises(MemoryError):
        confidence.beta_mixture_sequence(wide, 0.1)


@pytest.mark.parametrize("name", ["beta_mixture", "kl_mixture", "empirical_bernstein", "hedged_betting"])
def test_wrong_series(name):
    sequence = getattr(confidence, f"{name}_sequence")
    with pytest.raises(ValueError, match=r"x: expected shape \(..., n\), got \(\)"):
        sequence(0.5, 0.1)
    with pytest.raises(ValueError, match=r"^x\[1\] is 1.5: expected a number from 0 to 1"):
        sequence([0.5, 1.5], 0.1)
    with pytest.raises(ValueError, match=r"miss: expected a number, got an array of shape \(2,\)"):
        sequence([0.5], [0.1, 0.2])
    for miss in (0, 1, -1, math.nan):
        with pytest.raises(ValueError, match=r"^miss is .*expected a number above 0 and below 1"):
            sequence([0.5], miss)
    for cells in (0, 2**24 + 1):
        with pytest.raises(ValueError, match="cells"):
            confidence.hedged_betting_sequence([0.5], 0.1, cells)


def test_lengths_are_only_claims():
    """Memory for the length that `len` returns would end the process."""
    endless = range(2**45)

    class Liar(list):
        def __len__(self):
            return 2**40

    policy = Policy("pbm-ts", items=3, examination=[0.5], seed=1)
    for claimed in (endless, Liar([0.5])):
        for wrong in (
            lambda: Policy("pbm-ts", items=3, examination=claimed),
            lambda: Policy("rsf-ts", "dcm", items=3, positions=2, order=claimed),
            lambda: policy.select_batch(2).take(claimed),
            lambda: models.Cascade([0.5, 0.4], 1).are_best(claimed),
            lambda: models.UserBrowsing([0.5], claimed),
            lambda: models.Dueling(claimed),
            lambda: models.Dueling([claimed, claimed]),
            lambda: bounds.pbm_lower_bound(claimed, [0.5]),
        ):
            with pytest.raises(ValueError, match="expected at most 268435456"):
                wrong()


def test_exceptions_of_the_caller_go_through():
    class Raises:
        def __index__(self):
            raise KeyboardInterrupt

        __float__ = __index__

    for wrong in (
        lambda: Policy("pbm-ts", items=Raises(), examination=[0.5]),
        lambda: Policy("pbm-ts", items=3, examination=[0.5], seed=Raises()),
        lambda: Policy("pbm-ts", items=3, examination=[Raises()]),
        lambda: Policy("pbm-ucb", items=3, examination=[0.5], epsilon=Raises()),
        lambda: models.Dueling([[Raises()]]),
    ):
        with pytest.raises(KeyboardInterrupt):
            wrong()


def test_lists_that_change_while_they_are_read():
    policy = Policy("pbm-ts", items=5, examination=[0.5, 0.4, 0.3], seed=1)
    clicks = []

    class Clears:
        def __index__(self):
            clicks.clear()
            policy.update(policy.select(), [0, 0, 0])
            return 1

    clicks += [Clears(), 0, 0]
    policy.update(policy.select(), clicks)
    assert rounds_of(policy) == 6


def test_masked_clicks_are_not_counted():
    policy = Policy("pbm-ts", items=5, examination=[0.5, 0.4], seed=1)
    batch = policy.select_batch(1)
    before = policy.save()
    with pytest.raises(TypeError, match="clicks: expected a plain array, got a masked one"):
        policy.update_batch(batch, np.ma.array([[1, 0]], mask=[[True, False]]))
    assert policy.save() == before


def test_saved_sizes_are_checked():
    policy = Policy("pbm-ts", items=5, examination=[0.5, 0.4], seed=1)
    saved = json.loads(policy.select().to_json())
    for sizes in ([2**32 - 1, 2**60], [5, 2**62], [5, 65], [2**62, 2], [5, 0]):
        for kind in (Batch, Decision):
            with pytest.raises(ValueError, match="no saved decision"):
                kind.from_json(json.dumps({**saved, "sizes": sizes}))


def test_a_generator_of_zeros_is_refused():
    zeros = re.sub(rb'"s":\[[^]]*\]', b'"s":[0,0,0,0]', Policy("pbm-ts", items=3, examination=[0.5]).save())
    with pytest.raises(ValueError, match="state is zero"):
        Policy.load(zeros)
    users = re.sub(r'"s":\[[^]]*\]', '"s":[0,0,0,0]', models.Cascade([0.5], 1).to_json())
    with pytest.raises(ValueError, match="state is zero"):
        models.Cascade.from_json(users)


def test_truncated_saves():
    data = Policy("cascade-bai", items=5, positions=2, seed=1).save()
    for length in range(len(data)):
        with pytest.raises(ValueError, match="no saved policy"):
            Policy.load(data[:length])


def test_names_of_any_length():
    with pytest.raises(ValueError, match="unknown policy"):
        Policy("x" * 10**6)
    with pytest.raises(ValueError):
        Policy("\ud800")


@pytest.mark.parametrize("items", [2**28, 2**27])
@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of the process")
def test_policies_too_large_for_memory(items):
    code = f"""
import resource
from click_bandits import Policy
resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32))
try:
    Policy("pbm-ts", items={items}, examination=[0.5])
except MemoryError:
    print("refused")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "refused\n"


def test_indices_beyond_every_range():
    batch = Policy("pbm-ts", items=3, examination=[0.5], seed=1).select_batch(2)
    for index in (2, -3, 2**70):
        with pytest.raises(IndexError):
            batch[index]
