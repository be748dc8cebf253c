//! Reads an experiment from its tables. Parts that do not depend on each other are read
//! independently, so that all their errors are found. A part that depends on a faulty one is left
//! out, since its errors might only follow from that one.

use super::entries::{EntryContext, read_policies};
use super::scope::Scope;
use super::{Experiment, HORIZONS, Overrides, Schedule, Task, keys, live};
use crate::fields::{assignment_of, read_runs};
use crate::models::{InstanceInputs, Instances, MODELS, Model, read_instances};
use crate::posterior::PosteriorFile;
use contenders::Entrant;
use documents::names::read_name;
use documents::toml_reader::{Error, Faults, Field, collect};
use sim::{Assignment, Conditions};

impl Experiment {
    pub(super) fn read(scope: &Scope<'_, '_>) -> Result<Self, Error> {
        let mut faults = Faults::default();
        Self::know(scope.own);
        let name = keys::NAME.read::<Field<'_>>(scope.own).and_then(|name| read_name(&name.field));
        let name = faults.keep(name);
        let task_field = faults.keep(scope.required(&keys::TASK));
        let task = task_field.as_ref().and_then(|field| faults.keep(Task::read(field)));
        if let Some(task) = task {
            faults.keep(refuse_keys_of_others(scope, task));
        }
        let horizon = faults.keep(read_horizon(scope, task)).flatten();
        let runs = faults.keep(read_runs_of_each(scope));
        let seed = faults.keep(read_seed(scope));
        let schedule = faults.keep(read_schedule(scope, task, horizon));
        // Which subsets of items are drawn depends on the seed; whether they can be drawn does not,
        // so that any seed serves to find errors.
        let users = faults.keep(read_users(scope, seed.unwrap_or(0)));
        let instances = users.as_ref().map(|(instances, _)| instances);
        if let (Some(task), Some(task_field), Some(instances)) = (task, &task_field, instances) {
            faults.keep(check_task(task, task_field, instances));
        }
        let live = scope.optional("live").map(|field| field.build::<Conditions>()).transpose();
        let live = faults.keep(live).map(Option::unwrap_or_default);
        faults.keep(check_live(scope, instances, task, live.as_ref()));
        let policies = faults.keep(read_all_policies(scope, (instances, task, live.as_ref())));
        faults.end()?;

        let (Some(name), Some(task), Some(horizon), Some((runs, assignment)), Some(seed)) =
            (name, task, horizon, runs, seed)
        else {
            return Err(scope.own.error("incomplete"));
        };
        let (Some(schedule), Some((instances, takes_data)), Some(policies)) = (schedule, users, policies)
        else {
            return Err(scope.own.error("incomplete"));
        };
        let checkpoints = if task == Task::Regret { schedule.checkpoints(horizon) } else { vec![] };
        let mut experiment = Self {
            name,
            task,
            horizon,
            runs: 0,
            assignment,
            seed,
            checkpoints,
            instances,
            takes_data,
            live: live.filter(Conditions::disturb).unwrap_or_default(),
            policies,
            schedule,
            comments: Vec::new(),
        };
        experiment.runs = experiment.all_runs(runs);
        if let Some(fault) = experiment.fault_of_inputs() {
            return Err(scope.own.error(fault));
        }
        // If the command line made it too large, the error is the command line's, not the field's.
        let is_overridden =
            scope.given.overrides.runs.is_some() || overridden_length(scope, Some(task)).is_some();
        match (scope.optional("runs"), experiment.fault_of_runs()) {
            (Some(field), Some(fault)) if !is_overridden => Err(field.error(fault)),
            _ => Ok(experiment),
        }
    }
}

/// Reads the number of runs, or of runs of each instance.
fn read_runs_of_each(scope: &Scope<'_, '_>) -> Result<(u64, Assignment), Error> {
    match (scope.optional("runs"), scope.given.overrides.runs) {
        (Some(field), Some(runs)) => Ok((runs, assignment_of(&field))),
        (None, Some(runs)) => Ok((runs, Assignment::Drawn)),
        _ => scope.required(&keys::RUNS).and_then(|field| read_runs(&field)),
    }
}

fn read_seed(scope: &Scope<'_, '_>) -> Result<u64, Error> {
    match scope.given.overrides.seed {
        Some(seed) => Ok(seed),
        None => scope.required(&keys::SEED).and_then(|field| field.get()),
    }
}

/// Reads the checkpoints, which only the task regret has.
fn read_schedule(scope: &Scope<'_, '_>, task: Option<Task>, horizon: Option<u64>) -> Result<Schedule, Error> {
    match scope.optional("checkpoints") {
        Some(field) if task.is_none_or(|task| task == Task::Regret) => {
            // A horizon of the command line cuts the list later, so no round is too late here.
            let last = horizon.filter(|_| overridden_length(scope, task).is_none());
            Schedule::read(&field, last.unwrap_or(*HORIZONS.end()))
        }
        _ => Ok(Schedule::default()),
    }
}

/// Refuses conditions that these users do not have.
fn check_live(
    scope: &Scope<'_, '_>,
    instances: Option<&Instances>,
    task: Option<Task>,
    live: Option<&Conditions>,
) -> Result<(), Error> {
    let (Some(field), Some(instances), Some(task), Some(live)) =
        (scope.optional("live"), instances, task, live)
    else {
        return Ok(());
    };
    match live::fault_of_users(instances, task, live).filter(|_| live.disturb()) {
        Some(fault) => Err(field.error(fault)),
        None => Ok(()),
    }
}

/// Reads the policies, which the caller may have instead of the file.
fn read_all_policies(scope: &Scope<'_, '_>, given: EntryContext<'_>) -> Result<Vec<Entrant>, Error> {
    let may_be_none = scope.given.overrides.without_policies;
    let is_none = |field: &Field<'_>| field.get::<Vec<Field<'_>>>().is_ok_and(|policies| policies.is_empty());
    match scope.optional(keys::POLICIES.name).filter(|field| !(may_be_none && is_none(field))) {
        Some(field) => read_policies(&field, given),
        None if may_be_none => Ok(Vec::new()),
        None => scope.required(&keys::POLICIES).map(|_| Vec::new()),
    }
}

/// Refuses keys that belong to another task.
fn refuse_keys_of_others(scope: &Scope<'_, '_>, task: Task) -> Result<(), Error> {
    collect(keys::OF_TASKS.iter().map(|key| match (task.refuses(key.name), scope.nearby(key.name)) {
        (Some(fault), Some(field)) => Err(field.error(fault)),
        _ => Ok(()),
    }))
}

/// The length of a run on the command line, within its range: outside it has an error of its own.
/// Without a task, either key may be the one.
fn overridden_length(scope: &Scope<'_, '_>, task: Option<Task>) -> Option<u64> {
    let Overrides { horizon, max_steps, .. } = scope.given.overrides;
    let length = match task {
        Some(Task::Identify) => max_steps,
        Some(Task::Regret | Task::Budget) => horizon,
        None => horizon.or(max_steps),
    };
    length.map(|length| length.clamp(*HORIZONS.start(), *HORIZONS.end()))
}

/// Reads the length of a run; `None` if another error already explains why there is none.
fn read_horizon(scope: &Scope<'_, '_>, task: Option<Task>) -> Result<Option<u64>, Error> {
    if let Some(length) = overridden_length(scope, task) {
        return Ok(Some(length));
    }
    let Some(task) = task else {
        // The task decides which key is meant. Given values have to be in the range in any case.
        let given = ["horizon", "max_steps"].into_iter().filter_map(|key| scope.optional(key));
        let lengths: Vec<u64> = collect(given.map(|field| field.integer_in(&HORIZONS)))?;
        return Ok(lengths.first().copied().filter(|_| lengths.len() == 1));
    };
    let key = task.length();
    // The message about `horizon` in place of `max_steps` names the missing key.
    if task == Task::Identify && scope.optional(key.name).is_none() && scope.nearby("horizon").is_some() {
        return Ok(None);
    }
    scope.required(key)?.integer_in(&HORIZONS).map(Some)
}

/// Reads the users, and whether they come from data given by the caller.
fn read_users(scope: &Scope<'_, '_>, seed: u64) -> Result<(Instances, bool), Error> {
    let common = scope.common_model().map(|field| Model::read(&field)).transpose()?;
    let users = scope.nearby("users");
    if let (Some(users), Some(_)) = (&users, scope.nearby("instances")) {
        return Err(users.error("`instances` already gives the users: expected one or the other"));
    }
    let field = match &users {
        Some(users) => users.clone(),
        None => scope.required(&keys::INSTANCES)?,
    };
    let is_shared = scope.nearby("instances").is_none();
    let takes_data = users.is_none()
        && (field.get::<String>().is_ok_and(|word| word == "data")
            || (is_shared && scope.given.replace_shared));
    let instances = if users.is_some() {
        let file = PosteriorFile::read(&field, common.map(|model| model.name))?;
        Instances::uncertain(file)?
    } else if takes_data {
        scope.given.queries.instances(&field, common)?
    } else {
        read_instances(&field, common, &InstanceInputs { seed, matrix: scope.given.matrix })?
    };
    Ok((instances, takes_data))
}

/// Refuses users that the task cannot be asked of.
fn check_task(task: Task, field: &Field<'_>, instances: &Instances) -> Result<(), Error> {
    if task == Task::Regret || instances.name_best_items() {
        return Ok(());
    }
    if instances.have_values() {
        let fault = "asks for the most attractive items: leave out the `values` of instances";
        return Err(field.error(format!("task {:?} {fault}", task.name())));
    }
    let able = MODELS.iter().filter(|model| model.names_best_items);
    let able: Vec<String> = able.map(|model| format!("{:?}", model.name)).collect();
    Err(field.error(format!(
        "task {:?} asks for the best items of {} instances, but these are {:?}",
        task.name(),
        able.join(" or "),
        instances.model().name
    )))
}
