//! Observations that a policy in live use learns from, and when it does.

use crate::open::OpenDecision;
use crate::{Error, Handle, ObservationRule, Settings, items::Items};
use click_models::{Context, ItemId};
use policies::{Prior, SelectAmongFor, Tallies, Tally};

/// The memory beside a policy.
pub trait Keeps {
    /// The memory of a decision that may still be answered.
    type Open: OpenDecision;
    /// The note of a decision.
    type Note: Default;
}

/// A policy with what it needs to learn from the answers to its decisions: an
/// [`OnTable`](crate::OnTable), or one [`ForUsers`](crate::ForUsers) who differ. Nothing else has
/// it.
pub trait Learns<I: ObservationRule>: Keeps + Sized {
    /// The policy.
    type Policy: SelectAmongFor<I::Action, Note = Self::Note>;
    /// Whether answers still count after the end of their decision.
    const CORRECTS: bool;

    /// The policy, with the usual settings.
    fn of(policy: Self::Policy) -> Self;

    /// Takes other settings. Decisions that may still be answered keep what is counted.
    ///
    /// # Errors
    ///
    /// The settings do not fit the policy. Nothing changes then.
    fn set_settings(
        &mut self,
        settings: &Settings,
        open: &mut dyn Iterator<Item = &mut Self::Open>,
    ) -> Result<(), Error>;

    /// Takes another policy, which perhaps needs values, and gives it the counts of the known items
    /// and as many places.
    ///
    /// # Errors
    ///
    /// [`Error::OtherCounts`], [`Error::NoValues`]. Nothing changes then.
    fn set_policy(
        &mut self,
        _policy: Self::Policy,
        _items: &Items,
        _open: &mut dyn Iterator<Item = &mut Self::Open>,
        _needs_values: bool,
    ) -> Result<(), Error> {
        Err(Error::OtherCounts)
    }

    /// The policy.
    fn policy(&self) -> &Self::Policy;

    /// The policy.
    fn policy_mut(&mut self) -> &mut Self::Policy;

    /// The prior of attractions now, if the policy has one.
    fn prior(&mut self) -> Option<Prior> {
        None
    }

    /// Number of places for items.
    fn n_items(&self) -> usize;

    /// Number of positions with separate counts; 1 if positions are pooled.
    fn n_kinds(&self) -> usize {
        1
    }

    /// Displays and clicks of a known item.
    fn tally(&self, item: ItemId, kind: usize) -> Tally;

    /// Adds earlier displays and clicks to the counts of a known item. Returns false if the policy
    /// cannot.
    fn begin_with(&mut self, _item: ItemId, _kind: usize, _tally: Tally) -> bool {
        false
    }

    /// Sets whether a known item may be shown.
    fn set_present(&mut self, _item: ItemId, _present: bool) {}

    /// Whether a known item has these features, as far as the policy knows features.
    fn has_features(&mut self, _item: ItemId, _features: &[f64]) -> bool {
        true
    }

    /// Gives an item a place that is free, or a new one.
    ///
    /// # Errors
    ///
    /// The features do not fit, or there is no room. Nothing changes then.
    fn add_item(&mut self, free: Option<ItemId>, features: &[f64]) -> Result<(), policies::Error>;

    /// Forgets what is known of an item.
    fn clear(&mut self, item: ItemId);

    /// A round passes, in which nothing is selected.
    fn pass_round(&mut self) {}

    /// Begins with a list that is shown to a user, in the memory of an old one.
    fn begin(&self, open: &mut Self::Open, context: &Context, list: impl ExactSizeIterator<Item = Handle>);

    /// Counts a decision.
    fn decided(&mut self) {}

    /// A policy with what it knows of values, groups and positions, if it takes terms.
    fn table(_policy: &mut Self::Policy) -> Option<&mut dyn Tallies> {
        None
    }

    /// Learns from what is known of a decision now.
    fn learn(&mut self, settings: &Settings, items: &Items, open: &mut Self::Open);
}
