//! Policies that look for the best items of a large catalogue in another way than for those of a small one.

use super::position_based::{fresh, learn as learn_positions, pbm_pie};
use super::prefix::{PrefixHistory, cascade_ucb_v, cascade_ucb1, learn_prefix, pie, rsf_ucb, ts_cascade};
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

    fn position_based(self) -> PositionBased {
        PositionBased::from_values(&self.attraction(), &self.examination()).expect("a valid instance")
    }

    fn semi_bandit(self) -> RandomSemiBandit {
        RandomSemiBandit::from_values(&self.attraction(), &falling(&self.examination()))
            .expect("a valid instance")
    }
}

/// Small, above the size from which policies keep a shortlist, and so large that most items never get a click. With the small instances of
/// other files, every policy is compared for more than 200,000 rounds.
const CATALOGUES: [Catalogue; 5] = [
    Catalogue { n_items: 16, n_positions: 5, n_values: 1 << 20, delay: 0, rounds: 30_000 },
    Catalogue { n_items: 300, n_positions: 5, n_values: 1 << 20, delay: 0, rounds: 18_000 },
    Catalogue { n_items: 300, n_positions: 5, n_values: 4, delay: 17, rounds: 12_000 },
    Catalogue { n_items: 300, n_positions: 1, n_values: 1, delay: 0, rounds: 3000 },
    Catalogue { n_items: 4096, n_positions: 64, n_values: 1 << 20, delay: 3, rounds: 700 },
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

#[test]
fn ts_cascade_is_the_naive_one_in_large_catalogues() {
    assert_prefix(TsCascade::new, ts_cascade);
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
    placed(&first_ranked(&scores, key, history.examination.len()), &history.examination)
}

#[test]
fn pbm_ucb_is_the_naive_one_in_large_catalogues() {
    for catalogue in CATALOGUES {
        let model = catalogue.position_based();
        let policy = Restored { policy: PbmUcb::new(model.known(), Rate::LOG), rounds: 0 };
        let choose = |history: &mut PbmHistory, t, rng: &mut _| pbm_ucb(history, t, rng);
        let Catalogue { delay, rounds, .. } = catalogue;
        assert_same_choices(&model, policy, fresh(&model), delay, rounds, choose, learn_positions);
    }
}

/// Above the size from which policies that explore at one position keep ranges, for fewer rounds: the naive policy solves for all indices.
const EXPLORED: [Catalogue; 3] = [
    Catalogue { n_items: 150, n_positions: 5, n_values: 1 << 20, delay: 0, rounds: 10_000 },
    Catalogue { n_items: 40, n_positions: 3, n_values: 4, delay: 17, rounds: 10_000 },
    Catalogue { n_items: 300, n_positions: 1, n_values: 1, delay: 0, rounds: 2000 },
];

#[test]
fn pie_is_the_naive_one_in_large_catalogues() {
    for catalogue in EXPLORED {
        let Catalogue { n_items, n_positions, delay, rounds, .. } = catalogue;
        let model = catalogue.semi_bandit();
        let policy = Restored { policy: Pie::last(model.shape(), Rate::LOG), rounds: 0 };
        let choose = |history: &mut PrefixHistory, t, rng: &mut _| pie(history, n_positions - 1, log(t), rng);
        let history = PrefixHistory::new(n_items, n_positions);
        assert_same_choices(&model, policy, history, delay, rounds, choose, learn_prefix);
    }
}

#[test]
fn pbm_pie_is_the_naive_one_in_large_catalogues() {
    for catalogue in EXPLORED {
        let Catalogue { delay, rounds, .. } = catalogue;
        let model = catalogue.position_based();
        let policy = Restored { policy: PbmPie::new(model.known(), Rate::LOG), rounds: 0 };
        let choose = |history: &mut PbmHistory, t, rng: &mut _| pbm_pie(history, t, log(t), rng);
        assert_same_choices(&model, policy, fresh(&model), delay, rounds, choose, learn_positions);
    }
}

/// Plays `policy` beside the same policy that compares all items.
fn assert_as_comparing_all<M, P>(model: &M, policy: P, plain: P, Catalogue { delay, rounds, .. }: Catalogue)
where
    M: ClickModel + Debug,
    M::Interaction: Interaction<Action = Ranking>,
    P: Update<Ranking, Feedback<M>> + Select<Ranking, Note = ()> + Serialize + DeserializeOwned + Debug,
{
    let choose = |plain: &mut P, _: u64, rng: &mut Generator| {
        let mut decision = Decision::default();
        plain.select(rng, &mut decision);
        list_of(&decision.action)
    };
    let learn = |plain: &mut P, decision: &Decision<Ranking>, feedback: &Feedback<M>| {
        plain.update(decision, feedback);
    };
    let policy = Restored { policy, rounds: 0 };
    assert_same_choices(model, policy, plain, delay, rounds, choose, learn);
}

/// The catalogues, two of them of another size, and one with many positions whose items have all been shown. At either position more than 50,000 rounds.
fn explored() -> [Catalogue; 5] {
    let mut explored = CATALOGUES;
    explored[0].n_items = 40;
    explored[2].n_items = 100;
    explored[4] = Catalogue { n_items: 600, n_positions: 64, rounds: 1200, ..explored[4] };
    explored
}

#[test]
fn pie_compares_few_items_of_large_catalogues() {
    for catalogue in explored() {
        let model = catalogue.semi_bandit();
        for position in [0, catalogue.n_positions - 1] {
            let policy = Pie::at(model.shape(), position, Rate::LOG).expect("a position of the list");
            assert_as_comparing_all(&model, policy.clone(), policy.comparing_all(), catalogue);
        }
    }
}

#[test]
fn pbm_pie_compares_few_items_of_large_catalogues() {
    for catalogue in explored() {
        let model = catalogue.position_based();
        for position in [PbmPiePosition::Last, PbmPiePosition::LeastCost] {
            let policy = PbmPie::new(model.known(), Rate::LOG).with_position(position);
            assert_as_comparing_all(&model, policy.clone(), policy.comparing_all(), catalogue);
        }
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
