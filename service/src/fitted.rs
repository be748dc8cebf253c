//! The beginning of a new store, from a directory that `click-bandits fit` has written.

mod by_position;
mod of_users;

use crate::api::Refusal;
use crate::config::{Template, Users};
use crate::engine::Beginning;
use crate::event::{Event, Name};
use crate::store::{Store, StoreError};
use crate::writer::Turn;
use by_position::ByPosition;
use confidence::Probability;
use documents::number::counted;
use documents::parameters::{Model, ModelRecord, Parameters, SiteRecord, common_prior, continuation};
use policies::MAX_COUNT;
use policies::catalogue::PolicySpec;
use std::path::{Path, PathBuf};

/// The most displays of a query: half of what a policy can count, so that there is room for more.
const MOST: u64 = MAX_COUNT / 2;

/// A fit, as the first events of a store.
#[derive(Debug)]
pub struct FirstEvents {
    directory: PathBuf,
    events: Vec<Event>,
    /// The queries and items that the store does not begin with, and why: names that no request can
    /// have, and more displays than a policy can count.
    pub left_out: Vec<String>,
}

impl FirstEvents {
    /// Reads the fit for the policy of a template, and completes the template: examination,
    /// continuation, segments and features that it does not give are those of the fit.
    pub fn read(directory: &Path, template: &mut Template) -> Result<Self, String> {
        let mut left_out = vec![];
        let events = if template.sees_contexts() {
            of_users::read(&directory.join("context.json"), template, &mut left_out)?
        } else {
            read_counts(directory, template, &mut left_out)?
        };
        Ok(Self { directory: directory.to_owned(), events, left_out })
    }

    /// The number of queries and their items, in words.
    pub fn summary(&self) -> String {
        let numbers = self.events.iter().map(|event| match event {
            Event::Began { query: Some(_), items, .. } => (1, items.len() as u64),
            Event::BeganForUsers { fit, .. } => (1, of_users::n_items(fit)),
            _ => (0, 0),
        });
        let (queries, items) = numbers.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
        format!("{} of {}", counted(items, "item"), counted(queries, "query"))
    }

    /// Makes the queries of the log, with their items and what is known of them.
    pub fn begin(&self, turn: &mut Turn<'_>) -> Result<(), Refusal> {
        for event in &self.events {
            turn.engine.begin(event)?;
            turn.events.push(event.clone());
        }
        Ok(())
    }

    /// Checks that a store began with this fit, and not with another one.
    pub fn check(&self, store: &dyn Store) -> Result<(), StoreError> {
        let (found, mut expected) = (Beginning::of(store)?.fit, Beginning::default());
        self.events.iter().for_each(|event| expected.add(event));
        // Older stores have no counts of positions.
        if found[0] == expected.fit[0] && (found[1].is_none() || found[1] == expected.fit[1]) {
            return Ok(());
        }
        let began = if found[0].is_none() { "without a fit, and not with" } else { "with another fit than" };
        let directory = self.directory.display();
        Err(StoreError::OtherSettings(format!("it began {began} {directory}: a later start needs no fit")))
    }
}

/// Reads the fit of the model by which the answers of a template are read, and what was counted at
/// each position.
fn read_counts(
    directory: &Path,
    template: &mut Template,
    left_out: &mut Vec<String>,
) -> Result<Vec<Event>, String> {
    let path = directory.join("parameters.json");
    let model = match template.users {
        Users::Cascade => Model::Cascade,
        Users::Dcm => Model::Dcm,
        Users::Pbm | Users::SemiBandit | Users::ClicksOnly => Model::Pbm,
    };
    let parameters = Parameters::read(&path).map_err(|error| error.to_string())?;
    let place = parameters.models.iter().position(|fit| fit.model == model);
    let place = place.ok_or_else(|| {
        format!("{}: it has no fit of `{}`: fit with --model {1}", path.display(), model.name())
    })?;
    let fit = &parameters.models[place];
    let counts = match model {
        Model::Pbm => ByPosition::read(&directory.join("counts.csv"))?,
        _ => ByPosition::default(),
    };
    if template.examination.is_empty() {
        template.examination = examination(fit, template.positions);
    }
    if let PolicySpec::DcmTs { continuation: to @ None } = &mut template.policy.0 {
        *to = continuation(model, &fit.site.positions).and_then(|share| Probability::new(share).ok());
    }
    let SiteRecord { typical, lift, prior: strength, .. } = &fit.site;
    let of_others = common_prior(*strength, *typical, lift.iter().map(|lift| typical * lift));
    let others = Event::Began { query: None, prior: of_others, items: vec![] };
    let mut events = vec![others];
    for query in &fit.queries {
        let Some(name) = named("query", &query.query, left_out) else { continue };
        let shows = query.items.iter().fold(0_u64, |sum, record| sum.saturating_add(record.impressions));
        let shows = shows.max(counts.shows(&name));
        if shows > MOST {
            left_out.push(format!("query {:?}: {shows} displays, more than {MOST}", query.query));
            continue;
        }
        let (mut items, mut at_positions) = (vec![], vec![]);
        let of_query = format!("query {:?}: item", query.query);
        for record in &query.items {
            let Some(item) = named(&of_query, &record.item, left_out) else { continue };
            if let Some(tallies) = counts.of_item(&name, &item, template.positions) {
                at_positions.push((item.clone(), tallies));
            }
            items.push((item, record.impressions, record.clicks));
        }
        let means = query.items.iter().filter_map(|record| record.prior);
        let prior = common_prior(*strength, query.typical, means);
        events.push(Event::Began { query: Some(name.clone()), prior, items });
        if !at_positions.is_empty() {
            events.push(Event::BeganAtPositions { query: name, items: at_positions });
        }
    }
    Ok(events)
}

/// A name of the log. One that requests cannot have is left out.
fn named(what: &str, text: &str, left_out: &mut Vec<String>) -> Option<Name> {
    Name::new(text).map_err(|fault| left_out.push(format!("{what} {text:?}: {fault}"))).ok()
}

/// Examination of the positions, relative to the first, for policies that must know it.
fn examination(fit: &ModelRecord, n_positions: usize) -> Vec<Probability> {
    let values = (1..=n_positions).map_while(|position| {
        let found = fit.site.positions.iter().find(|record| record.position == position)?;
        Probability::new(found.estimate.value.min(1.0)).ok()
    });
    let values: Vec<Probability> = values.collect();
    if fit.model == Model::Pbm && values.len() == n_positions { values } else { vec![] }
}
