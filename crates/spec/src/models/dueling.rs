//! `dueling`: users compare two items and prefer one. Instances come from a preference matrix of
//! the spec or of a file: with all items, with selected items, or with many random subsets.
//!
//! With `arms = { random = 16, subsets = 100 }` one table gives a hundred instances. Every subset
//! is drawn uniformly from the subsets with a Condorcet winner, since regret as the papers define
//! it needs one. The draw depends on the experiment's seed and the number of the subset. (The RUCB
//! paper draws its subsets uniformly, and says that more than 97 % of them have a Condorcet
//! winner.) Two subsets may be equal. They are a sample: each run on one of them is an observation
//! of what happens on a random subset, whereas the runs on several tables are one observation
//! together.

mod arms;
mod duels;
mod matrix_file;

pub use arms::Arms;
pub use duels::{Duels, Group};
pub use matrix_file::MatrixFile;

use super::keys::SIZE;
use super::users_of_runs::ValuesOfUsers;
use super::{Instance, InstanceTable, Instances, LowerBound, Member, Model, Parameter, Parameters, Users};
use crate::bound::Bound;
use crate::fields::LONGEST_LIST;
use crate::key::Key;
use crate::schema::{either, file, integer, items, of_keys, square};
use arms::read_arms;
use click_models::bounds::{rucb_expected_bound, rucb_high_probability_bound};
use click_models::dueling::Benchmark;
use click_models::{DuelingModel, ItemId, PreferenceMatrix};
use contenders::Entrant;
use documents::toml_reader::{Error, Field, Table, all, collect};
use policies::catalogue::{PolicySpec, Protocol};
use sim::Assignment;
use std::any::Any;
use std::sync::Arc;

pub(super) static MODEL: Model = Model {
    name: "dueling",
    protocol: Protocol::Dueling,
    sentence: "A user compares two items and prefers one of them.",
    keys: &[PREFERENCES, FILE, ARMS],
    first_choices: &["double-ts", "rmed1"],
    names_best_items: false,
    read: |tables, inputs| {
        let groups = collect(tables.iter().map(|table| read_group(table, inputs.matrix)))?;
        Ok(Instances::from_users(Duels::new(groups, inputs.seed)?))
    },
    of_queries: None,
    of_posterior: None,
};

const PREFERENCES: Key = Key::required(
    "preferences",
    square,
    "In row i and column j, the probability that item i is preferred to item j: 1/2 on the diagonal, and p_ij + p_ji = 1.",
    "[[0.5, 0.6, 0.7], [0.4, 0.5, 0.6], [0.3, 0.4, 0.5]]",
)
.called("Preferences");

const FILE: Key = Key::required(
    "file",
    file,
    "A preference matrix as text, a line for each row, in the folder of the spec; `click-bandits preferences` writes one.",
    "\"matrix.csv\"",
)
.in_place_of(&[PREFERENCES.name]);

const ARMS: Key = Key::optional(
    "arms",
    || either(&[items(), of_keys(&[RANDOM, SUBSETS])]),
    "The items that are compared: a list, or random subsets of all items; all items without the key.",
    "[0, 2]",
)
.called("Which items");

const RANDOM: Key =
    Key::required("random", || integer(&(2..=LONGEST_LIST)), "The number of items of a subset.", "2");
const SUBSETS: Key =
    Key::required("subsets", SIZE, "The number of random subsets; each is an instance.", "10");

/// The unit of regret if no item beats all others.
pub(crate) const COPELAND: &str = "Copeland scores";

impl Member for DuelingModel {
    const MODEL: &'static Model = &MODEL;
    const LOWER_BOUND: Option<LowerBound<Self>> =
        Some(("lower bound (RMED paper, Theorem 2)", Self::lower_bound));

    fn parameters(instance: &Instance<Self>) -> Vec<(&'static str, Parameter)> {
        vec![PREFERENCES.with(matrix(instance.model.preferences()))]
    }

    fn n_items(&self) -> usize {
        self.preferences().shape().n_items()
    }

    fn unit(&self) -> &'static str {
        match self.benchmark() {
            Benchmark::Copeland(_) => COPELAND,
            _ => "preferences",
        }
    }

    fn instances(list: Vec<Instance<Self>>) -> Instances {
        Instances::from_users(Duels::of(list))
    }
}

fn matrix(preferences: &PreferenceMatrix) -> Parameter {
    Parameter::Matrix(Vec::from(preferences.clone()))
}

/// One table may give hundreds of instances. Files and readers get the table, not the instances.
impl Users for Duels {
    fn model(&self) -> &'static Model {
        &MODEL
    }

    fn count(&self) -> usize {
        Users::count(self.list())
    }

    fn parameters(&self) -> Vec<Parameters> {
        let of_group = |group: &Group| {
            let mut values = vec![PREFERENCES.with(matrix(&group.matrix))];
            if group.arms != Arms::All {
                values.push(ARMS.with(Parameter::Arms(group.arms.clone())));
            }
            Parameters { name: group.name.clone(), values }
        };
        self.groups().iter().map(of_group).collect()
    }

    /// A matrix is described, not listed.
    fn tables(&self) -> Vec<InstanceTable> {
        let table = |(index, group): (usize, &Group)| {
            let arms = match &group.arms {
                Arms::All => "all".to_owned(),
                Arms::Listed(items) => format!("{items:?}"),
                Arms::Random { subsets: 1, .. } => "a random subset".to_owned(),
                Arms::Random { subsets, .. } => format!("{subsets} random subsets"),
            };
            let values = [(PREFERENCES, group.source()), (ARMS, arms)];
            InstanceTable {
                name: group.name.clone().unwrap_or_else(|| format!("instance {index}")),
                n_items: group.n_items(),
                parameters: values.map(|(key, value)| (key.title, Parameter::Name(value))).into(),
                lists: Vec::new(),
            }
        };
        self.groups().iter().enumerate().map(table).collect()
    }

    fn unit(&self) -> &'static str {
        Users::unit(self.list())
    }

    fn lower_bound(&self) -> Option<(&'static str, f64)> {
        let (of_condorcet, factor) = Users::lower_bound(self.list())?;
        let name = match self.unit() {
            COPELAND => "lower bound on Copeland regret (ECW-RMED paper, Theorem 2)",
            "reward" => "lower bound (RMED and ECW-RMED papers)",
            _ => of_condorcet,
        };
        Some((name, factor))
    }

    /// Upper bounds on the regret of RUCB, for each `alpha` of the experiment: on the mean (Theorem
    /// 3), and with probability .95 (Theorem 2). A bound that at the last checkpoint is not below
    /// the regret of always playing the worst pair is left out as trivial. With an `alpha` near
    /// 1/2, as in the RUCB paper's experiments, both bounds are.
    fn bounds_of_policies(&self, policies: &[Entrant], checkpoints: &[u64]) -> Vec<Bound> {
        let mut bounds = Vec::new();
        let mut add = |label: String, value: &dyn Fn(u64) -> f64| {
            let value = checkpoints.iter().map(|&t| value(t)).collect();
            bounds.push(Bound { label, t: checkpoints.to_vec(), value });
        };
        let mean = |value: &dyn Fn(&DuelingModel) -> f64| super::list::mean(self.list(), value);
        let largest_gap = mean(&|users| users.losses().iter().copied().fold(0.0, f64::max));
        let mut alphas: Vec<f64> = Vec::new();
        for entry in policies {
            let PolicySpec::Rucb { alpha, .. } = entry.spec else { continue };
            let alpha = alpha.get();
            if alphas.contains(&alpha) {
                continue;
            }
            alphas.push(alpha);
            let expected = |t: u64| mean(&|users| rucb_expected_bound(users.preferences(), alpha, t));
            let probable =
                |t: u64| mean(&|users| rucb_high_probability_bound(users.preferences(), alpha, MISS, t));
            let is_not_trivial = |bound: &dyn Fn(u64) -> f64| {
                checkpoints.last().is_some_and(|&t| bound(t) < largest_gap * t as f64)
            };
            if is_not_trivial(&expected) {
                add(format!("RUCB in the mean, alpha = {alpha} (Theorem 3)"), &expected);
            }
            if is_not_trivial(&probable) {
                add(format!("RUCB with probability .95, alpha = {alpha} (Theorem 2)"), &probable);
            }
        }
        bounds
    }

    fn list(&self) -> &dyn Any {
        self.list()
    }

    fn duels(&self) -> Option<&Duels> {
        Some(self)
    }

    fn duels_mut(&mut self) -> Option<&mut Duels> {
        Some(self)
    }

    fn values_of_users(
        &self,
        assignment: Assignment,
        seed: u64,
        instances_of_runs: &[usize],
    ) -> ValuesOfUsers {
        Users::values_of_users(self.list(), assignment, seed, instances_of_runs)
    }
}

/// The probability with which the bound of Theorem 2 may fail.
const MISS: f64 = 0.05;

fn read_group(table: &Table<'_>, given: Option<&Arc<MatrixFile>>) -> Result<Group, Error> {
    let name = table.optional("name")?;
    let (inline, file, arms) =
        (table.field(PREFERENCES.name), table.field(FILE.name), table.field(ARMS.name));
    table.know(&["model"]);
    let ((), (matrix, source, place)) = all((table.finish(), read_matrix(table, inline, file, given)))?;
    let n_items = matrix.shape().n_items();
    let (arms, place) = match arms {
        None => (Arms::All, place),
        Some(field) => (read_arms(&field, n_items)?, field),
    };
    if let Arms::Listed(items) = &arms {
        let items: Vec<ItemId> = items.iter().map(|&item| ItemId::from_index(item)).collect();
        matrix.restricted_to(&items).map_err(|error| place.error(error.to_string()))?;
    }
    Ok(Group { name, matrix, source, arms, location: place.location() })
}

/// A matrix, the file that it comes from if there is one, and the field that gives it.
type Source<'doc> = (Arc<PreferenceMatrix>, Option<Arc<MatrixFile>>, Field<'doc>);

/// Reads the matrix of the key `preferences` or of the key `file`.
fn read_matrix<'doc>(
    table: &Table<'doc>,
    inline: Option<Field<'doc>>,
    file: Option<Field<'doc>>,
    given: Option<&Arc<MatrixFile>>,
) -> Result<Source<'doc>, Error> {
    match (inline, file) {
        (Some(_), Some(file)) => {
            Err(file.error("`preferences` already gives the matrix: expected one or the other"))
        }
        (None, None) => Err(table.missing(PREFERENCES.name, "rows of probabilities, [[..], ..], or `file`")),
        (Some(field), None) => {
            let rows: Vec<Vec<f64>> = field.get()?;
            let matrix = PreferenceMatrix::new(&rows).map_err(|error| field.error(error.to_string()))?;
            Ok((Arc::new(matrix), None, field))
        }
        (None, Some(field)) => {
            let file = if let Some(file) = given {
                Arc::clone(file)
            } else {
                let name: String = field.get()?;
                let content = field.read_beside(&name, MatrixFile::EXPECTED)?;
                // An error inside the matrix file has its place there.
                let file = MatrixFile::of(&field.folder().join(&name), &content);
                Arc::new(file.map_err(|error| {
                    if error.is_about_whole_file() { field.error(error.to_string()) } else { error }
                })?)
            };
            Ok((Arc::clone(&file.matrix), Some(file), field))
        }
    }
}
