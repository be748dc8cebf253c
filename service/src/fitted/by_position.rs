//! Displays and clicks at each position: counts.csv of a fit.

use serde::Deserialize;
use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::Path;

/// Displays and clicks at each position, from the top, by query and item.
#[derive(Debug, Default)]
pub(super) struct ByPosition(HashMap<String, HashMap<String, Vec<(u64, u64)>>>);

#[derive(Deserialize)]
struct Line {
    query: String,
    item: String,
    position: usize,
    clicks: u64,
    impressions: u64,
}

impl ByPosition {
    /// Reads the counts down to a position; none from a fit without the file.
    pub(super) fn read(path: &Path, positions: usize) -> Result<Self, String> {
        let fault = |what: String| format!("{}: {what}", path.display());
        let file = match std::fs::File::open(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            file => file.map_err(|error| fault(error.to_string()))?,
        };
        let mut counts = Self::default();
        for line in csv::Reader::from_reader(file).into_deserialize() {
            let Line { query, item, position, clicks, impressions } =
                line.map_err(|error: csv::Error| fault(error.to_string()))?;
            if position == 0 || clicks > impressions {
                let found = format!("{clicks} clicks of {impressions} impressions at position {position}");
                return Err(fault(format!("item `{item}` of query `{query}` has {found}")));
            }
            if position <= positions {
                let of_item = counts.0.entry(query).or_default().entry(item).or_default();
                of_item.resize(of_item.len().max(position), (0, 0));
                let (shows, clicked) = &mut of_item[position - 1];
                (*shows, *clicked) = (shows.saturating_add(impressions), clicked.saturating_add(clicks));
            }
        }
        Ok(counts)
    }

    /// Displays and clicks of an item.
    pub(super) fn of_item(&self, query: &str, item: &str) -> Option<&[(u64, u64)]> {
        Some(self.0.get(query)?.get(item)?)
    }
}
