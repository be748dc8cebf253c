//! The columns of a table, by their roles: the user names them.

use crate::error::{Error, ErrorKind};
use crate::list_cells::{ListCells, SEPARATORS, separator_of};
use crate::lists::LoggerColumns;
use documents::toml_reader::closest;
use std::borrow::Cow;

/// The columns by role.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Columns {
    /// The query. `None`: the only query is called `all`.
    pub query: Option<String>,
    /// The item.
    pub item: String,
    /// Its position, from 1 to 64 (0 to 63 if the reader counts from 0). Empty if a row is a list:
    /// the cells of item, click, propensities and value then hold one element for each place.
    pub position: String,
    /// Clicks on it.
    pub click: String,
    /// Impressions of it. `None`: one per line.
    pub impressions: Option<String>,
    /// The session, one list that a user saw. `None`: the order of clicks is unknown.
    pub session: Option<String>,
    /// The user. This column and the following ones are read only if lists are handed over
    /// ([`Reader::read_lists`](crate::Reader::read_lists)).
    pub user: Option<String>,
    /// The probability with which the logger shows the item at its position.
    pub propensity: Option<String>,
    /// The probability with which the logger shows the items of the list down to this one.
    pub prefix_propensity: Option<String>,
    /// The probability with which the logger shows the list.
    pub list_propensity: Option<String>,
    /// The value of the click of a row, in place of 1.
    pub value: Option<String>,
    /// The segment of the user. This column and the next ones are read only by
    /// [`PersonalLists`](crate::PersonalLists).
    pub segment: Option<String>,
    /// Features of the user.
    pub features: Vec<String>,
    /// Columns that divide queries, such as the kind of device: a query within a stratum is a query
    /// of its own, called `query / stratum`, where a slash in the stratum is written `%2F`, and a
    /// percent sign `%25`.
    pub strata: Vec<String>,
    /// The time of a row; that of a list is the time of its first row. `None`: the order of rows
    /// is that of time.
    pub time: Option<String>,
    /// The separator of the elements of a list that is text: a character, or one of `space`,
    /// `comma`, `semicolon`, `bar`. `None`: the text is `[..]`, or the column's type is a list.
    pub separator: Option<String>,
    /// The strata, then the time.
    pub(crate) beyond: Vec<String>,
}

/// The name of the query in a log without queries.
pub(crate) const ONE_QUERY: &[u8] = b"all";

impl Columns {
    /// Reads `query=..,item=..,position=..,click=..`, and perhaps `impressions=..`, `session=..`,
    /// `user=..`, `propensity=..`, `prefix-propensity=..`, `list-propensity=..` and `value=..`,
    /// `segment=..`, `features=a;b`, `stratum=a;b` and `time=..`; `query` may be missing. Without
    /// `position`, a row is a list, perhaps with `separator=..`; if item and click are one column,
    /// its elements are like `item-1`. The columns of a text file without a header are `#1`, `#2`
    /// and so on.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Settings`] for an unknown, repeated or missing key, a key without a column, one
    /// column for two keys, `impressions` with `session`, `value` or a list, and without `session`,
    /// if rows are no lists, `time` or propensities of prefixes or lists.
    ///
    /// # Examples
    ///
    /// ```
    /// use log_reader::Columns;
    ///
    /// let columns = Columns::parse("item=ad,position=rank,click=clicked")?;
    /// assert_eq!((columns.item.as_str(), columns.query), ("ad", None));
    /// # Ok::<(), log_reader::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, Error> {
        let pair = |part: &'_ str| {
            let pair =
                part.split_once('=').map(|(key, column)| (key.trim().to_owned(), column.trim().to_owned()));
            pair.ok_or_else(|| wrong(format!("`{part}`: expected key=column")))
        };
        Self::named(text.split(',').map(pair).collect::<Result<Vec<_>, _>>()?)
    }

    /// The columns of pairs of key and column.
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse).
    pub fn named(pairs: impl IntoIterator<Item = (String, String)>) -> Result<Self, Error> {
        let keys: Vec<&str> = Self::keys().collect();
        let mut names: [Vec<String>; ROLES + 5] = Default::default();
        let mut twice = None;
        for (key, column) in pairs {
            // Python and CSV have names with underscores.
            let Some(place) = keys.iter().position(|&known| known == key.replace('_', "-")) else {
                return Err(wrong(format!("`{key}`: expected one of {}", keys.join(", "))));
            };
            if !names[place].is_empty() {
                return Err(wrong(format!("`{key}` is given twice")));
            }
            let several = [ROLES + 1, ROLES + 2].contains(&place);
            for column in column.split(|letter| several && letter == ';').map(str::trim) {
                if column.is_empty() {
                    return Err(wrong(format!("`{key}=`: a column has a name")));
                }
                let other = names.iter().position(|names| names.iter().any(|name| name == column));
                if let Some(other) = other.filter(|&other| other.max(place) < ROLES + 4) {
                    twice = twice.or(Some(([other.min(place), other.max(place)], column.to_owned())));
                }
                names[place].push(column.to_owned());
            }
        }
        let is_list = names[POSITION].is_empty();
        // Elements of a list may be pairs.
        if let Some(([one, other], column)) = twice.filter(|(of, _)| !is_list || *of != [ITEM, CLICK]) {
            return Err(wrong(format!(
                "column `{column}` is given for `{}` and `{}`",
                keys[one], keys[other]
            )));
        }
        // In the order of the keys.
        let mut names = names.into_iter();
        let mut next = || names.next().unwrap_or_default();
        let one = |names: Vec<String>| names.into_iter().next();
        let needed = |name: Option<String>, key: &str| {
            name.ok_or_else(|| wrong(format!("`{key}` is missing: pairs have commas between")))
        };
        let columns = Self {
            query: one(next()),
            item: needed(one(next()), "item")?,
            position: one(next()).unwrap_or_default(),
            click: needed(one(next()), "click")?,
            impressions: one(next()),
            session: one(next()),
            user: one(next()),
            propensity: one(next()),
            prefix_propensity: one(next()),
            list_propensity: one(next()),
            value: one(next()),
            segment: one(next()),
            features: next(),
            strata: next(),
            time: one(next()),
            separator: one(next()),
            beyond: Vec::new(),
        };
        let Self { session, prefix_propensity, list_propensity, time, .. } = &columns;
        if let Some(separator) = &columns.separator {
            if !is_list {
                return Err(wrong("`separator` is of a list in one row, which has no `position`".into()));
            }
            if separator_of(separator).is_none() {
                let names = SEPARATORS.map(|(name, _)| name).join(", ");
                return Err(wrong(format!("`separator={separator}`: expected a character, or {names}")));
            }
        }
        if columns.impressions.is_some() && is_list {
            return Err(wrong(
                "`impressions` without `position`: a list in one row is one impression".into(),
            ));
        }
        if time.is_some() && session.is_none() && !is_list {
            return Err(wrong("`time` is of a list, and needs `session`, the column that names it".into()));
        }
        if columns.impressions.is_some() && session.is_some() {
            return Err(wrong("`impressions` and `session`: a line of a session is one impression".into()));
        }
        if columns.impressions.is_some() && columns.value.is_some() {
            return Err(wrong("`impressions` and `value`: a value is of the click of one impression".into()));
        }
        let of_list = [(prefix_propensity, "prefix"), (list_propensity, "list")];
        let of_list = of_list.into_iter().find(|(name, _)| name.is_some());
        if let (Some((_, what)), None, false) = (of_list, session, is_list) {
            return Err(wrong(format!("`{what}-propensity` is of a list, and needs `session` to name it")));
        }
        Ok(Self { beyond: columns.strata.iter().chain(time).cloned().collect(), ..columns.clone() })
    }

    /// The keys of columns that are always read, by role.
    pub const KEYS: [&str; READ] = ["query", "item", "position", "click", "impressions", "session"];

    /// The keys of columns that are read if lists are handed over, by role.
    pub const LOGGED_KEYS: [&str; ROLES - READ] =
        ["user", "propensity", "prefix-propensity", "list-propensity", "value"];

    /// The keys of columns that are read with users who differ.
    pub const CONTEXT_KEYS: [&str; 2] = ["segment", "features"];

    /// The text between the name of a query and its stratum.
    pub const WITHIN: &str = " / ";

    /// The keys of strata and time.
    pub const BEYOND: [&str; 2] = ["stratum", "time"];

    fn keys() -> impl Iterator<Item = &'static str> {
        let of_roles = Self::KEYS.into_iter().chain(Self::LOGGED_KEYS);
        of_roles.chain(Self::CONTEXT_KEYS).chain(Self::BEYOND).chain(["separator"])
    }

    /// The columns by key; those of features with `;` between them.
    pub fn by_key(&self) -> impl Iterator<Item = (&'static str, Cow<'_, str>)> {
        let several = |names: &[String]| (!names.is_empty()).then(|| Cow::from(names.join(";")));
        let one = |name: &'_ Option<String>| name.clone().map(Cow::from);
        let others = [one(&self.segment), several(&self.features), several(&self.strata)];
        let names = self.by_role().into_iter().map(|name| name.map(Cow::from)).chain(others);
        let names = names.chain([one(&self.time), one(&self.separator)]);
        Self::keys().zip(names).filter_map(|(key, name)| Some((key, name?)))
    }

    /// Columns of this item, position and clicks, without any other.
    pub(crate) fn of_rows(item: &str, position: &str, click: &str) -> Self {
        let [item, position, click] = [item, position, click].map(Into::into);
        Self { item, position, click, ..Self::default() }
    }

    /// The columns of [`Counts::write_csv`](crate::Counts::write_csv).
    pub(crate) fn counts() -> Self {
        Self {
            query: Some("query".into()),
            impressions: Some("impressions".into()),
            ..Self::of_rows("item", "position", "clicks")
        }
    }

    /// The names of the columns, by role.
    pub(crate) fn by_role(&self) -> ByRole<'_> {
        [
            self.query.as_deref(),
            Some(&self.item),
            Some(&*self.position).filter(|name| !name.is_empty()),
            Some(&self.click),
            self.impressions.as_deref(),
            self.session.as_deref(),
            self.user.as_deref(),
            self.propensity.as_deref(),
            self.prefix_propensity.as_deref(),
            self.list_propensity.as_deref(),
            self.value.as_deref(),
        ]
    }

    /// Returns whether a row is a list.
    pub fn are_lists(&self) -> bool {
        self.position.is_empty()
    }

    /// The kinds of knowledge about the users and the logger.
    pub(crate) fn logged(&self) -> LoggerColumns {
        LoggerColumns {
            user: self.user.is_some(),
            session: self.session.is_some(),
            propensity: self.propensity.is_some(),
            prefix_propensity: self.prefix_propensity.is_some(),
            list_propensity: self.list_propensity.is_some() || self.prefix_propensity.is_some(),
            value: self.value.is_some(),
        }
    }
}

/// The name of each role's column.
pub(crate) type ByRole<'a> = [Option<&'a str>; ROLES];

/// The columns of a table by role, and those that a table may lack.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ColumnNames<'a> {
    pub(crate) by_role: ByRole<'a>,
    pub(crate) optional: [bool; ROLES],
    /// Columns beyond those of roles; the first one is number [`ROLES`]: strata and time, or those
    /// of rows that are taken as they are.
    pub(crate) further: &'a [String],
    /// Whether the last of them is the time.
    pub(crate) is_timed: bool,
    /// There if a row is a list.
    pub(crate) lists: Option<ListCells>,
}

impl<'a> ColumnNames<'a> {
    /// The names of all columns, those of roles first.
    pub(crate) fn name(&self, number: usize) -> Option<&'a str> {
        let further = |at: usize| self.further.get(at).map(String::as_str);
        number.checked_sub(ROLES).map_or_else(|| self.by_role[number], further)
    }
}

impl<'a> From<&'a Columns> for ColumnNames<'a> {
    fn from(columns: &'a Columns) -> Self {
        Self {
            by_role: columns.by_role(),
            optional: [false; ROLES],
            further: &columns.beyond,
            is_timed: columns.time.is_some(),
            lists: columns.are_lists().then(|| ListCells {
                separator: columns.separator.as_deref().and_then(separator_of),
                are_pairs: columns.item == columns.click,
            }),
        }
    }
}

/// The place of each role's column among the names of a table, and those of the further columns.
pub(crate) fn places<N: AsRef<str>>(
    columns: &ColumnNames<'_>,
    names: &[N],
) -> Result<(Places, Vec<usize>), String> {
    let place_of = |name: &str, optional: bool| {
        let mut found = (0..names.len()).filter(|&place| names[place].as_ref() == name);
        let place = found.next();
        if place.is_none() && !optional {
            let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
            let part = || names.iter().copied().find(|other| other.contains(name));
            let near = closest(name, &names).or_else(part);
            let parts: Vec<&str> = name.split([';', '+', '|']).map(str::trim).collect();
            let are_several = parts.len() > 1 && parts.iter().all(|part| names.contains(part));
            let hint = match near {
                _ if are_several => {
                    let parts = parts.join("` and `");
                    format!(
                        " (one column is expected: write one that joins `{parts}`; `features` and `stratum` alone take several)"
                    )
                }
                Some(near) => format!(" (did you mean `{near}`?)"),
                None => String::new(),
            };
            return Err(format!("no column `{name}`{hint}"));
        }
        if found.next().is_some() { Err(format!("two columns `{name}`")) } else { Ok(place) }
    };
    let mut places = [None; ROLES];
    for (role, place) in places.iter_mut().enumerate() {
        let Some(name) = columns.by_role[role] else { continue };
        *place = place_of(name, columns.optional[role])?;
    }
    let further = columns.further.iter().filter_map(|name| place_of(name, false).transpose());
    Ok((places, further.collect::<Result<_, _>>()?))
}

/// The number of a column of rows that are taken as they are: the first six have roles.
pub(crate) fn number_of(column: usize) -> usize {
    if column < READ { column } else { column + ROLES - READ }
}

/// The roles of columns; each is an index into [`Columns::by_role`].
pub(crate) const ROLES: usize = 11;
/// Number of roles that are always read; the others are read if lists are handed over.
pub(crate) const READ: usize = 6;
/// The 0-based column of each role.
pub(crate) type Places = [Option<usize>; ROLES];
pub(crate) const QUERY: usize = 0;
pub(crate) const ITEM: usize = 1;
pub(crate) const POSITION: usize = 2;
pub(crate) const CLICK: usize = 3;
pub(crate) const IMPRESSIONS: usize = 4;
pub(crate) const SESSION: usize = 5;
pub(crate) const USER: usize = 6;
pub(crate) const PROPENSITY: usize = 7;
pub(crate) const PREFIX: usize = 8;
pub(crate) const LIST: usize = 9;
pub(crate) const VALUE: usize = 10;
/// Number of the columns of numbers of the logger and of values, from [`PROPENSITY`] on.
pub(crate) const NUMBERS: usize = ROLES - PROPENSITY;

fn wrong(message: String) -> Error {
    Error::of(ErrorKind::Settings, "columns", message)
}
