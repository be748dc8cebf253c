//! Reads the policies of an experiment, and checks that each can play its users.

use super::{Task, live};
use crate::fields::read_tables;
use crate::key::Key;
use crate::logged_lists;
use crate::models::{ALSO_EXAMINATION, Instances, KAPPA, MODELS, Model};
use crate::posterior::prior;
use click_models::ListShape;
use confidence::Probability;
use contenders::{Beliefs, Entrant, FittedPriors, LoggedLists};
use documents::names::{read_title, unique};
use documents::number::counted;
use documents::toml_reader::{Error, Faults, Field, Location, Table, choice, collect, one_of};
use itertools::Itertools as _;
use policies::catalogue::{Family, Kind, Limit, ParameterRow, PolicySpec, Protocol, Row, find, rows};
use serde_json::{Map, Value};
use sim::{Conditions, Sees};
use std::sync::Arc;

/// The parts of an experiment that are known when its policies are read.
pub(super) type EntryContext<'a> = (Option<&'a Instances>, Option<Task>, Option<&'a Conditions>);

/// Reads the policies of an experiment. Without the users or the task, because they have errors,
/// what depends on them is not checked.
pub(super) fn read_policies(field: &Field<'_>, given: EntryContext<'_>) -> Result<Vec<Entrant>, Error> {
    let mut labels: Vec<(String, Location)> = Vec::new();
    let tables = read_tables(field, "{ policy = \"pbm-ts\" }")?;
    collect(tables.iter().map(|table| read_policy(table, given, &mut labels)))
}

/// Reads one policy. `labels` are those of the policies before it.
fn read_policy(
    table: &Table<'_>,
    (instances, task, conditions): EntryContext<'_>,
    labels: &mut Vec<(String, Location)>,
) -> Result<Entrant, Error> {
    let mut faults = Faults::default();
    table.know(&["lists", "sees", "live", "told"]);
    let (label, policy) = (table.field("label"), table.field("policy"));
    let read_as = table.field("read-as");
    let kappa = faults.keep(Key::one_of(&[KAPPA, ALSO_EXAMINATION], table)).flatten();
    let name: Option<String> = policy.as_ref().and_then(|field| field.get().ok());
    // Keys of one policy: of others they are unknown.
    let takes_prior = name.as_deref().and_then(find).is_some_and(|row| has_prior(&row.spec()));
    let priors = takes_prior.then(|| [table.field("prior"), table.field("prior_file")]);
    let spec = faults.keep(read_spec(table));
    // Without a label the policy is named after itself, so an error about its name points at
    // `policy`.
    let location = label.as_ref().or(policy.as_ref()).map(Field::location);
    let label = match &label {
        Some(label) => faults.keep(read_title(label)),
        None => name.clone().filter(|name| find(name).is_some()),
    };
    let read_as = faults.keep(read_as.map(|field| Model::read(&field)).transpose());
    let kappa = faults.keep(kappa.map(|field| field.get::<Vec<Probability>>()).transpose());
    // Values that decide whether the policy can play its users.
    let mut is_whole = read_as.is_some() && kappa.is_some();
    let entry = match (name, spec) {
        (Some(name), Some(spec)) => {
            let mut entry = Entrant::new(name, spec);
            entry.label = label.clone().unwrap_or_default();
            entry.read_as = read_as.flatten().map(|model| model.protocol);
            entry.examination = kappa.flatten();
            if let Some(lists) = table.field("lists") {
                let lists = faults.keep(read_lists(&lists, &entry, instances));
                is_whole &= lists.is_some();
                entry.lists = lists.flatten();
            }
            if let Some(sees) = table.field("sees") {
                entry.sees = faults.keep(read_sees(&sees, &entry, instances)).unwrap_or_default();
            }
            if let Some(priors) = priors {
                entry.begins_flat = priors[0]
                    .as_ref()
                    .is_some_and(|prior| prior.get::<String>().is_ok_and(|word| word == "flat"));
                let priors = faults.keep(read_priors(table, priors, &spec, instances));
                is_whole &= priors.is_some();
                entry.priors = priors.flatten();
            }
            if let Some(live) = table.field("live") {
                let used = faults.keep(live.build());
                is_whole &= used.is_some();
                entry.live = used;
            }
            if let Some(told) = table.field("told") {
                is_whole &= faults.keep(read_told(table, &told, &spec)).is_some();
                entry.told_gamma = true;
            }
            Some(entry)
        }
        _ => None,
    };
    let fault = |fault: Fault| fault.in_table(table);
    match (&entry, instances, task) {
        (Some(entry), Some(instances), Some(task)) if is_whole => {
            let conditions = conditions.copied().unwrap_or_default();
            faults.keep(check(entry, instances, task, &conditions).map_err(fault));
        }
        (Some(entry), _, Some(task)) => {
            faults.keep(check_task(entry, task).map_err(fault));
        }
        _ => {}
    }
    if let (Some(label), Some(location)) = (label, location) {
        faults.keep(unique(labels, label, location, "label"));
    }
    faults.end()?;
    entry.ok_or_else(|| table.error("incomplete"))
}

/// Reads a policy with its parameters. Other keys that it may have were asked for before.
fn read_spec(table: &Table<'_>) -> Result<PolicySpec, Error> {
    let policy: Field<'_> = table.required("policy")?;
    let known: Vec<(&str, &Row)> = rows().iter().map(|row| (row.name, row)).collect();
    let row = choice(&policy, &known, "policy")?;
    let (mut faults, mut parameters) = (Faults::default(), Map::new());
    for parameter in row.parameters {
        let Some(field) = table.field(parameter.name) else { continue };
        if let Some(value) = faults.keep(read_parameter(row, parameter, &field)) {
            parameters.insert(parameter.name.to_owned(), value);
        }
    }
    faults.keep(table.finish());
    faults.end()?;
    PolicySpec::from_parameters(row.name, &parameters).map_err(|error| policy.error(error.to_string()))
}

fn read_parameter(row: &Row, parameter: &ParameterRow, field: &Field<'_>) -> Result<Value, Error> {
    let value = match parameter.kind {
        Kind::Number(_) => Value::from(field.get::<f64>()?),
        Kind::Flag => Value::from(field.get::<bool>()?),
        Kind::ListPolicy => Value::from(field.get::<String>()?),
        Kind::Choice(names) if field.get::<String>().is_ok() => Value::from(one_of(field, names, "value")?),
        Kind::Choice(names) => {
            let names = names.iter().map(|name| format!("{name:?}"));
            return Err(field.wrong_type(&names.collect::<Vec<_>>().join(" or ")));
        }
        _ => Value::from(field.get::<u64>()?),
    };
    let alone = Map::from_iter([(parameter.name.to_owned(), value.clone())]);
    match PolicySpec::from_parameters(row.name, &alone) {
        Ok(_) => Ok(value),
        Err(_) => Err(field.wrong_type(&parameter.kind.to_string())),
    }
}

/// The properties of users who differ, by their names in files.
pub(crate) const SEEN: [&str; 3] = ["segment", "user-features", "item-features"];

/// The names of the parts of the contexts that a policy is told.
pub(crate) fn names_of(sees: Sees) -> Vec<&'static str> {
    let parts = SEEN.into_iter().zip([sees.segment, sees.user_features, sees.item_features]);
    parts.filter_map(|(name, is_seen)| is_seen.then_some(name)).collect()
}

/// Reads the key `sees`.
fn read_sees(field: &Field<'_>, entry: &Entrant, instances: Option<&Instances>) -> Result<Sees, Error> {
    if !accepts(&entry.spec, "sees") {
        return Err(field.error(format!("{:?} does not see who asks for a list: leave it out", entry.name)));
    }
    let has = match instances.map(|instances| instances.contexts()) {
        Some(None) => return Err(field.error("the instances have no `context`: leave it out")),
        Some(Some(has)) => has,
        None => Sees::default(),
    };
    let mut seen: Vec<String> = vec![];
    for field in field.get::<Vec<Field<'_>>>()? {
        let name = one_of(&field, &SEEN, "part")?;
        if !names_of(has).contains(&name.as_str()) {
            return Err(field.error(format!("these users have no {name}: leave it out")));
        }
        if seen.contains(&name) {
            return Err(field.error(format!("{name:?} is there twice")));
        }
        seen.push(name);
    }
    let [segment, user_features, item_features] = SEEN.map(|name| seen.iter().any(|seen| seen == name));
    Ok(Sees { segment, user_features, item_features })
}

/// Reads the file that the key `lists` names.
fn read_lists(
    field: &Field<'_>,
    entry: &Entrant,
    instances: Option<&Instances>,
) -> Result<Option<Arc<LoggedLists>>, Error> {
    if !matches!(entry.spec, PolicySpec::Logged {}) {
        return Err(field.error(format!("{:?} plays lists of its own: leave it out", entry.name)));
    }
    field.get::<String>()?;
    let Some(instances) = instances else { return Ok(None) };
    let lists = logged_lists::read(field, instances);
    // An error inside the file has its place there; one of the whole file is at this field.
    lists
        .map(|lists| Some(Arc::new(lists)))
        .map_err(|error| if error.is_about_whole_file() { field.error(error.to_string()) } else { error })
}

/// Reads the keys `prior` and `prior_file`.
fn read_priors(
    table: &Table<'_>,
    [prior, file]: [Option<Field<'_>>; 2],
    spec: &PolicySpec,
    instances: Option<&Instances>,
) -> Result<Option<Arc<FittedPriors>>, Error> {
    let is_fitted = match &prior {
        None => false,
        Some(field) => choice(field, &[("flat", false), ("fitted", true)], "prior")?,
    };
    match file {
        Some(file) if !is_fitted => {
            Err(file.error("used with `prior = \"fitted\"` only: add that, or leave it out"))
        }
        None if is_fitted => Err(table.missing("prior_file", PRIOR_FILE)),
        None => Ok(None),
        Some(file) => {
            file.get::<String>()?;
            let Some(instances) = instances else { return Ok(None) };
            prior::read(&file, spec, instances).map(|priors| Some(Arc::new(priors)))
        }
    }
}

/// The meaning of `prior_file`.
const PRIOR_FILE: &str = "the file with the parameters of a log, which `fit` writes";

/// Returns whether a policy may have this key, one of [`OF_POLICY`](super::keys::OF_POLICY).
pub(crate) fn accepts(spec: &PolicySpec, key: &str) -> bool {
    match key {
        _ if [KAPPA.name, ALSO_EXAMINATION.name].contains(&key) => assumes_examination(spec),
        "live" => spec.row().protocols().any(Protocol::has_lists),
        "lists" => matches!(spec, PolicySpec::Logged {}),
        "prior" | "prior_file" => has_prior(spec),
        "read-as" => !readable_as(spec).is_empty(),
        "told" => is_told_gamma(spec),
        "sees" => Protocol::ALL.into_iter().any(|protocol| spec.row().sees_contexts(protocol)),
        _ => true,
    }
}

/// The models whose feedback a policy can assume; one that reads clicks of any list needs none.
pub(crate) fn readable_as(spec: &PolicySpec) -> Vec<&'static str> {
    if spec.speaks(Protocol::ClicksOnly) {
        return Vec::new();
    }
    let able = MODELS.iter().filter(|model| model.has_lists() && spec.speaks(model.protocol));
    able.map(|model| model.name).collect()
}

/// Returns whether a policy can begin with the fit of a log.
pub(crate) fn has_prior(spec: &PolicySpec) -> bool {
    matches!(spec, PolicySpec::PbmGibbs { .. } | PolicySpec::HybridTs { .. })
}

/// Refuses beliefs for a policy without a prior, or not for every instance.
fn check_priors(entry: &Entrant, instances: &Instances) -> Result<(), Fault> {
    match &entry.priors {
        Some(_) if !has_prior(&entry.spec) => {
            Err(Fault::new("prior", format!("{:?} begins without a prior: leave it out", entry.name)))
        }
        Some(priors) => match (&priors.beliefs, entry.spec) {
            (Beliefs::OfInstances(all), PolicySpec::PbmGibbs { .. }) if all.len() != instances.count() => {
                let found = counted(all.len() as u64, "instance");
                Err(Fault::new("prior_file", format!("{found} for {}", instances.count())))
            }
            (Beliefs::OfInstances(_), PolicySpec::PbmGibbs { .. })
            | (Beliefs::OfUsers(_), PolicySpec::HybridTs { .. }) => Ok(()),
            _ => Err(Fault::new("prior_file", format!("the prior of another policy than {:?}", entry.name))),
        },
        None => Ok(()),
    }
}

/// Checks the key `told`.
fn read_told(table: &Table<'_>, field: &Field<'_>, spec: &PolicySpec) -> Result<(), Error> {
    let name: String = field.get()?;
    if name != "gamma" {
        return Err(field.error(format!("{} found: expected \"gamma\"", field.describe())));
    }
    match table.field("gamma") {
        Some(gamma) if is_told_gamma(spec) => Err(gamma.error(GAMMA_IS_TOLD)),
        _ => Ok(()),
    }
}

/// Message about a `gamma` beside `told = "gamma"`.
const GAMMA_IS_TOLD: &str = "`told` already gives the one that each instance needs: leave it out";

/// An error in a policy of an experiment, and the key that it concerns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    key: &'static str,
    message: String,
    is_missing: bool,
}

impl Fault {
    fn new(key: &'static str, message: impl Into<String>) -> Self {
        Self { key, message: message.into(), is_missing: false }
    }

    /// As an error in the policy's table of a file.
    fn in_table(&self, table: &Table<'_>) -> Error {
        let other = (self.key == KAPPA.name).then_some(ALSO_EXAMINATION.name);
        match table.field(self.key).or_else(|| table.field(other?)) {
            _ if self.is_missing => table.missing(self.key, &self.message),
            Some(field) => field.error(self.message.as_str()),
            None => table.error(self.message.as_str()),
        }
    }

    /// As a message about the policy with this index, for an experiment without a file.
    pub(crate) fn of_policy(&self, index: usize) -> String {
        let missing = if self.is_missing { "missing: expected " } else { "" };
        format!("policies[{index}].{}: {missing}{}", self.key, self.message)
    }
}

/// Refuses a policy that cannot perform the task on these users.
pub(crate) fn check(
    entry: &Entrant,
    instances: &Instances,
    task: Task,
    conditions: &Conditions,
) -> Result<(), Fault> {
    check_task(entry, task)?;
    let differ = instances.contexts().is_some();
    match entry.read_as {
        _ if differ => check_contexts(entry, instances)?,
        Some(protocol) => check_reading(entry, Model::of(protocol), instances)?,
        None => check_protocol(entry, instances)?,
    }
    check_examination(entry, instances)?;
    check_position(&entry.spec, instances)?;
    check_limit(entry, instances)?;
    if !differ {
        check_lists(entry, instances)?;
        check_priors(entry, instances)?;
        check_told(entry, instances)?;
    }
    let fault = live::fault_of_policy(entry, instances, task, conditions);
    fault.map_or(Ok(()), |(key, fault)| Err(Fault::new(key, fault)))
}

fn check_task(entry: &Entrant, task: Task) -> Result<(), Fault> {
    let fault = match task {
        Task::Regret => "looks for the best items and stops: expected task \"identify\" or \"budget\"",
        Task::Identify => "never stops: expected a policy that does, such as \"cascade-bai\"",
        Task::Budget => "names no best items: expected a policy that does, such as \"cascade-bai\"",
    };
    if task.is_for(&entry.spec) {
        Ok(())
    } else {
        Err(Fault::new("policy", format!("{:?} {fault}", entry.name)))
    }
}

/// The models whose feedback a policy can read, for messages.
fn readable(spec: &PolicySpec) -> String {
    if spec.speaks(Protocol::ClicksOnly) {
        return "any list".to_owned();
    }
    let models = MODELS.iter().filter(|model| spec.speaks(model.protocol));
    models.map(|model| format!("{:?}", model.name)).join(" or ")
}

/// Refuses a policy that cannot read the feedback of these users.
fn check_protocol(entry: &Entrant, instances: &Instances) -> Result<(), Fault> {
    let (spec, model) = (&entry.spec, instances.model());
    if spec.speaks(model.protocol) {
        return Ok(());
    }
    if spec.row().families.iter().any(|family| family.sees_contexts())
        && spec.row().protocols().next().is_none()
    {
        let fault =
            format!("{:?} chooses by segments or features: give the instances a `context`", entry.name);
        return Err(Fault::new("policy", fault));
    }
    let plays = format!("{:?} plays {}, but the instances are {:?}", entry.name, readable(spec), model.name);
    // Only feedback on lists can be read as that of another model; a cell or a pair is not a list.
    let of_lists = model.has_lists() && !spec.speaks(Protocol::RankOne) && !spec.speaks(Protocol::Dueling);
    let remedy = ": to let it play them, name the model whose feedback it should assume (`read-as`)";
    Err(Fault::new("policy", if of_lists { plays + remedy } else { plays }))
}

/// Refuses what is not played on users who differ.
fn check_contexts(entry: &Entrant, instances: &Instances) -> Result<(), Fault> {
    let (spec, protocol) = (&entry.spec, instances.model().protocol);
    let unsupported = [
        ("read-as", entry.read_as.is_some()),
        ("lists", entry.lists.is_some()),
        ("prior", entry.priors.is_some() && !matches!(spec, PolicySpec::HybridTs { .. })),
    ];
    if let Some((key, _)) = unsupported.into_iter().find(|(_, is_given)| *is_given) {
        return Err(Fault::new(key, "not supported for instances with a `context`: leave it out"));
    }
    if entry.priors.is_some() && entry.sees != Sees::default() {
        return Err(Fault::new("sees", "a prior is of all that the log tells: leave one of them out"));
    }
    if !spec.row().is_built_from_knowledge() {
        let fault = format!("{:?} is not played on instances with a `context`", entry.name);
        return Err(Fault::new("policy", fault));
    }
    if let PolicySpec::Segmented { of } = spec
        && !spec.sees_contexts(protocol)
    {
        let (of, model) = (of.spec().name(), instances.model().name);
        return Err(Fault::new("of", format!("{of:?} cannot read the feedback of {model:?}")));
    }
    if spec.sees_contexts(protocol) { Ok(()) } else { check_protocol(entry, instances) }
}

/// Refuses a `read-as` that is impossible or has no effect.
fn check_reading(entry: &Entrant, model: &Model, instances: &Instances) -> Result<(), Fault> {
    let (spec, users) = (&entry.spec, instances.model());
    let fault = |message: String| Err(Fault::new("read-as", message));
    // Read as their own users, a policy plays for clicks where it would be given values.
    if model == users && !(instances.have_values() && spec.values_for(model.protocol).is_ok()) {
        return fault(format!("the users are {:?} already: leave it out", model.name));
    }
    for one in [model, users] {
        if !one.has_lists() {
            let what = if one.protocol == Protocol::RankOne { "a cell" } else { "a pair" };
            return fault(format!(
                "feedback on a list and on {what} cannot be read as each other: leave it out"
            ));
        }
    }
    if !spec.speaks(model.protocol) {
        let readable = readable(spec);
        return fault(format!("{:?} cannot read them as {:?}: expected {readable}", entry.name, model.name));
    }
    if spec.speaks(Protocol::ClicksOnly) {
        return fault(format!("{:?} reads the clicks of any model as they are: leave it out", entry.name));
    }
    Ok(())
}

/// Returns whether a policy is built from examination probabilities.
pub(crate) fn assumes_examination(spec: &PolicySpec) -> bool {
    spec.row().families.contains(&Family::PositionBased)
}

/// Refuses examination that the policy does not use, or without one entry for each position.
fn check_examination(entry: &Entrant, instances: &Instances) -> Result<(), Fault> {
    let spec = &entry.spec;
    let played = entry.read_as.unwrap_or(instances.model().protocol);
    let needed = spec.row().family_on(played) == Some(Family::PositionBased);
    let Some(examination) = &entry.examination else {
        if needed && instances.model().protocol != Protocol::PositionBased {
            let expected = "the examination probabilities that the policy assumes, one for each position: its users have none";
            return Err(Fault { is_missing: true, ..Fault::new(KAPPA.name, expected) });
        }
        return Ok(());
    };
    if !needed {
        let does_not = if spec.row().families.contains(&Family::UnknownExamination) {
            "is a policy for examination that nobody knows"
        } else {
            "does not use examination"
        };
        let message = format!("{:?} {does_not}: leave it out", entry.name);
        return Err(Fault::new(KAPPA.name, message));
    }
    for (index, shape) in instances.shapes().into_iter().enumerate() {
        if examination.len() != shape.n_positions() {
            return Err(Fault::new(
                KAPPA.name,
                format!(
                    "{}, but the lists of instances[{index}] have {}: expected one for each",
                    counted(examination.len() as u64, "probability"),
                    counted(shape.n_positions() as u64, "position")
                ),
            ));
        }
    }
    Ok(())
}

/// Refuses an exploring position beyond the end of a list.
fn check_position(spec: &PolicySpec, instances: &Instances) -> Result<(), Fault> {
    let PolicySpec::Pie { position: Some(position), .. } = spec else { return Ok(()) };
    for (index, shape) in instances.shapes().into_iter().enumerate() {
        if *position >= shape.n_positions() {
            let message = format!(
                "position {position} is not in the list of instances[{index}], which has {}: expected an integer from 0 to {}",
                counted(shape.n_positions() as u64, "position"),
                shape.n_positions() - 1
            );
            return Err(Fault::new("position", message));
        }
    }
    Ok(())
}

/// Refuses a policy that would need too much memory for the items or cells of an instance.
fn check_limit(entry: &Entrant, instances: &Instances) -> Result<(), Fault> {
    let (of, plural, found, most) = match entry.spec.row().limit {
        Limit::Cells(most) => ("cell", "cells", instances.most_cells().unwrap_or(0), most),
        Limit::Items(most) => {
            let items = instances.shapes().into_iter().map(ListShape::n_items).max();
            ("pair of items", "items", items.unwrap_or(0), most)
        }
        Limit::None => return Ok(()),
    };
    if found <= most {
        return Ok(());
    }
    Err(Fault::new(
        "policy",
        format!(
            "{:?} keeps numbers for every {of}, and an instance has {found} {plural}: at most {most} are supported",
            entry.name
        ),
    ))
}

/// Refuses `logged` without lists for every instance.
fn check_lists(entry: &Entrant, instances: &Instances) -> Result<(), Fault> {
    let is_logged = matches!(entry.spec, PolicySpec::Logged {});
    match &entry.lists {
        None if is_logged => Err(Fault {
            is_missing: true,
            ..Fault::new("lists", "the file with the lists of the log, which `fit` writes")
        }),
        Some(_) if !is_logged => Err(Fault::new("lists", "only `logged` plays lists of a log: leave it out")),
        Some(lists) if lists.of_instances.len() != instances.count() => Err(Fault::new(
            "lists",
            format!("{} for {}", counted(lists.of_instances.len() as u64, "instance"), instances.count()),
        )),
        _ => Ok(()),
    }
}

/// Returns whether `told = "gamma"` can give a policy the `gamma` of each instance.
fn is_told_gamma(spec: &PolicySpec) -> bool {
    matches!(spec, PolicySpec::BeatTheMean { .. })
}

/// Refuses `told` for a policy that does not need it, or for instances without a `gamma`.
fn check_told(entry: &Entrant, instances: &Instances) -> Result<(), Fault> {
    if !entry.told_gamma {
        return Ok(());
    }
    let PolicySpec::BeatTheMean { gamma, .. } = entry.spec else {
        return Err(Fault::new("told", "only `beat-the-mean` needs `gamma`: leave it out"));
    };
    // The file of an experiment with `told` has no `gamma`, so another value than the default would
    // be lost.
    if let PolicySpec::BeatTheMean { gamma: usual, .. } = entry.spec.row().spec()
        && gamma != usual
    {
        return Err(Fault::new("gamma", GAMMA_IS_TOLD));
    }
    let lacks_winner = |duels: &crate::models::Duels| {
        duels.list().iter().any(|instance| instance.model.preferences().gamma().is_none())
    };
    if instances.duels().is_some_and(lacks_winner) {
        let message = "an instance has no Condorcet winner, so it has no `gamma`: leave it out";
        return Err(Fault::new("told", message));
    }
    Ok(())
}
