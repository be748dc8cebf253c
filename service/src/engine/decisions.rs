//! The decisions that can still be answered, of all queries.

use crate::event::Name;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The names that are known of those that have left, if `keep` is smaller.
const REMEMBERED: usize = 1_000_000;

/// The request for a list, as far as it determines the answer: the same request has the same one.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Request {
    /// Of what determined the list; none if it was shown without asking, or by an older version.
    pub(crate) checksum: Option<[u8; 8]>,
    /// Names that the query did not know, the first thousand.
    pub(crate) unknown: Box<[Name]>,
}

/// A decision that can be answered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OpenDecision {
    pub(crate) id: Name,
    pub(crate) query: Name,
    pub(crate) list: Box<[Name]>,
    /// The propensities of each position, if the decision has them.
    pub(crate) propensities: Option<Box<[f64]>>,
    /// When it was made, in milliseconds since 1970.
    pub(crate) time: u64,
    /// The number of its event.
    pub(crate) version: u64,
    pub(crate) is_closed: bool,
    /// It is saved apart, as older snapshots do not have it.
    #[serde(skip)]
    pub(crate) asked: Request,
}

/// Where a decision is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place<'a> {
    /// It can be answered, and has this number.
    Open(u64, &'a OpenDecision),
    /// It is too old.
    TooOld,
    /// There was none of this name, or it was much too old.
    Unknown,
}

/// Decisions by number, the oldest first, and which ones have been forgotten last.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Decisions {
    /// The number of the oldest.
    pub(crate) first: u64,
    open: VecDeque<OpenDecision>,
    #[serde(skip)]
    numbers: HashMap<Name, u64>,
    /// Hashes of the names of the last that were forgotten, as many as may be open or more.
    old: VecDeque<u64>,
    #[serde(skip)]
    is_old: HashSet<u64>,
    /// The decisions before this number are closed.
    #[serde(skip)]
    due: u64,
}

fn hash(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

impl Decisions {
    /// Completes what was saved with what is known of the requests.
    pub(crate) fn complete(&mut self, asked: Vec<Request>) -> Result<(), String> {
        self.open.iter_mut().zip(asked).for_each(|(open, asked)| open.asked = asked);
        for (open, number) in self.open.iter().zip(self.first..) {
            if self.numbers.insert(open.id.clone(), number).is_some() {
                return Err(format!("decision `{}` is twice", &*open.id));
            }
        }
        self.is_old = self.old.iter().copied().collect();
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    pub(crate) fn next(&self) -> u64 {
        self.first + self.open.len() as u64
    }

    pub(crate) fn find(&self, id: &str) -> Place<'_> {
        match self.numbers.get(id).and_then(|&number| Some((number, self.get(number)?))) {
            Some((number, open)) => Place::Open(number, open),
            None if self.is_old.contains(&hash(id)) => Place::TooOld,
            None => Place::Unknown,
        }
    }

    pub(crate) fn get(&self, number: u64) -> Option<&OpenDecision> {
        self.open.get(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut OpenDecision> {
        self.open.get_mut(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    pub(crate) fn close(&mut self, number: u64) {
        if let Some(open) = self.get_mut(number) {
            open.is_closed = true;
        }
    }

    pub(crate) fn push(&mut self, open: OpenDecision) {
        self.numbers.insert(open.id.clone(), self.next());
        self.open.push_back(open);
    }

    /// Forgets the oldest decision, if there are more than `most`, or if it was made before a time.
    pub(crate) fn forget(&mut self, most: usize, before: u64) -> Option<OpenDecision> {
        if self.open.len() <= most && self.open.front()?.time >= before {
            return None;
        }
        let open = self.open.pop_front()?;
        self.first += 1;
        self.numbers.remove(&open.id);
        let hash = hash(&open.id);
        self.old.push_back(hash);
        self.is_old.insert(hash);
        if self.old.len() > most.max(REMEMBERED)
            && let Some(old) = self.old.pop_front()
        {
            self.is_old.remove(&old);
        }
        Some(open)
    }

    /// The next decision that is not closed and is due, and its number.
    pub(crate) fn next_due(
        &mut self,
        is_due: impl Fn(u64, &OpenDecision) -> bool,
    ) -> Option<(u64, &OpenDecision)> {
        self.due = self.due.max(self.first);
        while self.get(self.due)?.is_closed {
            self.due += 1;
        }
        let number = self.due;
        if !is_due(number, self.get(number)?) {
            return None;
        }
        self.due += 1;
        Some((number, self.get(number)?))
    }

    /// The requests of the open decisions, in order.
    pub(crate) fn asked(&self) -> Vec<&Request> {
        self.open.iter().map(|open| &open.asked).collect()
    }

    /// The last ones, the latest first.
    pub(crate) fn latest(&self) -> impl Iterator<Item = &OpenDecision> {
        self.open.iter().rev()
    }
}
