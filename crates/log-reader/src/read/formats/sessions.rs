//! One session a line: the list shown, and its clicks.
//!
//! Tab-separated, with a header. The required columns and then the others are [`COLUMNS`], in any
//! order. `urls` has 1 to 64 URLs separated by commas, `clicked_mask` a 0 or 1 for each, and
//! `propensities` a number for each, separated by commas. The name of a query with a region is
//! `query/region`, and within a stratum `query / stratum`, so either all files have them or none:
//! `a/1` of a file without may be another query. `user` and propensities are read if lists are
//! handed over, and are then in all files or none.

use super::table_rows::within;
use super::yandex::in_region;
use crate::collect::Batches;
use crate::columns::USER as USER_ROLE;
use crate::fault::Fault;
use crate::fields::{MAX_POSITIONS, count, propensity};
use crate::lists::{LoggerColumns, ShownList};
use crate::logged::Propensities;
use crate::names::Id;
use crate::read::line::{LineFault, LineFormat};
use crate::read::marks::CutLine;
use crate::read::meaning::Meaning;
use crate::read::open_lists::Spot;
use std::sync::OnceLock;

const COLUMNS: [&str; 9] = [
    "query",
    "urls",
    "clicked_mask",
    "region",
    "n_clicks_outside_top10",
    "user",
    "propensities",
    "list_propensity",
    "stratum",
];
/// The number of required columns; they come first.
const NEEDED: usize = 3;
const QUERY: usize = 0;
const URLS: usize = 1;
const MARKS: usize = 2;
const REGION: usize = 3;
const OUTSIDE: usize = 4;
const USER: usize = 5;
const PROPENSITIES: usize = 6;
const LIST: usize = 7;
const STRATUM: usize = 8;

pub(super) struct SessionLines {
    meaning: Meaning,
    /// Whether lists are handed over.
    hands_over: bool,
    /// The columns of the first file.
    first: OnceLock<[bool; COLUMNS.len()]>,
}

impl SessionLines {
    pub(super) fn new(meaning: Meaning, hands_over: bool) -> Self {
        Self { meaning, hands_over, first: OnceLock::new() }
    }

    /// The number of columns that divide queries, after reading.
    pub(super) fn strata(&self) -> usize {
        self.first.get().map_or(0, |has| usize::from(has[STRATUM]))
    }

    /// The columns about users and logger, after reading.
    pub(super) fn logged(&self) -> LoggerColumns {
        let has = self.first.get().copied().unwrap_or_default();
        LoggerColumns {
            user: has[USER],
            propensity: has[PROPENSITIES],
            list_propensity: has[LIST],
            ..LoggerColumns::default()
        }
    }
}

/// The role of each column of a file, as an index into [`COLUMNS`].
#[derive(Default)]
pub(super) struct Layout {
    roles: Vec<usize>,
}

impl Layout {
    /// The 1-based column of a role.
    fn column(&self, role: usize) -> Option<usize> {
        self.roles.iter().position(|&other| other == role).map(|place| place + 1)
    }
}

#[derive(Default)]
pub(super) struct Scratch {
    items: Vec<Id>,
    name: Vec<u8>,
    propensities: Vec<f64>,
}

impl LineFormat for SessionLines {
    type Layout = Layout;
    type Memory = Scratch;
    const HEADER: bool = true;

    fn layout(&self, header: &[u8]) -> Result<Layout, String> {
        let role = |name: &[u8]| COLUMNS.iter().position(|known| known.as_bytes() == name);
        let roles: Option<Vec<usize>> = header.split(|&byte| byte == b'\t').map(role).collect();
        let once = |role: usize, roles: &[usize]| roles.iter().filter(|&&other| other == role).count();
        let fits = |roles: &Vec<usize>| {
            (0..NEEDED).all(|role| once(role, roles) == 1)
                && (NEEDED..COLUMNS.len()).all(|role| once(role, roles) <= 1)
        };
        let roles = roles.filter(fits).ok_or_else(|| {
            let (needed, others) = COLUMNS.split_at(NEEDED);
            format!(
                "expected a header with the columns `{}`, with tabs between them, and perhaps `{}`",
                needed.join("`, `"),
                others.join("`, `"),
            )
        })?;
        let here = std::array::from_fn(|role| roles.contains(&role));
        let first = self.first.get_or_init(|| here);
        // All files have them or none.
        let of_all: &[usize] =
            if self.hands_over { &[REGION, STRATUM, USER, PROPENSITIES, LIST] } else { &[REGION, STRATUM] };
        let Some(&role) = of_all.iter().find(|&&role| first[role] != here[role]) else {
            return Ok(Layout { roles });
        };
        let why = ", so queries may have the name of another one: read them apart";
        let why = if [REGION, STRATUM].contains(&role) { why } else { "" };
        Err(format!("a column `{}` in some files only{why}", COLUMNS[role]))
    }

    fn is_header(&self, line: &[u8]) -> bool {
        line.split(|&byte| byte == b'\t').any(|column| COLUMNS.iter().any(|name| name.as_bytes() == column))
    }

    fn line(
        &self,
        layout: &Layout,
        line: CutLine<'_>,
        at: Spot,
        scratch: &mut Scratch,
        batches: &mut Batches<'_>,
    ) -> Result<(), LineFault> {
        let expected = layout.roles.len();
        let mut columns: [Option<&[u8]>; COLUMNS.len()] = [None; COLUMNS.len()];
        let found = line.n_columns();
        if found != expected {
            return Err(LineFault::new(Fault::columns(found, expected), 0, line.whole()));
        }
        for (column, &role) in layout.roles.iter().enumerate() {
            columns[role] = line.get(column);
        }
        let text = |role: usize| columns[role].unwrap_or_default();
        let (query, marks) = (text(QUERY), text(MARKS));
        let in_role = |role: usize| {
            move |fault| {
                let clicks = memchr::memchr_iter(b'1', marks).count();
                LineFault::new(fault, layout.column(role).unwrap_or(0), text(role))
                    .of(Ok(clicks as u64), Ok(marks.len() as u64))
            }
        };
        for role in [QUERY, REGION, STRATUM] {
            if columns[role].is_some_and(<[u8]>::is_empty) {
                return Err(in_role(role)(Fault::Empty));
            }
        }
        scratch.items.clear();
        let mut expected = 0;
        for url in text(URLS).split(|&byte| byte == b',') {
            if (scratch.items.len() as u64) < MAX_POSITIONS {
                scratch.items.push(batches.id(url).map_err(in_role(URLS))?);
            } else if self.meaning.n_positions > MAX_POSITIONS {
                return Err(in_role(URLS)(Fault::BadDepth));
            }
            expected += 1;
        }
        if marks.len() != expected {
            return Err(in_role(MARKS)(Fault::ListLength { found: marks.len(), expected }));
        }
        let mut clicks = 0;
        for (position, mark) in marks.iter().enumerate() {
            match mark {
                b'1' if position < scratch.items.len() => clicks |= 1 << position,
                b'0' | b'1' => {}
                _ => return Err(in_role(MARKS)(Fault::NotAMark)),
            }
        }
        let outside = columns[OUTSIDE].map_or(Ok(0), count).map_err(in_role(OUTSIDE))?;
        let query = columns[REGION].map_or(query, |region| in_region(query, region, &mut scratch.name));
        let query = match columns[STRATUM] {
            Some(stratum) => batches.id(&within(query, [stratum].into_iter())),
            None => batches.id(query),
        };
        let query = query.map_err(in_role(QUERY))?;
        let list = ShownList::plain(query, &scratch.items, clicks, at.at);
        let logged;
        let list = if self.hands_over {
            let at_fault = |(role, fault)| match role {
                // A user is not shown.
                USER => LineFault { text: b"".as_slice().into(), ..in_role(role)(fault) },
                _ => in_role(role)(fault),
            };
            scratch.propensities.clear();
            let user = user_of(columns[USER], batches).map_err(|fault| at_fault((USER, fault)))?;
            logged =
                propensities(columns, scratch.items.len(), &mut scratch.propensities).map_err(at_fault)?;
            Propensities([&scratch.propensities, &[], logged.as_slice(), &[]]).with(list.of(user, None))
        } else {
            list
        };
        batches.session(&list, true);
        batches.report.clicks_outside = batches.report.clicks_outside.saturating_add(outside);
        Ok(())
    }

    fn column_name(&self, layout: &Layout, column: usize) -> String {
        let role = column.checked_sub(1).and_then(|place| layout.roles.get(place));
        role.map_or_else(String::new, |&role| COLUMNS[role].into())
    }
}

fn user_of(name: Option<&[u8]>, batches: &mut Batches<'_>) -> Result<Option<u64>, Fault> {
    match name {
        Some(b"") => Err(Fault::Empty),
        name => Ok(name.map(|name| batches.texts.hash(name, USER_ROLE))),
    }
}

/// Reads the propensities of the items of a list, and returns that of the list.
fn propensities(
    columns: [Option<&[u8]>; COLUMNS.len()],
    expected: usize,
    items: &mut Vec<f64>,
) -> Result<Option<f64>, (usize, Fault)> {
    if let Some(text) = columns[PROPENSITIES] {
        for text in text.split(|&byte| byte == b',') {
            items.push(propensity(text).map_err(|fault| (PROPENSITIES, fault))?);
        }
        if items.len() != expected {
            return Err((PROPENSITIES, Fault::NumberOfPropensities { found: items.len(), expected }));
        }
    }
    columns[LIST].map(|text| propensity(text).map_err(|fault| (LIST, fault))).transpose()
}
