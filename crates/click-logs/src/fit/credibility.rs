//! Examination, and how attraction goes with rank, with the attraction of single items summed out.
//!
//! Clicks on item `i` at column `l` have mean `n a g`: `n` impressions, `a` attraction, `g` examination. Attraction is a random variable of
//! mean `mu` and variance `mu^2 / r`. With a Gamma distribution of `a` and Poisson clicks the log-likelihood is
//!
//! ```text
//! sum of c ln g + C ln mu - (C + r) ln(r + mu sum of n g),          C the clicks of the item,
//! ```
//!
//! concave in `ln g` and `ln mu`. Its derivative by `ln g` is `sum of c - n g a'`, `a'` the credibility estimate of attraction, a mean of the
//! item's own clicks and of `mu`. That is 0 on average under any distribution of clicks and attraction with these means. The maximum
//! over attraction and examination together is not: every item brings a parameter of its own, and there are as many of
//! these as there are clicks in a sparse log.
//!
//! Rankers show better items where they are seen. The mean is `mu = m lift`, `m` that of the query, `ln lift` the mean of `d` of the positions
//! where the item was shown, `d = 0` at the first position. Then items that were seen at several positions say what examination is, and all
//! others what `d` is. `d` is a random walk over the logarithm of rank, with the variance that makes the clicks the most probable:
//! almost 0 where lists are in random order, and then all items count for examination.
//!
//! Reference: Ohlsson, *Combining generalized linear models and credibility models in practice*, Scandinavian Actuarial Journal 2008
//! (a multiplicative model with credibility); Bühlmann, Straub 1970 (credibility); Mundlak, *On the pooling of time series and cross
//! section data*, Econometrica 1978 (means of random effects that depend on the covariates). Deviations: the random walk.
//!
//! | here | meaning |
//! |---|---|
//! | `examination` | `g` of columns, 1 for the first |
//! | `lift` | `exp(d)` of positions, 1 for the first |
//! | `exposure` | `sum of n g` of an item |
//! | `shape` | `r = strength mean`, for a Beta variable seen from far away from 1 |
//! | `share` | `mu exposure / (r + mu exposure)`, how much the item's own clicks count for |
//!
//! Errors: a sandwich, with the variance of clicks binomial and of attraction that of a Beta variable; means of queries are
//! eliminated, the variance of the walk is not. Where items are compared with themselves, the gradient's mean is 0 for any attraction
//! and the prior has no part in it: its variance is that of the clicks given attraction, `n g a (1 - g a)` in a cell, with unbiased estimates of `a` and
//! of `a^2`. Moments of the posterior will not do there: with next to no prior an item with one click in two impressions has a mean square
//! like one that is clicked at both, and clicks would hardly vary.
//!
//! Numerics: Newton's method on a concave function, steps halved where it falls. Complexity: a step O(cells of the item squared) for every
//! item and O((columns + positions)^3) for all; beyond [`MANY_COLUMNS`] columns, steps of EM and no lift.

use super::in_order::in_order;
use super::item_prior::{Item, ItemPrior, ObservedItems, SAMPLE, Trials};
use super::linear::Cholesky;
use super::squarem::{Convergence, Progress};
use crate::names::Id;
use confidence::math::ln;
use libm::exp;
use std::ops::Range;

/// More columns are left to EM: Newton's method would take their number cubed.
pub(super) const MANY_COLUMNS: usize = 256;
/// Clicks that draw the examination of a column to its click-through rate, so that it is not 0 without a click.
const PSEUDO_CLICKS: f64 = 0.5;
/// Variances of the walk among which the log chooses, for a unit of the logarithm of rank. The first means: random order.
const VARIANCES: [f64; 12] = [1e-4, 1e-3, 4e-3, 0.016, 0.06, 0.12, 0.25, 0.5, 1.0, 2.0, 4.0, 16.0];
/// Random order is taken for ten times as probable as any other before the log has been seen; the logarithm.
const ODDS_OF_RANDOM_ORDER: f64 = std::f64::consts::LN_10;
/// Precision of a start that is not known.
const ANYWHERE: f64 = 1e-3;
/// How much of the shape counts where means are not trusted.
const NEXT_TO_NOTHING: f64 = 1e-6;
/// A smaller part of the square of an exposure is rounding: the item was shown once, or never.
const ROUNDING: f64 = 1e-9;
/// Newton steps, or EM steps, of one search.
const STEPS: usize = 60;
const EM_STEPS: usize = 1000;
/// Where a step changes no logarithm by more.
const TOLERANCE: f64 = 1e-10;
/// How often examination and the prior of attraction are found in turn at most, and where they are done.
const TURNS: usize = 20;
/// The same for lifts when examination is known.
const TURNS_OF_LIFTS: usize = 3;
const TOLERANCE_OF_TURNS: f64 = 1e-6;
/// Examination without a logarithm counts as this.
const SMALLEST_EXAMINATION: f64 = 1e-6;
/// Queries that are one task for a thread.
const QUERIES_OF_A_TASK: usize = 1 << 12;

/// Clicks on an item in a column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Count {
    pub(super) item: Id,
    pub(super) column: usize,
    pub(super) clicks: u64,
    /// Need not be whole, where it is not known which ones were examined.
    pub(super) impressions: f64,
}

/// Where counts come from.
pub(super) trait Source: Sync {
    fn n_queries(&self) -> usize;
    /// Of a query, by item, then column.
    fn counts(&self, query: usize, out: &mut Vec<Count>);
}

/// The items of a query's counts.
pub(super) fn items(counts: &[Count]) -> impl Iterator<Item = &[Count]> {
    counts.chunk_by(|a, b| a.item == b.item)
}

/// The part of an item's impressions that each of its counts has; all the same where there are none.
fn shares(of_item: &[Count]) -> impl Iterator<Item = f64> {
    let impressions: f64 = of_item.iter().map(|count| count.impressions).sum();
    let share = move |count: &Count| {
        if impressions > 0.0 { count.impressions / impressions } else { 1.0 / of_item.len() as f64 }
    };
    of_item.iter().map(share)
}

/// By item, then column, each once.
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
    counts
}

/// Items of all queries.
pub(super) fn n_items(source: &impl Source) -> usize {
    let mut counts = Vec::new();
    let of_query = |query| {
        source.counts(query, &mut counts);
        items(&counts).count()
    };
    (0..source.n_queries()).map(of_query).sum()
}

/// What is estimated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Credibility<'a, S> {
    pub(super) source: &'a S,
    /// The position of every column.
    pub(super) positions: &'a [usize],
    /// Clicks and impressions of columns.
    pub(super) columns: &'a [(f64, f64)],
    /// Whether examination is estimated, or 1 everywhere.
    pub(super) examines: bool,
    /// Whether attraction may go with rank.
    pub(super) lifts: bool,
    /// Whether means of attraction are trusted; else items are compared with themselves only.
    pub(super) trusts_means: bool,
}

/// Examination and lifts, in logarithms.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct PositionEffects {
    pub(super) examination: Vec<f64>,
    pub(super) lift: Vec<f64>,
    /// Of the walk.
    variance: f64,
}

impl PositionEffects {
    /// Of columns, without lifts.
    pub(super) fn known(examination: &[f64], n_positions: usize) -> Self {
        let examination = examination.iter().map(|g| ln(g.max(SMALLEST_EXAMINATION))).collect();
        Self { examination, lift: vec![0.0; n_positions], variance: 0.0 }
    }

    pub(super) fn examination(&self) -> Vec<f64> {
        self.examination.iter().map(|y| exp(*y)).collect()
    }

    pub(super) fn lift(&self) -> Vec<f64> {
        self.lift.iter().map(|d| exp(*d)).collect()
    }

    /// The largest of a logarithm.
    fn change(&self, before: &Self) -> f64 {
        let examination = self.examination.iter().zip(&before.examination);
        let all = examination.chain(self.lift.iter().zip(&before.lift));
        all.map(|(now, then)| (now - then).abs()).fold(0.0, f64::max)
    }
}

/// What a pass over the counts sums up.
#[derive(Debug, Clone)]
struct Sums {
    value: f64,
    gradient: Vec<f64>,
    /// Minus the second derivatives.
    information: Vec<f64>,
    /// The variance of the gradient.
    variance: Vec<f64>,
}

impl Sums {
    fn new(n: usize, matrices: usize) -> Self {
        let matrix = |wanted: bool| vec![0.0; if wanted { n * n } else { 0 }];
        Self {
            value: 0.0,
            gradient: vec![0.0; n],
            information: matrix(matrices > 0),
            variance: matrix(matrices > 1),
        }
    }

    fn add(&mut self, other: &Self) {
        self.value += other.value;
        let pairs = [
            (&mut self.gradient, &other.gradient),
            (&mut self.information, &other.information),
            (&mut self.variance, &other.variance),
        ];
        for (sum, of) in pairs {
            sum.iter_mut().zip(of).for_each(|(sum, of)| *sum += of);
        }
    }
}

/// One item: what it has in common with parameters.
#[derive(Debug, Default)]
struct Row {
    clicks: f64,
    exposure: f64,
    lift: f64,
    /// Parameter, `n g`, and the examination `g` of each cell.
    cells: Vec<(usize, f64, f64)>,
    /// Parameter and share of impressions of each position, one a cell.
    placed: Vec<(usize, f64)>,
}

impl<S: Source> Credibility<'_, S> {
    pub(super) fn n_positions(&self) -> usize {
        self.positions.iter().max().map_or(0, |last| last + 1)
    }

    /// Nothing known: examination by click-through rates.
    pub(super) fn start(&self) -> PositionEffects {
        let targets = self.targets(1.0);
        let first = targets.first().copied().unwrap_or(0.0);
        let examination = targets.iter().map(|target| if self.examines { target - first } else { 0.0 });
        PositionEffects {
            examination: examination.collect(),
            lift: vec![0.0; self.n_positions()],
            variance: if self.lifts { VARIANCES[VARIANCES.len() / 2] } else { 0.0 },
        }
    }

    /// Logarithms of click-through rates of columns over a mean attraction.
    fn targets(&self, mean: f64) -> Vec<f64> {
        let all = self.columns.iter().fold((0.0, 0.0), |all, of| (all.0 + of.0, all.1 + of.1));
        let rate = (all.0 + 0.5) / (all.1 + 1.0);
        let target = |of: &(f64, f64)| ln((of.0 + rate) / (of.1 + 1.0) / mean);
        self.columns.iter().map(target).collect()
    }

    /// Examination and lifts together with the prior of attraction: each is found with the other given, in turn.
    pub(super) fn fit(
        &self,
        strength: Option<f64>,
        trace: bool,
    ) -> (PositionEffects, ItemPrior, Convergence) {
        let stride = n_items(self.source).div_ceil(SAMPLE).max(1);
        let mut found = self.start();
        let mut item_prior = ItemPrior::new(&self.seen(&found, stride), strength, None);
        let mut convergence = self.maximise(&mut found, &item_prior, trace);
        for _ in 1..TURNS {
            let before = found.clone();
            item_prior = ItemPrior::new(&self.seen(&found, stride), strength, Some(&item_prior));
            let next = self.maximise(&mut found, &item_prior, trace);
            convergence = convergence.then(next);
            if found.change(&before) <= TOLERANCE_OF_TURNS {
                break;
            }
        }
        if let Some(within) = self.within(&found) {
            convergence = convergence.then(within.maximise(&mut found, &item_prior, trace));
            let lifts = Self { examines: false, ..*self };
            for _ in 0..TURNS_OF_LIFTS {
                item_prior = ItemPrior::new(&self.seen(&found, stride), strength, Some(&item_prior));
                lifts.maximise(&mut found, &item_prior, false);
            }
        }
        (found, item_prior, convergence)
    }

    /// Where attraction goes with rank: examination by comparing items with themselves. What their means are is told by
    /// where they were shown, which is never all that a ranker knows.
    fn within(&self, found: &PositionEffects) -> Option<Self> {
        let ranked = self.examines && self.has_lift() && found.variance > VARIANCES[0];
        ranked.then_some(Self { lifts: false, trusts_means: false, ..*self })
    }

    /// The prior of attraction with this examination.
    pub(super) fn item_prior(&self, found: &PositionEffects, strength: Option<f64>) -> ItemPrior {
        ItemPrior::new(&self.seen(found, usize::MAX), strength, None)
    }

    /// What was seen of all items.
    fn seen(&self, found: &PositionEffects, stride: usize) -> ObservedItems {
        let examination = found.examination();
        let mut counts = Vec::new();
        let mut seen = ObservedItems::new(stride);
        for query in 0..self.source.n_queries() {
            self.source.counts(query, &mut counts);
            let of_query = items(&counts).map(|of_item| {
                let clicks = of_item.iter().map(|count| count.clicks as f64).sum();
                let (exposure, lift) = self.placed(of_item, &examination, found);
                Item { clicks, exposure, lift }
            });
            let trials = items(&counts).map(|of_item| {
                let skips = |count: &Count| count.impressions - count.clicks as f64;
                Trials::new(of_item.iter().map(|count| (skips(count), examination[count.column])))
            });
            seen.push_query(of_query, trials);
        }
        seen
    }

    /// The place of a column's or a position's parameter.
    fn column(&self, column: usize) -> Option<usize> {
        self.examines.then_some(column)
    }

    /// Examination sets the scale, or else the lift of the first position does.
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

    fn row(&self, of_item: &[Count], examination: &[f64], found: &PositionEffects, row: &mut Row) {
        row.cells.clear();
        row.placed.clear();
        row.clicks = of_item.iter().map(|count| count.clicks as f64).sum();
        let mut lift = 0.0;
        for (count, share) in of_item.iter().zip(shares(of_item)) {
            let (n, g) = (count.impressions, examination[count.column]);
            row.cells.push((self.column(count.column).unwrap_or(usize::MAX), n * g, g));
            let position = self.positions[count.column];
            lift += share * found.lift[position];
            row.placed.push((self.position(position).unwrap_or(usize::MAX), share));
        }
        row.exposure = row.cells.iter().map(|cell| cell.1).sum();
        row.lift = exp(lift);
    }

    /// The exposure of an item and its lift.
    pub(super) fn placed(
        &self,
        of_item: &[Count],
        examination: &[f64],
        found: &PositionEffects,
    ) -> (f64, f64) {
        let exposure = of_item.iter().map(|count| count.impressions * examination[count.column]);
        let lift = shares(of_item).zip(of_item);
        let lift = lift.map(|(share, count)| share * found.lift[self.positions[count.column]]);
        (exposure.sum(), exp(lift.sum()))
    }

    /// Sums over all items at a point; shapes are those of another one. `matrices`: 0 for the gradient alone, 1 with the information,
    /// 2 with the variance of the gradient and means of queries eliminated.
    fn sums(
        &self,
        at: &PositionEffects,
        before: &PositionEffects,
        item_prior: &ItemPrior,
        matrices: usize,
    ) -> Sums {
        let examination = at.examination();
        let n = self.n_parameters();
        let task = |queries: Range<usize>| {
            let mut sums = Sums::new(n, matrices);
            let mut of_query = OfQuery { cross: vec![0.0; n], of_clicks: vec![0.0; n], ..OfQuery::default() };
            let mut counts = Vec::new();
            let mut row = Row::default();
            for query in queries {
                self.source.counts(query, &mut counts);
                let mean = item_prior.means[query];
                of_query.start(item_prior.weight * mean);
                for item in items(&counts) {
                    self.row(item, &examination, at, &mut row);
                    let shape = item_prior.strength * mean * self.lift_before(item, &row, at, before);
                    let prior = Prior {
                        mean: mean * row.lift,
                        strength: item_prior.strength,
                        shape,
                        is_trusted: self.trusts_means,
                    };
                    row.add(prior, &mut sums, matrices, &mut of_query);
                }
                if matrices > 1 {
                    of_query.eliminate(&mut sums);
                }
            }
            sums
        };
        let starts = (0..self.source.n_queries()).step_by(QUERIES_OF_A_TASK);
        let tasks =
            starts.map(|start| start..self.source.n_queries().min(start + QUERIES_OF_A_TASK)).collect();
        let mut all = Sums::new(n, matrices);
        for sums in in_order(tasks, task) {
            all.add(&sums);
        }
        self.add_priors(&mut all, at, &examination, item_prior, matrices);
        all
    }

    fn lift_before(&self, item: &[Count], row: &Row, at: &PositionEffects, before: &PositionEffects) -> f64 {
        if at.lift == before.lift { row.lift } else { self.placed(item, &at.examination, before).1 }
    }

    fn add_priors(
        &self,
        sums: &mut Sums,
        at: &PositionEffects,
        examination: &[f64],
        item_prior: &ItemPrior,
        matrices: usize,
    ) {
        let n = self.n_parameters();
        if self.examines {
            let targets = self.targets(item_prior.mean);
            for (column, ((&y, &g), target)) in
                at.examination.iter().zip(examination).zip(&targets).enumerate()
            {
                let clicks = self.columns[column].0;
                let expected = PSEUDO_CLICKS * g / exp(*target);
                sums.value += (clicks + PSEUDO_CLICKS) * y - expected;
                sums.gradient[column] += clicks + PSEUDO_CLICKS - expected;
                if matrices > 0 {
                    sums.information[column * n + column] += expected;
                }
                if matrices > 1 {
                    sums.variance[column * n + column] += PSEUDO_CLICKS;
                }
            }
        }
        if self.has_lift() {
            for position in 1..at.lift.len() {
                let precision = 1.0 / (at.variance * step_of_rank(position));
                let step = at.lift[position] - at.lift[position - 1];
                sums.value -= 0.5 * precision * step * step;
                let ends = [(self.position(position - 1), -1.0), (self.position(position), 1.0)];
                for (a, sign) in ends.iter().filter_map(|&(end, sign)| Some((end?, sign))) {
                    sums.gradient[a] -= sign * precision * step;
                    for (b, other) in ends.iter().filter_map(|&(end, sign)| Some((end?, sign))) {
                        if matrices > 0 {
                            sums.information[a * n + b] += sign * other * precision;
                        }
                        if matrices > 1 {
                            sums.variance[a * n + b] += sign * other * precision;
                        }
                    }
                }
            }
        }
    }

    /// The maximum, from a point near it; the first column's examination is 1 there.
    pub(super) fn maximise(
        &self,
        found: &mut PositionEffects,
        item_prior: &ItemPrior,
        trace: bool,
    ) -> Convergence {
        let before = found.clone();
        let mut kept = Vec::new();
        let many = self.has_many_columns();
        let matrices = usize::from(!many);
        let mut sums = self.sums(found, &before, item_prior, matrices);
        let limit = if many { EM_STEPS } else { STEPS };
        let mut last = Progress { iterations: 0, log_likelihood: sums.value, change: 0.0 };
        let mut converged = self.n_parameters() == 0;
        while !converged && last.iterations < limit {
            let Some(step) = self.step(found, &sums, item_prior) else { break };
            let mut length = 1.0;
            let next = loop {
                let mut next = found.clone();
                self.go(&mut next, &step, length);
                let of_next = self.sums(&next, &before, item_prior, matrices);
                // Rounding leaves no more of the value.
                if of_next.value >= sums.value - 1e-13 * sums.value.abs() || length < 1e-6 {
                    break (next, of_next);
                }
                length /= 2.0;
            };
            (*found, sums) = next;
            let change = length * step.iter().map(|step| step.abs()).fold(0.0, f64::max);
            last = Progress { iterations: last.iterations + 1, log_likelihood: sums.value, change };
            kept.push(last);
            converged = change <= TOLERANCE;
        }
        if self.examines {
            let first = found.examination.first().copied().unwrap_or(0.0);
            found.examination.iter_mut().for_each(|y| *y -= first);
        }
        if self.has_lift() {
            self.choose_variance(found, &sums);
            let first = found.lift[0];
            found.lift.iter_mut().for_each(|d| *d -= first);
        }
        if !trace {
            kept.clear();
        }
        Convergence { converged, last, trace: kept }
    }

    /// Newton's, or that of EM.
    fn step(&self, found: &PositionEffects, sums: &Sums, item_prior: &ItemPrior) -> Option<Vec<f64>> {
        let n = self.n_parameters();
        if self.has_many_columns() {
            let targets = self.targets(item_prior.mean);
            let columns = found.examination.iter().zip(&targets).zip(self.columns).zip(&sums.gradient);
            return Some(
                columns
                    .map(|(((&y, &target), of), &gradient)| {
                        let clicks = of.0 + PSEUDO_CLICKS;
                        let expected = clicks - gradient;
                        // Pseudo-impressions are part of what is expected: at least these are there.
                        ln(clicks / expected.max(PSEUDO_CLICKS * exp(y - target)))
                    })
                    .collect(),
            );
        }
        let mut step = sums.gradient.clone();
        Cholesky::new(n, sums.information.clone())?.solve(&mut step);
        // A long step is one that a quadratic function knows nothing of.
        let longest = step.iter().map(|step| step.abs()).fold(0.0, f64::max);
        if longest > 2.0 {
            for part in &mut step {
                *part *= 2.0 / longest;
            }
        }
        Some(step)
    }

    fn go(&self, found: &mut PositionEffects, step: &[f64], length: f64) {
        if self.examines {
            found.examination.iter_mut().zip(step).for_each(|(y, step)| *y += length * step);
        }
        for position in 0..found.lift.len() {
            if let Some(of) = self.position(position) {
                found.lift[position] += length * step[of];
            }
        }
    }

    /// The variance of the walk under which the clicks are the most probable: examination eliminated, the rest by a quadratic
    /// function of the lifts.
    fn choose_variance(&self, found: &mut PositionEffects, sums: &Sums) {
        let n = self.n_parameters();
        let columns = if self.examines { self.columns.len() } else { 0 };
        let m = n - columns;
        let entry = |a: usize, b: usize| sums.information[a * n + b];
        let walk = |variance: f64| {
            let mut precision = vec![0.0; m * m];
            for position in 1..found.lift.len() {
                let of_step = 1.0 / (variance * step_of_rank(position));
                let ends = [(self.position(position - 1), -1.0), (self.position(position), 1.0)];
                for (a, sign) in ends.iter().filter_map(|&(end, sign)| Some((end? - columns, sign))) {
                    for (b, other) in ends.iter().filter_map(|&(end, sign)| Some((end? - columns, sign))) {
                        precision[a * m + b] += sign * other * of_step;
                    }
                }
            }
            precision
        };
        let now = walk(found.variance);
        let of_columns: Vec<f64> =
            (0..columns).flat_map(|a| (0..columns).map(move |b| entry(a, b))).collect();
        let Some(of_columns) = Cholesky::new(columns, of_columns) else { return };
        let mut information: Vec<f64> =
            (0..m * m).map(|at| entry(columns + at / m, columns + at % m) - now[at]).collect();
        for b in 0..m {
            let mut solved: Vec<f64> = (0..columns).map(|a| entry(a, columns + b)).collect();
            of_columns.solve(&mut solved);
            for a in 0..m {
                let cross: f64 = solved.iter().enumerate().map(|(c, x)| x * entry(c, columns + a)).sum();
                information[a * m + b] -= cross;
            }
        }
        // The gradient that the clicks have at 0, of the quadratic function.
        let lift = &found.lift[found.lift.len() - m..];
        let gradient: Vec<f64> = (0..m)
            .map(|a| (0..m).map(|b| (information[a * m + b] + now[a * m + b]) * lift[b]).sum())
            .collect();
        let evidence = |&variance: &f64| {
            let mut prior = walk(variance);
            // Where it starts is anywhere.
            if !self.examines {
                prior[0] += ANYWHERE;
            }
            let posterior: Vec<f64> = information.iter().zip(&prior).map(|(a, b)| a + b).collect();
            let [prior, posterior] = [prior, posterior].map(|matrix| Cholesky::new(m, matrix));
            let (Some(prior), Some(posterior)) = (prior, posterior) else { return f64::NEG_INFINITY };
            prior.half_ln_determinant() - posterior.half_ln_determinant()
                + 0.5 * posterior.form(&mut gradient.clone())
        };
        let mut best =
            (VARIANCES[0], evidence(&VARIANCES[0]) + if self.examines { ODDS_OF_RANDOM_ORDER } else { 0.0 });
        for variance in &VARIANCES[1..] {
            let evidence = evidence(variance);
            if evidence > best.1 {
                best = (*variance, evidence);
            }
        }
        found.variance = best.0;
    }

    /// Covariances of the logarithms of examination, 0 for the first column; none where the information does not tell.
    pub(super) fn covariances(&self, found: &PositionEffects, item_prior: &ItemPrior) -> Option<Vec<f64>> {
        if let Some(within) = self.within(found) {
            return within.covariances(found, item_prior);
        }
        let columns = self.columns.len();
        if !self.examines || self.has_many_columns() {
            return None;
        }
        let n = self.n_parameters();
        let mut sums = self.sums(found, found, item_prior, 2);
        // Unbiased estimates from few clicks need not add up to a variance. That of Poisson clicks is one, and an upper bound.
        if !self.trusts_means && Cholesky::new(n, sums.variance.clone()).is_none() {
            sums.variance.clone_from(&sums.information);
        }
        let factor = Cholesky::new(n, sums.information)?;
        // Of ratios to the first column: differences of rows of the inverse.
        let row = |column: usize| {
            let mut row = vec![0.0; n];
            row[column] += 1.0;
            row[0] -= 1.0;
            factor.solve(&mut row);
            row
        };
        let rows: Vec<Vec<f64>> = (0..columns).map(row).collect();
        let times = |row: &Vec<f64>| -> Vec<f64> {
            (0..n).map(|a| (0..n).map(|b| sums.variance[a * n + b] * row[b]).sum()).collect()
        };
        let products: Vec<Vec<f64>> = rows.iter().map(times).collect();
        let covariance =
            |a: usize, b: usize| -> f64 { rows[a].iter().zip(&products[b]).map(|(x, y)| x * y).sum() };
        Some((0..columns * columns).map(|at| covariance(at / columns, at % columns)).collect())
    }
}

/// The logarithm of how much farther down a position is than the one above it.
fn step_of_rank(position: usize) -> f64 {
    ln((position + 1) as f64 / position as f64)
}

/// What the mean of a query has in common with parameters.
#[derive(Debug, Default)]
struct OfQuery {
    curvature: f64,
    /// Of the clicks that the mean's own equation sums up.
    variance: f64,
    cross: Vec<f64>,
    of_clicks: Vec<f64>,
    touched: Vec<usize>,
}

impl OfQuery {
    /// With the curvature of its prior.
    fn start(&mut self, curvature: f64) {
        self.curvature = curvature;
        self.variance = curvature;
        for &of in &self.touched {
            self.cross[of] = 0.0;
            self.of_clicks[of] = 0.0;
        }
        self.touched.clear();
    }

    fn eliminate(&mut self, sums: &mut Sums) {
        if self.curvature <= 0.0 {
            return;
        }
        let n = sums.gradient.len();
        self.touched.sort_unstable();
        self.touched.dedup();
        for &a in &self.touched {
            let share = self.cross[a] / self.curvature;
            for &b in &self.touched {
                let other = self.cross[b] / self.curvature;
                sums.information[a * n + b] -= share * self.cross[b];
                sums.variance[a * n + b] +=
                    self.variance * share * other - share * self.of_clicks[b] - other * self.of_clicks[a];
            }
        }
    }
}

/// That of an item's attraction.
#[derive(Debug, Clone, Copy)]
struct Prior {
    /// The lift in it.
    mean: f64,
    strength: f64,
    shape: f64,
    is_trusted: bool,
}

impl Prior {
    /// As much of the shape as counts.
    fn effective_shape(&self) -> f64 {
        if self.is_trusted { self.shape } else { NEXT_TO_NOTHING * self.shape }
    }

    /// What stands for attraction and its square in the variance of clicks: moments of the posterior, or, without trust in the prior, unbiased
    /// estimates from the item's clicks alone. A sum of `C` independent clicks has `E[C (C - 1)] = a^2 (exposure^2 - sum of n g^2)`.
    fn moments(&self, row: &Row) -> (f64, f64) {
        if self.is_trusted {
            let weight = row.clicks + self.shape;
            let attraction = weight * self.mean / (self.shape + self.mean * row.exposure);
            return (attraction, (attraction * attraction * (1.0 + 1.0 / weight)).min(attraction));
        }
        let all = row.exposure * row.exposure;
        let of_pairs = all - row.cells.iter().map(|cell| cell.1 * cell.2).sum::<f64>();
        let square = if of_pairs > ROUNDING * all { row.clicks * (row.clicks - 1.0) / of_pairs } else { 0.0 };
        (row.clicks / row.exposure.max(f64::MIN_POSITIVE), square)
    }
}

impl Row {
    /// What the item adds.
    fn add(&self, prior: Prior, sums: &mut Sums, matrices: usize, of_query: &mut OfQuery) {
        let n = sums.gradient.len();
        let (mean, shape) = (prior.mean, prior.effective_shape());
        let total = shape + mean * self.exposure;
        let (share, weight) = (mean * self.exposure / total, self.clicks + shape);
        let known = |of: &usize| *of != usize::MAX;
        // Clicks of columns are added once, for all items.
        sums.value += self.clicks * ln(self.lift) - weight * ln(total / shape);
        let by_mean = self.clicks - weight * share;
        let expected = weight * mean / total;
        for &(of, exposure, _) in self.cells.iter().filter(|cell| known(&cell.0)) {
            sums.gradient[of] -= expected * exposure;
        }
        for &(of, part) in self.placed.iter().filter(|placed| known(&placed.0)) {
            sums.gradient[of] += part * by_mean;
        }
        if matrices == 0 {
            return;
        }
        let spread = weight * share * (1.0 - share);
        for &(a, of_a, _) in self.cells.iter().filter(|cell| known(&cell.0)) {
            sums.information[a * n + a] += expected * of_a;
            let share_of_a = of_a * mean / total;
            for &(b, of_b, _) in &self.cells {
                sums.information[a * n + b] -= weight * share_of_a * of_b * mean / total;
            }
            for &(b, part) in self.placed.iter().filter(|placed| known(&placed.0)) {
                let cross = weight * share_of_a * (1.0 - share) * part;
                sums.information[a * n + b] += cross;
                sums.information[b * n + a] += cross;
            }
        }
        for &(a, of_a) in self.placed.iter().filter(|placed| known(&placed.0)) {
            for &(b, of_b) in self.placed.iter().filter(|placed| known(&placed.0)) {
                sums.information[a * n + b] += spread * of_a * of_b;
            }
        }
        if matrices > 1 {
            self.add_variance(prior, sums, of_query);
        }
    }

    /// Clicks vary by the binomial distribution, attraction by the Beta distribution; the gradient is linear in both.
    fn add_variance(&self, prior: Prior, sums: &mut Sums, of_query: &mut OfQuery) {
        let n = sums.gradient.len();
        let (mean, shape) = (prior.mean, prior.effective_shape());
        let total = shape + mean * self.exposure;
        let (share, weight) = (mean * self.exposure / total, self.clicks + shape);
        let (attraction, square) = prior.moments(self);
        // By one click more, in any column.
        let common: Vec<(usize, f64)> = self
            .cells
            .iter()
            .map(|cell| (cell.0, -cell.1 * mean / total))
            .chain(self.placed.iter().map(|placed| (placed.0, placed.1 * (1.0 - share))))
            .filter(|part| part.0 != usize::MAX)
            .collect();
        let variances: Vec<(usize, f64)> = self
            .cells
            .iter()
            .map(|&(of, exposure, g)| (of, exposure * (attraction - g * square)))
            .map(|(of, variance)| (of, if prior.is_trusted { variance.max(0.0) } else { variance }))
            .collect();
        let all: f64 = variances.iter().map(|cell| cell.1).sum();
        for &(a, of_a) in variances.iter().filter(|cell| cell.0 != usize::MAX) {
            sums.variance[a * n + a] += of_a;
            for &(b, of_b) in &common {
                sums.variance[a * n + b] += of_a * of_b;
                sums.variance[b * n + a] += of_a * of_b;
            }
            of_query.of_clicks[a] += (1.0 - share) * of_a;
        }
        // By attraction.
        let spread =
            mean * (1.0 - mean).max(0.0) / (prior.strength + 1.0) * (shape / total) * (shape / total);
        let by_attraction: Vec<(usize, f64)> = self
            .cells
            .iter()
            .map(|cell| (cell.0, cell.1))
            .chain(self.placed.iter().map(|placed| (placed.0, placed.1 * self.exposure)))
            .filter(|part| part.0 != usize::MAX)
            .collect();
        for (&(a, of_a), &(_, attracted_a)) in common.iter().zip(&by_attraction) {
            for (&(b, of_b), &(_, attracted_b)) in common.iter().zip(&by_attraction) {
                sums.variance[a * n + b] += all * of_a * of_b + spread * attracted_a * attracted_b;
            }
            of_query.of_clicks[a] += (1.0 - share) * all * of_a + spread * self.exposure * attracted_a;
            of_query.touched.push(a);
        }
        of_query.variance += all * (1.0 - share) * (1.0 - share) + spread * self.exposure * self.exposure;
        // Second derivatives by the mean of the query.
        let curvature = weight * share * (1.0 - share);
        of_query.curvature += curvature;
        for &(of, exposure, _) in self.cells.iter().filter(|cell| cell.0 != usize::MAX) {
            of_query.cross[of] += weight * exposure * mean / total * (1.0 - share);
        }
        for &(of, part) in self.placed.iter().filter(|placed| placed.0 != usize::MAX) {
            of_query.cross[of] += curvature * part;
        }
    }
}

/// The attraction of an item whose examination is known, and the variance of its logarithm, from clicks and from skips at cells of
/// this examination: the largest likelihood. Those of the prior are among them, with an examination of 1.
pub(super) fn attraction(clicks: f64, cells: &[(f64, f64)]) -> (f64, f64) {
    let skipped = || cells.iter().filter(|cell| cell.0 > 0.0 && cell.1 > 0.0);
    let mut low = 0.0;
    let mut high = 1.0 / skipped().map(|cell| cell.1).fold(1.0, f64::max);
    let exposure: f64 = skipped().map(|(skips, g)| skips * g).sum();
    let mut a = (clicks / (clicks + exposure)).min(0.999 * high);
    let mut curvature = f64::INFINITY;
    // Halving alone takes 50 steps.
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
    (a, 1.0 / curvature)
}

#[cfg(test)]
mod tests;
