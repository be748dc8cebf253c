//! The order by need of `cascade-kl`: which items are shown, and in which order.

use crate::exact::float;
use crate::identify::candidates::Candidates;
use confidence::math::{ln, ln_1p};
use std::cmp::Ordering;

/// Items with less than this share of the average number of observations come before all others.
pub(super) const LEAST_SHARE: f64 = 0.3;

/// The weight of the square root of observations, in nats.
const PER_ROOT: f64 = 0.02;

/// The part of an item's progress that does not depend on the other items.
#[derive(Debug, Clone, Copy)]
pub(super) struct Need {
    /// The part of the progress that does not depend on the boundary.
    base: f64,
    /// Observations times the smoothed mean, and times one minus it.
    clicks: f64,
    failures: f64,
    ln_mean: f64,
}

impl Need {
    pub(super) fn new(observations: u64, clicks: u64) -> Self {
        let n = float(observations);
        let mean = smoothed_mean(observations, clicks);
        let (ln_mean, ln_failure) = (ln(mean), ln_1p(-mean));
        Self {
            base: n * (mean * ln_mean + (1.0 - mean) * ln_failure) + PER_ROOT * n.sqrt(),
            clicks: n * mean,
            failures: n * (1.0 - mean),
            ln_mean,
        }
    }

    /// The item's progress towards being told apart from the boundary, given the logarithms of the boundary and of one minus it.
    pub(super) fn progress(&self, (click, failure): (f64, f64)) -> f64 {
        self.base - self.clicks * click - self.failures * failure
    }

    /// The logarithm of the value that orders items on the list, smallest first.
    pub(super) fn depth(&self, progress: f64) -> f64 {
        self.ln_mean + progress
    }
}

/// The rank of an undecided item.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    is_fed: bool,
    progress: f64,
    /// Larger values go further down the list.
    depth: f64,
    /// Index among the undecided items, which are in a random order.
    place: usize,
}

impl Key {
    fn by_need(&self, other: &Self) -> Ordering {
        let by_progress = self.progress.total_cmp(&other.progress);
        self.is_fed.cmp(&other.is_fed).then(by_progress).then(self.place.cmp(&other.place))
    }

    fn by_depth(&self, other: &Self) -> Ordering {
        let by_depth = self.depth.total_cmp(&other.depth);
        self.is_fed.cmp(&other.is_fed).then(by_depth).then(self.place.cmp(&other.place))
    }
}

/// Indices, among the undecided items, of the items of a list, first to last. `boundary` is the mean that separates the best items from the
/// others.
pub(super) fn most_needed(
    candidates: &Candidates,
    needs: &[Need],
    boundary: f64,
    keys: &mut Vec<Key>,
) -> impl Iterator<Item = usize> {
    let in_question = candidates.in_question();
    let least = LEAST_SHARE * float(candidates.open_observations()) / float(in_question.len() as u64);
    let boundary = (ln(boundary), ln_1p(-boundary));
    keys.clear();
    keys.extend(in_question.iter().enumerate().map(|(place, &item)| {
        let need = needs[item.index()];
        let n = float(candidates.observations(item));
        let progress = need.progress(boundary);
        let is_fed = n >= least;
        Key { is_fed, progress: if is_fed { progress } else { n }, depth: need.depth(progress), place }
    }));
    let n_shown = candidates.n_best();
    if n_shown < keys.len() {
        keys.select_nth_unstable_by(n_shown, Key::by_need);
        keys.truncate(n_shown);
    }
    keys.sort_unstable_by(Key::by_depth);
    keys.iter().map(|key| key.place)
}

/// The boundary: the mean with the same divergence from the k-th largest smoothed mean and from the next one, with k items still to be
/// found.
pub(super) fn boundary(candidates: &Candidates, means: &mut Vec<f64>) -> f64 {
    let smoothed = |item| smoothed_mean(candidates.observations(item), candidates.clicks(item));
    means.clear();
    means.extend(candidates.in_question().iter().map(|&item| smoothed(item)));
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
