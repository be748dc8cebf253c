//! Queries, and the events that join them.

use super::document::Seen;
use super::{NO_ZERO, Ubi, UbiReport};
use crate::collect::Batches;
use crate::error::{Error, ErrorKind};
use crate::fault::Fault;
use crate::fields::MAX_POSITIONS;
use crate::keys::KeyHash;
use crate::lists::{Logged, ShownList, unit_hash};
use crate::logged::Propensities;
use crate::names::{Id, find_or_add, lock};
use crate::read::line::{LineFault, Lost};
use crate::read::open_lists::Spot;
use crate::read::thread_report::ThreadReport;
use hashbrown::HashTable;
use std::sync::{Arc, Mutex};

const SHARDS: usize = 64;

/// A query, with what was seen of its list.
#[derive(Debug, Clone, Copy)]
struct Query {
    /// A hash of its identifier with a random key.
    key: u64,
    /// The hash of its identifier, which is that of the session.
    session: u64,
    /// The identifier of its words.
    name: Id,
    /// 0 for none.
    user: u64,
    /// Whether the user is of the document, and not of an event.
    names_user: bool,
    at: u64,
    /// NaN for none.
    propensity: f64,
    /// Bit `l` is 1 if its `l`-th item was clicked.
    clicks: u64,
    line: u32,
    file: u16,
    n_items: u8,
    /// The number of items down to the deepest impression or click.
    deepest: u8,
    /// Whether the log has different documents of it.
    is_ambiguous: bool,
    /// The place of its items.
    start: u32,
}

/// An item of a list without hit ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Placed {
    query: u32,
    ordinal: u8,
    item: u64,
    is_click: bool,
}

/// An event that does not fit its query, or whose query was not read yet: another document of the
/// query may come.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    key: u64,
    seen: Seen,
    day: [u8; 10],
    spot: Spot,
}

#[derive(Debug, Default)]
struct Shard {
    index: HashTable<u32>,
    queries: Vec<Query>,
    items: Vec<Id>,
    placed: Vec<Placed>,
    waiting: Vec<Waiting>,
    /// Queries with other documents, and the spots of these. Such a query has no list: the first
    /// document read need not be the first of the log.
    other_documents: Vec<(usize, Spot)>,
    /// Numbers of ordinals that count from 0 and from 1, with the first day of each.
    bases: [(u64, [u8; 10]); 2],
    repeated_queries: u64,
    repeated_clicks: u64,
    without_ordinal: u64,
}

/// All queries of a log.
#[derive(Debug)]
pub(super) struct Joined {
    hash: KeyHash,
    shards: Vec<Mutex<Shard>>,
    pub(super) notes: Mutex<UbiReport>,
    pub(super) logged: Mutex<Logged>,
}

impl Joined {
    pub(super) fn new(hash: KeyHash) -> Self {
        Self {
            hash,
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            notes: Mutex::default(),
            logged: Mutex::default(),
        }
    }

    fn key(&self, id: &str) -> (u64, &Mutex<Shard>) {
        let key = self.hash.half_of_text(id.as_bytes());
        (key, &self.shards[(key >> 32) as usize % SHARDS])
    }

    /// Adds a query. An equal one adds nothing.
    pub(super) fn query(
        &self,
        id: &str,
        name: Id,
        user: Option<u64>,
        propensity: Option<f64>,
        items: &[Id],
        spot: Spot,
    ) {
        let (key, shard) = self.key(id);
        let shard = &mut *lock(shard);
        let start = shard.items.len();
        let new = || Query {
            key,
            session: unit_hash(id.as_bytes()),
            name,
            user: user.unwrap_or(0),
            names_user: user.is_some(),
            at: spot.at,
            propensity: propensity.unwrap_or(f64::NAN),
            clicks: 0,
            line: u32::try_from(spot.line).unwrap_or(u32::MAX),
            file: u16::try_from(spot.file).unwrap_or(u16::MAX),
            n_items: u8::try_from(items.len()).unwrap_or(u8::MAX),
            deepest: 0,
            is_ambiguous: false,
            start: u32::try_from(start).unwrap_or(u32::MAX),
        };
        let (place, is_new) = find_or_add(
            &mut shard.index,
            &mut shard.queries,
            key,
            |known| known.key == key,
            |known| known.key,
            new,
        );
        if is_new {
            if shard.items.capacity() < start + items.len() {
                shard.items.reserve_exact(start / 8 + 1024);
            }
            shard.items.extend_from_slice(items);
            return;
        }
        let known = shard.queries[place as usize];
        let of_document = Some(known.user).filter(|_| known.names_user);
        let same = known.name == name && of_document == user && shard.items_of(&known) == items;
        if same {
            shard.repeated_queries += 1;
        } else {
            shard.other_documents.push((place as usize, spot));
        }
    }

    /// Adds an event to its query; one whose query is unknown waits.
    pub(super) fn event(
        &self,
        id: &str,
        mut seen: Seen,
        user: impl FnOnce() -> Option<u64>,
        day: [u8; 10],
        spot: Spot,
    ) {
        let (key, shard) = self.key(id);
        let shard = &mut *lock(shard);
        let joined = shard.find(key).ok_or(Fault::UnknownQuery);
        if joined.map_or(0, |place| shard.queries[place].user) == 0 {
            seen.user = user();
        }
        if joined.and_then(|place| shard.apply(place, seen, day)).is_err() {
            shard.waiting.push(Waiting { key, seen, day, spot });
        }
    }

    /// Ends all lists.
    pub(super) fn close(
        &self,
        ubi: &Ubi,
        names: &[Arc<str>],
        lenient: bool,
        batches: &mut Batches<'_>,
        report: &mut ThreadReport,
    ) -> Result<(), Error> {
        let mut at_fault = |fault: Fault, lost: Lost, file: usize, line: u64| {
            let name = names.get(file).map_or("", |name| name);
            report.line(LineFault { lost, ..fault.into() }, &|_| String::new(), name, (file, line), lenient);
        };
        let (mut any_placed, mut from_zero) = (false, false);
        for shard in &self.shards {
            let shard = &mut *lock(shard);
            shard.mark_ambiguous();
            for Waiting { key, seen, day, spot } in std::mem::take(&mut shard.waiting) {
                let joined = shard.find(key).ok_or(Fault::UnknownQuery);
                let is_ambiguous = joined.is_ok_and(|place| shard.queries[place].is_ambiguous);
                match joined.and_then(|place| shard.apply(place, seen, day)) {
                    Err(fault) if !is_ambiguous => {
                        at_fault(fault, of_event(seen.is_click), spot.file, spot.line);
                    }
                    _ => {}
                }
            }
            let mut placed = shard.placed.iter().filter(|placed| !shard.is_ambiguous(placed.query));
            any_placed |= placed.clone().next().is_some();
            from_zero |= placed.any(|placed| placed.ordinal == 0);
        }
        if any_placed && !from_zero && ubi.position_base != Some(1) {
            let unknown =
                "lists without hit ids, and no ordinal of 0: say whether the first position is 0 or 1";
            let message = ubi.position_base.map_or(unknown, |_| NO_ZERO);
            return Err(Error::of(ErrorKind::Settings, "position_base", message));
        }
        let base = ubi.position_base.unwrap_or(0);
        let mut known = Logged { user: true, session: true, list_propensity: true, ..Logged::default() };
        for shard in &self.shards {
            let shard = &mut *lock(shard);
            shard.place(base, &mut at_fault);
            shard.report_ambiguous(&mut at_fault);
            for query in shard.queries.iter().filter(|query| query.deepest > 0 && !query.is_ambiguous) {
                known.user &= query.user != 0;
                known.list_propensity &= !query.propensity.is_nan();
            }
        }
        let mut notes = lock(&self.notes);
        known.list_propensity &= self.shards.iter().any(|shard| !lock(shard).queries.is_empty());
        for shard in &self.shards {
            let shard = std::mem::take(&mut *lock(shard));
            shard.close(known.list_propensity, &mut notes, batches);
        }
        *lock(&self.logged) = known;
        Ok(())
    }
}

/// A click or an impression that is left out.
fn of_event(is_click: bool) -> Lost {
    Lost { clicks: is_click.into(), impressions: (!is_click).into() }
}

impl Shard {
    fn find(&self, key: u64) -> Option<usize> {
        let found = self.index.find(key, |&place| self.queries[place as usize].key == key);
        found.map(|&place| place as usize)
    }

    /// Marks the queries with different documents. `other_documents` then has all but the first
    /// document of each.
    fn mark_ambiguous(&mut self) {
        let mut documents = std::mem::take(&mut self.other_documents);
        for place in 0..documents.len() {
            let number = documents[place].0;
            let Query { at, file, line, is_ambiguous, .. } = &mut self.queries[number];
            if !std::mem::replace(is_ambiguous, true) {
                documents.push((number, Spot { at: *at, file: usize::from(*file), line: u64::from(*line) }));
            }
        }
        documents.sort_unstable_by_key(|(number, spot)| (*number, spot.at));
        let of_queries = documents.chunk_by(|a, b| a.0 == b.0);
        self.other_documents = of_queries.flat_map(|documents| &documents[1..]).copied().collect();
    }

    /// Reports the other documents of these queries; the first of a query with what was seen of its
    /// list, which is left out.
    fn report_ambiguous(&mut self, at_fault: &mut impl FnMut(Fault, Lost, usize, u64)) {
        for (number, spot) in std::mem::take(&mut self.other_documents) {
            let Query { clicks, deepest, .. } = &mut self.queries[number];
            let [clicks, impressions] =
                [std::mem::take(clicks).count_ones().into(), std::mem::take(deepest).into()];
            at_fault(Fault::OtherDocument, Lost { clicks, impressions }, spot.file, spot.line);
        }
    }

    fn is_ambiguous(&self, query: u32) -> bool {
        self.queries[query as usize].is_ambiguous
    }

    fn items_of(&self, query: &Query) -> &[Id] {
        self.items
            .get(query.start as usize..)
            .unwrap_or_default()
            .get(..query.n_items.into())
            .unwrap_or_default()
    }

    fn apply(&mut self, number: usize, seen: Seen, day: [u8; 10]) -> Result<(), Fault> {
        let query = self.queries[number];
        if query.user == 0 {
            self.queries[number].user = seen.user.unwrap_or(0);
        }
        if query.n_items == 0 {
            let ordinal = seen.ordinal.ok_or(Fault::NoOrdinal)?;
            if ordinal > MAX_POSITIONS {
                return Err(Fault::PositionBeyondDepth { last: MAX_POSITIONS });
            }
            let ordinal = u8::try_from(ordinal).unwrap_or(u8::MAX);
            let query = u32::try_from(number).unwrap_or(u32::MAX);
            self.placed.push(Placed { query, ordinal, item: seen.item.0, is_click: seen.is_click });
            return Ok(());
        }
        let place =
            self.items_of(&query).iter().position(|item| *item == seen.item).ok_or(Fault::OutsideList)?;
        match seen.ordinal {
            None => self.without_ordinal += 1,
            Some(ordinal) => {
                let from = ordinal.checked_sub(place as u64).filter(|&from| from <= 1);
                let base = from.and_then(|from| usize::try_from(from).ok());
                let (count, first) = &mut self.bases[base.ok_or(Fault::OtherOrdinal)?];
                if *count == 0 || day < *first {
                    *first = day;
                }
                *count += 1;
            }
        }
        self.mark(number, place, seen.is_click);
        Ok(())
    }

    fn mark(&mut self, number: usize, place: usize, is_click: bool) {
        let query = &mut self.queries[number];
        // A list has at most 64 items.
        query.deepest = query.deepest.max(u8::try_from(place + 1).unwrap_or(u8::MAX));
        if is_click {
            self.repeated_clicks += query.clicks >> place & 1;
            query.clicks |= 1 << place;
        }
    }

    /// Makes lists without hit ids of the items at their ordinals.
    fn place(&mut self, base: u8, at_fault: &mut impl FnMut(Fault, Lost, usize, u64)) {
        self.placed.sort_unstable();
        for of_query in std::mem::take(&mut self.placed).chunk_by(|a, b| a.query == b.query) {
            let number = of_query[0].query as usize;
            let Query { file, line, is_ambiguous, .. } = self.queries[number];
            self.queries[number].start = u32::try_from(self.items.len()).unwrap_or(u32::MAX);
            for placed in of_query {
                let n_items = self.queries[number].n_items;
                let fault = match placed.ordinal.checked_sub(base) {
                    None => Some(Fault::PositionZero),
                    Some(place) if place == n_items && u64::from(place) < MAX_POSITIONS => {
                        self.items.push(Id(placed.item));
                        self.queries[number].n_items += 1;
                        None
                    }
                    Some(place) if place + 1 == n_items => {
                        let is_same = self.items.last() == Some(&Id(placed.item));
                        (!is_same).then_some(Fault::TwoItems)
                    }
                    Some(_) => Some(Fault::OutOfOrder { next: u64::from(n_items) + u64::from(base) }),
                };
                match fault {
                    None => self.mark(number, usize::from(placed.ordinal - base), placed.is_click),
                    Some(_) if is_ambiguous => {}
                    Some(fault) => at_fault(fault, of_event(placed.is_click), file.into(), line.into()),
                }
            }
        }
    }

    fn close(self, with_propensities: bool, notes: &mut UbiReport, batches: &mut Batches<'_>) {
        for query in self.queries.iter().filter(|query| !query.is_ambiguous) {
            if query.deepest == 0 {
                notes.queries_without_events += 1;
                continue;
            }
            let items = &self.items_of(query)[..query.deepest.into()];
            let list = ShownList::plain(query.name, items, query.clicks, query.at);
            let propensity = Some(query.propensity).filter(|_| with_propensities);
            let propensities = Propensities([&[], &[], propensity.as_slice()]);
            batches.session(
                &propensities.with(list.of(Some(query.user).filter(|user| *user != 0), Some(query.session))),
                true,
            );
        }
        notes.queries += self.queries.len() as u64;
        notes.repeated_queries += self.repeated_queries;
        notes.repeated_clicks += self.repeated_clicks;
        notes.without_ordinal += self.without_ordinal;
        for (all, (count, first)) in notes.bases.iter_mut().zip(self.bases) {
            let first = String::from_utf8_lossy(&first).into_owned();
            if count > 0 && (all.count == 0 || first < all.first_day) {
                all.first_day = first;
            }
            all.count += count;
        }
    }
}
