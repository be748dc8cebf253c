//! Rows of tables that are stored by columns, in Parquet or in memory: from [`Value`]s to
//! impressions and lists.

use crate::collect::{Batches, Collector};
use crate::columns::{
    CLICK, ColumnNames, Columns, IMPRESSIONS, ITEM, ONE_QUERY, POSITION, PROPENSITY, Places, QUERY, READ,
    ROLES, SESSION, USER, VALUE, number_of,
};
use crate::error::{Error, ErrorKind, Place};
use crate::fault::Fault;
use crate::fields::{check_count, check_propensity, check_value, decimal, table_clicks, table_number};
use crate::keys::{KeyHash, ListKey};
use crate::list_cells::{ListCells, shown};
use crate::logged::{LoggedRow, value_of};
use crate::names::{Id, mix};
use crate::read::line::{Lost, MAX_TEXT};
use crate::read::meaning::Meaning;
use crate::read::open_lists::{OpenLists, Spot};
use crate::read::thread_report::ThreadReport;
use crate::table::LineCounts;
use crate::time::milliseconds;
use hashbrown::HashTable;
use num_traits::ToPrimitive as _;
use std::borrow::Cow;

/// A value of a column. A whole floating-point number is a whole number, as in some sums.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Value<'a> {
    /// None.
    Missing,
    /// A whole number.
    Number(u64),
    /// A whole number below 0.
    Negative(i64),
    /// A number that is not whole, above 2^53 or no number.
    Fraction(f64),
    /// A point in time: a number of ticks since 1970 in UTC, and the number of ticks of a day.
    Time(i64, i64),
    /// A text.
    Text(&'a [u8]),
}

impl From<u64> for Value<'_> {
    #[inline]
    fn from(value: u64) -> Self {
        Self::Number(value)
    }
}

impl From<i64> for Value<'_> {
    #[inline]
    fn from(value: i64) -> Self {
        u64::try_from(value).map_or(Self::Negative(value), Self::Number)
    }
}

impl From<bool> for Value<'_> {
    #[inline]
    fn from(value: bool) -> Self {
        Self::Number(value.into())
    }
}

impl From<f64> for Value<'_> {
    #[inline]
    fn from(value: f64) -> Self {
        // Above 2^53 a neighbouring whole number may have been meant.
        if value.trunc() != value || value.abs() > 9_007_199_254_740_992.0 {
            return Self::Fraction(value);
        }
        // Whole and within 2^53.
        Self::from(value.to_i64().unwrap_or(i64::MAX))
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(value: &'a str) -> Self {
        Self::Text(value.as_bytes())
    }
}

impl Value<'_> {
    /// A whole number, 0 or above.
    ///
    /// # Errors
    ///
    /// The fault if the value is not a number.
    #[inline]
    pub fn number(self) -> Result<u64, Fault> {
        match self {
            Self::Missing => Err(Fault::Empty),
            Self::Number(number) => Ok(number),
            Self::Negative(_) => Err(Fault::Negative),
            Self::Fraction(_) | Self::Time(..) => Err(Fault::NotANumber),
            Self::Text(text) => table_number(text),
        }
    }

    /// A finite number.
    ///
    /// # Errors
    ///
    /// The fault if the value is not a number.
    pub fn finite(self) -> Result<f64, Fault> {
        let number = match self {
            Self::Missing | Self::Text(b"") => return Err(Fault::Empty),
            Self::Number(number) => number as f64,
            Self::Negative(number) => number as f64,
            Self::Fraction(number) => number,
            Self::Time(ticks, _) => ticks as f64,
            Self::Text(text) => decimal(text).unwrap_or(f64::NAN),
        };
        if number.is_finite() { Ok(number) } else { Err(Fault::NotFinite) }
    }

    pub(crate) fn clicks(self) -> Result<u64, Fault> {
        if let Self::Text(text) = self { table_clicks(text) } else { self.number() }
    }

    fn id(self, batches: &mut Batches<'_>) -> Result<Id, Fault> {
        match self {
            Self::Missing => Err(Fault::Empty),
            Self::Number(number) if number < 1 << 63 => Ok(Id(number)),
            Self::Number(number) => batches.id(number.to_string().as_bytes()),
            Self::Negative(number) => batches.id(number.to_string().as_bytes()),
            Self::Fraction(_) => Err(Fault::NotANumber),
            Self::Time(ticks, _) => Self::from(ticks).id(batches),
            Self::Text(text) => batches.id(text),
        }
    }

    /// The value of a click, a number from 0 to 1e9.
    ///
    /// # Errors
    ///
    /// The fault if it is none.
    pub fn worth(self) -> Result<f64, Fault> {
        match self {
            Self::Text(text) => crate::fields::value(text),
            Self::Time(..) => Err(Fault::NotAValue),
            number => number
                .finite()
                .map_err(|fault| if fault == Fault::Empty { fault } else { Fault::NotAValue })
                .and_then(check_value),
        }
    }

    fn propensity(self, kind: usize, batches: &mut Batches<'_>) -> Result<f64, Fault> {
        match self {
            value if PROPENSITY + kind == VALUE => value.worth(),
            Self::Missing => Err(Fault::Empty),
            Self::Number(1) => Ok(1.0),
            Self::Number(_) | Self::Negative(_) | Self::Time(..) => Err(Fault::NotAPropensity),
            Self::Fraction(number) => check_propensity(number),
            Self::Text(text) => batches.texts.propensity(text, kind),
        }
    }

    /// The hash of the name of a user or a session, that of the same name in a text file.
    fn unit(self, role: usize, batches: &mut Batches<'_>) -> Result<u64, Fault> {
        match self {
            Self::Missing | Self::Text(b"") => Err(Fault::Empty),
            name => Ok(batches.texts.hash(&name.bytes(), role)),
        }
    }

    fn key(self, hash: KeyHash) -> ListKey {
        match self {
            Self::Missing => hash.of_numbers(0, 0),
            Self::Number(number) => hash.of_numbers(1, number),
            Self::Negative(number) => hash.of_numbers(2, number.cast_unsigned()),
            Self::Fraction(number) => hash.of_numbers(3, number.to_bits()),
            Self::Time(ticks, _) => hash.of_numbers(4, ticks.cast_unsigned()),
            Self::Text(text) => hash.of_text(text),
        }
    }

    /// The bytes of its text.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            other => Cow::Owned(other.text().into_bytes()),
        }
    }

    fn text(&self) -> String {
        match *self {
            Self::Missing => String::new(),
            Self::Number(number) => number.to_string(),
            Self::Negative(number) => number.to_string(),
            Self::Fraction(number) => number.to_string(),
            Self::Time(ticks, _) => ticks.to_string(),
            Self::Text(text) => {
                String::from_utf8_lossy(&text[..text.len().min(MAX_TEXT)]).escape_debug().to_string()
            }
        }
    }
}

/// The values of a row by role; `None` for a role without a column.
pub(in crate::read) type RowValues<'a> = [Option<Value<'a>>; READ];
/// The values that are read if lists are handed over, by role from [`READ`] on.
pub(in crate::read) type LoggedValues<'a> = [Option<Value<'a>>; ROLES - READ];

/// A table whose rows are read.
#[derive(Debug, Clone, Copy)]
pub(in crate::read) struct TableOfRows<'a> {
    pub(in crate::read) columns: &'a ColumnNames<'a>,
    pub(in crate::read) places: Places,
    /// The places of the columns that have no role.
    pub(in crate::read) further: &'a [usize],
    pub(in crate::read) meaning: Meaning,
    pub(in crate::read) name: &'a str,
    /// The file's number.
    pub(in crate::read) number: usize,
    pub(in crate::read) lenient: bool,
    pub(in crate::read) hash: KeyHash,
    /// Whether lists are handed over.
    pub(in crate::read) hands_over: bool,
}

impl<'a> TableOfRows<'a> {
    /// A table of no file yet.
    pub(in crate::read) fn new(
        columns: &'a ColumnNames<'a>,
        meaning: Meaning,
        lenient: bool,
        collector: &Collector<'_>,
    ) -> Self {
        let (hash, hands_over) = (collector.hash, collector.handing.is_some());
        let places = [None; ROLES];
        Self { columns, places, further: &[], meaning, name: "", number: 0, lenient, hash, hands_over }
    }

    /// The number of columns: those of roles, and those beyond.
    pub(in crate::read) fn n_columns(&self) -> usize {
        ROLES + self.further.len()
    }

    /// The place of a column whose values are read.
    pub(in crate::read) fn place(&self, number: usize) -> Option<usize> {
        match self.places.get(number) {
            Some(place) => place.filter(|_| number < READ || self.hands_over),
            None => self.further.get(number - ROLES).copied(),
        }
    }
}

/// Counts rows, one after another.
pub(in crate::read) struct Rows<'a, 'b> {
    table: TableOfRows<'a>,
    /// The lists, if a column names sessions.
    lists: OpenLists,
    known: LongTexts,
    batches: &'a mut Batches<'b>,
    report: &'a mut ThreadReport,
}

impl<'a, 'b> Rows<'a, 'b> {
    pub(in crate::read) fn new(
        table: &TableOfRows<'a>,
        batches: &'a mut Batches<'b>,
        report: &'a mut ThreadReport,
    ) -> Self {
        Self { table: *table, lists: OpenLists::default(), known: LongTexts::default(), batches, report }
    }

    /// Called after the last row.
    pub(in crate::read) fn close(self) {
        self.report.open.push(self.lists);
    }

    /// Called before the values of other rows take the memory of those counted so far.
    #[cfg(feature = "parquet")]
    pub(in crate::read) fn forget_texts(&mut self) {
        self.known.0.clear();
    }

    /// Counts a row, from 1, with a value for each role. Returns whether to continue.
    #[inline]
    pub(in crate::read) fn row<'v>(&mut self, row: u64, value: impl Fn(usize) -> Option<Value<'v>>) -> bool {
        self.report.read.lines += 1;
        match self.table.columns.lists {
            None => self.item(row, None, value),
            Some(cells) => self.list(row, cells, &value),
        }
    }

    /// Counts the items of a row that is a list.
    #[inline(never)]
    fn list<'v>(&mut self, row: u64, cells: ListCells, value: &impl Fn(usize) -> Option<Value<'v>>) -> bool {
        let elements = match cells.of_row(value) {
            Ok(elements) => elements,
            Err((role, fault)) => {
                let text = value(role).map(|value| Value::Text(&shown(&value.bytes())).text());
                return self.at_fault(row, &std::array::from_fn(value), text, role, fault);
            }
        };
        let key = self.table.hash.of_numbers(row, self.table.number as u64);
        let meaning = self.table.meaning;
        (0..elements[ITEM].len()).all(|place| {
            self.item(row, Some(key), |role| match elements.get(role).and_then(|all| all.get(place)) {
                _ if role == POSITION => Some(Value::Number(meaning.named(place))),
                None => value(role),
                element => element.copied(),
            })
        })
    }

    /// Counts an item, of a list that has a key of its own if a row is a list.
    #[inline]
    fn item<'v>(
        &mut self,
        row: u64,
        list: Option<ListKey>,
        value: impl Fn(usize) -> Option<Value<'v>>,
    ) -> bool {
        let values = &std::array::from_fn(&value);
        if self.batches.takes_rows() {
            let further: Vec<Value<'_>> = (ROLES..self.table.n_columns()).filter_map(&value).collect();
            return match self.batches.take_row(values, &further) {
                Ok(()) => true,
                // A user is not shown.
                Err((0, fault)) => self.at_fault(row, values, Some(String::new()), 0, fault),
                Err((column, fault)) => {
                    let text = column.checked_sub(READ).map(|at| further[at].text());
                    self.at_fault(row, values, text, number_of(column), fault)
                }
            };
        }
        // The query without its strata: of one list they are the same.
        let key = list.or_else(|| self.key(values));
        let (composed, mut values) = (self.of_stratum(values[QUERY], &value), *values);
        if let Some(composed) = &composed {
            values[QUERY] = Some(Value::Text(composed));
        }
        let values = &values;
        self.report.read.ids.add(values[ITEM], values[QUERY]);
        let time = match self.time(&value) {
            Ok(time) => time,
            Err((role, fault)) => {
                let spot = Spot { at: row, file: self.table.number, line: row, time: 0 };
                if let Some(key) = key {
                    self.lists.skip(key, spot, self.batches);
                }
                let text = value(role).map(|value| value.text());
                return self.at_fault(row, values, text, role, fault);
            }
        };
        if self.table.hands_over {
            let logged = std::array::from_fn(|role| value(READ + role));
            return self.row_to_hand_over(row, time, key, values, &logged);
        }
        let TableOfRows { meaning, number, places, .. } = self.table;
        // The place of the row in the log, as for a line.
        let spot = Spot { at: row ^ (number as u64).rotate_right(16), file: number, line: row, time };
        let counted = read_row(values, meaning, Some(&mut self.known), self.batches);
        let counted = counted.map(|shown| Some((shown?, None)));
        let counted = self.lists.take(key, counted, spot, &places, self.batches);
        let Err((role, fault)) = counted else { return true };
        self.at_fault(row, values, None, role, fault)
    }

    /// The list of a row, if a column names sessions.
    #[inline]
    fn key(&mut self, values: &RowValues<'_>) -> Option<ListKey> {
        let hash = self.table.hash;
        let query = values[QUERY].unwrap_or(Value::Missing);
        let [session, query] = [values[SESSION]?, query].map(|value| self.known.key(value, hash));
        Some(hash.of_both(session, query))
    }

    /// The name of the query within its strata, if there are any.
    fn of_stratum<'v>(
        &self,
        query: Option<Value<'v>>,
        value: &impl Fn(usize) -> Option<Value<'v>>,
    ) -> Option<Vec<u8>> {
        let strata = self.table.further.len() - usize::from(self.table.columns.is_timed);
        let of_strata: Vec<_> = (ROLES..ROLES + strata)
            .map(|number| value(number).unwrap_or(Value::Missing).bytes().into_owned())
            .collect();
        let query = query.unwrap_or(Value::Text(ONE_QUERY));
        (strata > 0).then(|| within(&query.bytes(), of_strata.iter().map(Vec::as_slice)))
    }

    /// The time of a row in milliseconds since 1970, or the column at fault; 0 without times.
    fn time<'v>(&self, value: &impl Fn(usize) -> Option<Value<'v>>) -> Result<i64, (usize, Fault)> {
        let number = self.table.n_columns() - 1;
        if self.table.columns.is_timed {
            milliseconds(value(number).unwrap_or(Value::Missing)).map_err(|fault| (number, fault))
        } else {
            Ok(0)
        }
    }

    /// Reads a row with its user and propensities.
    #[inline(never)]
    fn row_to_hand_over(
        &mut self,
        row: u64,
        time: i64,
        key: Option<ListKey>,
        values: &RowValues<'_>,
        logged: &LoggedValues<'_>,
    ) -> bool {
        let TableOfRows { meaning, number, places, .. } = self.table;
        let spot = Spot { at: row ^ (number as u64).rotate_right(16), file: number, line: row, time };
        let shown = read_row(values, meaning, Some(&mut self.known), self.batches).and_then(|shown| {
            let Some(shown) = shown else { return Ok(None) };
            let row = logged_row(values[SESSION], logged, shown.clicks, self.batches)?;
            Ok(Some((shown, Some(row))))
        });
        let counted = self.lists.take(key, shown, spot, &places, self.batches);
        let Err((role, fault)) = counted else { return true };
        let text = (role >= PROPENSITY).then(|| logged[role - READ]).flatten().map(|value| value.text());
        self.at_fault(row, values, text, role, fault)
    }

    #[cold]
    fn at_fault(
        &mut self,
        row: u64,
        values: &RowValues<'_>,
        logged: Option<String>,
        role: usize,
        fault: Fault,
    ) -> bool {
        let TableOfRows { columns, places, further, name, number, lenient, .. } = self.table;
        let column = columns.name(role).unwrap_or_default().to_owned();
        let at = places.get(role).copied().unwrap_or_else(|| further.get(role - ROLES).copied());
        let place = Place {
            file: name.to_owned(),
            line: row,
            column: at.map(|place| (place + 1, column)),
            // A user is not shown.
            text: logged.or_else(|| Some(values.get(role)?.as_ref()?.text())).unwrap_or_default(),
            message: fault.to_string(),
        };
        if lenient {
            let of_role = |role: usize| values[role].and_then(|value| value.number().ok());
            let impressions = if values[IMPRESSIONS].is_some() { of_role(IMPRESSIONS) } else { Some(1) };
            let clicks = values[CLICK].and_then(|value| value.clicks().ok());
            let has_counts = !self.batches.takes_rows();
            let [clicks, impressions] =
                [clicks, impressions].map(|count| count.filter(|_| has_counts).unwrap_or(0));
            self.report.skip(fault, Lost { clicks, impressions }, (number, row), place);
        } else {
            self.report.fail((number, row), Error::at(ErrorKind::Line(fault), place));
        }
        lenient
    }
}

/// The name of a query within strata, whose slashes are written `%2F`: otherwise a query within two
/// would have the name of another.
pub(super) fn within<'a>(query: &[u8], strata: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    strata.fold(query.to_vec(), |mut name, stratum| {
        name.extend_from_slice(Columns::WITHIN.as_bytes());
        for &byte in stratum {
            if byte == b'/' { name.extend_from_slice(b"%2F") } else { name.push(byte) }
        }
        name
    })
}

/// The user and the propensities of a row, or the role at fault.
pub(super) fn logged_row(
    session: Option<Value<'_>>,
    values: &LoggedValues<'_>,
    clicks: u64,
    batches: &mut Batches<'_>,
) -> Result<LoggedRow, (usize, Fault)> {
    let mut row = LoggedRow::default();
    for (role, unit, value) in
        [(SESSION, &mut row.session, session), (USER, &mut row.user, values[USER - READ])]
    {
        if let Some(value) = value {
            *unit = Some(value.unit(role, batches).map_err(|fault| (role, fault))?);
        }
    }
    for (kind, propensity) in row.propensities.iter_mut().enumerate() {
        let role = PROPENSITY + kind;
        if let Some(value) = values[role - READ] {
            let number = value.propensity(kind, batches);
            let number = if role == VALUE { value_of(number, clicks) } else { number };
            *propensity = Some(number.map_err(|fault| (role, fault))?);
        }
    }
    Ok(row)
}

/// The content of a row, or the role at fault; `None` if its position is not wanted. Texts that are
/// `known` stay where they are.
#[inline]
pub(super) fn read_row(
    values: &RowValues<'_>,
    meaning: Meaning,
    mut known: Option<&mut LongTexts>,
    batches: &mut Batches<'_>,
) -> Result<Option<LineCounts>, (usize, Fault)> {
    let of_role = |role: usize| move |fault| (role, fault);
    let value = |role: usize| values[role].unwrap_or(Value::Missing);
    let number = |role: usize| value(role).number().map_err(of_role(role));
    let position =
        number(POSITION).and_then(|position| meaning.position(position, u64::MAX).map_err(of_role(POSITION)));
    if position == Ok(None) {
        return Ok(None);
    }
    if matches!(values[SESSION], Some(Value::Missing | Value::Text(b""))) {
        return Err((SESSION, Fault::Empty));
    }
    let mut id = |name: Value<'_>, batches: &mut Batches<'_>| match &mut known {
        Some(known) => known.id(name, batches),
        None => name.id(batches),
    };
    let query = id(values[QUERY].unwrap_or(Value::Text(ONE_QUERY)), batches).map_err(of_role(QUERY))?;
    let item = id(value(ITEM), batches).map_err(of_role(ITEM))?;
    let position = position?;
    let clicks = value(CLICK).clicks().and_then(check_count).map_err(of_role(CLICK))?;
    let impressions = if values[IMPRESSIONS].is_some() { number(IMPRESSIONS)? } else { 1 };
    let impressions = check_count(impressions).map_err(of_role(IMPRESSIONS))?;
    let clicks = meaning.clicks(clicks, impressions, batches).map_err(of_role(CLICK))?;
    Ok(position.map(|position| LineCounts { query, item, clicks, impressions, position }))
}

/// Long texts that were hashed, by their place in memory: the rows of a dictionary share them.
#[derive(Default)]
pub(super) struct LongTexts(HashTable<LongText>);

struct LongText {
    place: (usize, usize),
    id: Option<Id>,
    key: Option<ListKey>,
}

impl LongTexts {
    /// Shorter texts are hashed as fast as they are found here.
    const LONG: usize = 256;

    /// The record of a text; `None` if it is short.
    fn of(&mut self, value: Value<'_>) -> Option<&mut LongText> {
        let Value::Text(text) = value else { return None };
        if text.len() < Self::LONG {
            return None;
        }
        let place = (text.as_ptr().addr(), text.len());
        let hash = |text: &LongText| mix(text.place.0 as u64, text.place.1 as u64);
        let new = LongText { place, id: None, key: None };
        let entry = self.0.entry(hash(&new), |known| known.place == place, hash);
        Some(entry.or_insert(new).into_mut())
    }

    fn id(&mut self, value: Value<'_>, batches: &mut Batches<'_>) -> Result<Id, Fault> {
        let Some(known) = self.of(value) else { return value.id(batches) };
        if known.id.is_none() {
            known.id = Some(value.id(batches)?);
        }
        Ok(known.id.unwrap_or(Id(0)))
    }

    fn key(&mut self, value: Value<'_>, hash: KeyHash) -> ListKey {
        let key = || value.key(hash);
        self.of(value).map_or_else(key, |known| *known.key.get_or_insert_with(key))
    }
}
