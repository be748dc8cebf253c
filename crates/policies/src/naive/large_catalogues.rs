//! Policies that look for the best items of a large catalogue in another way than for those of a small one.

use super::position_based::{fresh, learn as learn_positions};
use super::prefix::{PrefixHistory, cascade_ucb_v, cascade_ucb1, learn_prefix, rsf_ucb};
use super::*;
use serde::{Serialize, de::DeserializeOwned};

const EXAMINATION: [f64; 5] = [1.0, 0.9, 0.81, 0.73, 0.66];

/// A policy that is saved and restored every thousand rounds.
#[derive(Debug)]
struct Restored<P> {
    policy: P,
    rounds: u32,
}

impl<P: Select<Ranking, Note = ()> + Serialize + DeserializeOwned> Select<Ranking> for Restored<P> {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        self.rounds += 1;
        if self.rounds.is_multiple_of(1000) {
            let saved = serde_json::to_string(&self.policy).expect("a policy can be saved");
            self.policy = serde_json::from_str(&saved).expect("a saved policy");
        }
        self.policy.select(rng, out);
    }
}

impl<F, P> Update<Ranking, F> for Restored<P>
where
    P: Update<Ranking, F> + Select<Ranking, Note = ()> + Serialize + DeserializeOwned,
{
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        self.policy.update(decision, feedback);
    }
}

/// Users of many items; most rarely attract, and some are equal.
#[derive(Debug, Clone, Copy)]
struct Catalogue {
    n_items: usize,
    n_positions: usize,
    n_values: u32,
    delay: usize,
    rounds: u64,
}

impl Catalogue {
    fn attraction(self) -> Vec<f64> {
        let mut rng = Generator::seed_from_u64(1);
        let mut value = || f64::from(rng.random_range(0..self.n_values)) / f64::from(self.n_values);
        (0..self.n_items).map(|_| 0.6 * value() * value()).collect()
    }

    fn examination(self) -> Vec<f64> {
        EXAMINATION.iter().copied().cycle().take(self.n_positions).collect()
    }

    fn semi_bandit(self) -> RandomSemiBandit {
        let mut examination = self.examination();
        examination.sort_by(|one, other| other.total_cmp(one));
        RandomSemiBandit::from_values(&self.attraction(), &examination).expect("a valid instance")
    }
}

/// Small, above the size from which policies keep a shortlist, and so large that most items never get a click.
const CATALOGUES: [Catalogue; 5] = [
    Catalogue { n_items: 16, n_positions: 5, n_values: 1 << 20, delay: 0, rounds: 100_000 },
    Catalogue { n_items: 300, n_positions: 5, n_values: 1 << 20, delay: 0, rounds: 100_000 },
    Catalogue { n_items: 300, n_positions: 5, n_values: 4, delay: 17, rounds: 20_000 },
    Catalogue { n_items: 300, n_positions: 1, n_values: 1, delay: 0, rounds: 5000 },
    Catalogue { n_items: 4096, n_positions: 64, n_values: 1 << 20, delay: 3, rounds: 1200 },
];

fn assert_prefix<P>(
    build: impl Fn(ListShape) -> P,
    choose: impl Fn(&PrefixHistory, u64, &mut Generator) -> Vec<usize>,
) where
    P: Policy<SemiBandit, Note = ()> + Serialize + DeserializeOwned + Debug,
{
    for catalogue in CATALOGUES {
        let model = catalogue.semi_bandit();
        let policy = Restored { policy: build(model.shape()), rounds: 0 };
        let history = PrefixHistory::new(catalogue.n_items, catalogue.n_positions);
        let choose = |history: &mut PrefixHistory, t, rng: &mut _| choose(history, t, rng);
        assert_same_choices(&model, policy, history, catalogue.delay, catalogue.rounds, choose, learn_prefix);
    }
}

#[test]
fn rsf_ucb_is_the_naive_one_in_large_catalogues() {
    assert_prefix(PrefixUcb::rsf, rsf_ucb);
}

#[test]
fn cascade_ucb1_is_the_naive_one_in_large_catalogues() {
    assert_prefix(PrefixUcb::cascade, cascade_ucb1);
}

#[test]
fn cascade_ucb_v_is_the_naive_one_in_large_catalogues() {
    assert_prefix(PrefixUcbV::new, |history, t, rng| cascade_ucb_v(history, log(t), rng));
}

/// In the order of operations of the policy: of hundreds of items some have indices that differ by rounding alone.
fn pbm_ucb(history: &PbmHistory, t: u64, rng: &mut Generator) -> Vec<usize> {
    let key = rng.next_u64();
    let root = log(t).sqrt();
    let scores = history.scores(|item| {
        let n_tilde = history.n_tilde(item);
        if n_tilde == 0.0 {
            return f64::INFINITY;
        }
        let width = (0.5 * history.n(item)).sqrt() * (1.0 / n_tilde);
        history.s(item) * (1.0 / n_tilde) + width * root
    });
    placed(&ranked(&scores, key), &history.examination)
}

#[test]
fn pbm_ucb_is_the_naive_one_in_large_catalogues() {
    for catalogue in CATALOGUES {
        let model = PositionBased::from_values(&catalogue.attraction(), &catalogue.examination())
            .expect("a valid instance");
        let policy = Restored { policy: PbmUcb::new(model.known(), Rate::LOG), rounds: 0 };
        let choose = |history: &mut PbmHistory, t, rng: &mut _| pbm_ucb(history, t, rng);
        let Catalogue { delay, rounds, .. } = catalogue;
        assert_same_choices(&model, policy, fresh(&model), delay, rounds, choose, learn_positions);
    }
}

/// The test itself: the level of a later round is told apart in each catalogue.
#[test]
fn a_later_logarithm_is_caught() {
    // Where nobody clicks, the level does not matter.
    for catalogue in CATALOGUES.into_iter().filter(|catalogue| catalogue.n_values > 1) {
        let model = catalogue.semi_bandit();
        let choose = |history: &mut PrefixHistory, t: u64, rng: &mut _| rsf_ucb(history, t + t / 8, rng);
        let caught = std::panic::catch_unwind(|| {
            let policy = Restored { policy: PrefixUcb::rsf(model.shape()), rounds: 0 };
            let history = PrefixHistory::new(catalogue.n_items, catalogue.n_positions);
            let Catalogue { delay, rounds, .. } = catalogue;
            assert_same_choices(&model, policy, history, delay, rounds, choose, learn_prefix);
        });
        assert!(caught.is_err(), "{catalogue:?}");
    }
}
