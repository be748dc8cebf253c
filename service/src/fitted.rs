//! What a new store takes from a directory that `click-bandits fit` has written.

mod by_position;
mod of_users;

pub use of_users::FittedUsers;

use crate::api::Refusal;
use crate::config::{Template, Users};
use crate::event::Name;
use crate::writer::Turn;
use by_position::ByPosition;
use confidence::Probability;
use documents::parameters::{Model, ModelRecord, Parameters};
use std::path::Path;

/// A fit, for policies on a table or for one that sees who asks.
#[derive(Debug)]
pub enum Fitted {
    /// Counts and priors of queries.
    Counts(FittedCounts),
    /// The posterior of a query.
    Users(FittedUsers),
}

impl Fitted {
    /// Reads the fit for the policy of a template, and completes the template: examination, segments
    /// and features that it does not give are those of the fit.
    pub fn read(directory: &Path, template: &mut Template) -> Result<Self, String> {
        if template.sees_contexts() {
            return FittedUsers::read(directory, template).map(Self::Users);
        }
        let fitted = FittedCounts::read(directory, template)?;
        if template.examination.is_empty() {
            template.examination = fitted.examination(template);
        }
        Ok(Self::Counts(fitted))
    }

    /// Makes the queries of the log, with their items and what is known of them.
    pub fn begin(&self, turn: &mut Turn<'_>) -> Result<(), Refusal> {
        match self {
            Self::Counts(fitted) => fitted.begin(turn),
            Self::Users(fitted) => fitted.begin(turn),
        }
    }
}

/// The fit of one model, and what was counted at each position.
#[derive(Debug)]
pub struct FittedCounts(ModelRecord, ByPosition);

impl FittedCounts {
    /// Reads the fit of the model by which the answers of a template are read.
    fn read(directory: &Path, template: &Template) -> Result<Self, String> {
        let path = directory.join("parameters.json");
        let model = match template.users {
            Users::Cascade => Model::Cascade,
            Users::Dcm => Model::Dcm,
            Users::Pbm | Users::SemiBandit | Users::ClicksOnly => Model::Pbm,
        };
        let parameters = Parameters::read(&path).map_err(|error| error.to_string())?;
        let fit = parameters.models.into_iter().find(|fit| fit.model == model);
        let none =
            || format!("{}: it has no fit of `{}`: fit with --model {0}", path.display(), model.name());
        let counts = match model {
            Model::Pbm => ByPosition::read(&directory.join("counts.csv"), template.positions)?,
            _ => ByPosition::default(),
        };
        fit.map(|fit| Self(fit, counts)).ok_or_else(none)
    }

    /// Examination of the positions, relative to the first, for policies that must know it.
    fn examination(&self, template: &Template) -> Vec<Probability> {
        let positions = &self.0.site.positions;
        let values = (1..=template.positions).map_while(|position| {
            let found = positions.iter().find(|record| record.position == position)?;
            Probability::new(found.estimate.value.min(1.0)).ok()
        });
        let values: Vec<Probability> = values.collect();
        if self.0.model == Model::Pbm && values.len() == template.positions { values } else { vec![] }
    }

    /// The prior of an item of this mean attraction.
    fn prior(&self, typical: f64) -> Option<[f64; 2]> {
        let (strength, mean) = (self.0.site.prior, typical.min(0.99));
        (strength > 0.0 && mean > 0.0).then_some([strength * mean, strength * (1.0 - mean)])
    }

    fn begin(&self, turn: &mut Turn<'_>) -> Result<(), Refusal> {
        let name = |text: &str| {
            Name::new(text).map_err(|fault| Refusal::malformed(&format!("{text:?} of the fit: {fault}"), ""))
        };
        let others = turn.engine.begin(None, self.prior(self.0.site.typical), vec![])?;
        turn.events.push(others);
        for query in &self.0.queries {
            let item = |item: &documents::parameters::ItemRecord| {
                Ok((name(&item.item)?, item.impressions, item.clicks.min(item.impressions)))
            };
            let items = query.items.iter().map(item).collect::<Result<Vec<_>, Refusal>>()?;
            let of_query = name(&query.query)?;
            let at_positions = items.iter().filter_map(|(item, ..)| {
                self.1.of_item(&query.query, item).map(|tallies| (item.clone(), tallies.to_vec()))
            });
            let at_positions: Vec<_> = at_positions.collect();
            let event = turn.engine.begin(Some(of_query.clone()), self.prior(query.typical), items)?;
            turn.events.push(event);
            if !at_positions.is_empty() {
                let event = turn.engine.begin_at_positions(of_query, at_positions)?;
                turn.events.push(event);
            }
        }
        Ok(())
    }
}
