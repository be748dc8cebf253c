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

use crate::{Prior, Terms, Valued};
use click_models::{Interaction, ItemId, ItemSet};
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

    /// Takes the last decision back, so that the next one is made for the same round. Only chains
    /// of samples stay advanced. [`Drawn`](crate::Drawn) calls it to draw several lists for a user.
    ///
    /// Returns `false`, and changes nothing, if the policy would decide the same again or cannot
    /// decide twice in a round.
    fn repeat_round(&mut self) -> bool {
        false
    }
}

/// Learns from feedback of type `F` on actions of type `A`.
pub trait Update<A, F>: Select<A> {
    /// Learns from the feedback. Never fails, allocates, or draws. Ignores unknown items.
    fn update(&mut self, decision: &Decision<A, Self::Note>, feedback: &F);
}

/// Chooses among the items that may be shown.
///
/// # Examples
///
/// ```
/// use click_models::{ItemId, ItemSet, ListShape, Ranking};
/// use policies::{Decision, PrefixTs, SelectAmong, Tallies, Tally};
/// use rand::{SeedableRng, rngs::ChaCha8Rng};
///
/// let mut policy = PrefixTs::new(ListShape::new(3, 2)?);
/// policy.add(ItemId::new(2), 0, Tally { shows: 500, clicks: 250 });
/// policy.set_present(ItemId::new(0), false);
/// let new = policy.add_item();
/// // Of four items one is absent, and another one must not be shown.
/// let mut available = ItemSet::all(policy.n_items());
/// available.remove(ItemId::new(1));
/// let mut decision = Decision::<Ranking>::default();
/// policy.select_among(&available, &mut ChaCha8Rng::seed_from_u64(1), &mut decision);
/// assert!(decision.action.len() == 2 && decision.action.contains(new));
/// // The display counts, and is taken back.
/// policy.add(new, 0, Tally { shows: 1, clicks: 0 });
/// policy.take_back(new, 0, Tally { shows: 1, clicks: 0 });
/// assert_eq!(policy.tally(new, 0), Tally::default());
/// # Ok::<(), click_models::Error>(())
/// ```
pub trait SelectAmong<A>: Select<A> {
    /// As [`Select::select`], among the items of `available` that are present. If there are fewer
    /// of them than positions, the list is shorter: it fills the top positions, by examination or
    /// probability of leaving as a full list does. Unknown items are ignored.
    ///
    /// [`Select::select`] itself chooses among all items, also absent ones. Allocates nothing once
    /// `out` has been used for a round.
    fn select_among<R: Rng + ?Sized>(
        &mut self,
        available: &ItemSet,
        rng: &mut R,
        out: &mut Decision<A, Self::Note>,
    );

    /// Counts a round whose list the policy did not choose, such as that of another server.
    fn pass_round(&mut self) {}
}

/// Numbers of displays and clicks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Displays that count as observed.
    pub shows: u64,
    /// Clicks on them.
    pub clicks: u64,
}

/// A policy that learns from a table of displays and clicks, which can be added to and taken from.
///
/// The table determines the policy's estimates: displays that were counted and taken back leave no
/// trace in them. Unknown items and kinds have no displays, and changes of them are ignored.
pub trait Tallies {
    /// Number of items, with those that are absent.
    fn n_items(&self) -> usize;

    /// Number of positions, if displays are counted by position; otherwise 1.
    fn n_kinds(&self) -> usize;

    /// Displays and clicks of an item, at the position `kind` if displays are counted by position.
    fn tally(&self, item: ItemId, kind: usize) -> Tally;

    /// Adds displays and clicks, up to 2^40 displays in all. There are at most as many clicks as
    /// displays.
    fn add(&mut self, item: ItemId, kind: usize, tally: Tally);

    /// Takes displays and clicks back, at most those that there are.
    fn take_back(&mut self, item: ItemId, kind: usize, tally: Tally);

    /// Adds an item without displays, the next one by number, and present. Allocates, but in
    /// constant amortised time.
    fn add_item(&mut self) -> ItemId;

    /// Returns whether an item is part of the catalogue now; all are at first. Its displays and
    /// clicks stay.
    fn set_present(&mut self, item: ItemId, present: bool);

    /// The policy, if it draws from posteriors.
    fn bayesian(&mut self) -> Option<&mut dyn Bayesian>;

    /// Number of positions of a list.
    fn n_positions(&self) -> usize;

    /// The position of the item of this rank, 0 for the best, in the list that was chosen last.
    fn place(&self, rank: usize) -> usize;

    /// Sets the terms of the next choices [among](SelectAmong) some items; by default there are
    /// none. They are not saved.
    fn set_terms(&mut self, terms: Option<Box<Terms>>);

    /// The policy, if its lists can be those that earn most.
    fn valued(&mut self) -> Option<&mut dyn Valued>;
}

/// A policy that draws from posteriors, with the same prior for the attraction of every item.
pub trait Bayesian {
    /// Replaces the prior. The prior of a fresh policy is uniform.
    ///
    /// # Errors
    ///
    /// [`Error::PriorTooSmall`](crate::Error::PriorTooSmall) if the policy cannot draw from its
    /// posterior.
    fn set_prior(&mut self, prior: Prior) -> Result<(), crate::Error>;

    /// Replaces the prior by an estimate, of which each shape is raised to the least that the
    /// policy can draw from: `b` to 1, and `a` to 1 where that is needed.
    fn set_estimated_prior(&mut self, a: f64, b: f64) {
        let (a, b) = (a.clamp(Prior::LEAST, Prior::MOST), b.clamp(1.0, Prior::MOST));
        let mut set = |a| Prior::new(a, b).and_then(|prior| self.set_prior(prior));
        // Not a number: no estimate.
        _ = set(a).or_else(|_| set(a.max(1.0)));
    }

    /// Replaces the prior by that of a fit: where a shape is less than the policy can draw from,
    /// both are raised by one factor, so that the mean stays.
    fn set_fitted_prior(&mut self, a: f64, b: f64) {
        let mut set = |least: f64| {
            let factor = (least / a).max(1.0 / b).max(1.0);
            let [a, b] = [a, b].map(|shape| (factor * shape).min(Prior::MOST));
            Prior::new(a, b).and_then(|prior| self.set_prior(prior))
        };
        // Not a number: no prior.
        _ = set(Prior::LEAST).or_else(|_| set(1.0));
    }

    /// The prior.
    fn prior(&self) -> Prior;

    /// How probably each position is examined, as far as the policy knows. Empty if the table has
    /// examined displays only.
    fn examination(&self) -> &[f64];
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
