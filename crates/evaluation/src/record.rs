//! `answer.json`: every number of every level and model, also of the refused ones beside the
//! reason.

use crate::evaluation::Evaluation;
use crate::findings::Basis;
use crate::jackknife::Estimate;
use crate::levels::Levels;
use serde_json::{Map, Value, json};

impl Evaluation {
    /// The content of `answer.json`. Unknown numbers are null.
    pub fn to_json(&self) -> Value {
        let (sentence, warnings, values) = (self.sentence(), self.warnings(), &self.values);
        let as_shown = self.levels.as_ref().is_some_and(Levels::are_as_shown).then_some("as-shown");
        let mut record = json!({
            "schema": 1,
            "sentence": sentence,
            "answer": as_shown.or_else(|| self.findings.answer().map(|answer| answer.basis.name())),
            "warnings": warnings,
            "remarks": self.remarks(),
            "values_of_clicks": values,
            "learned": self.is_learned(),
        });
        let (mut levels, mut models) = (Map::new(), Map::new());
        for place in 0..self.findings.all.len() {
            let basis = self.findings.all[place].basis;
            let of = if matches!(basis, Basis::Level(_)) { &mut levels } else { &mut models };
            of.insert(basis.name().to_owned(), self.finding(place).into());
        }
        if let Some(of) = &self.levels {
            record["lists"] = of.lists.into();
            record["users"] = of.about.users.into();
            record["groups"] = of.groups.into();
            record["today"] = estimate(Some(&of.today));
            record["estimators"] = levels.into();
            record["target_mass_without_support"] = json!(of.never_shown);
            record["compared"] = json!(of.about);
        }
        match &self.models {
            Err(why) => record["without_models"] = why.text.as_str().into(),
            Ok(of) => {
                record["models"] = models.into();
                let scores = of.comparison.scores.iter();
                let scores = scores.map(|score| (score.model.name().to_owned(), score.log_likelihood.into()));
                record["held_out"] = json!({
                    "sessions": of.comparison.n_clusters,
                    "best": of.choice.best,
                    "not_told_apart": of.choice.alike,
                    "log_likelihood": scores.collect::<Map<_, _>>(),
                });
            }
        }
        record
    }

    fn finding(&self, place: usize) -> Map<String, Value> {
        let found = &self.findings.all[place];
        let mut record = Map::new();
        let mut set = |key: &str, value: Value| record.insert(key.to_owned(), value);
        let error = |of: &Option<Estimate>| json!(of.as_ref().and_then(Estimate::known_error));
        let number = |of: &Option<Estimate>| json!(of.as_ref().map(|of| of.value));
        set("value", number(&found.value));
        set("se", error(&found.value));
        set("difference", number(&found.difference));
        set("difference_se", error(&found.difference));
        set("difference_lower", json!(found.interval.map(|ends| ends.0)));
        set("difference_upper", json!(found.interval.map(|ends| ends.1)));
        set("answers", (self.findings.answer == Some(place)).into());
        set("assumption", found.basis.assumption().into());
        set("warnings", found.warnings.iter().map(|why| why.text.as_str()).collect());
        if let Some(assumptions) = &self.findings.assumptions {
            set("tests", json!(assumptions.of(found.basis).collect::<Vec<_>>()));
        }
        if let Some(why) = &found.refused {
            set("refused", why.text.as_str().into());
        }
        match (found.basis, &self.levels, &self.models) {
            (Basis::Level(level), Some(levels), _) => {
                let of = levels.of(level);
                let means = of.mean_weights.iter();
                set("effective_lists", of.effective_lists.into());
                set("largest_share", of.largest_share.into());
                set("mean_weight", means.clone().map(|mean| mean.value).collect());
                set("mean_weight_se", means.map(|mean| json!(mean.standard_error)).collect());
            }
            (Basis::Model(model), _, Ok(models)) => {
                let valued = models.models.iter().find(|of| of.model == model);
                set("today", estimate(valued.and_then(|of| of.valued.as_ref()?.today.as_ref())));
                set("share_of_lists", found.share.into());
                let transfer = models.transfers.as_ref().and_then(|transfers| transfers.of(model));
                set("transfer", json!(transfer.and_then(|transfer| transfer.slope)));
                set("transfer_se", json!(transfer.and_then(|transfer| transfer.standard_error)));
                set("transfer_verdict", json!(transfer.map(|transfer| transfer.verdict().name())));
            }
            _ => {}
        }
        record
    }
}

fn estimate(of: Option<&Estimate>) -> Value {
    let ends = of.and_then(Estimate::interval);
    json!({
        "value": of.map(|of| of.value),
        "se": of.and_then(Estimate::known_error),
        "lower": ends.map(|ends| ends.0),
        "upper": ends.map(|ends| ends.1),
    })
}
