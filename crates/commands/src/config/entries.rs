//! The policies of an experiment: what the file says of each, and whether it can play these users.

use super::{Instances, Model, Task, read_tables, read_title, unique};
use crate::report::number::counted;
use crate::toml_reader::{Error, Field, Location, Table};
use click_models::ListShape;
use confidence::Probability;
use contenders::Entrant;
use policies::catalogue::{Limit, PolicySpec, Protocol};

/// The policies of an experiment on these users.
pub(super) fn read_policies(
    field: &Field<'_>,
    instances: &Instances,
    task: Task,
) -> Result<Vec<Entrant>, Error> {
    let mut labels: Vec<(String, Location)> = Vec::new();
    let read = |table: &Table<'_>| {
        let label = table.field("label");
        let (read_as, told) = (table.field("read-as"), table.field("kappa"));
        let constant = table.field("told");
        let spec: PolicySpec = table.variant("policy", "policy")?;
        let name: Field<'_> = table.required("policy")?;
        check_task(&name, &spec, task)?;
        let read_as = read_as.map(|field| read_reading(&field, &spec, &name, instances)).transpose()?;
        if read_as.is_none() {
            check_protocol(&name, &spec, instances)?;
        }
        let examination = read_examination(table, told.as_ref(), &name, &spec, instances)?;
        check_position(table, &spec, instances)?;
        check_limit(&name, &spec, instances)?;
        let told_gamma =
            constant.map(|field| read_told(table, &field, &spec, instances)).transpose()?.is_some();
        let location = label.as_ref().unwrap_or(&name).location();
        let name: String = name.get()?;
        let label = match &label {
            Some(label) => read_title(label)?,
            None => name.clone(),
        };
        unique(&mut labels, label.clone(), location, "label")?;
        Ok(Entrant { label, name, spec, read_as, examination, told_gamma })
    };
    read_tables(field)?.iter().map(read).collect()
}

/// Refuses a policy that cannot do what the task asks for.
fn check_task(name: &Field<'_>, spec: &PolicySpec, task: Task) -> Result<(), Error> {
    let (able, fault) = match task {
        Task::Regret => (
            !spec.recommends(),
            "looks for the best items and stops: expected task \"identify\" or \"budget\"",
        ),
        Task::Identify => (spec.stops(), "never stops: expected a policy that does, as \"cascade-bai\""),
        Task::Budget => {
            (spec.recommends(), "names no best items: expected a policy that does, as \"cascade-bai\"")
        }
    };
    if able { Ok(()) } else { Err(name.error(format!("{} {fault}", name.describe()))) }
}

/// Models whose users' answers a policy can read, for a message.
fn readable(spec: &PolicySpec) -> String {
    let models = Model::ALL.into_iter().filter(|model| spec.speaks(model.protocol()));
    let names: Vec<String> = models.map(|model| format!("{:?}", model.name())).collect();
    names.join(" or ")
}

/// Refuses a policy that cannot read these users' answers.
fn check_protocol(name: &Field<'_>, spec: &PolicySpec, instances: &Instances) -> Result<(), Error> {
    let model = instances.model();
    if spec.speaks(model.protocol()) {
        return Ok(());
    }
    if !model.has_lists() || spec.speaks(Protocol::RankOne) || spec.speaks(Protocol::Dueling) {
        // A cell is no list, nor is a pair: there is nothing to read as something else.
        return Err(name.error(format!(
            "{} plays {}, but the instances are {:?}",
            name.describe(),
            readable(spec),
            model.name()
        )));
    }
    Err(name.error(format!(
        "{} plays {}, but the instances are {:?}: to play them all the same, say as what it reads their answers (`read-as`)",
        name.describe(),
        readable(spec),
        model.name()
    )))
}

/// As which model's answers a policy reads those of other users.
fn read_reading(
    field: &Field<'_>,
    spec: &PolicySpec,
    name: &Field<'_>,
    instances: &Instances,
) -> Result<Protocol, Error> {
    let model = Model::read(field)?;
    if model == instances.model() {
        return Err(field.error(format!("the answers are those of {:?} already: leave it out", model.name())));
    }
    for one in [model, instances.model()] {
        if !one.has_lists() {
            let what = if one == Model::RankOne { "a cell" } else { "a pair" };
            return Err(field.error(format!(
                "answers on a list and on {what} cannot be read as each other: leave it out"
            )));
        }
    }
    if !spec.speaks(model.protocol()) {
        let (policy, readable) = (name.describe(), readable(spec));
        return Err(
            field.error(format!("{policy} cannot read them as {:?}: expected {readable}", model.name()))
        );
    }
    if spec.speaks(instances.model().protocol()) && spec.speaks(Protocol::PositionBased) {
        return Err(field.error(format!("{} reads any answers as they are: leave it out", name.describe())));
    }
    Ok(model.protocol())
}

/// The examination probabilities that a policy is told.
fn read_examination(
    table: &Table<'_>,
    told: Option<&Field<'_>>,
    name: &Field<'_>,
    spec: &PolicySpec,
    instances: &Instances,
) -> Result<Option<Vec<Probability>>, Error> {
    let needed = spec.speaks(Protocol::PositionBased) && !spec.speaks(Protocol::Cascade);
    let Some(field) = told else {
        return if needed && instances.model() != Model::Pbm {
            let expected = "the examination probabilities that the policy is told, one for each position: its users have none";
            Err(table.missing("kappa", expected))
        } else {
            Ok(None)
        };
    };
    if !needed {
        return Err(field.error(format!("{} knows nothing of examination: leave it out", name.describe())));
    }
    let examination: Vec<Probability> = field.get()?;
    for (index, shape) in instances.shapes().into_iter().enumerate() {
        if examination.len() != shape.n_positions() {
            return Err(field.error(format!(
                "{}, but the lists of instances[{index}] have {}: expected one for each",
                counted(examination.len() as u64, "probability"),
                counted(shape.n_positions() as u64, "position")
            )));
        }
    }
    Ok(Some(examination))
}

/// Whether a policy is told what it needs to know of each instance.
fn read_told(
    table: &Table<'_>,
    field: &Field<'_>,
    spec: &PolicySpec,
    instances: &Instances,
) -> Result<(), Error> {
    let name: String = field.get()?;
    if name != "gamma" {
        return Err(field.error(format!("{} found: expected \"gamma\"", field.describe())));
    }
    if !matches!(spec, PolicySpec::BeatTheMean { .. }) {
        return Err(field.error("only `beat-the-mean` needs `gamma`: leave it out"));
    }
    if let Some(gamma) = table.field("gamma") {
        return Err(gamma.error("it is `told` the one that each instance needs: leave it out"));
    }
    if let Instances::Dueling(duels) = instances
        && duels.list().iter().any(|instance| instance.model.preferences().gamma().is_none())
    {
        return Err(field.error("an instance has no Condorcet winner, and with it no `gamma`: leave it out"));
    }
    Ok(())
}

/// Refuses a policy for which there is no memory with so many items or cells.
fn check_limit(name: &Field<'_>, spec: &PolicySpec, instances: &Instances) -> Result<(), Error> {
    let (of, found, most) = match (spec.row().limit, instances) {
        (Limit::Cells(most), Instances::RankOne(list)) => {
            let cells = list.iter().map(|instance| instance.model.shape().n_cells()).max();
            ("cell", cells.unwrap_or(0), most)
        }
        (Limit::Items(most), _) => {
            let items = instances.shapes().into_iter().map(ListShape::n_items).max();
            ("pair of items", items.unwrap_or(0), most)
        }
        _ => return Ok(()),
    };
    if found <= most {
        return Ok(());
    }
    Err(name.error(format!(
        "{} keeps numbers for every {of}, of which there are {found}: at most {most} are supported",
        name.describe()
    )))
}

/// Refuses an exploring position beyond a list.
fn check_position(table: &Table<'_>, spec: &PolicySpec, instances: &Instances) -> Result<(), Error> {
    let PolicySpec::Pie { position: Some(position), .. } = spec else { return Ok(()) };
    for (index, shape) in instances.shapes().into_iter().enumerate() {
        if *position >= shape.n_positions() {
            let message = format!(
                "position {position} is not in the list of instances[{index}], which has {}: expected an integer from 0 to {}",
                counted(shape.n_positions() as u64, "position"),
                shape.n_positions() - 1
            );
            let location = table.field("position").map_or_else(|| table.location(), |field| field.location());
            return Err(location.error(message));
        }
    }
    Ok(())
}
