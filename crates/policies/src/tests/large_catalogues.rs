//! Policies that look for the best items of a large catalogue in another way than for those of a
//! small one.

use super::plain::{AllCandidates, AllItems, IndexRule};
use super::position_based::{fresh, learn as learn_positions, pbm_pie_least_cost};
use super::prefix::{PrefixHistory, learn_prefix, ts_cascade};
use super::*;
use crate::{PbmPie, PbmPiePosition, PbmUcb, Pie, Policy, PrefixUcb, PrefixUcbV, Select, TsCascade};
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
        let cycle: Vec<f64> = EXAMINATION.iter().copied().cycle().take(self.n_positions).collect();
        falling(&cycle)
    }

    fn position_based(self) -> PositionBased {
        PositionBased::from_values(&self.attraction(), &self.examination()).expect("a valid instance")
    }

    fn semi_bandit(self) -> RandomSemiBandit {
        RandomSemiBandit::from_values(&self.attraction(), &self.examination()).expect("a valid instance")
    }
}

/// Small, above the size from which policies keep a shortlist, and so large that most items never
/// get a click. With the small instances of other files, every policy is compared for more than
/// 200,000 rounds.
const CATALOGUES: [Catalogue; 5] = [
    Catalogue { n_items: 16, n_positions: 5, n_values: 1 << 20, delay: 0, rounds: 30_000 },
    Catalogue { n_items: 300, n_positions: 5, n_values: 1 << 20, delay: 0, rounds: 18_000 },
    Catalogue { n_items: 300, n_positions: 5, n_values: 4, delay: 17, rounds: 12_000 },
    Catalogue { n_items: 300, n_positions: 1, n_values: 1, delay: 0, rounds: 3000 },
    Catalogue { n_items: 4096, n_positions: 64, n_values: 1 << 20, delay: 3, rounds: 700 },
];

/// Plays `policy` beside a plain one, which chooses for itself.
fn assert_as<M, P, Q>(model: &M, policy: P, plain: Q, Catalogue { delay, rounds, .. }: Catalogue)
where
    M: ClickModel + Debug,
    M::Interaction: Interaction<Action = Ranking>,
    P: Update<Ranking, Feedback<M>> + Select<Ranking, Note = ()> + Serialize + DeserializeOwned + Debug,
    Q: Update<Ranking, Feedback<M>> + Select<Ranking, Note = ()> + Debug,
{
    let choose = |plain: &mut Q, _: u64, rng: &mut Generator| {
        let mut decision = Decision::default();
        plain.select(rng, &mut decision);
        list_of(&decision.action)
    };
    let learn = |plain: &mut Q, decision: &Decision<Ranking>, feedback: &Feedback<M>| {
        plain.update(decision, feedback);
    };
    let policy = Restored { policy, rounds: 0 };
    assert_same_choices(model, policy, plain, delay, rounds, choose, learn);
}

fn assert_prefix<P>(rule: IndexRule, build: impl Fn(ListShape) -> P)
where
    P: Policy<SemiBandit, Note = ()> + Serialize + DeserializeOwned + Debug,
{
    for catalogue in CATALOGUES {
        let model = catalogue.semi_bandit();
        assert_as(&model, build(model.shape()), AllItems::prefix(rule, model.shape()), catalogue);
    }
}

#[test]
fn rsf_ucb_is_the_naive_one_in_large_catalogues() {
    assert_prefix(IndexRule::RsfUcb, PrefixUcb::rsf);
}

#[test]
fn cascade_ucb1_is_the_naive_one_in_large_catalogues() {
    assert_prefix(IndexRule::CascadeUcb1, PrefixUcb::cascade);
}

#[test]
fn cascade_ucb_v_is_the_naive_one_in_large_catalogues() {
    assert_prefix(IndexRule::CascadeUcbV, PrefixUcbV::new);
}

#[test]
fn pbm_ucb_is_the_naive_one_in_large_catalogues() {
    for catalogue in CATALOGUES {
        let model = catalogue.position_based();
        let policy = PbmUcb::new(model.known(), Rate::LOG);
        assert_as(&model, policy, AllItems::position_based(model.known()), catalogue);
    }
}

#[test]
fn ts_cascade_is_the_naive_one_in_large_catalogues() {
    for catalogue in CATALOGUES {
        let Catalogue { n_items, n_positions, delay, rounds, .. } = catalogue;
        let model = catalogue.semi_bandit();
        let policy = Restored { policy: TsCascade::new(model.shape()), rounds: 0 };
        let choose = |history: &mut PrefixHistory, t, rng: &mut _| ts_cascade(history, t, rng);
        let history = PrefixHistory::new(n_items, n_positions);
        assert_same_choices(&model, policy, history, delay, rounds, choose, learn_prefix);
    }
}

/// The catalogues, two of them of another size, and one with many positions whose items have all
/// been shown: at either position more than 50,000 rounds.
fn explored() -> [Catalogue; 5] {
    let mut explored = CATALOGUES;
    explored[0].n_items = 40;
    explored[2].n_items = 100;
    explored[4] = Catalogue { n_items: 600, n_positions: 64, rounds: 1200, ..explored[4] };
    explored
}

#[test]
fn pie_is_the_naive_one_in_large_catalogues() {
    for catalogue in explored() {
        let model = catalogue.semi_bandit();
        for position in [0, catalogue.n_positions - 1] {
            let policy = Pie::at(model.shape(), position, Rate::LOG).expect("a position of the list");
            assert_as(&model, policy, AllCandidates::prefix(model.shape(), position), catalogue);
        }
    }
}

#[test]
fn pbm_pie_is_the_naive_one_in_large_catalogues() {
    for catalogue in explored() {
        let model = catalogue.position_based();
        let policy = PbmPie::new(model.known(), Rate::LOG);
        assert_as(&model, policy, AllCandidates::position_based(model.known()), catalogue);
    }
}

/// Above the size from which the policy keeps ranges, for fewer rounds: the naive policy solves for
/// all indices.
#[test]
fn pbm_pie_at_least_cost_is_the_naive_one_in_large_catalogues() {
    for (n_items, n_positions, n_values, delay, rounds) in
        [(150, 5, 1 << 20, 0, 10_000), (40, 3, 4, 17, 10_000), (300, 1, 1, 0, 2000)]
    {
        let model = Catalogue { n_items, n_positions, n_values, delay, rounds }.position_based();
        let policy = PbmPie::new(model.known(), Rate::LOG).with_position(PbmPiePosition::LeastCost);
        let policy = Restored { policy, rounds: 0 };
        let choose = |history: &mut PbmHistory, t, rng: &mut _| pbm_pie_least_cost(history, t, log(t), rng);
        assert_same_choices(&model, policy, fresh(&model), delay, rounds, choose, learn_positions);
    }
}

/// The test itself: in each catalogue a policy that is a round ahead is told apart.
#[test]
fn a_later_round_is_caught() {
    // Where nobody clicks, the level does not matter.
    for catalogue in CATALOGUES.into_iter().filter(|catalogue| catalogue.n_values > 1) {
        let model = catalogue.semi_bandit();
        let caught = std::panic::catch_unwind(|| {
            let mut plain = AllItems::prefix(IndexRule::RsfUcb, model.shape());
            for _ in 0..catalogue.rounds / 8 {
                plain.skip_round();
            }
            assert_as(&model, PrefixUcb::rsf(model.shape()), plain, catalogue);
        });
        assert!(caught.is_err(), "{catalogue:?}");
        // In its few rounds, the leaders of the largest one were clicked at every display, and no
        // level lets another item reach them.
        if catalogue.n_items > 1024 {
            continue;
        }
        let caught = std::panic::catch_unwind(|| {
            let mut plain = AllCandidates::prefix(model.shape(), 0);
            for _ in 0..catalogue.rounds / 8 {
                plain.skip_round();
            }
            let policy = Pie::at(model.shape(), 0, Rate::LOG).expect("a position of the list");
            assert_as(&model, policy, plain, catalogue);
        });
        assert!(caught.is_err(), "{catalogue:?}");
    }
}
