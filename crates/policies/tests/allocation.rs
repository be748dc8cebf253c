//! `select` and `update` allocate nothing once the caller's buffers have been used.

use crate::support::{STOPPING, Visitor, everything, generator, round};
use allocation_counter::measure;
use click_models::{
    CascadeModel, ClickModel, Feedback, Interaction, PbmFeedback, PositionBased, RandomSemiBandit, Ranking,
};
use policies::{CascadeBai, Decision, Delta, PbmUcb, PrefixKlUcb, Select, Update};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::fmt::Debug;

/// Counts the allocations of 2,000 rounds after the first ten, and of 2,000 later ones.
struct Count {
    checked: u32,
}

impl<M> Visitor<M> for Count
where
    M: ClickModel + Debug,
    M::Interaction: Interaction<Action = Ranking>,
{
    fn visit<P>(&mut self, name: &str, model: &M, policy: P)
    where
        P: Update<Ranking, Feedback<M>> + Serialize + DeserializeOwned + Clone + Debug + Send + Sync,
    {
        let allocations = allocations(model, policy);
        assert_eq!(allocations, [0, 0], "{name} on {model:?}");
        self.checked += 1;
    }
}

fn allocations<M, P>(model: &M, mut policy: P) -> [u64; 2]
where
    M: ClickModel,
    M::Interaction: Interaction<Action = Ranking>,
    P: Update<Ranking, Feedback<M>>,
{
    let (mut rng, mut users) = (generator(1), generator(2));
    let mut decision = Decision::default();
    let mut play = |rounds| {
        for _ in 0..rounds {
            round(model, &mut policy, &mut decision, &mut rng, &mut users);
        }
    };
    play(10);
    let early = measure(|| play(2000)).count_total;
    play(10_000);
    [early, measure(|| play(2000)).count_total]
}

#[test]
fn rounds_allocate_nothing() {
    let mut count = Count { checked: 0 };
    everything(&mut count);
    // Of 5 + 7 policies on position-based users, of 9 + 7 on the others; and those that stop on cascades.
    assert_eq!(count.checked, 5 * 12 + (5 + 3 + 3) * 16 + 3 * STOPPING);
}

/// Many items are looked for in another way than few.
#[test]
fn rounds_with_many_items_allocate_nothing() {
    for n_items in [100_u32, 2000] {
        let attraction: Vec<f64> = (0..n_items).map(|item| f64::from(item % 40) / 100.0).collect();
        let model = RandomSemiBandit::from_values(&attraction, &[1.0, 0.9, 0.8, 0.7, 0.6]).expect("valid");
        let policy = PrefixKlUcb::new(model.shape(), confidence::Rate::LOG);
        assert_eq!(allocations(&model, policy), [0, 0], "{n_items} items");
    }
}

/// With 50 lists open, and answers that are lost or come twice.
#[test]
fn late_answers_allocate_nothing() {
    let attraction: Vec<f64> = (0..300).map(|item| f64::from(item % 40) / 100.0).collect();
    let model = CascadeModel::from_values(&attraction, 5).expect("valid");
    let mut policy = CascadeBai::new(model.shape(), Delta::default());
    let (mut rng, mut users) = (generator(1), generator(2));
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
    let model = PositionBased::from_values(&[0.45, 0.35, 0.25, 0.15, 0.05], &[0.9, 0.6, 0.3])
        .expect("a valid instance");
    let policy = Wasteful { inner: PbmUcb::new(model.known(), confidence::Rate::LOG), rounds: 0 };
    assert_eq!(allocations(&model, policy), [20, 20]);
}

/// The models in the loop are measured with the policies, so they allocate nothing either.
#[test]
fn both_protocols_are_measured() {
    let model = RandomSemiBandit::from_values(&[0.5, 0.4], &[1.0, 0.5]).expect("a valid instance");
    let list = model.optimal_action();
    let mut users = generator(3);
    let respond = || {
        std::hint::black_box(model.respond(&list, &mut users));
    };
    assert_eq!(measure(respond).count_total, 0);
}
