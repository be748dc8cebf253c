//! The runs of an experiment: a line for each group of instances and each policy.

use crate::terminal::{in_line, left, width, wrapped};
use documents::number::{counted, grouped};
use spec::models::{InstanceTable, Parameter};
use spec::{Bound, Experiment, Task};
use std::fmt;

const MOST_INSTANCES: usize = 10;
/// The longest line of a condition.
const LINE: usize = 78;

pub(super) struct Overview<'a> {
    pub(super) experiment: &'a Experiment,
    /// Whether the experiment is one of several, and takes one line.
    pub(super) is_short: bool,
}

impl fmt::Display for Overview<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let experiment = self.experiment;
        let model = experiment.instances().model().name;
        if self.is_short {
            return writeln!(
                f,
                "  {}: {model}, {}, {}",
                in_line(experiment.name()),
                counted(experiment.policies().len() as u64, "policy"),
                extent(experiment)
            );
        }
        writeln!(
            f,
            "{}: task {}, {}, seed {}",
            in_line(experiment.name()),
            experiment.task().name(),
            extent(experiment),
            experiment.seed()
        )?;
        let tables = experiment.instances().tables();
        for (index, table) in tables.iter().take(MOST_INSTANCES).enumerate() {
            writeln!(f, "  users   {}: {model}, {}", in_line(&table.name), sizes(experiment, index, table))?;
        }
        if tables.len() > MOST_INSTANCES {
            writeln!(
                f,
                "  users   and {} more",
                counted((tables.len() - MOST_INSTANCES) as u64, "instance")
            )?;
        }
        for condition in experiment.live_in_words() {
            let mut start = "  live    ";
            for line in wrapped(&condition, LINE) {
                writeln!(f, "{start}{line}")?;
                start = "          ";
            }
        }
        let labels = experiment.policies().iter().map(|entry| width(&entry.label));
        let columns = labels.max().unwrap_or(0);
        for entry in experiment.policies() {
            let policy = entry.spec.to_string();
            let settings = Experiment::settings(entry).into_iter();
            let used = settings.map(|(key, value)| format!("  {key} = {value}")).collect::<Vec<_>>().concat();
            if policy == entry.label {
                writeln!(f, "  policy  {policy}{used}")?;
            } else {
                writeln!(f, "  policy  {}  {policy}{used}", left(&entry.label, columns))?;
            }
        }
        for line in experiment.bounds(None).iter().filter_map(Bound::line) {
            writeln!(f, "  bound   {line}")?;
        }
        Ok(())
    }
}

fn extent(experiment: &Experiment) -> String {
    let each = match experiment.runs_per_instance() {
        Some(each) => format!(" ({} of each instance)", grouped(each)),
        None => String::new(),
    };
    let at_most = if experiment.task() == Task::Identify { "at most " } else { "" };
    format!(
        "{}{each} of {at_most}{}",
        counted(experiment.runs(), "run"),
        counted(experiment.horizon(), "round")
    )
}

/// How large an instance is.
fn sizes(experiment: &Experiment, index: usize, table: &InstanceTable) -> String {
    let length = |key: &str| table.list(key).map(|list| list.len() as u64);
    if let Some(shape) = experiment.instances().shapes().get(index) {
        let (items, positions) = (shape.n_items() as u64, shape.n_positions() as u64);
        return format!("{}, {}", counted(items, "item"), counted(positions, "position"));
    }
    if let (Some(rows), Some(columns)) = (length("rows"), length("columns")) {
        return format!("{}, {}", counted(rows, "row"), counted(columns, "column"));
    }
    // For a preference matrix, the items that are compared.
    let which = table.parameters.iter().rev().find_map(|(_, value)| match value {
        Parameter::Name(which) if experiment.has_duels() && which != "all" => Some(format!(", {which}")),
        _ => None,
    });
    let items = counted(table.n_items as u64, "item");
    format!("{items}{}", which.filter(|which| which.contains("subset")).unwrap_or_default())
}
