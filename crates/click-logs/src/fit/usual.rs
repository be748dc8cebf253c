//! What is usual in a query, and how much it counts for: the prior of items.
//!
//! The attraction of an item is Beta(`strength mean`, `strength (1 - mean)`), `mean` that of its query, drawn to the site's as if
//! the site had been seen `weight` times more. A fixed strength takes the mean of all impressions, and a weight of 10. From the log,
//! the mean is that of items: one that was seen `x` times counts for `x strength / (strength + x)`, so that one item with a million
//! impressions does not say what is usual. Rankers show better items where they are seen: the mean of an item is that of its query
//! times `exp(slope placement)`. Without it, items of which little is known would be drawn to a mean that is too high at the bottom and
//! too low at the top, and positions would be blamed for the difference. Strength, weight and slope are the most probable ones: clicks
//! of an item are beta-binomial, its mean comes from the others of its query; before that, the logarithms of strength and weight are
//! normal around those of 5 and 10, and the slope around 0, which a few dozen items overrule.
//!
//! Reference: ours; empirical Bayes, leaving one item out so that no item is its own prior. Deviations: none.
//!
//! | here | meaning |
//! |---|---|
//! | `clicks`, `impressions` | of an item; impressions are examined ones, each times examination |
//! | `placement` | how well an item is placed: the mean logarithm of examination over its impressions, less that of its query |
//! | `share` | what an impression of an item counts for in the mean |
//!
//! Numerics: a beta-binomial of numbers that need not be whole, by logarithms of the gamma function. Complexity: linear in the items;
//! what the log says is found from [`SAMPLE`] items at most, of whole queries.

use confidence::math::ln;
use libm::{exp, lgamma};
use std::ops::Range;

/// Pseudo-impressions where nothing says otherwise.
pub(super) const STRENGTH: f64 = 5.0;
/// Impressions, examined ones, that what is usual on the site counts for in what is usual in a query.
const WEIGHT: f64 = 10.0;
/// Standard deviation of the logarithm of either before the log has been seen, a factor of two: a handful of items does not say much.
const SPREAD: f64 = std::f64::consts::LN_2;
/// Among which the log chooses.
const STRENGTHS: [f64; 13] = [0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 35.0, 60.0, 120.0, 300.0, 1000.0];
const WEIGHTS: [f64; 9] = [0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 200.0, 10_000.0];
const SLOPES: [f64; 9] = [-0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0];
/// Standard deviation of the slope before the log has been seen.
const SPREAD_OF_SLOPE: f64 = 0.5;
/// So many times in turn at most.
const TURNS: usize = 5;
/// About so many items are enough to choose.
pub(super) const SAMPLE: usize = 20_000;
/// Means are so far from 0 and 1.
const EDGE: f64 = 1e-6;
const LARGEST_MEAN: f64 = 0.99;

/// What was seen of an item.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item {
    pub(super) clicks: f64,
    pub(super) impressions: f64,
    pub(super) placement: f64,
}

/// What was seen of items, query by query.
#[derive(Debug, Default)]
pub(super) struct Seen {
    items: Vec<Item>,
    queries: Vec<Range<usize>>,
    /// The mean logarithm of examination over the impressions of every query.
    placements: Vec<f64>,
}

impl Seen {
    pub(super) fn push_query(&mut self, placement: f64, items: impl Iterator<Item = Item>) {
        self.placements.push(placement);
        let start = self.items.len();
        // Examination of more than 1 or a rounding error: never fewer impressions than clicks.
        self.items.extend(items.map(|item| Item { impressions: item.impressions.max(item.clicks), ..item }));
        self.queries.push(start..self.items.len());
    }

    /// The examination of a query's impressions, their geometric mean.
    pub(super) fn examination(&self, query: usize) -> f64 {
        exp(self.placements[query])
    }

    /// The same of queries, each with the same weight.
    pub(super) fn examination_of_site(&self) -> f64 {
        exp(self.placements.iter().sum::<f64>() / self.placements.len().max(1) as f64)
    }

    /// The place of a query's items among all.
    pub(super) fn items_of(&self, query: usize) -> Range<usize> {
        self.queries[query].clone()
    }

    fn of(&self, query: &Range<usize>) -> &[Item] {
        &self.items[query.clone()]
    }
}

/// The prior of items.
#[derive(Debug, Clone, Default)]
pub(super) struct Usual {
    pub(super) strength: f64,
    /// One a query.
    pub(super) means: Vec<f64>,
    /// One an item.
    pub(super) items: Vec<f64>,
    /// Of the site.
    pub(super) mean: f64,
    pub(super) slope: f64,
}

impl Usual {
    /// Of this strength, or of what the log says.
    pub(super) fn new(seen: &Seen, strength: Option<f64>) -> Self {
        let chosen = match strength {
            Some(strength) => Chosen { strength, ..Chosen::default() },
            None => Chosen::of(seen),
        };
        let sums = Sums::new(seen, 1, chosen, strength.is_none());
        let means: Vec<f64> = sums.queries.iter().map(|&of_query| bounded(sums.mean(of_query))).collect();
        let of_query = |(query, mean): (&Range<usize>, &f64)| {
            let mean = *mean;
            seen.of(query).iter().map(move |item| bounded(mean * chosen.lift(item)))
        };
        let items = seen.queries.iter().zip(&means).flat_map(of_query).collect();
        Self { strength: chosen.strength, items, mean: sums.site, slope: chosen.slope, means }
    }
}

/// What the log says, or does not.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Chosen {
    strength: f64,
    weight: f64,
    slope: f64,
}

impl Default for Chosen {
    fn default() -> Self {
        Self { strength: STRENGTH, weight: WEIGHT, slope: 0.0 }
    }
}

impl Chosen {
    /// The most probable ones.
    fn of(seen: &Seen) -> Self {
        let stride = seen.items.len().div_ceil(SAMPLE).max(1);
        let evidence = |chosen: Self| {
            Sums::new(seen, stride, chosen, true).evidence(seen, stride) + chosen.before_any_log()
        };
        let mut chosen = Self::default();
        for _ in 0..TURNS {
            let before = chosen;
            let of = |strength: &f64| (*strength, evidence(Self { strength: *strength, ..before }));
            chosen.strength = most_probable(STRENGTHS.iter().map(of));
            let at = chosen;
            let of = |weight: &f64| (*weight, evidence(Self { weight: *weight, ..at }));
            chosen.weight = most_probable(WEIGHTS.iter().map(of));
            let at = chosen;
            let of = |slope: &f64| (*slope, evidence(Self { slope: *slope, ..at }));
            chosen.slope = most_probable(SLOPES.iter().map(of));
            if chosen == before {
                break;
            }
        }
        chosen
    }

    /// The logarithm of their density, up to a constant.
    fn before_any_log(self) -> f64 {
        let standardised = [
            ln(self.strength / STRENGTH) / SPREAD,
            ln(self.weight / WEIGHT) / SPREAD,
            self.slope / SPREAD_OF_SLOPE,
        ];
        standardised.iter().map(|z| z * z / -2.0).sum()
    }

    /// How much more attractive than usual an item is where it is placed.
    fn lift(self, item: &Item) -> f64 {
        if self.slope == 0.0 { 1.0 } else { exp(self.slope * item.placement) }
    }
}

/// The first of those with the largest evidence.
pub(super) fn most_probable(candidates: impl Iterator<Item = (f64, f64)>) -> f64 {
    let larger = |best: (f64, f64), next: (f64, f64)| if next.1 > best.1 { next } else { best };
    candidates.reduce(larger).map_or(STRENGTH, |best| best.0)
}

/// Clicks and examined impressions of queries, every item with its weight.
struct Sums {
    chosen: Chosen,
    /// Whether an item counts for less the more it was seen.
    of_items: bool,
    site: f64,
    queries: Vec<(f64, f64)>,
}

impl Sums {
    /// Of one query in so many.
    fn new(seen: &Seen, stride: usize, chosen: Chosen, of_items: bool) -> Self {
        let mut sums = Self { chosen, of_items, site: 0.0, queries: Vec::new() };
        let of_query = |query: &Range<usize>| {
            seen.of(query).iter().fold((0.0, 0.0), |sum, item| {
                let (clicks, impressions) = sums.of(item);
                (sum.0 + clicks, sum.1 + impressions)
            })
        };
        let queries: Vec<(f64, f64)> = seen.queries.iter().step_by(stride).map(of_query).collect();
        let all = queries.iter().fold((0.0, 0.0), |all, of| (all.0 + of.0, all.1 + of.1));
        sums.site = bounded((all.0 + 0.5) / (all.1 + 1.0));
        sums.queries = queries;
        sums
    }

    /// What an item brings to the clicks and impressions of its query.
    fn of(&self, item: &Item) -> (f64, f64) {
        let strength = self.chosen.strength;
        let share = if self.of_items { strength / (strength + item.impressions) } else { 1.0 };
        (share * item.clicks, share * item.impressions * self.chosen.lift(item))
    }

    /// Drawn to the site's.
    fn mean(&self, (clicks, impressions): (f64, f64)) -> f64 {
        let weight = self.chosen.weight;
        (clicks.max(0.0) + weight * self.site) / (impressions.max(0.0) + weight)
    }

    /// The logarithm of the probability of the clicks, each item's mean from the others of its query.
    fn evidence(&self, seen: &Seen, stride: usize) -> f64 {
        let strength = self.chosen.strength;
        let of_nothing = lgamma(strength);
        let mut sum = 0.0;
        for (query, all) in seen.queries.iter().step_by(stride).zip(&self.queries) {
            for item in seen.of(query).iter().filter(|item| item.impressions > 0.0) {
                let own = self.of(item);
                let mean = bounded(self.mean((all.0 - own.0, all.1 - own.1)) * self.chosen.lift(item));
                let (a, b) = (strength * mean, strength * (1.0 - mean));
                if item.clicks > 0.0 {
                    sum += lgamma(item.clicks + a) - lgamma(a);
                }
                sum += lgamma(item.impressions - item.clicks + b) - lgamma(b) + of_nothing;
                sum -= lgamma(item.impressions + strength);
            }
        }
        sum
    }
}

fn bounded(mean: f64) -> f64 {
    mean.clamp(EDGE, LARGEST_MEAN)
}
