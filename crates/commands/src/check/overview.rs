//! What an experiment runs: a line for each group of instances and each policy.

use super::Checked;
use crate::progress::Span;
use crate::terminal::{in_line, left, width};
use experiment::models::{InstanceTable, Parameter};
use experiment::number::{counted, grouped, significant};
use experiment::{Experiment, Task};
use std::fmt;
use std::time::Duration;

/// The most instances that are listed.
const MOST_INSTANCES: usize = 10;

pub(super) struct Overview<'a> {
    pub(super) checked: &'a Checked,
    /// Whether the experiment is one of several, and takes one line.
    pub(super) is_short: bool,
}

impl fmt::Display for Overview<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Checked { experiment, estimate } = self.checked;
        let model = experiment.instances().model().name;
        if self.is_short {
            return writeln!(
                f,
                "  {}: {model}, {}, {}, about {}",
                in_line(experiment.name()),
                counted(experiment.policies().len() as u64, "policy"),
                extent(experiment),
                time(self.checked.cpu_seconds())
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
        let labels = experiment.policies().iter().map(|entry| width(&entry.label));
        let columns = labels.max().unwrap_or(0);
        for (entry, seconds) in experiment.policies().iter().zip(&estimate.seconds) {
            let label = left(&entry.label, columns);
            let policy = entry.spec.to_string();
            let plays = if policy == entry.label { String::new() } else { format!("  {policy}") };
            writeln!(f, "  policy  {label}  about {} a run{plays}", time(*seconds))?;
        }
        Ok(())
    }
}

/// The number of runs and their length.
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
    // Of a preference matrix, which items are compared.
    let which = table.parameters.iter().rev().find_map(|(_, value)| match value {
        Parameter::Name(which) if experiment.has_duels() && which != "all" => Some(format!(", {which}")),
        _ => None,
    });
    let items = counted(table.n_items as u64, "item");
    format!("{items}{}", which.filter(|which| which.contains("subset")).unwrap_or_default())
}

/// A rough time for readers: two digits below ten minutes, whole minutes above.
pub(super) fn time(seconds: f64) -> String {
    let two_digits =
        |value: f64| significant(if value < 99.5 { value } else { (value / 10.0).round() * 10.0 }, 2);
    match seconds {
        ..0.001 => format!("{} µs", two_digits(seconds * 1e6)),
        0.001..1.0 => format!("{} ms", two_digits(seconds * 1e3)),
        1.0..60.0 => format!("{} s", two_digits(seconds)),
        60.0..600.0 => format!("{} min", two_digits(seconds / 60.0)),
        600.0..3600.0 => format!("{} min", significant(seconds / 60.0, 2)),
        _ => Span(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_two_digits_or_two_units() {
        let texts = [3e-7, 0.000_417, 0.0123, 1.234, 12.34, 78.0, 2161.0, 1e4, 1e300].map(time);
        let expected = ["0.30 µs", "420 µs", "12 ms", "1.2 s", "12 s", "1.3 min", "36 min", "2 h 46 min"];
        assert_eq!(texts[..8], expected);
        assert!(texts[8].ends_with(" years"), "{}", texts[8]);
    }
}
