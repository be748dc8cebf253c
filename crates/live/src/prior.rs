//! A prior that is estimated while the policy runs.

use crate::SavedError;
use click_models::ItemId;
use confidence::beta_binomial::most_probable;
use policies::Tallies;
use serde::{Deserialize, Serialize};

/// Decisions between two estimates.
const EVERY: u64 = 5_000;
/// Decisions before the first one. Until the decisions are as many as above, the estimates are at
/// powers of two: a catalogue whose items are all new pays most for a wrong prior.
const FIRST: u64 = 64;
/// The most forgotten items whose counts are kept.
const MOST_FORGOTTEN: usize = 100_000;

/// Estimates the prior from the displays and clicks of all items, present, retired and forgotten.
/// Items that are shown most are not usual ones, so an estimate without the items that left is
/// wrong. [`Live`](crate::Live) has one; it is for callers who keep a policy of their own.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Estimator {
    decisions: u64,
    /// Clicks and examined displays without a click, of a random sample of the forgotten items.
    forgotten: Vec<(f64, f64)>,
    /// All forgotten items that had been shown.
    n_forgotten: u64,
    #[serde(skip)]
    items: Vec<(f64, f64)>,
}

impl Estimator {
    /// Keeps the counts of an item that is about to be forgotten.
    pub(crate) fn forget(&mut self, policy: &mut dyn Tallies, item: ItemId) {
        let examination = examination(policy);
        let counts = counts(policy, &examination, item);
        if counts == (0.0, 0.0) {
            return;
        }
        self.n_forgotten += 1;
        if self.forgotten.len() < MOST_FORGOTTEN {
            self.forgotten.push(counts);
            return;
        }
        // A reservoir. Its place is a hash, since a policy that is restored must do the same.
        let place = mixed(self.n_forgotten) % self.n_forgotten;
        if let Some(kept) = usize::try_from(place).ok().and_then(|place| self.forgotten.get_mut(place)) {
            *kept = counts;
        }
    }

    /// Counts a decision. Returns whether the policy is due to get another prior.
    pub fn count(&mut self) -> bool {
        self.decisions = self.decisions.saturating_add(1);
        let is_early = self.decisions.is_power_of_two() && (FIRST..EVERY).contains(&self.decisions);
        is_early || self.decisions.is_multiple_of(EVERY)
    }

    /// Gives the policy another prior.
    pub fn estimate(&mut self, policy: &mut dyn Tallies) {
        let examination = examination(policy);
        self.items.clone_from(&self.forgotten);
        let slots = (0..policy.n_items()).map(ItemId::from_index);
        self.items.extend(slots.map(|item| counts(policy, &examination, item)));
        // Most items have few displays, and share their counts with many others.
        self.items.sort_unstable_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
        let alike = self.items.chunk_by(|one, other| one == other);
        let items: Vec<(f64, f64, u32)> = alike
            .filter(|alike| alike[0] != (0.0, 0.0))
            .map(|alike| (alike[0].0, alike[0].1, u32::try_from(alike.len()).unwrap_or(u32::MAX)))
            .collect();
        if let Some(policy) = policy.bayesian() {
            let before = policy.prior();
            let (a, b) = most_probable(&items, (before.a(), before.b()));
            policy.set_estimated_prior(a, b);
        }
    }

    /// Checks a saved state.
    ///
    /// # Errors
    ///
    /// [`SavedError::Prior`] for counts that cannot be.
    pub fn check(&self) -> Result<(), SavedError> {
        let Self { forgotten, n_forgotten, .. } = self;
        let is_count = |count: f64| count >= 0.0 && count.is_finite();
        let is_sound = forgotten.len() as u64 == (*n_forgotten).min(MOST_FORGOTTEN as u64)
            && forgotten.iter().all(|&(clicks, skips)| is_count(clicks) && is_count(skips));
        if is_sound { Ok(()) } else { Err(SavedError::Prior) }
    }
}

fn examination(policy: &mut dyn Tallies) -> Vec<f64> {
    policy.bayesian().map_or_else(Vec::new, |policy| policy.examination().to_vec())
}

/// Clicks, and displays without a click, each as much as its position is examined.
fn counts(policy: &dyn Tallies, examination: &[f64], item: ItemId) -> (f64, f64) {
    (0..policy.n_kinds()).fold((0.0, 0.0), |(clicks, skips), kind| {
        let tally = policy.tally(item, kind);
        let examined = examination.get(kind).copied().unwrap_or(1.0);
        (clicks + tally.clicks as f64, skips + (tally.shows - tally.clicks) as f64 * examined)
    })
}

/// A hash: the finaliser of `SplitMix64`.
fn mixed(number: u64) -> u64 {
    let mut hash = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}
