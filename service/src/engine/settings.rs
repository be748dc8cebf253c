//! Settings that change while a store lives: what may change, and the event from which on it holds.

use super::{Beginning, Engine, learner};
use crate::api::Refusal;
use crate::config::{FirstItem, Template, ValuesFrom, differing};
use crate::event::{Change, Event, Name};
use crate::store::{Store, StoreError};
use std::collections::BTreeSet;
use std::sync::Arc;

const FIXED: &str = "it holds as long as the store";
const WHOLE: &str =
    "the policy has learned from whole answers: begin a store with a fit of the export (see --from)";
const OF_ANSWERS: &str =
    "a policy that sees who asks begins with whole answers, and not with counts of another";

/// The keys of settings that cannot become others, with the reason for each.
fn refused(old: &Template, new: &Template) -> Vec<(&'static str, &'static str)> {
    let is_longer = |old: &[Name], new: &[Name]| new.starts_with(old);
    let sees_contexts = old.sees_contexts() || new.sees_contexts();
    let whole = if old.sees_contexts() { WHOLE } else { OF_ANSWERS };
    let [segments, features] =
        [(&old.segments, &new.segments), (&old.features, &new.features)].map(|(old, new)| {
            let why = if is_longer(old, new) { whole } else { "new ones come behind those of the store" };
            (old != new && (sees_contexts || !is_longer(old, new)), why)
        });
    let faults = [
        ("users", old.users != new.users, FIXED),
        ("skips", old.skips != new.skips, FIXED),
        ("item-features", old.item_features != new.item_features, FIXED),
        ("seed", old.seed != new.seed, FIXED),
        ("segments", segments.0, segments.1),
        ("features", features.0, features.1),
        ("policy", sees_contexts && old.policy != new.policy, whole),
        ("positions", sees_contexts && old.positions != new.positions, whole),
        ("examination", sees_contexts && old.examination != new.examination, whole),
    ];
    faults.into_iter().filter(|(_, is_fault, _)| *is_fault).map(|(key, _, why)| (key, why)).collect()
}

/// A configuration beside the settings of a store.
#[derive(Debug)]
pub struct Differences<'a> {
    template: &'a Template,
    items: &'a [FirstItem],
    /// The items that the configuration has no more.
    gone: BTreeSet<Name>,
    new: Vec<&'a FirstItem>,
    /// Those with another value or group than the store's.
    told: Vec<&'a FirstItem>,
    /// Each difference as a change, and as one that is not applied.
    pub lines: Vec<[String; 2]>,
}

fn line_of_item(item: &Name, what: &str, change: &str) -> [String; 2] {
    let line = format!("items: `{item}` is {what}");
    [line.clone(), format!("{line} in the file (--apply {change} it)")]
}

impl Engine {
    /// Compares a configuration with the settings that hold, and with the items of the one that was
    /// applied last: others come and go by requests.
    pub fn differences<'a>(
        &self,
        store: &dyn Store,
        template: &'a Template,
        items: &'a [FirstItem],
    ) -> Result<Differences<'a>, StoreError> {
        let mut gone: BTreeSet<Name> = match &self.configured {
            // A new store begins with those of the configuration.
            None if self.next == 0 => items.iter().map(|of| of.item.clone()).collect(),
            None => Beginning::of(store)?.items.into_iter().collect(),
            Some(configured) => configured.iter().cloned().collect(),
        };
        let (known, new): (Vec<_>, Vec<_>) = items.iter().partition(|of| gone.remove(&of.item));
        let is_told = |of: &&FirstItem| {
            let found = self.catalogue.worth(&of.item);
            of.worth.clone().or(&found) != found && self.catalogue.is_present(&of.item).is_some()
        };
        let told: Vec<_> = known.into_iter().filter(is_told).collect();
        let mut lines = differing(&self.template, template, &refused(&self.template, template));
        if self.has_values && self.template.values == ValuesFrom::Told && template.values != ValuesFrom::Told
        {
            let line = "values: those that were told are forgotten";
            lines.push([line.into(), format!("{line} by --apply")]);
        }
        lines.extend(new.iter().map(|of| line_of_item(&of.item, "new", "adds")));
        lines.extend(told.iter().map(|of| line_of_item(&of.item, "of another value or group", "tells")));
        lines.extend(gone.iter().map(|item| line_of_item(item, "gone", "retires")));
        Ok(Differences { template, items, gone, new, told, lines })
    }

    /// Makes the settings and items of a configuration those of the store. An error names the keys
    /// that cannot change, each with the reason, and nothing changes.
    pub fn change_settings(
        &mut self,
        differences: &Differences<'_>,
        time: u64,
        events: &mut Vec<Event>,
    ) -> Result<(), Refusal> {
        let Differences { template, items, gone, new, told, .. } = differences;
        let mut refused = refused(&self.template, template);
        if self.has_values && template.has_values().is_err() {
            refused.push(("policy", "items have values, of which the other policy knows nothing"));
        }
        let mut faults: Vec<String> =
            refused.into_iter().map(|(key, why)| format!("policy.{key} cannot change: {why}")).collect();
        if faults.is_empty() {
            // Whatever refuses settings refuses them of a policy that knows nothing.
            let mut trial = learner::fresh(&self.template, self.prior).map_err(StoreError::Settings)?;
            let carried = learner::carry(&mut *trial, &self.template, template, self.prior);
            faults.extend(carried.err().map(|what| format!("policy: {what}")));
        }
        if !faults.is_empty() {
            return Err(StoreError::Settings(faults.join("; ")).into());
        }
        let items: Vec<Name> = items.iter().map(|of| of.item.clone()).collect();
        let settings = template.to_text();
        let is_other_policy = self.take_settings(&settings, &items, time).map_err(StoreError::Settings)?;
        self.next += 1;
        events.push(Event::Settings { settings, items });
        if is_other_policy {
            self.lower_share(time, events);
        }
        for first in new {
            self.take_item(first, None, Some(Change::Add), events)?;
        }
        for FirstItem { item, worth, .. } in told {
            self.set_worth(item, None, worth, events)?;
        }
        for item in gone {
            if self.catalogue.is_present(item) == Some(true) {
                self.change_item(item, None, Change::Retire, &[], events)?;
            }
        }
        Ok(())
    }

    /// Lets settings hold from now on, and what was configured with them. Returns whether lists are
    /// chosen in another way.
    pub(super) fn take_settings(
        &mut self,
        settings: &str,
        items: &[Name],
        time: u64,
    ) -> Result<bool, String> {
        let template = Arc::new(Template::of_text(settings)?);
        for query in self.queries.values_mut() {
            query.carry(&self.template, &template, self.prior)?;
        }
        let of_lists = |of: &Template| {
            let policy = (of.policy.clone(), of.positions, of.examination.clone(), of.prior);
            (policy, of.explore, of.window)
        };
        if template.values != self.template.values {
            // As those of queries, which begin anew.
            self.catalogue.forget_values();
            self.has_values = false;
        }
        let is_other_policy = of_lists(&self.template) != of_lists(&template);
        self.history.push(template.clone());
        self.template = template;
        self.configured = Some(items.to_vec());
        self.set_launch(is_other_policy, time);
        Ok(is_other_policy)
    }
}
