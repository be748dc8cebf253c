//! The order by need of `cascade-kl`: the progress of an item, and the boundary.

use crate::exact::float;
use crate::identify::candidates::Candidates;
use confidence::math::{ln, ln_1p, ln_1p_of_small, ln_of_normals};

/// Items with less than this share of the average number of observations come before all others.
pub(super) const LEAST_SHARE: f64 = 0.3;

/// The weight of the square root of observations, in nats.
const PER_ROOT: f64 = 0.02;

/// From this mean on, `ln(1 - mean)` is not computed by [`ln_1p_of_small`].
const MOST_SMALL: f64 = 0.29;

/// The parts of an item's progress that do not depend on the other items. Its progress towards
/// being told apart from a boundary `c` is `base - clicks ln c - failures ln(1 - c)`, and its depth
/// on the list `ln_mean` plus the progress.
#[derive(Debug, Clone, Copy)]
pub(super) struct Need {
    pub(super) base: f64,
    /// Observations times the smoothed mean, and times one minus it.
    pub(super) clicks: f64,
    pub(super) failures: f64,
    pub(super) ln_mean: f64,
}

impl Need {
    pub(super) fn new(observations: u64, clicks: u64) -> Self {
        let mean = smoothed_mean(observations, clicks);
        Self::of_parts(float(observations), mean, ln(mean), ln_1p(-mean))
    }

    /// The needs of several items at once, in shared vector registers, with the same bits as one by
    /// one.
    #[inline]
    pub(super) fn of_several<const N: usize>(n: [f64; N], means: [f64; N]) -> [Self; N] {
        let ln_means = ln_of_normals(means);
        let mut ln_failures = ln_1p_of_small(means.map(|mean| -mean));
        for (ln_failure, mean) in ln_failures.iter_mut().zip(means) {
            if mean >= MOST_SMALL {
                *ln_failure = ln_1p(-mean);
            }
        }
        std::array::from_fn(|lane| Self::of_parts(n[lane], means[lane], ln_means[lane], ln_failures[lane]))
    }

    #[inline]
    fn of_parts(n: f64, mean: f64, ln_mean: f64, ln_failure: f64) -> Self {
        Self {
            base: n * (mean * ln_mean + (1.0 - mean) * ln_failure) + PER_ROOT * n.sqrt(),
            clicks: n * mean,
            failures: n * (1.0 - mean),
            ln_mean,
        }
    }
}

/// The mean with the same divergence from the k-th largest smoothed mean and the next one.
pub(super) fn boundary(candidates: &Candidates, means: &mut Vec<f64>) -> f64 {
    let smoothed = |item| smoothed_mean(candidates.observations(item), candidates.clicks(item));
    means.clear();
    means.extend(candidates.in_question.iter().map(|&item| smoothed(item)));
    let (_, &mut last_in, rest) =
        means.select_nth_unstable_by(candidates.n_open() - 1, |a, b| b.total_cmp(a));
    let first_out = rest.iter().copied().fold(0.0, f64::max);
    equally_far(last_in, first_out)
}

/// `(S + 1/2) / (N + 1)`, never 0 or 1.
pub(super) fn smoothed_mean(observations: u64, clicks: u64) -> f64 {
    (float(clicks) + 0.5) / (float(observations) + 1.0)
}

/// The `c` with `d(x, c) = d(y, c)`.
pub(super) fn equally_far(larger: f64, smaller: f64) -> f64 {
    let negative_entropy = |p: f64| p * ln(p) + (1.0 - p) * ln_1p(-p);
    if larger <= smaller {
        return larger;
    }
    let log_odds = (negative_entropy(larger) - negative_entropy(smaller)) / (larger - smaller);
    (1.0 / (1.0 + libm::exp(-log_odds))).clamp(smaller, larger)
}
