//! Estimates examination, and how attraction depends on rank, with the attraction of single items
//! integrated out.
//!
//! Clicks on item `i` at column `l` have mean `n a g`: `n` impressions, `a` attraction, `g`
//! examination. Attraction is random with mean `mu` and variance `mu^2 / r`. For a Gamma
//! distribution of `a` and Poisson clicks, the log-likelihood is
//!
//! ```text
//! sum of c ln g + C ln mu - (C + r) ln(r + mu sum of n g),          C the clicks of the item,
//! ```
//!
//! concave in `ln g` and `ln mu`. Its derivative by `ln g` is `sum of c - n g a'`, with the
//! credibility estimate `a'` of attraction, a weighted mean of the item's click-through rate and of
//! `mu`. The mean of the derivative is 0 for any distribution of clicks and attraction with these
//! means. The joint maximum over attraction and examination lacks this property: a sparse log has
//! as many items as clicks, and each item is a parameter.
//!
//! Rankers put better items where they are seen. So `mu = m lift`, with the mean `m` of the query.
//! `ln lift` is the mean of `d` over the positions where the item was shown, and 0 on average.
//! Items shown at several positions then determine examination, and all other items determine `d`.
//! `d` is a random walk over the logarithm of rank, and its variance maximises the probability of
//! the clicks. In random lists the variance is almost 0, and all items contribute to examination.
//! If few items were shown at several positions, clicks hardly determine `d`; random order then has
//! prior odds of ten.
//!
//! In lists in order of quality with much noise, mean positions differ little from item to item,
//! and `d` is steep: for an item that is always first, `mu` could exceed 1. So the mean of a query
//! is not bounded, but that of an item is, and an unseen item is like the items shown at its
//! position ([`ItemPrior::lift`]).
//!
//! Reference: Ohlsson, *Combining generalized linear models and credibility models in practice*,
//! Scandinavian Actuarial Journal 2008 (a multiplicative model with credibility); Bühlmann, Straub
//! 1970 (credibility); Mundlak, *On the pooling of time series and cross section data*,
//! Econometrica 1978 (means of random effects that depend on the covariates). Deviations: the
//! random walk.
//!
//! | here | meaning |
//! |---|---|
//! | `examination` | `g` of columns, 1 for the first |
//! | `lift` | `exp(d)` of positions, 1 on average |
//! | `exposure` | `sum of n g` of an item |
//! | `shape` | `r = strength mean`, for a Beta variable seen from far away from 1 |
//! | `share` | `mu exposure / (r + mu exposure)`, the weight of the item's own clicks |
//!
//! Errors: a sandwich estimate, with binomial clicks and Beta attraction. Means of queries are
//! eliminated, the variance of the walk is not. If random order is chosen where clicks determine
//! the lifts, the variance is the mean of two: that of this estimate, and that of the estimate for
//! ranked lists plus the squared difference of the two. If items are compared with themselves only,
//! the mean of the gradient is 0 for any attraction, so its variance is that of the clicks given
//! attraction, `n g a (1 - g a)` in a cell, with unbiased estimates of `a` and `a^2`. Moments of
//! the posterior would be wrong: with almost no prior, an item with one click in two impressions
//! has a mean square like an item with two clicks, so the variance of clicks would be almost 0.
//!
//! Numerics: Newton's method on a concave function, with steps halved if the function falls.
//! Complexity: a step costs O(cells of the item squared) for every item and
//! O((columns + positions)^3) for all. More than [`MANY_COLUMNS`] columns get EM steps and no lift.

mod maximum;
mod sums;

use super::item_prior::{Item, ItemPrior, ObservedItems, SAMPLE, Trials};
use super::squarem::Convergence;
use confidence::math::ln;
use libm::exp;
use log_reader::Id;
use maximum::VARIANCES;
use serde::{Deserialize, Serialize};

/// EM is used for more columns: Newton's method costs the cube of their number.
pub(super) const MANY_COLUMNS: usize = 256;
/// Clicks of a prior that draws the examination of a column to that of all columns, so that it is
/// positive without clicks.
const PSEUDO_CLICKS: f64 = 0.5;
/// Largest number of alternations between examination and the prior of attraction.
const TURNS: usize = 20;
/// Number of alternations for lifts when examination is known.
const TURNS_OF_LIFTS: usize = 3;
/// After a smaller change, strength and weight of the prior are only checked at the end. The same
/// holds for lifts that start from an earlier prior.
const NEAR: f64 = 0.01;
/// Smaller examination is replaced by this, so that it has a logarithm.
const SMALLEST_EXAMINATION: f64 = 1e-6;

/// Clicks on an item in a column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Count {
    pub(super) item: Id,
    pub(super) column: usize,
    pub(super) clicks: u64,
    /// Not a whole number if it is unknown which impressions were examined.
    pub(super) impressions: f64,
    /// The share in the impressions of the item; equal shares if there are no impressions.
    pub(super) share: f64,
}

/// The items of a query's counts.
pub(super) fn items(counts: &[Count]) -> impl Iterator<Item = &[Count]> {
    counts.chunk_by(|a, b| a.item == b.item)
}

/// Fills in the shares of a query's counts.
pub(super) fn with_shares(mut counts: Vec<Count>) -> Vec<Count> {
    for of_item in counts.chunk_by_mut(|a, b| a.item == b.item) {
        let impressions: f64 = of_item.iter().map(|count| count.impressions).sum();
        let (inverse, equal) =
            if impressions > 0.0 { (1.0 / impressions, 0.0) } else { (0.0, 1.0 / of_item.len() as f64) };
        for count in of_item {
            count.share = count.impressions * inverse + equal;
        }
    }
    counts
}

/// Sorts by item, then column, merges equal ones, and fills in the shares.
pub(super) fn merged(mut counts: Vec<Count>) -> Vec<Count> {
    counts.sort_unstable_by_key(|count| (count.item, count.column));
    counts.dedup_by(|next, kept| {
        let same = (next.item, next.column) == (kept.item, kept.column);
        if same {
            kept.clicks += next.clicks;
            kept.impressions += next.impressions;
        }
        same
    });
    with_shares(counts)
}

pub(super) fn n_items(counts: &[Vec<Count>]) -> usize {
    counts.iter().map(|of_query| items(of_query).count()).sum()
}

/// Examination of columns and lifts of positions, in logarithms.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PositionEffects {
    pub(super) examination: Vec<f64>,
    pub(super) lift: Vec<f64>,
    /// The logarithm by which examination was divided for the first column to be 1.
    scale: f64,
    /// Variance of the walk.
    variance: f64,
    /// Whether clicks determine the lifts.
    tells_lifts: bool,
}

impl PositionEffects {
    /// Known examination of columns, without lifts.
    pub(super) fn known(examination: &[f64], n_positions: usize) -> Self {
        let examination = examination.iter().map(|g| ln(g.max(SMALLEST_EXAMINATION))).collect();
        Self { examination, lift: vec![0.0; n_positions], scale: 0.0, variance: 0.0, tells_lifts: false }
    }

    pub(super) fn examination(&self) -> Vec<f64> {
        self.examination.iter().map(|y| exp(*y)).collect()
    }

    /// The largest change of a logarithm.
    fn change(&self, before: &Self) -> f64 {
        let examination = self.examination.iter().zip(&before.examination);
        let all = examination.chain(self.lift.iter().zip(&before.lift));
        all.map(|(now, then)| (now - then).abs()).fold(0.0, f64::max)
    }
}

/// The estimation problem.
#[derive(Debug, Clone, Copy)]
pub(super) struct Credibility<'a> {
    /// Those of each query, sorted by item, then column.
    pub(super) counts: &'a [Vec<Count>],
    /// The position of every column.
    pub(super) positions: &'a [usize],
    /// Clicks and impressions of columns.
    pub(super) columns: &'a [(f64, f64)],
    /// Whether examination is estimated, or 1 everywhere.
    pub(super) examines: bool,
    /// Whether attraction may depend on rank.
    pub(super) lifts: bool,
    /// Whether means of attraction are trusted; if not, items are compared with themselves only.
    pub(super) trusts_means: bool,
    /// The change at which alternations between examination and the prior of attraction stop. Above
    /// [`NEAR`], strength and weight of an earlier prior are not checked.
    pub(super) tolerance: f64,
}

impl Credibility<'_> {
    pub(super) fn n_positions(&self) -> usize {
        self.positions.iter().max().map_or(0, |last| last + 1)
    }

    /// Starting point: examination by click-through rates.
    pub(super) fn start(&self) -> PositionEffects {
        let rate = self.rate();
        let of_column = |column: &(f64, f64)| ln((column.0 + rate) / (column.1 + 1.0));
        let first = self.columns.first().map_or(0.0, of_column);
        let of_column = |column| if self.examines { of_column(column) - first } else { 0.0 };
        PositionEffects {
            examination: self.columns.iter().map(of_column).collect(),
            scale: 0.0,
            lift: vec![0.0; self.n_positions()],
            variance: if self.lifts { VARIANCES[VARIANCES.len() / 2] } else { 0.0 },
            tells_lifts: false,
        }
    }

    /// The click-through rate of all columns.
    fn rate(&self) -> f64 {
        let all = self.columns.iter().fold((0.0, 0.0), |all, column| (all.0 + column.0, all.1 + column.1));
        (all.0 + 0.5) / (all.1 + 1.0)
    }

    /// Exposure of an item in the prior of a column: [`PSEUDO_CLICKS`] at the mean examination of
    /// all columns.
    fn pseudo_exposure(&self, found: &PositionEffects, mean: f64) -> f64 {
        PSEUDO_CLICKS * exp(found.scale) * mean / self.rate()
    }

    /// Estimates examination and lifts together with the prior of attraction, in alternation,
    /// starting from earlier ones.
    pub(super) fn fit(
        &self,
        strength: Option<f64>,
        before: Option<(PositionEffects, ItemPrior)>,
    ) -> (PositionEffects, ItemPrior, Convergence) {
        let stride = n_items(self.counts).div_ceil(SAMPLE).max(1);
        let (mut found, mut prior) =
            before.map_or_else(|| (self.start(), None), |(found, prior)| (found, Some(prior)));
        let is_warm = prior.is_some() && !self.examines;
        let is_rough = self.tolerance > NEAR;
        let mut is_near = is_warm;
        let mut convergence = Convergence::closed_form(0.0);
        let (mut variances, mut kept, mut is_settled) = (Vec::new(), None, false);
        for turn in 0..TURNS {
            let before = found.clone();
            let seen = self.seen(&found, stride);
            let item_prior = match &prior {
                Some(prior) if is_near => prior.updated(&seen, strength),
                prior => ItemPrior::new(&seen, strength, prior.as_ref()),
            };
            convergence = convergence.then(self.maximise(&mut found, &item_prior));
            let change = found.change(&before);
            // Where clicks after a click are rare, random order may favour ranked lists and these
            // random order, turn by turn. Ranked lists assume less.
            variances.push(found.variance);
            kept = match variances[..] {
                [.., a, b, c, d] if [a, b] == [c, d] && c != d => Some(f64::max(c, d)),
                _ => kept,
            };
            found.variance = kept.unwrap_or(found.variance);
            let ends = change <= self.tolerance && (turn > 0 || is_rough);
            let is_checked = || item_prior.is_most_probable(&self.seen(&found, stride), strength);
            is_settled = ends && (!is_near || is_rough || is_checked());
            prior = Some(item_prior);
            if is_settled {
                break;
            }
            is_near = !self.examines && !ends && (is_warm || change <= NEAR);
        }
        let mut item_prior = prior.unwrap_or_default();
        if let Some(within) = self.within(&found) {
            convergence = convergence.then(within.maximise(&mut found, &item_prior));
            let lifts = Self { examines: false, ..*self };
            for _ in 0..TURNS_OF_LIFTS {
                item_prior = ItemPrior::new(&self.seen(&found, stride), strength, Some(&item_prior));
                lifts.maximise(&mut found, &item_prior);
            }
        }
        convergence.converged &= is_settled;
        let by_position = self.attraction_by_position(&found, &item_prior);
        (found, item_prior.with_positions(by_position), convergence)
    }

    /// The mean attraction of the items shown at each position, with credibility estimates of
    /// single items. Items shown at several positions bound it. An extrapolation of `d` to an item
    /// that is always at the first position would not be bounded.
    fn attraction_by_position(&self, found: &PositionEffects, item_prior: &ItemPrior) -> Vec<f64> {
        let mut sums = vec![(0.0, 0.0); self.n_positions()];
        if !self.has_lift() {
            return vec![item_prior.mean; sums.len()];
        }
        let examination = found.examination();
        for (query, counts) in self.counts.iter().enumerate() {
            for of_item in items(counts) {
                let clicks: f64 = of_item.iter().map(|count| count.clicks as f64).sum();
                let (exposure, lift) = self.placed(of_item, &examination, found);
                let prior = item_prior.strength * item_prior.of_item(query, lift);
                let attraction = ((clicks + prior) / (exposure + item_prior.strength)).min(1.0);
                for count in of_item {
                    let sum = &mut sums[self.positions[count.column]];
                    sum.0 += count.impressions * attraction;
                    sum.1 += count.impressions;
                }
            }
        }
        let mut last = item_prior.mean;
        let mean = |(attraction, impressions): (f64, f64)| {
            // A position without impressions is like the one above.
            last = if impressions > 0.0 { attraction / impressions } else { last };
            last
        };
        sums.into_iter().map(mean).collect()
    }

    /// The problem for ranked lists, which estimates examination by comparing items with
    /// themselves. Means by position do not contain everything that a ranker knows.
    fn within(&self, found: &PositionEffects) -> Option<Self> {
        (self.examines && self.has_lift() && found.variance > VARIANCES[0]).then(|| self.of_ranked_lists())
    }

    fn of_ranked_lists(&self) -> Self {
        Self { lifts: false, trusts_means: false, ..*self }
    }

    /// The prior of attraction, given examination.
    pub(super) fn item_prior(&self, found: &PositionEffects, strength: Option<f64>) -> ItemPrior {
        let item_prior = ItemPrior::new(&self.seen(found, usize::MAX), strength, None);
        let by_position = self.attraction_by_position(found, &item_prior);
        item_prior.with_positions(by_position)
    }

    /// Clicks and exposure of all items.
    fn seen(&self, found: &PositionEffects, stride: usize) -> ObservedItems {
        let examination = found.examination();
        let mut seen = ObservedItems::new(stride);
        for counts in self.counts {
            let of_query = items(counts).map(|of_item| {
                let clicks = of_item.iter().map(|count| count.clicks as f64).sum();
                let (exposure, lift) = self.placed(of_item, &examination, found);
                Item { clicks, exposure, lift }
            });
            let trials = items(counts).map(|of_item| {
                let skips = |count: &Count| count.impressions - count.clicks as f64;
                Trials::new(of_item.iter().map(|count| (skips(count), examination[count.column])))
            });
            seen.push_query(of_query, trials);
        }
        seen
    }

    /// Index of a position's parameter. The scale is fixed by examination, or otherwise by the lift
    /// of the first position.
    fn position(&self, position: usize) -> Option<usize> {
        match (self.has_lift(), self.examines) {
            (false, _) => None,
            (true, false) => Some(position),
            (true, true) => position.checked_sub(1).map(|place| self.columns.len() + place),
        }
    }

    fn has_lift(&self) -> bool {
        self.lifts && !self.has_many_columns()
    }

    fn has_many_columns(&self) -> bool {
        self.examines && self.columns.len() > MANY_COLUMNS
    }

    fn n_parameters(&self) -> usize {
        let columns = if self.examines { self.columns.len() } else { 0 };
        let last = self.n_positions().checked_sub(1);
        last.and_then(|last| self.position(last)).map_or(columns, |last| last + 1)
    }
}

/// The posterior mean of an item's attraction with known examination, and the variance of the
/// logarithm at the posterior mode of the log-odds. `cells` are skips and examination; clicks and
/// skips of the prior are included, with examination 1. The mode would be too low: examination
/// below 1 makes the posterior skew. Numerics: the next term of Laplace's approximation, which
/// vanishes for a Beta posterior. It divides the third derivative by the square of the second, and
/// multiplies the odds, which keeps the mean below 1.
pub(super) fn attraction(clicks: f64, cells: &[(f64, f64)]) -> (f64, f64) {
    let skipped = || cells.iter().filter(|cell| cell.0 > 0.0 && cell.1 > 0.0);
    let mut low = 0.0;
    let bound = 1.0 / skipped().map(|cell| cell.1).fold(1.0, f64::max);
    let mut high = bound;
    let exposure: f64 = skipped().map(|(skips, g)| skips * g).sum();
    let mut a = (clicks / (clicks + exposure)).min(0.999 * high);
    let mut curvature = f64::INFINITY;
    // Bisection alone would take 50 steps.
    for _ in 0..100 {
        let mut rest = clicks;
        curvature = 0.0;
        for &(skips, g) in skipped() {
            let slope = skips * a * g / (1.0 - a * g);
            rest -= slope;
            curvature += slope / (1.0 - a * g);
        }
        if rest > 0.0 {
            low = a;
        } else {
            high = a;
        }
        let newton = a * exp((rest / curvature).clamp(-2.0, 2.0));
        let next = if newton > low && newton < high { newton } else { low.midpoint(high) };
        let change = (next / a - 1.0).abs();
        a = next;
        if change < 1e-14 {
            break;
        }
    }
    let trials = curvature * (1.0 - a) / a;
    let skew: f64 = skipped().map(|&(skips, g)| skips * g * (1.0 - g) / (1.0 - g * a).powi(3)).sum();
    let shift = skew / (trials * trials);
    let odds = a / (1.0 - a) * if shift > 0.0 { 1.0 + shift } else { 1.0 / (1.0 - shift) };
    ((odds / (1.0 + odds)).min(a.midpoint(bound)), 1.0 / curvature)
}

#[cfg(test)]
mod tests;
