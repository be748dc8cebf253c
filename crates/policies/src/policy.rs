//! The traits of every policy: select an action, and learn from the feedback.
//!
//! `Select` is generic over the action, and `Update` over action and feedback. So one policy can
//! play several protocols, and a policy on a protocol that it does not speak does not compile.
//! Callers pass the random generator to every call. A policy never stores it, so the policy and the
//! generator are saved separately.
//!
//! # Examples
//!
//! A policy of the position-based model does not accept the feedback of a random semi-bandit, in
//! which a missing click means something else:
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
//! With `PbmFeedback` it compiles:
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
//! A function that requires a policy of one protocol does not accept one of another:
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
//! The compiler's message:
//!
//! ```text
//! error[E0277]: `policies::PbmTs` does not speak the `click_models::SemiBandit` protocol
//!   = help: for that trait implementation, expected `PbmFeedback`, found `click_models::PrefixFeedback`
//! ```
//!
//! It accepts a policy that speaks the protocol:
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
//! A policy for the cascade learns from any prefix, so it speaks three protocols. It does not
//! compile on position-based users, where a missing click may mean that the position was not
//! examined:
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
//! A policy that relies on no click model speaks all four protocols, and [`ReadAs`](crate::ReadAs)
//! adapts any other:
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

/// An action, and what the policy needs to know about it when the feedback arrives late or out of
/// order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision<A, N = ()> {
    /// The action to play.
    pub action: A,
    /// The policy's note, returned to it with the feedback.
    pub note: N,
}

/// Chooses actions of type `A`.
pub trait Select<A> {
    /// The information about a decision that the policy needs when its feedback arrives.
    type Note: Clone + Default + Send + Serialize + DeserializeOwned;

    /// Decides the next round and writes the decision to `out`, whose previous content does not
    /// matter.
    ///
    /// Allocates nothing once `out` has been used for a round.
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<A, Self::Note>);
}

/// Learns from feedback of type `F` on actions of type `A`.
pub trait Update<A, F>: Select<A> {
    /// Learns from the feedback on `decision`. Never fails, allocates nothing, and uses no
    /// randomness. Ignores unknown items.
    fn update(&mut self, decision: &Decision<A, Self::Note>, feedback: &F);
}

/// A policy for the protocol `I`: any type that selects its actions and learns from its feedback.
#[diagnostic::on_unimplemented(message = "`{Self}` does not speak the `{I}` protocol")]
pub trait Policy<I: Interaction>: Update<I::Action, I::Feedback> {}

impl<I: Interaction, P: Update<I::Action, I::Feedback>> Policy<I> for P {}

/// Recommends an action to play for good, given the feedback so far.
pub trait Recommend<A> {
    /// Writes the action to `out`, whose previous content does not matter.
    fn recommend<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut A);
}

/// Stops with an answer once the feedback supports it.
///
/// A run checks before every round, since some problems are solved before the first one: for
/// example if every item is among the best.
pub trait Stop {
    /// Type of the answer. A set of items is a list of ids in increasing order.
    type Answer;

    /// `Continue`, or `Break` with the answer. The answer never changes afterwards.
    fn check(&self) -> ControlFlow<Self::Answer>;
}
