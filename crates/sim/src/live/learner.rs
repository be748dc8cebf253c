//! A policy whose answers come late, as its table or as whole answers.

use super::catalogue::{Coming, Replacement};
use super::conditions::Delays;
use crate::SimRng;
use click_models::{
    CascadeFeedback, Clicks, DcmFeedback, ItemId, ItemSet, ListFeedback, ListProtocol, PbmFeedback,
    PrefixFeedback, Ranking,
};
use live::{Among, Counted, Handle, Live, Settings};
use policies::{Decision, Policy, Select, SelectAmong, Tallies};
use rand::Rng;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::marker::PhantomData;

/// Feedback of which parts may come late.
pub trait InParts: ListFeedback {
    /// Whether a click is the end of what there is to know.
    const CLICK_ENDS: bool = false;

    /// The number of positions that are known to have been seen at the end, of a list of
    /// `n_positions`.
    fn seen(&self, n_positions: usize) -> usize {
        n_positions
    }
}

impl InParts for PbmFeedback {}

impl InParts for DcmFeedback {}

impl InParts for CascadeFeedback {
    const CLICK_ENDS: bool = true;
}

impl InParts for PrefixFeedback {
    fn seen(&self, n_positions: usize) -> usize {
        self.clicks.len().min(n_positions)
    }
}

/// The answer to a list, with the round after which each part of it is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// Positions with clicks that are not lost, and the round.
    pub clicks: Vec<(usize, u64)>,
    /// Number of positions that were seen, and the round; no round if the end is lost.
    pub seen: usize,
    /// The round after which the end is known.
    pub end: Option<u64>,
}

/// A policy under the conditions of live use.
pub trait Learner {
    /// Takes the item that comes in the place of another one.
    fn replace(&mut self, replacement: Replacement);

    /// Chooses a list in a round, counted from 1, among the items that may be shown (all, without
    /// them), after it has learned from all that is known before the round.
    fn select(&mut self, round: u64, available: Option<&ItemSet>, rng: &mut SimRng, list: &mut Ranking);

    /// Takes the answer to the list of a round, of which it may use what is known by then.
    fn answered(&mut self, round: u64, answer: &Answer);
}

/// A policy that learns from a table, part by part.
#[derive(Debug, Clone)]
pub struct OnTable<I, P> {
    live: Live<I, P>,
    parts: BTreeMap<u64, Vec<Part>>,
    /// By place.
    handles: Vec<Handle>,
    among: Vec<Handle>,
}

/// A part of an answer that is not known yet, with the round of its list.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
enum Part {
    Click(u64, usize),
    End(u64, usize),
}

impl<I, P> OnTable<I, P> {
    /// A policy in live use. It keeps as many decisions open as can still be answered.
    ///
    /// # Errors
    ///
    /// As [`Live::new`].
    pub fn new(policy: P, settings: Settings, delays: &Delays) -> Result<Self, live::Error>
    where
        I: Counted,
        P: SelectAmong<Ranking, Note = ()> + Tallies,
    {
        let longest = usize::try_from(delays.longest()).unwrap_or(usize::MAX);
        let keep_open = settings.keep_open.min(longest.saturating_add(1));
        Ok(Self::with_parts(Live::new(policy, Settings { keep_open, ..settings })?, BTreeMap::new()))
    }

    fn with_parts(live: Live<I, P>, parts: BTreeMap<u64, Vec<Part>>) -> Self
    where
        I: Counted,
        P: SelectAmong<Ranking, Note = ()> + Tallies,
    {
        let places = (0..live.policy().n_items()).map(ItemId::from_index);
        let mut handles: Vec<Handle> = places.map(|slot| Handle { slot, generation: 0 }).collect();
        for handle in live.items() {
            handles[handle.slot.index()] = handle;
        }
        Self { live, parts, handles, among: Vec::new() }
    }
}

impl<I, P> Learner for OnTable<I, P>
where
    I: Counted,
    P: SelectAmong<Ranking, Note = ()> + Tallies,
{
    fn replace(&mut self, replacement: Replacement) {
        let Replacement { leaves, forgotten, comes } = replacement;
        // In a damaged state, an item may have no handle.
        let handle = |item: ItemId| self.handles.get(item.index()).copied();
        if let Some(leaves) = handle(leaves) {
            self.live.retire(leaves);
        }
        if let Some(forgotten) = forgotten.and_then(handle) {
            self.live.forget(forgotten);
        }
        match comes {
            Coming::Again(item) => {
                if let Some(again) = handle(item) {
                    self.live.bring_back(again);
                }
            }
            Coming::New(_) => {
                let handle = self.live.add_item();
                self.handles.resize(self.handles.len().max(handle.slot.index() + 1), handle);
                self.handles[handle.slot.index()] = handle;
            }
        }
    }

    fn select(&mut self, round: u64, available: Option<&ItemSet>, rng: &mut SimRng, list: &mut Ranking) {
        while let Some(first) = self.parts.first_entry().filter(|first| *first.key() < round) {
            for part in first.remove() {
                let _ = match part {
                    Part::Click(decision, position) => self.live.click(&decision, position),
                    Part::End(decision, seen) => self.live.close(&decision, Some(seen)),
                };
            }
        }
        let among = match available {
            None => Among::All,
            Some(available) => {
                self.among.clear();
                self.among.extend(available.iter().filter_map(|item| self.handles.get(item.index())));
                Among::Only(&self.among)
            }
        };
        list.clear();
        for handle in self.live.decide(&round, among, rng) {
            list.push(handle.slot);
        }
    }

    fn answered(&mut self, round: u64, answer: &Answer) {
        let clicks = answer.clicks.iter().map(|&(position, known)| (known, Part::Click(round, position)));
        let end = answer.end.map(|known| (known, Part::End(round, answer.seen)));
        for (known, part) in clicks.chain(end) {
            self.parts.entry(known).or_default().push(part);
        }
    }
}

impl<I, P: Serialize> Serialize for OnTable<I, P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.live, &self.parts).serialize(serializer)
    }
}

impl<'de, I, P> Deserialize<'de> for OnTable<I, P>
where
    I: Counted,
    P: SelectAmong<Ranking, Note = ()> + Tallies + Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (live, parts) = <(Live<I, P>, BTreeMap<u64, Vec<Part>>)>::deserialize(deserializer)?;
        Ok(Self::with_parts(live, parts))
    }
}

/// A policy that learns from whole answers: from each one once all of it is known, or, in order,
/// once all earlier ones are known as well.
pub struct InWhole<I, P: Select<Ranking>> {
    policy: P,
    /// In order, with the number of later decisions after which an answer is taken as it is.
    wait: Option<u64>,
    /// The first one first.
    waiting: VecDeque<Waiting<NoteOf<P>>>,
    protocol: PhantomData<fn() -> I>,
}

type NoteOf<P> = <P as Select<Ranking>>::Note;

#[derive(Serialize, Deserialize)]
struct Waiting<N> {
    decision: Decision<Ranking, N>,
    round: u64,
    clicks: u64,
    seen: usize,
    /// The round after which all of the answer is known.
    known: Option<u64>,
}

// Written by hand: a derived one would require it of the notes.
impl<I, P: Select<Ranking>> fmt::Debug for InWhole<I, P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("InWhole").field("wait", &self.wait).finish_non_exhaustive()
    }
}

impl<I, P> InWhole<I, P>
where
    I: ListProtocol,
    P: Policy<I>,
{
    /// A policy that learns from answers as they come, or in the order of its decisions if there is
    /// a number of decisions to wait.
    pub fn new(policy: P, wait: Option<u64>) -> Self {
        Self { policy, wait, waiting: VecDeque::new(), protocol: PhantomData }
    }

    /// The policy.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// Chooses a list in a round, counted from 1, from what was learned.
    pub fn decide<R: Rng + ?Sized>(&mut self, round: u64, rng: &mut R, list: &mut Ranking) {
        let mut decision = Decision::default();
        self.policy.select(rng, &mut decision);
        list.clone_from(&decision.action);
        self.waiting.push_back(Waiting { decision, round, clicks: 0, seen: 0, known: None });
    }

    /// Learns from what is known before a round.
    pub fn learn(&mut self, round: u64) {
        let Self { policy, wait, waiting, .. } = self;
        let mut learn = |one: &Waiting<NoteOf<P>>| {
            let clicks = Clicks::from_bits(one.clicks, one.seen).unwrap_or_else(|_| Clicks::new(one.seen));
            policy.update(&one.decision, &I::read(clicks, one.seen));
        };
        let is_known = |one: &Waiting<NoteOf<P>>| one.known.is_some_and(|known| known < round);
        match *wait {
            None => waiting.retain(|one| {
                let is_known = is_known(one);
                if is_known {
                    learn(one);
                }
                !is_known
            }),
            Some(wait) => {
                while let Some(first) = waiting.front() {
                    if !is_known(first) && round.saturating_sub(first.round) <= wait.saturating_add(1) {
                        break;
                    }
                    learn(first);
                    waiting.pop_front();
                }
            }
        }
    }
}

impl<I, P> Learner for InWhole<I, P>
where
    I: ListProtocol,
    P: Policy<I>,
{
    fn replace(&mut self, _replacement: Replacement) {
        unreachable!("only policies with a table play where items are replaced")
    }

    fn select(&mut self, round: u64, _available: Option<&ItemSet>, rng: &mut SimRng, list: &mut Ranking) {
        self.learn(round);
        self.decide(round, rng, list);
    }

    fn answered(&mut self, _round: u64, answer: &Answer) {
        let Some(last) = self.waiting.back_mut() else { return };
        last.clicks = answer.clicks.iter().fold(0, |bits, &(position, _)| bits | 1 << position);
        last.seen = answer.seen;
        let latest = answer.clicks.iter().map(|&(_, known)| known).max();
        last.known = answer.end.map(|end| latest.map_or(end, |latest| latest.max(end)));
        if last.known.is_none() && self.wait.is_none() {
            self.waiting.pop_back();
        }
    }
}

/// The policy is last: its own last field may be missing in older states.
#[derive(Serialize, Deserialize)]
struct Saved<W, P> {
    wait: Option<u64>,
    waiting: W,
    policy: P,
}

impl<I, P> Serialize for InWhole<I, P>
where
    P: Select<Ranking> + Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Saved { wait: self.wait, waiting: &self.waiting, policy: &self.policy }.serialize(serializer)
    }
}

impl<'de, I, P> Deserialize<'de> for InWhole<I, P>
where
    I: ListProtocol,
    P: Policy<I> + Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Saved { wait, waiting, policy } =
            Saved::<VecDeque<Waiting<NoteOf<P>>>, P>::deserialize(deserializer)?;
        if waiting.iter().any(|one| Clicks::from_bits(one.clicks, one.seen).is_err()) {
            return Err(D::Error::custom("clicks below the end of a list"));
        }
        Ok(Self { policy, wait, waiting, protocol: PhantomData })
    }
}
