//! What every policy can do: choose an action, and learn from the answer.
//!
//! `select` is keyed by the action and `update` by action and feedback, so one policy can speak several protocols, and a
//! policy on a protocol that it does not speak does not compile. The generator of random numbers is handed in with every
//! call and never kept: a policy and the state of its randomness are saved apart.
//!
//! # Examples
//!
//! A policy of the position-based model cannot be given what a random semi-bandit shows, in which no click means something else:
//!
//! ```compile_fail,E0277
//! use click_models::{ClickModel, Clicks, PositionBased, PrefixFeedback};
//! use policies::{Decision, PbmTs, Update};
//!
//! let users = PositionBased::from_values(&[0.5, 0.2], &[1.0])?;
//! let mut policy = PbmTs::new(users.known());
//! let seen = PrefixFeedback { clicks: Clicks::new(1) };
//! policy.update(&Decision::default(), &seen);
//! # Ok::<(), click_models::Error>(())
//! ```
//!
//! The same with `PbmFeedback` compiles:
//!
//! ```
//! use click_models::{ClickModel, Clicks, PbmFeedback, PositionBased};
//! use policies::{Decision, PbmTs, Update};
//!
//! let users = PositionBased::from_values(&[0.5, 0.2], &[1.0])?;
//! let mut policy = PbmTs::new(users.known());
//! let seen = PbmFeedback { clicks: Clicks::new(1) };
//! policy.update(&Decision::default(), &seen);
//! # Ok::<(), click_models::Error>(())
//! ```
//!
//! A caller who asks for a policy of one protocol is not given one of another:
//!
//! ```compile_fail,E0277
//! use click_models::{ClickModel, PositionBased, SemiBandit};
//! use policies::{PbmTs, Policy};
//!
//! fn play<P: Policy<SemiBandit>>(policy: P) {}
//!
//! let users = PositionBased::from_values(&[0.5, 0.2], &[1.0])?;
//! play(PbmTs::new(users.known()));
//! # Ok::<(), click_models::Error>(())
//! ```
//!
//! The compiler says so:
//!
//! ```text
//! error[E0277]: `policies::PbmTs` does not speak the `click_models::SemiBandit` protocol
//!   = help: for that trait implementation, expected `PbmFeedback`, found `click_models::PrefixFeedback`
//! ```
//!
//! A policy that speaks the protocol is welcome:
//!
//! ```
//! use click_models::{ListShape, SemiBandit};
//! use policies::{Policy, PrefixTs};
//!
//! fn play<P: Policy<SemiBandit>>(policy: P) {}
//!
//! play(PrefixTs::new(ListShape::new(2, 1)?));
//! # Ok::<(), click_models::Error>(())
//! ```
//!
//! A policy for the cascade learns from any prefix, and so speaks three protocols; but where a missing click above another may mean
//! that nobody looked, it does not compile:
//!
//! ```
//! use click_models::{Cascade, Dcm, ListShape, SemiBandit};
//! use policies::{Policy, PrefixUcb};
//!
//! fn play<P: Policy<Cascade> + Policy<Dcm> + Policy<SemiBandit>>(policy: P) {}
//!
//! play(PrefixUcb::cascade(ListShape::new(2, 1)?));
//! # Ok::<(), click_models::Error>(())
//! ```
//!
//! ```compile_fail,E0277
//! use click_models::{ListShape, Pbm};
//! use policies::{Policy, PrefixUcb};
//!
//! fn play<P: Policy<Pbm>>(policy: P) {}
//!
//! play(PrefixUcb::cascade(ListShape::new(2, 1)?));
//! # Ok::<(), click_models::Error>(())
//! ```
//!
//! A policy that relies on no click model speaks all four, and [`ReadAs`](crate::ReadAs) makes any other do so:
//!
//! ```
//! use click_models::{Cascade, Dcm, ListShape, Pbm, SemiBandit};
//! use policies::{Policy, PrefixUcb, ReadAs, TopRank};
//!
//! fn play<P: Policy<Pbm> + Policy<SemiBandit> + Policy<Cascade> + Policy<Dcm>>(policy: P) {}
//!
//! let shape = ListShape::new(2, 1)?;
//! play(TopRank::new(shape, 100_000));
//! play(ReadAs::<Cascade, _>::new(PrefixUcb::cascade(shape)));
//! # Ok::<(), click_models::Error>(())
//! ```

use click_models::Interaction;
use rand::Rng;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::ops::ControlFlow;

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

/// Says which action it would play for good if it had to say so now.
pub trait Recommend<A> {
    /// Writes the action to `out`, whatever `out` held before.
    fn recommend<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut A);
}

/// Stops by itself once it is sure enough of an answer.
///
/// A run asks before every round: some problems are solved before the first one, where every item is among the best for instance.
pub trait Stop {
    /// What it has been looking for. For a set of items: their ids in increasing order.
    type Answer;

    /// Whether to go on, or the answer. From then on the answer stays what it is, whatever is played and learned.
    fn check(&self) -> ControlFlow<Self::Answer>;
}
