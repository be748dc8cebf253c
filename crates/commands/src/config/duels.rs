//! Dueling users: a preference matrix from the spec or from a file, all of its items, some, or many random subsets of them.
//!
//! ```toml
//! [[instances]]
//! model = "dueling"
//! preferences = [[0.5, 0.6], [0.4, 0.5]]     # or file = "x.csv": a line a row, in the folder of the spec
//! arms = [0, 3, 5]                           # optional: these items only, numbered anew
//! ```
//!
//! With `arms = { random = 16, subsets = 100 }` a table stands for a hundred instances. Every subset is drawn uniformly from those that have a
//! Condorcet winner, by the experiment's seed and the number of the subset: regret as the papers define it needs a winner. (The RUCB
//! paper draws its subsets uniformly, and says that more than 97 % of them have one.) Two subsets may be the same.

use super::instance::Instance;
use super::{hexadecimal, read_size};
use crate::toml_reader::{Error, Field, Location, Table, read_file};
use click_models::{DuelingModel, ItemId, PreferenceMatrix};
use flate2::read::MultiGzDecoder;
use serde::Serialize;
use sha2::{Digest, Sha256};
use sim::Streams;
use std::borrow::Cow;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;

/// The most entries of all subsets together: 16 bytes each.
const MAX_ENTRIES: usize = 1 << 27;
/// How often a subset is drawn anew for want of a Condorcet winner.
const MAX_DRAWS: u32 = 10_000;

/// The instances of all tables.
#[derive(Debug, Clone)]
pub(crate) struct Duels {
    /// One a table.
    groups: Vec<Group>,
    /// Those of all tables.
    list: Vec<Instance<DuelingModel>>,
}

/// What one table stands for.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    /// Name, when the file gives one.
    pub(crate) name: Option<String>,
    /// Between whom.
    pub(crate) matrix: Arc<PreferenceMatrix>,
    /// The file it was read from.
    source: Option<Arc<MatrixFile>>,
    /// Which of its items.
    pub(crate) arms: Arms,
    location: Location,
}

/// Which items of a matrix.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Arms {
    /// All.
    All,
    /// These.
    Listed(Vec<usize>),
    /// So many at a time, so many times.
    Random { random: usize, subsets: usize },
}

impl Arms {
    /// As a spec says it.
    pub(super) fn to_toml(&self) -> String {
        match self {
            Self::All => String::new(),
            Self::Listed(items) => format!("{items:?}"),
            Self::Random { random, subsets } => format!("{{ random = {random}, subsets = {subsets} }}"),
        }
    }
}

/// A matrix that was read from a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MatrixFile {
    /// The file as it was given.
    file: String,
    /// SHA-256 of its content, in hexadecimal.
    sha256: String,
    matrix: Arc<PreferenceMatrix>,
}

/// How a file compressed with gzip begins.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// More text than a matrix of thousands of items has.
const MAX_TEXT: u64 = 1 << 30;

/// The text of a file.
fn unpacked(content: &[u8]) -> io::Result<Cow<'_, [u8]>> {
    if !content.starts_with(&GZIP) {
        return Ok(Cow::Borrowed(content));
    }
    let mut text = Vec::new();
    MultiGzDecoder::new(content).take(MAX_TEXT + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MAX_TEXT {
        return Err(io::Error::other("more than a gibibyte of text"));
    }
    Ok(Cow::Owned(text))
}

impl MatrixFile {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is no preference matrix.
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let bytes = read_file(path, "a preference matrix as text")?;
        Self::of(path, &bytes)
    }

    /// What a file of this name holds, text that may be compressed with gzip.
    ///
    /// # Errors
    ///
    /// It is no preference matrix.
    pub(crate) fn of(path: &Path, content: &[u8]) -> Result<Self, Error> {
        let file = path.display().to_string();
        let sha256 = hexadecimal(&Sha256::digest(content));
        let bytes = unpacked(content).map_err(|error| Error::whole_file(&file, format!("gzip: {error}")))?;
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            let byte = bytes.get(error.valid_up_to()).copied().unwrap_or_default();
            let message = format!("byte 0x{byte:02x} is not UTF-8: save the file as UTF-8 text");
            Location::of_bytes(&file, &bytes, error.valid_up_to()).error(message)
        })?;
        let matrix = PreferenceMatrix::parse(text, &file).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let whole = error.to_string();
            // The place stands in front already.
            let message = whole.strip_prefix(&format!("{file}:{line}:{column}: ")).unwrap_or(&whole);
            Location::new(&file, line, column, "").error(message)
        })?;
        Ok(Self { file, sha256, matrix: Arc::new(matrix) })
    }

    /// The matrix.
    pub(crate) fn matrix(&self) -> &PreferenceMatrix {
        &self.matrix
    }

    /// SHA-256 of the file's content, in hexadecimal.
    pub(crate) fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The name of the file without its folder.
    pub(crate) fn name(&self) -> String {
        Path::new(&self.file).file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// What it is, for readers.
    pub(crate) fn label(&self) -> String {
        let n_items = self.matrix.shape().n_items();
        format!("Preferences among {n_items} items, of {} (SHA-256 {}).", self.name(), self.sha256)
    }
}

impl Duels {
    /// The instances of these tables; random subsets are drawn with this seed. The matrix `given` stands for that of every file.
    ///
    /// # Errors
    ///
    /// What is wrong with a table or the file that it names.
    pub(super) fn read(
        tables: &[Table<'_>],
        seed: u64,
        given: Option<&Arc<MatrixFile>>,
    ) -> Result<Self, Error> {
        let groups = tables.iter().map(|table| read_group(table, given)).collect::<Result<_, _>>()?;
        let mut duels = Self { groups, list: Vec::new() };
        duels.draw(seed)?;
        Ok(duels)
    }

    /// Draws random subsets with another seed.
    ///
    /// # Errors
    ///
    /// A subset without a Condorcet winner is drawn again and again.
    pub(super) fn draw(&mut self, seed: u64) -> Result<(), Error> {
        let mut list = Vec::new();
        for (number, group) in (0..).zip(&self.groups) {
            for items in group.subsets(seed, number)? {
                let whole = items.len() == group.matrix.shape().n_items() && items.is_sorted();
                let matrix = if whole {
                    PreferenceMatrix::clone(&group.matrix)
                } else {
                    let part = group.matrix.restricted_to(&items);
                    part.map_err(|error| group.location.error(error.to_string()))?
                };
                list.push(Instance {
                    name: group.name.clone(),
                    model: DuelingModel::new(matrix),
                    calibration: None,
                });
            }
        }
        self.list = list;
        Ok(())
    }

    /// The same with so many subsets of each table that has random ones.
    pub(super) fn with_subsets(&mut self, number: usize) {
        for group in &mut self.groups {
            if let Arms::Random { subsets, .. } = &mut group.arms {
                *subsets = number;
            }
        }
    }

    /// Whether some table has random subsets.
    pub(super) fn are_random(&self) -> bool {
        self.groups.iter().any(|group| matches!(group.arms, Arms::Random { .. }))
    }

    /// The tables.
    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The instances.
    pub(crate) fn list(&self) -> &[Instance<DuelingModel>] {
        &self.list
    }

    /// The file that stands for that of every table, or the first that a table names.
    pub(crate) fn file(&self) -> Option<&MatrixFile> {
        self.groups.iter().find_map(|group| group.source.as_deref())
    }
}

impl Group {
    /// How many items each of its instances has.
    pub(super) fn n_items(&self) -> usize {
        match &self.arms {
            Arms::All => self.matrix.shape().n_items(),
            Arms::Listed(items) => items.len(),
            Arms::Random { random, .. } => *random,
        }
    }

    /// Where the matrix comes from, for readers.
    pub(super) fn source(&self) -> String {
        match &self.source {
            Some(file) => file.label(),
            None => format!("{} items, in the experiment's file", self.matrix.shape().n_items()),
        }
    }

    /// The items of each of its instances.
    fn subsets(&self, seed: u64, group: u64) -> Result<Vec<Vec<ItemId>>, Error> {
        match &self.arms {
            Arms::All => Ok(vec![self.matrix.shape().items().collect()]),
            Arms::Listed(items) => Ok(vec![items.iter().map(|&item| ItemId::from_index(item)).collect()]),
            Arms::Random { random, subsets } => {
                let one = |number: usize| self.random_subset(*random, seed, group, number as u64);
                (0..*subsets).map(one).collect()
            }
        }
    }

    fn random_subset(&self, size: usize, seed: u64, group: u64, number: u64) -> Result<Vec<ItemId>, Error> {
        let mut rng = Streams::new(seed).subset(group, number);
        for _ in 0..MAX_DRAWS {
            let items = self.matrix.random_items(size, &mut rng);
            let items = items.map_err(|error| self.location.error(error.to_string()))?;
            let beats_all = |item: ItemId| {
                items.iter().filter(|&&other| self.matrix.beats(item, other)).count() + 1 == items.len()
            };
            if items.iter().any(|&item| beats_all(item)) {
                return Ok(items);
            }
        }
        Err(self.location.error(format!(
            "none of {MAX_DRAWS} random subsets of {size} items has a Condorcet winner, which regret is measured against"
        )))
    }
}

fn read_group(table: &Table<'_>, given: Option<&Arc<MatrixFile>>) -> Result<Group, Error> {
    let name = table.optional("name")?;
    let (inline, file, arms) = (table.field("preferences"), table.field("file"), table.field("arms"));
    table.know(&["model"]);
    table.finish()?;
    let (matrix, source, place) = match (inline, file) {
        (Some(_), Some(file)) => {
            return Err(file.error("`preferences` says what they are: expected one or the other"));
        }
        (None, None) => {
            return Err(table.missing("preferences", "rows of probabilities, [[..], ..], or `file`"));
        }
        (Some(field), None) => {
            let rows: Vec<Vec<f64>> = field.get()?;
            let matrix = PreferenceMatrix::new(&rows).map_err(|error| field.error(error.to_string()))?;
            (Arc::new(matrix), None, field)
        }
        (None, Some(field)) => {
            let file = if let Some(file) = given {
                Arc::clone(file)
            } else {
                let name: String = field.get()?;
                // What is wrong in the file has a place there; a file that is not to be had, the place that asks for it.
                let file = MatrixFile::read(&field.folder().join(name));
                Arc::new(file.map_err(|error| {
                    if error.is_about_whole_file() { field.error(error.to_string()) } else { error }
                })?)
            };
            (Arc::clone(&file.matrix), Some(file), field)
        }
    };
    let n_items = matrix.shape().n_items();
    let (arms, place) = match arms {
        None => (Arms::All, place),
        Some(field) => (read_arms(&field, n_items)?, field),
    };
    if let Arms::Listed(items) = &arms {
        let items: Vec<ItemId> = items.iter().map(|&item| ItemId::from_index(item)).collect();
        matrix.restricted_to(&items).map_err(|error| place.error(error.to_string()))?;
    }
    Ok(Group { name, matrix, source, arms, location: place.location() })
}

fn read_arms(field: &Field<'_>, n_items: usize) -> Result<Arms, Error> {
    if field.is_array() {
        let items: Vec<Field<'_>> = field.get()?;
        let index = |item: &Field<'_>| {
            let index = item.integer_in(&(0..=n_items as u64 - 1))?;
            Ok(usize::try_from(index).unwrap_or(usize::MAX))
        };
        return Ok(Arms::Listed(items.iter().map(index).collect::<Result<_, _>>()?));
    }
    if !field.is_table() {
        return Err(field.error(format!(
            "{} found: expected items, [0, 3], or {{ random = 16, subsets = 100 }}",
            field.describe()
        )));
    }
    let table: Table<'_> = field.get()?;
    let (random, subsets) = (read_size(&table, "random")?, read_size(&table, "subsets")?);
    table.finish()?;
    if random < 2 || random > n_items {
        return Err(table
            .required::<Field<'_>>("random")?
            .error(format!("{random} of {n_items} items: expected an integer from 2 to {n_items}")));
    }
    if random.saturating_mul(random).saturating_mul(subsets) > MAX_ENTRIES {
        return Err(table.required::<Field<'_>>("subsets")?.error(format!(
            "{subsets} matrices of {random} x {random} take more than 2 GiB: reduce `subsets`"
        )));
    }
    Ok(Arms::Random { random, subsets })
}
