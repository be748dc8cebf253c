//! User Behavior Insights, as `OpenSearch` stores them: queries and events, a JSON object a line.
//!
//! Files of queries are read before those of events, whatever their order on the command line; a
//! line is told by its fields. Lines of bulk requests (`{"index": ..}`) are skipped, `_source` is
//! opened, and a line may be an array of objects, or a part of one.
//!
//! Events join their query by `query_id`. A list has the hit ids of its query down to the deepest
//! impression or click. Of several documents of a query, those without hits, such as counts of
//! facets, are skipped, and the others must agree. Without hit ids the items are those of the
//! events, by their ordinals; events that name the words of a query need no document. Ordinals that
//! make no list count item by item. What joins no list is counted, in a strict reading too: shops
//! log several requests with one identifier.
//!
//! Joined queries are in one table for all threads and files, about 80 + 8 n bytes for one of n
//! items; events whose query was not read yet wait there for it.

mod clicks;
mod document;
mod table;

pub(in crate::read) use self::clicks::read_clicks;

use self::document::{Document, ItemEvent};
use self::table::LogQueries;
use super::table_rows::within;
use crate::collect::{Batches, Collector};
use crate::error::Error;
use crate::fault::Fault;
use crate::lists::{LoggerColumns, unit_hash};
use crate::names::lock;
use crate::read::line::{AtFault, LineFault, LineFormat};
use crate::read::marks::{CutLine, Cuts};
use crate::read::open_lists::Spot;
use crate::read::source::Input;
use crate::read::{Reader, check_files};
use crate::read_report::{ReadReport, UbiReport};
#[cfg(feature = "clap")]
use documents::toml_reader::option;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::atomic::Ordering;

/// The number of first bytes of a file, which tell queries from events.
const BEGINNING: u64 = 1 << 16;
/// The name of a query without words, such as a page of a category.
const NO_WORDS: &str = "(empty)";
/// The message for a first position of 0 that no ordinal has.
const NO_ZERO: &str = "0, but no ordinal of the log is 0: it counts from 1";

/// How logs of User Behavior Insights are read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(default)]
pub struct Ubi {
    /// Format ubi: only what this application logged
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME"))]
    pub application: Option<String>,
    /// Format ubi: the action that shows an item [default: impression]
    #[cfg_attr(feature = "clap", arg(long, value_name = "ACTION"))]
    pub impression: Option<String>,
    /// Format ubi: the action that is a click on an item, such as `item_click` [default: click]
    #[cfg_attr(feature = "clap", arg(long, value_name = "ACTION"))]
    pub click: Option<String>,
    /// Format ubi: ordinal of the first position, 0 or 1, of lists without hit ids, and for test
    /// --depth
    #[cfg_attr(feature = "clap", arg(long, value_name = "P", value_parser = option::<Self, u8>("position_base")))]
    #[schemars(range(max = 1))]
    pub position_base: Option<u8>,
    /// Format ubi: keep the words of queries as they are, not trimmed and in lower case
    #[cfg_attr(feature = "clap", arg(long))]
    pub exact_queries: bool,
}

/// Reads queries and events, and joins them.
pub(super) fn read(
    ubi: &Ubi,
    reader: &Reader,
    inputs: Vec<Input<'_>>,
    collector: &Collector<'_>,
) -> Result<(ReadReport, LoggerColumns), Error> {
    let lines = UbiLines { ubi, joined: LogQueries::new(collector.hash) };
    let mut report = reader.read_lines(&lines, queries_first(inputs)?, collector)?;
    let LogQueries { notes, logged, .. } = &lines.joined;
    report.ubi = Some(lock(notes).clone());
    report.strata = usize::from(lines.joined.has_strata.load(Ordering::Relaxed));
    Ok((report, *lock(logged)))
}

/// The inputs, those with events last.
fn queries_first(inputs: Vec<Input<'_>>) -> Result<Vec<Input<'_>>, Error> {
    check_files(&inputs)?;
    let (mut queries, mut events) = (Vec::new(), Vec::new());
    for mut input in inputs {
        let name = input.name();
        let beginning = input.beginning(BEGINNING).map_err(|error| Error::io(&name, error, false))?;
        let has_events = memchr::memmem::find(&beginning, b"\"action_name\"").is_some();
        if has_events { events.push(input) } else { queries.push(input) }
    }
    queries.append(&mut events);
    Ok(queries)
}

struct UbiLines<'a> {
    ubi: &'a Ubi,
    joined: LogQueries,
}

impl LineFormat for UbiLines<'_> {
    type Layout = ();
    type Memory = UbiReport;

    fn cuts(&self, (): &()) -> Cuts {
        Cuts::NONE
    }

    fn line(
        &self,
        (): &(),
        line: CutLine<'_>,
        at: Spot,
        notes: &mut UbiReport,
        batches: &mut Batches<'_>,
    ) -> Result<(), LineFault> {
        document::each(line.whole(), |document: &Document<'_>| {
            let document = document.opened();
            match self.ubi.what(document, notes)? {
                None => Ok(()),
                Some(What::Query(id)) => {
                    let taken = self.ubi.query(&self.joined, document, id, at, batches);
                    taken.map_err(|fault| LineFault::new(fault, 0, id.as_bytes()))
                }
                Some(What::Event(event)) => self.event(document, &event, at, batches),
            }
        })
    }

    fn end(&self, notes: &mut UbiReport, _batches: &mut Batches<'_>) {
        lock(&self.joined.notes).absorb(&std::mem::take(notes));
    }

    fn close(&self, batches: &mut Batches<'_>, at_fault: &mut AtFault<'_>) -> Result<(), Error> {
        self.joined.close(self.ubi, batches, at_fault)
    }
}

/// The content of a document.
enum What<'d> {
    /// A query, by its identifier.
    Query(&'d str),
    Event(Event<'d>),
}

/// An impression or a click.
struct Event<'d> {
    query: &'d str,
    object: &'d str,
    ordinal: Option<u64>,
    is_click: bool,
}

impl Event<'_> {
    /// A fault of this event.
    fn lost(&self, fault: Fault) -> LineFault {
        lost(fault, self.object, self.is_click)
    }
}

fn lost(fault: Fault, found: &str, is_click: bool) -> LineFault {
    LineFault::new(fault, 0, found.as_bytes()).of(Ok(is_click.into()), Ok((!is_click).into()))
}

impl Ubi {
    fn words<'d>(&self, document: &'d Document<'_>) -> Cow<'d, str> {
        self.normalised(document.user_query.as_ref().map_or("", |text| &text.0))
    }

    fn stratum<'d>(&self, document: &'d Document<'_>) -> Option<Cow<'d, str>> {
        let stratum = document.query_attributes.as_ref()?.stratum.as_ref()?;
        (!stratum.0.trim().is_empty()).then(|| self.normalised(&stratum.0))
    }

    /// The name of a query as the log has it.
    pub(super) fn normalised<'q>(&self, query: &'q str) -> Cow<'q, str> {
        if query.trim().is_empty() {
            return Cow::Borrowed(NO_WORDS);
        }
        if self.exact_queries { Cow::Borrowed(query) } else { Cow::Owned(query.trim().to_lowercase()) }
    }

    /// The content of an opened document; `None` for a line of a bulk request, and for a document
    /// of another application or action.
    fn what<'d>(
        &self,
        document: &'d Document<'_>,
        notes: &mut UbiReport,
    ) -> Result<Option<What<'d>>, LineFault> {
        if document.is_bulk() {
            return Ok(None);
        }
        if let Some(application) = &self.application
            && document.application.as_ref().is_none_or(|found| found.0 != *application)
        {
            notes.other_applications += 1;
            return Ok(None);
        }
        if document.search_configuration.is_some() && document.count.is_some() {
            return Err(Fault::CountedClicks.into());
        }
        // Compared before anything else is read of the event: other actions may have any form.
        let is_click = document.action_name.as_ref().map(|action| {
            let is = |name: &Option<String>, usual| {
                action.0.eq_ignore_ascii_case(name.as_deref().unwrap_or(usual))
            };
            (is(&self.click, "click"), is(&self.impression, "impression"))
        });
        if is_click == Some((false, false)) {
            notes.other_actions += 1;
            return Ok(None);
        }
        let Some(query) = document.query_id.as_ref().filter(|id| !id.0.is_empty()) else {
            return Err(Fault::NoQueryId.into());
        };
        let Some((is_click, _)) = is_click else { return Ok(Some(What::Query(&query.0))) };
        let attributes = document.event_attributes.as_ref();
        let object = attributes.and_then(|of| of.object.as_ref()?.object_id.as_ref());
        let Some(object) = object.filter(|object| !object.0.is_empty()) else {
            return Err(LineFault::new(Fault::NoObject, 0, query.0.as_bytes()));
        };
        let ordinal = attributes.and_then(|of| of.position.as_ref()?.ordinal.as_ref()).map(|text| {
            let number = crate::fields::table_number(text.0.as_bytes());
            number.map_err(|_| lost(Fault::NotAnOrdinal, &text.0, is_click))
        });
        let ordinal = ordinal.transpose()?;
        Ok(Some(What::Event(Event { query: &query.0, object: &object.0, ordinal, is_click })))
    }
}

impl UbiLines<'_> {
    fn event(
        &self,
        document: &Document<'_>,
        event: &Event<'_>,
        at: Spot,
        batches: &mut Batches<'_>,
    ) -> Result<(), LineFault> {
        let item = batches.id(event.object.as_bytes()).map_err(|fault| event.lost(fault))?;
        let &Event { query, ordinal, is_click, .. } = event;
        let hash = document.application.as_ref().map_or(0, |name| unit_hash(name.0.as_bytes()));
        let application = u16::try_from(hash >> 48).unwrap_or(0);
        let seen = ItemEvent { item, ordinal, is_click, user: None, application };
        let mut day = [b'?'; 10];
        let time = document.timestamp.as_ref().map(|time| time.0.as_bytes());
        if let Some(date) = time.and_then(|time| time.first_chunk()) {
            day = *date;
        }
        let name = || {
            document.user_query.as_ref().filter(|words| !words.0.trim().is_empty())?;
            batches.id(self.ubi.words(document).as_bytes()).ok()
        };
        self.joined.event(query, seen, || unit_of(document), name, day, at);
        Ok(())
    }
}

impl Ubi {
    /// Adds a document of a query.
    fn query(
        &self,
        joined: &LogQueries,
        document: &Document<'_>,
        id: &str,
        at: Spot,
        batches: &mut Batches<'_>,
    ) -> Result<(), Fault> {
        let words = self.words(document);
        let query = match self.stratum(document) {
            None => batches.id(words.as_bytes())?,
            Some(stratum) => {
                joined.has_strata.store(true, Ordering::Relaxed);
                batches.id(&within(words.as_bytes(), [stratum.as_bytes()].into_iter()))?
            }
        };
        let hits = document.query_response_hit_ids.iter().flatten().take(64);
        let items = hits.map(|hit| batches.id(hit.0.as_bytes())).collect::<Result<Vec<_>, _>>()?;
        let propensity = document.query_attributes.as_ref().and_then(|of| of.list_propensity);
        let propensity = propensity.map(crate::fields::check_propensity).transpose()?;
        joined.query(id, query, unit_of(document), propensity, &items, at);
        Ok(())
    }
}

fn user_of<'d>(document: &'d Document<'_>) -> Option<&'d str> {
    document.client_id.as_ref().map(|user| &*user.0).filter(|user| !user.is_empty())
}

fn unit_of(document: &Document<'_>) -> Option<u64> {
    user_of(document).map(|user| unit_hash(user.as_bytes()))
}
