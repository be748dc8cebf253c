//! Clicks as rows, for a test of two rankers.

use super::document::{self, Document};
use super::table::LogQueries;
use super::{Event, NO_ZERO, Ubi, What, queries_first, user_of};
use crate::collect::{Batches, Collector};
use crate::columns::READ;
use crate::error::{Error, ErrorKind};
use crate::fault::Fault;
use crate::names::lock;
use crate::read::Reader;
use crate::read::formats::Value;
use crate::read::line::{AtFault, LineFault, LineFormat};
use crate::read::marks::{CutLine, Cuts};
use crate::read::open_lists::Spot;
use crate::read::source::Input;
use crate::read_report::{ReadReport, UbiReport};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

/// Hands the clicks of a log over as rows: user, the text at `team`, position, time and query. The
/// user of a click without one is that of its query. Positions are handed over, from 1 if the
/// ordinal of the first one is given.
///
/// The clicks of a query whose documents differ are left out. The second document may be the last
/// line of the log, so all clicks wait for the end: about 200 bytes each.
pub(in crate::read) fn read_clicks(
    ubi: &Ubi,
    team: &str,
    reader: &Reader,
    inputs: Vec<Input<'_>>,
    collector: &Collector<'_>,
) -> Result<ReadReport, Error> {
    let lines = ClickLines {
        ubi,
        team,
        joined: LogQueries::new(collector.hash),
        users: Mutex::default(),
        clicks: Mutex::default(),
        waiting: Mutex::default(),
        lowest: Mutex::default(),
    };
    let mut report = reader.read_lines(&lines, queries_first(inputs)?, collector)?;
    report.ubi = Some(lock(&lines.joined.notes).clone());
    Ok(report)
}

struct ClickLines<'a> {
    ubi: &'a Ubi,
    /// Where the team of a click is.
    team: &'a str,
    joined: LogQueries,
    /// The users that documents name, by the keys of their queries.
    users: Mutex<BTreeMap<u64, Box<str>>>,
    /// Clicks so far.
    clicks: Mutex<BTreeSet<u64>>,
    waiting: Mutex<Vec<PendingClick>>,
    /// The lowest ordinal of an impression or a click.
    lowest: Mutex<Option<u64>>,
}

/// A click that waits for all documents of its query.
struct PendingClick {
    user: Option<Box<str>>,
    team: String,
    position: Option<u64>,
    time: Option<String>,
    query: String,
    spot: Spot,
}

impl LineFormat for ClickLines<'_> {
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
        let line = line.whole();
        // Read once more if it has a click, for the value at the path of the team.
        let (mut wholes, mut place) = (Vec::new(), 0);
        document::each(line, |document: &Document<'_>| {
            let whole = place;
            place += 1;
            // Impressions are no rows, so none of them are lost.
            let what = self.ubi.what(document.opened(), notes).map_err(|mut fault| {
                fault.lost.impressions = 0;
                fault
            })?;
            if let Some(What::Event(Event { ordinal: Some(ordinal), .. })) = what {
                let mut lowest = lock(&self.lowest);
                *lowest = Some(lowest.map_or(ordinal, |lowest| lowest.min(ordinal)));
            }
            match what {
                Some(What::Query(id)) => {
                    if let Some(user) = user_of(document.opened()) {
                        let key = self.joined.hash.half_of_text(id.as_bytes());
                        lock(&self.users).entry(key).or_insert_with(|| user.into());
                    }
                    Ok(self.ubi.query(&self.joined, document.opened(), id, at, batches)?)
                }
                Some(What::Event(event)) if event.is_click && self.is_first(&event) => {
                    if wholes.is_empty() {
                        wholes = documents_of(line).map_err(|fault| fault.of(Ok(1), Ok(0)))?;
                    }
                    let whole = wholes.get(whole).unwrap_or(&Json::Null);
                    let whole = if document.source.is_some() { &whole["_source"] } else { whole };
                    let team = self.team.split('.').try_fold(whole, |value, key| value.get(key));
                    self.click(document.opened(), &event, team, at)
                }
                _ => Ok(()),
            }
        })
    }

    fn end(&self, notes: &mut UbiReport, _batches: &mut Batches<'_>) {
        lock(&self.joined.notes).absorb(&std::mem::take(notes));
    }

    fn close(&self, batches: &mut Batches<'_>, at_fault: &mut AtFault<'_>) -> Result<(), Error> {
        if self.ubi.position_base == Some(0) && lock(&self.lowest).is_some_and(|lowest| lowest > 0) {
            return Err(Error::of(ErrorKind::Settings, "position_base", NO_ZERO));
        }
        self.joined.end_documents(at_fault);
        for mut click in std::mem::take(&mut *lock(&self.waiting)) {
            // That of a document of its query, if it names none.
            let key = self.joined.hash.half_of_text(click.query.as_bytes());
            click.user = click.user.take().or_else(|| lock(&self.users).get(&key).cloned());
            let handed = if self.joined.is_ambiguous(&click.query) {
                Err(LineFault::from(Fault::OtherDocument).of(Ok(1), Ok(0)))
            } else {
                click.hand_over(batches)
            };
            if let Err(fault) = handed {
                at_fault(fault, (click.spot.file, click.spot.line));
            }
        }
        Ok(())
    }

    fn column_name(&self, (): &(), column: usize) -> String {
        let names = ["client_id", self.team, "event_attributes.position.ordinal", "timestamp"];
        column.checked_sub(1).and_then(|place| names.get(place)).copied().unwrap_or_default().into()
    }
}

/// All documents of a line that was read before.
fn documents_of(line: &[u8]) -> Result<Vec<Json>, LineFault> {
    let mut all = Vec::new();
    document::each(line, |whole: &Json| {
        all.push(whole.clone());
        Ok(())
    })?;
    Ok(all)
}

impl ClickLines<'_> {
    /// Returns whether this is the first click on an object of a query.
    fn is_first(&self, event: &Event<'_>) -> bool {
        let [query, object] = [event.query, event.object].map(|id| self.joined.hash.of_text(id.as_bytes()));
        let is_first = lock(&self.clicks).insert(self.joined.hash.of_both(query, object)[0]);
        lock(&self.joined.notes).repeated_clicks += u64::from(!is_first);
        is_first
    }

    fn click(
        &self,
        document: &Document<'_>,
        event: &Event<'_>,
        team: Option<&Json>,
        at: Spot,
    ) -> Result<(), LineFault> {
        let position = match (self.ubi.position_base, event.ordinal) {
            // Places of a list are told apart whatever their first ordinal is.
            (None, ordinal) => ordinal.map(|ordinal| ordinal.saturating_add(1)),
            (Some(_), None) => return Err(event.lost(Fault::Empty)),
            (Some(base), Some(ordinal)) => {
                let place = ordinal.checked_sub(base.into());
                Some(place.ok_or(Fault::PositionZero).map_err(|fault| event.lost(fault))? + 1)
            }
        };
        let team = match team {
            Some(Json::String(text)) => text.clone(),
            Some(value @ (Json::Number(_) | Json::Bool(_))) => value.to_string(),
            _ => String::new(),
        };
        let time = document.timestamp.as_ref().map(|time| time.0.to_string());
        let (user, query) = (user_of(document).map(Into::into), event.query.to_owned());
        lock(&self.waiting).push(PendingClick { user, team, position, time, query, spot: at });
        Ok(())
    }
}

impl PendingClick {
    fn hand_over(&self, batches: &mut Batches<'_>) -> Result<(), LineFault> {
        let values: [Option<Value<'_>>; READ] = [
            Some(Value::Text(self.user.as_deref().unwrap_or_default().as_bytes())),
            Some(Value::Text(self.team.as_bytes())),
            self.position.map(Value::Number),
            self.time.as_ref().map(|time| Value::Text(time.as_bytes())),
            Some(Value::Text(self.query.as_bytes())),
            None,
        ];
        batches.take_row(&values, &[]).map_err(|(role, fault)| {
            let found = match role {
                0 => "",
                3 => self.time.as_deref().unwrap_or_default(),
                _ => &self.team,
            };
            LineFault::new(fault, role + 1, found.as_bytes()).of(Ok(1), Ok(0))
        })?;
        batches.report.clicks += 1;
        Ok(())
    }
}
