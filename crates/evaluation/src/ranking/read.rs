//! Files of rankings: CSV with a header, and TREC runs.

use super::check::{Columns, Row, Rows};
use super::{Key, Ranking, RankingError};
use csv::{ErrorKind, Position, Reader, StringRecord};
use documents::{BYTE_ORDER_MARK, Decompressor, RecordLines, named_cell};
use std::io::{BufRead, BufReader, Cursor, Read};

const HEADER: &str = "expected a header with the columns query (or session), position and item, or with the names that the log has \
                      for these three, perhaps list and probability, or a TREC run";
/// Fields of a line of a TREC run: `query Q0 item rank score tag`.
const FIELDS: usize = 6;
const OF_RUNS: Columns = [(1, "query"), (5, "score"), (4, "rank"), (3, "item")];

const NOT_TEXT: &str = "the text is not UTF-8";

pub(super) fn read(stream: impl Read, columns: &log_reader::Columns) -> Result<Ranking, RankingError> {
    let mut stream =
        BufReader::with_capacity(1 << 16, Decompressor::new(stream).map_err(RankingError::unread)?);
    // Down to the first line with text, which determines the format.
    let (mut start, mut first) = (Vec::new(), String::new());
    for line in 1.. {
        let before = start.len();
        let len = stream.read_until(b'\n', &mut start).map_err(RankingError::unread)?;
        if before == 0 && start.starts_with(BYTE_ORDER_MARK) {
            start.drain(..BYTE_ORDER_MARK.len());
        }
        text_of(line, &start[before..])?.clone_into(&mut first);
        if len == 0 || !first.trim().is_empty() {
            break;
        }
    }
    let whole = Cursor::new(start).chain(stream);
    if first.split_whitespace().count() == FIELDS { run(whole) } else { table(whole, columns) }
}

fn text_of(line: u64, bytes: &[u8]) -> Result<&str, RankingError> {
    std::str::from_utf8(bytes).map_err(|_| RankingError::of(line, NOT_TEXT))
}

fn at(line: u64, column: (usize, &'static str), expected: &str, found: &str) -> RankingError {
    let message = format!("expected {expected}, found `{}`", found.escape_debug());
    RankingError { column: Some(column), ..RankingError::of(line, message) }
}

/// CSV with a header, perhaps with the columns of a log.
fn table(text: impl Read, of_log: &log_reader::Columns) -> Result<Ranking, RankingError> {
    let lines = RecordLines::new(text);
    let line_of = |place: Option<&Position>| lines.line(place.map(Position::byte));
    let mut reader = Reader::from_reader(&lines);
    let broken = |error: csv::Error| {
        let message = match error.kind() {
            ErrorKind::UnequalLengths { expected_len, len, .. } => {
                format!("expected {expected_len} columns, found {len}")
            }
            ErrorKind::Utf8 { .. } => NOT_TEXT.to_owned(),
            _ => error.to_string(),
        };
        RankingError::of(line_of(error.position()), message)
    };
    let heads = reader.headers().map_err(broken)?.clone();
    let header: Vec<&str> = heads.iter().map(str::trim).collect();
    let named = |name: &str| header.iter().position(|found| *found == name);
    let place = |name| {
        let of_log = match name {
            "query" => of_log.query.as_deref(),
            "position" => Some(&*of_log.position),
            "item" => Some(&*of_log.item),
            _ => None,
        };
        named(name).or_else(|| named(of_log?))
    };
    let twice = (1..header.len()).any(|place| header[..place].contains(&header[place]));
    let (key, name) =
        if place("session").is_some() { (Key::Session, "session") } else { (Key::Query, "query") };
    let both = key == Key::Session && place("query").is_some();
    let several = place("list").zip(place("probability"));
    let incomplete = several.is_none() && (place("list").is_some() || place("probability").is_some());
    let needed = (place(name), place("position"), place("item"));
    let (Some(query), Some(position), Some(item), false) =
        (needed.0, needed.1, needed.2, twice || both || incomplete)
    else {
        let found: Vec<&str> = heads.iter().collect();
        return Err(RankingError::of(1, format!("{HEADER}, found `{}`", found.join(",").escape_debug())));
    };
    let probability = several.map_or(0, |(_, place)| place);
    let columns = [(query, name), (probability, "probability"), (position, "position"), (item, "item")]
        .map(|(place, name)| (place + 1, name));
    let mut rows = Rows::new(columns);
    let mut record = StringRecord::new();
    while reader.read_record(&mut record).map_err(broken)? {
        let line = line_of(record.position());
        let named = |place: usize| named_cell(&heads[place], &record[place]);
        let number = named(position).parse();
        let position = number.map_err(|_| at(line, columns[2], "a position from 1", &record[position]))?;
        let of_list = several.map_or(Ok(1.0), |(_, place)| named(place).parse());
        let probability = of_list.map_err(|_| at(line, columns[1], "a probability", &record[probability]))?;
        let list = several.map_or("", |(place, _)| named(place));
        rows.add(line, Row { query: named(query), list, probability, position, item: named(item) })?;
    }
    rows.ranking(key)
}

/// A TREC run. Ranks are ignored, as `trec_eval` does: items are ordered by score, and those with
/// equal scores by name, the last first.
fn run(text: impl BufRead) -> Result<Ranking, RankingError> {
    let mut rows = Rows::new(OF_RUNS);
    let mut scores: Vec<f64> = Vec::new();
    for (line, bytes) in (1..).zip(text.split(b'\n')) {
        let bytes = bytes.map_err(RankingError::unread)?;
        let fields: Vec<&str> = text_of(line, &bytes)?.split_whitespace().collect();
        let [query, _, item, _, score, _] = fields[..] else {
            if fields.is_empty() {
                continue;
            }
            let message = format!("expected {FIELDS} fields of a TREC run, found {}", fields.len());
            return Err(RankingError::of(line, message));
        };
        let value = score.parse().ok().filter(|value: &f64| !value.is_nan());
        scores.push(value.ok_or_else(|| at(line, OF_RUNS[1], "a number", score))?);
        rows.add(line, Row { query, list: "", probability: 1.0, position: 1, item })?;
    }
    rows.order_by(&scores);
    rows.ranking(Key::Query)
}
