//! What every policy can do: choose an action, and learn from the answer.
//!
//! `select` is keyed by the action and `update` by action and feedback, so one policy can speak several protocols, and a
//! policy on a protocol that it does not speak does not compile. The generator of random numbers is handed in with every
//! call and never kept: a policy and the state of its randomness are saved apart.

use click_models::Interaction;
use rand::Rng;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// An action together with what the policy must remember of it until the feedback arrives, be it late or out of order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision<A, N = ()> {
    /// What to play.
    pub action: A,
    /// What the policy wants back with the feedback.
    pub note: N,
}

/// Chooses actions of type `A`.
pub trait Select<A> {
    /// What the policy must remember of a decision until its feedback arrives.
    type Note: Clone + Default + Send + Serialize + DeserializeOwned;

    /// Decides the next round and writes the decision to `out`, whatever `out` held before.
    ///
    /// Allocates nothing once `out` has been used for a round.
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<A, Self::Note>);
}

/// Learns from feedback of type `F` on actions of type `A`.
pub trait Update<A, F>: Select<A> {
    /// Takes in what `decision` brought. Never fails, allocates nothing, uses no randomness; items that the policy does
    /// not know are ignored.
    fn update(&mut self, decision: &Decision<A, Self::Note>, feedback: &F);
}

/// A policy for the protocol `I`: whatever selects its actions and learns from its feedback.
#[diagnostic::on_unimplemented(message = "`{Self}` does not speak the `{I}` protocol")]
pub trait Policy<I: Interaction>: Update<I::Action, I::Feedback> {}

impl<I: Interaction, P: Update<I::Action, I::Feedback>> Policy<I> for P {}
