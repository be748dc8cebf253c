//! Reads TOML files of any kind. Errors name the place: `FILE:LINE:COLUMN: FIELD: what is wrong`.
//!
//! A [`Source`] holds the text of a file, a [`Document`] the parsed text. A [`Table`] is a cursor
//! over one table: the caller asks for the keys that it knows and ends with [`Table::finish`],
//! which refuses all other keys. The type that the caller asks for decides which values are
//! accepted ([`FromToml`]). A [`Field`] accepts any value and keeps its place for later checks.
//!
//! A reader returns the first error. If it reads independent parts with [`Faults`], [`all`] or
//! [`collect`], that error has the others with it ([`Error::all`]).
//!
//! ```text
//! let source = Source::read("spec.toml".as_ref())?;
//! let document = source.parse()?;
//! let root = document.root();
//! let runs: u64 = root.required("runs")?;
//! for panel in root.required::<Vec<Table<'_>>>("panels")? {
//!     let title: Option<String> = panel.optional("title")?;
//!     panel.finish()?;
//! }
//! root.finish()?;
//! ```

mod error;
mod faults;
mod file;
mod json;
mod option;
mod suggest;
mod syntax;
mod typed;
mod values;

pub use error::{Error, Location, with_short_numbers};
pub use faults::{Faults, Parts, all, collect};
#[cfg(feature = "gzip")]
pub(crate) use file::MAX_BYTES;
pub use file::{EmbeddedFile, read_file};
use file::{content_of, open_in};
pub use json::inline;
pub use option::option;
pub use suggest::closest;
pub use typed::{InFiles, read, schema, words};
pub use values::FromToml;

use crate::input_file::BYTE_ORDER_MARK;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A file's name and text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    file: String,
    text: String,
    /// The byte at which each line begins; none if messages name no lines.
    line_starts: Vec<usize>,
    /// Names and contents of the files in its folder, if they are part of the program.
    beside: Option<&'static [EmbeddedFile]>,
    /// Files and folders outside of its own folder that it may name.
    allowed: Vec<PathBuf>,
}

/// The expected kind of file, for messages.
const EXPECTED: &str = "a TOML file";

impl Source {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is a directory, is larger than 64 MiB, is empty, or is not UTF-8.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Self::from_bytes(path.display().to_string(), read_file(path, EXPECTED)?)
    }

    /// Reads a file of a folder, which may name files as [`Source::allowing`] allows it.
    ///
    /// # Errors
    ///
    /// As [`Source::read`]; the file is elsewhere.
    pub fn read_in(folder: &Path, name: &str, allowed: &[PathBuf]) -> Result<Self, Error> {
        let path = folder.join(name);
        let file = path.display().to_string();
        let content =
            open_in(folder, &path, allowed, EXPECTED).and_then(|opened| content_of(opened, EXPECTED));
        let content = content.map_err(|fault| Error::whole_file(&file, fault))?;
        Ok(Self::from_bytes(file, content)?.allowing(allowed))
    }

    fn from_bytes(file: String, bytes: Vec<u8>) -> Result<Self, Error> {
        match String::from_utf8(bytes) {
            Ok(text) => Self::from_text(file, text),
            Err(error) => {
                let valid = error.utf8_error().valid_up_to();
                let bytes = error.into_bytes();
                let location = Location::of_bytes(&file, &bytes, valid);
                Err(location
                    .error(format!("byte 0x{:02x} is not UTF-8: save the file as UTF-8 text", bytes[valid])))
            }
        }
    }

    /// Takes a text as a file; errors call it `file`. A byte order mark at the start is dropped.
    ///
    /// # Errors
    ///
    /// The text is blank.
    pub fn from_text(file: impl Into<String>, text: impl Into<String>) -> Result<Self, Error> {
        let (file, mut text) = (file.into(), text.into());
        if text.as_bytes().starts_with(BYTE_ORDER_MARK) {
            text.drain(..BYTE_ORDER_MARK.len());
        }
        if text.trim().is_empty() {
            return Err(Location::of_text(&file, &text, 0, "").error("the file is empty"));
        }
        let after_newlines = text.match_indices('\n').map(|(newline, _)| newline + 1);
        let line_starts = std::iter::once(0).chain(after_newlines).collect();
        Ok(Self { file, text, line_starts, beside: None, allowed: Vec::new() })
    }

    /// Takes these files for those in its folder: files that it names are not looked up on disk.
    #[must_use]
    pub fn among(self, files: &'static [EmbeddedFile]) -> Self {
        Self { beside: Some(files), ..self }
    }

    /// Allows it to name these files, and those in these folders and below. Without, it can name
    /// those in its own folder and below.
    #[must_use]
    pub fn allowing(self, allowed: &[PathBuf]) -> Self {
        Self { allowed: allowed.to_vec(), ..self }
    }

    /// Takes it for a value that has no lines: messages name keys only.
    #[must_use]
    pub fn without_lines(self) -> Self {
        Self { line_starts: Vec::new(), ..self }
    }

    /// Parses the text.
    ///
    /// # Errors
    ///
    /// The first place where the text is not TOML.
    pub fn parse(&self) -> Result<Document<'_>, Error> {
        match DeTable::parse(&self.text) {
            Ok(root) => Ok(Document { source: self, root: root.into_inner() }),
            Err(error) => Err(syntax::explain(&self.file, &self.text, &error)),
        }
    }

    fn location(&self, span: &Range<usize>, field: &str) -> Location {
        let line = self.line_starts.partition_point(|&start| start <= span.start);
        let start = line.checked_sub(1).map_or(span.start, |last| self.line_starts[last]);
        let before = self.text.get(start..span.start).unwrap_or_default();
        Location::new(&self.file, line, 1 + before.chars().count(), field)
    }
}

/// A parsed file.
#[derive(Debug, Clone)]
pub struct Document<'text> {
    source: &'text Source,
    root: DeTable<'text>,
}

impl Document<'_> {
    /// The table of the keys at the top level.
    pub fn root(&self) -> Table<'_> {
        Table::new(self.source, &self.root, 0..0, String::new())
    }
}

/// A cursor over one table. It remembers the keys that were asked for.
#[derive(Debug, Clone)]
pub struct Table<'doc> {
    source: &'doc Source,
    entries: &'doc DeTable<'doc>,
    span: Range<usize>,
    path: String,
    asked: RefCell<BTreeSet<String>>,
    /// Unknown keys that stand for a missing one: an error names them already.
    blamed: RefCell<BTreeSet<String>>,
}

impl<'doc> Table<'doc> {
    fn new(source: &'doc Source, entries: &'doc DeTable<'doc>, span: Range<usize>, path: String) -> Self {
        Self { source, entries, span, path, asked: RefCell::default(), blamed: RefCell::default() }
    }

    /// The value of a key that has to be there.
    ///
    /// # Errors
    ///
    /// The key is missing (the error points at a similar unknown key), or its value is not a `T`.
    pub fn required<T: FromToml<'doc>>(&self, key: &str) -> Result<T, Error> {
        match self.optional(key)? {
            Some(value) => Ok(value),
            None => Err(self.missing(key, &T::expected())),
        }
    }

    /// The value of a key that may be absent.
    ///
    /// # Errors
    ///
    /// The value is not a `T`.
    pub fn optional<T: FromToml<'doc>>(&self, key: &str) -> Result<Option<T>, Error> {
        self.field(key).map(|field| field.get()).transpose()
    }

    /// The value of a key that may be absent, of any type.
    pub fn field(&self, key: &str) -> Option<Field<'doc>> {
        self.know(&[key]);
        let value = self.entries.get(key)?;
        Some(Field { source: self.source, value, path: self.path_of(key) })
    }

    /// Marks keys as known to the caller, so that [`Table::finish`] does not refuse them.
    pub fn know(&self, keys: &[&str]) {
        self.asked.borrow_mut().extend(keys.iter().map(|&key| key.to_owned()));
    }

    /// All keys of the table in the order of the file.
    pub fn keys(&self) -> Vec<&'doc str> {
        let mut keys: Vec<_> =
            self.entries.iter().map(|(key, _)| (key.span().start, &**key.get_ref())).collect();
        keys.sort_unstable();
        keys.into_iter().map(|(_, key)| key).collect()
    }

    /// Refuses every key that was not asked for.
    ///
    /// # Errors
    ///
    /// The unknown keys, with the known ones and the one that was probably meant.
    pub fn finish(&self) -> Result<(), Error> {
        let (asked, blamed) = (self.asked.borrow(), self.blamed.borrow());
        let known: Vec<&str> = asked.iter().map(String::as_str).collect();
        let refuse = |unknown: &str| {
            let mut message = "unknown key".to_owned();
            push_known(&mut message, unknown, &known, "key");
            Err(self.key_location(unknown).error(message))
        };
        let unknown = self.keys().into_iter().filter(|&key| !asked.contains(key) && !blamed.contains(key));
        collect(unknown.map(refuse))
    }

    /// An error about the table as a whole.
    pub fn error(&self, message: impl Into<String>) -> Error {
        self.location().error(message)
    }

    /// The place where the table begins.
    pub fn location(&self) -> Location {
        self.source.location(&self.span, &self.path)
    }

    /// An error about a missing key, at a similar key that was not asked for if there is one.
    pub fn missing(&self, key: &str, expected: &str) -> Error {
        let (asked, mut blamed) = (self.asked.borrow(), self.blamed.borrow_mut());
        let is_unknown = |present: &&str| !asked.contains(*present) && !blamed.contains(*present);
        let unknown: Vec<&str> = self.keys().into_iter().filter(is_unknown).collect();
        match closest(key, &unknown) {
            Some(similar) => {
                blamed.insert(similar.to_owned());
                self.key_location(similar)
                    .error(format!("unknown key: did you mean `{key}`, which is missing?"))
            }
            None => self
                .source
                .location(&self.span, &self.path_of(key))
                .error(format!("missing key: expected {expected}")),
        }
    }

    fn key_location(&self, key: &str) -> Location {
        let span = self.entries.get_key_value(key).map_or(self.span.clone(), |(name, _)| name.span());
        self.source.location(&span, &self.path_of(key))
    }

    fn path_of(&self, key: &str) -> String {
        let bare = !key.is_empty()
            && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        let key = if bare { key.to_owned() } else { format!("{key:?}") };
        if self.path.is_empty() { key } else { format!("{}.{key}", self.path) }
    }
}

/// A value and its place in the file.
#[derive(Debug, Clone)]
pub struct Field<'doc> {
    source: &'doc Source,
    value: &'doc Spanned<DeValue<'doc>>,
    path: String,
}

impl<'doc> Field<'doc> {
    /// The value as a `T`.
    ///
    /// # Errors
    ///
    /// The value is not a `T`.
    pub fn get<T: FromToml<'doc>>(&self) -> Result<T, Error> {
        T::from_toml(self)
    }

    /// The value as an integer in a range.
    ///
    /// # Errors
    ///
    /// The value is not an integer, or is out of the range.
    pub fn integer_in(&self, range: &RangeInclusive<u64>) -> Result<u64, Error> {
        let value: u64 = self.get()?;
        if range.contains(&value) {
            return Ok(value);
        }
        let message = match *range.end() {
            u64::MAX => format!("{value} is too small: expected an integer of at least {}", range.start()),
            end => {
                let fault = if value < *range.start() { "small" } else { "large" };
                format!("{value} is too {fault}: expected an integer from {} to {end}", range.start())
            }
        };
        Err(self.error(message))
    }

    /// Returns whether the value is an array.
    pub fn is_array(&self) -> bool {
        self.value.get_ref().is_array()
    }

    /// Returns whether the value is a table.
    pub fn is_table(&self) -> bool {
        self.value.get_ref().is_table()
    }

    /// The value as messages show it.
    pub fn describe(&self) -> String {
        match self.value.get_ref() {
            DeValue::String(text) if text.chars().count() > 40 => {
                format!("{:?}", format!("{}...", text.chars().take(40).collect::<String>()))
            }
            DeValue::String(text) => format!("{text:?}"),
            DeValue::Integer(number) => number.to_string(),
            DeValue::Float(number) => number.to_string(),
            DeValue::Boolean(flag) => flag.to_string(),
            DeValue::Datetime(moment) => moment.to_string(),
            DeValue::Array(_) => "an array".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
        }
    }

    /// An error about this value.
    pub fn error(&self, message: impl Into<String>) -> Error {
        self.location().error(message)
    }

    /// The place of the value.
    pub fn location(&self) -> Location {
        self.source.location(&self.value.span(), &self.path)
    }

    /// The folder of the file. Paths in the file are relative to it.
    pub fn folder(&self) -> &'doc Path {
        Path::new(&self.source.file).parent().unwrap_or(Path::new(""))
    }

    /// An error about a value that is not what is expected.
    pub fn wrong_type(&self, expected: &str) -> Error {
        self.error(format!("{} found: expected {expected}", self.describe()))
    }
}

/// Reads a string that has to be one of `known`; `kind` names what the strings denote, for
/// messages.
///
/// # Errors
///
/// The string is not one of them.
pub fn one_of(field: &Field<'_>, known: &[&str], kind: &str) -> Result<String, Error> {
    let name: String = field.get()?;
    if known.contains(&name.as_str()) {
        return Ok(name);
    }
    let mut message = format!("unknown {kind} {name:?}");
    push_known(&mut message, &name, known, kind);
    Err(field.error(message))
}

/// Reads the name of one of the `known` values; `kind` names them in messages.
///
/// # Errors
///
/// No value has this name.
pub fn choice<T: Copy>(field: &Field<'_>, known: &[(&str, T)], kind: &str) -> Result<T, Error> {
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    let name = one_of(field, &names, kind)?;
    let found = known.iter().find(|(other, _)| *other == name);
    found.map(|(_, value)| *value).ok_or_else(|| field.error(format!("unknown {kind}")))
}

/// The most names that stand beside a suggestion.
const LISTED: usize = 30;

/// Adds "did you mean" and the list of known names to a message about an unknown name.
pub fn push_known(message: &mut String, unknown: &str, known: &[&str], kind: &str) {
    if let Some(similar) = closest(unknown, known) {
        let _ = write!(message, ": did you mean `{similar}`?");
    }
    let separator = if message.ends_with('?') { " " } else { ": " };
    match known {
        [] => {
            let _ = write!(message, "{separator}no {kind} is known here");
        }
        // Fifty names would hide the suggestion.
        _ if separator == " " && known.len() > LISTED => {
            let by = if kind == "policy" { " (`click-bandits policies`)" } else { "" };
            let _ = write!(message, " {} others are known{by}", known.len() - 1);
        }
        _ => {
            let _ = write!(message, "{separator}known: {}", known.join(", "));
        }
    }
}
