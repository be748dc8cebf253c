//! Changes of items, of all queries or of one.

use super::Engine;
use super::query::Query;
use crate::api::{Outcome, Refusal};
use crate::config::FirstItem;
use crate::event::{Change, Event, Name, Worth};
use crate::store::StoreError;

impl Engine {
    /// Changes an item of a query, or of all, and tells its value and its group. Without a change
    /// the item has to be known.
    pub fn take_item(
        &mut self,
        FirstItem { item, features, worth }: &FirstItem,
        query: Option<&Name>,
        change: Option<Change>,
        events: &mut Vec<Event>,
    ) -> Result<Outcome, Refusal> {
        let Some(change) = change else {
            self.check_change(query, None, features)?;
            if let Some(query) = query {
                self.check_known(item, query)?;
            } else if self.catalogue.is_present(item).is_none() {
                let what = format!("item `{}` is not one of all queries: `query` names its query", &**item);
                return Err(Refusal::new(404, "unknown_item", what, "item"));
            }
            self.check_worth(worth, Change::Add)?;
            return self.set_worth(item, query, worth, events);
        };
        self.check_worth(worth, change)?;
        let changed = self.change_item(item, query, change, features, events)?;
        let told = self.set_worth(item, query, worth, events)?;
        Ok(if changed == Outcome::Repeated { told } else { changed })
    }

    /// Changes an item of a query, or of all.
    pub fn change_item(
        &mut self,
        item: &Name,
        query: Option<&Name>,
        change: Change,
        features: &[f64],
        events: &mut Vec<Event>,
    ) -> Result<Outcome, Refusal> {
        self.check_change(query, Some(change), features)?;
        if let Some(query) = query {
            let most = self.most.items;
            self.look_at(query, Some(&[]), |query| match query.known(item) {
                // Retired too long ago: refused as an unknown item of all queries is.
                None if change == Change::Retire => Err(Refusal::unknown_item(item, "item")),
                _ => check_own(query, item, change, features, most),
            })??;
        }
        let n_queries = self.totals.queries;
        self.noting(events, |engine, events| {
            let is_new = match query {
                Some(query) => engine.change_own(item, query, change, features)?,
                None => engine.change_shared(item, change, features)?,
            };
            if !is_new {
                // The query itself may be new.
                let is_made = engine.totals.queries > n_queries;
                return Ok(if is_made { Outcome::Counted } else { Outcome::Repeated });
            }
            engine.next += 1;
            if let Some(query) = query {
                engine.note_query(query);
            }
            let (item, query, features) = (item.clone(), query.cloned(), features.to_vec());
            events.push(Event::Item { item, query, change, features });
            Ok(Outcome::Counted)
        })
    }

    /// Tells the value of an item and its group, of a query or of all.
    pub fn set_worth(
        &mut self,
        item: &Name,
        query: Option<&Name>,
        worth: &Worth,
        events: &mut Vec<Event>,
    ) -> Result<Outcome, Refusal> {
        if *worth == Worth::default() {
            return Ok(Outcome::Repeated);
        }
        if let Some(query) = query {
            self.check_known(item, query)?;
        }
        self.noting(events, |engine, events| {
            if !engine.tell_worth(item, query, worth)? {
                return Ok(Outcome::Repeated);
            }
            engine.next += 1;
            events.push(Event::Worth { item: item.clone(), query: query.cloned(), worth: worth.clone() });
            Ok(Outcome::Counted)
        })
    }

    /// Refuses features of an item that is not added, and an unknown query to which none is added.
    fn check_change(
        &mut self,
        query: Option<&Name>,
        change: Option<Change>,
        features: &[f64],
    ) -> Result<(), Refusal> {
        let (is_add, names) = (change == Some(Change::Add), &self.template.item_features);
        if features.len() != if is_add { names.len() } else { 0 } {
            return Err(Refusal::not_features(features.len(), names, "features"));
        }
        match query {
            Some(query) if !is_add && !self.load(query)? => Err(Refusal::unknown_query(query)),
            _ => Ok(()),
        }
    }

    /// Refuses an item that a query does not know.
    fn check_known(&mut self, item: &Name, query: &Name) -> Result<(), Refusal> {
        let unknown = || Refusal::unknown_item(item, "item");
        let check = |query: &mut Query| query.known(item).map(|_| ()).ok_or_else(unknown);
        self.check_at(query, &[], |named| named == item, check)
    }

    /// Refuses a value or a group of which the policy can know nothing.
    fn check_worth(&self, worth: &Worth, change: Change) -> Result<(), Refusal> {
        let is_forgotten = change == Change::Forget
            || change == Change::Retire && self.template.settings().keep_retired == 0;
        if is_forgotten && *worth != Worth::default() {
            return Err(Refusal::other_terms("a forgotten item has no value and no group", "change"));
        }
        if let Some(value) = worth.value {
            let mut of_nobody = super::fresh(&self.template, None).map_err(StoreError::OtherSettings)?;
            let checked = of_nobody.check_value(value, true);
            checked.map_err(|error| Refusal::of_terms(&error, "value"))?;
        }
        if worth.group.is_some() && self.template.sees_contexts() {
            return Err(Refusal::of_terms(&live::Error::NoTerms, "group"));
        }
        Ok(())
    }

    pub(super) fn tell_worth(
        &mut self,
        item: &Name,
        query: Option<&Name>,
        worth: &Worth,
    ) -> Result<bool, Refusal> {
        let is_new = match query {
            Some(query) => self.change(query)?.set_worth(item, worth),
            None => self.catalogue.set_worth(item, worth, !self.later.is_empty()),
        };
        // A value that is known makes no event, so that a repetition would not know of it.
        self.has_values |= is_new == Some(true) && worth.value.is_some();
        is_new.ok_or_else(|| Refusal::unknown_item(item, "item"))
    }

    pub(super) fn change_own(
        &mut self,
        item: &Name,
        name: &Name,
        change: Change,
        features: &[f64],
    ) -> Result<bool, Refusal> {
        let most = self.most.items;
        let query = self.change(name)?;
        check_own(query, item, change, features, most)?;
        Ok(query.change(item, change, features, false))
    }

    pub(super) fn change_shared(
        &mut self,
        item: &Name,
        change: Change,
        features: &[f64],
    ) -> Result<bool, Refusal> {
        let known = self.catalogue.is_present(item);
        let is_new = match (change, known) {
            (Change::Add, None) if self.catalogue.counts()[0] >= self.most.items => {
                return Err(Refusal::too_many("items", self.most.items));
            }
            (Change::Retire | Change::Forget, None) => {
                return Err(Refusal::unknown_item(item, "item"));
            }
            (Change::Add, _) if !self.catalogue.may_have(item, features) => {
                return Err(Refusal::other_features(item));
            }
            (Change::Add, _) => known != Some(true),
            (Change::Retire, _) => known == Some(true),
            (Change::Forget, _) => true,
        };
        if is_new {
            let (keep, is_later) = (self.template.settings().keep_retired, !self.later.is_empty());
            self.catalogue.change(item, change, features, keep, is_later);
        }
        Ok(is_new)
    }
}

/// Refuses a change of an item of a query.
pub(super) fn check_own(
    query: &mut Query,
    item: &Name,
    change: Change,
    features: &[f64],
    most: usize,
) -> Result<(), Refusal> {
    match query.handle(item) {
        None if change != Change::Add => Err(Refusal::unknown_item(item, "item")),
        None if query.n_items() >= most => Err(Refusal::too_many("items of a query", most)),
        _ if change == Change::Add && !query.may_have(item, features) => Err(Refusal::other_features(item)),
        _ => Ok(()),
    }
}
