//! The traits of policies that see who asks for a list.
//!
//! They correspond to [`Select`], [`Update`] and [`Policy`](crate::Policy). A policy of these is one
//! of those that ignores the context, by a blanket implementation.

use crate::{Decision, Select, Update};
use click_models::{Context, Interaction};
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

    #[inline]
    fn select_for<R: Rng + ?Sized>(&mut self, _: &Context, rng: &mut R, out: &mut Decision<A, P::Note>) {
        self.select(rng, out);
    }

    fn repeat_round_for(&mut self) -> bool {
        self.repeat_round()
    }
}

impl<A, F, P: Update<A, F>> UpdateFor<A, F> for P {
    #[inline]
    fn update_for(&mut self, decision: &Decision<A, P::Note>, feedback: &F) {
        self.update(decision, feedback);
    }
}
