//! Preference matrices as text: one line per row, entries separated by commas or by white space.

use super::PreferenceMatrix;
use crate::{DuelShape, Error};

/// An error in the text of a matrix, with its place: displayed as `FILE:LINE:COLUMN: message`.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}")]
pub struct TextError {
    /// The name of the text, as passed to the parser.
    pub file: String,
    /// 1-based line.
    pub line: usize,
    /// 1-based column, in characters.
    pub column: usize,
    /// The message, without the place.
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
enum Fault {
    #[error("no row: expected a preference matrix, one line per row")]
    Empty,
    #[error("expected a number before this separator or the end of the line")]
    NoEntry,
    #[error("`{0}` is not a number")]
    NotANumber(String),
    /// Number of entries of the line, and of the first line.
    #[error("{0} entries in this row, {1} in the first: a preference matrix is square")]
    Ragged(usize, usize),
    /// Number of rows, and of entries per row.
    #[error("{0} rows of {1} entries: a preference matrix is square")]
    NotSquare(usize, usize),
    #[error("{}", at_its_place(.0))]
    Matrix(Error),
}

/// The message beside the place of the entry, which it need not say.
fn at_its_place(error: &Error) -> String {
    match error {
        Error::NotAPreference { value, .. } => {
            format!("{value} is not a probability: expected a number from 0 to 1")
        }
        Error::DiagonalNotHalf { value, .. } => {
            format!("{value} on the diagonal: expected 1/2, an item compared with itself")
        }
        Error::NotSkew { value, mirrored, .. } => {
            format!("{value} here and {mirrored} the other way round do not add up to 1")
        }
        error => error.to_string(),
    }
}

/// The entries of a line with their columns, from 1; of a longer line only as many as were wanted.
struct Entries {
    kept: Vec<(f64, usize)>,
    found: usize,
}

impl PreferenceMatrix {
    /// Reads a matrix: one line per row, entries separated by commas, semicolons or white space.
    /// Empty lines, and what follows a `#`, are skipped. Errors refer to the text by `name`.
    ///
    /// # Errors
    ///
    /// The first error, with its line and column: an entry that is not a number, rows of different
    /// lengths, and the errors of [`PreferenceMatrix::new`].
    ///
    /// # Examples
    ///
    /// ```
    /// use click_models::PreferenceMatrix;
    ///
    /// let wrong = PreferenceMatrix::parse("0.5,0.6\n0.4,0,5", "two.csv").unwrap_err();
    /// assert_eq!(wrong.to_string(), "two.csv:2:7: 3 entries in this row, 2 in the first: a preference matrix is square");
    /// let wrong = PreferenceMatrix::parse("0.5 0.6\n0.6 0.5", "two.txt").unwrap_err();
    /// assert_eq!((wrong.line, wrong.column), (2, 1));
    /// ```
    pub fn parse(text: &str, name: &str) -> Result<Self, TextError> {
        let fault = |line, column, fault: Fault| {
            let (file, message) = (name.to_owned(), fault.to_string());
            TextError { file, line, column, message }
        };
        let lines = || (1..).zip(text.strip_prefix('\u{feff}').unwrap_or(text).lines());
        // A text that is no matrix takes no more memory than a matrix.
        let (mut rows, mut numbers) = (Vec::<Vec<f64>>::new(), vec![]);
        for (number, line) in lines() {
            let line = uncommented(line);
            if line.trim().is_empty() {
                continue;
            }
            let expected = rows.first().map(Vec::len);
            let wanted = expected.unwrap_or(DuelShape::MAX_ITEMS) + 1;
            let Entries { kept, found } =
                entries(line, wanted).map_err(|(column, what)| fault(number, column, what))?;
            if let Some(expected) = expected.filter(|&expected| expected != found) {
                // The first excess entry, or the end of the line.
                let column = kept.get(expected).map_or(line.trim_end().chars().count() + 1, |entry| entry.1);
                return Err(fault(number, column, Fault::Ragged(found, expected)));
            }
            if found > DuelShape::MAX_ITEMS {
                return Err(fault(number, 1, Fault::Matrix(Error::TooManyToCompare(found))));
            }
            if expected.is_none_or(|expected| rows.len() <= expected) {
                rows.push(kept.into_iter().map(|entry| entry.0).collect());
            }
            numbers.push(number);
        }
        let Some(columns) = rows.first().map(Vec::len) else { return Err(fault(1, 1, Fault::Empty)) };
        if numbers.len() != columns {
            let line = numbers.get(columns).or(numbers.last()).copied().unwrap_or(1);
            return Err(fault(line, 1, Fault::NotSquare(numbers.len(), columns)));
        }
        Self::new(&rows).map_err(|error| {
            let (row, column) = match error {
                Error::NotAPreference { row, column, .. } | Error::NotSkew { row, column, .. } => {
                    (row, column)
                }
                Error::DiagonalNotHalf { item, .. } => (item, item),
                _ => (0, 0),
            };
            let line = lines().nth(numbers[row] - 1).map_or("", |(_, line)| uncommented(line));
            let entries = entries(line, columns).ok();
            let column = entries.and_then(|entries| Some(entries.kept.get(column)?.1)).unwrap_or(1);
            fault(numbers[row], column, Fault::Matrix(error))
        })
    }
}

fn uncommented(line: &str) -> &str {
    line.split('#').next().unwrap_or_default()
}

/// The entries of a non-empty line, or the column of an error. Keeps `wanted` of the entries.
fn entries(line: &str, wanted: usize) -> Result<Entries, (usize, Fault)> {
    let by_comma = line.contains([',', ';']);
    let separates =
        |letter: char| if by_comma { matches!(letter, ',' | ';') } else { letter.is_whitespace() };
    let mut entries = Entries { kept: vec![], found: 0 };
    let mut column = 1;
    for field in line.split(separates) {
        let start = column + field.chars().take_while(|letter| letter.is_whitespace()).count();
        column += field.chars().count() + 1;
        let field = field.trim();
        match field.parse() {
            Ok(value) => {
                entries.found += 1;
                if entries.found <= wanted {
                    entries.kept.push((value, start));
                }
            }
            // Several blanks in a row are one separator; several commas are not.
            Err(_) if field.is_empty() && !by_comma => {}
            Err(_) if field.is_empty() => return Err((start, Fault::NoEntry)),
            Err(_) => return Err((start, Fault::NotANumber(field.to_owned()))),
        }
    }
    Ok(entries)
}
