//! Displays and clicks at each position: counts.csv of a fit.

use csv::StringRecord;
use documents::RecordLines;
use documents::toml_reader::Location;
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::io::ErrorKind;
use std::path::Path;

const COLUMNS: [&str; 5] = ["query", "item", "position", "clicks", "impressions"];

/// Displays and clicks by query, item and position.
#[derive(Debug, Default)]
pub(super) struct ByPosition(HashMap<String, OfQuery>);

#[derive(Debug, Default)]
struct OfQuery {
    shows: u64,
    items: HashMap<String, BTreeMap<usize, (u64, u64)>>,
}

#[derive(Deserialize)]
struct Line<'a> {
    query: &'a str,
    item: &'a str,
    position: usize,
    clicks: u64,
    impressions: u64,
}

impl ByPosition {
    /// Reads the counts; none from a fit without the file.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let name = path.display().to_string();
        let fault = |line: u64, field: &str, what: String| {
            let line = usize::try_from(line).unwrap_or(usize::MAX);
            Location::new(&name, line, 1, field).error(what).to_string()
        };
        let file = match std::fs::File::open(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            file => file.map_err(|error| format!("{name}: {error}"))?,
        };
        let file = RecordLines::new(file);
        let line_of = |place: Option<&csv::Position>| file.line(place.map(csv::Position::byte));
        let unreadable = |error: &csv::Error| fault(line_of(error.position()), "", error.to_string());
        let mut lines = csv::Reader::from_reader(&file);
        let head = lines.headers().map_err(|error| unreadable(&error))?.clone();
        if let Some(column) = COLUMNS.into_iter().find(|&column| !head.iter().any(|found| found == column)) {
            return Err(fault(1, column, "the header has no such column".into()));
        }
        let (mut counts, mut record) = (Self::default(), StringRecord::new());
        while lines.read_record(&mut record).map_err(|error| unreadable(&error))? {
            let line = line_of(record.position());
            let Line { query, item, position, clicks, impressions } =
                record.deserialize(Some(&head)).map_err(|error| unreadable(&error))?;
            if position == 0 || clicks > impressions {
                let found = format!("{clicks} clicks of {impressions} impressions at position {position}");
                return Err(fault(line, "", format!("item `{item}` of query `{query}` has {found}")));
            }
            let of_query = counts.0.entry(query.to_owned()).or_default();
            of_query.shows = of_query.shows.saturating_add(impressions);
            let of_item = of_query.items.entry(item.to_owned()).or_default();
            if of_item.insert(position, (impressions, clicks)).is_some() {
                let what = format!("item `{item}` of query `{query}` is there twice at position {position}");
                return Err(fault(line, "position", what));
            }
        }
        Ok(counts)
    }

    /// Displays of a query at all positions.
    pub(super) fn shows(&self, query: &str) -> u64 {
        self.0.get(query).map_or(0, |of_query| of_query.shows)
    }

    /// Displays and clicks of an item down to a position, from the top; those at the end that it
    /// lacks are left out.
    pub(super) fn of_item(&self, query: &str, item: &str, positions: usize) -> Option<Vec<(u64, u64)>> {
        let counts = self.0.get(query)?.items.get(item)?;
        let last = *counts.range(..=positions).next_back()?.0;
        let at = |position: usize| counts.get(&position).copied().unwrap_or_default();
        Some((1..=last).map(at).collect())
    }
}
