"""Policies shared by threads, and memory that does not grow."""

import ctypes
import gc
import os
import sys
import threading
import time

import numpy as np
import pytest
from click_bandits import Policy, bounds, confidence
from every_policy import rounds_of

EXAMINATION = [0.9, 0.6, 0.3]


def in_threads(work, n):
    failures = []

    def run():
        try:
            work()
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


def test_one_policy_shared_by_eight_threads_counts_every_answer():
    policy = Policy("pbm-ucb", items=10, examination=EXAMINATION, seed=1)

    def work():
        for _ in range(50):
            decision = policy.select()
            policy.update(decision, [1, 0, 0])
            batch = policy.select_batch(20)
            policy.update_batch(batch, np.zeros((20, 3), bool))
            policy.save()

    in_threads(work, 8)
    assert rounds_of(policy) == 8 * 50 * 21 * 3


def test_policies_of_eight_threads_play_as_alone():
    def play(seed):
        policy = Policy("rsf-ts", "dcm", items=10, positions=3, seed=seed)
        for _ in range(20):
            policy.update_batch(policy.select_batch(100), np.zeros((100, 3), bool))
        return policy.save()

    alone = [play(seed) for seed in range(8)]
    together = {}
    seeds = iter(range(8))

    def work():
        seed = next(seeds)
        together[seed] = play(seed)

    in_threads(work, 8)
    assert [together[seed] for seed in range(8)] == alone


def states() -> list[str]:
    """The states of the process's threads but the main one, "R" if it runs or waits for a core only
    (Linux)."""
    found = []
    for task in os.listdir("/proc/self/task"):
        if int(task) != os.getpid():
            with open(f"/proc/self/task/{task}/stat") as stat:
                found.append(stat.read().rpartition(")")[2].split()[0])
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_policies_of_eight_threads_wait_for_cores_only():
    """Whatever else the machine does: a thread that waited for a lock, that of the interpreter or
    another, would sleep."""
    done = threading.Event()

    def work(seed):
        policy = Policy("pbm-ucb", items=20, examination=EXAMINATION, seed=seed)
        while not done.is_set():
            policy.select_batch(200_000)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    try:
        most = 0
        end = time.monotonic() + 20
        while most < 8 and time.monotonic() < end:
            time.sleep(0.01)
            most = max(most, states().count("R"))
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert most >= 6


def memory() -> float:
    """Resident memory of the process, in megabytes (Linux)."""
    with open("/proc/self/statm") as pages:
        return int(pages.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def settled_memory() -> float:
    """Resident memory without what is free: other tests leave hundreds of megabytes in pieces."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return memory()


def failing_calls(policy):
    decision = policy.select()
    for wrong in (
        lambda: Policy("pbm-tss"),
        lambda: policy.update(decision, [2, 0, 0]),
        lambda: Policy.load(b"{}"),
        lambda: confidence.beta_mixture_interval([1, 2, -1], 1, 0.1),
        lambda: confidence.empirical_bernstein_sequence([0.5, 2.0], 0.1),
        lambda: confidence.multi_position_minimum([[2]], [[1]], [0.5]),
        lambda: bounds.cascade_bai_upper_terms([0.5, 0.5], 1, 0.0, 0.1),
        lambda: bounds.rucb_expected_bound([[0.5, 0.7], [0.3, 0.5]], [2.0, 0.1], 10),
    ):
        with pytest.raises(ValueError):
            wrong()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_does_not_grow():
    """A leak of 100 bytes a policy, decision or failed call would show as megabytes."""
    policy = Policy("pbm-ts", items=10, examination=EXAMINATION, seed=1)

    def work(n):
        for _ in range(n):
            other = Policy("pbm-ts", items=10, examination=EXAMINATION, seed=1)
            other.update(other.select(), [0, 1, 0])
        for _ in range(n // 10):
            failing_calls(policy)
        for _ in range(n // 1000):
            batch = policy.select_batch(1000)
            assert batch.actions.shape == (1000, 3)
            policy.update_batch(batch, np.zeros((1000, 3), bool))

    work(20_000)
    grown = []
    for _ in range(5):
        before = settled_memory()
        work(20_000)
        grown.append(settled_memory() - before)
    # A leak of 100 bytes adds 2 MB each time. An allocator that touches freed pages anew does not.
    assert sorted(grown)[2] < 1, grown
