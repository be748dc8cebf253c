//! Statistics over dependent runs: on several instances, or with the same users (`runs-per-draw`).
//!
//! The runs of a block take every instance once, and a draw of users may have several runs. An
//! *observation* is the mean of the runs of one block: observations are independent and have one
//! distribution, however rare an instance is, and runs are neither. Means and standard errors are
//! over whole blocks, so every instance counts alike. Runs beyond the last whole block take part in
//! quantiles only. With fewer runs than a block has, the mean is over these. A single observation
//! has no standard error (NaN; null in files).
//!
//! The spread between runs with the same users against the spread between draws tells how much of
//! it comes from the users. This is the analysis of variance with one random effect, within each
//! instance: with `m` runs for each of `k` draws on `q` instances, `B` the mean square between the
//! draws of an instance (`k - q` degrees of freedom) and `W` the mean square within draws
//! (`k (m - 1)`), the variance that comes from the users is `(B - W) / m`, and its share
//! `(B - W) / (B + (m - 1) W)`.

use crate::result::{MeanAndError, ResultFile};
use sim::{Summary, mean_and_error};
use std::borrow::Cow;

/// The least number of degrees of freedom between draws for which a share is stated.
const FEWEST: usize = 9;

/// Which runs meet the same users.
#[derive(Debug, Clone)]
pub(crate) struct DrawsOfRuns {
    runs_per_draw: usize,
    runs_per_observation: usize,
    /// The instance of every draw.
    instances: Vec<usize>,
}

/// The runs of whole blocks of `size`; all runs if they are fewer.
pub(crate) fn whole_blocks<T>(runs: &[T], size: usize) -> &[T] {
    let left = if runs.len() < size { 0 } else { runs.len() % size };
    &runs[..runs.len() - left]
}

/// The mean of a block. Differences that cancel leave 0, and not the rounding of sums over many
/// rounds: it would be the same in every block.
fn mean_of_block(values: &[f64]) -> f64 {
    let mean = mean(values);
    let size = values.iter().map(|value| value.abs()).sum::<f64>() / values.len() as f64;
    if mean.abs() <= 1e-10 * size { 0.0 } else { mean }
}

/// Values that are independent: the means of blocks of `size` runs.
pub(crate) fn observations(sample: &[f64], size: usize) -> Cow<'_, [f64]> {
    match size {
        0 | 1 => Cow::Borrowed(sample),
        _ if sample.len() < size => Cow::Owned(vec![mean(sample)]),
        size => Cow::Owned(sample.chunks_exact(size).map(mean_of_block).collect()),
    }
}

impl DrawsOfRuns {
    /// Draws of the runs of a result, on these instances. All runs of a draw have the same
    /// instance.
    pub(crate) fn new(result: &ResultFile, instances_of_runs: &[usize]) -> Self {
        Self::of(result.runs_per_draw.unwrap_or(1), result.instances.unwrap_or(1), instances_of_runs)
    }

    /// Draws of runs on `n_instances`.
    pub(crate) fn of(runs_per_draw: u64, n_instances: u64, instances_of_runs: &[usize]) -> Self {
        let size = |runs: u64| usize::try_from(runs).unwrap_or(usize::MAX).max(1);
        let runs_per_draw = size(runs_per_draw);
        let instances = instances_of_runs.iter().copied().step_by(runs_per_draw).collect();
        Self {
            runs_per_draw,
            runs_per_observation: runs_per_draw.saturating_mul(size(n_instances)),
            instances,
        }
    }

    /// The share of the runs of whole blocks for which this holds.
    pub(crate) fn share<T>(&self, runs: &[T], holds: impl Fn(&T) -> bool) -> f64 {
        let whole = whole_blocks(runs, self.runs_per_observation);
        whole.iter().filter(|run| holds(run)).count() as f64 / whole.len() as f64
    }

    /// Mean over the observations, and its standard error.
    pub(crate) fn mean_and_error(&self, sample: &[f64]) -> MeanAndError {
        let (mean, se) = mean_and_error(&observations(sample, self.runs_per_observation));
        MeanAndError { mean, se }
    }

    /// Summary statistics of the runs; `None` without a run.
    pub(crate) fn summary(&self, sample: &[f64]) -> Option<Summary> {
        let summary = Summary::of(sample)?;
        let MeanAndError { mean, se } = self.mean_and_error(sample);
        Some(Summary { mean, standard_error: se, ..summary })
    }

    /// The share of the variance of these values of runs that comes from the users, and its
    /// standard error by the jackknife over draws. `None` if every run has users of its own, there
    /// are too few draws, or the values do not vary.
    pub(crate) fn share_of_users(&self, sample: &[f64]) -> Option<MeanAndError> {
        let m = self.runs_per_draw as f64;
        if self.runs_per_draw < 2 {
            return None;
        }
        let n_instances = self.instances.iter().max()? + 1;
        let draws: Vec<(usize, f64, f64)> = self
            .instances
            .iter()
            .zip(sample.chunks(self.runs_per_draw))
            .map(|(&instance, runs)| (instance, mean(runs), square_sum(runs)))
            .collect();
        // The sums of squares between the draws of each instance, and of all within draws.
        let mut of_instances = vec![Sums::default(); n_instances];
        let mut within = 0.0;
        for &(instance, mean, squares) in &draws {
            of_instances[instance].add(mean);
            within += squares;
        }
        let between: f64 = of_instances.iter().map(|sums| sums.squares).sum();
        let freedom: usize = of_instances.iter().map(|sums| sums.n.saturating_sub(1)).sum();
        let share = |between: f64, freedom: usize, within: f64, n: usize| {
            let (b, w) = (m * between / freedom as f64, within / (n as f64 * (m - 1.0)));
            let share = (b - w) / (b + (m - 1.0) * w);
            share.is_finite().then_some(share)
        };
        let value = share(between, freedom, within, draws.len()).filter(|_| freedom >= FEWEST)?;
        let without = |&(instance, mean, squares): &(usize, f64, f64)| {
            let sums = &of_instances[instance];
            // Without it, an only draw of an instance leaves the degrees of freedom as they are.
            let lost = usize::from(sums.n > 1);
            share(between - sums.lost_without(mean), freedom - lost, within - squares, draws.len() - 1)
        };
        let left_out: Vec<f64> = draws.iter().filter_map(without).collect();
        let (_, spread) = mean_and_error(&left_out);
        // `mean_and_error` divides by n (n - 1), the jackknife multiplies by (n - 1) / n.
        let se = spread * (left_out.len() as f64 - 1.0);
        Some(MeanAndError { mean: value.clamp(0.0, 1.0), se })
    }
}

/// Mean and sum of squared deviations of the draws of an instance.
#[derive(Debug, Clone, Default)]
struct Sums {
    n: usize,
    mean: f64,
    squares: f64,
}

impl Sums {
    /// Adds a value (Welford's method).
    fn add(&mut self, value: f64) {
        self.n += 1;
        let deviation = value - self.mean;
        self.mean += deviation / self.n as f64;
        self.squares += deviation * (value - self.mean);
    }

    /// By how much the sum of squares falls when a value is left out.
    fn lost_without(&self, value: f64) -> f64 {
        let deviation = value - self.mean;
        if self.n < 2 { 0.0 } else { deviation * deviation * self.n as f64 / (self.n as f64 - 1.0) }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sum of squared deviations from the mean.
fn square_sum(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean) * (value - mean)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use sim::SimRng;

    /// Normal numbers of mean 0 and variance 1, near enough: sums of twelve uniform numbers.
    fn noise(rng: &mut SimRng) -> f64 {
        (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
    }

    /// Values on `q` instances in turn, with variance `share` between draws and `1 - share` within,
    /// and instances far apart.
    fn sample(rng: &mut SimRng, draws: usize, m: usize, q: usize, share: f64) -> (DrawsOfRuns, Vec<f64>) {
        let mut values = Vec::new();
        for draw in 0..draws {
            let users = 100.0 * (draw % q) as f64 + share.sqrt() * noise(rng);
            values.extend((0..m).map(|_| users + (1.0 - share).sqrt() * noise(rng)));
        }
        let instances: Vec<usize> = (0..draws * m).map(|run| run / m % q).collect();
        (DrawsOfRuns::of(m as u64, q as u64, &instances), values)
    }

    #[test]
    fn shares_by_hand() {
        // Two draws of an instance with two runs each do not suffice; twenty do. Means 0 and 2,
        // deviations 1 within: between draws the mean square is 2 * 20 / 19, within 2.
        let values: Vec<f64> = (0..40).map(|run| [-1.0, 1.0, 1.0, 3.0][run % 4]).collect();
        let draws = DrawsOfRuns::of(2, 1, &[0; 40]);
        let (b, w) = (40.0 / 19.0, 2.0);
        let found = draws.share_of_users(&values).unwrap();
        assert!((found.mean - (b - w) / (b + w)).abs() < 1e-14, "{found:?}");
        assert_eq!(DrawsOfRuns::of(2, 1, &[0; 4]).share_of_users(&values[..4]), None);
        assert_eq!(DrawsOfRuns::of(1, 1, &[0; 40]).share_of_users(&values), None);
        assert_eq!(draws.share_of_users(&[3.0; 40]), None, "no variance, no share");
        let estimate = draws.mean_and_error(&values);
        assert_eq!(estimate.mean, 1.0);
        assert!((estimate.se - (20.0_f64 / 19.0 / 20.0).sqrt()).abs() < 1e-15, "{estimate:?}");
    }

    /// The share and its error over 400 samples of 120 draws: the mean within four standard errors,
    /// and the jackknife's error within a fifth of the spread of the shares. On one instance and on
    /// three whose means differ by far more than the draws.
    #[test]
    fn shares_of_known_users_are_found() {
        let mut rng = SimRng::seed_from_u64(1);
        for (m, q, truth) in [(2, 1, 0.5), (2, 3, 0.3), (4, 3, 0.7)] {
            let shares: Vec<MeanAndError> = (0..400)
                .map(|_| {
                    let (draws, values) = sample(&mut rng, 120, m, q, truth);
                    draws.share_of_users(&values).unwrap()
                })
                .collect();
            let means: Vec<f64> = shares.iter().map(|share| share.mean).collect();
            let (mean, error) = mean_and_error(&means);
            // The estimator is biased by a few thousandths.
            assert!((mean - truth).abs() < 4.0 * error + 0.006, "{mean} {error} for {truth}");
            let spread = error * 20.0;
            let said = shares.iter().map(|share| share.se).sum::<f64>() / 400.0;
            assert!((said / spread - 1.0).abs() < 0.2, "{said} for {spread}");
        }
    }

    /// With the runs of a draw taken for independent, the error of the mean would be too small by a
    /// factor of 1.34.
    #[test]
    fn errors_are_those_of_draws() {
        let mut rng = SimRng::seed_from_u64(2);
        let mut said = 0.0;
        let means: Vec<f64> = (0..400)
            .map(|_| {
                let (draws, values) = sample(&mut rng, 50, 2, 1, 0.8);
                let estimate = draws.mean_and_error(&values);
                said += estimate.se / 400.0;
                estimate.mean
            })
            .collect();
        let spread = mean_and_error(&means).1 * 20.0;
        assert!((said / spread - 1.0).abs() < 0.12, "{said} for {spread}");
    }

    /// Runs on three instances in blocks, in orders of their own: means 1, 2, 30 and noise.
    #[test]
    fn blocks_are_observations_and_every_instance_counts_alike() {
        let values = [1.0, 2.0, 30.0, 31.0, 2.0, 3.0, 4.0, 33.0, 5.0, 999.0, 999.0];
        let draws = DrawsOfRuns::of(1, 3, &[0, 1, 2, 2, 0, 1, 1, 2, 0, 2, 1]);
        // Blocks have the means 11, 12 and 14; the last two runs are beyond the last whole block.
        assert_eq!(*observations(&values, 3), [11.0, 12.0, 14.0]);
        let estimate = draws.mean_and_error(&values);
        assert!((estimate.mean - 37.0 / 3.0).abs() < 1e-14);
        assert!((estimate.se - (7.0_f64 / 9.0).sqrt()).abs() < 1e-14, "{estimate:?}");
        assert_eq!(draws.share(&values, |value| *value > 4.5), 4.0 / 9.0);
        let summary = draws.summary(&values).unwrap();
        assert_eq!((summary.min, summary.max), (1.0, 999.0));
        // Two runs that meet the same users, and fewer than one block.
        assert_eq!(*observations(&values, 6), [11.5]);
        let few = DrawsOfRuns::of(2, 3, &[0, 0, 2, 2]);
        assert!(
            few.mean_and_error(&values[..4]).mean == 16.0 && few.mean_and_error(&values[..4]).se.is_nan()
        );
        assert_eq!(few.share(&values[..4], |value| *value > 4.5), 0.5);
    }
}
