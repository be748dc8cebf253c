//! Reads `[log]`, which says how the log of an experiment is read.

use crate::fit::HowToRead;
use click_logs::formats;
use experiment::toml_reader::{Error, Field, Source, Table, choice};
use std::ops::RangeInclusive;
use std::path::Path;

/// How to read the log of the experiment in a directory; `None` if the experiment has no log.
pub(super) fn how_to_read(directory: &Path) -> Result<Option<HowToRead>, Error> {
    of_source(&Source::read(&directory.join("experiment.toml"))?)
}

fn of_source(source: &Source) -> Result<Option<HowToRead>, Error> {
    let document = source.parse()?;
    document.root().optional::<Table<'_>>("log")?.map(|table| read(&table)).transpose()
}

fn read(table: &Table<'_>) -> Result<HowToRead, Error> {
    // Only formats that need no names of columns.
    let formats = formats::rows().iter().filter(|row| !row.names_columns()).map(|row| (row.name, row));
    let format = choice(&table.required("format")?, &formats.collect::<Vec<_>>(), "format")?;
    let size = |key: &str, range: RangeInclusive<u64>| -> Result<Option<u64>, Error> {
        table.field(key).map(|field: Field<'_>| field.integer_in(&range)).transpose()
    };
    let small = |size: u64| u32::try_from(size).unwrap_or(u32::MAX);
    let positions = table.required::<Field<'_>>("positions")?.integer_in(&(1..=64))?;
    let how = HowToRead {
        format,
        min_impressions: size("min-impressions", 0..=u64::MAX)?.unwrap_or(0),
        min_items: size("min-items", 1..=u64::from(u32::MAX))?.map_or(1, small),
        top_queries: size("top-queries", 1..=u64::from(u32::MAX))?.map(small),
        positions: u8::try_from(positions).unwrap_or(u8::MAX),
        prior: read_prior(table)?,
    };
    table.finish()?;
    Ok(how)
}

fn read_prior(table: &Table<'_>) -> Result<Option<f64>, Error> {
    let Some(field) = table.field("prior") else { return Ok(None) };
    let prior: f64 = field.get()?;
    if (0.0..=1e9).contains(&prior) {
        return Ok(Some(prior));
    }
    Err(field
        .error(format!("{} is not a strength: expected pseudo-impressions, from 0 to 1e9", field.describe())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(log: &str) -> String {
        let source = Source::from_text("experiment.toml", format!("name = \"x\"\n[log]\n{log}\n")).unwrap();
        of_source(&source).unwrap_err().to_string()
    }

    #[test]
    fn errors_name_their_place() {
        // (`[log]`, beginning of the message after the file)
        for (log, expected) in [
            (
                "format = \"parquet\"\npositions = 3",
                "3:10: log.format: unknown format \"parquet\": known: kdd2012, yandex,",
            ),
            ("format = \"obd\"", "2:1: log.positions: missing key"),
            ("format = \"obd\"\npositions = 65", "4:13: log.positions: 65 is too large"),
            ("format = \"obd\"\npositions = 3\nmin-items = 0", "5:13: log.min-items: 0 is too small"),
            (
                "format = \"obd\"\npositions = 3\nprior = -1",
                "5:9: log.prior: -1 is not a strength: expected pseudo-impressions",
            ),
            (
                "format = \"obd\"\npositions = 3\npiror = 0",
                "5:1: log.piror: unknown key: did you mean `prior`?",
            ),
        ] {
            let found = message(log);
            assert!(found.starts_with(&format!("experiment.toml:{expected}")), "{found}");
        }
    }
}
