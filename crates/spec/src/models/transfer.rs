//! The users of a log whose model may be wrong: how far differences between lists that a fit
//! predicts happen ("Transfer" in `docs/click-logs.md`). Every draw of users has a slope from the
//! posterior distribution; then all attractions are multiplied by the number with which today's
//! lists get the log's clicks, as far as the log tells them.

use crate::posterior::Transfer;
use click_models::ItemId;
use confidence::math::{ln, sqrt};
use libm::{cos, exp};
use policies::Logged;
use rand::RngExt as _;
use sim::SimRng;
use std::f64::consts::TAU;

/// Today's lists are represented by at most this number of them.
const LISTS: usize = 100;
/// Steps to the number of today's clicks, and the relative error at which they end.
const STEPS: usize = 8;
const NEAR: f64 = 1e-6;
/// The smallest attraction, and its distance from 1.
const EDGE: f64 = 1e-9;
/// Cells of slopes between 0 and 1.
const CELLS: usize = 200;
/// The limits of the ratio of attractions that two examinations explain.
const RATIO: [f64; 2] = [0.2, 5.0];

/// The expected clicks at each position of a list.
type Clicks = fn(&[Vec<f64>], &[usize], &mut Vec<f64>);

/// Today's lists of a query, with their clicks.
#[derive(Debug, Clone)]
pub(super) struct Today {
    /// Lists with their shares.
    lists: Vec<(Vec<usize>, f64)>,
    /// Clicks of all lists, and their number.
    clicks: f64,
    n_lists: f64,
}

impl Today {
    pub(super) fn new(logged: &Logged, clicks: u64) -> Self {
        let all: Vec<_> = logged.lists().collect();
        let n_lists = logged.count() as f64;
        let items = |place: usize| all[place].0.iter().map(ItemId::index).collect::<Vec<_>>();
        let lists = if all.len() <= LISTS {
            (0..all.len()).map(|place| (items(place), all[place].1 as f64 / n_lists)).collect()
        } else {
            // In the order of the file, every list has its share of equidistant places.
            let (mut place, mut end) = (0, all[0].1 as f64);
            let list = |number: usize| {
                let wanted = (number as f64 + 0.5) / LISTS as f64 * n_lists;
                while end < wanted && place + 1 < all.len() {
                    place += 1;
                    end += all[place].1 as f64;
                }
                (items(place), 1.0 / LISTS as f64)
            };
            (0..LISTS).map(list).collect()
        };
        Self { lists, clicks: clicks as f64, n_lists }
    }

    /// The expected clicks on a list of today.
    pub(super) fn value(&self, clicks: Clicks, parameters: &[Vec<f64>]) -> f64 {
        self.values(clicks, parameters).iter().zip(&self.lists).map(|(value, (_, share))| share * value).sum()
    }

    /// The expected clicks on a list of today, if its lists are a sample of those to come.
    pub(super) fn sampled(&self, clicks: Clicks, parameters: &[Vec<f64>], rng: &mut SimRng) -> f64 {
        let values = self.values(clicks, parameters);
        let mean = |of: &dyn Fn(f64) -> f64| -> f64 {
            values.iter().zip(&self.lists).map(|(value, (_, share))| share * of(*value)).sum()
        };
        let of_all = mean(&|value| value);
        let variance = mean(&|value| (value - of_all) * (value - of_all));
        of_all + sqrt(variance / self.n_lists) * normal(rng)
    }

    /// The expected clicks on each list.
    fn values(&self, clicks: Clicks, parameters: &[Vec<f64>]) -> Vec<f64> {
        let mut of_positions = Vec::new();
        let value = |(list, _): &(Vec<usize>, f64)| {
            clicks(parameters, list, &mut of_positions);
            of_positions.iter().sum()
        };
        self.lists.iter().map(value).collect()
    }

    /// The expected clicks on each item.
    fn by_item(&self, clicks: Clicks, parameters: &[Vec<f64>]) -> Vec<f64> {
        let (mut of_items, mut of_positions) = (vec![0.0; parameters[0].len()], Vec::new());
        for (list, share) in &self.lists {
            clicks(parameters, list, &mut of_positions);
            for (item, clicks) in list.iter().zip(&of_positions) {
                of_items[*item] += share * clicks;
            }
        }
        of_items
    }

    /// The clicks on each item with some parameters, divided by those with others; for an item that
    /// is not shown those of all items.
    pub(super) fn ratios(&self, clicks: Clicks, some: &[Vec<f64>], others: &[Vec<f64>]) -> Vec<f64> {
        let [some, others] = [some, others].map(|parameters| self.by_item(clicks, parameters));
        let ratio = |some: f64, others: f64| {
            let ratio = if others > 0.0 { some / others } else { 1.0 };
            ratio.clamp(RATIO[0], RATIO[1])
        };
        let of_all = ratio(some.iter().sum(), others.iter().sum());
        let both = some.iter().zip(&others);
        both.map(|(&some, &others)| if others > 0.0 { ratio(some, others) } else { of_all }).collect()
    }

    /// The parameters with differences between lists that are `slope` times as large, and as many
    /// clicks on today's lists as a draw of the log's.
    pub(super) fn pulled(
        &self,
        clicks: Clicks,
        parameters: Vec<Vec<f64>>,
        of_items: usize,
        slope: f64,
        rng: &mut SimRng,
    ) -> Vec<Vec<f64>> {
        let observed = self.clicks / self.n_lists * (1.0 + normal(rng) / sqrt(self.clicks.max(1.0)));
        if self.clicks <= 0.0 {
            return parameters;
        }
        let by_item = self.by_item(clicks, &parameters);
        let means: Vec<f64> =
            parameters[..of_items].iter().map(|list| examined_mean(&by_item, &parameters[0], list)).collect();
        let with = |pull: f64| self.levelled(clicks, &parameters, &means, pull, observed.max(NEAR));
        let unpulled = with(1.0);
        if slope >= 1.0 {
            return unpulled;
        }
        let before = self.values(clicks, &unpulled);
        let found = with(slope);
        // The difference between lists need not be linear in those between items.
        let part = self.slope(&before, &self.values(clicks, &found));
        if slope <= 0.0 || part.is_nan() || part <= 0.0 || (part / slope - 1.0).abs() < 0.01 {
            return found;
        }
        with((slope * slope / part).min(1.0))
    }

    fn slope(&self, some: &[f64], others: &[f64]) -> f64 {
        let mean =
            |values: &[f64]| values.iter().zip(&self.lists).map(|(value, list)| list.1 * value).sum::<f64>();
        let [mean_of_some, mean_of_others] = [mean(some), mean(others)];
        let (mut square, mut product) = (0.0, 0.0);
        for ((x, y), (_, share)) in some.iter().zip(others).zip(&self.lists) {
            square += share * (x - mean_of_some) * (x - mean_of_some);
            product += share * (x - mean_of_some) * (y - mean_of_others);
        }
        product / square
    }

    /// The parameters pulled to the means, with attraction multiplied by the number with which
    /// today's lists get these clicks.
    fn levelled(
        &self,
        clicks: Clicks,
        parameters: &[Vec<f64>],
        means: &[f64],
        pull: f64,
        observed: f64,
    ) -> Vec<Vec<f64>> {
        let mut pulled = parameters.to_vec();
        for (list, mean) in pulled.iter_mut().zip(means) {
            for value in list {
                *value = mean + pull * (*value - mean);
            }
        }
        let attraction = pulled[0].clone();
        let (mut factor, mut before): (f64, Option<(f64, f64)>) = (1.0, None);
        for _ in 0..STEPS {
            for (value, own) in pulled[0].iter_mut().zip(&attraction) {
                *value = (own * factor).clamp(EDGE, 1.0 - EDGE);
            }
            let value = self.value(clicks, &pulled);
            let missing = ln(observed / value.max(EDGE));
            if missing.abs() < NEAR {
                break;
            }
            // Clicks increase with attraction, at most in proportion.
            let elasticity = match before {
                Some((then, at)) if ln(factor / at).abs() > NEAR => {
                    (ln(value / then) / ln(factor / at)).clamp(0.05, 1.0)
                }
                _ => 1.0,
            };
            before = Some((value, factor));
            factor *= exp((missing / elasticity).clamp(-1.0, 1.0));
        }
        pulled
    }
}

/// The mean of a parameter of items over examined impressions: clicks are attraction times these.
fn examined_mean(clicks: &[f64], attraction: &[f64], list: &[f64]) -> f64 {
    let (mut sum, mut examined) = (0.0, 0.0);
    for ((clicks, attraction), value) in clicks.iter().zip(attraction).zip(list) {
        let own = if *attraction > 0.0 { clicks / attraction } else { 0.0 };
        sum += own * value;
        examined += own;
    }
    if examined > 0.0 { sum / examined } else { list.iter().sum::<f64>() / list.len().max(1) as f64 }
}

/// Today's lists of a query, and how far differences between lists happen.
#[derive(Debug, Clone)]
pub(super) struct TransferData {
    pub(super) today: Today,
    estimate: Option<[f64; 2]>,
    /// Mean and standard deviation of the query's deviation from the log's slope.
    deviation: [f64; 2],
}

impl TransferData {
    pub(super) fn new(transfer: &Transfer, query: usize, today: Today) -> Self {
        let deviation = transfer.deviations.get(query).copied().unwrap_or([0.0; 2]);
        Self { today, estimate: transfer.estimate, deviation }
    }

    /// Draws the slope of the query: that of the log, which all queries share, and its deviation.
    pub(super) fn slope(&self, shared: &mut SimRng, own: &mut SimRng) -> f64 {
        let slope = slope(self.estimate, shared.random());
        (slope + self.deviation[0] + self.deviation[1] * normal(own)).clamp(0.0, 1.0)
    }
}

/// The slope at a quantile of its posterior distribution, given an estimate with its standard
/// error.
fn slope(estimate: Option<[f64; 2]>, quantile: f64) -> f64 {
    let chi_square = |slope: f64| {
        let standardised =
            estimate.map_or(0.0, |[mean, error]| (slope - mean) / error.max(1.0 / CELLS as f64));
        standardised * standardised
    };
    // Relative to the largest density, since estimates may lie far outside.
    let least = chi_square(estimate.map_or(0.0, |[mean, _]| mean.clamp(0.0, 1.0)));
    let likelihood = |slope: f64| exp((least - chi_square(slope)) / 2.0);
    let [zero, one] = [0.25 * likelihood(0.0), 0.5 * likelihood(1.0)];
    let middle = |cell: usize| (cell as f64 + 0.5) / CELLS as f64;
    let between: Vec<f64> = (0..CELLS).map(|cell| 0.25 / CELLS as f64 * likelihood(middle(cell))).collect();
    let mut place = quantile * (zero + between.iter().sum::<f64>() + one);
    if place < zero {
        return 0.0;
    }
    place -= zero;
    for (cell, weight) in between.iter().enumerate() {
        if place < *weight {
            return (cell as f64 + place / weight) / CELLS as f64;
        }
        place -= weight;
    }
    1.0
}

/// Draws from the normal distribution with mean 0 and variance 1 (Box, Muller 1958).
pub(super) fn normal(rng: &mut SimRng) -> f64 {
    let [u, v]: [f64; 2] = [rng.random(), rng.random()];
    sqrt(-2.0 * ln(1.0 - u)) * cos(TAU * v)
}

#[cfg(test)]
mod tests;
