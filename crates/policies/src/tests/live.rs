//! Policies among items that come and go, whose answers are taken back at random: 100,000 rounds of
//! the choices of a plain scan of the available items, on tables of the tests.
//!
//! The scan computes every index from the counts, with the documented order of random draws. Every
//! other round asks for a list of all items, so that lazy structures meet counts that fall. In the
//! first half the number of items stays the same.

use super::plain::draw_equals;
use super::position_based::PbmHistory;
use super::*;
use crate::{
    Bayesian, EpsilonGreedy, PbmKlUcb, PbmUcb, PrefixKlUcb, PrefixKnown, PrefixTs, PrefixUcb, PrefixUcbV,
    Prior, SelectAmong, Tallies, Tally, TsCascade,
};
use click_models::{ItemSet, PbmKnown};
use serde::{Serialize, de::DeserializeOwned};

/// The draws of a round before any item: the key of its ties, and what all items share.
type Begin = fn(&mut PbmHistory, u64, &mut Generator) -> (u64, f64);
/// The score of an item in round `t`; may draw.
type Score = fn(&PbmHistory, usize, u64, f64, &mut Generator) -> f64;

/// Examination in an order that is not that of the positions.
const EXAMINATION: [f64; 4] = [0.5, 0.9, 0.3, 0.6];

/// A policy beside a table and a rule.
struct Beside<P> {
    policy: P,
    history: PbmHistory,
    /// Whether positions are counted apart.
    by_position: bool,
    /// Positions of the best item, of the next one, and so on; `None`: by examination.
    places: Option<Vec<usize>>,
    absent: Vec<bool>,
    begin: Begin,
    score: Score,
    rounds: u64,
}

impl<P> Beside<P>
where
    P: SelectAmong<Ranking, Note = ()> + Tallies + Serialize + DeserializeOwned + Debug,
{
    fn new(policy: P, begin: Begin, score: Score) -> Self {
        let (n_items, by_position) = (policy.n_items(), policy.n_kinds() > 1);
        let history = PbmHistory::new(n_items, if by_position { &EXAMINATION } else { &[1.0] });
        let places = (!by_position).then(|| (0..EXAMINATION.len()).collect());
        let absent = vec![false; n_items];
        Self { policy, history, by_position, places, absent, begin, score, rounds: 0 }
    }

    /// The list of a plain scan of these items.
    fn plain(&mut self, items: &[usize], rng: &mut Generator) -> Vec<usize> {
        self.rounds += 1;
        let Self { history, places, begin, score, rounds, .. } = self;
        let (key, shared) = begin(history, *rounds, rng);
        let mut scores: Vec<(f64, usize)> =
            items.iter().map(|&item| (score(history, item, *rounds, shared, rng), item)).collect();
        scores.sort_by(|&(one, a), &(other, b)| {
            other.total_cmp(&one).then_with(|| tie_rank(key, b).cmp(&tie_rank(key, a)))
        });
        let n = scores.len().min(EXAMINATION.len());
        let number = |item| u32::try_from(item).expect("few items");
        let mut best: Vec<(f64, u32)> =
            scores[..n].iter().map(|&(score, item)| (score, number(item))).collect();
        scores.sort_unstable_by_key(|&(_, item)| item);
        draw_equals(&mut best, scores.iter().map(|&(score, item)| (number(item), score)), key);
        let order = places.clone().unwrap_or_else(|| {
            let mut order: Vec<usize> = (0..EXAMINATION.len()).collect();
            sort_by_score(&mut order, &|position| history.examination[position]);
            order
        });
        let mut list = vec![usize::MAX; n];
        for (position, &(_, item)) in order.into_iter().filter(|&position| position < n).zip(&best) {
            list[position] = item as usize;
        }
        list
    }

    fn change(&mut self, item: usize, position: usize, tally: Tally, is_added: bool) {
        let kind = if self.by_position { position } else { 0 };
        let (shows, clicks) = (&mut self.history.shows[item][kind], &mut self.history.clicks[item][kind]);
        let id = ItemId::from_index(item);
        if is_added {
            (*shows, *clicks) = (*shows + tally.shows, *clicks + tally.clicks);
            self.policy.add(id, kind, tally);
        } else {
            *clicks -= tally.clicks.min(*clicks);
            *shows = (*shows - tally.shows.min(*shows)).max(*clicks);
            self.policy.take_back(id, kind, tally);
        }
        assert_eq!(self.policy.tally(id, kind), Tally { shows: *shows, clicks: *clicks });
    }

    fn play(mut self, rounds: u64) {
        let [mut rng, mut world] = [1, 2].map(Generator::seed_from_u64);
        let mut decision = Decision::default();
        let mut answers: Vec<(usize, usize, Tally)> = vec![];
        for round in 0..rounds {
            if 2 * round >= rounds && world.random_range(0..200) == 0 && self.absent.len() < 500 {
                assert_eq!(self.policy.add_item().index(), self.absent.len());
                self.absent.push(false);
                let n_kinds = self.history.shows[0].len();
                self.history.shows.push(vec![0; n_kinds]);
                self.history.clicks.push(vec![0; n_kinds]);
            }
            let n_items = self.absent.len();
            if world.random_range(0..20) == 0 {
                let item = world.random_range(0..n_items);
                self.absent[item] = !self.absent[item];
                self.policy.set_present(ItemId::from_index(item), !self.absent[item]);
            }
            let among_all = round % 2 == 1;
            let share = [0.0, 0.05, 0.5, 1.0][world.random_range(0..4)];
            let mut available = ItemSet::none(n_items + 3);
            for item in (0..n_items + 3).filter(|_| world.random::<f64>() < share) {
                available.insert(ItemId::from_index(item));
            }
            let items: Vec<usize> = (0..n_items)
                .filter(|&item| {
                    among_all || available.contains(ItemId::from_index(item)) && !self.absent[item]
                })
                .collect();
            let mut plain_rng = rng.clone();
            if among_all {
                self.policy.select(&mut rng, &mut decision);
            } else {
                self.policy.select_among(&available, &mut rng, &mut decision);
            }
            let expected = self.plain(&items, &mut plain_rng);
            assert_eq!(list_of(&decision.action), expected, "round {round}");
            for (position, &item) in expected.iter().enumerate() {
                let clicks = u64::from(world.random_range(0..900) < item % 300);
                let tally = Tally { shows: 1, clicks };
                self.change(item, position, tally, true);
                answers.push((item, position, tally));
            }
            // Half of all answers are taken back, late ones and those of some items at once.
            while answers.len() > 400 || world.random_range(0..8) < 3 && !answers.is_empty() {
                let (item, position, tally) = answers.swap_remove(world.random_range(0..answers.len()));
                if world.random_range(0..8) > 0 {
                    self.change(item, position, tally, false);
                }
            }
            if world.random_range(0..500) == 0 {
                let item = world.random_range(0..n_items);
                self.change(item, 1, Tally { shows: 1_000_000, clicks: 1_000_000 }, false);
            }
            if round % 1_000 == 999 {
                let saved = serde_json::to_string(&self.policy).expect("a policy can be saved");
                self.policy = serde_json::from_str(&saved).expect("a saved policy");
            }
        }
        assert!(self.absent.iter().any(|&is_absent| is_absent));
    }
}

/// Plays few items, enough for a shortlist, and more than the limit above which equals are drawn.
fn assert_scan<P>(most: usize, build: impl Fn(ListShape) -> P, begin: Begin, score: Score)
where
    P: SelectAmong<Ranking, Note = ()> + Tallies + Serialize + DeserializeOwned + Debug,
{
    for (n_items, rounds) in [(12, 100_000), (200, 8_000), (300, 8_000), (3_000, 3_000)] {
        if n_items > most {
            continue;
        }
        let shape = ListShape::new(n_items, EXAMINATION.len()).expect("a shape");
        Beside::new(build(shape), begin, score).play(rounds);
    }
}

fn known<P>(build: impl Fn(PbmKnown<'_>) -> P) -> impl Fn(ListShape) -> P {
    let examination = EXAMINATION.map(|examined| Probability::new(examined).expect("a probability"));
    move |shape| build(PbmKnown::new(shape, &examination).expect("known"))
}

fn key(_: &mut PbmHistory, _: u64, rng: &mut Generator) -> (u64, f64) {
    (rng.next_u64(), 0.0)
}

/// Infinite for an item without displays, otherwise of its displays and mean.
fn seen(history: &PbmHistory, item: usize, index: impl Fn(f64, f64) -> f64) -> f64 {
    let shows = history.n(item);
    if shows == 0.0 { f64::INFINITY } else { index(shows, history.s(item) / shows) }
}

#[test]
fn prefix_ucb_is_a_scan() {
    assert_scan(3_000, PrefixUcb::rsf, key, |history, item, t, _, _| {
        seen(history, item, |shows, mean| mean + (2.0 / 3.0 / shows).sqrt() * log(t).sqrt())
    });
    assert_scan(3_000, PrefixUcb::cascade, key, |history, item, t, _, _| {
        seen(history, item, |shows, mean| (mean + (1.5 / shows).sqrt() * log(t).sqrt()).min(1.0))
    });
}

#[test]
fn prefix_ucb_v_is_a_scan() {
    assert_scan(3_000, PrefixUcbV::new, key, |history, item, t, _, _| {
        seen(history, item, |shows, mean| {
            mean + (2.0 * (mean * (1.0 - mean)) / shows).sqrt() * log(t).sqrt() + 3.0 / shows * log(t)
        })
    });
}

#[test]
fn prefix_kl_ucb_is_a_scan() {
    assert_scan(
        3_000,
        |shape| PrefixKlUcb::new(shape, Rate::LOG),
        key,
        |history, item, t, _, _| seen(history, item, |shows, mean| kl_ucb_upper(mean, shows, log(t))),
    );
}

#[test]
fn ts_cascade_is_a_scan() {
    let begin: Begin = |_, _, rng| (rng.next_u64(), Sampler::new().normal(rng));
    assert_scan(300, TsCascade::new, begin, |history, item, t, shared, _| {
        let shows = history.n(item);
        let (mean, floor) = (history.s(item) / shows.max(1.0), 1.0 / (shows + 1.0));
        let deviation = (mean * (1.0 - mean) * floor).sqrt();
        mean + shared * (deviation * log(t + 1).sqrt()).max(floor * log(t + 1))
    });
}

#[test]
fn epsilon_greedy_is_a_scan_if_it_explores_nothing() {
    let begin: Begin = |_, _, rng| {
        rng.random::<f64>();
        (rng.next_u64(), 0.0)
    };
    let build = |shape| EpsilonGreedy::new(shape, Probability::new(0.0).expect("a probability"));
    assert_scan(300, build, begin, |history, item, _, _, _| seen(history, item, |_, mean| mean));
}

fn pbm_index(history: &PbmHistory, item: usize, t: u64) -> f64 {
    let per_show = 1.0 / history.n_tilde(item);
    let width = (0.5 * history.n(item)).sqrt() * per_show;
    if history.n_tilde(item) == 0.0 {
        f64::INFINITY
    } else {
        history.s(item) * per_show + width * log(t).sqrt()
    }
}

#[test]
fn pbm_ucb_is_a_scan() {
    assert_scan(3_000, known(|known| PbmUcb::new(known, Rate::LOG)), key, |history, item, t, _, _| {
        pbm_index(history, item, t)
    });
}

#[test]
fn pbm_kl_ucb_is_a_scan() {
    assert_scan(300, known(|known| PbmKlUcb::new(known, Rate::LOG)), key, |history, item, t, _, _| {
        if history.n_tilde(item) == 0.0 {
            return f64::INFINITY;
        }
        let (clicks, shows) = (&history.clicks[item], &history.shows[item]);
        multi_position_upper(clicks, shows, &history.examination, log(t))
    });
}

/// With a prior, and so few items that all are drawn.
#[test]
fn prefix_ts_draws_all_of_few_items() {
    let shape = ListShape::new(12, EXAMINATION.len()).expect("a shape");
    let mut policy =
        PrefixTs::new(PrefixKnown::with_places(shape, &[2, 0, 1, 3]).expect("places")).drawing_all();
    policy.set_prior(Prior::new(2.5, 4.0).expect("a prior")).expect("any prior");
    let mut beside = Beside::new(policy, key, |history, item, _, _, rng| {
        let clicks = history.s(item);
        let shape = BetaShape::after(clicks + 1.5, history.n(item) - clicks + 3.0);
        Sampler::new().beta(shape, rng)
    });
    beside.places = Some(vec![2, 0, 1, 3]);
    beside.play(20_000);
}

/// A plain scan that forgets no click is not the policy.
#[test]
#[should_panic(expected = "round")]
fn a_click_that_is_not_taken_back_is_seen() {
    let shape = ListShape::new(12, EXAMINATION.len()).expect("a shape");
    let mut beside = Beside::new(PrefixUcb::rsf(shape), key, |history, item, t, _, _| {
        seen(history, item, |shows, mean| mean + (2.0 / 3.0 / shows).sqrt() * log(t).sqrt())
    });
    // The table of the test has a click more.
    (beside.history.shows[3][0], beside.history.clicks[3][0]) = (1, 1);
    beside.policy.add(ItemId::new(3), 0, Tally { shows: 1, clicks: 0 });
    beside.play(50);
}
