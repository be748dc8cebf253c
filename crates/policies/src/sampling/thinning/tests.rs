//! The distribution of the lists, for Beta posteriors: thinned rounds against rounds that draw
//! every item (`law.rs`). The wrong versions below are rejected.

mod among;
pub(crate) mod law;

use super::*;
use crate::sampling::beta_posteriors::BetaPosteriors;
use law::{Held, Seen, every_item, half_short, thinned};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::cell::Cell;

impl Threshold {
    /// The nearest possible threshold.
    pub(crate) fn near(value: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "saturates")]
        let step = ((libm::log(value) - libm::log1p(-value)) * threshold::STEPS) as i32;
        Self::at(step)
    }
}

type Counts = Vec<(f64, f64)>;

/// Posteriors of 200 items, and of ten.
fn catalogues() -> [(&'static str, Counts); 9] {
    let of = |counts: fn(u32) -> (u32, u32)| -> Counts {
        let counts = (0..200).map(counts);
        counts.map(|(successes, failures)| (f64::from(successes), f64::from(failures))).collect()
    };
    [
        ("no rounds", of(|_| (0, 0))),
        ("no successes", of(|item| (0, item % 7))),
        ("successes only", of(|item| (item % 5, 0))),
        ("few rounds", of(|item| (u32::from(item % 4 == 0) + item % 3 / 2, item % 11))),
        ("two classes", of(|item| if item % 2 == 0 { (20, 40) } else { (2, 7) })),
        (
            "leaders",
            of(|item| if item % 40 == 0 { (9_000 + item, 21_000) } else { (item % 2, 25 + item % 9) }),
        ),
        ("tens of thousands of rounds", of(|item| (3_000 + 7 * item, 30_000 + item % 3))),
        ("ten items", (0..10).map(|item| if item < 5 { (60.0, 140.0) } else { (44.0, 156.0) }).collect()),
        ("fractions", (0..200_u32).map(|item| (f64::from(item % 6), 0.37 * f64::from(item % 31))).collect()),
    ]
}

#[test]
fn thinned_rounds_have_the_law_of_plain_ones() {
    let (mut rare, mut common) = (0, 0);
    for (name, counts) in catalogues() {
        let posteriors = BetaPosteriors::new(counts.into_iter());
        let lengths = [1, 5];
        for (n_positions, expected) in lengths.into_iter().zip(every_item(&posteriors, lengths)) {
            let mut moves = vec![-1.0, 0.0, half_short(&posteriors, n_positions)];
            // No draw is above, and all are drawn as plain ones are: for one length, and two
            // posteriors.
            let is_extreme = n_positions == 5 && ["no rounds", "successes only"].contains(&name);
            moves.extend(is_extreme.then_some(30.0));
            for moved in moves {
                let (seen, share) = thinned(&posteriors, n_positions, moved);
                let p = expected.compare(&seen);
                println!("{name}, {n_positions}, moved by {moved}: short {share}, p {p:e}");
                assert!(p > 1e-6, "{name}, {n_positions} positions, moved by {moved}: {p:e}");
                rare += u32::from(share < 0.01);
                common += u32::from(share > 0.2 && share < 0.8);
                assert!(moved != 0.0 || share < 0.01, "{name}: a share of {share} is short");
            }
        }
    }
    assert!(rare >= 36 && common >= 18, "{rare}, {common}");
}

/// Posteriors that accept every candidate, or have a bound that is too small. They count the draws
/// of whole posteriors.
struct Wrong {
    right: BetaPosteriors,
    accepts_all: bool,
    bound: f64,
    n_drawn: Cell<u32>,
}

impl Posteriors for Wrong {
    fn n_items(&self) -> usize {
        self.right.n_items()
    }

    fn draw<R: Rng + ?Sized>(&self, item: usize, sampler: Sampler, rng: &mut R) -> f64 {
        self.n_drawn.update(|n_drawn| n_drawn + 1);
        self.right.draw(item, sampler, rng)
    }

    fn bound(&self, item: usize, threshold: &Threshold) -> f64 {
        self.bound * self.right.bound(item, threshold)
    }

    fn draw_above<R: Rng + ?Sized>(
        &self,
        item: usize,
        threshold: &Threshold,
        least: f64,
        rng: &mut R,
    ) -> Option<f64> {
        loop {
            let draw = self.right.draw_above(item, threshold, 0.0, rng);
            if draw.is_some() || !self.accepts_all {
                return draw.filter(|&draw| draw >= least);
            }
        }
    }

    fn chance(&self, item: usize, threshold: &Threshold) -> f64 {
        self.right.chance(item, threshold)
    }

    fn hash(&self, item: usize) -> u64 {
        self.right.hash(item)
    }

    fn is_like(&self, item: usize, other: usize) -> bool {
        self.right.is_like(item, other)
    }
}

#[test]
fn wrong_versions_are_rejected() {
    let counts = catalogues().into_iter().find(|(name, _)| *name == "two classes").expect("one of them").1;
    let wrong = |accepts_all, bound| {
        let right = BetaPosteriors::new(counts.clone().into_iter());
        Wrong { right, accepts_all, bound, n_drawn: Cell::default() }
    };
    let right = wrong(false, 1.0);
    let [expected] = every_item(&right.right, [5]);
    let p = |wrong: &Wrong| expected.compare(&thinned(wrong, 5, 0.0).0);
    assert!(p(&right) > 1e-6);
    let found = p(&wrong(true, 1.0));
    assert!(found < 1e-6, "every candidate accepted: {found:e}");
    let found = p(&wrong(false, 0.8));
    assert!(found < 1e-6, "a bound below the probability: {found:e}");
    // A round that is played again when it is short has a threshold that depends on its draws.
    let mut held = Held::new(&right, 5, half_short(&right, 5));
    let again = Seen::of(200, 5, |top| while held.round(&right, top) {});
    let found = expected.compare(&again);
    assert!(found < 1e-6, "short rounds played again: {found:e}");
}

/// Ten items of which five are far ahead: hardly any other one is drawn.
#[test]
fn few_items_are_drawn_if_they_can_reach_the_list() {
    let right = BetaPosteriors::new((0..10).map(|item| (3_000.0 - 250.0 * f64::from(item), 7_000.0)));
    let posteriors = Wrong { right, accepts_all: false, bound: 1.0, n_drawn: Cell::default() };
    let mut thinning = Thinning::new(&posteriors, 5, Pace::Rare);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
    let mut top = TopL::new(5);
    while thinning.counts_as_full() {}
    for _ in 0..1_000 {
        thinning.select(&posteriors, &mut top, &mut rng);
    }
    let n_drawn = posteriors.n_drawn.get();
    assert!((5_000..6_200).contains(&n_drawn), "{n_drawn} draws in 1,000 rounds");
}

/// Few items after 3,000 rounds of play, and after their counts changed at once: which items are
/// drawn in full, and the threshold, come from what was before.
#[test]
fn thinned_rounds_of_few_items_have_the_law_of_plain_ones() {
    let chances = [0.5, 0.45, 0.4, 0.36, 0.3, 0.2, 0.15, 0.1, 0.1, 0.05];
    // Item, successes and failures: nothing; a thinned item ahead; items drawn in full far behind;
    // one of each.
    let changes: [&[(usize, f64, f64)]; 4] = [
        &[],
        &[(8, 150.0, 100.0)],
        &[(0, 0.0, 3_000.0), (1, 0.0, 3_000.0)],
        &[(7, 60.0, 30.0), (2, 0.0, 900.0)],
    ];
    let mut posteriors = BetaPosteriors::new(chances.iter().map(|_| (0.0, 0.0)));
    let mut counts = [(0.0, 0.0); 10];
    let mut thinning = Thinning::new(&posteriors, 4, Pace::Rare);
    let mut top = TopL::new(4);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    for _ in 0..3_000 {
        if thinning.counts_as_full() {
            top.clear();
            for item in 0..10_u32 {
                top.offer(item, posteriors.draw(item as usize, Sampler::new(), &mut rng), Ties::of(0));
            }
        } else {
            thinning.select(&posteriors, &mut top, &mut rng);
        }
        for &(_, item) in &top.best {
            let (item, seen) = (item as usize, &mut counts[item as usize]);
            *(if rng.random::<f64>() < chances[item] { &mut seen.0 } else { &mut seen.1 }) += 1.0;
            posteriors.set(item, *seen);
            thinning.update(&posteriors, item);
        }
    }
    assert!(!thinning.buckets.all_in_full());
    for change in changes {
        let (mut posteriors, mut thinning) = (posteriors.clone(), thinning.clone());
        for &(item, successes, failures) in change {
            posteriors.set(item, (counts[item].0 + successes, counts[item].1 + failures));
            thinning.update(&posteriors, item);
        }
        let [expected] = every_item(&posteriors, [4]);
        let seen = Seen::of(10, 4, |top| thinning.clone().select(&posteriors, top, &mut rng));
        let p = expected.compare(&seen);
        println!("{change:?}: p {p:e}");
        assert!(p > 1e-6, "{change:?}: {p:e}");
    }
    // Rates that are not those of the counts.
    let mut ahead = posteriors.clone();
    ahead.set(8, (counts[8].0 + 150.0, counts[8].1 + 100.0));
    let [expected] = every_item(&ahead, [4]);
    let stale = Seen::of(10, 4, |top| thinning.clone().select(&posteriors, top, &mut rng));
    assert!(expected.compare(&stale) < 1e-6);
}

/// With counts that change: every rate, bucket and sum is that of a thinning that was just
/// restored, and so is the next round.
#[test]
fn a_restored_thinning_goes_on_as_the_saved_one() {
    for (pace, n_items, n_positions) in [(Pace::Eager, 400, 4), (Pace::Rare, 12, 5)] {
        let mut posteriors = BetaPosteriors::new((0..n_items).map(|_| (0.0, 0.0)));
        let mut counts = vec![(0.0, 0.0); n_items];
        let mut thinning = Thinning::new(&posteriors, n_positions, pace);
        let mut top = TopL::new(n_positions);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut n_thinned = 0;
        for round in 0..20_000 {
            if round % 500 == 0 {
                let saved = serde_json::to_string(&thinning.to_save()).expect("saved");
                let saved = serde_json::from_str(&saved).expect("read");
                let mut restored =
                    Thinning::restore(&saved, &posteriors, n_positions, pace).expect("restored");
                assert_eq!(restored.buckets, thinning.buckets);
                let cells: f64 = thinning
                    .buckets
                    .with_rate()
                    .map(|(exponent, items)| items.len() as f64 / power_of_two(exponent))
                    .sum();
                let most = thinning.buckets.most_cells();
                assert!(cells <= most && most < 3.0 * cells + 0.02, "{cells} in cells, at most {most}");
                n_thinned += thinning.buckets.order().len() - thinning.buckets.in_full().len();
                thinning.clone().select(&posteriors, &mut top, &mut rng.clone());
                let mut again = TopL::new(n_positions);
                restored.select(&posteriors, &mut again, &mut rng.clone());
                assert_eq!(again.best, top.best);
            }
            thinning.select(&posteriors, &mut top, &mut rng);
            for &(_, item) in &top.best {
                let seen = &mut counts[item as usize];
                let chance = 0.3 * f64::from(item) / n_items as f64;
                *(if rng.random::<f64>() < chance { &mut seen.0 } else { &mut seen.1 }) += 1.0;
                posteriors.set(item as usize, *seen);
                thinning.update(&posteriors, item as usize);
            }
        }
        assert!(n_thinned > 40, "{n_items} items: {n_thinned} thinned in 40 snapshots");
    }
}
