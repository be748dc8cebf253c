//! `select` and `update` allocate nothing once the caller's buffers have been used. The answers of
//! users are measured as well.

use super::trials::{Extent, Playable, Trial, large_trials, trial, trials, trials_without_a_row};
use super::users::Users;
use allocation_counter::measure;
use click_models::{CascadeModel, ClickModel, PbmFeedback, PositionBased, Ranking};
use policies::{CascadeBai, Decision, Delta, InOrder, PbmUcb, Select, TopRank, Update};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// Allocations of 2,000 rounds after the first fifty, past a horizon of 1,500. By then the policy
/// of every segment has had a user.
fn allocations(trial: &mut dyn Trial) -> u64 {
    let mut play = |rounds| {
        for _ in 0..rounds {
            trial.round();
        }
    };
    play(50);
    measure(|| play(2000)).count_total
}

#[test]
fn rounds_allocate_nothing() {
    for mut trial in trials(Users::all(), Extent::Variants, 1500).into_iter().chain(trials_without_a_row()) {
        assert_eq!(allocations(&mut *trial), 0, "{}", trial.name());
    }
}

/// Many items are looked for in another way than few.
#[test]
fn rounds_with_many_items_allocate_nothing() {
    for n_items in [100_u32, 2000] {
        let attraction: Vec<f64> = (0..n_items).map(|item| f64::from(item % 40) / 100.0).collect();
        let model = CascadeModel::from_values(&attraction, 5).expect("valid");
        let model = Rc::new(model);
        for policy in ["kl-ucb", "cascade-ucb1", "cascade-ucb-v", "pie", "ts-cascade"] {
            let mut trial = CascadeModel::named(&model, policy, 1500);
            assert_eq!(allocations(&mut *trial), 0, "{policy}, {n_items} items");
        }
    }
    for mut trial in large_trials() {
        assert_eq!(allocations(&mut *trial), 0, "{}", trial.name());
    }
}

/// With 50 lists open, and answers that are lost or come twice.
#[test]
fn late_answers_allocate_nothing() {
    let attraction: Vec<f64> = (0..300).map(|item| f64::from(item % 40) / 100.0).collect();
    let model = CascadeModel::from_values(&attraction, 5).expect("valid");
    let mut policy = CascadeBai::new(model.shape(), Delta::default());
    let [mut rng, mut users] = [1, 2].map(crate::support::generator);
    let mut open = vec![(Decision::default(), None); 50];
    let mut play = |rounds: usize| {
        for round in 0..rounds {
            let (decision, answer) = &mut open[round % 50];
            if let Some(answer) = answer.take() {
                for _ in 0..users.random_range(0..3) {
                    policy.update(decision, &answer);
                }
            }
            policy.select(&mut rng, decision);
            *answer = Some(model.respond(&decision.action, &mut users));
        }
    };
    play(50);
    assert_eq!(measure(|| play(20_000)).count_total, 0);
}

/// PBM-UCB with a copy in every hundredth round.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Wasteful {
    inner: PbmUcb,
    rounds: u32,
}

impl Select<Ranking> for Wasteful {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        self.inner.select(rng, out);
        self.rounds += 1;
        if self.rounds.is_multiple_of(100) {
            *out = out.clone();
        }
    }
}

impl Update<Ranking, PbmFeedback> for Wasteful {
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &PbmFeedback) {
        self.inner.update(decision, feedback);
    }
}

#[test]
fn one_allocation_in_a_hundred_rounds_is_seen() {
    let model = PositionBased::from_values(&[0.45, 0.35, 0.25, 0.15, 0.05], &[0.9, 0.6, 0.3]).expect("valid");
    let policy = Wasteful { inner: PbmUcb::new(model.known(), confidence::Rate::LOG), rounds: 0 };
    assert_eq!(allocations(&mut *trial("wasteful", &Rc::new(model), policy)), 20);
}

#[test]
fn lists_in_order_of_examination_allocate_nothing_after_their_first_round() {
    let users = PositionBased::from_values(&[0.3, 0.6, 0.1, 0.4], &[0.25, 1.0, 0.5]).expect("users");
    let policy = TopRank::new(users.shape(), 10_000);
    let (mut policy, mut decision) = (InOrder::new(policy, users.known()), Decision::default());
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut play = |rounds: u32| {
        for _ in 0..rounds {
            policy.select(&mut rng, &mut decision);
            let feedback = users.respond(&decision.action, &mut rng);
            policy.update(&decision, &feedback);
        }
    };
    play(1);
    assert_eq!(measure(|| play(500)).count_total, 0);
}
