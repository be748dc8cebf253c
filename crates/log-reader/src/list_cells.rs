//! A list in one row: cells that hold an element for each place of the list.
//!
//! A list of JSON, Parquet or a table in memory arrives as text, with a mark before each element.

use crate::columns::{CLICK, ITEM, PREFIX, PROPENSITY, ROLES, VALUE};
use crate::fault::Fault;
use crate::read::Value;

/// The mark before each text of a list. No name begins with it.
pub const TEXTS: u8 = 0x1f;
/// The mark before each number of a list.
pub const NUMBERS: u8 = 0x1e;

/// Names of separators that a shell or a list of columns would take for something else.
pub(crate) const SEPARATORS: [(&str, u8); 4] =
    [("space", b' '), ("comma", b','), ("semicolon", b';'), ("bar", b'|')];

/// The byte of a separator, by name or as it is.
pub(crate) fn separator_of(text: &str) -> Option<u8> {
    let named = SEPARATORS.iter().find(|(name, _)| *name == text).map(|(_, byte)| *byte);
    let [byte] = *text.as_bytes() else { return named };
    Some(byte)
}

/// How the cells of a list are cut into elements.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListCells {
    /// The separator of texts.
    pub(crate) separator: Option<u8>,
    /// Whether an element is an item and its click, such as `N55689-1`.
    pub(crate) are_pairs: bool,
}

/// The elements of a row, by role; none of a role without a list.
pub(crate) type Elements<'a> = [Vec<Value<'a>>; ROLES];

impl ListCells {
    /// The roles whose cells hold lists.
    pub(crate) const ROLES: [usize; 5] = [ITEM, CLICK, PROPENSITY, PREFIX, VALUE];

    /// The elements of a row, as many of each role, or the role at fault.
    pub(crate) fn of_row<'a>(
        self,
        value: impl Fn(usize) -> Option<Value<'a>>,
    ) -> Result<Elements<'a>, (usize, Fault)> {
        let mut all = Elements::default();
        for role in Self::ROLES {
            let Some(cell) = value(role) else { continue };
            let cut =
                self.elements(cell).map(|all| all.into_iter().map(|one| self.part(one, role)).collect());
            all[role] = cut.and_then(|parts: Result<_, _>| parts).map_err(|fault| (role, fault))?;
            let (found, expected) = (all[role].len(), all[ITEM].len());
            if found != expected {
                return Err((role, Fault::NumberOfElements { found, expected }));
            }
        }
        Ok(all)
    }

    fn elements(self, cell: Value<'_>) -> Result<Vec<Value<'_>>, Fault> {
        let text = match cell {
            Value::Missing => return Ok(Vec::new()),
            Value::Text(text) => text,
            _ => return Err(Fault::NotAList),
        };
        let bracketed = text.trim_ascii().strip_prefix(b"[").and_then(|text| text.strip_suffix(b"]"));
        let parts = match (text, bracketed, self.separator) {
            ([mark @ (TEXTS | NUMBERS), rest @ ..], ..) => {
                let parts = rest.split(|byte| byte == mark);
                return Ok(parts
                    .map(|part| if *mark == NUMBERS { number(part) } else { Value::Text(part) })
                    .collect());
            }
            (_, Some(text), _) => quoted(text),
            (b"", ..) => Vec::new(),
            (_, _, Some(b' ')) => {
                text.split(u8::is_ascii_whitespace).filter(|part| !part.is_empty()).collect()
            }
            (_, _, Some(separator)) => {
                text.split(|byte| *byte == separator).map(<[u8]>::trim_ascii).collect()
            }
            _ => return Err(Fault::NotAList),
        };
        Ok(parts.into_iter().map(Value::Text).collect())
    }

    /// The part of an element that is of a role.
    fn part(self, element: Value<'_>, role: usize) -> Result<Value<'_>, Fault> {
        let Value::Text(text) = element else { return Ok(element) };
        if !self.are_pairs || role > CLICK {
            return Ok(element);
        }
        let cut = text.iter().rposition(|byte| matches!(byte, b'-' | b':')).ok_or(Fault::NotAPair)?;
        Ok(Value::Text(if role == ITEM { &text[..cut] } else { &text[cut + 1..] }))
    }
}

/// A cell as messages show it, without marks.
pub(crate) fn shown(cell: &[u8]) -> Vec<u8> {
    let shown = cell.iter().map(|byte| if [TEXTS, NUMBERS].contains(byte) { b' ' } else { *byte });
    shown.collect::<Vec<_>>().trim_ascii_start().to_vec()
}

/// The elements between brackets, as JSON, Python and numpy write them.
fn quoted(mut text: &[u8]) -> Vec<&[u8]> {
    let mut all = Vec::new();
    let is_between = |byte: &u8| *byte == b',' || byte.is_ascii_whitespace();
    while let Some(start) = text.iter().position(|byte| !is_between(byte)) {
        let quote = Some(text[start]).filter(|byte| matches!(byte, b'"' | b'\''));
        text = &text[start + usize::from(quote.is_some())..];
        let is_end = |byte: &u8| quote.map_or_else(|| is_between(byte), |quote| *byte == quote);
        let end = text.iter().position(is_end).unwrap_or(text.len());
        all.push(&text[..end]);
        text = text.get(end + 1..).unwrap_or_default();
    }
    all
}

/// A number of a typed list.
fn number(text: &[u8]) -> Value<'_> {
    let text = str::from_utf8(text).unwrap_or_default();
    let whole = text.parse::<u64>().map(Value::from).or_else(|_| text.parse::<i64>().map(Value::from));
    whole.or_else(|_| text.parse::<f64>().map(Value::from)).unwrap_or(Value::Missing)
}
