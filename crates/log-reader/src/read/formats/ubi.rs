//! User Behavior Insights, as `OpenSearch` stores them: queries and events, a JSON object a line.
//!
//! Files of queries are read before those of events, whatever their order on the command line; a
//! line is told by its fields. Lines of bulk requests (`{"index": ..}`) are skipped, `_source` is
//! opened, and a line may be an array of objects, or a part of one.
//!
//! Events join their query by `query_id`. A list has the hit ids of its query down to the deepest
//! impression or click. Without hit ids its items are those of the events, by their ordinals. Joined
//! queries are in one table for all threads and files, about 72 + 8 n bytes for one of n items;
//! events whose query was not read yet wait there for it.

mod document;
mod table;

use self::document::{Document, Seen, Text};
use self::table::Joined;
use super::Value;
use crate::collect::{Batches, Collector};
use crate::columns::READ;
use crate::error::Error;
use crate::fault::Fault;
use crate::lists::{Logged, unit_hash};
use crate::names::lock;
use crate::read::Reader;
use crate::read::line::{LineFault, LineFormat};
use crate::read::marks::CutLine;
use crate::read::open_lists::Spot;
use crate::read::source::Input;
use crate::read::thread_report::ThreadReport;
use crate::read_report::{ReadReport, UbiReport};
use documents::Unpacked;
use std::borrow::Cow;
use std::fs::File;
use std::io::{Cursor, Read as _};
use std::sync::Arc;

/// The first bytes of a file, which tell queries from events.
const BEGINNING: u64 = 1 << 16;
/// The name of a query without words, such as a page of a category.
const NO_WORDS: &str = "(empty)";

/// How logs of User Behavior Insights are read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ubi {
    /// Only what this application logged.
    pub application: Option<String>,
    /// The action that shows an item; `impression` in any case if absent.
    pub impression: Option<String>,
    /// The ordinal of the first position, 0 or 1, of lists without hit ids. If absent, an ordinal of
    /// 0 tells that they count from 0.
    pub position_base: Option<u8>,
    /// Keep `user_query` as it is, instead of trimmed and in lower case.
    pub exact_queries: bool,
}

/// Reads queries and events, and joins them.
pub(super) fn read(
    ubi: &Ubi,
    reader: &Reader,
    inputs: Vec<Input<'_>>,
    collector: &Collector<'_>,
) -> Result<(ReadReport, Logged), Error> {
    let lines = UbiLines { ubi, joined: Joined::new(collector.hash), team: None };
    let mut report = reader.read_lines(&lines, queries_first(inputs)?, collector)?;
    let Joined { notes, logged, .. } = &lines.joined;
    report.ubi = Some(lock(notes).clone());
    Ok((report, *lock(logged)))
}

/// Hands the clicks of a log over as rows: user, the text at `team`, position, time and query.
pub(in crate::read) fn read_clicks(
    ubi: &Ubi,
    team: &str,
    reader: &Reader,
    inputs: Vec<Input<'_>>,
    collector: &Collector<'_>,
) -> Result<ReadReport, Error> {
    let lines = UbiLines { ubi, joined: Joined::new(collector.hash), team: Some(team) };
    let mut report = reader.read_lines(&lines, inputs, collector)?;
    report.ubi = Some(lock(&lines.joined.notes).clone());
    Ok(report)
}

/// The inputs, those with events last.
fn queries_first(inputs: Vec<Input<'_>>) -> Result<Vec<Input<'_>>, Error> {
    let (mut queries, mut events) = (Vec::new(), Vec::new());
    for mut input in inputs {
        let name = input.name();
        let fault = |error| Error::io(&name, error, false);
        let mut beginning = Vec::new();
        // Damaged compression is reported when the file is read.
        if let Some(mut stream) = input.stream.take() {
            let mut stored = Vec::new();
            (&mut stream).take(BEGINNING).read_to_end(&mut stored).map_err(fault)?;
            let _ =
                Unpacked::new(stored.as_slice()).map_err(fault)?.take(BEGINNING).read_to_end(&mut beginning);
            input.stream = Some(Box::new(Cursor::new(stored).chain(stream)));
        } else {
            let file = File::open(name.as_ref()).map_err(fault)?;
            let _ = Unpacked::new(file).map_err(fault)?.take(BEGINNING).read_to_end(&mut beginning);
        }
        let has_events = memchr::memmem::find(&beginning, b"\"action_name\"").is_some();
        if has_events { events.push(input) } else { queries.push(input) }
    }
    queries.append(&mut events);
    Ok(queries)
}

struct UbiLines<'a> {
    ubi: &'a Ubi,
    joined: Joined,
    /// Where the team of a click is, if clicks are wanted and not lists.
    team: Option<&'a str>,
}

impl LineFormat for UbiLines<'_> {
    type Layout = ();
    type Memory = ();
    const HEADER: bool = false;

    fn layout(&self, _: &[u8]) -> Result<(), String> {
        Ok(())
    }

    fn line(
        &self,
        (): &(),
        line: CutLine<'_>,
        at: Spot,
        (): &mut (),
        batches: &mut Batches<'_>,
    ) -> Result<(), LineFault> {
        let line = line.whole();
        if self.team.is_none() {
            return document::each(line, |document| self.document(document, None, at, batches));
        }
        // Once more, for the value at the path of the team.
        let mut wholes: Vec<serde_json::Value> = Vec::new();
        document::each(line, |whole: &serde_json::Value| {
            wholes.push(whole.clone());
            Ok::<_, LineFault>(())
        })?;
        let mut wholes = wholes.iter();
        document::each(line, |document| self.document(document, wholes.next(), at, batches))
    }

    fn close(
        &self,
        names: &[Arc<str>],
        lenient: bool,
        batches: &mut Batches<'_>,
        report: &mut ThreadReport,
    ) -> Result<(), Error> {
        if self.team.is_some() {
            Ok(())
        } else {
            self.joined.close(self.ubi, names, lenient, batches, report)
        }
    }

    fn column_name(&self, (): &(), column: usize) -> String {
        let names =
            ["client_id", self.team.unwrap_or_default(), "event_attributes.position.ordinal", "timestamp"];
        column.checked_sub(1).and_then(|place| names.get(place)).copied().unwrap_or_default().into()
    }
}

impl UbiLines<'_> {
    fn document(
        &self,
        document: &Document<'_>,
        of_team: Option<&serde_json::Value>,
        at: Spot,
        batches: &mut Batches<'_>,
    ) -> Result<(), LineFault> {
        let (document, of_team) = match document.source.as_deref() {
            Some(source) => (source, of_team.map(|whole| &whole["_source"])),
            None => (document, of_team),
        };
        if document.is_bulk() {
            return Ok(());
        }
        if let Some(application) = &self.ubi.application
            && document.application.as_ref().is_none_or(|found| found.0 != *application)
        {
            lock(&self.joined.notes).other_applications += 1;
            return Ok(());
        }
        let whole = |fault| LineFault::new(fault, 0, b"..");
        if document.is_count() {
            return Err(whole(Fault::CountedClicks));
        }
        let Some(query) = document.query_id.as_ref().filter(|id| !id.0.is_empty()) else {
            return Err(whole(Fault::NoQueryId));
        };
        let Some(action) = &document.action_name else {
            let taken = if of_team.is_some() { Ok(()) } else { self.query(document, &query.0, at, batches) };
            return taken.map_err(|fault| LineFault::new(fault, 0, query.0.as_bytes()));
        };
        let is = |name: &str| action.0.eq_ignore_ascii_case(name);
        let is_click = is("click");
        if !is_click && !is(self.ubi.impression.as_deref().unwrap_or("impression")) {
            lock(&self.joined.notes).other_actions += 1;
            return Ok(());
        }
        let attributes = document.event_attributes.as_ref();
        let object = attributes.and_then(|of| of.object.as_ref()?.object_id.as_ref());
        let Some(object) = object.filter(|object| !object.0.is_empty()) else {
            return Err(LineFault::new(Fault::NoObject, 0, query.0.as_bytes()));
        };
        let lost = |fault| {
            LineFault::new(fault, 0, object.0.as_bytes()).of(Ok(is_click.into()), Ok((!is_click).into()))
        };
        let ordinal = attributes.and_then(|of| of.position.as_ref()?.ordinal.as_ref());
        let ordinal = ordinal.map(|text| crate::fields::table_number(text.0.as_bytes()));
        let ordinal = ordinal.transpose().map_err(lost)?;
        if let Some(of_team) = of_team {
            let path = self.team.unwrap_or_default();
            let team = path.split('.').try_fold(of_team, |value, key| value.get(key));
            let is_new = is_click && self.joined.is_first_click(&query.0, &object.0);
            return if is_new { click(document, team, &query.0, ordinal, batches) } else { Ok(()) };
        }
        let item = batches.id(object.0.as_bytes()).map_err(lost)?;
        let seen = Seen { item, ordinal, is_click, user: user_of(document) };
        let mut day = [b'?'; 10];
        let time = document.timestamp.as_ref().map(|time| time.0.as_bytes());
        if let Some(date) = time.and_then(|time| time.first_chunk()) {
            day = *date;
        }
        self.joined.event(&query.0, seen, day, at).map_err(lost)
    }

    fn query(
        &self,
        document: &Document<'_>,
        id: &str,
        at: Spot,
        batches: &mut Batches<'_>,
    ) -> Result<(), Fault> {
        let text = document.user_query.as_ref().map_or("", |text| &text.0);
        let text =
            if self.ubi.exact_queries { Cow::Borrowed(text) } else { Cow::Owned(text.trim().to_lowercase()) };
        let query = batches.id(if text.is_empty() { NO_WORDS } else { &text }.as_bytes())?;
        let hits = document.query_response_hit_ids.iter().flatten().take(64);
        let items = hits.map(|hit| batches.id(hit.0.as_bytes())).collect::<Result<Vec<_>, _>>()?;
        let propensity = document.query_attributes.as_ref().and_then(|of| of.list_propensity);
        let propensity = propensity.map(crate::fields::check_propensity).transpose()?;
        self.joined.query(id, query, user_of(document), propensity, &items, at)
    }
}

fn user_of(document: &Document<'_>) -> Option<u64> {
    let user = document.client_id.as_ref().filter(|user| !user.0.is_empty())?;
    Some(unit_hash(user.0.as_bytes()))
}

/// Hands a click over.
fn click(
    document: &Document<'_>,
    team: Option<&serde_json::Value>,
    query: &str,
    ordinal: Option<u64>,
    batches: &Batches<'_>,
) -> Result<(), LineFault> {
    let text = |text: &'_ Option<Text<'_>>| text.as_ref().map(|text| text.0.as_bytes().to_vec());
    let (user, time) = (text(&document.client_id), text(&document.timestamp));
    let team = match team {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(value @ (serde_json::Value::Number(_) | serde_json::Value::Bool(_))) => value.to_string(),
        _ => String::new(),
    };
    let values: [Option<Value<'_>>; READ] = [
        Some(Value::Text(user.as_deref().unwrap_or_default())),
        Some(Value::Text(team.as_bytes())),
        ordinal.map(Value::Number),
        time.as_deref().map(Value::Text),
        Some(Value::Text(query.as_bytes())),
        None,
    ];
    batches.take_row(&values, &[]).map_err(|(role, fault)| {
        let found = match role {
            0 => b"",
            3 => time.as_deref().unwrap_or_default(),
            _ => team.as_bytes(),
        };
        LineFault::new(fault, role + 1, found)
    })
}
