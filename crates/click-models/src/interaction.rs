//! Interaction protocols: what is shown and what comes back.
//!
//! A zero means different things in different protocols: in the position-based model "not examined, or not attractive", in
//! the random semi-bandit "examined and not attractive" inside the observed prefix and nothing at all below it. So every
//! protocol has a feedback type of its own, and a policy says by its trait implementations which ones it can read.
//!
//! # Examples
//!
//! A model counts the clicks of its own protocol:
//!
//! ```
//! use click_models::{ClickModel, RandomSemiBandit};
//! use rand::SeedableRng;
//! use rand_xoshiro::Xoshiro256PlusPlus;
//!
//! let readers = RandomSemiBandit::from_values(&[0.5, 0.2], &[1.0, 0.5])?;
//! let seen = readers.respond(&readers.optimal_action(), &mut Xoshiro256PlusPlus::seed_from_u64(7));
//! assert!(readers.reward(&seen) <= 2.0);
//! # Ok::<(), click_models::Error>(())
//! ```
//!
//! What a random semi-bandit shows cannot be read as what a position-based user shows; this does not compile:
//!
//! ```compile_fail,E0308
//! use click_models::{ClickModel, PositionBased, RandomSemiBandit};
//! use rand::SeedableRng;
//! use rand_xoshiro::Xoshiro256PlusPlus;
//!
//! let readers = RandomSemiBandit::from_values(&[0.5, 0.2], &[1.0, 0.5])?;
//! let viewers = PositionBased::from_values(&[0.5, 0.2], &[1.0, 0.5])?;
//! let seen = readers.respond(&readers.optimal_action(), &mut Xoshiro256PlusPlus::seed_from_u64(7));
//! viewers.reward(&seen);
//! # Ok::<(), click_models::Error>(())
//! ```

use crate::{Clicks, Ranking};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::fmt::Debug;

/// A protocol: the type of what the learner plays and of what it sees. Implemented by uninhabited tags.
pub trait Interaction: 'static {
    /// What the learner plays in a round.
    type Action: Clone + Default + Send + Debug + Serialize + DeserializeOwned;
    /// What it sees of the user's answer.
    type Feedback: Clone + Send + Debug + Serialize + DeserializeOwned;
}

/// Position-based model: a list is shown; every position reports a click or none, and none may mean "not examined".
#[derive(Debug)]
pub enum Pbm {}

/// Random semi-bandit: a list is shown; the user rates the items of a prefix, and where the prefix ends is seen.
#[derive(Debug)]
pub enum SemiBandit {}

impl Interaction for Pbm {
    type Action = Ranking;
    type Feedback = PbmFeedback;
}

impl Interaction for SemiBandit {
    type Action = Ranking;
    type Feedback = PrefixFeedback;
}

/// What a position-based round shows: clicks at every position; a position without one was not examined or not attractive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PbmFeedback {
    /// Clicks of all positions.
    pub clicks: Clicks,
}

/// What a random semi-bandit round shows: the ratings of an observed prefix; nothing is known below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrefixFeedback {
    /// Clicks inside the observed prefix; their length is the length of the prefix.
    pub clicks: Clicks,
}

/// Feedback that reveals a prefix of the list: inside it a click means attractive and no click means not attractive.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not reveal a prefix of the list",
    note = "policies for an observed prefix do not speak the protocol of this feedback"
)]
pub trait ObservedPrefix {
    /// The clicks in the observed prefix; [`Clicks::len`] positions were observed, from the top.
    fn observed_clicks(&self) -> Clicks;
}

impl ObservedPrefix for PrefixFeedback {
    #[inline]
    fn observed_clicks(&self) -> Clicks {
        self.clicks
    }
}
