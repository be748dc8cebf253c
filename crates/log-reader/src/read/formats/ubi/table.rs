//! Queries, and the events that join them.

use super::document::ItemEvent;
use super::{NO_ZERO, Ubi, UbiReport};
use crate::collect::Batches;
use crate::error::{Error, ErrorKind};
use crate::fault::Fault;
use crate::fields::MAX_POSITIONS;
use crate::keys::KeyHash;
use crate::lists::{LoggerColumns, ShownList, unit_hash};
use crate::logged::{LoggedRow, Propensities};
use crate::names::{Id, find_or_add, lock, mix};
use crate::read::line::{AtFault, LineFault};
use crate::read::open_lists::Spot;
use crate::table::LineCounts;
use hashbrown::HashTable;
use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

const SHARDS: usize = 64;
/// If none of this number of ordinals is 0, they count from 1: users see the top of a list.
const TELLING: u64 = 100;

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
    /// Numbers of its events: impressions and clicks.
    events: [u32; 2],
    /// Whether the log has different documents of it.
    is_ambiguous: bool,
    /// The place of its items.
    start: u32,
}

/// An item of a list without hit ids, by query, application, ordinal and item.
type OrdinalItem = (usize, u16, u8, Id, bool);

/// An event that does not fit its query, or whose query has no hits so far: another document of the
/// query may come.
#[derive(Debug, Clone, Copy)]
struct PendingEvent {
    key: u64,
    session: u64,
    /// The words of the query, if its event has them and no document was read yet.
    name: Option<Id>,
    seen: ItemEvent,
    day: [u8; 10],
    spot: Spot,
}

#[derive(Debug, Default)]
struct Shard {
    index: HashTable<u32>,
    queries: Vec<Query>,
    items: Vec<Id>,
    placed: Vec<OrdinalItem>,
    waiting: Vec<PendingEvent>,
    /// Queries with other documents, whether these have hits, and their spots. Such a query has no
    /// list: the first document read need not be the first of the log.
    other_documents: Vec<(usize, bool, Spot)>,
    /// Numbers of ordinals that count from 0 and from 1, with the first day of each.
    bases: [(u64, [u8; 10]); 2],
    notes: UbiReport,
}

#[derive(Debug)]
pub(super) struct LogQueries {
    pub(super) hash: KeyHash,
    shards: Vec<Mutex<Shard>>,
    pub(super) notes: Mutex<UbiReport>,
    pub(super) logged: Mutex<LoggerColumns>,
    /// Whether a query has a stratum.
    pub(super) has_strata: AtomicBool,
}

impl LogQueries {
    pub(super) fn new(hash: KeyHash) -> Self {
        Self {
            hash,
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            notes: Mutex::default(),
            logged: Mutex::default(),
            has_strata: AtomicBool::default(),
        }
    }

    fn key(&self, id: &str) -> (u64, &Mutex<Shard>) {
        let key = self.hash.half_of_text(id.as_bytes());
        (key, &self.shards[(key >> 32) as usize % SHARDS])
    }

    /// Adds a document of a query.
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
        let query = Query::new(key, unit_hash(id.as_bytes()), name, user, spot);
        let n_items = u8::try_from(items.len()).unwrap_or(u8::MAX);
        let query = Query { propensity: propensity.unwrap_or(f64::NAN), n_items, ..query };
        lock(shard).document(query, items, spot);
    }

    /// Adds an event to its query; one whose query is unknown waits, with the name of the query.
    pub(super) fn event(
        &self,
        id: &str,
        mut seen: ItemEvent,
        user: impl FnOnce() -> Option<u64>,
        name: impl FnOnce() -> Option<Id>,
        day: [u8; 10],
        spot: Spot,
    ) {
        let (key, shard) = self.key(id);
        let shard = &mut *lock(shard);
        let place = shard.find(key);
        if place.map_or(0, |place| shard.queries[place].user) == 0 {
            seen.user = user();
        }
        if place.is_none_or(|place| shard.apply(place, seen, day).is_err()) {
            // Only an event that names its place counts without a document.
            let name = if place.is_none() && seen.ordinal.is_some() { name() } else { None };
            shard.waiting.push(PendingEvent {
                key,
                session: unit_hash(id.as_bytes()),
                name,
                seen,
                day,
                spot,
            });
        }
    }

    /// Ends the documents of queries, reports those that differ, and notes the lists of the others.
    pub(super) fn end_documents(&self, at_fault: &mut AtFault<'_>) {
        let mut notes = lock(&self.notes);
        for shard in &self.shards {
            let shard = &mut *lock(shard);
            shard.mark_ambiguous();
            shard.report_ambiguous(at_fault);
            shard.note(&mut notes);
            let lists = shard.queries.iter().filter(|query| query.n_items > 0 && !query.is_ambiguous);
            notes.lists.extend(lists.map(|query| {
                let order = (query.name, shard.items_of(query));
                (query.session, BuildHasherDefault::<DefaultHasher>::default().hash_one(order))
            }));
        }
    }

    /// Returns whether the documents of a query differ.
    pub(super) fn is_ambiguous(&self, id: &str) -> bool {
        let (key, shard) = self.key(id);
        let shard = lock(shard);
        shard.find(key).is_some_and(|place| shard.queries[place].is_ambiguous)
    }

    /// Ends all lists.
    pub(super) fn close(
        &self,
        ubi: &Ubi,
        batches: &mut Batches<'_>,
        at_fault: &mut AtFault<'_>,
    ) -> Result<(), Error> {
        // The number of ordinals of an application, and whether they count from 0.
        let (mut ordinals, mut of_hits) = (BTreeMap::<u16, (u64, bool)>::new(), [0; 2]);
        for shard in &self.shards {
            let shard = &mut *lock(shard);
            shard.mark_ambiguous();
            shard.join_waiting(at_fault);
            for &(_, application, ordinal, ..) in &shard.placed {
                let (count, from_zero) = ordinals.entry(application).or_default();
                (*count, *from_zero) = (*count + 1, *from_zero || ordinal == 0);
            }
            of_hits = [0, 1].map(|base| of_hits[base] + shard.bases[base].0);
        }
        let no_zero = !ordinals.is_empty() && ordinals.values().all(|(_, from_zero)| !from_zero);
        let is_unknown =
            |&(count, from_zero): &(u64, bool)| !from_zero && count < TELLING && of_hits == [0, 0];
        let message = match ubi.position_base {
            Some(0) if no_zero => Some(NO_ZERO),
            None if ordinals.values().any(is_unknown) => {
                Some("lists without hit ids, and no ordinal of 0: say whether the first position is 0 or 1")
            }
            _ => None,
        };
        if let Some(message) = message {
            return Err(Error::of(ErrorKind::Settings, "position_base", message));
        }
        let base_of = |application| {
            let (count, from_zero) = ordinals.get(&application).copied().unwrap_or_default();
            let from_one = !from_zero && (count >= TELLING || of_hits[1] >= of_hits[0]);
            ubi.position_base.unwrap_or(from_one.into())
        };
        let mut known =
            LoggerColumns { user: true, session: true, list_propensity: true, ..LoggerColumns::default() };
        for shard in &self.shards {
            let shard = &mut *lock(shard);
            shard.place(&base_of, batches, at_fault);
            shard.report_ambiguous(at_fault);
            let with_events = |query: &&Query| query.events != [0, 0] && !query.is_ambiguous;
            for query in shard.queries.iter().filter(with_events) {
                known.user &= query.user != 0;
                known.list_propensity &= !query.propensity.is_nan() && query.n_items > 0;
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
fn of_event(fault: Fault, is_click: bool) -> LineFault {
    LineFault::from(fault).of(Ok(is_click.into()), Ok((!is_click).into()))
}

impl Query {
    fn new(key: u64, session: u64, name: Id, user: Option<u64>, spot: Spot) -> Self {
        Self {
            key,
            session,
            name,
            user: user.unwrap_or(0),
            names_user: user.is_some(),
            at: spot.at,
            propensity: f64::NAN,
            clicks: 0,
            line: u32::try_from(spot.line).unwrap_or(u32::MAX),
            file: u16::try_from(spot.file).unwrap_or(u16::MAX),
            n_items: 0,
            deepest: 0,
            events: [0; 2],
            is_ambiguous: false,
            start: 0,
        }
    }
}

impl Shard {
    fn find(&self, key: u64) -> Option<usize> {
        let found = self.index.find(key, |&place| self.queries[place as usize].key == key);
        found.map(|&place| place as usize)
    }

    fn find_or_add(&mut self, query: Query) -> (usize, bool) {
        let key = query.key;
        let (is, key_of) = (|known: &Query| known.key == key, |known: &Query| known.key);
        let (place, is_new) = find_or_add(&mut self.index, &mut self.queries, key, is, key_of, || query);
        (place as usize, is_new)
    }

    /// Adds a document of a query: an equal one adds nothing, nor does one without hits to one with
    /// hits, which replaces it.
    fn document(&mut self, query: Query, items: &[Id], spot: Spot) {
        self.notes.without_hits += u64::from(items.is_empty());
        let (place, is_new) = self.find_or_add(query);
        let known = self.queries[place];
        if !is_new {
            let user = |of: &Query| of.names_user.then_some(of.user);
            let same =
                known.name == query.name && user(&known) == user(&query) && self.items_of(&known) == items;
            if same {
                self.notes.repeated_queries += u64::from(query.n_items > 0);
                self.queries[place].at = known.at.min(query.at);
            } else if (query.n_items > 0) == (known.n_items > 0) {
                self.other_documents.push((place, query.n_items > 0, spot));
            }
            if known.n_items > 0 || query.n_items == 0 {
                return;
            }
            let user = if query.user == 0 { known.user } else { query.user };
            self.queries[place] = Query { user, events: known.events, ..query };
        }
        let start = self.items.len();
        if self.items.capacity() < start + items.len() {
            self.items.reserve_exact(start / 8 + 1024);
        }
        self.items.extend_from_slice(items);
        self.queries[place].start = u32::try_from(start).unwrap_or(u32::MAX);
    }

    /// Joins the events that waited for the documents of all queries. Those of a query without one
    /// are its list by the words that they name.
    fn join_waiting(&mut self, at_fault: &mut AtFault<'_>) {
        let mut all = std::mem::take(&mut self.waiting);
        // The place of a query without documents is that of its first event.
        all.sort_by_key(|waiting| waiting.spot.at);
        for PendingEvent { key, session, name, seen, day, spot } in all {
            let place = self.find(key).or_else(|| {
                let query = Query::new(mix(key, name?.0), session, name?, None, spot);
                Some(self.find_or_add(query).0)
            });
            let joined = place.ok_or(Fault::UnknownQuery).and_then(|place| self.apply(place, seen, day));
            let (Err(fault), ItemEvent { item, ordinal, is_click, application, .. }) = (joined, seen) else {
                continue;
            };
            let query = place.map(|place| &mut self.queries[place]);
            let (ambiguous, n_items) = query.map_or((false, 1), |query| {
                query.events[usize::from(is_click)] += 1;
                (query.is_ambiguous, query.n_items)
            });
            match (n_items, ordinal) {
                _ if ambiguous => {}
                (0, Some(ordinal)) => {
                    let ordinal = u8::try_from(ordinal).unwrap_or(u8::MAX);
                    self.placed.push((place.unwrap_or_default(), application, ordinal, item, is_click));
                }
                _ => at_fault(of_event(fault, is_click), (spot.file, spot.line)),
            }
        }
    }

    /// Marks the queries with different documents. `other_documents` then has all but the first
    /// document of each.
    fn mark_ambiguous(&mut self) {
        let mut documents = std::mem::take(&mut self.other_documents);
        // Hits decide among documents.
        documents.retain(|&(number, has_hits, _)| (self.queries[number].n_items > 0) == has_hits);
        for place in 0..documents.len() {
            let (number, has_hits, _) = documents[place];
            let Query { at, file, line, is_ambiguous, .. } = &mut self.queries[number];
            if !std::mem::replace(is_ambiguous, true) {
                let spot = Spot { at: *at, file: usize::from(*file), line: u64::from(*line), time: 0 };
                documents.push((number, has_hits, spot));
            }
        }
        documents.sort_unstable_by_key(|(number, _, spot)| (*number, spot.at));
        let of_queries = documents.chunk_by(|a, b| a.0 == b.0);
        self.other_documents = of_queries.flat_map(|documents| &documents[1..]).copied().collect();
    }

    /// Reports the other documents of these queries; the first of a query with its events, which
    /// are left out.
    fn report_ambiguous(&mut self, at_fault: &mut AtFault<'_>) {
        for (number, _, spot) in std::mem::take(&mut self.other_documents) {
            let [impressions, clicks] = std::mem::take(&mut self.queries[number].events).map(u64::from);
            let fault = LineFault::from(Fault::OtherDocument).of(Ok(clicks), Ok(impressions));
            at_fault(fault, (spot.file, spot.line));
        }
    }

    fn items_of(&self, query: &Query) -> &[Id] {
        self.items
            .get(query.start as usize..)
            .unwrap_or_default()
            .get(..query.n_items.into())
            .unwrap_or_default()
    }

    fn apply(&mut self, number: usize, seen: ItemEvent, day: [u8; 10]) -> Result<(), Fault> {
        let query = self.queries[number];
        if query.user == 0 {
            self.queries[number].user = seen.user.unwrap_or(0);
        }
        if query.n_items == 0 {
            return Err(Fault::NoOrdinal);
        }
        let is_below = seen.ordinal.is_some_and(|ordinal| ordinal > query.n_items.into());
        let outside = if is_below { Fault::BelowList } else { Fault::OutsideList };
        let place = self.items_of(&query).iter().position(|item| *item == seen.item).ok_or(outside)?;
        match seen.ordinal {
            None => self.notes.without_ordinal += 1,
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
        self.queries[number].events[usize::from(seen.is_click)] += 1;
        self.mark(number, place, seen.is_click);
        Ok(())
    }

    fn mark(&mut self, number: usize, place: usize, is_click: bool) {
        let query = &mut self.queries[number];
        // A list has at most 64 items.
        query.deepest = query.deepest.max(u8::try_from(place + 1).unwrap_or(u8::MAX));
        if is_click {
            self.notes.repeated_clicks += query.clicks >> place & 1;
            query.clicks |= 1 << place;
        }
    }

    /// Makes lists without hit ids of the items at their ordinals. Items that are no list from the
    /// first position on, one at each, count one by one.
    fn place(&mut self, base_of: &dyn Fn(u16) -> u8, batches: &mut Batches<'_>, at_fault: &mut AtFault<'_>) {
        let mut placed = std::mem::take(&mut self.placed);
        placed.sort_unstable_by_key(|placed| (placed.0, placed.2, placed.3.0));
        for of_query in placed.chunk_by(|a, b| a.0 == b.0) {
            let number = of_query[0].0;
            let Query { file, line, .. } = self.queries[number];
            let mut list: Vec<(u8, Id, bool)> = Vec::with_capacity(of_query.len());
            for &(_, application, ordinal, item, is_click) in of_query {
                let fault = match ordinal.checked_sub(base_of(application)) {
                    None => Fault::PositionZero,
                    Some(place) if u64::from(place) >= MAX_POSITIONS => Fault::BelowList,
                    Some(place) => {
                        list.push((place, item, is_click));
                        continue;
                    }
                };
                at_fault(of_event(fault, is_click), (file.into(), line.into()));
            }
            list.dedup_by(|again, shown| {
                let same = (again.0, again.1) == (shown.0, shown.1);
                self.notes.repeated_clicks += u64::from(same && again.2 && shown.2);
                shown.2 |= same && again.2;
                same
            });
            let query = &mut self.queries[number];
            if (0..).zip(&list).all(|(place, shown)| shown.0 == place) {
                query.start = u32::try_from(self.items.len()).unwrap_or(u32::MAX);
                query.n_items = u8::try_from(list.len()).unwrap_or(u8::MAX);
                for &(place, item, is_click) in &list {
                    self.items.push(item);
                    self.mark(number, place.into(), is_click);
                }
                continue;
            }
            let user = Some(query.user).filter(|user| *user != 0);
            let row = LoggedRow { user, session: Some(query.session), ..LoggedRow::default() };
            for &(position, item, is_click) in &list {
                let (clicks, impressions) = (is_click.into(), 1);
                let shown = LineCounts { query: query.name, item, clicks, impressions, position };
                batches.count_logged(&shown, &row, query.at);
                self.notes.without_list += 1;
            }
        }
    }

    fn close(self, with_propensities: bool, notes: &mut UbiReport, batches: &mut Batches<'_>) {
        self.note(notes);
        for query in self.queries.iter().filter(|query| !query.is_ambiguous) {
            notes.queries_without_events += u64::from(query.events == [0, 0]);
            for (all, events) in notes.events.iter_mut().zip(query.events) {
                *all += u64::from(events);
            }
            if query.deepest == 0 {
                continue;
            }
            let items = &self.items_of(query)[..query.deepest.into()];
            let list = ShownList::plain(query.name, items, query.clicks, query.at);
            let propensity = Some(query.propensity).filter(|_| with_propensities);
            let propensities = Propensities([&[], &[], propensity.as_slice(), &[]]);
            batches.session(
                &propensities.with(list.of(Some(query.user).filter(|user| *user != 0), Some(query.session))),
                true,
            );
        }
    }

    /// Adds the counts of documents and events.
    fn note(&self, notes: &mut UbiReport) {
        notes.queries += self.queries.len() as u64;
        notes.absorb(&self.notes);
        for (all, (count, first)) in notes.bases.iter_mut().zip(self.bases) {
            let first = String::from_utf8_lossy(&first).into_owned();
            if count > 0 && (all.count == 0 || first < all.first_day) {
                all.first_day = first;
            }
            all.count += count;
        }
    }
}
