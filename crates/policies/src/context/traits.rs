//! The traits of policies that see who asks for a list.
//!
//! They correspond to [`Select`], [`Update`] and [`Policy`](crate::Policy). A policy of these is
//! one of those that ignores the context, by a blanket implementation.

use crate::{Decision, Error, Select, SelectAmong, Update};
use click_models::{Context, Interaction, ItemId, ItemSet};
use rand::Rng;
use serde::{Serialize, de::DeserializeOwned};

/// Chooses actions of type `A` for a user.
pub trait SelectFor<A> {
    /// The information about a decision that the policy needs when its feedback arrives. A policy
    /// that uses the context keeps it here, since feedback may arrive late.
    type Note: Clone + Default + Send + Serialize + DeserializeOwned;

    /// Writes the next decision for this user to `out`, whose previous content does not matter.
    ///
    /// Never fails; a context of another size is read as far as it goes. Allocates nothing once
    /// `out` has been used for a round.
    fn select_for<R: Rng + ?Sized>(
        &mut self,
        context: &Context,
        rng: &mut R,
        out: &mut Decision<A, Self::Note>,
    );

    /// As [`Select::repeat_round`].
    fn repeat_round_for(&mut self) -> bool {
        false
    }
}

/// Chooses among the items that may be shown, for a user.
pub trait SelectAmongFor<A>: SelectFor<A> {
    /// As [`SelectFor::select_for`], among the items of `available`; see
    /// [`SelectAmong::select_among`].
    fn select_among_for<R: Rng + ?Sized>(
        &mut self,
        context: &Context,
        available: &ItemSet,
        rng: &mut R,
        out: &mut Decision<A, Self::Note>,
    );

    /// As [`SelectAmong::pass_round`].
    fn pass_round_for(&mut self) {}
}

/// A policy whose items come and go. It is told the features of each, and needs no table.
pub trait FeaturedItems {
    /// Number of items, with those that are never among the available ones.
    fn n_items(&self) -> usize;

    /// Number of features of every item.
    fn n_item_features(&self) -> usize;

    /// Returns whether an item has these features, but for what standardising them rounds off.
    fn has_features(&mut self, item: ItemId, features: &[f64]) -> bool;

    /// The features of a known item as the policy keeps them: standardised, bounded, and none if it
    /// does not use them.
    ///
    /// # Panics
    ///
    /// For an unknown item.
    fn features(&mut self, item: ItemId) -> &[f64];

    /// Adds an item that nothing is known of, the next one by number. Allocates, but in constant
    /// amortised time.
    ///
    /// # Errors
    ///
    /// [`Error::FeaturesOfItem`], [`Error::TooManyCells`]. Nothing changes then.
    fn add_item(&mut self, features: &[f64]) -> Result<ItemId, Error>;

    /// Forgets what is known of an item: another one, with these features, has its number. Ignores
    /// unknown items.
    ///
    /// # Errors
    ///
    /// [`Error::FeaturesOfItem`]. Nothing changes then.
    fn replace_item(&mut self, item: ItemId, features: &[f64]) -> Result<(), Error>;
}

/// Learns from feedback of type `F` on actions of type `A`. The decision has the context.
pub trait UpdateFor<A, F>: SelectFor<A> {
    /// Learns from the feedback. Never fails, allocates, or draws. Ignores unknown items.
    fn update_for(&mut self, decision: &Decision<A, Self::Note>, feedback: &F);
}

/// A policy for users of the protocol `I` who differ.
#[diagnostic::on_unimplemented(message = "`{Self}` does not speak the `{I}` protocol")]
pub trait PolicyFor<I: Interaction>: UpdateFor<I::Action, I::Feedback> {}

impl<I: Interaction, P: UpdateFor<I::Action, I::Feedback>> PolicyFor<I> for P {}

impl<A, P: Select<A>> SelectFor<A> for P {
    type Note = P::Note;

    fn select_for<R: Rng + ?Sized>(&mut self, _: &Context, rng: &mut R, out: &mut Decision<A, P::Note>) {
        self.select(rng, out);
    }

    fn repeat_round_for(&mut self) -> bool {
        self.repeat_round()
    }
}

impl<A, P: SelectAmong<A>> SelectAmongFor<A> for P {
    fn select_among_for<R: Rng + ?Sized>(
        &mut self,
        _: &Context,
        available: &ItemSet,
        rng: &mut R,
        out: &mut Decision<A, P::Note>,
    ) {
        self.select_among(available, rng, out);
    }

    fn pass_round_for(&mut self) {
        self.pass_round();
    }
}

impl<A, F, P: Update<A, F>> UpdateFor<A, F> for P {
    #[inline]
    fn update_for(&mut self, decision: &Decision<A, P::Note>, feedback: &F) {
        self.update(decision, feedback);
    }
}
