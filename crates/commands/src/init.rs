//! `click-bandits init`: an experiment to start from, with comments, for any click model.
//!
//! It runs as it is. Lines that begin with `#` and a letter without a space are keys that may be switched on.

use crate::discover::named::MODEL;
use crate::discover::page::{plain, wrapped};
use crate::terminal::say;
use anyhow::{Context as _, Result};
use experiment::Task;
use experiment::models::{MODELS, Model, ModelKey};
use policies::catalogue::{Family, Row, find, rows};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The arguments of `init`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Arguments {
    /// Click model of the users
    #[arg(value_parser = MODEL)]
    model: &'static str,
    /// File to write; one that exists is never overwritten [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Writes an experiment to start from.
///
/// # Errors
///
/// The file exists or cannot be written; standard output cannot be written.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let model = MODELS.into_iter().find(|model| model.name == arguments.model).context("no such model")?;
    let text = commented(model);
    match &arguments.out {
        None => say(&text),
        Some(path) => {
            create(path, &text).with_context(|| format!("{}: cannot be written", path.display()))?;
            say(&format!(
                "{path}: written. Change it, then: click-bandits simulate {path} --out results\n",
                path = path.display()
            ))
        }
    }
}

/// Writes a file that does not exist yet. What was written of it is removed if the rest cannot be.
fn create(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = File::create_new(path)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if written.is_err() {
        let _ = std::fs::remove_file(path);
    }
    written
}

/// The name, width and number of rounds of a first experiment, which takes about a second.
const HORIZON: u64 = 10_000;
const RUNS: u64 = 20;
/// The longest line of a comment.
const LINE: usize = 78;

/// A policy of an experiment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chosen {
    /// Its row of the catalogue.
    pub(crate) row: &'static Row,
    /// Whether its parameters are written, with their defaults.
    pub(crate) with_parameters: bool,
}

/// A small experiment on the example of a model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spec<'a> {
    pub(crate) name: &'a str,
    pub(crate) model: &'static Model,
    pub(crate) task: Task,
    pub(crate) policies: &'a [Chosen],
}

impl Spec<'_> {
    /// The file, without comments.
    pub(crate) fn plain(&self) -> String {
        let Self { name, model, task, .. } = self;
        let mut text = format!("name = {name:?}\ntask = {:?}\n", task.name());
        let length = if *task == Task::Identify { "max_steps = 1_000_000" } else { "horizon = 10_000" };
        let _ =
            writeln!(text, "{length}\nruns = {RUNS}\nseed = 1\n\n[[instances]]\nmodel = {:?}", model.name);
        for key in model.keys.iter().filter(|key| key.required) {
            let _ = writeln!(text, "{} = {}", key.name, key.example);
        }
        for Chosen { row, with_parameters } in self.policies {
            let _ = writeln!(text, "\n[[policies]]\npolicy = {:?}", row.name);
            if *with_parameters {
                text.extend(row.spec().parameters().iter().map(|(key, value)| format!("{key} = {value}\n")));
            }
        }
        text
    }
}

/// The experiment to start from, with comments.
pub(crate) fn commented(model: &'static Model) -> String {
    let mut text = String::new();
    comment(&mut text, &format!("An experiment on {} users. {}", model.name, model.sentence));
    comment(&mut text, "Run it:         click-bandits simulate THIS-FILE --out results");
    comment(&mut text, &format!("Keys of users:  click-bandits models {}", model.name));
    comment(&mut text, "All policies:   click-bandits policies");
    comment(&mut text, "A key behind # is switched on by removing the #.");
    let _ = write!(
        text,
        "
name = \"{name}\"            # names files: letters, digits, - _ .
task = \"regret\"           # how much is lost while learning
horizon = {HORIZON}           # rounds of a run
runs = {RUNS}                # independent runs of every policy
seed = 1                 # the same seed gives the same bytes
#checkpoints = {{ log = 200 }}   # rounds at which results are recorded: 200, evenly in log

",
        name = format_args!("my-{}", model.name),
    );
    comment(&mut text, "The users. Several [[instances]] are possible: each run draws one of them.");
    let _ = writeln!(text, "[[instances]]\nmodel = {:?}", model.name);
    text.push_str("#name = \"mine\"            # for readers\n");
    for key in model.keys {
        key_with_comment(&mut text, key);
    }
    text.push('\n');
    comment(&mut text, "The policies, each with its parameters and, if it is given, a label.");
    for row in first_choices(model) {
        policy(&mut text, row, "");
    }
    text.push('\n');
    comment(&mut text, "The other policies that can play these users.");
    for row in others(model) {
        policy(&mut text, row, "#");
    }
    if let Some(row) = read_as(model) {
        text.push('\n');
        comment(&mut text, "A policy for users of another model, whose feedback it assumes.");
        policy(&mut text, row, "#");
        text.push_str("#read-as = \"cascade\"\n");
    }
    if model.names_best_items {
        text.push('\n');
        comment(
            &mut text,
            "To ask for the best items instead, replace the keys at the top and the policies:",
        );
        comment(
            &mut text,
            "task = \"identify\", max_steps = 1_000_000 in the place of horizon, no checkpoints,",
        );
        let names = rows()
            .iter()
            .filter(|row| row.speaks(model.protocol) && row.task() != policies::catalogue::Task::Regret);
        let names: Vec<&str> = names.map(|row| row.name).collect();
        comment(&mut text, &format!("policies {}.", names.join(", ")));
    }
    text
}

/// Adds a comment, in lines.
fn comment(text: &mut String, words: &str) {
    if words.contains(":  ") {
        let _ = writeln!(text, "# {words}");
        return;
    }
    for line in wrapped(words, LINE) {
        let _ = writeln!(text, "# {line}");
    }
}

/// Adds a key of users with its meaning. A key that takes the place of others is shown in its comment.
fn key_with_comment(text: &mut String, key: &ModelKey) {
    let ModelKey { name, example, meaning, kind, .. } = key;
    if key.replaces.is_empty() {
        let without = if key.required { "" } else { "Optional. " };
        comment(text, &format!("{without}{meaning} Values: {kind}."));
        let switch = if key.required { "" } else { "#" };
        let _ = writeln!(text, "{switch}{name} = {example}");
    } else {
        comment(text, &format!("In the place of {}: {meaning}", key.replaces.join(" and ")));
        let _ = writeln!(text, "#   {name} = {example}");
    }
}

/// Adds a policy with its parameters, which are switched off; `switch` begins every line.
fn policy(text: &mut String, row: &Row, switch: &str) {
    let _ = writeln!(text, "\n{switch}[[policies]]");
    let _ = writeln!(text, "{switch}policy = {:<24} # {}", format!("{:?}", row.name), plain(row.sentence));
    let defaults = row.spec().parameters();
    for parameter in row.parameters {
        let Some(value) = defaults.get(parameter.name) else { continue };
        let assignment = format!("{} = {value}", parameter.name);
        let _ = writeln!(text, "#{assignment:<32} # {}", plain(parameter.meaning));
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
            && row.task() == policies::catalogue::Task::Regret
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
    use crate::discover::page::WIDTH;
    use experiment::Experiment;

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
                    && row.task() == policies::catalogue::Task::Regret
                    && row.name != "logged"
            });
            let n_read_as = usize::from(read_as(model).is_some());
            assert_eq!(all.policies().len(), playing.count() + n_read_as, "{}", model.name);
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

    #[test]
    fn comments_fit_into_a_terminal() {
        for model in MODELS {
            for line in
                commented(model).lines().filter(|line| line.starts_with("# ") && !line.contains(" = "))
            {
                assert!(line.chars().count() <= WIDTH, "{}: {line}", model.name);
            }
        }
    }
}
