//! Saved: threshold, round of its next search, order of the items, number of those drawn in full.

use super::threshold::{MOST_STEPS, Threshold};
use super::{Pace, Posteriors, Thinning, rate};
use crate::Error;
use crate::error::{MAX_COUNT, is_permutation};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedThinning<'a> {
    step: i32,
    rounds: u64,
    next_search: u64,
    least: u64,
    most: u64,
    /// How many of the first items are drawn in full; otherwise their counts determine it.
    in_full: Option<usize>,
    order: Cow<'a, [u32]>,
}

impl Thinning {
    pub(crate) fn to_save(&self) -> SavedThinning<'_> {
        SavedThinning {
            step: self.threshold.step,
            rounds: self.rounds,
            next_search: self.next_search,
            least: self.least,
            most: self.most,
            in_full: Some(self.buckets.in_full().len()),
            order: self.buckets.order().into(),
        }
    }

    /// The thinning that was saved.
    ///
    /// # Errors
    ///
    /// The order is not one of the items, or a number is too large.
    pub(crate) fn restore<P: Posteriors>(
        saved: &SavedThinning<'_>,
        posteriors: &P,
        n_positions: usize,
        pace: Pace,
    ) -> Result<Self, Error> {
        let in_full = saved.in_full.unwrap_or(0);
        if saved.step.unsigned_abs() > MOST_STEPS.unsigned_abs()
            || !is_permutation(saved.order.iter().map(|&item| item as usize), posteriors.n_items())
            || in_full > saved.order.len()
        {
            return Err(Error::SavedThinning);
        }
        if saved.rounds > MAX_COUNT {
            return Err(Error::TooManyRounds(saved.rounds));
        }
        let mut thinning = Self::empty(posteriors.n_items(), n_positions, pace);
        thinning.threshold = Threshold::at(saved.step);
        thinning.rounds = saved.rounds;
        let latest = saved.rounds + pace.longest_wait(saved.rounds, posteriors.n_items());
        thinning.next_search = saved.next_search.min(latest);
        if pace == Pace::Eager {
            (thinning.least, thinning.most) = (saved.least, saved.most);
        }
        let threshold = thinning.threshold;
        let mut is_in_full = vec![false; posteriors.n_items()];
        for &item in &saved.order[..in_full] {
            is_in_full[item as usize] = true;
        }
        thinning.buckets.fill(|item| {
            if is_in_full[item] { f64::INFINITY } else { rate(posteriors.bound(item, &threshold)) }
        });
        thinning.buckets.reorder(&saved.order);
        Ok(thinning)
    }
}
