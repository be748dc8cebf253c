//! The prior of items that a log seldom shows: rankers show better items more often.
//!
//! The fit takes the attractions of a query's items to be alike before the log is read. But items
//! that are seldom shown are mostly worse than those that are often shown; otherwise the ranker
//! would have shown them. Taken for typical, the best of many unknown items would look better than
//! what is shown. So the prior mean of an item is the fit's times a power of how often it was
//! shown:
//!
//! ```text
//! m_i = t_i exp(alpha_q + beta ln(impressions_i / most impressions of the query))
//! ```
//!
//! with the fit's prior mean `t_i`, which depends on where the item was shown, a level `alpha_q`
//! for each query and one `beta >= 0` for all. They are estimated from the items' click-through
//! rates, which are reconstructed from the estimates of the fit: an estimate is
//! `(clicks + s t_i) / (n + s)`, with `n` examined impressions, and the prior's strength `s`. Rates
//! are weighted by the inverse of their variance, which is `m (1 - m) / n` and, between items,
//! `m^2 / s`. The estimates are then `(clicks + s m_i) / (n + s)`.

use super::Uncertain;
use confidence::math::ln;

/// Rounds of reweighting.
const ROUNDS: usize = 20;
/// The largest exponent: an item shown a tenth as often is a tenth as attractive.
const MOST: f64 = 1.0;
/// The smallest mean, and its distance from 1.
const SMALLEST: f64 = 1e-6;

/// An item: its estimate, and how often it was shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item {
    pub(super) estimate: Uncertain,
    /// The mean of the fit's prior.
    pub(super) prior: f64,
    pub(super) clicks: u64,
    pub(super) impressions: u64,
}

/// An item's own data.
#[derive(Debug, Clone, Copy)]
struct Own {
    clicks: f64,
    n: f64,
    /// The logarithm of the mean of the fit's prior.
    usual: f64,
    /// The logarithm of the share of the most impressions of the query.
    exposure: f64,
    /// How much larger the error of the estimate is than that of a share of its impressions.
    inflation: f64,
}

impl Own {
    fn of(item: Item, strength: f64, most: u64) -> Self {
        let Uncertain { mean, deviation } = item.estimate;
        let clicks = item.clicks as f64;
        let n = if mean > 0.0 {
            (clicks + strength * item.prior) / mean - strength
        } else {
            item.impressions as f64
        };
        let n = n.max(clicks);
        // An item that was never shown is like one that was shown half a time.
        let exposure = ln((item.impressions as f64).max(0.5) / (most as f64).max(0.5));
        // Errors of the other parameters make the estimate less certain than its own data do.
        let binomial = (mean * (1.0 - mean) / (n + strength + 1.0)).sqrt();
        let inflation = if binomial > 0.0 && deviation > binomial { deviation / binomial } else { 1.0 };
        Self { clicks, n, usual: ln(item.prior.max(SMALLEST)), exposure, inflation }
    }

    /// The logarithm of the prior mean.
    fn ln_mean(&self, level: f64, power: f64) -> f64 {
        self.usual + level + power * self.exposure
    }
}

/// The estimates of each query's items with the prior means of their exposure.
pub(super) fn with_exposure(queries: &[Vec<Item>], prior: f64) -> Vec<Vec<Uncertain>> {
    let own = |items: &Vec<Item>| -> Vec<Own> {
        let most = items.iter().map(|item| item.impressions).max().unwrap_or(0);
        items.iter().map(|&item| Own::of(item, prior, most)).collect()
    };
    let all: Vec<Vec<Own>> = queries.iter().map(own).collect();
    let (levels, power) = trend(&all, prior);
    let estimate = |own: &Own, level: f64| {
        let mean = libm::exp(own.ln_mean(level, power)).min(1.0);
        let size = own.n + prior;
        let mean = if size > 0.0 { (own.clicks + prior * mean) / size } else { mean };
        Uncertain { mean, deviation: own.inflation * (mean * (1.0 - mean) / (size + 1.0)).sqrt() }
    };
    let of_query =
        |(items, &level): (&Vec<Own>, &f64)| items.iter().map(|own| estimate(own, level)).collect();
    all.iter().zip(&levels).map(of_query).collect()
}

/// The level of each query, and the power of exposure, by weighted least squares on rates with an
/// exponential mean (Gauss and Newton).
fn trend(all: &[Vec<Own>], prior: f64) -> (Vec<f64>, f64) {
    let level = |items: &Vec<Own>| {
        let usual = |own: &Own| own.n * libm::exp(own.usual);
        let (clicks, n) =
            items.iter().fold((0.0, 0.0), |(clicks, n), own| (clicks + own.clicks, n + usual(own)));
        ln((clicks + 0.5) / (n + 0.5))
    };
    let mut levels: Vec<f64> = all.iter().map(level).collect();
    let mut power = 0.0_f64;
    for _ in 0..ROUNDS {
        // Normal equations in the logarithm of the mean; the level of each query is eliminated.
        let (mut cross, mut square) = (0.0, 0.0);
        let mut sums = Vec::with_capacity(all.len());
        for (items, level) in all.iter().zip(&levels) {
            let (mut weight, mut x, mut y, mut xx, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
            for own in items.iter().filter(|own| own.n > 0.0) {
                let mean = libm::exp(own.ln_mean(*level, power)).clamp(SMALLEST, 1.0 - SMALLEST);
                // The variance of the rate divided by the squared mean: that of its logarithm.
                let w = 1.0 / (1.0 / prior.max(1.0) + (1.0 - mean) / (mean * own.n));
                let residual = (own.clicks / own.n - mean) / mean + level + power * own.exposure;
                weight += w;
                x += w * own.exposure;
                y += w * residual;
                xx += w * own.exposure * own.exposure;
                xy += w * own.exposure * residual;
            }
            if weight > 0.0 {
                cross += xy - x * y / weight;
                square += xx - x * x / weight;
            }
            sums.push((weight, x, y));
        }
        // One item's worth of evidence for no trend, so that a few items show none.
        power = (cross / (square + 1.0)).clamp(0.0, MOST);
        for (level, (weight, x, y)) in levels.iter_mut().zip(sums) {
            if weight > 0.0 {
                *level = ((y - power * x) / weight).clamp(ln(SMALLEST), -ln(SMALLEST));
            }
        }
    }
    (levels, power)
}

#[cfg(test)]
mod tests;
