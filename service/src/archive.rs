//! Events that ended: a file in Parquet for each day, and the store without them.
//!
//! | column | type | content |
//! |---|---|---|
//! | `number` | INT64 | number of the event |
//! | `time` | timestamp in milliseconds | when it was committed |
//! | `event`, `id` | text, text or null | its kind, and the decision's id |
//! | `line` | text | the line of `/v1/log` |
//! | `body` | bytes | the event as the store had it, with a checksum, to be read again |

use crate::engine::Beginning;
use crate::event::{Batch, Event, from_bytes, to_bytes};
use crate::export::timestamp;
use crate::http::line;
use crate::store::{Receive, Store, StoreError, key_of_event, opened, put_in_place, sealed, sum_of_event};
use parquet_columns::{ByteArray, Cell, Cells, Column, ParquetError, Table, TableWriter};
use std::fs::File;
use std::io::Error;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

/// Milliseconds of a day.
pub const DAY: u64 = 86_400_000;
/// The rows that are in memory at once.
const ROWS: usize = 1 << 15;
const SCHEMA: &str = "message events {
    required int64 number;
    required int64 time (TIMESTAMP(MILLIS, true));
    required binary event (STRING);
    optional binary id (STRING);
    required binary line (STRING);
    required binary body;
}";
/// The columns that are read again: number, time and body.
const READ: [usize; 3] = [0, 1, 5];

/// Rows that are not written yet.
#[derive(Default)]
struct Group {
    texts: [Column<ByteArray>; 4],
    wholes: [Column<i64>; 2],
}

impl Group {
    fn push(&mut self, number: u64, time: u64, event: &Event) {
        let ((kind, id), line) = (event.columns(), line(number, time, event).to_string());
        let body = sealed(&key_of_event(number, time), to_bytes(event));
        let texts =
            [Some(kind.into()), id.map(|id| (**id).into()), Some(line.as_str().into()), Some(body.into())];
        self.texts.iter_mut().zip(texts).for_each(|(column, text)| column.push(text));
        let wholes = [number, time].map(u64::cast_signed);
        self.wholes.iter_mut().zip(wholes).for_each(|(column, whole)| column.push(Some(whole)));
    }

    fn write(&mut self, out: &mut TableWriter<'_>) -> Result<(), ParquetError> {
        let Self { texts, wholes } = std::mem::take(self);
        out.write(&texts, &wholes, &[])
    }
}

/// Days that are written as files, by the numbers of their events.
#[derive(Debug)]
pub struct Written {
    events: Range<u64>,
    /// Held until the events are dropped, or not.
    _turn: File,
}

/// Drops the events of days that are written. Returns the number of the first event that is kept.
pub fn drop_days(store: &dyn Store, written: &Written) -> Result<u64, String> {
    let Range { start, end } = written.events.clone();
    if end > start {
        store.drop_before(end).map_err(|error| error.to_string())?;
    }
    Ok(end)
}

/// Writes the days before a time as files, as far as the store can begin without them.
///
/// A day is dropped once its file has its name, and all of its file is written again if it was not
/// dropped then: a kill in between loses nothing and repeats nothing.
/// An error says where and why nothing was written.
pub fn write_days(store: &dyn Store, directory: &Path, before: u64) -> Result<Written, String> {
    let said = |error: StoreError| error.to_string();
    let fault = |error: Error| format!("{}: {error}", directory.display());
    std::fs::create_dir_all(directory).map_err(fault)?;
    let turn = File::create(directory.join("lock")).map_err(fault)?;
    // Another server of the database may be at it.
    let is_ours = turn.try_lock().is_ok();
    let until = |first, next| Written { events: first..next, _turn: turn };
    if !is_ours {
        return store.first().map(|first| until(first, first)).map_err(said);
    }
    let first = store.first().map_err(said)?;
    let mut oldest = None;
    let read = store.read(first, &mut |_, batch| {
        oldest = Some(batch.time);
        ControlFlow::Break(())
    });
    read.map_err(said)?;
    if oldest.is_none_or(|oldest| oldest / DAY >= before / DAY) {
        return Ok(until(first, first));
    }
    Beginning::keep(store).map_err(said)?;
    let most = store.keep_snapshot().map_err(said)?;
    if most <= first {
        return Err("there is no new snapshot to begin with".into());
    }
    // All of it is read again.
    store.kept_snapshot(&mut |_, _| Ok(())).map_err(said)?;
    let mut next = first;
    while let Some(end) = write_day(store, directory, next, before, most)? {
        next = end;
    }
    Ok(until(first, next))
}

/// Writes the day of an event as a file. Returns the number of the first event after it, if the day
/// is over before a time and a number.
fn write_day(
    store: &dyn Store,
    directory: &Path,
    from: u64,
    before: u64,
    most: u64,
) -> Result<Option<u64>, String> {
    let part = directory.join("events.part");
    let fault = |error: &dyn std::fmt::Display| format!("{}: {error}", part.display());
    let mut file = File::create(&part).map_err(|error| fault(&error))?;
    let mut out =
        TableWriter::new(&mut file, SCHEMA, "click-bandits-serve").map_err(|error| fault(&error))?;
    let (mut group, mut day, mut end, mut outcome) = (Group::default(), None, None, Ok(()));
    let read = store.read(from, &mut |first, Batch { time, events }| {
        if *day.get_or_insert(time / DAY) < time / DAY {
            end = Some(first);
        }
        if end.is_some() || time / DAY >= before / DAY || first + events.len() as u64 > most {
            return ControlFlow::Break(());
        }
        (first..).zip(&events).for_each(|(number, event)| group.push(number, time, event));
        if group.wholes[0].n_rows() >= ROWS {
            outcome = group.write(&mut out);
        }
        if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    read.map_err(|error| error.to_string())?;
    let written = outcome.and_then(|()| group.write(&mut out)).and_then(|()| out.close());
    written.map_err(|error| fault(&error))?;
    let Some((end, day)) = end.zip(day) else {
        _ = std::fs::remove_file(&part);
        return Ok(None);
    };
    let path = directory.join(format!("events-{:.10}.parquet", timestamp(day * DAY)));
    // The same events give the same file.
    if let Ok(before) = std::fs::read(&path)
        && std::fs::read(&part).map_err(|error| fault(&error))? != before
    {
        return Err(format!("{}: it has other events of this day", path.display()));
    }
    put_in_place(&part, &path).map_err(|error| fault(&error))?;
    Ok(Some(end))
}

/// The events that were read, by which those that come again are known to be the same.
#[derive(Default)]
struct Seen {
    first: Option<u64>,
    /// A part of the checksum of each one, by number.
    sums: Vec<u32>,
    /// Where they were read, with the number of the first one of each place.
    places: Vec<(u64, String)>,
}

impl Seen {
    fn next(&self) -> u64 {
        self.first.unwrap_or(0) + self.sums.len() as u64
    }

    /// Takes the next event, and returns whether it is new.
    fn take(&mut self, number: u64, time: u64, event: &Event, place: &str) -> Result<bool, String> {
        let first = *self.first.get_or_insert(number);
        let [sum @ .., _, _, _, _] = sum_of_event(number, time, event);
        let sum = u32::from_le_bytes(sum);
        let known = number.checked_sub(first).and_then(|place| usize::try_from(place).ok());
        match known {
            Some(place) if place == self.sums.len() => {}
            Some(place) if place > self.sums.len() => return Err(missing(self.next(), number)),
            // Servers of one database may have written the same day.
            Some(place) if self.sums[place] == sum => return Ok(false),
            _ => {
                let before = self.places.iter().rev().find(|(first, _)| *first <= number);
                let before = before.or(self.places.first()).map_or("", |(_, place)| place);
                return Err(format!(
                    "event {number} is another one than in {before}: they are of two histories, such as \
                     those before and after a backup was restored"
                ));
            }
        }
        if self.places.last().is_none_or(|(_, last)| last != place) {
            self.places.push((number, place.to_owned()));
        }
        self.sums.push(sum);
        Ok(true)
    }
}

/// Hands over the events of archives, and of a store after them, each once and in order. Returns
/// the number of the first one. Fails if an archive cannot be read, events are missing in between,
/// or two have the same number.
pub fn read_all(store: &dyn Store, archives: &[PathBuf], receive: Receive<'_>) -> Result<u64, String> {
    let mut files = vec![];
    for directory in archives {
        let fault = |error: Error| format!("{}: {error}", directory.display());
        for entry in std::fs::read_dir(directory).map_err(fault)? {
            let path = entry.map_err(fault)?.path();
            if path.extension().is_some_and(|of| of == "parquet") {
                files.push((path.file_name().map(ToOwned::to_owned), path));
            }
        }
    }
    files.sort();
    let mut seen = Seen::default();
    for (_, path) in files {
        let place = path.display().to_string();
        let rows = read_file(&path, &mut |number, batch| {
            let is_new = seen.take(number, batch.time, &batch.events[0], &place)?;
            Ok(if is_new { receive(number, batch) } else { ControlFlow::Continue(()) })
        });
        if rows.map_err(|what| format!("{place}: {what}"))?.is_break() {
            return Ok(seen.first.unwrap_or(0));
        }
    }
    let kept = store.first().map_err(|error| error.to_string())?;
    let (before, mut outcome) = (seen.first.map(|first| (first, seen.next())), Ok(()));
    if let Some((_, next)) = before.filter(|(_, next)| kept > *next) {
        return Err(missing(next, kept));
    }
    let read = store.read(kept, &mut |first, Batch { time, mut events }| {
        let first = match before {
            Some((_, next)) if first < next => {
                let n_known = usize::try_from(next - first).unwrap_or(usize::MAX).min(events.len());
                let mut known = (first..).zip(events.drain(..n_known));
                outcome = known.try_for_each(|(number, event)| {
                    seen.take(number, time, &event, "")
                        .map(|_| ())
                        .map_err(|what| format!("the store: {what}"))
                });
                first + n_known as u64
            }
            _ => first,
        };
        if outcome.is_err() {
            return ControlFlow::Break(());
        }
        if events.is_empty() { ControlFlow::Continue(()) } else { receive(first, Batch { time, events }) }
    });
    read.map_err(|error| error.to_string()).and(outcome)?;
    Ok(before.map_or(kept, |(first, _)| first))
}

fn missing(from: u64, to: u64) -> String {
    format!("the events from number {from} to {} are missing in the archives", to - 1)
}

type ReceiveRow<'a> = &'a mut dyn FnMut(u64, Batch) -> Result<ControlFlow<()>, String>;

/// Hands over the events of a file.
fn read_file(path: &Path, receive: ReceiveRow<'_>) -> Result<ControlFlow<()>, String> {
    let table = File::open(path).map_err(|error| error.to_string())?;
    let said = |error: ParquetError| error.to_string();
    let table = Table::of_file(table).map_err(said)?;
    if table.metadata().file_metadata().schema_descr().num_columns() != 6 {
        return Err("it is no archive of events".into());
    }
    for group in 0..table.metadata().num_row_groups() {
        let cells = READ.map(|place| table.cells(group, place));
        let [mut numbers, mut times, mut bodies]: [Cells; 3] = cells
            .into_iter()
            .collect::<Result<Vec<_>, _>>()
            .map_err(said)?
            .try_into()
            .expect("three columns");
        loop {
            let [n, t, b] = [&mut numbers, &mut times, &mut bodies].map(Cells::next_rows);
            let (n, t, b) = (n.map_err(said)?, t.map_err(said)?, b.map_err(said)?);
            if n.is_empty() {
                break;
            }
            for row in n.into_iter().zip(t).zip(b) {
                let ((Cell::Whole(number), Cell::Time(time, _)), Cell::Text(body)) = row else {
                    return Err("it is no archive of events".into());
                };
                let [number, time] = [number, time].map(i64::cast_unsigned);
                let body = opened(&key_of_event(number, time), body.data().to_vec());
                let event = body.and_then(|body| from_bytes(&body));
                let event = event.map_err(|what| format!("event {number}: {what}"))?;
                if receive(number, Batch { time, events: vec![event] })?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}
