//! The files of users who differ, as `docs/context.md` shows them.

use click_models::{Context, LogOdds, Personal, WithAttraction};
use confidence::Probability;
use documents::toml_reader::{Error, Field, Location, Table};
use documents::{InputFile, RecordLines, named_cell, read_json, without_byte_order_mark};
use serde::Deserialize;
use std::collections::BTreeSet;

/// Users, items and coefficients.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextFiles {
    files: [InputFile; 3],
    users: FeatureTable,
    items: FeatureTable,
    /// The segment of every user.
    segments: Vec<u32>,
    n_segments: u32,
    attraction: Attraction,
}

/// How attraction depends on user and item.
#[derive(Debug, Clone, PartialEq)]
enum Attraction {
    LogOdds(LogOdds),
    /// User by user.
    Table(Vec<f64>),
}

/// The rows of a CSV file: a name and features.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FeatureTable {
    /// The names of the rows.
    pub rows: Vec<String>,
    /// The names of the features.
    pub features: Vec<String>,
    /// Row by row.
    pub values: Vec<f64>,
}

/// The content of the file of coefficients.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Coefficients {
    mean: Option<f64>,
    #[serde(default)]
    main: Vec<f64>,
    #[serde(default)]
    interaction: Vec<Vec<f64>>,
    #[serde(default)]
    item: Vec<f64>,
    #[serde(default)]
    item_slope: Vec<Vec<f64>>,
    #[serde(default)]
    segment: Vec<Vec<f64>>,
    #[serde(default)]
    attraction: Vec<Vec<f64>>,
}

impl ContextFiles {
    /// Reads the files that a table names so.
    pub(super) fn read(table: &Table<'_>, names: [String; 3]) -> Result<Self, Error> {
        let expected = [
            ("users", "a CSV file of users"),
            ("items", "a CSV file of items"),
            ("coefficients", "a JSON file of coefficients"),
        ];
        let mut files = vec![];
        let mut paths = vec![];
        for ((key, words), name) in expected.into_iter().zip(names) {
            let field: Field<'_> = table.required(key)?;
            paths.push(field.folder().join(&name).display().to_string());
            files.push(InputFile::new(name.clone(), field.read_beside(&name, words)?));
        }
        let files: [InputFile; 3] = files.try_into().expect("three files");
        Self::parse(files, [&paths[0], &paths[1], &paths[2]])
    }

    /// Takes the contents of files: users, items and coefficients.
    ///
    /// # Errors
    ///
    /// The first fault in them, with file and line.
    pub fn new(files: [InputFile; 3]) -> Result<Self, Error> {
        let names = files.clone().map(|file| file.name);
        Self::parse(files, [&names[0], &names[1], &names[2]])
    }

    fn parse(files: [InputFile; 3], paths: [&str; 3]) -> Result<Self, Error> {
        let (users, segments) = read_rows(paths[0], &files[0].content, "user", Some("segment"))?;
        let items = FeatureTable::of_items(paths[1], &files[1].content)?;
        let whole = |fault: String| Error::whole_file(paths[2], fault);
        let found: Coefficients = read_json(paths[2], &files[2].content, "coefficients")?;
        // The rows of the effects of segments announce their number.
        let announced = u32::try_from(found.segment.len()).unwrap_or(u32::MAX);
        let last = segments.iter().map(|(segment, line)| (*segment, *line)).max().unwrap_or((0, 1));
        if announced > 0 && last.0 >= announced {
            let fault = format!("{} found: expected a segment below {announced}", last.0);
            return Err(Location::new(paths[0], last.1, 1, "segment").error(fault));
        }
        let n_segments = announced.max(last.0.saturating_add(1));
        let (n_of_user, n_of_item) = (users.features.len(), items.features.len());
        let matrix = |name: &str, rows: Vec<Vec<f64>>, n: usize, width: usize| {
            let is_matrix = rows.is_empty() || rows.len() == n && rows.iter().all(|row| row.len() == width);
            let rows = is_matrix.then(|| rows.concat());
            rows.ok_or_else(|| whole(format!("{name}: expected {n} rows of {width} numbers")))
        };
        let attraction = matrix("attraction", found.attraction, users.rows.len(), items.rows.len())?;
        let is_table = !attraction.is_empty();
        let log_odds = LogOdds {
            mean: found.mean.unwrap_or(0.0),
            main: found.main,
            interaction: matrix("interaction", found.interaction, n_of_user, n_of_item)?,
            item: found.item,
            item_slope: matrix("item-slope", found.item_slope, items.rows.len(), n_of_user)?,
            segment: matrix("segment", found.segment, n_segments as usize, items.rows.len())?,
        };
        let attraction = match (is_table, found.mean) {
            (true, None) if log_odds == LogOdds::default() => Attraction::Table(attraction),
            (true, _) => return Err(whole("attraction: expected no coefficients beside it".to_owned())),
            (false, None) => {
                return Err(whole("mean: missing, as is attraction: expected one or the other".to_owned()));
            }
            (false, Some(_)) => Attraction::LogOdds(log_odds),
        };
        let segments = segments.into_iter().map(|(segment, _)| segment).collect();
        Ok(Self { files, users, items, segments, n_segments, attraction })
    }

    /// The files: users, items and coefficients.
    pub(super) fn files(&self) -> [&InputFile; 3] {
        self.files.each_ref()
    }

    /// The names of items, of features of users, and of features of items.
    pub(super) fn names(&self) -> (&[String], &[String], &[String]) {
        (&self.items.rows, &self.users.features, &self.items.features)
    }

    pub(super) fn n_items(&self) -> usize {
        self.items.rows.len()
    }

    /// Numbers of users, segments, features of a user, and features of an item.
    pub(super) fn sizes(&self) -> [usize; 4] {
        [
            self.users.rows.len(),
            self.n_segments as usize,
            self.users.features.len(),
            self.items.features.len(),
        ]
    }

    /// The users, who differ from `model` in their attraction.
    pub(super) fn users<M: WithAttraction>(&self, model: &M) -> Result<Personal<M>, Error> {
        let context =
            |user: usize| Context { segment: self.segments[user], features: self.users.row(user).to_vec() };
        let contexts = (0..self.users.rows.len()).map(context);
        let item_features = self.items.values.clone();
        let users = match &self.attraction {
            Attraction::LogOdds(log_odds) => {
                log_odds.users(model, contexts.collect(), self.n_segments, item_features)
            }
            Attraction::Table(attraction) => {
                let users =
                    contexts.zip(attraction.chunks(self.items.rows.len())).map(|(context, attraction)| {
                        let of_user = attraction.iter().map(|&attraction| Probability::new(attraction));
                        let of_user = of_user.collect::<Result<_, _>>().map_err(|fault| fault.to_string())?;
                        Ok((context, model.with_attraction(of_user).map_err(|fault| fault.to_string())?))
                    });
                let users = users.collect::<Result<Vec<_>, String>>();
                let users = users.map_err(|fault| Error::whole_file(&self.files[2].name, fault))?;
                Personal::new(users).and_then(|users| users.announced(self.n_segments, item_features))
            }
        };
        users.map_err(|fault| Error::whole_file(&self.files[2].name, fault.to_string()))
    }

    /// Features that tell nothing, or are off scale.
    pub(super) fn doubts(&self) -> Vec<String> {
        let of_file = |(file, rows): (&InputFile, &FeatureTable)| {
            let doubt = |(column, name): (usize, &String)| {
                let values = || (0..rows.rows.len()).map(|row| rows.row(row)[column]);
                let mean = values().sum::<f64>() / rows.rows.len() as f64;
                let deviation = (values().map(|value| (value - mean).powi(2)).sum::<f64>()
                    / rows.rows.len() as f64)
                    .sqrt();
                let fault = if values().all(|value| value == rows.row(0)[column]) {
                    "is constant, so it tells nothing".to_owned()
                } else if (0.01..=100.0).contains(&deviation) {
                    return None;
                } else {
                    format!("is off scale, with a standard deviation of {deviation:.3e}: expected about 1")
                };
                Some(format!("{}: the feature {name:?} {fault}", file.file_name()))
            };
            rows.features.iter().enumerate().filter_map(doubt).collect::<Vec<_>>()
        };
        self.files.iter().zip([&self.users, &self.items]).flat_map(of_file).collect()
    }
}

impl FeatureTable {
    /// Reads a CSV file with a row for each item: the column `item`, a name; every other column is
    /// a feature.
    ///
    /// # Errors
    ///
    /// The first fault, with file, line and column.
    pub fn of_items(path: &str, content: &[u8]) -> Result<Self, Error> {
        read_rows(path, content, "item", None).map(|(items, _)| items)
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.features.len()..(row + 1) * self.features.len()]
    }
}

/// Reads a CSV file whose column `name` has the names of the rows. Also returns the segment of
/// every row, with its line.
fn read_rows(
    path: &str,
    bytes: &[u8],
    name: &str,
    segment: Option<&str>,
) -> Result<(FeatureTable, Vec<(u32, usize)>), Error> {
    let lines = RecordLines::new(without_byte_order_mark(bytes));
    let mut reader = csv::Reader::from_reader(&lines);
    let fault =
        |line: usize, field: &str, message: String| Location::new(path, line, 1, field).error(message);
    let line_of = |position: Option<&csv::Position>| {
        usize::try_from(lines.line(position.map(csv::Position::byte))).unwrap_or(usize::MAX)
    };
    let unreadable = |error: &csv::Error| fault(line_of(error.position()), "", error.to_string());
    let heads = reader.headers().map_err(|error| unreadable(&error))?.clone();
    let head: Vec<&str> = heads.iter().map(str::trim).collect();
    if let Some(again) = (1..head.len()).find(|&column| head[..column].contains(&head[column])) {
        return Err(fault(1, head[again], "this column is there twice".to_owned()));
    }
    let column_of = |name: &str| head.iter().position(|column| *column == name);
    let name_at = column_of(name)
        .ok_or_else(|| fault(1, name, "no such column: expected the name of each row".to_owned()))?;
    let segment_at = segment.and_then(column_of);
    let is_feature = |column: &usize| *column != name_at && Some(*column) != segment_at;
    let columns: Vec<usize> = (0..head.len()).filter(is_feature).collect();
    let features = columns.iter().map(|&column| head[column].to_owned()).collect();
    let mut rows = FeatureTable { features, ..FeatureTable::default() };
    let (mut names, mut segments) = (BTreeSet::new(), vec![]);
    for record in reader.records() {
        let record = record.map_err(|error| unreadable(&error))?;
        let line = line_of(record.position());
        let cell = |column: usize| record.get(column).unwrap_or("").trim();
        let of_row = named_cell(&heads[name_at], record.get(name_at).unwrap_or(""));
        if !names.insert(of_row.to_owned()) {
            return Err(fault(line, name, format!("{of_row:?} is there twice")));
        }
        rows.rows.push(of_row.to_owned());
        let of_row = match segment_at {
            None => 0,
            Some(column) => cell(column).parse().map_err(|_| {
                fault(line, head[column], format!("{:?} found: expected a segment, from 0", cell(column)))
            })?,
        };
        segments.push((of_row, line));
        for &column in &columns {
            let number = cell(column).parse().ok().filter(|number: &f64| number.is_finite());
            rows.values.push(number.ok_or_else(|| {
                fault(line, head[column], format!("{:?} found: expected a finite number", cell(column)))
            })?);
        }
    }
    if rows.rows.is_empty() { Err(fault(1, name, "no rows".to_owned())) } else { Ok((rows, segments)) }
}
