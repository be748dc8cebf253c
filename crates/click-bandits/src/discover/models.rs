//! `click-bandits models`: the click models, with their keys and the policies that play them.

use super::named::MODEL;
use super::page::{Page, plain};
use super::policies::playing;
use super::{Form, show};
use crate::init::Spec;
use anyhow::Result;
use policies::catalogue::{Protocol, find};
use serde::Serialize;
use spec::key;
use spec::models::{MODELS, Model};
use spec::{Experiment, Task};

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Arguments {
    /// Show everything about this click model
    #[arg(value_parser = MODEL, hide_possible_values = true)]
    name: Option<&'static str>,
    #[command(flatten)]
    form: Form,
}

#[derive(Debug, Serialize)]
pub(crate) struct ClickModel {
    name: &'static str,
    sentence: &'static str,
    shows: &'static str,
    /// The unit of regret with the example's keys.
    regret_in: &'static str,
    feedback: &'static str,
    tasks: Vec<&'static str>,
    keys: Vec<Key>,
    policies: Vec<OfTask>,
    example: String,
}

/// A key of an instance.
#[derive(Debug, Serialize)]
struct Key {
    name: &'static str,
    values: String,
    #[serde(skip)]
    need: String,
    required: bool,
    in_place_of: &'static [&'static str],
    meaning: &'static str,
    example: &'static str,
    /// The keys of the table that it accepts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    keys: Vec<key::KeyInside>,
}

/// The policies that can do a task.
#[derive(Debug, Serialize)]
struct OfTask {
    task: &'static str,
    policies: Vec<&'static str>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let all: Vec<ClickModel> = MODELS.into_iter().map(ClickModel::of).collect();
    match all.iter().find(|model| Some(model.name) == arguments.name) {
        Some(model) => show(model, &model.page(), Some(&model.example), arguments.form),
        None => show(&all, &listed(&all), None, arguments.form),
    }
}

/// The actions that users are shown, with a heading for the list.
const SHOWN: [(&str, &str); 3] = [
    ("list", "Users who are shown a list of items"),
    ("cell", "Users who are shown one item at one position"),
    ("pair", "Users who are shown two items"),
];

fn listed(all: &[ClickModel]) -> Page {
    let mut page = Page::default();
    page.text(0, "Click models: what users do, and so what a policy can learn from.");
    for (shows, title) in SHOWN {
        page.heading(title);
        for model in all.iter().filter(|model| model.shows == shows) {
            page.beside(2, model.name, 16, model.sentence);
        }
    }
    page.heading("More: click-bandits models NAME. An experiment to start from: click-bandits init NAME.");
    page
}

impl ClickModel {
    pub(crate) fn of(model: &'static Model) -> Self {
        let example = example(model);
        let tasks: &[Task] = if model.names_best_items {
            &[Task::Regret, Task::Identify, Task::Budget]
        } else {
            &[Task::Regret]
        };
        let of_task = |task: &Task| OfTask { task: task.name(), policies: playing(model.protocol, *task) };
        Self {
            name: model.name,
            sentence: model.sentence,
            shows: match model.protocol {
                Protocol::RankOne => "cell",
                Protocol::Dueling => "pair",
                _ => "list",
            },
            // The example is read by a test.
            regret_in: Experiment::from_toml(&example).map_or("", |experiment| experiment.instances().unit()),
            feedback: feedback(model.protocol),
            tasks: tasks.iter().map(|task| task.name()).collect(),
            keys: model.keys.iter().map(Key::of).collect(),
            policies: tasks.iter().map(of_task).collect(),
            example,
        }
    }
}

impl Key {
    fn of(key: &key::Key) -> Self {
        Self {
            name: key.name,
            values: key.words(),
            need: key.need(),
            required: key.required,
            in_place_of: key.replaces,
            meaning: key.meaning,
            example: key.example,
            keys: key.inside(),
        }
    }

    fn write(&self, page: &mut Page, indent: usize) {
        page.line(&format!("{}{} ({})", " ".repeat(indent), self.name, self.need));
        page.text(indent + 4, self.meaning);
        page.text(indent + 4, &format!("Values: {}.", self.values));
        for key in &self.keys {
            page.beside(
                indent + 6,
                &key.name,
                indent + 18,
                &format!("{} Values: {}.", plain(&key.meaning), key.values),
            );
        }
    }
}

/// The feedback that a policy gets in a round.
fn feedback(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::PositionBased => {
            "which positions were clicked; a position without a click may not have been examined"
        }
        Protocol::SemiBandit => "how many positions were examined, and which of them were clicked",
        Protocol::Cascade => "the first click; the positions above it were examined and did not attract",
        Protocol::Dcm => "which positions were clicked; at least those above the last click were examined",
        Protocol::ClicksOnly => "which positions were clicked; a missing click may mean anything",
        Protocol::RankOne => "whether the cell was clicked",
        Protocol::Dueling => "which of the two items was preferred",
        _ => "",
    }
}

/// An experiment with the model's example and its first choice of a policy.
fn example(model: &'static Model) -> String {
    let policy = model.first_choices.iter().copied().find_map(find);
    Spec { name: model.name, model, task: Task::Regret, policy, with_parameters: false }.plain()
}

impl ClickModel {
    fn page(&self) -> Page {
        let mut page = Page::about(self.name, self.sentence);
        page.line("");
        page.fact("A round", &format!("shows a {}", self.shows));
        page.fact("Feedback", self.feedback);
        page.fact("Regret in", self.regret_in);
        page.fact("Tasks", &self.tasks.join(", "));
        page.heading("Keys of [[instances]], besides model and name");
        for key in &self.keys {
            key.write(&mut page, 2);
        }
        page.heading("Policies that play these users");
        for OfTask { task, policies } in &self.policies {
            page.beside(2, task, 12, &policies.join(", "));
        }
        if self.shows == "list" {
            page.text(2, "Policies for other list models play them with `read-as`.");
        }
        page.example(
            "Example, for click-bandits simulate FILE --out DIR (printed by --example)",
            &self.example,
        );
        page.heading(&format!("With comments and alternatives: click-bandits init {}", self.name));
        page
    }
}
