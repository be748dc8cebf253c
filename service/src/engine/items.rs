//! Changes of items, of all queries or of one.

use super::Engine;
use crate::api::{Outcome, Refusal};
use crate::event::{Change, Event, Name, Worth};
use crate::store::StoreError;

impl Engine {
    /// Changes an item of a query, or of all.
    pub fn change_item(
        &mut self,
        item: &Name,
        query: Option<&Name>,
        change: Change,
        features: &[f64],
        events: &mut Vec<Event>,
    ) -> Result<Outcome, Refusal> {
        let expected = if change == Change::Add { self.template.item_features.len() } else { 0 };
        if features.len() != expected {
            return Err(Refusal::not_features(features.len(), &self.template.item_features, "features"));
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
        worth: Worth,
        events: &mut Vec<Event>,
    ) -> Result<Outcome, Refusal> {
        if worth == Worth::default() {
            return Ok(Outcome::Repeated);
        }
        self.noting(events, |engine, events| {
            let is_new = match query {
                Some(query) => engine.set_own_worth(item, query, &worth)?,
                None => engine.set_shared_worth(item, &worth)?,
            };
            if !is_new {
                return Ok(Outcome::Repeated);
            }
            engine.next += 1;
            events.push(Event::Worth { item: item.clone(), query: query.cloned(), worth });
            Ok(Outcome::Counted)
        })
    }

    /// Refuses a value or a group of which the policy can know nothing.
    pub fn check_worth(&self, worth: &Worth, change: Change) -> Result<(), Refusal> {
        if change == Change::Forget && *worth != Worth::default() {
            return Err(Refusal::other_terms("a forgotten item has no value and no group", "change"));
        }
        if let Some(value) = worth.value {
            let mut of_nobody = super::fresh(&self.template).map_err(StoreError::OtherSettings)?;
            let checked = of_nobody.check_value(value, true);
            checked.map_err(|error| Refusal::of_terms(&error, "value"))?;
        }
        if worth.group.is_some() && self.template.sees_contexts() {
            return Err(Refusal::of_terms(&live::Error::NoTerms, "group"));
        }
        Ok(())
    }

    pub(super) fn set_own_worth(&mut self, item: &Name, name: &Name, worth: &Worth) -> Result<bool, Refusal> {
        self.has_values |= worth.value.is_some();
        let query = self.change(name)?;
        query.set_worth(item, worth).ok_or_else(|| Refusal::unknown_item(item, "item".into()))
    }

    pub(super) fn set_shared_worth(&mut self, item: &Name, worth: &Worth) -> Result<bool, Refusal> {
        self.has_values |= worth.value.is_some();
        let is_new = self.catalogue.set_worth(item, worth, !self.later.is_empty());
        is_new.ok_or_else(|| Refusal::unknown_item(item, "item".into()))
    }

    pub(super) fn change_own(
        &mut self,
        item: &Name,
        name: &Name,
        change: Change,
        features: &[f64],
    ) -> Result<bool, Refusal> {
        let most = self.most.items;
        if change != Change::Add && !self.load(name)? {
            return Err(Refusal::unknown_query(name));
        }
        let query = self.change(name)?;
        match query.handle(item) {
            None if change != Change::Add => Err(Refusal::unknown_item(item, "item".into())),
            None if query.n_items() >= most => Err(Refusal::too_many("items of a query", most)),
            _ if change == Change::Add && !query.may_have(item, features) => {
                Err(Refusal::other_features(item))
            }
            _ => Ok(query.change(item, change, features, false)),
        }
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
                return Err(Refusal::unknown_item(item, "item".into()));
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
