//! A policy for one click model, played on users of another.
//!
//! Feedback of every protocol of lists is read as that of the protocol `To`, for which the policy was made:
//!
//! | `To` | what the policy is told |
//! |---|---|
//! | `Cascade` | the first click; without one the whole list was read |
//! | `Dcm` | all clicks: the list was read down to the last one, without one all of it |
//! | `SemiBandit` | the whole list was read: what was not clicked is not attractive |
//! | `Pbm` | the clicks as they are: what was not observed was not clicked |
//!
//! So a wrong model is a choice that the program shows, never a mistake that compiles.
//!
//! Reference: none; the comparison of click bandits on users of several click models goes back to Zoghi et al., ICML 2017.
//! Deviations: none. Symbols: none. Numerics: none. Complexity: that of the policy, and a few instructions a round.
//!
//! # Examples
//!
//! A cascade policy on position-based users: of two clicks it is told the first, and takes what stands below for not looked at.
//!
//! ```
//! use click_models::{Cascade, ClickModel, Clicks, ItemId, PbmFeedback, PositionBased};
//! use policies::{Decision, PrefixTs, ReadAs, Update};
//!
//! let users = PositionBased::from_values(&[0.5, 0.2, 0.1], &[0.9, 0.6, 0.3])?;
//! let mut policy = ReadAs::<Cascade, _>::new(PrefixTs::new(users.shape()));
//! let list = [1, 0, 2].map(ItemId::new).into_iter().collect();
//! let clicks = PbmFeedback { clicks: Clicks::new(3).with(1).with(2) };
//! policy.update(&Decision { action: list, note: () }, &clicks);
//!
//! let saved = serde_json::to_value(policy.policy()).expect("saved");
//! assert_eq!(saved["counts"]["shows"], serde_json::json!([1, 1, 0]));
//! assert_eq!(saved["counts"]["clicks"], serde_json::json!([1, 0, 0]));
//! # Ok::<(), click_models::Error>(())
//! ```
//!
//! Without the adapter this does not compile:
//!
//! ```compile_fail,E0277
//! use click_models::{ClickModel, Clicks, PbmFeedback, PositionBased};
//! use policies::{Decision, PrefixTs, Update};
//!
//! let users = PositionBased::from_values(&[0.5, 0.2, 0.1], &[0.9, 0.6, 0.3])?;
//! let mut policy = PrefixTs::new(users.shape());
//! policy.update(&Decision::default(), &PbmFeedback { clicks: Clicks::new(3) });
//! # Ok::<(), click_models::Error>(())
//! ```

use crate::{Decision, Select, Update};
use click_models::{ListFeedback, ListProtocol, ListShape, Ranking};
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Debug, Formatter};
use std::marker::PhantomData;

/// The policy `P` for the protocol `To`, which learns from every list's clicks as if they were those of `To`.
///
/// Saved as the policy itself.
#[derive(Serialize, Deserialize)]
#[serde(transparent, bound(serialize = "P: Serialize", deserialize = "P: Deserialize<'de>"))]
pub struct ReadAs<To, P> {
    policy: P,
    #[serde(skip)]
    to: PhantomData<fn() -> To>,
}

impl<To, P> ReadAs<To, P> {
    /// Lets `policy`, made for the protocol `To`, play on the users of any.
    pub fn new(policy: P) -> Self {
        Self { policy, to: PhantomData }
    }

    /// The policy that learns.
    pub fn policy(&self) -> &P {
        &self.policy
    }
}

// By hand, since a derived one would ask the tag `To` for it, which has no values.
impl<To, P: Clone> Clone for ReadAs<To, P> {
    fn clone(&self) -> Self {
        Self::new(self.policy.clone())
    }
}

impl<To, P: Debug> Debug for ReadAs<To, P> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReadAs").field(&self.policy).finish()
    }
}

impl<To: ListProtocol, P: Select<Ranking>> Select<Ranking> for ReadAs<To, P> {
    type Note = P::Note;

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking, P::Note>) {
        self.policy.select(rng, out);
    }
}

impl<To, P, F> Update<Ranking, F> for ReadAs<To, P>
where
    To: ListProtocol,
    P: Update<Ranking, To::Feedback>,
    F: ListFeedback,
{
    #[inline]
    fn update(&mut self, decision: &Decision<Ranking, P::Note>, feedback: &F) {
        let n_positions = decision.action.len().min(ListShape::MAX_POSITIONS);
        self.policy.update(decision, &To::read(feedback.list_clicks(), n_positions));
    }
}
