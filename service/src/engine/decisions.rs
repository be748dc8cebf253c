//! The decisions that can still be answered, of all queries.

use crate::archive::DAY;
use crate::event::{Decision, Name};
use crate::names::{Names, SmallName};
use crate::store::checksum;
use hashbrown::HashTable;
use interleaving::launch::Compared;
use serde::{Deserialize, Serialize};
use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher as _, DefaultHasher, Hash as _, Hasher as _, RandomState};

/// The most names that are known of those that have left, if `keep` is smaller.
const REMEMBERED: usize = 4_000_000;

/// The request for a list, as far as it determines the answer: the same request has the same one.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Request {
    /// Of what determined the list; none if it was shown without asking, or by an older version.
    pub(crate) checksum: Option<[u8; 8]>,
    /// Names that the query did not know, the first thousand.
    pub(crate) unknown: Box<[Name]>,
}

/// A decision that can be answered, in the form that a million of them have in memory.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OpenDecision {
    id: SmallName,
    query: u32,
    list: Box<[u32]>,
    /// When it was made, in milliseconds since 1970.
    pub(crate) time: u64,
    /// The number of its event.
    pub(crate) version: u64,
    pub(crate) is_closed: bool,
    /// Whether its query was forgotten.
    pub(crate) is_dropped: bool,
    /// Of what determined the list, as in [`Request`].
    pub(crate) checksum: Option<[u8; 8]>,
    /// 0 outside a launch, 1 for today's list that is not compared, 2 if it is compared, 3 for the
    /// policy's list that is not compared any more.
    side: u8,
    /// The group, side and period of what is compared.
    period: u32,
    /// The values that clients measured, by metric; NaN before they did.
    pub(crate) measured: Box<[f64]>,
    seldom: Option<Box<Seldom>>,
}

/// The parts that few decisions have.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Seldom {
    propensities: Option<Box<[f64]>>,
    unknown: Box<[Name]>,
}

impl OpenDecision {
    fn with_seldom(mut self, propensities: Option<Box<[f64]>>, unknown: Box<[Name]>) -> Self {
        let is_empty = propensities.is_none() && unknown.is_empty();
        self.seldom = (!is_empty).then(|| Box::new(Seldom { propensities, unknown }));
        self
    }

    /// The propensities of each position, if the decision has them.
    pub(crate) fn propensities(&self) -> Option<&[f64]> {
        self.seldom.as_ref()?.propensities.as_deref()
    }

    /// Names that the query did not know, as in [`Request`].
    pub(crate) fn unknown(&self) -> &[Name] {
        self.seldom.as_ref().map_or(&[], |seldom| &seldom.unknown)
    }

    /// Its group and side, if a launch compares it.
    pub(crate) fn compared(&self) -> Option<Compared> {
        (self.side == 2).then(|| self.period.into())
    }

    /// Whether the policy's list was shown; `None` outside a launch.
    pub(crate) fn shows_policy(&self) -> Option<bool> {
        (self.side > 0).then(|| self.side == 3 || self.compared().is_some_and(|of| of.side))
    }

    pub(crate) fn set_compared(&mut self, compared: Option<u32>) {
        (self.side, self.period) = compared.map_or((1, 0), |bits| (2, bits));
    }

    pub(crate) fn set_unknown(&mut self, unknown: Box<[Name]>) {
        if !unknown.is_empty() {
            self.seldom.get_or_insert_default().unknown = unknown;
        }
    }
}

/// A decision that can be answered, with its names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DecisionView<'a> {
    names: &'a Names,
    decision: &'a OpenDecision,
}

impl std::ops::Deref for DecisionView<'_> {
    type Target = OpenDecision;

    fn deref(&self) -> &OpenDecision {
        self.decision
    }
}

impl<'a> DecisionView<'a> {
    pub(crate) fn id(self) -> Name {
        (&self.decision.id).into()
    }

    pub(crate) fn query(self) -> &'a Name {
        self.name(self.decision.query)
    }

    /// The items, from the top.
    pub(crate) fn list(self) -> impl ExactSizeIterator<Item = &'a Name> + Clone {
        self.decision.list.iter().map(move |&number| self.name(number))
    }

    fn name(self, number: u32) -> &'a Name {
        self.names.get(number).expect("a decision has names of the table")
    }
}

/// Where a decision is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place<'a> {
    /// It can be answered, and has this number.
    Open(u64, DecisionView<'a>),
    /// It is too old.
    TooOld,
    /// There was none of this name, or it was much too old.
    Unknown,
}

/// Decisions by number, the oldest first, and which ones have left last.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(try_from = "SavedDecisions")]
pub(crate) struct Decisions {
    /// The number of the oldest.
    pub(crate) first: u64,
    open: VecDeque<OpenDecision>,
    /// Names of queries and items.
    names: Names,
    /// The last digits of the numbers of decisions, by the hash of the name.
    numbers: HashTable<u32>,
    hasher: RandomState,
    /// Hashes of the names of those that have left.
    old: VecDeque<u64>,
    is_old: HashSet<u64>,
    /// Days on which they left, since 1970, with the number of each.
    days: VecDeque<(u64, usize)>,
    /// The decisions before this number are closed.
    due: u64,
}

/// The form of the decisions in a snapshot.
#[derive(Serialize, Deserialize)]
struct Saved<N, O, H> {
    first: u64,
    names: N,
    open: O,
    old: H,
    days: VecDeque<(u64, usize)>,
}

/// Decisions as they are read from a snapshot.
type SavedDecisions = Saved<Vec<Name>, VecDeque<OpenDecision>, VecDeque<u64>>;

/// The form of a decision in the snapshots of older programs, which have the requests apart.
#[derive(Serialize, Deserialize)]
pub(crate) struct OldDecision {
    id: Name,
    query: Name,
    list: Box<[Name]>,
    propensities: Option<Box<[f64]>>,
    time: u64,
    version: u64,
    is_closed: bool,
}

/// The form of the decisions in the snapshots of older programs.
pub(crate) type OldDecisions = (u64, VecDeque<OldDecision>, VecDeque<u64>);

/// A hash that is the same in every program, for snapshots.
fn stable_hash(id: &str) -> u64 {
    u64::from_le_bytes(checksum(b"id", id.as_bytes()))
}

/// The hash of older programs.
fn old_hash(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

#[expect(clippy::cast_possible_truncation, reason = "decisions in memory are fewer than 2^32")]
fn last_digits(number: u64) -> u32 {
    number as u32
}

impl TryFrom<SavedDecisions> for Decisions {
    type Error = String;

    fn try_from(saved: SavedDecisions) -> Result<Self, String> {
        let Saved { first, names, mut open, old, days } = saved;
        let mut restored = Self { first, old, days, ..Self::default() };
        // Names of decisions that have left are forgotten.
        for decision in &mut open {
            let numbers = decision.list.iter_mut().chain([&mut decision.query]);
            for number in numbers {
                let name = usize::try_from(*number).ok().and_then(|number| names.get(number));
                let name = name.ok_or("a name is missing")?;
                *number = restored.names.intern(name);
            }
        }
        restored.complete(open)
    }
}

impl Decisions {
    pub(crate) fn save(&self) -> impl Serialize {
        let Self { first, open, names, old, days, .. } = self;
        Saved { first: *first, names: names.since(0), open, old, days: days.clone() }
    }

    pub(crate) fn save_for_older(&self) -> OldDecisions {
        let old = |open: DecisionView<'_>| OldDecision {
            id: open.id(),
            query: open.query().clone(),
            list: open.list().cloned().collect(),
            propensities: open.propensities().map(Into::into),
            time: open.time,
            version: open.version,
            is_closed: open.is_closed,
        };
        let open = self.open.iter().map(|decision| old(self.with_names(decision))).collect();
        (self.first, open, self.old.clone())
    }

    /// Saves what is known of the requests, beside a head for older programs with this number.
    pub(crate) fn save_requests(&self, next: u64) -> Vec<u8> {
        let request =
            |open: &OpenDecision| Request { checksum: open.checksum, unknown: open.unknown().into() };
        let requests: Vec<Request> = self.open.iter().map(request).collect();
        postcard::to_allocvec(&(next, requests)).expect("requests are plain data")
    }

    /// Reads what an older program saved: it may not have saved what is known of the requests.
    pub(crate) fn restore_older(
        (first, open, old): OldDecisions,
        asked: Vec<Request>,
    ) -> Result<Self, String> {
        // They left before the last decision was made, and are known as long as one that leaves
        // then.
        let day = open.back().map_or(0, |last| last.time / DAY);
        let mut restored = Self { first, days: [(day, old.len())].into(), old, ..Self::default() };
        let mut asked = asked.into_iter();
        let open = open.into_iter().map(|open| {
            let Request { checksum, unknown } = asked.next().unwrap_or_default();
            let decision = restored.decision(&open.id, &open.query, &open.list, (open.time, open.version));
            OpenDecision { is_closed: open.is_closed, checksum, ..decision }
                .with_seldom(open.propensities, unknown)
        });
        let open = open.collect();
        restored.complete(open)
    }

    fn complete(mut self, open: VecDeque<OpenDecision>) -> Result<Self, String> {
        for decision in open {
            let id = Name::from(&decision.id);
            if self.place(&id).is_some() {
                return Err(format!("decision `{id}` is twice"));
            }
            self.add(decision);
        }
        self.is_old = self.old.iter().copied().collect();
        Ok(self)
    }

    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    pub(crate) fn next(&self) -> u64 {
        self.first + self.open.len() as u64
    }

    fn with_names<'a>(&'a self, decision: &'a OpenDecision) -> DecisionView<'a> {
        DecisionView { names: &self.names, decision }
    }

    fn hash(&self, id: &SmallName) -> u64 {
        self.hasher.hash_one(id)
    }

    /// The number of the decision with this name.
    fn place(&self, id: &Name) -> Option<u64> {
        let id = SmallName::from(id);
        let number = |digits: u32| self.first + u64::from(digits.wrapping_sub(last_digits(self.first)));
        let is_it = |&digits: &u32| self.get(number(digits)).is_some_and(|open| open.decision.id == id);
        self.numbers.find(self.hash(&id), is_it).map(|&digits| number(digits))
    }

    pub(crate) fn find(&self, id: &Name) -> Place<'_> {
        match self.place(id).and_then(|number| Some((number, self.get(number)?))) {
            Some((number, open)) => Place::Open(number, open),
            None if [stable_hash(id), old_hash(id)].iter().any(|hash| self.is_old.contains(hash)) => {
                Place::TooOld
            }
            None => Place::Unknown,
        }
    }

    pub(crate) fn get(&self, number: u64) -> Option<DecisionView<'_>> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.open.get(place).map(|decision| self.with_names(decision))
    }

    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut OpenDecision> {
        self.open.get_mut(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    /// Lets a launch compare none of them any more.
    pub(crate) fn compare_none(&mut self) {
        for open in self.open.iter_mut().filter(|open| open.side == 2) {
            open.side = if open.shows_policy() == Some(true) { 3 } else { 1 };
        }
    }

    /// Forgets what was measured: other guards have other places.
    pub(crate) fn measure_anew(&mut self) {
        self.open.iter_mut().for_each(|open| open.measured = Box::default());
    }

    pub(crate) fn close(&mut self, number: u64) {
        if let Some(open) = self.get_mut(number) {
            open.is_closed = true;
        }
    }

    /// Lets no decision of a query be answered any more.
    pub(crate) fn drop_query(&mut self, query: &Name) {
        let Some(query) = self.names.find(query) else { return };
        for open in self.open.iter_mut().filter(|open| open.query == query) {
            (open.is_closed, open.is_dropped) = (true, true);
        }
    }

    /// Adds a decision that was made at a time, with its event's number.
    pub(crate) fn push(&mut self, decision: &Decision, asked: Request, time: u64, version: u64) {
        let propensities = decision.chosen.as_ref().and_then(|choice| choice.propensities.as_ref());
        let propensities = propensities.map(|of| of.items.clone().into());
        let open = self.decision(&decision.id, &decision.query, &decision.list, (time, version));
        let open = OpenDecision { checksum: asked.checksum, ..open };
        self.add(open.with_seldom(propensities, asked.unknown));
    }

    /// A decision that was made at a time, with its event's number.
    fn decision(
        &mut self,
        id: &Name,
        query: &Name,
        list: &[Name],
        (time, version): (u64, u64),
    ) -> OpenDecision {
        OpenDecision {
            id: id.into(),
            query: self.names.intern(query),
            list: list.iter().map(|item| self.names.intern(item)).collect(),
            time,
            version,
            is_closed: false,
            is_dropped: false,
            checksum: None,
            side: 0,
            period: 0,
            measured: Box::default(),
            seldom: None,
        }
    }

    fn add(&mut self, decision: OpenDecision) {
        let (hash, number) = (self.hash(&decision.id), last_digits(self.next()));
        self.open.push_back(decision);
        let Self { open, hasher, first, .. } = self;
        let first = last_digits(*first);
        let hash_of = |digits: &u32| hasher.hash_one(&open[digits.wrapping_sub(first) as usize].id);
        self.numbers.insert_unique(hash, number, hash_of);
    }

    /// Forgets the oldest decision, if there are more than `most`, or if it was made before a time.
    /// Its name is known for
    /// `days` from now. Returns its query.
    pub(crate) fn forget(&mut self, most: usize, before: u64, now: u64, days: u64) -> Option<&Name> {
        if self.open.len() <= most && self.open.front()?.time >= before {
            return None;
        }
        let open = self.open.pop_front()?;
        let number = last_digits(self.first);
        self.first += 1;
        if let Ok(entry) = self.numbers.find_entry(self.hasher.hash_one(&open.id), |&other| other == number) {
            entry.remove();
        }
        self.remember(&(&open.id).into(), most, now / DAY, days);
        self.names.get(open.query)
    }

    fn remember(&mut self, id: &Name, most: usize, day: u64, days: u64) {
        let hash = stable_hash(id);
        self.old.push_back(hash);
        self.is_old.insert(hash);
        match self.days.back_mut() {
            Some((last, number)) if *last >= day => *number += 1,
            _ => self.days.push_back((day, 1)),
        }
        while let Some((first, number)) = self.days.front_mut()
            && (self.old.len() > most.max(REMEMBERED) || first.saturating_add(days) < day)
        {
            *number -= 1;
            if *number == 0 {
                self.days.pop_front();
            }
            if let Some(old) = self.old.pop_front() {
                self.is_old.remove(&old);
            }
        }
    }

    /// The next decision that is not closed and is due, and its number.
    pub(crate) fn next_due(
        &mut self,
        is_due: impl Fn(u64, &OpenDecision) -> bool,
    ) -> Option<(u64, DecisionView<'_>)> {
        self.due = self.due.max(self.first);
        while self.get(self.due)?.is_closed {
            self.due += 1;
        }
        let number = self.due;
        if !is_due(number, self.get(number)?.decision) {
            return None;
        }
        self.due += 1;
        Some((number, self.get(number)?))
    }

    /// The last ones, the latest first.
    pub(crate) fn latest(&self) -> impl Iterator<Item = DecisionView<'_>> {
        self.open.iter().rev().map(|decision| self.with_names(decision))
    }
}
