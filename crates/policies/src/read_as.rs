//! Plays a policy for one click model on users of another.
//!
//! Reads the feedback of any list protocol as that of `To`, which the policy was made for:
//!
//! | `To` | what the policy receives |
//! |---|---|
//! | `Cascade` | the first click; without a click, the whole list was examined |
//! | `Dcm` | all clicks; the list was examined down to the last click, and completely if there is none |
//! | `SemiBandit` | the whole list was examined: items without a click do not attract |
//! | `Pbm` | the clicks as they are: unobserved positions were not clicked |
//!
//! So a wrong model is an explicit choice in the program, and never a mistake that compiles.
//!
//! Reference: none; Zoghi et al., ICML 2017, compare click bandits on users of several click
//! models. Deviations: none. Symbols: none. Numerics: none. Complexity: the policy's, and a few
//! instructions a round.
//!
//! # Examples
//!
//! A cascade policy on position-based users receives the first of two clicks.
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

use crate::{Decision, Select, Setup, Update};
use click_models::{ListFeedback, ListProtocol, ListShape, Ranking};
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Debug, Formatter};
use std::marker::PhantomData;

/// The policy `P` for the protocol `To`; it reads the clicks of any list as feedback of `To`.
///
/// Saved as the policy itself.
#[derive(Serialize, Deserialize, fieldwork::Fieldwork)]
#[serde(transparent, bound(serialize = "P: Serialize", deserialize = "P: Deserialize<'de>"))]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct ReadAs<To, P> {
    /// The adapted policy.
    #[field]
    policy: P,
    #[serde(skip)]
    to: PhantomData<fn() -> To>,
}

impl<To, P> ReadAs<To, P> {
    /// Adapts `policy`, made for the protocol `To`, to users of any list protocol.
    pub fn new(policy: P) -> Self {
        Self { policy, to: PhantomData }
    }
}

// Written by hand: a derived one would also require it of the tag `To`.
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

impl<To, P: Setup> Setup for ReadAs<To, P> {
    fn sizes(&self) -> [usize; 2] {
        self.policy.sizes()
    }
}

impl<To: ListProtocol, P: Select<Ranking>> Select<Ranking> for ReadAs<To, P> {
    type Note = P::Note;

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking, P::Note>) {
        self.policy.select(rng, out);
    }

    fn repeat_round(&mut self) -> bool {
        self.policy.repeat_round()
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
