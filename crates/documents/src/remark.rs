//! Remarks on a result, whose codes programs read in place of sentences: the table of `CODES.md`.

use serde::Serialize;
use std::fmt::{self, Display, Write as _};

/// The code of a remark: a row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Code(&'static str);

const TABLE: &str = include_str!("../CODES.md");

/// The code with a name. In a constant, a name without a row does not compile.
///
/// # Panics
///
/// Without a row.
pub const fn code(name: &'static str) -> Code {
    let (table, letters, mut at) = (TABLE.as_bytes(), name.as_bytes(), 0);
    while at + letters.len() + 1 < table.len() {
        let mut same = 0;
        while same < letters.len() && table[at + 1 + same] == letters[same] {
            same += 1;
        }
        if same == letters.len() && table[at] == b'`' && table[at + 1 + same] == b'`' {
            return Code(name);
        }
        at += 1;
    }
    panic!("a code without a row in CODES.md")
}

/// The rows of the table: name, kind, commands and text.
pub fn codes() -> impl Iterator<Item = [&'static str; 4]> {
    TABLE.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.strip_suffix(" |")?.splitn(4, " | ");
        let name = cells.next()?.strip_suffix('`')?;
        Some([name, cells.next()?, cells.next()?, cells.next()?])
    })
}

/// A remark on a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Remark {
    /// Its code.
    pub code: Code,
    /// `refusal`, `undecided`, `alarm`, `warning` or `note`.
    pub kind: &'static str,
    /// The level or the model that it is about; the whole result if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<&'static str>,
    /// The remark in words.
    pub text: String,
}

impl Remark {
    /// A remark with the text of the table, where `values` replace the marks in their order.
    pub fn new(code: Code, values: &[&dyn Display]) -> Self {
        let [_, kind, _, form] = codes().find(|row| row[0] == code.0).unwrap_or([""; 4]);
        let (mut text, mut values) = (String::new(), values.iter());
        for (place, part) in form.split("..").enumerate() {
            if let (Some(value), true) = (values.as_slice().first(), place > 0) {
                let _ = write!(text, "{value}");
                values.next();
            }
            text.push_str(part);
        }
        Self { code, kind, of: None, text }
    }
}

/// A remark with the text of its code's row, where the values replace the marks in their order. A
/// code without a row does not compile.
#[macro_export]
macro_rules! remark {
    ($code:literal $(, $value:expr)*) => {
        $crate::remark::Remark::new(const { $crate::remark::code($code) }, &[$(&$value as &dyn std::fmt::Display),*])
    };
}

impl Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}
