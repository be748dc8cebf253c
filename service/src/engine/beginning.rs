//! The beginning of a store with what a log tells.

use super::query::Query;
use super::{Engine, Most};
use crate::api::Refusal;
use crate::config::Template;
use crate::event::{Change, Event, Name, from_bytes, to_bytes};
use crate::store::{Store, StoreError, Sum, checksum};
use live::ContextFit;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// The items and the fit with which a store began, which it knows once its events are archived.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Beginning {
    /// The items with which it began, which its first batch adds.
    pub items: Vec<Name>,
    /// Checksums of the events of a fit, and of those with counts of positions; none without any.
    pub fit: [Option<Sum>; 2],
}

impl Beginning {
    /// Adds an event of a fit.
    pub fn add(&mut self, event: &Event) {
        let sum = &mut self.fit[usize::from(matches!(event, Event::BeganAtPositions { .. }))];
        *sum = Some(checksum(&sum.unwrap_or_default(), &to_bytes(event)));
    }

    /// The beginning of a store, which keeps it when events are dropped.
    pub fn of(store: &dyn Store) -> Result<Self, StoreError> {
        if store.first()? == 0 {
            return Self::read(store);
        }
        let kept = store.once("beginning", &|| {
            Err(StoreError::Damaged("its first events are archived, and it does not tell of them".into()))
        })?;
        from_bytes(&kept).map_err(StoreError::Damaged)
    }

    /// Keeps it.
    pub fn keep(store: &dyn Store) -> Result<(), StoreError> {
        store.once("beginning", &|| Ok(to_bytes(&Self::read(store)?))).map(|_| ())
    }

    fn read(store: &dyn Store) -> Result<Self, StoreError> {
        let (mut beginning, mut began) = (Self::default(), None);
        store.read(0, &mut |_, batch| {
            let is_first = *began.get_or_insert(batch.time) == batch.time;
            for event in batch.events {
                match event {
                    Event::Began { .. } | Event::BeganAtPositions { .. } | Event::BeganForUsers { .. } => {
                        beginning.add(&event);
                    }
                    Event::Item { item, query: None, change: Change::Add, .. }
                        if is_first && beginning.fit[0].is_none() =>
                    {
                        beginning.items.push(item);
                    }
                    Event::Item { .. } | Event::Worth { .. } | Event::Settings { .. } => {}
                    _ => return ControlFlow::Break(()),
                }
            }
            ControlFlow::Continue(())
        })?;
        Ok(beginning)
    }
}

/// Checks that a policy can begin with the fit of a log; an error says why not.
pub fn check_fit(template: &Template, fit: &ContextFit) -> Result<(), String> {
    Query::fresh("", template, None)?.begin_with_fit(template, fit)
}

impl Engine {
    /// Begins with what a log tells: an event of [`FirstEvents`](crate::fitted::Fitted).
    pub fn begin(&mut self, event: &Event) -> Result<(), Refusal> {
        // The limits are those of requests.
        let most = std::mem::replace(&mut self.most, Most::UNLIMITED);
        let outcome = self.began(event);
        self.most = most;
        outcome?;
        self.touched = None;
        self.next += 1;
        Ok(())
    }

    pub(super) fn began(&mut self, event: &Event) -> Result<(), Refusal> {
        match event {
            Event::Began { query: None, prior, .. } => {
                self.prior = *prior;
                Ok(())
            }
            Event::Began { query: Some(name), prior, items } => {
                self.note_query(name);
                let others = std::mem::replace(&mut self.prior, *prior);
                let query = self.change(name).map(|query| {
                    for (item, shows, clicks) in items {
                        query.change(item, Change::Add, &[], false);
                        query.begin_with(item, false, &[(*shows, *clicks)]);
                    }
                });
                self.prior = others;
                query
            }
            Event::BeganAtPositions { query, items } => {
                let query = self.change(query)?;
                for (item, tallies) in items {
                    query.begin_with(item, true, tallies);
                }
                Ok(())
            }
            Event::BeganForUsers { query, fit } => self.began_for_users(query, fit),
            _ => Ok(()),
        }
    }

    fn began_for_users(&mut self, name: &Name, fit: &[u8]) -> Result<(), Refusal> {
        let malformed = |what: &str| Refusal::malformed(what, "");
        let fit = ContextFit::read("context.json", fit).map_err(|error| malformed(&error.to_string()))?;
        if self.load(name)? {
            return Err(malformed(&format!("query `{name}` is there before its fit")));
        }
        let mut query = Query::fresh(name, &self.template, None).map_err(StoreError::OtherSettings)?;
        query.begin_with_fit(&self.template, &fit).map_err(|what| malformed(&what))?;
        // An item of the configuration that is also one of the log is the same.
        if let Some((item, _)) =
            self.catalogue.since(0).find(|(item, shared)| !query.may_have(item, &shared.features))
        {
            return Err(Refusal::other_features(item));
        }
        self.totals.queries += 1;
        self.note_query(name);
        self.insert(name, query);
        self.change(name).map(|_| ())
    }
}
