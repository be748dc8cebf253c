//! Any table with a header, or of JSON lines, and one (query, item, position) a line, or one list;
//! the user names the columns.
//!
//! A quoted column may contain the delimiter, line ends, and a quotation mark written twice. Other
//! columns than the named ones are not read. Positions count from 1 or, if the reader is set so,
//! from 0.
//!
//! If a column names sessions, the lines with the same session and query are one list, wherever
//! they stand. If a line of a list is skipped, the list ends above it; such lists are counted.
//! Names of sessions are neither kept nor shown.

use super::table_rows::{LongTexts, TableRows};
use super::{Value, json};
use crate::collect::Batches;
use crate::columns::{
    CLICK, ColumnNames, IMPRESSIONS, ITEM, ONE_QUERY, POSITION, Places, QUERY, READ, ROLES, SESSION, USER,
    places,
};
use crate::error::HIDDEN;
use crate::fault::Fault;
use crate::fields::{MAX_COUNT, check_count};
use crate::keys::ListKey;
use crate::list_cells::{ListCells, shown};
use crate::read::line::{LineFault, LineFormat, after_last_line};
use crate::read::marks::{CutLine, Cuts, after_last_record};
use crate::read::open_lists::{OpenLists, Spot};
use crate::table::LineCounts;
use std::borrow::Cow;

/// The indices of the columns in a file.
#[derive(Default)]
pub(in crate::read) struct Layout {
    delimiter: u8,
    n_columns: usize,
    columns: Places,
    /// The columns beyond those of roles.
    further: Vec<usize>,
    names: Vec<String>,
    /// Whether lines are objects of JSON, and columns their keys.
    is_json: bool,
    /// Whether lines are counted on their own, with nothing beside the query.
    is_plain: bool,
}

/// The delimiters, in the order of trial, and how messages call them.
const DELIMITERS: [(u8, &str); 5] =
    [(b'\t', "tabs"), (b',', "commas"), (b';', "semicolons"), (b'|', "vertical bars"), (b' ', "spaces")];

/// Returns whether lines that begin like this are objects of JSON.
fn is_json(line: &[u8]) -> bool {
    line.trim_ascii_start().starts_with(b"{")
}

impl Layout {
    /// The indices of the columns in the header, if this is the delimiter.
    fn new(named: &ColumnNames<'_>, header: &[u8], delimiter: u8, called: &str) -> Result<Self, String> {
        let fields = split(header, delimiter).map_err(|fault| fault.to_string())?;
        let names: Vec<String> = if is_numbered(named) {
            (1..=fields.len()).map(|number| format!("#{number}")).collect()
        } else {
            fields.iter().map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect()
        };
        let (columns, further) = places(named, &names)
            .map_err(|message| format!("{message} in the header, with {called} between columns"))?;
        let is_plain = named.lists.is_none() && further.is_empty() && columns[SESSION].is_none();
        Ok(Self { delimiter, n_columns: names.len(), columns, further, names, is_plain, is_json: false })
    }

    /// The keys of the objects of JSON; one that a table may lack is that of the first object.
    fn of_json(named: &ColumnNames<'_>, first: &[u8]) -> Result<Self, String> {
        let object = serde_json::from_slice(first).map_err(|_| Fault::NotAnObject.to_string())?;
        let is_there = |(name, optional): &(Option<&str>, bool)| {
            name.is_some_and(|name| !optional || json::has(&object, name))
        };
        let of_roles = named.by_role.into_iter().zip(named.optional).filter(is_there);
        let of_roles = of_roles.filter_map(|(name, _)| Some(name?.to_owned()));
        let mut names: Vec<String> = of_roles.chain(named.further.iter().cloned()).collect();
        names.sort_unstable();
        names.dedup();
        let (columns, further) = places(named, &names)?;
        let (delimiter, n_columns) = (b'\n', names.len());
        Ok(Self { delimiter, n_columns, columns, further, names, is_json: true, ..Self::default() })
    }

    /// The index of a role's column; beyond roles, that of a further one.
    fn column(&self, number: usize) -> Option<usize> {
        match self.columns.get(number) {
            Some(column) => *column,
            None => self.further.get(number - ROLES).copied(),
        }
    }

    /// The 1-based column, 0 for none.
    fn number(&self, number: usize) -> usize {
        self.column(number).map_or(0, |column| column + 1)
    }
}

/// Returns whether columns are named by their number: the file has no header.
fn is_numbered(named: &ColumnNames<'_>) -> bool {
    named.by_role[ITEM]
        .and_then(|name| name.strip_prefix('#'))
        .is_some_and(|number| number.parse::<u16>().is_ok())
}

impl LineFormat for TableRows<'_> {
    type Layout = Layout;
    type Memory = OpenLists;
    const HEADER: bool = true;

    fn has_header(&self, first_line: &[u8]) -> bool {
        !is_json(first_line) && !is_numbered(&self.columns)
    }

    fn layout(&self, header: &[u8]) -> Result<Layout, String> {
        if is_json(header) {
            return Layout::of_json(&self.columns, header);
        }
        let mut wrong = None;
        for (delimiter, called) in DELIMITERS {
            match Layout::new(&self.columns, header, delimiter, called) {
                Ok(layout) => return Ok(layout),
                Err(message) if header.contains(&delimiter) => wrong = wrong.or(Some(message)),
                Err(_) => {}
            }
        }
        if let Some((delimiter, called)) = DELIMITERS.iter().find(|(delimiter, _)| header.contains(delimiter))
            && let Ok(columns) = split(header, *delimiter)
            && !self.is_header(header)
        {
            let names: Vec<&str> = self.columns.by_role.into_iter().flatten().collect();
            let (names, n_columns) = (names.join("`, `"), columns.len());
            return Err(format!(
                "no header: none of the {n_columns} columns, with {called} between them, is called `{names}`"
            ));
        }
        Err(wrong.unwrap_or_else(|| {
            let name = self.columns.by_role.into_iter().flatten().next().unwrap_or_default();
            format!("no column `{name}` in the header, with a tab, comma, semicolon, vertical bar or space between columns")
        }))
    }

    fn is_header(&self, line: &[u8]) -> bool {
        let named = self.columns.by_role;
        DELIMITERS.iter().any(|&(delimiter, _)| {
            let columns = split(line, delimiter).unwrap_or_default();
            columns.iter().any(|column| named.contains(&Some(String::from_utf8_lossy(column).trim())))
        })
    }

    fn cuts(&self, layout: &Layout) -> Cuts {
        Cuts { delimiter: layout.delimiter, quotes: !layout.is_json }
    }

    #[inline]
    fn line(
        &self,
        layout: &Layout,
        line: CutLine<'_>,
        at: Spot,
        lists: &mut OpenLists,
        batches: &mut Batches<'_>,
    ) -> Result<(), LineFault> {
        if layout.is_json {
            return self.object(layout, line.whole(), at, lists, batches);
        }
        if let Some(shown) = self.plain(layout, line, batches) {
            batches.count_shown(&shown, at.at);
            return Ok(());
        }
        let value = |role: usize| line.get(layout.column(role)?).map(Value::Text);
        self.count_line(layout, line.n_columns(), &value, at, lists, batches)
    }

    fn quoted(
        &self,
        layout: &Layout,
        line: &[u8],
        at: Spot,
        lists: &mut OpenLists,
        batches: &mut Batches<'_>,
    ) -> Result<(), LineFault> {
        let fields = split(line, layout.delimiter).map_err(|fault| LineFault::new(fault, 0, b"\""))?;
        let value = |role: usize| fields.get(layout.column(role)?).map(|field| Value::Text(field));
        self.count_line(layout, fields.len(), &value, at, lists, batches)
    }

    fn end(&self, lists: &mut OpenLists, _: &mut Batches<'_>) {
        lists.end_block();
    }

    fn open_lists(lists: OpenLists) -> OpenLists {
        lists
    }

    fn cut(&self, layout: &Layout, bytes: &[u8]) -> usize {
        if layout.is_json { after_last_line(bytes) } else { after_last_record(bytes, layout.delimiter) }
    }

    fn column_name(&self, layout: &Layout, column: usize) -> String {
        layout.names.get(column.wrapping_sub(1)).cloned().unwrap_or_default()
    }
}

impl TableRows<'_> {
    /// The counts of a line that has no list and nothing unusual in its columns.
    #[inline]
    fn plain(&self, layout: &Layout, line: CutLine<'_>, batches: &mut Batches<'_>) -> Option<LineCounts> {
        if line.n_columns() != layout.n_columns || !layout.is_plain || self.hands_over || batches.takes_rows()
        {
            return None;
        }
        let number = |role: usize| line.number(layout.columns[role]?).ok();
        let position = self.meaning.position(number(POSITION)?, u64::MAX).ok()??;
        let clicks = number(CLICK)?;
        let impressions = layout.columns[IMPRESSIONS].map_or(Some(1), |_| number(IMPRESSIONS))?;
        if clicks > impressions || impressions > MAX_COUNT {
            return None;
        }
        let mut id = |role: usize| match layout.columns[role] {
            Some(column) => line.short_id(column).or_else(|| batches.id(line.get(column)?).ok()),
            None => batches.id(ONE_QUERY).ok(),
        };
        let (query, item) = (id(QUERY)?, id(ITEM)?);
        Some(LineCounts { query, item, clicks, impressions, position })
    }

    /// Reads an object of JSON.
    #[inline(never)]
    fn object(
        &self,
        layout: &Layout,
        line: &[u8],
        mut at: Spot,
        lists: &mut OpenLists,
        batches: &mut Batches<'_>,
    ) -> Result<(), LineFault> {
        let object = serde_json::from_slice(line).ok().filter(serde_json::Value::is_object);
        let object = object.ok_or(Fault::NotAnObject)?;
        let mut first = Ok(());
        for row in json::rows(&object, &layout.names, layout.column(ITEM)) {
            let value = |role: usize| row.get(layout.column(role)?).map(|field| Value::Text(field));
            // A fault of a list is that of the line, whose other lists count.
            first = first.and(self.count_line(layout, row.len(), &value, at, lists, batches));
            // Another list of the line has another place.
            at.at += 1;
        }
        first
    }

    /// Reads a line, an item or a list of them.
    #[inline]
    fn count_line<'f>(
        &self,
        layout: &Layout,
        found: usize,
        value: &impl Fn(usize) -> Option<Value<'f>>,
        at: Spot,
        lists: &mut OpenLists,
        batches: &mut Batches<'_>,
    ) -> Result<(), LineFault> {
        if found != layout.n_columns {
            if let Some(key) = self.key(value, &mut LongTexts::default()) {
                lists.skip(key, at, batches);
            }
            return Err(not_assigned(layout, found, value, batches));
        }
        match self.columns.lists {
            Some(cells) => self.count_list(layout, cells, value, at, lists, batches),
            None => self.count_item(layout, None, value, at, lists, batches),
        }
    }

    /// Reads the items of a line that is a list.
    #[inline(never)]
    fn count_list<'f>(
        &self,
        layout: &Layout,
        cells: ListCells,
        value: &impl Fn(usize) -> Option<Value<'f>>,
        at: Spot,
        lists: &mut OpenLists,
        batches: &mut Batches<'_>,
    ) -> Result<(), LineFault> {
        let elements = cells.of_row(value).map_err(|(role, fault)| {
            let text = value(role).map_or_else(Vec::new, |value| shown(&value.bytes()));
            LineFault::new(fault, layout.number(role), &text)
        })?;
        let key = self.hash.of_numbers(at.at, at.line);
        (0..elements[ITEM].len()).try_for_each(|place| {
            let value = self.item_of(&elements, place, value);
            self.count_item(layout, Some(key), &value, at, lists, batches)
        })
    }

    /// Reads an item, of a list that has a key of its own if a line is one.
    #[inline]
    fn count_item<'f>(
        &self,
        layout: &Layout,
        list: Option<ListKey>,
        value: &impl Fn(usize) -> Option<Value<'f>>,
        at: Spot,
        lists: &mut OpenLists,
        batches: &mut Batches<'_>,
    ) -> Result<(), LineFault> {
        // Lines are read into the same memory, block after block.
        let mut known = LongTexts::default();
        let counted = self.count(&layout.columns, list, value, at, lists, &mut known, batches);
        counted.map_err(|(number, fault)| {
            // A user is not shown.
            let is_user = number == USER || number == 0 && batches.takes_rows();
            let text = value(number).filter(|_| !is_user).map(Value::bytes).unwrap_or_default();
            let fault = LineFault::new(fault, layout.number(number), &text);
            if number >= ROLES || batches.takes_rows() {
                return fault;
            }
            let impressions = value(IMPRESSIONS).map_or(Ok(1), Value::number).and_then(check_count);
            fault.of(value(CLICK).map_or(Ok(0), Value::clicks).and_then(check_count), impressions)
        })
    }
}

/// The fault of a line whose columns cannot be assigned; nothing is shown if one of them may
/// identify users.
#[cold]
fn not_assigned<'f>(
    layout: &Layout,
    found: usize,
    value: &dyn Fn(usize) -> Option<Value<'f>>,
    batches: &Batches<'_>,
) -> LineFault {
    let expected = layout.n_columns;
    let is_named = layout.columns.iter().flatten().count() == expected;
    let may_be_shown = [SESSION, USER].iter().all(|&role| layout.columns[role].is_none());
    let text = if is_named && may_be_shown && !batches.takes_rows() {
        let fields = (0..READ).map(|role| value(role).map(Value::bytes).unwrap_or_default());
        fields.collect::<Vec<_>>().join(&b' ')
    } else {
        HIDDEN.as_bytes().into()
    };
    LineFault::new(Fault::columns(found, expected), 0, &text)
}

/// Splits a line with quotation marks into columns.
fn split(line: &[u8], delimiter: u8) -> Result<Vec<Cow<'_, [u8]>>, Fault> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        if rest.first() == Some(&b'"') {
            let mut field = Vec::new();
            rest = &rest[1..];
            loop {
                let end = memchr::memchr(b'"', rest).ok_or(Fault::UnclosedQuote)?;
                field.extend_from_slice(&rest[..end]);
                rest = &rest[end + 1..];
                if rest.first() != Some(&b'"') {
                    break;
                }
                field.push(b'"');
                rest = &rest[1..];
            }
            fields.push(field.into());
            match rest {
                [] => return Ok(fields),
                [byte, after @ ..] if *byte == delimiter => rest = after,
                _ => return Err(Fault::UnclosedQuote),
            }
        } else {
            let Some(end) = memchr::memchr(delimiter, rest) else {
                fields.push(rest.into());
                return Ok(fields);
            };
            fields.push(rest[..end].into());
            rest = &rest[end + 1..];
        }
    }
}
