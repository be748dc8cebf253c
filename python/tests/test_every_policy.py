"""Properties of every policy of the catalogue."""

import copy
import pickle

import pytest
from click_bandits import Batch, Decision, Policy
from every_policy import answer_of, pairs, play, policy_on, users_of


@pytest.fixture(params=pairs(), ids="-on-".join)
def game(request):
    name, protocol = request.param
    users = users_of(protocol)
    return policy_on(name, protocol, users), users


def test_plays_two_hundred_rounds(game):
    policy, users = game
    actions = play(policy, users, 200)
    width = policy.sizes[1] if policy.model not in ("rank-one", "dueling") else 2
    assert all(len(action) == width for action in actions)
    # `regret` refuses what is no action of these users.
    assert all(users.regret(action) >= 0 for action in actions)


def test_a_seed_makes_the_choices(game):
    policy, users = game
    again = policy_on(policy.name, policy.model, users, seed=7)
    assert play(policy, users_of(policy.model), 50) == play(again, users_of(policy.model), 50)


@pytest.mark.parametrize(
    "copied",
    [
        lambda policy: Policy.load(policy.save()),
        lambda policy: pickle.loads(pickle.dumps(policy)),
        copy.copy,
        copy.deepcopy,
    ],
    ids=["load", "pickle", "copy", "deepcopy"],
)
def test_a_copy_makes_the_same_choices(game, copied):
    policy, users = game
    play(policy, users, 100)
    other, other_users = copied(policy), copy.deepcopy(users)
    assert (other.name, other.model, other.sizes) == (policy.name, policy.model, policy.sizes)
    assert other.parameters == policy.parameters
    assert play(policy, users, 100) == play(other, other_users, 100)
    assert policy.save() == other.save()
    assert policy.answer == other.answer and policy.recommend() == other.recommend()


def test_decisions_survive_pickle_and_json(game):
    policy, users = game
    play(policy, users, 20)
    other = copy.copy(policy)
    decision = policy.select()
    other.select()
    answer = answer_of(users, decision)
    for same in (pickle.loads(pickle.dumps(decision)), Decision.from_json(decision.to_json())):
        assert same == decision and same.action == decision.action
    policy.update(decision, *answer)
    other.update(Decision.from_json(decision.to_json()), *answer)
    assert policy.save() == other.save()


def test_a_batch_is_its_decisions(game):
    policy, users = game
    other = copy.copy(policy)
    for _ in range(5):
        batch = policy.select_batch(8)
        single = [other.select() for _ in range(8)]
        assert len(batch) == 8 and [batch[i] for i in range(8)] == single
        assert [tuple(action) for action in batch.actions.tolist()] == [d.action for d in single]
        response = answer_of(users, batch)
        policy.update_batch(batch, *response)
        for i, decision in enumerate(single):
            other.update(decision, *(part[i] for part in response))
    assert policy.save() == other.save()
    assert pickle.loads(pickle.dumps(batch)) == batch == Batch.from_json(batch.to_json())


def test_late_answers_in_any_order(game):
    policy, users = game
    batch = policy.select_batch(30)
    answers = answer_of(users, batch)
    for i in reversed(range(30)):
        policy.update(batch[i], *(part[i] for part in answers))
    play(policy, users, 20)


def test_an_answer_only_of_policies_that_stop(game):
    policy, _ = game
    assert policy.answer is None
