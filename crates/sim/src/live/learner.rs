//! A policy whose answers come late, as its table or as whole answers.

use super::catalogue::{Newcomer, Replacement};
use super::conditions::Delays;
use crate::SimRng;
use click_models::{
    CascadeFeedback, Clicks, DcmFeedback, ItemId, ItemSet, ListFeedback, ListProtocol, PbmFeedback,
    PrefixFeedback, Ranking,
};
use live::{Among, Handle, Live, ObservationRule, Settings};
use policies::{Decision, Policy, Select, SelectAmongFor, SelectFor, Tallies};
use rand::Rng;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
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
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Answer {
    /// Positions with clicks that are not lost, and the round.
    pub clicks: Vec<(usize, u64)>,
    /// Number of positions that were seen, and the round; no round if the end is lost.
    pub seen: usize,
    /// The round after which the end is known.
    pub end: Option<u64>,
}

/// A policy under the conditions of live use.
pub trait LivePolicy {
    /// Takes the item that comes in the place of another one.
    fn replace(&mut self, replacement: Replacement);

    /// Chooses a list in a round, counted from 1, among the items that may be shown (all, without
    /// them), after it has learned from all that is known before the round.
    fn select(&mut self, round: u64, available: Option<&ItemSet>, rng: &mut SimRng, list: &mut Ranking);

    /// Takes the answer to the list of a round, of which it may use what is known by then.
    fn answered(&mut self, round: u64, answer: &Answer);
}

/// A policy that learns from a table, part by part.
#[derive(Clone)]
pub struct OnTable<I, P: SelectFor<Ranking>> {
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

// Written by hand: a derived one would require it of the notes.
impl<I, P: SelectFor<Ranking>> fmt::Debug for OnTable<I, P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("OnTable").field("parts", &self.parts).finish_non_exhaustive()
    }
}

impl<I: ObservationRule, P: SelectAmongFor<Ranking> + Tallies> OnTable<I, P> {
    /// A policy in live use. It keeps as many decisions open as can still be answered.
    ///
    /// # Errors
    ///
    /// As [`Live::new`].
    pub fn new(policy: P, settings: Settings, delays: &Delays) -> Result<Self, live::Error> {
        let longest = usize::try_from(delays.longest()).unwrap_or(usize::MAX);
        let keep_open = settings.keep_open.min(longest.saturating_add(1));
        Ok(Self::with_parts(Live::new(policy, Settings { keep_open, ..settings })?, BTreeMap::new()))
    }

    fn with_parts(live: Live<I, P>, parts: BTreeMap<u64, Vec<Part>>) -> Self {
        let places = (0..live.policy().n_items()).map(ItemId::from_index);
        let mut handles: Vec<Handle> = places.map(|slot| Handle { slot, generation: 0 }).collect();
        for handle in live.items() {
            handles[handle.slot.index()] = handle;
        }
        Self { live, parts, handles, among: Vec::new() }
    }
}

impl<I, P> LivePolicy for OnTable<I, P>
where
    I: ObservationRule,
    P: SelectAmongFor<Ranking> + Tallies,
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
            Newcomer::Again(item) => {
                if let Some(again) = handle(item) {
                    self.live.bring_back(again);
                }
            }
            Newcomer::New(_) => {
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

impl<I, P: SelectFor<Ranking> + Serialize> Serialize for OnTable<I, P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.live, &self.parts).serialize(serializer)
    }
}

impl<'de, I, P> Deserialize<'de> for OnTable<I, P>
where
    I: ObservationRule,
    P: SelectAmongFor<Ranking> + Tallies + Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (live, parts) = <(Live<I, P>, BTreeMap<u64, Vec<Part>>)>::deserialize(deserializer)?;
        Ok(Self::with_parts(live, parts))
    }
}

/// A policy that learns from whole answers: from each one once all of it is known, or, in order,
/// once all earlier ones are known as well.
#[derive(Serialize, Deserialize)]
#[serde(bound(serialize = "P: Serialize", deserialize = "P: Deserialize<'de>"))]
pub struct InWhole<I, P: Select<Ranking>> {
    /// In order, with the number of later decisions after which an answer is taken as it is.
    wait: Option<u64>,
    /// By the round after which all of an answer is known; in order, by the round of the decision.
    #[serde(deserialize_with = "read_waiting")]
    waiting: Waiting<P::Note>,
    /// The last decision.
    #[serde(skip)]
    chosen: Decision<Ranking, P::Note>,
    #[serde(skip)]
    protocol: PhantomData<fn() -> I>,
    /// Its own last field may be missing in older states, so it is the last one.
    policy: P,
}

type Waiting<N> = BTreeMap<u64, Vec<PendingList<N>>>;

#[derive(Serialize, Deserialize)]
struct PendingList<N> {
    decision: Decision<Ranking, N>,
    /// At its end all clicks are known.
    answer: Answer,
}

impl<N> PendingList<N> {
    fn is_known(&self, round: u64) -> bool {
        self.answer.end.is_some_and(|known| known < round)
    }

    /// The clicks that are known before a round, and the number of positions that were seen: all,
    /// as long as it is not known.
    fn answer(&self, round: u64) -> Clicks {
        let seen = if self.is_known(round) { self.answer.seen } else { self.decision.action.len() };
        let known = self.answer.clicks.iter().filter(|(position, known)| *position < seen && *known < round);
        known.fold(Clicks::new(seen), |clicks, &(position, _)| clicks.with(position))
    }
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
        Self { policy, wait, waiting: BTreeMap::new(), chosen: Decision::default(), protocol: PhantomData }
    }

    /// The policy.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// Chooses a list from what was learned.
    pub fn decide<R: Rng + ?Sized>(&mut self, rng: &mut R, list: &mut Ranking) {
        self.policy.select(rng, &mut self.chosen);
        list.clone_from(&self.chosen.action);
    }

    /// Learns from what is known before a round, counted from 1.
    pub fn learn(&mut self, round: u64) {
        while let Some(first) = self.waiting.first_entry() {
            let (key, one) = (*first.key(), first.get());
            let is_due = match self.wait {
                None => key < round,
                Some(wait) => {
                    one.iter().all(|one| one.is_known(round))
                        || round.saturating_sub(key) > wait.saturating_add(1)
                }
            };
            if !is_due {
                return;
            }
            for one in first.remove() {
                let clicks = one.answer(round);
                self.policy.update(&one.decision, &I::read(clicks, clicks.len()));
            }
        }
    }
}

impl<I, P> LivePolicy for InWhole<I, P>
where
    I: ListProtocol,
    P: Policy<I>,
{
    fn replace(&mut self, _replacement: Replacement) {
        unreachable!("only policies with a table play where items are replaced")
    }

    fn select(&mut self, round: u64, _available: Option<&ItemSet>, rng: &mut SimRng, list: &mut Ranking) {
        self.learn(round);
        self.decide(rng, list);
    }

    fn answered(&mut self, round: u64, answer: &Answer) {
        let mut answer = answer.clone();
        let last = answer.clicks.iter().map(|&(_, known)| known).max();
        answer.end = answer.end.map(|end| end.max(last.unwrap_or(0)));
        let key = if self.wait.is_some() { Some(round) } else { answer.end };
        let decision = std::mem::take(&mut self.chosen);
        if let Some(key) = key {
            self.waiting.entry(key).or_default().push(PendingList { decision, answer });
        }
    }
}

fn read_waiting<'de, N: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Waiting<N>, D::Error> {
    let waiting = Waiting::deserialize(deserializer)?;
    if waiting.values().flatten().any(|one: &PendingList<N>| one.answer.seen > one.decision.action.len()) {
        return Err(D::Error::custom("more positions were seen than a list has"));
    }
    Ok(waiting)
}
