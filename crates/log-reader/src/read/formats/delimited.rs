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

use super::table_rows::{logged_row, read_row, within};
use super::{Value, json};
use crate::collect::{Batches, Collector};
use crate::columns::{
    CLICK, ColumnNames, IMPRESSIONS, ITEM, ONE_QUERY, POSITION, Places, QUERY, READ, ROLES, SESSION, USER,
    number_of, places,
};
use crate::error::HIDDEN;
use crate::fault::Fault;
use crate::fields::{MAX_COUNT, check_count, table_clicks, table_number};
use crate::keys::{KeyHash, ListKey};
use crate::list_cells::{ListCells, shown};
use crate::read::line::{LineFault, LineFormat, after_last_line};
use crate::read::marks::{CutLine, Cuts, after_last_record};
use crate::read::meaning::Meaning;
use crate::read::open_lists::{OpenLists, Spot};
use crate::table::LineCounts;
use crate::time::milliseconds;
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
    #[inline]
    fn column(&self, number: usize) -> Option<usize> {
        match self.columns.get(number) {
            Some(column) => *column,
            None => self.further.get(number - ROLES).copied(),
        }
    }
}

/// Returns whether columns are named by their number: the file has no header.
fn is_numbered(named: &ColumnNames<'_>) -> bool {
    named.by_role[ITEM]
        .and_then(|name| name.strip_prefix('#'))
        .is_some_and(|number| number.parse::<u16>().is_ok())
}

/// A table, and the meaning of its numbers.
pub(in crate::read) struct TableLines<'a> {
    table: ColumnNames<'a>,
    meaning: Meaning,
    hash: KeyHash,
    /// Whether lists are handed over, with their users and propensities.
    hands_over: bool,
}

/// The fields of a line that are always read, by role.
type Fields<'a> = [Option<&'a [u8]>; READ];
/// The fields that are read if lists are handed over, by role from [`READ`] on.
type LoggedFields<'a> = [Option<&'a [u8]>; ROLES - READ];

impl<'a> TableLines<'a> {
    pub(in crate::read) fn new(
        table: impl Into<ColumnNames<'a>>,
        meaning: Meaning,
        collector: &Collector<'_>,
    ) -> Self {
        Self { table: table.into(), meaning, hash: collector.hash, hands_over: collector.handing.is_some() }
    }
}

impl LineFormat for TableLines<'_> {
    type Layout = Layout;
    type Memory = OpenLists;
    const HEADER: bool = true;

    fn has_header(&self, first_line: &[u8]) -> bool {
        !is_json(first_line) && !is_numbered(&self.table)
    }

    fn layout(&self, header: &[u8]) -> Result<Layout, String> {
        if is_json(header) {
            return Layout::of_json(&self.table, header);
        }
        let mut wrong = None;
        for (delimiter, called) in DELIMITERS {
            match Layout::new(&self.table, header, delimiter, called) {
                Ok(layout) => return Ok(layout),
                Err(message) if header.contains(&delimiter) => wrong = wrong.or(Some(message)),
                Err(_) => {}
            }
        }
        if let Some((delimiter, called)) = DELIMITERS.iter().find(|(delimiter, _)| header.contains(delimiter))
            && let Ok(columns) = split(header, *delimiter)
            && !self.is_header(header)
        {
            let names: Vec<&str> = self.table.by_role.into_iter().flatten().collect();
            let (names, n_columns) = (names.join("`, `"), columns.len());
            return Err(format!(
                "no header: none of the {n_columns} columns, with {called} between them, is called `{names}`"
            ));
        }
        Err(wrong.unwrap_or_else(|| {
            let name = self.table.by_role.into_iter().flatten().next().unwrap_or_default();
            format!("no column `{name}` in the header, with a tab, comma, semicolon, vertical bar or space between columns")
        }))
    }

    fn is_header(&self, line: &[u8]) -> bool {
        let named = self.table.by_role;
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
        let field = |role: usize| line.get(layout.column(role)?);
        self.count_line(layout, line.n_columns(), field, at, lists, batches)
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
        let field = |role: usize| fields.get(layout.column(role)?).map(AsRef::as_ref);
        self.count_line(layout, fields.len(), field, at, lists, batches)
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

impl TableLines<'_> {
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
            let field = |role: usize| row.get(layout.column(role)?).map(Vec::as_slice);
            // A fault of a list is that of the line, whose other lists count.
            first = first.and(self.count_line(layout, row.len(), field, at, lists, batches));
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
        field: impl Fn(usize) -> Option<&'f [u8]>,
        at: Spot,
        lists: &mut OpenLists,
        batches: &mut Batches<'_>,
    ) -> Result<(), LineFault> {
        match self.table.lists {
            Some(cells) if found == layout.n_columns => {
                self.count_list(layout, cells, &field, at, lists, batches)
            }
            _ => self.count_item(layout, found, None, field, at, lists, batches),
        }
    }

    /// Reads the items of a line that is a list.
    #[inline(never)]
    fn count_list<'f>(
        &self,
        layout: &Layout,
        cells: ListCells,
        field: &impl Fn(usize) -> Option<&'f [u8]>,
        at: Spot,
        lists: &mut OpenLists,
        batches: &mut Batches<'_>,
    ) -> Result<(), LineFault> {
        let elements = cells.of_row(|role| field(role).map(Value::Text)).map_err(|(role, fault)| {
            let column = layout.column(role).map_or(0, |column| column + 1);
            LineFault::new(fault, column, &shown(field(role).unwrap_or_default()))
        })?;
        let key = self.hash.of_numbers(at.at, at.line);
        for place in 0..elements[ITEM].len() {
            let position = self.meaning.named(place).to_string();
            let field = |role: usize| match elements.get(role).and_then(|all| all.get(place)) {
                _ if role == POSITION => Some(position.as_bytes()),
                Some(&Value::Text(text)) => Some(text),
                _ => field(role),
            };
            self.count_item(layout, layout.n_columns, Some(key), field, at, lists, batches)?;
        }
        Ok(())
    }

    /// Reads an item, and notes a fault in its list, which has a key of its own if a line is one.
    #[expect(clippy::too_many_arguments, reason = "those of a line")]
    #[inline]
    fn count_item<'f>(
        &self,
        layout: &Layout,
        found: usize,
        list: Option<ListKey>,
        field: impl Fn(usize) -> Option<&'f [u8]>,
        at: Spot,
        lists: &mut OpenLists,
        batches: &mut Batches<'_>,
    ) -> Result<(), LineFault> {
        let fields: Fields<'_> = std::array::from_fn(&field);
        if batches.takes_rows() {
            if found != layout.n_columns {
                return Err(LineFault::new(Fault::columns(found, layout.n_columns), 0, HIDDEN.as_bytes()));
            }
            let values = fields.map(|field| field.map(Value::Text));
            let further: Vec<Value<'_>> = (0..layout.further.len())
                .map(|at| field(ROLES + at).map_or(Value::Missing, Value::Text))
                .collect();
            return batches.take_row(&values, &further).map_err(|(column, fault)| {
                let number = number_of(column);
                let text = if number == 0 { b"" } else { field(number).unwrap_or_default() };
                LineFault::new(fault, layout.column(number).map_or(0, |column| column + 1), text)
            });
        }
        // The query without its strata: of one list they are the same.
        let key = list.or_else(|| self.key(layout, &fields));
        let composed;
        let (mut fields, mut at) = (fields, at);
        let strata = layout.further.len() - usize::from(self.table.is_timed);
        if strata > 0 {
            let of_query = fields[QUERY].unwrap_or(ONE_QUERY);
            let of_strata = (ROLES..ROLES + strata).map(|number| field(number).unwrap_or_default());
            composed = within(of_query, of_strata);
            fields[QUERY] = Some(&composed);
        }
        if self.table.is_timed && found == layout.n_columns {
            let text = field(ROLES + strata).unwrap_or_default();
            let column = layout.column(ROLES + strata).map_or(0, |column| column + 1);
            match milliseconds(Value::Text(text)) {
                Ok(time) => at.time = time,
                Err(fault) => {
                    let fault = LineFault::new(fault, column, text);
                    return lists.take(key, Err(fault), at, &layout.columns, batches);
                }
            }
        }
        if self.hands_over {
            let logged = std::array::from_fn(|role| field(READ + role));
            return self.line_to_hand_over(layout, found, fields, logged, key, at, lists, batches);
        }
        let shown = self.read(layout, found, fields, batches);
        lists.take(key, shown.map(|shown| Some((shown?, None))), at, &layout.columns, batches)
    }

    /// The list of a line, if a column names sessions.
    #[inline]
    fn key(&self, layout: &Layout, fields: &Fields<'_>) -> Option<ListKey> {
        let session = fields[SESSION].filter(|_| layout.columns[SESSION].is_some())?;
        let query = self.hash.of_text(fields[QUERY].unwrap_or_default());
        Some(self.hash.of_both(self.hash.of_text(session), query))
    }

    /// Reads a line with its user and propensities.
    #[expect(clippy::too_many_arguments, reason = "those of a line")]
    #[inline(never)]
    fn line_to_hand_over(
        &self,
        layout: &Layout,
        found: usize,
        fields: Fields<'_>,
        logged: LoggedFields<'_>,
        key: Option<ListKey>,
        at: Spot,
        lists: &mut OpenLists,
        batches: &mut Batches<'_>,
    ) -> Result<(), LineFault> {
        let session = fields[SESSION].filter(|_| layout.columns[SESSION].is_some());
        let shown = self.read(layout, found, fields, batches).and_then(|shown| {
            let Some(shown) = shown else { return Ok(None) };
            let values = logged.map(|field| field.map(Value::Text));
            let row = logged_row(session.map(Value::Text), &values, shown.clicks, batches);
            let row = row.map_err(|(role, fault)| {
                let column = layout.columns[role].map_or(0, |column| column + 1);
                // A user is not shown.
                let text = if role > USER { logged[role - READ].unwrap_or_default() } else { b"" };
                LineFault::new(fault, column, text).of(Ok(shown.clicks), Ok(shown.impressions))
            })?;
            Ok(Some((shown, Some(row))))
        });
        lists.take(key, shown, at, &layout.columns, batches)
    }

    /// Reads a line of `found` columns; `None` if its position is not wanted.
    fn read(
        &self,
        layout: &Layout,
        found: usize,
        fields: Fields<'_>,
        batches: &mut Batches<'_>,
    ) -> Result<Option<LineCounts>, LineFault> {
        let expected = layout.n_columns;
        if found != expected {
            // The columns cannot be assigned; nothing is shown if one of them may identify users.
            let named = layout.columns.iter().flatten().count();
            let may_be_shown = [SESSION, USER].iter().all(|&role| layout.columns[role].is_none());
            let text = if named == expected && may_be_shown {
                fields.map(Option::unwrap_or_default).join(&b' ')
            } else {
                HIDDEN.as_bytes().into()
            };
            return Err(LineFault::new(Fault::columns(found, expected), 0, &text));
        }
        let shown = read_row(&fields.map(|field| field.map(Value::Text)), self.meaning, None, batches);
        shown.map_err(|(role, fault)| {
            let column = layout.columns[role].map_or(0, |column| column + 1);
            let impressions =
                fields[IMPRESSIONS].map_or(Ok(1), |text| table_number(text).and_then(check_count));
            let clicks = table_clicks(fields[CLICK].unwrap_or_default()).and_then(check_count);
            LineFault::new(fault, column, fields[role].unwrap_or_default()).of(clicks, impressions)
        })
    }
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
