//! The prior of items: the mean attraction of a query, and the strength of the prior.
//!
//! The attraction of an item has the prior Beta(`strength mean`, `strength (1 - mean)`). `mean` is
//! the mean of its query times the item's lift ([`super::credibility`]). The mean of a query is
//! shrunk to the site's by a pseudo-sample of `weight` impressions. With a fixed strength the mean
//! is that of all impressions, and the weight is 10. Otherwise an item with exposure `x` has the
//! weight `x strength / (strength + x)` in the mean, so that one item with a million impressions
//! does not dominate, and strength and weight maximise the probability of the log: clicks of an
//! item are beta-binomial, with a mean from the other items of its query. Their own priors are
//! log-normal around 5 and 10; a few dozen items overrule them.
//!
//! A skip is evidence on attraction only if the item was examined. So an item with `c` clicks has a
//! beta-binomial number of clicks in `c + e` trials, where the number `e` of examined skips is
//! Poisson-binomial with the examination probabilities. Two values with its mean, variance and
//! skewness represent it (Gauss quadrature); for a single impression this is exact.
//!
//! Reference: ours; empirical Bayes with one item left out, so that no item contributes to its own
//! prior. Deviations: none.
//!
//! | here | meaning |
//! |---|---|
//! | `exposure` | impressions of an item, each weighted by examination |
//! | `lift` | ratio of the mean attraction of items shown at the item's positions to the query's mean |
//! | `share` | weight of an impression of an item in the mean |
//!
//! Numerics: beta-binomial probabilities of real numbers, by log-gammas, and of a few whole ones by
//! products. Complexity: linear in the items. Strength and weight are chosen on at most [`SAMPLE`]
//! items, of whole queries, by moving from value to neighbouring value.

pub(super) use confidence::beta_binomial::STRENGTH;

use confidence::beta_binomial::{ln_density, ln_rising};
use confidence::math::{ln, sqrt};
use libm::{exp, lgamma};
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;
use std::ops::Range;

/// Default weight of the site's mean in the mean of a query, in examined impressions.
const WEIGHT: f64 = 10.0;
/// The candidates for strength and weight.
const STRENGTHS: [f64; 13] =
    [0.5, 1.0, 2.0, 3.0, STRENGTH, 8.0, 12.0, 20.0, 35.0, 60.0, 120.0, 300.0, 1000.0];
const WEIGHTS: [f64; 9] = [0.5, 1.0, 2.0, 5.0, WEIGHT, 20.0, 50.0, 200.0, 10_000.0];
/// This number of items is enough to choose.
pub(super) const SAMPLE: usize = 20_000;
/// Smallest mean, and its distance from 1.
const EDGE: f64 = 1e-6;
const LARGEST_MEAN: f64 = 0.99;

/// Clicks, exposure and lift of an item.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item {
    pub(super) clicks: f64,
    pub(super) exposure: f64,
    pub(super) lift: f64,
}

/// The number of examined skips: two possible numbers, and the probability of the first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trials {
    pub(super) numbers: [f64; 2],
    pub(super) first: f64,
}

impl Trials {
    /// From skips and the examination of each.
    pub(super) fn new(skips: impl Iterator<Item = (f64, f64)>) -> Self {
        let (mut mean, mut variance, mut third) = (0.0, 0.0, 0.0);
        for (skips, examination) in skips {
            let g = examination.min(1.0);
            mean += skips * g;
            variance += skips * g * (1.0 - g);
            third += skips * g * (1.0 - g) * (1.0 - 2.0 * g);
        }
        if variance < 1e-9 {
            return Self { numbers: [mean; 2], first: 1.0 };
        }
        let half_skewness = 0.5 * third / (variance * sqrt(variance));
        let root = sqrt(1.0 + half_skewness * half_skewness);
        let number = |z: f64| (mean + sqrt(variance) * z).max(0.0);
        Self {
            numbers: [number(half_skewness - root), number(half_skewness + root)],
            first: 0.5 * (1.0 + half_skewness / root),
        }
    }
}

/// Clicks and exposure of items, grouped by query.
#[derive(Debug)]
pub(super) struct ObservedItems {
    items: Vec<Item>,
    queries: Vec<Range<usize>>,
    /// One query in `stride` is used to choose the strength.
    stride: usize,
    /// Trials of the items of these queries.
    trials: Vec<Trials>,
    /// Terms of the evidence for each strength that depend on no mean.
    of_trials: [OnceCell<f64>; STRENGTHS.len()],
}

impl ObservedItems {
    /// Uses one query in `stride` to choose the strength.
    pub(super) fn new(stride: usize) -> Self {
        Self {
            items: Vec::new(),
            queries: Vec::new(),
            stride,
            trials: Vec::new(),
            of_trials: Default::default(),
        }
    }

    /// Adds a query. `trials` is consumed only if the query is used to choose the strength.
    pub(super) fn push_query(
        &mut self,
        items: impl Iterator<Item = Item>,
        trials: impl Iterator<Item = Trials>,
    ) {
        let start = self.items.len();
        self.items.extend(items);
        if self.queries.len().is_multiple_of(self.stride) {
            self.trials.extend(trials);
        }
        self.queries.push(start..self.items.len());
    }

    fn items(&self, query: &Range<usize>) -> &[Item] {
        &self.items[query.clone()]
    }

    /// The items of the queries by which the strength is chosen, with their trials.
    fn chosen(&self) -> impl Iterator<Item = (&Item, &Trials)> {
        let items = self.queries.iter().step_by(self.stride).flat_map(|query| self.items(query));
        items.zip(&self.trials).filter(|(item, _)| item.exposure > 0.0)
    }

    /// Terms of the evidence that depend on the strength, and on no mean.
    fn of_trials(&self, place: GridPlace) -> f64 {
        let strength = place.strength();
        *self.of_trials[place.strength].get_or_init(|| {
            let of_nothing = lgamma(strength);
            let of_item = |(item, trials): (&Item, &Trials)| {
                of_nothing - lgamma(item.clicks + trials.numbers[0] + strength)
            };
            self.chosen().map(of_item).sum()
        })
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ItemPrior {
    pub(super) strength: f64,
    pub(super) weight: f64,
    /// Means of queries, for an item with a lift of 1. Those of items have a lift, so these may
    /// exceed 1.
    pub(super) means: Vec<f64>,
    /// Mean of the site.
    pub(super) mean: f64,
    /// Mean attraction of the items at each position, divided by that of the site.
    by_position: Vec<f64>,
    place: GridPlace,
}

impl ItemPrior {
    /// With this strength; `None`: estimated, starting from an earlier prior.
    pub(super) fn new(seen: &ObservedItems, strength: Option<f64>, before: Option<&Self>) -> Self {
        let place = match strength {
            Some(_) => GridPlace::default(),
            None => before.map_or(GridPlace::default(), |before| before.place).climb(seen),
        };
        Self::with(seen, strength, place)
    }

    /// With the strength and weight of this prior.
    pub(super) fn updated(&self, seen: &ObservedItems, strength: Option<f64>) -> Self {
        Self::with(seen, strength, self.place)
    }

    /// Whether no neighbouring strength or weight is more probable.
    pub(super) fn is_most_probable(&self, seen: &ObservedItems, strength: Option<f64>) -> bool {
        strength.is_some() || self.place.climb(seen) == self.place
    }

    fn with(seen: &ObservedItems, strength: Option<f64>, place: GridPlace) -> Self {
        let sums =
            Sums::new(seen, 1, strength.unwrap_or(place.strength()), place.weight(), strength.is_none());
        let means = sums.queries.iter().map(|&of_query| sums.mean(of_query).max(EDGE)).collect();
        Self {
            strength: sums.strength,
            weight: sums.weight,
            means,
            mean: sums.site,
            by_position: Vec::new(),
            place,
        }
    }

    /// With the mean attraction of the items at each position.
    pub(super) fn with_positions(mut self, attractions: Vec<f64>) -> Self {
        self.by_position = attractions.into_iter().map(|attraction| attraction / self.mean).collect();
        self
    }

    /// The attraction of an unseen item of a query at the first position.
    pub(super) fn typical(&self, query: usize) -> f64 {
        self.of_item(query, self.at_first())
    }

    /// The attraction of an unseen item of an unseen query at the first position.
    pub(super) fn typical_of_site(&self) -> f64 {
        bounded(self.mean * self.at_first())
    }

    /// Ratio of the typical attraction at each position to that at the first.
    pub(super) fn lift(&self) -> Vec<f64> {
        self.by_position.iter().map(|lift| lift / self.at_first()).collect()
    }

    fn at_first(&self) -> f64 {
        self.by_position.first().copied().unwrap_or(1.0)
    }

    /// The prior mean of an item of a query.
    pub(super) fn of_item(&self, query: usize, lift: f64) -> f64 {
        bounded(self.means[query] * lift)
    }
}

/// A strength and a weight, as indices into the candidates.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct GridPlace {
    strength: usize,
    weight: usize,
}

impl Default for GridPlace {
    fn default() -> Self {
        let place =
            |values: &[f64], value| values.iter().position(|candidate| *candidate == value).unwrap_or(0);
        Self { strength: place(&STRENGTHS, STRENGTH), weight: place(&WEIGHTS, WEIGHT) }
    }
}

impl GridPlace {
    fn strength(self) -> f64 {
        STRENGTHS[self.strength]
    }

    fn weight(self) -> f64 {
        WEIGHTS[self.weight]
    }

    /// Moves to the most probable neighbour, until no neighbour is more probable.
    fn climb(self, seen: &ObservedItems) -> Self {
        // Neighbours of neighbours meet again.
        let mut known: Vec<(Self, f64)> = Vec::new();
        let mut evidence = |place: Self| {
            if let Some(known) = known.iter().find(|known| known.0 == place) {
                return known.1;
            }
            let sums = Sums::new(seen, seen.stride, place.strength(), place.weight(), true);
            let before = ln_density(place.strength(), STRENGTH) + ln_density(place.weight(), WEIGHT);
            let evidence = sums.evidence(seen) + seen.of_trials(place) + before;
            known.push((place, evidence));
            evidence
        };
        let mut best = (self, evidence(self));
        loop {
            let center = best.0;
            for (strength, weight) in [(1, 0), (-1, 0), (0, 1), (0, -1)] {
                let strength =
                    center.strength.checked_add_signed(strength).filter(|&place| place < STRENGTHS.len());
                let weight = center.weight.checked_add_signed(weight).filter(|&place| place < WEIGHTS.len());
                let Some((strength, weight)) = strength.zip(weight) else { continue };
                let next = Self { strength, weight };
                let of_next = evidence(next);
                if of_next > best.1 {
                    best = (next, of_next);
                }
            }
            if best.0 == center {
                return center;
            }
        }
    }
}

/// The first candidate with the largest evidence.
pub(super) fn most_probable(candidates: impl Iterator<Item = (f64, f64)>) -> f64 {
    let larger = |best: (f64, f64), next: (f64, f64)| if next.1 > best.1 { next } else { best };
    candidates.reduce(larger).map_or(STRENGTH, |best| best.0)
}

/// Clicks and exposure of queries, with items weighted by their shares.
struct Sums {
    strength: f64,
    weight: f64,
    /// Whether an item's weight per impression falls with its exposure.
    of_items: bool,
    site: f64,
    queries: Vec<(f64, f64)>,
}

impl Sums {
    /// Uses one query in `stride`.
    fn new(seen: &ObservedItems, stride: usize, strength: f64, weight: f64, of_items: bool) -> Self {
        let mut sums = Self { strength, weight, of_items, site: 0.0, queries: Vec::new() };
        let of_query = |query: &Range<usize>| {
            seen.items(query).iter().fold((0.0, 0.0), |sum, item| {
                let (clicks, exposure) = sums.contribution(item);
                (sum.0 + clicks, sum.1 + exposure)
            })
        };
        let queries: Vec<(f64, f64)> = seen.queries.iter().step_by(stride).map(of_query).collect();
        let all = queries.iter().fold((0.0, 0.0), |all, query| (all.0 + query.0, all.1 + query.1));
        sums.site = ((all.0 + 0.5) / (all.1 + 1.0)).max(EDGE);
        sums.queries = queries;
        sums
    }

    /// Contribution of an item to the clicks and exposure of its query.
    fn contribution(&self, item: &Item) -> (f64, f64) {
        let share = if self.of_items { self.strength / (self.strength + item.exposure) } else { 1.0 };
        (share * item.clicks, share * item.exposure * item.lift)
    }

    /// The mean, shrunk to the site's mean.
    fn mean(&self, (clicks, exposure): (f64, f64)) -> f64 {
        (clicks.max(0.0) + self.weight * self.site) / (exposure.max(0.0) + self.weight)
    }

    /// The log-probability of the clicks, where each item's mean comes from the other items of its
    /// query; without [`ObservedItems::of_trials`].
    fn evidence(&self, seen: &ObservedItems) -> f64 {
        let strength = self.strength;
        let mut trials = seen.trials.iter();
        let mut sum = 0.0;
        for (query, all) in seen.queries.iter().step_by(seen.stride).zip(&self.queries) {
            for (item, trials) in seen.items(query).iter().zip(trials.by_ref()) {
                if item.exposure <= 0.0 {
                    continue;
                }
                let own = self.contribution(item);
                let mean = bounded(self.mean((all.0 - own.0, all.1 - own.1)) * item.lift);
                let (a, b) = (strength * mean, strength * (1.0 - mean));
                sum += ln_rising(a, item.clicks);
                let [few, many] = trials.numbers;
                if trials.first < 1.0 {
                    let of_few = lgamma(few + b);
                    let in_all = |skips: f64| lgamma(item.clicks + skips + strength);
                    let ratio = exp(lgamma(many + b) - of_few - in_all(many) + in_all(few));
                    sum += of_few - lgamma(b) + ln(trials.first + (1.0 - trials.first) * ratio);
                } else {
                    sum += ln_rising(b, few);
                }
            }
        }
        sum
    }
}

fn bounded(mean: f64) -> f64 {
    mean.clamp(EDGE, LARGEST_MEAN)
}
