//! Thinned rounds and rounds that draw every item, at fixed counts, and the comparison of their
//! lists.
//!
//! Both ways play [`ROUNDS`] rounds. The test compares how often each item stands at each place,
//! how often the first three items are each of 61 groups of triples (chi-square tests of two
//! samples), and the values of the first and the last draw (Kolmogorov-Smirnov tests of two
//! samples). All together have a false-alarm probability of 1e-6.
//!
//! Power: with 5,000 rounds a distribution function of a value that is off by 0.082 anywhere is
//! noticed with a probability of .99, and so is an item that stands at a place with a probability
//! of 0.1, where twenty do, and is off by 0.07.

use super::super::*;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use statrs::distribution::{ChiSquared, ContinuousCDF};

const ROUNDS: usize = 5_000;
const GROUPS: usize = 61;

/// Observations of many rounds.
pub(crate) struct Seen {
    /// Place by place, every item.
    places: Vec<Vec<u64>>,
    triples: Vec<u64>,
    /// Sorted.
    first: Vec<f64>,
    last: Vec<f64>,
}

impl Seen {
    pub(super) fn of(n_items: usize, n_positions: usize, round: impl FnMut(&mut TopL)) -> Self {
        let [seen] = Self::of_each(n_items, [n_positions], round);
        seen
    }

    /// For lists of several lengths, the longest last: a shorter list is the start of a longer one.
    fn of_each<const N: usize>(
        n_items: usize,
        n_positions: [usize; N],
        mut round: impl FnMut(&mut TopL),
    ) -> [Self; N] {
        let mut each = n_positions.map(|n_positions| Self {
            places: vec![vec![0; n_items]; n_positions],
            triples: vec![0; GROUPS],
            first: vec![],
            last: vec![],
        });
        let mut top = TopL::new(n_positions[N - 1]);
        for _ in 0..ROUNDS {
            round(&mut top);
            assert_eq!(top.best.len(), n_positions[N - 1]);
            for (seen, n_positions) in each.iter_mut().zip(n_positions) {
                seen.add(&top.best[..n_positions]);
            }
        }
        for seen in &mut each {
            seen.first.sort_by(f64::total_cmp);
            seen.last.sort_by(f64::total_cmp);
        }
        each
    }

    fn add(&mut self, best: &[(f64, u32)]) {
        let mut triple = 0;
        for (place, &(_, item)) in best.iter().enumerate() {
            self.places[place][item as usize] += 1;
            if place < 3 {
                triple = 101 * triple + item as usize;
            }
        }
        self.triples[triple % GROUPS] += 1;
        self.first.push(best[0].0);
        self.last.push(best[best.len() - 1].0);
    }

    /// The smallest p-value of all comparisons, times their number.
    pub(crate) fn compare(&self, other: &Self) -> f64 {
        let mut values = vec![chi_square(&self.triples, &other.triples)];
        values.extend(self.places.iter().zip(&other.places).map(|(one, other)| chi_square(one, other)));
        values.push(smirnov(&self.first, &other.first));
        values.push(smirnov(&self.last, &other.last));
        values.len() as f64 * values.iter().copied().fold(1.0, f64::min)
    }
}

/// Cells with fewer than 20 counts of both samples together are one.
fn chi_square(one: &[u64], other: &[u64]) -> f64 {
    let (mut sum, mut cells, mut rare) = (0.0, 0, (0, 0));
    let mut add = |one: u64, other: u64| {
        let difference = one as f64 - other as f64;
        sum += difference * difference / (one + other) as f64;
        cells += 1;
    };
    for (&one, &other) in one.iter().zip(other) {
        if one + other >= 20 {
            add(one, other);
        } else {
            rare = (rare.0 + one, rare.1 + other);
        }
    }
    if rare.0 + rare.1 >= 20 {
        add(rare.0, rare.1);
    }
    if cells < 2 { 1.0 } else { ChiSquared::new(f64::from(cells - 1)).expect("valid").sf(sum) }
}

/// Bound of the p-value by the asymptotic distribution of the largest distance.
fn smirnov(one: &[f64], other: &[f64]) -> f64 {
    let (mut largest, n) = (0.0_f64, one.len() as f64);
    for &x in one {
        let rank = |sorted: &[f64]| sorted.partition_point(|&y| y <= x) as f64 / n;
        largest = largest.max((rank(one) - rank(other)).abs());
    }
    2.0 * libm::exp(-n * largest * largest)
}

/// For lists of several lengths, the longest last, from the same draws.
pub(crate) fn every_item<P: Posteriors, const N: usize>(
    posteriors: &P,
    n_positions: [usize; N],
) -> [Seen; N] {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    Seen::of_each(posteriors.n_items(), n_positions, |top| {
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

/// A thinning whose threshold stays where it is, this much in log-odds above the one that was
/// searched.
pub(super) struct Held {
    thinning: Thinning,
    rng: Xoshiro256PlusPlus,
}

impl Held {
    pub(super) fn new<P: Posteriors>(posteriors: &P, n_positions: usize, moved: f64) -> Self {
        let mut thinning = Thinning::new(posteriors, n_positions, Pace::Eager);
        let value = thinning.threshold.value;
        let threshold = Threshold::near(1.0 / (1.0 + (1.0 / value - 1.0) * libm::exp(-moved)));
        thinning.threshold = threshold;
        thinning.buckets.fill(|item| rate(posteriors.bound(item, &threshold)));
        (thinning.least, thinning.most) = (0, u64::MAX);
        Self { thinning, rng: Xoshiro256PlusPlus::seed_from_u64(2) }
    }

    /// One round. Whether it is short.
    pub(super) fn round<P: Posteriors>(&mut self, posteriors: &P, top: &mut TopL) -> bool {
        self.thinning.next_search = u64::MAX;
        self.thinning.select(posteriors, top, &mut self.rng);
        self.thinning.next_search < u64::MAX
    }
}

/// How far to move the threshold so that about half of the rounds are short.
pub(crate) fn half_short<P: Posteriors>(posteriors: &P, n_positions: usize) -> f64 {
    let (mut low, mut high) = (0.0, 3.0);
    let mut top = TopL::new(n_positions);
    for _ in 0..10 {
        let middle = 0.5 * (low + high);
        let mut held = Held::new(posteriors, n_positions, middle);
        let short = (0..200).filter(|_| held.round(posteriors, &mut top)).count();
        if short > 100 { high = middle } else { low = middle }
    }
    low
}

/// With the share of short rounds.
pub(crate) fn thinned<P: Posteriors>(posteriors: &P, n_positions: usize, moved: f64) -> (Seen, f64) {
    let mut held = Held::new(posteriors, n_positions, moved);
    let mut n_short = 0_u32;
    let seen = Seen::of(posteriors.n_items(), n_positions, |top| {
        n_short += u32::from(held.round(posteriors, top));
    });
    (seen, f64::from(n_short) / ROUNDS as f64)
}
