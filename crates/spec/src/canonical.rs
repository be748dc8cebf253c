//! The canonical form of an experiment: everything that its result depends on, and nothing else. It
//! is JSON with all defaults filled in and keys in a fixed order. Its SHA-256 is the experiment's
//! identity, that of everything but the number of runs and the policies its *base*.

use crate::experiment::{Experiment, names_of};
use crate::models::{Model, OWN, Parameters};
use crate::posterior::PosteriorFile;
use crate::task::Task;
use confidence::Probability;
use contenders::{Entrant, LiveUse};
use documents::sha256;
use policies::catalogue::PolicySpec;
use serde::Serialize;
use sim::{Assignment, Conditions, Sees};

/// The canonical form and its hashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canonical {
    /// The JSON.
    pub json: String,
    /// SHA-256 of the JSON, in hexadecimal.
    pub identity: String,
    /// SHA-256 of everything but the number of runs and the policies, in hexadecimal.
    pub base: String,
    /// The policies of the catalogue, in the order of the experiment.
    pub policies: Vec<CanonicalPolicy>,
}

/// A policy of the catalogue in its canonical form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CanonicalPolicy {
    /// Its label in the experiment.
    pub label: String,
    /// Label and all parameters as JSON.
    pub json: String,
    /// SHA-256 of the JSON, in hexadecimal.
    pub sha256: String,
}

impl Canonical {
    /// Takes any JSON as a canonical form, of something that has no runs.
    pub fn of_json(json: String) -> Self {
        let identity = sha256(json.as_bytes());
        Self { base: identity.clone(), identity, policies: Vec::new(), json }
    }

    /// The canonical form of an experiment with contenders of the caller, by their labels `own`.
    ///
    /// # Panics
    ///
    /// Never: every value of an experiment can be written as JSON.
    pub fn of<'a>(experiment: &'a Experiment, own: impl Iterator<Item = &'a str>) -> Self {
        let (users, live) = (Users::of(experiment), experiment.conditions());
        let posterior = experiment.instances.posterior().map(PosteriorFile::identity);
        let model = experiment.instances.model().name;
        let of_catalogue = experiment.policies.iter().map(Policy::of);
        let json = to_json(&Form {
            name: &experiment.name,
            task: experiment.task,
            horizon: experiment.fixed_horizon(),
            max_steps: experiment.max_steps(),
            runs: experiment.runs,
            runs_per_instance: experiment.runs_per_instance(),
            seed: experiment.seed,
            checkpoints: (experiment.task == Task::Regret).then_some(experiment.checkpoints.as_slice()),
            model,
            posterior: posterior.as_deref(),
            live,
            users: &users,
            policies: of_catalogue.chain(own.map(|label| Policy::Own { label, policy: OWN })).collect(),
        });
        let base = to_json(&Base {
            name: &experiment.name,
            task: experiment.task,
            horizon: experiment.horizon,
            instances_in_turn: experiment.assignment == Assignment::InTurn,
            seed: experiment.seed,
            checkpoints: &experiment.checkpoints,
            model,
            posterior: posterior.as_deref(),
            live,
            users: &users,
        });
        Self {
            identity: sha256(json.as_bytes()),
            base: sha256(base.as_bytes()),
            policies: experiment.policies.iter().map(|entry| Policy::of(entry).canonical()).collect(),
            json,
        }
    }

    /// The same form with contenders of the caller among its policies: parts record their runs.
    #[must_use]
    pub fn with_own<'a>(mut self, own: impl Iterator<Item = &'a str>) -> Self {
        self.policies.extend(own.map(|label| Policy::Own { label, policy: OWN }.canonical()));
        self
    }
}

fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("an experiment has only finite numbers and text")
}

/// Everything that the result of an experiment depends on.
#[derive(Serialize)]
struct Form<'a> {
    name: &'a str,
    task: Task,
    #[serde(skip_serializing_if = "Option::is_none")]
    horizon: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_steps: Option<u64>,
    runs: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs_per_instance: Option<u64>,
    seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoints: Option<&'a [u64]>,
    model: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    posterior: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    live: Option<&'a Conditions>,
    #[serde(flatten)]
    users: &'a Users,
    policies: Vec<Policy<'a>>,
}

/// Everything that the runs of one policy depend on, except for the policy.
#[derive(Serialize)]
struct Base<'a> {
    name: &'a str,
    task: Task,
    horizon: u64,
    instances_in_turn: bool,
    seed: u64,
    checkpoints: &'a [u64],
    model: &'static str,
    posterior: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    live: Option<&'a Conditions>,
    #[serde(flatten)]
    users: &'a Users,
}

/// The users that runs meet.
#[derive(Serialize)]
struct Users {
    /// The number of runs that share a draw of users, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    runs_per_draw: Option<u64>,
    /// How blocks of runs take several instances. Before, each run drew its instance.
    #[serde(skip_serializing_if = "Option::is_none")]
    order_of_instances: Option<&'static str>,
    instances: Vec<Parameters>,
}

impl Users {
    fn of(experiment: &Experiment) -> Self {
        let instances = &experiment.instances;
        let is_drawn = experiment.assignment == Assignment::Drawn && instances.count() > 1;
        Self {
            runs_per_draw: Some(experiment.runs_per_draw()).filter(|&runs| runs > 1),
            order_of_instances: is_drawn.then_some("drawn blocks"),
            instances: instances.parameters(),
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum Policy<'a> {
    /// A policy of the catalogue.
    OfCatalogue {
        label: &'a str,
        policy: &'a PolicySpec,
        #[serde(skip_serializing_if = "Option::is_none")]
        read_as: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        told: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        sees: Option<Vec<&'static str>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        kappa: Option<&'a [Probability]>,
        #[serde(skip_serializing_if = "Option::is_none")]
        lists: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        prior: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        live: Option<&'a LiveUse>,
    },
    /// A contender of the program that runs the experiment.
    Own { label: &'a str, policy: &'static str },
}

impl<'a> Policy<'a> {
    fn of(entry: &'a Entrant) -> Self {
        Self::OfCatalogue {
            label: &entry.label,
            policy: &entry.spec,
            read_as: entry.read_as.map(|protocol| Model::of(protocol).name),
            told: entry.told_gamma.then_some("gamma"),
            sees: (entry.sees != Sees::default()).then(|| names_of(entry.sees)),
            kappa: entry.examination.as_deref(),
            lists: entry.lists.as_deref().map(|lists| lists.file.sha256.as_str()),
            prior: entry.priors.as_deref().map(|priors| priors.file.sha256.as_str()),
            live: entry.live.as_ref(),
        }
    }

    fn canonical(&self) -> CanonicalPolicy {
        let (Self::OfCatalogue { label, .. } | Self::Own { label, .. }) = *self;
        let json = to_json(self);
        CanonicalPolicy { label: label.to_owned(), sha256: sha256(json.as_bytes()), json }
    }
}

/// A policy and its settings as JSON, without its label.
pub(crate) fn settings(entry: &Entrant) -> String {
    to_json(&Policy::of(&Entrant { label: String::new(), ..entry.clone() }))
}
