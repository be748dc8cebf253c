//! `click-bandits init`: an experiment to start from, with comments, for any click model.
//!
//! It runs as it is. Lines that begin with `#` and no space are keys that may be switched on.

use crate::destination::Destination;
use crate::discover::named::MODEL;
use crate::discover::page::plain;
use crate::discover::policies::tasks;
use crate::terminal::say;
use crate::terminal::wrapped;
use anyhow::{Context as _, Result};
use policies::catalogue::{Family, Row, find, rows};
use spec::Task;
use spec::experiment::keys::{EXPERIMENT, OF_INSTANCE, OF_POLICY};
use spec::key::{Key, KeyInside};
use spec::models::{MODELS, Model};
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Arguments {
    /// Click model of the users
    #[arg(value_parser = MODEL)]
    model: &'static str,
    /// File to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace FILE if it exists
    #[arg(long)]
    force: bool,
}

/// Writes an experiment to start from.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let model = MODELS.into_iter().find(|model| model.name == arguments.model).context("no such model")?;
    let text = commented(model);
    let destination = Destination::of(arguments.out.as_deref(), arguments.force)?;
    destination.write(|output| Ok(output.write_all(text.as_bytes())?))?;
    match destination {
        Destination::Standard => Ok(()),
        Destination::File(path) => say(&format!(
            "{path}: written. Change it, then: click-bandits simulate {path} --out results\n",
            path = path.display()
        )),
    }
}

/// The longest line of a comment.
const LINE: usize = 78;

/// A small experiment on the example of a model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spec<'a> {
    pub(crate) name: &'a str,
    pub(crate) model: &'static Model,
    pub(crate) task: Task,
    pub(crate) policy: Option<&'static Row>,
    /// Whether the policy's parameters are written, with their defaults.
    pub(crate) with_parameters: bool,
}

impl Spec<'_> {
    /// The file, without comments.
    pub(crate) fn plain(&self) -> String {
        let Self { name, model, task, .. } = self;
        let mut text = format!("name = {name:?}\ntask = {:?}\n", task.name());
        let [_, _, _, _, runs, seed, ..] = &EXPERIMENT;
        for Key { name, example, .. } in [task.length(), runs, seed] {
            let _ = writeln!(text, "{name} = {example}");
        }
        let _ = writeln!(text, "\n[[instances]]\nmodel = {:?}", model.name);
        let differ =
            self.policy.is_some_and(|row| row.is_built_from_knowledge() && !row.speaks(model.protocol));
        let context = model.keys.iter().find(|key| differ && key.name == "context");
        let is_written = |key: &&Key| match context {
            Some(context) => {
                key.name == context.name || (key.required && !context.replaces.contains(&key.name))
            }
            None => key.required,
        };
        for key in model.keys.iter().filter(is_written) {
            let _ = writeln!(text, "{} = {}", key.name, key.example);
        }
        if let Some(row) = self.policy {
            let _ = writeln!(text, "\n[[policies]]\npolicy = {:?}", row.name);
            if self.with_parameters {
                text.extend(row.spec().parameters().iter().map(|(key, value)| format!("{key} = {value}\n")));
            }
        }
        text
    }
}

/// The experiment to start from, with comments.
pub(crate) fn commented(model: &'static Model) -> String {
    let mut text = String::new();
    let name = model.name;
    comment(&mut text, &format!("An experiment on {name} users. {}", model.sentence));
    let _ = write!(
        text,
        "\
#
# Run it:         click-bandits simulate FILE --out results
# Keys of users:  click-bandits models {name}
# All policies:   click-bandits policies
#
# A line that begins with # and no space is switched on by removing the #.

"
    );
    let own_name = format!("\"my-{name}\"");
    let [name_key, task, horizon, _, runs, seed, checkpoints, ..] = &EXPERIMENT;
    key_with_comment(&mut text, name_key, &own_name, true);
    for key in [task, horizon, runs, seed] {
        key_with_comment(&mut text, key, key.example, true);
    }
    key_with_comment(&mut text, checkpoints, checkpoints.example, false);
    text.push_str("\n# With n [[instances]], each block of n runs takes every one once.\n[[instances]]\n");
    let [model_key, name_key] = &OF_INSTANCE;
    key_with_comment(&mut text, model_key, &format!("{name:?}"), true);
    key_with_comment(&mut text, name_key, name_key.example, false);
    for key in model.keys {
        key_with_comment(&mut text, key, key.example, key.required);
    }
    text.push_str("\n# The policies. Two with the same name are told apart by `label`.\n");
    for row in first_choices(model) {
        policy(&mut text, row, "");
    }
    text.push_str("\n# The other policies that can play these users.\n");
    for row in others(model) {
        policy(&mut text, row, "#");
    }
    if let Some(row) = read_as(model) {
        text.push_str("\n# A policy for users of another model, whose feedback it assumes.\n");
        policy(&mut text, row, "#");
        text.push_str("#read-as = \"cascade\"\n");
    }
    if model.names_best_items {
        for (how, task) in [
            ("To ask for the best items, write instead of task, horizon and checkpoints", Task::Identify),
            ("To ask for them after a fixed number of rounds, write instead", Task::Budget),
        ] {
            let Key { name, example, .. } = task.length();
            let able = rows().iter().filter(|row| row.speaks(model.protocol) && tasks(row).contains(&task));
            let able: Vec<&str> = able.map(|row| row.name).collect();
            let _ = writeln!(text, "\n# {how}\n#   task = {:?}\n#   {name} = {example}", task.name());
            comment(&mut text, &format!("with policies for this task: {}.", able.join(", ")));
        }
    }
    if model.is_played_live() {
        live(&mut text);
    }
    text
}

/// Adds the tables of live use, in comments.
fn live(text: &mut String) {
    text.push_str("\n# To disturb the policies as live use does, write before the instances\n#   [live]\n");
    let of = |keys: &[Key]| keys.iter().find(|key| key.name == "live").map_or_else(Vec::new, Key::inside);
    for KeyInside { name, meaning, example, .. } in of(&EXPERIMENT) {
        comment(text, &meaning);
        let _ = writeln!(text, "#   {name} = {example}");
    }
    let names = of(&OF_POLICY).into_iter().map(|key| key.name).collect::<Vec<_>>().join(", ");
    comment(
        text,
        &format!(
            "Delay and drift are for all policies, the others for those with a table; leave out oracle. How a policy is used live is its table live, with the keys {names}."
        ),
    );
}

/// Adds a comment, in lines.
fn comment(text: &mut String, words: &str) {
    for line in wrapped(words, LINE) {
        let _ = writeln!(text, "# {line}");
    }
}

/// Adds a key with its meaning, switched off unless `is_on`. One that replaces others is in a
/// comment.
fn key_with_comment(text: &mut String, key: &Key, value: &str, is_on: bool) {
    let Key { name, meaning, .. } = key;
    // Beside the weights of a cascade, values are refused.
    if key.replaces.is_empty() && key.name != "values" {
        let (optional, switch) = if is_on { ("", "") } else { ("Optional. ", "#") };
        comment(text, &format!("{optional}{meaning} Values: {}.", key.words()));
        let _ = writeln!(text, "{switch}{name} = {value}");
    } else {
        let others = key.replaces.join(" and ");
        let others = if others.is_empty() { "clicks that count alike" } else { &others };
        comment(text, &format!("Instead of {others}: {meaning}"));
        let _ = writeln!(text, "#   {name} = {value}");
    }
}

/// Adds a policy with its parameters, which are switched off; `switch` begins every line.
fn policy(text: &mut String, row: &Row, switch: &str) {
    text.push('\n');
    comment(text, &plain(row.sentence));
    let _ = write!(text, "{switch}[[policies]]\n{switch}policy = {:?}\n", row.name);
    let defaults = row.spec().parameters();
    for parameter in row.parameters {
        let Some(value) = defaults.get(parameter.name) else { continue };
        let values = plain(&parameter.kind.to_string());
        comment(text, &format!("{} Values: {values}.", plain(parameter.meaning)));
        let _ = writeln!(text, "#{} = {value}", parameter.name);
    }
}

/// The policies of the experiment: those that the model suggests, and one that learns nothing.
fn first_choices(model: &Model) -> impl Iterator<Item = &'static Row> {
    model.first_choices.iter().copied().chain(["uniform"]).filter_map(find)
}

/// The other policies for the task regret, without those that need a file.
fn others(model: &'static Model) -> impl Iterator<Item = &'static Row> {
    let chosen: Vec<&str> = first_choices(model).map(|row| row.name).collect();
    let fits = |row: &&Row| {
        row.speaks(model.protocol)
            && row.purpose() == policies::catalogue::Purpose::Regret
            && !row.families.contains(&Family::Logged)
    };
    rows().iter().filter(fits).filter(move |row| !chosen.contains(&row.name))
}

/// A policy that can read these users' clicks as those of a cascade, if they need that.
fn read_as(model: &Model) -> Option<&'static Row> {
    find("cascade-ts").filter(|row| model.has_lists() && !row.speaks(model.protocol))
}

#[cfg(test)]
mod tests {
    use super::*;
    use spec::Experiment;

    /// The text with every key switched on.
    fn switched_on(text: &str) -> String {
        let on = |line: &str| match line.strip_prefix('#') {
            Some(key) if key.starts_with(|first: char| !first.is_whitespace()) => key.to_owned(),
            _ => line.to_owned(),
        };
        text.lines().map(on).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn every_model_has_an_experiment_that_is_read_as_it_is_and_with_every_key() {
        for model in MODELS {
            let text = commented(model);
            let experiment =
                Experiment::from_toml(&text).unwrap_or_else(|error| panic!("{}: {error}", model.name));
            assert_eq!(experiment.instances().model().name, model.name);
            let names: Vec<&str> = experiment.policies().iter().map(|entry| entry.label.as_str()).collect();
            assert!(names.len() >= 3 && names.contains(&"uniform"), "{names:?}");
            let all = Experiment::from_toml(&switched_on(&text))
                .unwrap_or_else(|error| panic!("{}: {error}", model.name));
            let playing = rows().iter().filter(|row| {
                row.speaks(model.protocol)
                    && row.purpose() == policies::catalogue::Purpose::Regret
                    && row.name != "logged"
            });
            let n_read_as = usize::from(read_as(model).is_some());
            assert_eq!(all.policies().len(), playing.count() + n_read_as, "{}", model.name);
        }
    }

    #[test]
    fn conditions_of_live_use_are_those_of_an_experiment() {
        for model in MODELS {
            let text = commented(model);
            let live = text.split_once("#   [live]\n");
            assert_eq!(live.is_some(), model.is_played_live(), "{}", model.name);
            let Some((_, live)) = live else { continue };
            let keys: Vec<&str> = live.lines().filter_map(|line| line.strip_prefix("#   ")).collect();
            assert_eq!(keys.len(), 4, "{live}");
            let policy = find(model.first_choices[0]);
            let spec =
                Spec { name: "live", model, task: Task::Regret, policy, with_parameters: false }.plain();
            let spec =
                spec.replace("[[instances]]", &format!("[live]\n{}\n\n[[instances]]", keys.join("\n")));
            let experiment = Experiment::from_toml(&spec).unwrap_or_else(|error| panic!("{spec}\n{error}"));
            assert_eq!(experiment.live_in_words().len(), 4, "{spec}");
        }
    }

    #[test]
    fn every_key_of_a_model_is_in_its_experiment() {
        for model in MODELS {
            let text = commented(model);
            for key in model.keys {
                assert!(
                    text.contains(&format!("{} = {}", key.name, key.example)),
                    "{}: {}",
                    model.name,
                    key.name
                );
            }
        }
    }
}
