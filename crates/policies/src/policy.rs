//! The traits of every policy: select an action, and learn from the feedback.
//!
//! `Select` is generic over the action, and `Update` over action and feedback. So one policy can
//! play several protocols, and a policy on a protocol that it cannot read does not compile. Callers
//! pass the random generator to every call; it is saved apart from the policy.
//!
//! # Examples
//!
//! A missing click means something else in every protocol. A policy of the position-based model
//! does not accept the feedback of a random semi-bandit; with `PbmFeedback` this compiles:
//!
//! ```compile_fail,E0277
//! use click_models::{ClickModel, Clicks, PositionBased, PrefixFeedback};
//! use policies::{Decision, PbmTs, Update};
//!
//! let users = PositionBased::from_values(&[0.5, 0.2], &[1.0])?;
//! let seen = PrefixFeedback { clicks: Clicks::new(1) };
//! PbmTs::new(users.known()).update(&Decision::default(), &seen);
//! # Ok::<(), click_models::Error>(())
//! ```
//!
//! A function that requires a policy of one protocol does not accept one of another. The compiler's
//! message is "`policies::PbmTs` does not speak the `click_models::SemiBandit` protocol":
//!
//! ```compile_fail,E0277
//! use click_models::{ClickModel, PositionBased, SemiBandit};
//! use policies::{PbmTs, Policy};
//!
//! fn play<P: Policy<SemiBandit>>(policy: P) {}
//!
//! play(PbmTs::new(PositionBased::from_values(&[0.5, 0.2], &[1.0])?.known()));
//! # Ok::<(), click_models::Error>(())
//! ```
//!
//! A policy for the cascade learns from any prefix, so it speaks three protocols, but not that of
//! position-based users. A policy that relies on no click model speaks all of these, and
//! [`ReadAs`](crate::ReadAs) adapts any other:
//!
//! ```
//! use click_models::{Cascade, Dcm, ListShape, Pbm, SemiBandit};
//! use policies::{Policy, PrefixUcb, ReadAs, TopRank};
//!
//! fn on_prefixes<P: Policy<Cascade> + Policy<Dcm> + Policy<SemiBandit>>(policy: P) {}
//! fn on_lists<P: Policy<Pbm> + Policy<SemiBandit> + Policy<Cascade> + Policy<Dcm>>(policy: P) {}
//!
//! let shape = ListShape::new(2, 1)?;
//! on_prefixes(PrefixUcb::cascade(shape));
//! on_lists(TopRank::new(shape, 100_000));
//! on_lists(ReadAs::<Cascade, _>::new(PrefixUcb::cascade(shape)));
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

use click_models::Interaction;
use rand::Rng;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::ops::ControlFlow;

/// An action, and the policy's note for feedback that arrives late or out of order.
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

    /// Writes the next decision to `out`, whose previous content does not matter.
    ///
    /// Allocates nothing once `out` has been used for a round.
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<A, Self::Note>);
}

/// Learns from feedback of type `F` on actions of type `A`.
pub trait Update<A, F>: Select<A> {
    /// Learns from the feedback. Never fails, allocates, or draws. Ignores unknown items.
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
/// Runs check before every round: some problems are solved before the first one.
pub trait Stop {
    /// Type of the answer. A set of items is a list of ids in increasing order.
    type Answer;

    /// `Continue`, or `Break` with the answer. The answer never changes afterwards.
    fn check(&self) -> ControlFlow<Self::Answer>;
}
