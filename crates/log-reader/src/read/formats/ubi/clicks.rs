//! Clicks as rows, for a test of two rankers.

use super::document::{self, Document};
use super::{Event, LeftOut, Ubi, UbiReport, What, queries_first};
use crate::collect::{Batches, Collector};
use crate::columns::READ;
use crate::error::Error;
use crate::fault::Fault;
use crate::keys::KeyHash;
use crate::names::lock;
use crate::read::Reader;
use crate::read::formats::Value;
use crate::read::line::{LineFault, LineFormat};
use crate::read::marks::CutLine;
use crate::read::open_lists::Spot;
use crate::read::source::Input;
use crate::read_report::ReadReport;
use hashbrown::HashTable;
use serde_json::Value as Json;
use std::cell::OnceCell;
use std::sync::Mutex;

/// Hands the clicks of a log over as rows: user, the text at `team`, position, time and query. The
/// user of a click without one is that of its query. Positions, from 1, are handed over if the
/// ordinal of the first one is given.
pub(in crate::read) fn read_clicks(
    ubi: &Ubi,
    team: &str,
    reader: &Reader,
    inputs: Vec<Input<'_>>,
    collector: &Collector<'_>,
) -> Result<ReadReport, Error> {
    let hash = collector.hash;
    let lines = ClickLines {
        ubi,
        team,
        hash,
        clicks: Mutex::default(),
        users: Mutex::default(),
        notes: Mutex::default(),
    };
    let mut report = reader.read_lines(&lines, queries_first(inputs)?, collector)?;
    report.ubi = Some(lock(&lines.notes).clone());
    Ok(report)
}

struct ClickLines<'a> {
    ubi: &'a Ubi,
    /// Where the team of a click is.
    team: &'a str,
    hash: KeyHash,
    /// Clicks so far.
    clicks: Mutex<HashTable<u64>>,
    /// The user of each query.
    users: Mutex<HashTable<(u64, Box<str>)>>,
    notes: Mutex<UbiReport>,
}

impl LineFormat for ClickLines<'_> {
    type Layout = ();
    type Memory = LeftOut;

    fn line(
        &self,
        (): &(),
        line: CutLine<'_>,
        _at: Spot,
        left_out: &mut LeftOut,
        batches: &mut Batches<'_>,
    ) -> Result<(), LineFault> {
        let line = line.whole();
        // Read once more if it has a click, for the value at the path of the team.
        let (wholes, mut place) = (OnceCell::new(), 0);
        document::each(line, |document: &Document<'_>| {
            let whole = place;
            place += 1;
            match self.ubi.what(document.opened(), left_out)? {
                Some(What::Query(id)) => {
                    self.remember(id, document.opened());
                    Ok(())
                }
                Some(What::Event(event)) if event.is_click && self.is_first(&event) => {
                    let whole = wholes.get_or_init(|| documents_of(line)).get(whole).unwrap_or(&Json::Null);
                    let whole = if document.source.is_some() { &whole["_source"] } else { whole };
                    let team = self.team.split('.').try_fold(whole, |value, key| value.get(key));
                    self.click(document.opened(), &event, team, batches)
                }
                _ => Ok(()),
            }
        })
    }

    fn end(&self, left_out: &mut LeftOut, _batches: &mut Batches<'_>) {
        left_out.note(&self.notes);
    }

    fn column_name(&self, (): &(), column: usize) -> String {
        let names = ["client_id", self.team, "event_attributes.position.ordinal", "timestamp"];
        column.checked_sub(1).and_then(|place| names.get(place)).copied().unwrap_or_default().into()
    }
}

/// All documents of a line that was read before.
fn documents_of(line: &[u8]) -> Vec<Json> {
    let mut all = Vec::new();
    // Without documents, a team is missing.
    let _ = document::each(line, |whole: &Json| {
        all.push(whole.clone());
        Ok::<_, Fault>(())
    });
    all
}

impl ClickLines<'_> {
    fn remember(&self, query: &str, document: &Document<'_>) {
        if let Some(user) = document.client_id.as_ref().filter(|user| !user.0.is_empty()) {
            let key = self.hash.half_of_text(query.as_bytes());
            let mut users = lock(&self.users);
            users.entry(key, |known| known.0 == key, |known| known.0).or_insert((key, (*user.0).into()));
        }
    }

    /// Whether this is the first click on an object of a query.
    fn is_first(&self, event: &Event<'_>) -> bool {
        let [query, object] = [event.query, event.object].map(|id| self.hash.of_text(id.as_bytes()));
        let hash = self.hash.of_both(query, object)[0];
        let mut clicks = lock(&self.clicks);
        let is_first = clicks.find(hash, |known| *known == hash).is_none();
        if is_first {
            clicks.insert_unique(hash, hash, |known| *known);
        }
        lock(&self.notes).repeated_clicks += u64::from(!is_first);
        is_first
    }

    fn click(
        &self,
        document: &Document<'_>,
        event: &Event<'_>,
        team: Option<&Json>,
        batches: &Batches<'_>,
    ) -> Result<(), LineFault> {
        let position = match (self.ubi.position_base, event.ordinal) {
            (None, _) => None,
            (Some(_), None) => return Err(event.lost(Fault::Empty)),
            (Some(base), Some(ordinal)) => {
                let place = ordinal.checked_sub(base.into());
                Some(place.ok_or(Fault::PositionZero).map_err(|fault| event.lost(fault))? + 1)
            }
        };
        let user = document.client_id.as_ref().map(|user| user.0.clone());
        let user = user.filter(|user| !user.is_empty()).or_else(|| {
            let key = self.hash.half_of_text(event.query.as_bytes());
            Some(lock(&self.users).find(key, |known| known.0 == key)?.1.to_string().into())
        });
        let time = document.timestamp.as_ref().map(|time| &*time.0);
        let team = match team {
            Some(Json::String(text)) => text.clone(),
            Some(value @ (Json::Number(_) | Json::Bool(_))) => value.to_string(),
            _ => String::new(),
        };
        let values: [Option<Value<'_>>; READ] = [
            Some(Value::Text(user.as_deref().unwrap_or_default().as_bytes())),
            Some(Value::Text(team.as_bytes())),
            position.map(Value::Number),
            time.map(|time| Value::Text(time.as_bytes())),
            Some(Value::Text(event.query.as_bytes())),
            None,
        ];
        batches.take_row(&values, &[]).map_err(|(role, fault)| {
            let found = match role {
                0 => "",
                3 => time.unwrap_or_default(),
                _ => &team,
            };
            LineFault::new(fault, role + 1, found.as_bytes())
        })
    }
}
