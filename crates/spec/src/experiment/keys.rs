//! The keys of an experiment, of an instance and of a policy in files, one row each: the reader,
//! the schema, help and starting points come from these rows.

use super::Task;
use crate::fields::TABLES;
use crate::key::{HEAD, Key, Kind};
use crate::models::{ALSO_EXAMINATION, KAPPA, MODELS};
use crate::posterior::UsersKeys;
use crate::schema::{choice, defined, file, integer, names};
use contenders::LiveUse;
use documents::toml_reader::schema;
use policies::catalogue::rows;
use serde_json::Value;
use sim::Conditions;

const FILE_NAME: Kind = || defined("file-name", "a name for files");
const ROUNDS: Kind = || defined("rounds", "an integer of at least 1");
const TITLE: Kind = || defined("title", "a text of one line");
const MODEL: Kind = || choice(&MODELS.map(|model| (model.name, model.sentence)));

pub(super) const NAME: Key =
    Key::required("name", FILE_NAME, "The name of the experiment. It names files.", "\"my-experiment\"");
pub(super) const TASK: Key =
    Key::required("task", tasks, "What a run measures, and when it ends.", "\"regret\"");
/// The length of a run of the tasks `regret` and `budget`.
const HORIZON: Key = Key::optional("horizon", ROUNDS, "The rounds of a run.", "10_000");
/// The length of a run of the task `identify`.
const MAX_STEPS: Key = Key::optional(
    "max_steps",
    ROUNDS,
    "Task identify: the round at which a policy that has not stopped is stopped without an answer.",
    "1_000_000",
);
pub(super) const RUNS: Key = Key::required(
    "runs",
    || defined("runs", "an integer of at least 1"),
    "The number of runs, or that of each instance: { per-instance = 5 }.",
    "20",
);
pub(super) const SEED: Key = Key::required(
    "seed",
    || integer(&(0..=u64::MAX)),
    "The seed of all random numbers: the same seed gives the same results.",
    "1",
);
pub(super) const CHECKPOINTS: Key = Key::optional(
    "checkpoints",
    || defined("checkpoints", "{ log = N }, or a list of rounds"),
    "Task regret: the rounds at which results are recorded, as a number of them spread on a logarithmic scale, { log = 200 }, or as \
     a list. The horizon is always added.",
    "{ log = 200 }",
);
pub(super) const INSTANCES: Key = Key::optional(
    "instances",
    || defined("instances", TABLES),
    "The users: one table [[instances]] for each instance. Each block of n runs takes every one of n once, in a drawn order, the same for every policy.",
    "[{ model = \"pbm\", theta = [0.5], kappa = [1.0] }]",
);
pub(super) const USERS: Key = Key::optional(
    "users",
    schema::<UsersKeys>,
    "In the place of instances: users as uncertain as a log leaves them. Every run draws its own from the fit.",
    "{ posterior = \"parameters.json\" }",
);
pub(super) const POLICIES: Key = Key::required(
    "policies",
    || defined("policies", TABLES),
    "The policies that are compared: one table [[policies]] for each.",
    "[{ policy = \"pbm-ts\" }]",
);

const LIVE: Key = Key::optional(
    "live",
    schema::<Conditions>,
    "What disturbs policies: items that come and go, drift, late answers.",
    "{ availability = 0.7 }",
);

/// The keys of an experiment, the name first.
pub const EXPERIMENT: [Key; 11] =
    [NAME, TASK, HORIZON, MAX_STEPS, RUNS, SEED, CHECKPOINTS, INSTANCES, USERS, LIVE, POLICIES];
/// The keys of an experiment that some tasks refuse.
pub(crate) const OF_TASKS: [Key; 3] = [HORIZON, MAX_STEPS, CHECKPOINTS];

/// The keys of an instance that do not depend on its model.
pub const OF_INSTANCE: [Key; 2] = [
    Key::required("model", MODEL, "The click model of the users.", "\"pbm\""),
    Key::optional("name", TITLE, "The name of the instance for readers; unique.", "\"mine\""),
];

/// `kappa` of a policy.
const ASSUMED_EXAMINATION: Key = Key::optional(
    KAPPA.name,
    KAPPA.kind,
    "The examination probability of each position that the policy assumes; by default that of the users.",
    KAPPA.example,
);

/// The keys of a policy besides its parameters. `accepts` decides which policies
/// may have them.
pub const OF_POLICY: [Key; 11] = [
    Key::required("policy", policies, "The policy's name.", "\"pbm-ts\""),
    Key::optional("label", TITLE, "The policy's name in results and figures; unique.", "\"mine\""),
    Key::optional(
        "read-as",
        MODEL,
        "The model whose feedback the policy should assume, on users of another one.",
        "\"cascade\"",
    ),
    ASSUMED_EXAMINATION,
    Key { name: ALSO_EXAMINATION.name, ..ASSUMED_EXAMINATION }.in_place_of(&[KAPPA.name]),
    Key::optional(
        "told",
        || names(&["gamma"]),
        "Gives beat-the-mean the gamma of each instance.",
        "\"gamma\"",
    ),
    Key::optional(
        "sees",
        || defined("sees", "names of what users who differ have, each once"),
        "The part of the contexts that the policy is told, on users who differ; all of it without this key.",
        "[\"segment\", \"user-features\", \"item-features\"]",
    ),
    Key::optional(
        "lists",
        file,
        "Of logged: the file with the lists of the log, which `fit` writes.",
        "\"logged.csv\"",
    ),
    Key::optional(
        "prior",
        || names(&["flat", "fitted"]),
        "Of pbm-gibbs and hybrid-ts: what the policy believes before the first round.",
        "\"fitted\"",
    ),
    Key::optional(
        "prior_file",
        file,
        "Of the same: the file of a fitted prior, the parameters that `fit` writes; `context.json` for `hybrid-ts`.",
        "\"parameters.json\"",
    ),
    Key::optional("live", schema::<LiveUse>, "How the policy is used live.", "{ window = 1000 }"),
];

/// Sections in Markdown: a table of the keys of an experiment, of an instance and of a policy.
pub fn subsections() -> String {
    let tables: [(_, &[Key]); 3] = [
        ("Keys at the top", &EXPERIMENT),
        ("Keys of `[[instances]]`", &OF_INSTANCE),
        ("Keys of `[[policies]]`", &OF_POLICY),
    ];
    let section = |(title, keys): (&str, &[Key])| {
        format!("\n### {title}\n\n{HEAD}{}", keys.iter().map(Key::rows).collect::<String>())
    };
    tables.map(section).concat() + "\n"
}

impl Task {
    /// The key in files for the length of a run.
    pub fn length(self) -> &'static Key {
        match self {
            Self::Regret | Self::Budget => &HORIZON,
            Self::Identify => &MAX_STEPS,
        }
    }
}

fn tasks() -> Value {
    choice(&Task::ALL.map(|task| (task.name(), task.meaning())))
}

fn policies() -> Value {
    choice(&rows().iter().map(|row| (row.name, row.sentence)).collect::<Vec<_>>())
}
