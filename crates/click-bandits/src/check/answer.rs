//! The answer of `check`, as text and as JSON.

use super::overview::Overview;
use crate::usage::in_words;
use documents::number::counted;
use serde_json::{Value, json};
use spec::{Bound, Experiment, SpecError};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

pub(super) struct Answer<'a> {
    pub(super) path: &'a Path,
    pub(super) faults: &'a [SpecError],
    pub(super) experiments: &'a [Experiment],
}

impl Answer<'_> {
    pub(super) fn json(&self) -> Value {
        let mut answer = json!({
            "schema": 1,
            "file": self.path.display().to_string(),
            "valid": self.faults.is_empty(),
            "errors": self.faults.iter().map(fault).collect::<Vec<_>>(),
        });
        if self.faults.is_empty() {
            answer["experiments"] = self.experiments.iter().map(described).collect();
        }
        answer
    }
}

/// An error for programs. An error of the command line has no place.
fn fault(error: &SpecError) -> Value {
    match error {
        SpecError::File(error) => json!({
            "file": error.file(),
            "line": error.line(),
            "column": error.column(),
            "field": error.field(),
            "message": error.message(),
        }),
        other => {
            json!({ "file": null, "line": null, "column": null, "field": "", "message": in_words(other) })
        }
    }
}

/// An experiment for programs.
fn described(experiment: &Experiment) -> Value {
    let (tables, shapes) = (experiment.instances().tables(), experiment.instances().shapes());
    let instance = |(index, table): (usize, &spec::models::InstanceTable)| {
        let positions = shapes.get(index).map(|shape| shape.n_positions());
        json!({ "name": table.name, "items": table.n_items, "positions": positions })
    };
    let policies = experiment.policies().iter().map(|entry| {
        let settings: BTreeMap<_, _> = Experiment::settings(entry).into_iter().collect();
        json!({ "label": entry.label, "policy": entry.spec.to_string(), "live": settings.get("live"), "settings": settings })
    });
    let bounds = experiment.bounds(None);
    let bound = |bound: &Bound| {
        let (round, value) = (bound.t.last(), bound.value.last());
        json!({ "label": bound.reader_name(), "round": round, "value": value })
    };
    json!({
        "name": experiment.name(),
        "task": experiment.task().name(),
        "rounds": experiment.horizon(),
        "runs": experiment.runs(),
        "seed": experiment.seed(),
        "checkpoints": experiment.checkpoints().len(),
        "model": experiment.instances().model().name,
        "instances": tables.iter().enumerate().map(instance).collect::<Vec<_>>(),
        "live": experiment.live_in_words(),
        "policies": policies.collect::<Vec<_>>(),
        "bounds": bounds.iter().map(bound).collect::<Vec<_>>(),
        "warnings": experiment.doubts(),
    })
}

impl fmt::Display for Answer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for fault in self.faults {
            writeln!(f, "{}", in_words(fault))?;
        }
        if !self.faults.is_empty() {
            return Ok(());
        }
        let is_one = self.experiments.len() == 1;
        let n = counted(self.experiments.len() as u64, "simulation");
        let n = if is_one { String::new() } else { format!(", {n}") };
        writeln!(f, "{}: no errors{n}\n", self.path.display())?;
        for experiment in self.experiments {
            write!(f, "{}", Overview { experiment, is_short: !is_one })?;
        }
        let mut separator = "\n";
        for experiment in self.experiments {
            let name = if is_one { String::new() } else { format!("{}: ", experiment.name()) };
            for doubt in experiment.doubts() {
                writeln!(f, "{separator}warning: {name}{doubt}")?;
                separator = "";
            }
        }
        Ok(())
    }
}
