//! Rows of a ranking, wherever they stand, as lists; and what they must fulfil.

use super::names::Names;
use super::{Key, NewList, Ranking, RankingError};
use std::collections::BTreeMap;

/// A list of a log has at most this many positions; items of a ranking below are left out.
const MAX_POSITIONS: usize = 64;
/// Probabilities of a query sum to 1 within this.
pub(crate) const TOLERANCE: f64 = 1e-6;
/// Letters of a name in a message.
const LETTERS: usize = 60;

/// A row of a ranking.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row<'a> {
    /// The query, or the session.
    pub query: &'a str,
    /// The list, if a query has several.
    pub list: &'a str,
    /// The probability of the list; 1 if a query has one.
    pub probability: f64,
    /// From 1.
    pub position: u64,
    /// The item.
    pub item: &'a str,
}

/// The 1-based columns of query, probability, position and item, with their names.
pub(super) type Columns = [(usize, &'static str); 4];

/// Columns of rows in memory.
pub(super) const COLUMNS: Columns = [(1, "query"), (3, "probability"), (4, "position"), (5, "item")];

/// The rows of a ranking, each of them 20 bytes and the names that are new.
#[derive(Debug, Default)]
pub(super) struct Rows {
    columns: Columns,
    names: Names,
    list_names: Names,
    /// Numbers of the names of lists, with probabilities.
    lists: Vec<(u32, f64)>,
    places: BTreeMap<(u32, u64), u32>,
    all: Vec<Numbers>,
}

/// A row in numbers: those of its names, and the place of its list.
#[derive(Debug, Clone, Copy)]
struct Numbers {
    query: u32,
    list: u32,
    item: u32,
    position: u32,
    line: u32,
}

impl Rows {
    pub(super) fn new(columns: Columns) -> Self {
        Self { columns, ..Self::default() }
    }

    fn at(&self, line: u64, column: usize, message: String) -> RankingError {
        RankingError { column: Some(self.columns[column]), ..RankingError::of(line, message) }
    }

    pub(super) fn add(&mut self, line: u64, row: Row<'_>) -> Result<(), RankingError> {
        let empty = [(0, row.query), (3, row.item)].into_iter().find(|(_, name)| name.is_empty());
        if let Some((column, _)) = empty {
            return Err(self.at(line, column, "expected a name, found none".to_owned()));
        }
        let position = u32::try_from(row.position).ok().filter(|&position| position > 0);
        let Some(position) = position else {
            return Err(self.at(line, 2, format!("rankings count from 1, found `{}`", row.position)));
        };
        if !(row.probability > 0.0 && row.probability <= 1.0) {
            let expected = "expected a probability above 0, at most 1";
            return Err(self.at(line, 1, format!("{expected}, found `{}`", row.probability)));
        }
        let name = self.list_names.number(row.list);
        let list = *self.places.entry((name, row.probability.to_bits())).or_insert_with(|| {
            self.lists.push((name, row.probability));
            u32::try_from(self.lists.len() - 1).expect("fewer than 2^32 lists, 100 GB")
        });
        let (query, item) = (self.names.number(row.query), self.names.number(row.item));
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        self.all.push(Numbers { query, list, item, position, line });
        Ok(())
    }

    /// Numbers the rows of each query by their scores, the highest first; of equal scores the last
    /// name is first.
    pub(super) fn order_by(&mut self, scores: &[f64]) {
        let names = self.names.ranks();
        let mut order: Vec<usize> = (0..self.all.len()).collect();
        order.sort_unstable_by(|&a, &b| {
            let [x, y] = [a, b].map(|place| &self.all[place]);
            let of_scores = || scores[b].total_cmp(&scores[a]);
            let of_names = || names[y.item as usize].cmp(&names[x.item as usize]);
            x.query.cmp(&y.query).then_with(of_scores).then_with(of_names).then(a.cmp(&b))
        });
        let mut above = None;
        for place in order {
            let row = &mut self.all[place];
            let position = above.filter(|(query, _)| *query == row.query).map_or(1, |(_, above)| above + 1);
            row.position = position;
            above = Some((row.query, position));
        }
    }

    /// The ranking of the rows, in the order of names.
    pub(super) fn ranking(mut self, key: Key) -> Result<Ranking, RankingError> {
        if self.all.is_empty() {
            return Err(RankingError::of(0, "the ranking has no rows"));
        }
        let (names, lists) = (self.names.ranks(), self.list_names.ranks());
        let mut rows = std::mem::take(&mut self.all);
        rows.sort_unstable_by_key(|row| {
            let list = lists[self.lists[row.list as usize].0 as usize];
            (names[row.query as usize], list, row.position, row.line)
        });
        drop((names, lists));
        let mut ranking = Ranking { key, names: Names::default(), items: Vec::new(), lists: Vec::new() };
        // The last list that has each name as an item, by its number from 1.
        let mut latest = vec![0; self.names.len()];
        for query in rows.chunk_by(|a, b| a.query == b.query) {
            self.add_query(query, &mut ranking, &mut latest)?;
        }
        ranking.names = self.names;
        Ok(ranking)
    }

    /// Adds the lists of a query, whose rows are in order.
    fn add_query(
        &self,
        query: &[Numbers],
        ranking: &mut Ranking,
        latest: &mut [usize],
    ) -> Result<(), RankingError> {
        let name = || short(self.names.name(query[0].query));
        let (mut sum, mut len) = (0.0, 0);
        let list_of = |row: &Numbers| self.lists[row.list as usize];
        for list in query.chunk_by(|a, b| list_of(a).0 == list_of(b).0) {
            let probability = list_of(&list[0]).1;
            for (position, row) in (1..).zip(list) {
                let (line, found) = (u64::from(row.line), row.position);
                if row.list != list[0].list {
                    let expected = format!("expected {probability}, as elsewhere in the same list");
                    return Err(self.at(line, 1, format!("{expected}, found `{}`", list_of(row).1)));
                }
                if found != position {
                    let twice = || format!("position {found} of `{}` twice in a list", name());
                    let gap = || format!("expected position {position} of `{}`, found `{found}`", name());
                    return Err(self.at(line, 2, if found < position { twice() } else { gap() }));
                }
                if std::mem::replace(&mut latest[row.item as usize], ranking.lists.len() + 1)
                    > ranking.lists.len()
                {
                    let item = short(self.names.name(row.item));
                    return Err(self.at(line, 3, format!("item `{item}` twice in a list of `{}`", name())));
                }
            }
            let first = ranking.items.len();
            ranking.items.extend(list.iter().take(MAX_POSITIONS).map(|row| row.item));
            let items = first..ranking.items.len();
            if ![0, items.len()].contains(&len) {
                let found = format!("the lists of `{}` have {len} and {} positions", name(), items.len());
                return Err(RankingError::of(
                    list[0].line.into(),
                    format!("{found}: expected as many in each"),
                ));
            }
            (sum, len) = (sum + probability, items.len());
            ranking.lists.push(NewList { name: list[0].query, probability, items });
        }
        if (sum - 1.0_f64).abs() > TOLERANCE {
            let found = format!("the probabilities of the lists of `{}` sum to {sum}", name());
            return Err(self.at(query[0].line.into(), 1, format!("{found}: expected 1")));
        }
        Ok(())
    }
}

/// A name in a message.
fn short(name: &str) -> String {
    let visible: String = name.chars().take(LETTERS).collect();
    let more = if visible.len() < name.len() { "…" } else { "" };
    format!("{}{more}", visible.escape_debug())
}
