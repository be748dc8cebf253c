//! A policy of the catalogue for each segment of users.

use super::super::PolicySpec;
use super::super::erased::{Able, Ask, BoxedPolicy, DynPolicy, Maker, Note};
use super::super::reader::{Kind, List, Parts, Reader};
use super::{CatalogueProtocol, Knowledge};
use crate::context::SegmentedNote;
use crate::{Decision, Error};
use click_models::{Clicks, Ranking};
use rand::Rng;
use serde::de::Error as _;
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;

/// Makes the policies of `segmented`; `None` for another name, or if the policy of a segment does
/// not play the protocol.
pub(super) fn segments<I: CatalogueProtocol>(spec: &PolicySpec) -> Option<Maker> {
    let PolicySpec::Segmented { of } = spec else { return None };
    let [maker, of_saved] = [(); 2].map(|()| I::maker(&of.spec()));
    let (maker, of_saved) = (maker?, of_saved?);
    let fresh = move |knowledge: &Knowledge| -> Result<BoxedPolicy, Error> {
        let known = knowledge.contexts()?;
        let (n_segments, n_items) = (known.n_segments(), known.n_items());
        if n_items.checked_mul(n_segments as usize).is_none_or(|n_cells| n_cells > MOST_CELLS) {
            return Err(Error::TooManyCells { n_segments, n_items });
        }
        // Fresh ones and no copies: a copy has no room in its buffers, and would allocate later.
        let policies = (0..=n_segments).map(|_| (maker.fresh)(knowledge)).collect::<Result<_, _>>()?;
        Ok(Box::new(OfSegments { n_segments, policies, buffer: Decision::default() }))
    };
    let saved = move |state: Reader<'_, '_>| -> Result<BoxedPolicy, _> {
        let (mut n_segments, mut policies) = (0_u32, vec![]);
        list(state, Kind::Struct("Segmented", &["n_segments", "policies"]), &mut |fields| {
            fields.next(&mut |state| u32::deserialize(state).map(|found| n_segments = found))?;
            let of_segments = &mut |states: &mut dyn List<'_>| {
                while states.next(&mut |state| (of_saved.saved)(state).map(|one| policies.push(one)))? {}
                Ok(())
            };
            fields.next(&mut |state| list(state, Kind::List, of_segments)).map(|_| ())
        })?;
        let differ = policies.windows(2).any(|two: &[BoxedPolicy]| two[0].sizes() != two[1].sizes());
        if differ || policies.len() != n_segments as usize + 1 {
            return Err(erased_serde::Error::custom(Error::SavedSizes));
        }
        Ok(Box::new(OfSegments { n_segments, policies, buffer: Decision::default() }))
    };
    Some(Maker { fresh: Box::new(fresh), saved: Box::new(saved), type_name: "Segmented" })
}

/// Reads the parts of a list, or of a struct in the order of its fields.
fn list<'de>(
    state: Reader<'_, 'de>,
    kind: Kind,
    read: &mut dyn FnMut(&mut dyn List<'de>) -> Result<(), erased_serde::Error>,
) -> Result<(), erased_serde::Error> {
    let expected = "the number of segments, and their policies".to_owned();
    state.take_apart(kind, expected, &mut |parts| match parts {
        Parts::List(list) => read(list),
        _ => Err(erased_serde::Error::custom("segments without their number or their policies")),
    })
}

/// The most pairs of segments and items.
const MOST_CELLS: usize = 1 << 24;

/// As [`Segmented`](crate::Segmented), of policies whose type is known at run time only.
#[derive(Clone)]
struct OfSegments {
    n_segments: u32,
    /// One for each segment, then that of all others.
    policies: Vec<BoxedPolicy>,
    /// The decision whose policy chooses or learns.
    buffer: Decision<Ranking, Note>,
}

impl OfSegments {
    fn policy(&mut self, segment: u32) -> (&mut BoxedPolicy, &mut Decision<Ranking, Note>) {
        let place = (segment as usize).min(self.policies.len() - 1);
        (&mut self.policies[place], &mut self.buffer)
    }
}

impl Able for OfSegments {}

impl DynPolicy for OfSegments {
    fn select(&mut self, ask: &Ask<'_>, rng: &mut dyn Rng, out: &mut Decision<Ranking, Note>) {
        let segment = ask.context.segment;
        let (policy, buffer) = self.policy(segment);
        policy.select(&Ask { among: ask.among, ..Ask::default() }, rng, buffer);
        out.action.clone_from(&buffer.action);
        match &mut out.note {
            Note::Segment(kept) => {
                kept.segment = segment;
                kept.note.clone_from(&buffer.note);
            }
            note => *note = Note::Segment(Box::new(SegmentedNote { segment, note: buffer.note.clone() })),
        }
    }

    fn update(&mut self, decision: &Decision<Ranking, Note>, clicks: Clicks) {
        let (segment, note) = match &decision.note {
            Note::Segment(kept) => (kept.segment, &kept.note),
            _ => (0, &Note::Nothing),
        };
        let (policy, buffer) = self.policy(segment);
        buffer.action.clone_from(&decision.action);
        buffer.note.clone_from(note);
        policy.update(buffer, clicks);
    }

    fn sizes(&self) -> [usize; 2] {
        self.policies[0].sizes()
    }

    fn settings(&self) -> Vec<Cow<'static, str>> {
        let of_one = |(place, policy): (usize, &BoxedPolicy)| {
            let inside = policy.settings().into_iter();
            inside.map(move |pointer| format!("/policies/{place}{pointer}").into()).collect::<Vec<_>>()
        };
        let of_all = self.policies.iter().enumerate().flat_map(of_one);
        std::iter::once("/n_segments".into()).chain(of_all).collect()
    }

    fn state(&self) -> &dyn erased_serde::Serialize {
        self
    }
}

impl Serialize for OfSegments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Segmented<'a> {
            n_segments: u32,
            policies: Vec<&'a dyn erased_serde::Serialize>,
        }
        let policies = self.policies.iter().map(|policy| policy.state()).collect();
        Segmented { n_segments: self.n_segments, policies }.serialize(serializer)
    }
}
