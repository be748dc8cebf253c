//! What a new store takes from a directory that `click-bandits fit` has written.

use crate::api::Refusal;
use crate::config::{Template, Users};
use crate::event::Name;
use crate::writer::Turn;
use confidence::Probability;
use documents::parameters::{Model, ModelRecord, Parameters};
use std::path::Path;

/// The fit of one model.
#[derive(Debug)]
pub struct Fitted(ModelRecord);

impl Fitted {
    /// Reads the fit of the model by which the answers of a template are read.
    pub fn read(directory: &Path, template: &Template) -> Result<Self, String> {
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
        fit.map(Self).ok_or_else(none)
    }

    /// Examination of the positions, relative to the first, for policies that must know it.
    pub fn examination(&self, template: &Template) -> Vec<Probability> {
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

    /// Makes the queries of the log, with their items, counts and priors.
    pub fn begin(&self, turn: &mut Turn<'_>) -> Result<(), Refusal> {
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
            let event = turn.engine.begin(Some(name(&query.query)?), self.prior(query.typical), items)?;
            turn.events.push(event);
        }
        Ok(())
    }
}
