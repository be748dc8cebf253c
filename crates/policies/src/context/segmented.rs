use super::{SelectFor, UpdateFor};
use crate::{Decision, Error, Select, Setup, Update};
use click_models::{Context, Ranking};
use rand::Rng;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A policy for each segment of users, each of which learns from its segment alone.
///
/// Users of segments that were not announced share one more policy.
///
/// Reference: Bendada, Salha, Bontempelli, *Carousel personalization in music streaming apps with
/// contextual bandits*, `RecSys` 2020 (ts-seg, with Thompson sampling). Deviations: any policy for
/// lists.
///
/// # Examples
///
/// ```
/// use click_models::{Context, ListShape};
/// use policies::{Decision, PrefixTs, Segmented, SelectFor};
/// use rand::{SeedableRng, rngs::ChaCha8Rng};
///
/// let mut policy = Segmented::new(PrefixTs::new(ListShape::new(5, 2)?), 3);
/// let mut decision = Decision::default();
/// let user = Context { segment: 2, features: vec![] };
/// policy.select_for(&user, &mut ChaCha8Rng::seed_from_u64(1), &mut decision);
/// assert_eq!(decision.note.segment, 2);
/// # Ok::<(), click_models::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "State<P>")]
#[serde(bound(deserialize = "P: Deserialize<'de> + Select<Ranking>"))]
pub struct Segmented<P: Select<Ranking>> {
    n_segments: u32,
    /// One for each segment, then that of all others.
    policies: Vec<P>,
    /// The decision whose policy chooses or learns.
    #[serde(skip)]
    buffer: Decision<Ranking, P::Note>,
}

#[derive(Deserialize)]
struct State<P> {
    n_segments: u32,
    policies: Vec<P>,
}

/// The segment of a decision, with the note of its policy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentedNote<N> {
    /// Segment of the user.
    pub segment: u32,
    /// Note of the segment's policy.
    pub note: N,
}

impl<P: Select<Ranking> + Clone> Segmented<P> {
    /// A copy of this fresh policy for each of `n_segments` segments.
    pub fn new(policy: P, n_segments: u32) -> Self {
        Self { n_segments, policies: vec![policy; n_segments as usize + 1], buffer: Decision::default() }
    }
}

impl<P: Select<Ranking>> Segmented<P> {
    /// The policy of a segment.
    pub fn policy(&self, segment: u32) -> &P {
        &self.policies[self.place(segment)]
    }

    fn place(&self, segment: u32) -> usize {
        (segment as usize).min(self.policies.len() - 1)
    }
}

impl<P: Select<Ranking>> SelectFor<Ranking> for Segmented<P> {
    type Note = SegmentedNote<P::Note>;

    fn select_for<R: Rng + ?Sized>(
        &mut self,
        context: &Context,
        rng: &mut R,
        out: &mut Decision<Ranking, Self::Note>,
    ) {
        let place = self.place(context.segment);
        self.policies[place].select(rng, &mut self.buffer);
        out.action.clone_from(&self.buffer.action);
        out.note.segment = context.segment;
        out.note.note.clone_from(&self.buffer.note);
    }
}

impl<P: Select<Ranking> + Setup> Setup for Segmented<P> {
    const SETTINGS: &'static [&'static str] = &["/n_segments"];

    fn settings(&self) -> Vec<Cow<'static, str>> {
        let of_one = |(place, policy): (usize, &P)| {
            let inside = policy.settings().into_iter();
            inside.map(move |pointer| format!("/policies/{place}{pointer}").into()).collect::<Vec<_>>()
        };
        let of_all = self.policies.iter().enumerate().flat_map(of_one);
        Self::SETTINGS.iter().map(|&pointer| pointer.into()).chain(of_all).collect()
    }

    fn sizes(&self) -> [usize; 2] {
        self.policies[0].sizes()
    }
}

impl<F, P: Update<Ranking, F>> UpdateFor<Ranking, F> for Segmented<P> {
    fn update_for(&mut self, decision: &Decision<Ranking, Self::Note>, feedback: &F) {
        self.buffer.action.clone_from(&decision.action);
        self.buffer.note.clone_from(&decision.note.note);
        let place = self.place(decision.note.segment);
        self.policies[place].update(&self.buffer, feedback);
    }
}

impl<P: Select<Ranking>> TryFrom<State<P>> for Segmented<P> {
    type Error = Error;

    fn try_from(State { n_segments, policies }: State<P>) -> Result<Self, Error> {
        if policies.len() != n_segments as usize + 1 {
            return Err(Error::SavedSizes);
        }
        Ok(Self { n_segments, policies, buffer: Decision::default() })
    }
}
