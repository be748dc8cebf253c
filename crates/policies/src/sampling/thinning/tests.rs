//! The law of the lists: thinned rounds against rounds that draw every item.
//!
//! Counts are fixed, and both ways play [`ROUNDS`] rounds. What is compared: how often each item stands at each place, how often the first three items
//! are each of 61 groups of triples (chi-square tests of two samples), and the values of the first and the last draw (Kolmogorov-Smirnov tests
//! of two samples). Each has a false-alarm probability of 1e-6.
//!
//! Power: with 60,000 rounds a distribution function of a value that is off by 0.031 anywhere passes with a probability of at most 1e-6, and
//! so does an item at a place with a probability of 0.1 that is off by 0.014. The wrong versions below are rejected.

use super::*;
use crate::sampling::beta_posteriors::BetaPosteriors;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use statrs::distribution::{ChiSquared, ContinuousCDF};

const ROUNDS: usize = 60_000;
const GROUPS: usize = 61;

/// What many rounds showed.
struct Seen {
    /// Place by place, every item.
    places: Vec<Vec<u64>>,
    triples: Vec<u64>,
    /// Sorted.
    first: Vec<f64>,
    last: Vec<f64>,
}

impl Seen {
    fn of(n_items: usize, n_positions: usize, mut round: impl FnMut(&mut TopL)) -> Self {
        let mut seen = Self {
            places: vec![vec![0; n_items]; n_positions],
            triples: vec![0; GROUPS],
            first: vec![],
            last: vec![],
        };
        let mut top = TopL::new(n_positions);
        for _ in 0..ROUNDS {
            round(&mut top);
            let best = top.best();
            assert_eq!(best.len(), n_positions);
            let mut triple = 0;
            for (place, &(_, item)) in best.iter().enumerate() {
                seen.places[place][item as usize] += 1;
                if place < 3 {
                    triple = 101 * triple + item as usize;
                }
            }
            seen.triples[triple % GROUPS] += 1;
            seen.first.push(best[0].0);
            seen.last.push(best[n_positions - 1].0);
        }
        seen.first.sort_by(f64::total_cmp);
        seen.last.sort_by(f64::total_cmp);
        seen
    }

    /// The smallest p-value of all comparisons, times their number.
    fn compare(&self, other: &Self) -> f64 {
        let mut values = vec![chi_square(&self.triples, &other.triples)];
        values.extend(self.places.iter().zip(&other.places).map(|(one, other)| chi_square(one, other)));
        values.push(smirnov(&self.first, &other.first));
        values.push(smirnov(&self.last, &other.last));
        values.len() as f64 * values.iter().copied().fold(1.0, f64::min)
    }
}

/// Cells with fewer than 40 counts of both samples together are one.
fn chi_square(one: &[u64], other: &[u64]) -> f64 {
    let (mut sum, mut cells, mut rare) = (0.0, 0, (0, 0));
    let mut add = |one: u64, other: u64| {
        let difference = one as f64 - other as f64;
        sum += difference * difference / (one + other) as f64;
        cells += 1;
    };
    for (&one, &other) in one.iter().zip(other) {
        if one + other >= 40 {
            add(one, other);
        } else {
            rare = (rare.0 + one, rare.1 + other);
        }
    }
    if rare.0 + rare.1 >= 40 {
        add(rare.0, rare.1);
    }
    if cells < 2 { 1.0 } else { ChiSquared::new(f64::from(cells - 1)).expect("valid").sf(sum) }
}

/// Bound of the p-value by the asymptotic law of the largest distance.
fn smirnov(one: &[f64], other: &[f64]) -> f64 {
    let (mut largest, n) = (0.0_f64, one.len() as f64);
    for &x in one {
        let rank = |sorted: &[f64]| sorted.partition_point(|&y| y <= x) as f64 / n;
        largest = largest.max((rank(one) - rank(other)).abs());
    }
    2.0 * libm::exp(-n * largest * largest)
}

fn every_item(posteriors: &BetaPosteriors, n_positions: usize) -> Seen {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    Seen::of(posteriors.n_items(), n_positions, |top| {
        let ties = Ties::draw(&mut rng);
        top.clear();
        for item in 0..posteriors.n_items() {
            top.offer(number(item), posteriors.draw(item, Sampler::new(), &mut rng), ties);
        }
    })
}

#[expect(clippy::cast_possible_truncation, reason = "a few hundred items")]
fn number(item: usize) -> u32 {
    item as u32
}

/// A thinning whose threshold stays where it is, this much in log-odds above the one that was searched.
struct Held {
    thinning: Thinning,
    rng: Xoshiro256PlusPlus,
}

impl Held {
    fn new<P: Posteriors>(posteriors: &P, n_positions: usize, moved: f64) -> Self {
        let mut thinning = Thinning::new(posteriors, n_positions);
        let value = thinning.threshold.value;
        let threshold = Threshold::near(1.0 / (1.0 + (1.0 / value - 1.0) * libm::exp(-moved)));
        thinning.threshold = threshold;
        thinning.buckets.fill(|item| rate(posteriors.bound(item, &threshold)));
        (thinning.least, thinning.most) = (0, u64::MAX);
        Self { thinning, rng: Xoshiro256PlusPlus::seed_from_u64(2) }
    }

    /// One round. Whether it is short.
    fn round<P: Posteriors>(&mut self, posteriors: &P, top: &mut TopL) -> bool {
        self.thinning.next_search = u64::MAX;
        self.thinning.select(posteriors, top, &mut self.rng);
        self.thinning.next_search < u64::MAX
    }
}

/// How far to move the threshold so that about half of the rounds are short.
fn half_short<P: Posteriors>(posteriors: &P, n_positions: usize) -> f64 {
    let (mut low, mut high) = (0.0, 3.0);
    let mut top = TopL::new(n_positions);
    for _ in 0..14 {
        let middle = 0.5 * (low + high);
        let mut held = Held::new(posteriors, n_positions, middle);
        let short = (0..300).filter(|_| held.round(posteriors, &mut top)).count();
        if short > 150 { high = middle } else { low = middle }
    }
    low
}

/// With the share of short rounds.
fn thinned<P: Posteriors>(posteriors: &P, n_positions: usize, moved: f64) -> (Seen, f64) {
    let mut held = Held::new(posteriors, n_positions, moved);
    let mut n_short = 0_u32;
    let seen = Seen::of(posteriors.n_items(), n_positions, |top| {
        n_short += u32::from(held.round(posteriors, top));
    });
    (seen, f64::from(n_short) / ROUNDS as f64)
}

type Counts = Vec<(f64, f64)>;

/// Posteriors of 300 items.
fn catalogues() -> [(&'static str, Counts); 8] {
    let of = |counts: fn(u32) -> (u32, u32)| -> Counts {
        let counts = (0..300).map(counts);
        counts.map(|(successes, failures)| (f64::from(successes), f64::from(failures))).collect()
    };
    [
        ("no rounds", of(|_| (0, 0))),
        ("no successes", of(|item| (0, item % 7))),
        ("successes only", of(|item| (item % 5, 0))),
        ("few rounds", of(|item| (u32::from(item % 4 == 0) + item % 3 / 2, item % 11))),
        ("two classes", of(|item| if item % 2 == 0 { (20, 40) } else { (2, 7) })),
        ("leaders", of(|item| if item % 60 == 0 { (9_000 + item, 21_000) } else { (item % 2, 25 + item % 9) })),
        ("tens of thousands of rounds", of(|item| (3_000 + 7 * item, 30_000 + item % 3))),
        (
            "fractions",
            (0..300_u32).map(|item| (f64::from(item % 6), 0.37 * f64::from(item % 31))).collect(),
        ),
    ]
}

#[test]
fn thinned_rounds_have_the_law_of_plain_ones() {
    let (mut rare, mut common) = (0, 0);
    for (name, counts) in catalogues() {
        let posteriors = BetaPosteriors::new(counts.into_iter());
        for n_positions in [1, 5] {
            let expected = every_item(&posteriors, n_positions);
            for moved in [-1.0, 0.0, half_short(&posteriors, n_positions), 30.0] {
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
    assert!(rare >= 32 && common >= 16, "{rare}, {common}");
}

/// Posteriors that accept every candidate, or have a bound that is too small.
struct Wrong {
    right: BetaPosteriors,
    accepts_all: bool,
    bound: f64,
}

impl Posteriors for Wrong {
    fn n_items(&self) -> usize {
        self.right.n_items()
    }

    fn draw<R: Rng + ?Sized>(&self, item: usize, sampler: Sampler, rng: &mut R) -> f64 {
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
        Wrong { right, accepts_all, bound }
    };
    let right = wrong(false, 1.0);
    let expected = every_item(&right.right, 5);
    let p = |wrong: &Wrong| expected.compare(&thinned(wrong, 5, 0.0).0);
    assert!(p(&right) > 1e-6);
    let found = p(&wrong(true, 1.0));
    assert!(found < 1e-6, "every candidate accepted: {found:e}");
    let found = p(&wrong(false, 0.8));
    assert!(found < 1e-6, "a bound below the probability: {found:e}");
    // A round that is played again when it is short has a threshold that depends on its draws.
    let mut held = Held::new(&right, 5, half_short(&right, 5));
    let again = Seen::of(300, 5, |top| while held.round(&right, top) {});
    let found = expected.compare(&again);
    assert!(found < 1e-6, "short rounds played again: {found:e}");
}

/// With counts that change: every rate, bucket and sum is that of a thinning that was just restored.
#[test]
fn rates_stay_those_of_the_counts() {
    let mut posteriors = BetaPosteriors::new((0..400).map(|_| (0.0, 0.0)));
    let mut counts = vec![(0.0, 0.0); 400];
    let mut thinning = Thinning::new(&posteriors, 4);
    let mut top = TopL::new(4);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    for round in 0..20_000 {
        thinning.select(&posteriors, &mut top, &mut rng);
        for &(_, item) in top.best() {
            let seen = &mut counts[item as usize];
            let chance = 0.3 * f64::from(item) / 400.0;
            *(if rng.random::<f64>() < chance { &mut seen.0 } else { &mut seen.1 }) += 1.0;
            posteriors.set(item as usize, *seen);
            thinning.update(&posteriors, item as usize);
        }
        if round % 500 == 0 {
            let saved = serde_json::to_string(&thinning.to_save()).expect("saved");
            let saved = serde_json::from_str(&saved).expect("read");
            let restored = Thinning::restore(&saved, &posteriors, 4).expect("restored");
            assert_eq!(restored.buckets, thinning.buckets);
        }
    }
}
