//! What is saved of a thinning: the threshold, when it is searched next, and the order of the items.

use super::threshold::{MOST_STEPS, Threshold};
use super::{Posteriors, Thinning, rate};
use crate::Error;
use crate::error::MAX_COUNT;
use serde::{Deserialize, Serialize};

/// A saved thinning.
#[derive(Debug, Deserialize)]
pub(crate) struct SavedThinning {
    step: i32,
    rounds: u64,
    next_search: u64,
    least: u64,
    most: u64,
    order: Vec<u32>,
}

/// [`SavedThinning`], borrowed.
#[derive(Debug, Serialize)]
pub(crate) struct ThinningToSave<'a> {
    step: i32,
    rounds: u64,
    next_search: u64,
    least: u64,
    most: u64,
    order: &'a [u32],
}

impl Thinning {
    pub(crate) fn to_save(&self) -> ThinningToSave<'_> {
        ThinningToSave {
            step: self.threshold.step(),
            rounds: self.rounds,
            next_search: self.next_search,
            least: self.least,
            most: self.most,
            order: self.buckets.order(),
        }
    }

    /// The thinning that was saved.
    ///
    /// # Errors
    ///
    /// The order is not one of the items, or the threshold or the number of rounds is too large.
    pub(crate) fn restore<P: Posteriors>(
        saved: &SavedThinning,
        posteriors: &P,
        n_positions: usize,
    ) -> Result<Self, Error> {
        if saved.step.unsigned_abs() > MOST_STEPS.unsigned_abs()
            || !is_order(&saved.order, posteriors.n_items())
        {
            return Err(Error::SavedThinning);
        }
        if saved.rounds > MAX_COUNT {
            return Err(Error::TooManyRounds(saved.rounds));
        }
        let mut thinning = Self::empty(posteriors.n_items(), n_positions, Threshold::at(saved.step));
        thinning.rounds = saved.rounds;
        thinning.next_search = saved.next_search;
        (thinning.least, thinning.most) = (saved.least, saved.most);
        let threshold = thinning.threshold;
        thinning.buckets.fill(|item| rate(posteriors.bound(item, &threshold)));
        thinning.buckets.reorder(&saved.order);
        Ok(thinning)
    }
}

/// Whether `order` has each of the items once.
fn is_order(order: &[u32], n_items: usize) -> bool {
    let mut seen = vec![false; n_items];
    order.len() == n_items
        && order
            .iter()
            .all(|&item| seen.get_mut(item as usize).is_some_and(|seen| !std::mem::replace(seen, true)))
}
