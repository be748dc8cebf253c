//! Files of rankings: CSV with a header, and TREC runs.

use super::check::{Columns, Row, ranking};
use super::{Key, Ranking, RankingError};
use csv::{ErrorKind, Position, ReaderBuilder, StringRecord};
use documents::named_cell;

const HEADER: &str = "expected a header with the columns query (or session), position and item, perhaps list and probability, or a \
                      TREC run";
/// Fields of a line of a TREC run: `query Q0 item rank score tag`.
const FIELDS: usize = 6;
const OF_RUNS: Columns = [(1, "query"), (5, "score"), (4, "rank"), (3, "item")];

/// Reads the content of a file.
pub(super) fn read(content: &[u8]) -> Result<Ranking, RankingError> {
    let unpacked = documents::unpack(content).map_err(|error| RankingError::of(0, error.to_string()))?;
    let content = documents::without_byte_order_mark(&unpacked);
    let text = std::str::from_utf8(content).map_err(|error| {
        let lines = content[..error.valid_up_to()].split(|&byte| byte == b'\n').count();
        RankingError::of(lines as u64, "the text is not UTF-8")
    })?;
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if first.split_whitespace().count() == FIELDS { run(text) } else { table(text) }
}

fn at(line: u64, column: (usize, &'static str), expected: &str, found: &str) -> RankingError {
    let message = format!("expected {expected}, found `{}`", found.escape_debug());
    RankingError { column: Some(column), ..RankingError::of(line, message) }
}

/// CSV with a header.
fn table(text: &str) -> Result<Ranking, RankingError> {
    let mut reader = ReaderBuilder::new().from_reader(text.as_bytes());
    let broken = |error: csv::Error| {
        let message = match error.kind() {
            ErrorKind::UnequalLengths { expected_len, len, .. } => {
                format!("expected {expected_len} columns, found {len}")
            }
            _ => error.to_string(),
        };
        RankingError::of(error.position().map_or(0, Position::line), message)
    };
    let heads = reader.headers().map_err(broken)?.clone();
    let header: Vec<&str> = heads.iter().map(str::trim).collect();
    let place = |name| header.iter().position(|found| *found == name);
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
        return Err(RankingError::of(1, HEADER));
    };
    let probability = several.map_or(0, |(_, place)| place);
    let columns = [(query, name), (probability, "probability"), (position, "position"), (item, "item")]
        .map(|(place, name)| (place + 1, name));
    let records: Vec<StringRecord> = reader.records().collect::<Result<_, _>>().map_err(broken)?;
    let row = |record| {
        let record: &StringRecord = record;
        let line = record.position().map_or(0, Position::line);
        let named = |place: usize| named_cell(&heads[place], &record[place]);
        let number = named(position).parse();
        let number = number.map_err(|_| at(line, columns[2], "a position from 1", &record[position]))?;
        let of_list = several.map_or(Ok(1.0), |(_, place)| named(place).parse());
        let of_list = of_list.map_err(|_| at(line, columns[1], "a probability", &record[probability]))?;
        let list = several.map_or("", |(place, _)| named(place));
        Ok((
            line,
            Row { query: named(query), list, probability: of_list, position: number, item: named(item) },
        ))
    };
    ranking(key, records.iter().map(row).collect::<Result<_, _>>()?, &columns)
}

/// A TREC run. Ranks are ignored, as `trec_eval` does: items are ordered by score, and those with
/// equal scores by name, the last first.
fn run(text: &str) -> Result<Ranking, RankingError> {
    let mut rows: Vec<(f64, u64, Row<'_>)> = Vec::new();
    for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [query, _, item, _, score, _] = fields[..] else {
            let message = format!("expected {FIELDS} fields of a TREC run, found {}", fields.len());
            return Err(RankingError::of(line, message));
        };
        let value = score.parse().ok().filter(|value: &f64| !value.is_nan());
        let value = value.ok_or_else(|| at(line, OF_RUNS[1], "a number", score))?;
        rows.push((value, line, Row { query, list: "", probability: 1.0, position: 0, item }));
    }
    rows.sort_by(|(a, _, x), (b, _, y)| x.query.cmp(y.query).then(b.total_cmp(a)).then(y.item.cmp(x.item)));
    let mut ranked = Vec::with_capacity(rows.len());
    for query in rows.chunk_by(|(.., a), (.., b)| a.query == b.query) {
        let numbered = (1..).zip(query);
        ranked.extend(numbered.map(|(position, &(_, line, row))| (line, Row { position, ..row })));
    }
    ranking(Key::Query, ranked, &OF_RUNS)
}
