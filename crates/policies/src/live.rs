//! Live use: a table that can be taken from, and items that come and go.
//!
//! A policy implements [`OnTable`], and with it [`Tallies`]: its counts are a [`Table`], and it
//! refreshes what it derives from them when they change. [`LiveState`] holds what live use adds to
//! its state.

mod saved;
mod values;

pub(crate) use saved::{SavedLive, last};
pub(crate) use values::Priced;
pub use values::{ItemValues, MAX_VALUE, Orders, Terms, Valued, Values, check_value};

use crate::error::MAX_COUNT;
use crate::sampling::thinning::{Late, Present};
use crate::{Bayesian, Error, Prior, SelectAmong, Setup, Tallies, Tally};
use click_models::value::GoesOn;
use click_models::{ItemId, ItemSet, Ranking};
use serde::{Serialize, Serializer};
use std::ops::Range;

/// The state that live use adds to a policy.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LiveState {
    /// Items that are absent; empty, without memory, until one is.
    pub(crate) absent: ItemSet,
    pub(crate) prior: Prior,
    /// For the threshold of thinned draws.
    pub(crate) late: Late,
    /// Displays and clicks, for policies that otherwise keep none of them, or sums alone.
    pub(crate) shows: Vec<u64>,
    pub(crate) clicks: Vec<u64>,
    pub(crate) values: Values,
    /// The terms of the next choices.
    pub(crate) terms: Option<Box<Terms>>,
}

impl Default for LiveState {
    fn default() -> Self {
        let (absent, prior, late) = (ItemSet::default(), Prior::UNIFORM, Late { share: 1.0, drawn: 0 });
        Self { absent, prior, late, shows: vec![], clicks: vec![], values: Values::default(), terms: None }
    }
}

impl LiveState {
    /// The state that was saved with a policy of this number of items.
    pub(crate) fn restore(saved: SavedLive, n_items: usize) -> Result<Self, Error> {
        let SavedLive { absent: items, prior, share, drawn, shows, clicks, values } = saved;
        let is_some = items.last().is_none_or(|last| last.index() < n_items);
        if !is_some || !items.is_sorted_by(|one, next| one < next) {
            return Err(Error::SavedAbsent);
        }
        if !(share > 0.0 && share <= 1.0) {
            return Err(Error::SavedThinning);
        }
        let mut absent = ItemSet::none(if items.is_empty() { 0 } else { n_items });
        for item in items {
            absent.insert(item);
        }
        let late = Late { share, drawn: drawn.min(MAX_COUNT) };
        let values = values.restored(n_items)?;
        Ok(Self { absent, prior, late, shows, clicks, values, terms: None })
    }

    pub(crate) fn to_save(&self) -> SavedLive {
        let Self { absent, prior, late: Late { share, drawn }, shows, clicks, .. } = self.clone();
        // Counts of 0 need no memory.
        let is_used = shows.iter().chain(&clicks).any(|&count| count > 0);
        let (shows, clicks) = if is_used { (shows, clicks) } else { (vec![], vec![]) };
        let (absent, values) = (absent.iter().collect(), self.values.to_save());
        SavedLive { absent, prior, share, drawn, shows, clicks, values }
    }

    /// The items of `available` that are present.
    #[inline]
    pub(crate) fn items<'a>(
        &'a self,
        available: &'a ItemSet,
        n_items: usize,
    ) -> impl Iterator<Item = ItemId> + 'a {
        present_items(available, &self.absent, n_items)
    }

    /// Returns whether items have values, or the next choice has terms.
    pub(crate) fn has_terms(&self) -> bool {
        self.terms.is_some() || !self.values.is_empty()
    }

    /// The posteriors of the present items.
    pub(crate) fn present<'a, P>(&'a self, posteriors: &'a P) -> Present<'a, P> {
        Present { posteriors, absent: &self.absent, values: &self.values }
    }

    /// The values of the items of `available`; `None` if all are equal.
    pub(crate) fn differing(&self, available: &ItemSet, n_items: usize) -> Option<Priced<'_>> {
        self.values.differing(self.terms.as_deref(), self.items(available, n_items))
    }

    /// Returns whether the item came or went.
    fn set_present(&mut self, item: ItemId, present: bool, n_items: usize) -> bool {
        self.values.came_or_went(n_items);
        if present {
            self.absent.remove(item)
        } else {
            self.absent.grow(n_items);
            self.absent.insert(item)
        }
    }
}

/// The items of `available` that are not absent, and below `n_items`.
#[inline]
pub(crate) fn present_items<'a>(
    available: &'a ItemSet,
    absent: &'a ItemSet,
    n_items: usize,
) -> impl Iterator<Item = ItemId> + Clone + 'a {
    available.iter().take_while(move |item| item.index() < n_items).filter(|&item| !absent.contains(item))
}

impl Serialize for LiveState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        last::serialize(&self.to_save(), serializer)
    }
}

/// Counts of items.
pub(crate) trait Table {
    /// Number of items.
    fn n_items(&self) -> usize;

    /// Number of positions that are counted by themselves.
    fn n_kinds(&self) -> usize;

    /// The counts of a known item and kind.
    fn tally(&self, item: usize, kind: usize) -> Tally;

    /// Sets the counts of a known item and kind, of at most 2^40 displays.
    fn set_tally(&mut self, item: usize, kind: usize, tally: Tally);

    /// Adds an item without counts.
    fn push(&mut self);

    /// The position of the item of this rank, 0 for the best, in the list that was chosen last.
    fn place(&self, rank: usize) -> usize {
        rank
    }
}

/// A policy that derives everything it chooses by from a table.
pub(crate) trait OnTable: Setup {
    /// Whether the index of an item can be multiplied by its value.
    const MULTIPLIES: bool = false;

    type Table: Table;

    fn table(&self) -> &Self::Table;

    fn table_mut(&mut self) -> &mut Self::Table;

    fn live(&self) -> &LiveState;

    fn live_mut(&mut self) -> &mut LiveState;

    /// The value of `item` changed.
    fn revalued(&mut self, _item: usize) {}

    /// The counts of `item` changed.
    fn changed(&mut self, _item: usize) {}

    /// The table has a further item.
    fn pushed(&mut self) {}

    /// An item left, or returned.
    fn came_or_went(&mut self, _item: usize, _present: bool) {}

    /// The index of an item in the next round; `None` if the policy ranks items by something else.
    fn index(&self, _item: usize) -> Option<f64> {
        None
    }

    /// The policy, if it draws from posteriors.
    fn posteriors(&mut self) -> Option<&mut dyn Bayesian> {
        None
    }
}

/// A policy on a table, of a type that is known at run time only.
pub(crate) trait OnAnyTable: Tallies + Send + Sync {
    /// As [`SelectAmong::pass_round`].
    fn pass(&mut self);

    /// The score of every item; see [`AnyPolicy::scores`](crate::catalogue::AnyPolicy::scores).
    fn scores(&mut self) -> Vec<f64>;
}

impl<P: OnTable + SelectAmong<Ranking, Note = ()> + Send + Sync> OnAnyTable for P {
    fn pass(&mut self) {
        self.pass_round();
    }

    fn scores(&mut self) -> Vec<f64> {
        let known = self.posteriors().map(|policy| (policy.prior(), policy.examination().to_vec()));
        let table = self.table();
        let score = |item| {
            let tallies: Vec<Tally> = (0..table.n_kinds()).map(|kind| table.tally(item, kind)).collect();
            let mean = || {
                let total = |count: fn(&Tally) -> u64| tallies.iter().map(count).sum::<u64>() as f64;
                total(|tally| tally.clicks) / total(|tally| tally.shows)
            };
            match &known {
                Some((prior, examination)) => prior.posterior_mean(&tallies, examination),
                None => self.index(item).unwrap_or_else(mean),
            }
        };
        (0..table.n_items()).map(score).collect()
    }
}

/// The accessors of a policy whose table is a part of it, such as `counts`, or all of it.
macro_rules! on_table {
    ($Table:ty, |$policy:ident| $table:expr) => {
        type Table = $Table;

        fn table(&self) -> &$Table {
            let $policy = self;
            &$table
        }

        fn table_mut(&mut self) -> &mut $Table {
            let $policy = self;
            &mut $table
        }

        fn live(&self) -> &crate::live::LiveState {
            &self.live
        }

        fn live_mut(&mut self) -> &mut crate::live::LiveState {
            &mut self.live
        }
    };
}
pub(crate) use on_table;

/// Changes the tally of a known item and kind.
fn change<P: OnTable>(policy: &mut P, item: ItemId, kind: usize, change: impl Fn(Tally) -> Tally) {
    let table = policy.table_mut();
    if item.index() < table.n_items() && kind < table.n_kinds() {
        let Tally { shows, clicks } = change(table.tally(item.index(), kind));
        let shows = shows.min(MAX_COUNT);
        table.set_tally(item.index(), kind, Tally { shows, clicks: clicks.min(shows) });
        policy.changed(item.index());
    }
}

impl<P: OnTable> Tallies for P {
    fn n_items(&self) -> usize {
        self.table().n_items()
    }

    fn n_kinds(&self) -> usize {
        self.table().n_kinds()
    }

    fn tally(&self, item: ItemId, kind: usize) -> Tally {
        let table = self.table();
        let is_known = item.index() < table.n_items() && kind < table.n_kinds();
        if is_known { table.tally(item.index(), kind) } else { Tally::default() }
    }

    fn add(&mut self, item: ItemId, kind: usize, tally: Tally) {
        change(self, item, kind, |before| Tally {
            shows: before.shows.saturating_add(tally.shows),
            clicks: before.clicks.saturating_add(tally.clicks.min(tally.shows)),
        });
    }

    fn take_back(&mut self, item: ItemId, kind: usize, tally: Tally) {
        change(self, item, kind, |before| {
            let clicks = before.clicks.saturating_sub(tally.clicks);
            Tally { shows: before.shows.saturating_sub(tally.shows).max(clicks), clicks }
        });
    }

    fn add_item(&mut self) -> ItemId {
        let item = ItemId::from_index(self.table().n_items());
        self.table_mut().push();
        let live = self.live_mut();
        live.values.came_or_went(item.index() + 1);
        if !live.absent.is_empty() {
            live.absent.grow(item.index() + 1);
        }
        self.pushed();
        item
    }

    fn set_present(&mut self, item: ItemId, present: bool) {
        let n_items = self.table().n_items();
        if item.index() < n_items && self.live_mut().set_present(item, present, n_items) {
            self.came_or_went(item.index(), present);
        }
    }

    fn bayesian(&mut self) -> Option<&mut dyn Bayesian> {
        self.posteriors()
    }

    fn n_positions(&self) -> usize {
        self.sizes()[1]
    }

    fn place(&self, rank: usize) -> usize {
        self.table().place(rank)
    }

    fn set_terms(&mut self, mut terms: Option<Box<Terms>>) {
        if let Some(terms) = &mut terms {
            terms.values.sort_by_key(|&(item, _)| item);
        }
        self.live_mut().terms = terms;
    }

    fn valued(&mut self) -> Option<&mut dyn Valued> {
        if P::MULTIPLIES { Some(self) } else { None }
    }
}

impl<P: OnTable> Valued for P {
    fn values(&self) -> &Values {
        &self.live().values
    }

    fn change_values(&mut self, change: &mut dyn FnMut(&mut Values, usize) -> Range<usize>) {
        let n_items = self.table().n_items();
        change(&mut self.live_mut().values, n_items).for_each(|item| self.revalued(item));
    }

    fn set_users(&mut self, users: Option<GoesOn>) {
        self.live_mut().values.users = users;
    }
}
