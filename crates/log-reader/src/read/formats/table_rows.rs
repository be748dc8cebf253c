//! Rows of tables that are stored by columns, in Parquet or in memory: from [`Value`]s to
//! impressions and lists.

use crate::collect::{Batches, Collector};
use crate::columns::{
    CLICK, ColumnNames, Columns, IMPRESSIONS, ITEM, ONE_QUERY, POSITION, PROPENSITY, Places, QUERY, READ,
    ROLES, SESSION, USER, VALUE, number_of,
};
use crate::fault::Fault;
use crate::fields::{check_count, check_propensity, check_value, decimal, table_clicks, table_number};
use crate::keys::{KeyHash, ListKey};
use crate::list_cells::{Elements, ListCells, shown};
use crate::logged::{LoggedRow, value_of};
use crate::names::{Id, mix};
use crate::read::line::LineFault;
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

impl<'a> Value<'a> {
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
    pub fn bytes(self) -> Cow<'a, [u8]> {
        let text = match self {
            Self::Missing => String::new(),
            Self::Number(number) => number.to_string(),
            Self::Negative(number) => number.to_string(),
            Self::Fraction(number) => number.to_string(),
            Self::Time(ticks, _) => ticks.to_string(),
            Self::Text(text) => return Cow::Borrowed(text),
        };
        Cow::Owned(text.into_bytes())
    }
}

/// The values of a row by role; `None` for a role without a column.
type RowValues<'a> = [Option<Value<'a>>; READ];

/// A table, and how its rows are read: lines, or rows that are stored by columns.
#[derive(Debug, Clone, Copy)]
pub(in crate::read) struct TableRows<'a> {
    pub(super) columns: ColumnNames<'a>,
    pub(super) meaning: Meaning,
    pub(super) hash: KeyHash,
    /// Whether lists are handed over, with their users and propensities.
    pub(super) hands_over: bool,
}

/// The number of the column at fault, and the fault.
type NumberedFault = (usize, Fault);

impl<'a> TableRows<'a> {
    pub(in crate::read) fn new(
        columns: impl Into<ColumnNames<'a>>,
        meaning: Meaning,
        collector: &Collector<'_>,
    ) -> Self {
        let (hash, hands_over) = (collector.hash, collector.handing.is_some());
        Self { columns: columns.into(), meaning, hash, hands_over }
    }

    /// The values of the item at a place of a list, of which these are the elements.
    #[inline]
    pub(super) fn item_of<'v>(
        &self,
        elements: &Elements<'v>,
        place: usize,
        value: &impl Fn(usize) -> Option<Value<'v>>,
    ) -> impl Fn(usize) -> Option<Value<'v>> {
        let position = self.meaning.named(place);
        move |role| match elements.get(role).and_then(|all| all.get(place)) {
            _ if role == POSITION => Some(Value::Number(position)),
            None => value(role),
            element => element.copied(),
        }
    }

    /// The list of a row, if a column names sessions.
    #[inline]
    pub(super) fn key<'v>(
        &self,
        value: &impl Fn(usize) -> Option<Value<'v>>,
        known: &mut LongTexts,
    ) -> Option<ListKey> {
        let both = [value(SESSION)?, value(QUERY).unwrap_or(Value::Missing)];
        let [session, query] = both.map(|value| known.key(value, self.hash));
        Some(self.hash.of_both(session, query))
    }

    /// Counts an item, or lets it wait in its list, which also notes a fault. A list has a key of
    /// its own if a row is one. `places` are the columns of the row's file.
    #[expect(clippy::too_many_arguments, reason = "the row, its place, and where it is counted")]
    #[inline]
    pub(super) fn count<'v>(
        &self,
        places: &Places,
        list: Option<ListKey>,
        value: &impl Fn(usize) -> Option<Value<'v>>,
        mut spot: Spot,
        lists: &mut OpenLists,
        known: &mut LongTexts,
        batches: &mut Batches<'_>,
    ) -> Result<(), NumberedFault> {
        let composed;
        let mut values: RowValues<'_> = std::array::from_fn(value);
        let or_missing = |number: usize| value(number).unwrap_or(Value::Missing);
        let n_further = self.columns.further.len();
        if batches.takes_rows() {
            let further: Vec<Value<'_>> = (ROLES..ROLES + n_further).map(or_missing).collect();
            return batches.take_row(&values, &further).map_err(|(column, fault)| (number_of(column), fault));
        }
        // The query without its strata: of one list they are the same.
        let key = list.or_else(|| self.key(value, known));
        let after_strata = ROLES + n_further - usize::from(self.columns.is_timed);
        if after_strata > ROLES {
            let query = values[QUERY].unwrap_or(Value::Text(ONE_QUERY));
            composed = within(&query.bytes(), (ROLES..after_strata).map(|number| or_missing(number).bytes()));
            values[QUERY] = Some(Value::Text(&composed));
        }
        if known.0.is_some() {
            batches.report.ids.add(values[ITEM], values[QUERY]);
        }
        if self.columns.is_timed {
            match milliseconds(or_missing(after_strata)) {
                Ok(time) => spot.time = time,
                Err(fault) => return lists.take(key, Err((after_strata, fault)), spot, places, batches),
            }
        }
        let shown = read_row(&values, self.meaning, known, batches).and_then(|shown| {
            let Some(shown) = shown else { return Ok(None) };
            let row = if self.hands_over {
                let logged = std::array::from_fn(|role| value(READ + role));
                Some(logged_row(values[SESSION], &logged, shown.clicks, batches)?)
            } else {
                None
            };
            Ok(Some((shown, row)))
        });
        lists.take(key, shown, spot, places, batches)
    }
}

/// A table whose rows are stored by columns.
#[derive(Debug, Clone, Copy)]
pub(in crate::read) struct TableOfRows<'a> {
    pub(in crate::read) table: TableRows<'a>,
    pub(in crate::read) places: Places,
    /// The places of the columns that have no role.
    pub(in crate::read) further: &'a [usize],
    pub(in crate::read) name: &'a str,
    /// The file's number.
    pub(in crate::read) number: usize,
    pub(in crate::read) lenient: bool,
}

impl<'a> TableOfRows<'a> {
    /// A table of no file yet.
    pub(in crate::read) fn new(
        columns: &ColumnNames<'a>,
        meaning: Meaning,
        lenient: bool,
        collector: &Collector<'_>,
    ) -> Self {
        let table = TableRows::new(*columns, meaning, collector);
        Self { table, places: [None; ROLES], further: &[], name: "", number: 0, lenient }
    }

    /// The number of columns: those of roles, and those beyond.
    pub(in crate::read) fn n_columns(&self) -> usize {
        ROLES + self.further.len()
    }

    /// The place of a column whose values are read.
    pub(in crate::read) fn place(&self, number: usize) -> Option<usize> {
        match self.places.get(number) {
            Some(place) => place.filter(|_| number < READ || self.table.hands_over),
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
        let known = LongTexts(Some(HashTable::new()));
        Self { table: *table, lists: OpenLists::default(), known, batches, report }
    }

    /// Called after the last row.
    pub(in crate::read) fn close(self) {
        self.report.open.push(self.lists);
    }

    /// Called before the values of other rows take the memory of those counted so far.
    #[cfg(feature = "parquet")]
    pub(in crate::read) fn forget_texts(&mut self) {
        self.known.0.iter_mut().for_each(HashTable::clear);
    }

    /// Counts a row, from 1, with a value for each role. Returns whether to continue.
    #[inline]
    pub(in crate::read) fn row<'v>(&mut self, row: u64, value: impl Fn(usize) -> Option<Value<'v>>) -> bool {
        self.report.read.lines += 1;
        match self.table.table.columns.lists {
            None => self.item(row, None, &value),
            Some(cells) => self.list(row, cells, &value),
        }
    }

    /// Counts the items of a row that is a list.
    #[inline(never)]
    fn list<'v>(&mut self, row: u64, cells: ListCells, value: &impl Fn(usize) -> Option<Value<'v>>) -> bool {
        let elements = match cells.of_row(value) {
            Ok(elements) => elements,
            Err((role, fault)) => {
                let text = value(role).map_or_else(Vec::new, |value| shown(&value.bytes()));
                return self.at_fault(row, value, &text, (role, fault));
            }
        };
        let TableOfRows { table, number, .. } = self.table;
        let key = table.hash.of_numbers(row, number as u64);
        (0..elements[ITEM].len())
            .all(|place| self.item(row, Some(key), &table.item_of(&elements, place, value)))
    }

    /// Counts an item, of a list that has a key of its own if a row is a list.
    #[inline]
    fn item<'v>(
        &mut self,
        row: u64,
        list: Option<ListKey>,
        value: &impl Fn(usize) -> Option<Value<'v>>,
    ) -> bool {
        let TableOfRows { table, places, number: file, .. } = &self.table;
        // The place of the row in the log, as for a line.
        let at = row ^ (*file as u64).rotate_right(16);
        let spot = Spot { at, file: *file, line: row, time: 0 };
        let (lists, known) = (&mut self.lists, &mut self.known);
        let counted = table.count(places, list, value, spot, lists, known, self.batches);
        let Err((number, fault)) = counted else { return true };
        // A user is not shown.
        let is_user = number == USER || number == 0 && self.batches.takes_rows();
        let text = value(number).filter(|_| !is_user).map_or_else(Cow::default, Value::bytes);
        self.at_fault(row, value, &text, (number, fault))
    }

    #[cold]
    fn at_fault<'v>(
        &mut self,
        row: u64,
        value: &dyn Fn(usize) -> Option<Value<'v>>,
        text: &[u8],
        (column, fault): NumberedFault,
    ) -> bool {
        let TableOfRows { table, name, number, lenient, .. } = self.table;
        let mut fault = LineFault::new(fault, self.table.place(column).map_or(0, |place| place + 1), text);
        if !self.batches.takes_rows() {
            let impressions = value(IMPRESSIONS).map_or(Ok(1), Value::number);
            fault = fault.of(value(CLICK).map_or(Ok(0), Value::clicks), impressions);
        }
        let column_name = |_| table.columns.name(column).unwrap_or_default().to_owned();
        self.report.line(fault, &column_name, name, (number, row));
        lenient
    }
}

/// The name of a query within strata, whose parts are escaped: no two strata share a name.
pub(super) fn within(query: &[u8], strata: impl Iterator<Item: AsRef<[u8]>>) -> Vec<u8> {
    strata.fold(query.to_vec(), |mut name, stratum| {
        name.extend_from_slice(Columns::WITHIN.as_bytes());
        push_escaped(stratum.as_ref(), &mut name);
        name
    })
}

/// Adds a part to a name of several parts. A slash is written `%2F`, a percent sign `%25`, so two
/// names of equally many parts are never the same.
pub(super) fn push_escaped(part: &[u8], name: &mut Vec<u8>) {
    for byte in part {
        match byte {
            b'/' => name.extend_from_slice(b"%2F"),
            b'%' => name.extend_from_slice(b"%25"),
            _ => name.push(*byte),
        }
    }
}

/// The user and the propensities of a row, or the role at fault.
#[inline(never)]
fn logged_row(
    session: Option<Value<'_>>,
    values: &[Option<Value<'_>>; ROLES - READ],
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

/// The content of a row, or the role at fault; `None` if its position is not wanted.
#[inline]
fn read_row(
    values: &RowValues<'_>,
    meaning: Meaning,
    known: &mut LongTexts,
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
    let query = values[QUERY].unwrap_or(Value::Text(ONE_QUERY));
    let query = known.id(query, batches).map_err(of_role(QUERY))?;
    let item = known.id(value(ITEM), batches).map_err(of_role(ITEM))?;
    let position = position?;
    let clicks = value(CLICK).clicks().and_then(check_count).map_err(of_role(CLICK))?;
    let impressions = if values[IMPRESSIONS].is_some() { number(IMPRESSIONS)? } else { 1 };
    let impressions = check_count(impressions).map_err(of_role(IMPRESSIONS))?;
    let clicks = meaning.clicks(clicks, impressions, batches).map_err(of_role(CLICK))?;
    Ok(position.map(|position| LineCounts { query, item, clicks, impressions, position }))
}

/// Long texts that were hashed, by their place in memory: the rows of a dictionary share them.
/// `None` for lines, whose texts do not stay where they are.
#[derive(Default)]
pub(super) struct LongTexts(Option<HashTable<LongText>>);

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
        let (Some(all), Value::Text(text)) = (&mut self.0, value) else { return None };
        if text.len() < Self::LONG {
            return None;
        }
        let place = (text.as_ptr().addr(), text.len());
        let hash = |text: &LongText| mix(text.place.0 as u64, text.place.1 as u64);
        let new = LongText { place, id: None, key: None };
        let entry = all.entry(hash(&new), |known| known.place == place, hash);
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
