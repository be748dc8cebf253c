//! Writes an experiment as a TOML file that reads back as the same experiment.

use super::entries::names_of;
use super::{Experiment, Schedule, Task, checkpoints, live};
use crate::models::{KAPPA, Model, Parameter, Parameters};
use contenders::Entrant;
use documents::names::quoted;
use documents::toml_reader::inline;
use itertools::Itertools as _;
use serde_json::json;
use sim::Sees;
use std::fmt::Write as _;

impl Experiment {
    /// The experiment as a TOML file, which reads back with the same canonical form.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        let model = self.instances.model().name;
        // Writing to a string cannot fail.
        let mut comments = self.comments.iter().map(Vec::as_slice);
        write_comments(&mut text, comments.next());
        let _ = self.write_head(&mut text);
        let listed = if self.instances.posterior().is_some() { vec![] } else { self.instances.parameters() };
        for Parameters { name, values } in listed {
            let _ = writeln!(text, "\n[[instances]]\nmodel = {}", quoted(model));
            if let Some(name) = name {
                let _ = writeln!(text, "name = {}", quoted(&name));
            }
            write_comments(&mut text, comments.next());
            for (key, parameter) in values {
                let value = match &parameter {
                    Parameter::Context(contexts) => contexts.to_toml(),
                    Parameter::Matrix(rows) => {
                        let rows = rows.iter().map(|row| format!("    {row:?},\n"));
                        format!("[\n{}]", rows.collect::<String>())
                    }
                    other => inline(&json!(other)),
                };
                let _ = writeln!(text, "{key} = {value}");
            }
        }
        for entry in &self.policies {
            let _ = writeln!(text, "\n[[policies]]\npolicy = {}", quoted(&entry.name));
            if entry.label != entry.name {
                let _ = writeln!(text, "label = {}", quoted(&entry.label));
            }
            for (key, setting) in Self::settings(entry) {
                let _ = writeln!(text, "{key} = {setting}");
            }
            let spec = serde_json::to_value(entry.spec).unwrap_or_default();
            for (key, parameter) in spec[&entry.name].as_object().into_iter().flatten() {
                if entry.told_gamma && key == "gamma" {
                    continue;
                }
                let _ = writeln!(text, "{key} = {}", inline(parameter));
            }
        }
        text
    }

    /// The keys of a policy besides its parameters, with their values as in a file.
    pub fn settings(entry: &Entrant) -> Vec<(&'static str, String)> {
        let lists = entry.lists.as_ref().map(|lists| quoted(lists.file.file_name()));
        let priors = entry.priors.as_ref().map(|priors| quoted(priors.file.file_name()));
        let examination = entry.examination.as_ref().map(|examination| inline(&json!(examination)));
        let sees = (entry.sees != Sees::default()).then(|| format!("{:?}", names_of(entry.sees)));
        let all = [
            ("read-as", entry.read_as.map(|protocol| quoted(Model::of(protocol).name))),
            ("sees", sees),
            ("lists", lists),
            ("prior", priors.as_ref().map(|_| quoted("fitted"))),
            ("prior_file", priors),
            ("live", entry.live.as_ref().map(live::use_to_toml)),
            ("told", entry.told_gamma.then(|| quoted("gamma"))),
            (KAPPA.name, examination),
        ];
        all.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
    }

    fn write_head(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "name = {}", quoted(&self.name))?;
        writeln!(text, "task = {}", quoted(self.task.name()))?;
        writeln!(text, "{} = {}", self.task.length().name, self.horizon)?;
        match self.runs_per_instance() {
            None => writeln!(text, "runs = {}", self.runs)?,
            Some(each) => writeln!(text, "runs = {{ per-instance = {each} }}")?,
        }
        writeln!(text, "seed = {}", self.seed)?;
        if let Some(file) = self.instances.posterior() {
            let model = quoted(file.model);
            let names = file.parts.iter().map(|part| quoted(part.file.file_name())).join(", ");
            let name = if file.parts.len() > 1 { format!("[{names}]") } else { names };
            let transfer = file
                .transfer
                .as_ref()
                .map_or_else(String::new, |transfer| format!(", {}", transfer.to_toml()));
            let positions = file.positions.map_or_else(String::new, |n| format!(", positions = {n}"));
            let queries = file.queries.as_ref().map_or_else(String::new, |names| {
                format!(", queries = [{}]", names.iter().map(|name| quoted(name)).join(", "))
            });
            let shared = match file.runs_per_draw {
                1 => String::new(),
                runs => format!(", runs-per-draw = {runs}"),
            };
            writeln!(
                text,
                "users = {{ posterior = {name}, model = {model}{positions}{queries}{shared}{transfer} }}"
            )?;
        }
        if self.live.disturb() {
            writeln!(text, "live = {}", live::to_toml(&self.live))?;
        }
        if self.task != Task::Regret {
            return Ok(());
        }
        match &self.schedule {
            Schedule::Log { count, .. } => {
                let also: Vec<u64> = self.schedule.listed(self.horizon).collect();
                if also.is_empty() {
                    writeln!(text, "checkpoints = {{ log = {count} }}")
                } else {
                    writeln!(text, "checkpoints = {{ log = {count}, also = {also:?} }}")
                }
            }
            // Reading adds the horizon, so it is left out where the list would be too long.
            Schedule::List(_) if self.checkpoints.len() as u64 > *checkpoints::COUNTS.end() => {
                let listed: Vec<u64> = self.schedule.listed(self.horizon).collect();
                writeln!(text, "checkpoints = {listed:?}")
            }
            Schedule::List(_) => writeln!(text, "checkpoints = {:?}", self.checkpoints),
        }
    }
}

/// Writes comments, one line each.
fn write_comments(text: &mut String, comments: Option<&[String]>) {
    for comment in comments.unwrap_or_default() {
        text.push_str("# ");
        // TOML allows no control characters in comments.
        let harmless = |character: char| {
            if character.is_control() {
                character.escape_default().to_string()
            } else {
                character.to_string()
            }
        };
        text.extend(comment.chars().map(harmless));
        text.push('\n');
    }
}
