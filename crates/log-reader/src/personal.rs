//! Lists with the contexts of their users, handed over in the order of the log.
//!
//! A policy learns from a log in the order of the lists, and a list cannot be counted
//! with others: so the lines of a list stand together here, and no list is held but the last one.

use crate::columns::Columns;
use crate::error::{Error, ErrorKind};
use crate::fault::Fault;
use crate::lists::unit_hash;
use crate::read::{Format, Input, Meaning, RowColumn, TakeRows, Value, read_rows};
use crate::read_report::{IdTypes, ReadReport};
use std::collections::BTreeMap;

/// The most different segments.
const MOST_SEGMENTS: usize = 1 << 16;
/// Columns of a row that have a place of their own; the others are [`TakeRows`]' further ones.
const OWN: usize = 6;

/// The names of segments and items, by number.
#[derive(Debug, Clone, Default)]
pub struct ListNames {
    segments: NumberedNames,
    items: NumberedNames,
    /// Whether there is no other item.
    has_all_items: bool,
}

impl ListNames {
    /// No names yet: segments and items are numbered in the order of the log.
    pub fn new() -> Self {
        Self::default()
    }

    /// The names of all items; another item is a fault.
    pub fn of_items(items: impl IntoIterator<Item = String>) -> Self {
        let mut names = Self { has_all_items: true, ..Self::default() };
        for item in items {
            names.items.add(&item);
        }
        names
    }

    /// The segments; none if the log has no segments.
    pub fn segments(&self) -> &[String] {
        &self.segments.names
    }

    /// The items.
    pub fn items(&self) -> &[String] {
        &self.items.names
    }
}

/// Names, numbered from 0.
#[derive(Debug, Clone, Default)]
struct NumberedNames {
    names: Vec<String>,
    numbers: BTreeMap<String, u32>,
}

impl NumberedNames {
    fn find(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    fn add(&mut self, name: &str) -> u32 {
        let next = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        if let Some(number) = self.find(name) {
            return number;
        }
        self.numbers.insert(name.to_owned(), next);
        self.names.push(name.to_owned());
        next
    }
}

/// A list that was shown to a user.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PersonalList<'a> {
    /// Its number among the lists of the log, from 0.
    pub number: u64,
    /// The [`unit_hash`] of the user's name; without users that of the session's name.
    pub unit: u64,
    /// The number of the segment; 0 if the log has none.
    pub segment: u32,
    /// The features of the user, in the order of [`Columns::features`].
    pub features: &'a [f64],
    /// The numbers of the items, from the top; 1 to 64.
    pub items: &'a [u32],
    /// Bit `l` is 1 if item `l` was clicked.
    pub clicks: u64,
}

/// Which lists of a log are read.
#[derive(Debug, Clone, fieldwork::Fieldwork)]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct PersonalLists<'a> {
    /// The columns.
    #[field]
    columns: &'a Columns,
    is_parquet: bool,
    query: Option<&'a str>,
    meaning: Meaning,
    max_skipped: Option<f64>,
}

impl<'a> PersonalLists<'a> {
    /// The lists of a log for the query of this name; all of them without a name.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Settings`] if the format is no table, names no sessions, or names queries if
    /// and only if none is chosen.
    pub fn new(format: &'a Format, query: Option<&'a str>) -> Result<Self, Error> {
        let wrong = |message: &str| Err(Error::of(ErrorKind::Settings, "columns", message));
        let Some(columns) = format.columns() else {
            return wrong("contexts are read from tables with named columns");
        };
        match (&columns.query, query) {
            _ if columns.impressions.is_some() => wrong("`impressions`: a context is that of one list"),
            _ if columns.are_lists() => {
                wrong("`position` is missing: with contexts, a row is an item of a list")
            }
            _ if columns.session.is_none() => wrong("`session` is missing: a context is that of one list"),
            _ if !columns.strata.is_empty() => wrong("`stratum`: with contexts it is the `segment`"),
            (None, Some(_)) => wrong("`query` is missing: without it the log is of one query"),
            _ => Ok(Self {
                columns,
                is_parquet: matches!(format, Format::Parquet(_)),
                query,
                meaning: Meaning::USUAL,
                max_skipped: None,
            }),
        }
    }

    /// As [`Reader::lenient`](crate::Reader::lenient), without a limit for clicks.
    #[must_use]
    pub fn lenient(self, max_share: f64) -> Self {
        Self { max_skipped: Some(max_share), ..self }
    }

    /// As [`Reader::positions_from_zero`](crate::Reader::positions_from_zero).
    #[must_use]
    pub fn positions_from_zero(self) -> Self {
        Self { meaning: Meaning { first_position: 0, ..self.meaning }, ..self }
    }

    /// Hands the lists of files over, in their order. Adds to `names`.
    ///
    /// A list that lost lines ends above them.
    ///
    /// # Errors
    ///
    /// As [`Reader::read_files`](crate::Reader::read_files). Faults are also a line apart from the
    /// others of its list, a feature that is no finite number, a context other than that of the
    /// list's first line, an item that is not known or in its list twice, and more than 65,536
    /// segments.
    ///
    /// # Examples
    ///
    /// ```
    /// use log_reader::{Format, Input, ListNames, PersonalLists};
    ///
    /// let log = "visit,item,rank,click,country,age\n\
    ///     1,a,1,0,at,31\n1,b,2,1,at,31\n2,b,1,0,de,58.5\n";
    /// let columns = "item=item,position=rank,click=click,session=visit,segment=country,features=age";
    /// let (format, mut names, mut found) = (Format::delimited(columns)?, ListNames::new(), vec![]);
    /// let lists = PersonalLists::new(&format, None)?;
    /// lists.read(vec![Input::stream("log.csv", log.as_bytes())], &mut names, &mut |list| {
    ///     found.push((list.segment, list.features.to_vec(), list.items.to_vec(), list.clicks));
    /// })?;
    /// assert_eq!(found, [(0, vec![31.0], vec![0, 1], 0b10), (1, vec![58.5], vec![1], 0)]);
    /// assert_eq!(names.segments(), ["at", "de"]);
    /// # Ok::<(), log_reader::Error>(())
    /// ```
    pub fn read(
        &self,
        inputs: Vec<Input<'_>>,
        names: &mut ListNames,
        take: &mut (dyn FnMut(&PersonalList<'_>) + Send),
    ) -> Result<ReadReport, Error> {
        let mut lists = Lists::new(self, names, take);
        let report = read_rows(&self.roles(), self.is_parquet, inputs, self.max_skipped, &mut lists)?;
        lists.end(report)
    }

    /// The columns that are read. Those of users, or without them of sessions, come first, since
    /// they are never shown.
    fn roles(&self) -> Vec<RowColumn<'_>> {
        let Columns { user, session, item, position, click, query, segment, features, .. } = self.columns;
        let needed = [item, position, click];
        let names = user.iter().chain(session).chain(needed).chain(query).chain(segment).chain(features);
        names.map(|name| RowColumn { name, optional: false }).collect()
    }
}

/// Gathers the lines of a list.
struct Lists<'a, 'n> {
    source: &'a PersonalLists<'a>,
    names: &'n mut ListNames,
    take: &'n mut (dyn FnMut(&PersonalList<'_>) + Send),
    /// The query of the first line.
    query: Option<Vec<u8>>,
    /// The session of the line before, empty at first.
    session: Vec<u8>,
    unit: u64,
    segment: u32,
    features: Vec<f64>,
    items: Vec<u32>,
    clicks: u64,
    number: u64,
    ids: IdTypes,
}

impl<'a, 'n> Lists<'a, 'n> {
    fn new(
        source: &'a PersonalLists<'a>,
        names: &'n mut ListNames,
        take: &'n mut (dyn FnMut(&PersonalList<'_>) + Send),
    ) -> Self {
        Self {
            source,
            names,
            take,
            query: source.query.map(|query| query.as_bytes().to_vec()),
            session: vec![],
            unit: 0,
            segment: 0,
            features: vec![],
            items: vec![],
            clicks: 0,
            number: 0,
            ids: IdTypes::default(),
        }
    }

    /// Hands the last list over. The report of the log gets the types of its names.
    fn end(mut self, report: ReadReport) -> Result<ReadReport, Error> {
        self.hand_over();
        self.ids.check()?;
        Ok(ReadReport { ids: self.ids, ..report })
    }

    /// Hands the list over that was gathered.
    fn hand_over(&mut self) {
        if self.items.is_empty() {
            return;
        }
        let Self { number, unit, segment, clicks, .. } = *self;
        let (features, items) = (&self.features[..], &self.items[..]);
        (self.take)(&PersonalList { number, unit, segment, features, items, clicks });
        self.items.clear();
        self.number += 1;
    }

    /// The name of an item, and its number; `None` if it is new.
    fn item<'v>(&self, value: &'v Value<'_>) -> Result<(std::borrow::Cow<'v, [u8]>, Option<u32>), Fault> {
        let (name, number) = Self::numbered(value, &self.names.items)?;
        match number {
            None if self.names.has_all_items => Err(Fault::UnknownItem),
            Some(item) if self.items.contains(&item) => Err(Fault::RepeatedItem),
            number => Ok((name, number)),
        }
    }

    /// The number of a name among `known`; `None` if it is new.
    fn numbered<'v>(
        value: &'v Value<'_>,
        known: &NumberedNames,
    ) -> Result<(std::borrow::Cow<'v, [u8]>, Option<u32>), Fault> {
        let name = value.bytes();
        if name.is_empty() {
            return Err(Fault::Empty);
        }
        let number = known.find(str::from_utf8(&name).map_err(|_| Fault::NotUtf8)?);
        Ok((name, number))
    }

    /// Reads the features of a line, and its segment: a number, or a new name. They are those of
    /// the first line of the list.
    fn context<'v>(
        &mut self,
        is_first: bool,
        segment_at: Option<usize>,
        next: usize,
        value: &impl Fn(usize) -> Value<'v>,
    ) -> Result<Option<Result<u32, String>>, (usize, Fault)> {
        let mut new_segment = None;
        if let Some(at) = segment_at {
            let segment = value(at);
            let (name, known) =
                Self::numbered(&segment, &self.names.segments).map_err(|fault| (at, fault))?;
            match known {
                Some(number) if is_first || number == self.segment => new_segment = Some(Ok(number)),
                None if is_first && self.names.segments.names.len() < MOST_SEGMENTS => {
                    new_segment = Some(Err(String::from_utf8_lossy(&name).into_owned()));
                }
                None if is_first => return Err((at, Fault::TooManySegments { most: MOST_SEGMENTS })),
                _ => return Err((at, Fault::OtherContext)),
            }
        }
        if is_first {
            self.features.clear();
        }
        for feature in 0..self.source.columns.features.len() {
            let at = next + feature;
            let number = value(at).finite().map_err(|fault| (at, fault))?;
            if is_first {
                self.features.push(number);
            } else if number.to_bits() != self.features[feature].to_bits() {
                return Err((at, Fault::OtherContext));
            }
        }
        Ok(new_segment)
    }
}

impl TakeRows for Lists<'_, '_> {
    fn row(
        &mut self,
        values: &[Option<Value<'_>>; OWN],
        further: &[Value<'_>],
    ) -> Result<(), (usize, Fault)> {
        let columns = self.source.columns;
        let value = |at: usize| match values.get(at) {
            Some(value) => value.unwrap_or(Value::Missing),
            None => further[at - OWN],
        };
        let in_column = |at: usize| move |fault: Fault| (at, fault);
        let name_of = |at: usize| {
            let value = value(at);
            let name = value.bytes().into_owned();
            if name.is_empty() { Err((at, Fault::Empty)) } else { Ok(name) }
        };
        let session_at = usize::from(columns.user.is_some());
        let [item_at, position_at, click_at] = [1, 2, 3].map(|place| session_at + place);
        let mut next = click_at + 1;
        let mut at_if = |is_there: bool| {
            let at = is_there.then_some(next);
            next += usize::from(is_there);
            at
        };
        let query_at = at_if(columns.query.is_some());
        let segment_at = at_if(columns.segment.is_some());
        if let Some(at) = query_at {
            let name = name_of(at)?;
            match &self.query {
                None => self.query = Some(name),
                Some(query) if *query == name => {}
                Some(_) if self.source.query.is_some() => return Ok(()),
                Some(_) => return Err((at, Fault::AnotherQuery)),
            }
        }
        let session = name_of(session_at)?;
        let unit = unit_hash(&name_of(0)?);
        let position = value(position_at).number();
        let position = position.and_then(|position| self.source.meaning.position(position, u64::MAX));
        let position = usize::from(position.map_err(in_column(position_at))?.unwrap_or(u8::MAX));
        let is_first = position == 0;
        let is_same = session == self.session;
        if is_first || !is_same {
            self.hand_over();
            self.session = session;
        }
        if !is_first {
            if !is_same {
                let first = self.source.meaning.first_position;
                return Err((position_at, Fault::StandsApart { first }));
            }
            if position != self.items.len() {
                let next = self.source.meaning.named(self.items.len());
                return Err((position_at, Fault::OutOfOrder { next }));
            }
            if unit != self.unit {
                return Err((0, Fault::AnotherUser));
            }
        }
        let clicks = value(click_at).clicks().map_err(in_column(click_at))?;
        if clicks > 1 {
            return Err((click_at, Fault::ClicksAboveImpressions { impressions: 1 }));
        }
        let item = value(item_at);
        self.ids.add(Some(item), query_at.map(value));
        let (item, known_item) = self.item(&item).map_err(in_column(item_at))?;
        // The context of the first line is kept once the whole line is without fault.
        let new_segment = self.context(is_first, segment_at, next, &value)?;
        if is_first {
            self.unit = unit;
            self.clicks = 0;
            self.segment = match new_segment {
                None => 0,
                Some(Ok(number)) => number,
                Some(Err(name)) => self.names.segments.add(&name),
            };
        }
        let item = known_item.unwrap_or_else(|| self.names.items.add(&String::from_utf8_lossy(&item)));
        self.items.push(item);
        self.clicks |= clicks << position;
        Ok(())
    }
}
